#ifndef HPAR_WORK_SPAN_VIRTUAL_H
#define HPAR_WORK_SPAN_VIRTUAL_H

/* Virtual cores. The threads of the library's pool are coroutines on one thread. Each has a clock
 * that counts its instructions, and the coroutine with the least clock runs next. A coroutine may
 * lose its turn only where the library reads the clock, claims a chunk or waits. Therefore all
 * decisions of the threads are in the order of virtual time. callgrind counts the instructions. */

#include <stdbool.h>
#include <stdint.h>

/* Opens the log of valgrind (--log-file), where the counts appear. Returns false if it is not
 * there. */
bool virtual_open(const char *log);
/* Sets the instructions from the start of a batch until its threads start. */
void virtual_wake_after(uint64_t instructions);
/* Returns the clock of the running coroutine. */
uint64_t virtual_now(void);
/* Lets the threads end that a parse has left behind, because they were late. Nothing else would run
 * them: the library waits for them in the kernel. */
void virtual_finish(void);
/* Returns the instructions of all coroutines since virtual_open, without those that only wait. */
uint64_t virtual_work(void);

#endif
