#ifndef TESTS_SUPPORT_STOPS_H
#define TESTS_SUPPORT_STOPS_H

/* Stops threads of the library where they call the hook of units, until the test lets them go. A
 * call that waits for a stopped thread fails after a minute. */

#include <stdatomic.h>
#include <stdbool.h>

extern _Thread_local bool stops_spare; /* this thread is the test's, and does not stop */
extern _Atomic bool stops_briefly;     /* the stopped thread goes on by itself */
extern _Atomic unsigned stops_calls;   /* of the hook, by threads of the library */
extern _Atomic unsigned stops_begun;   /* since stops_after */

/* Sets the hook. The calling thread does not stop. */
void stops_open(void);
/* The hook: other hooks may call it. */
void stops_call(void);
/* Removes the hook. Checks that no stop has lasted a minute. */
void stops_close(void);
/* Stops so many threads, each at its next call after `calls` calls. */
void stops_after(long calls, unsigned threads);
/* Ends the stops. Returns how many threads have stopped. */
unsigned stops_end(void);
void stops_let_go(unsigned threads);
/* Lets the threads go on from another thread, after so many microseconds. */
void stops_let_go_after(unsigned threads, unsigned us);
/* Waits for that thread. */
void stops_join(void);

#endif
