#ifndef HP_PLATFORM_COROUTINE_H
#define HP_PLATFORM_COROUTINE_H

/* A function on a stack of its own. It can pause in the middle of nested calls, and go on there
 * later. It never calls code of the library's user, who may need more stack than there is, or an
 * interpreter that knows the address of the thread's stack. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_coroutine hp_coroutine;

/* Returns NULL without memory. */
hp_coroutine *hp_coroutine_create(void);
/* Requires: the function has returned, or never began. `coroutine` may be NULL. */
void hp_coroutine_destroy(hp_coroutine *coroutine);
/* Returns the bytes of the stack. The system provides only the pages that have been written to. */
size_t hp_coroutine_bytes(void);

/* Runs the function on the other stack. Returns true if it has returned, false if it pauses. It may
 * read `*argument` until it pauses for the first time. */
bool hp_coroutine_start(hp_coroutine *coroutine, void (*function)(void *), void *argument);
/* Goes on after the pause, with the same result. Any thread may call it. */
bool hp_coroutine_continue(hp_coroutine *coroutine);
/* Pauses. Requires: the function calls it. */
void hp_coroutine_pause(hp_coroutine *coroutine);

#endif
