#ifndef HP_PROGRAMS_JAVASCRIPT_AHEAD_H
#define HP_PROGRAMS_JAVASCRIPT_AHEAD_H

/* Compiles the scripts of a page on a thread of its own, in a heap of its own, before they run. The
 * engine then loads the bytecode. The thread searches the bytes of the page for script elements
 * without parsing it. The engine takes a function only if the text is equal to that of the script
 * that runs, so a wrong guess of the thread costs only time. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_javascript_ahead hp_javascript_ahead;

/* Starts the thread. `bytes` must stay until hp_javascript_ahead_close. `memory` is the limit of
 * the heap; 0: none. Returns NULL if there is no script, or if memory is short. */
hp_javascript_ahead *hp_javascript_ahead_open(const char *bytes, size_t length, size_t memory);
/* Ends the thread after the script that it compiles. Accepts NULL. */
void hp_javascript_ahead_close(hp_javascript_ahead *ahead);

/* Returns the bytecode of the next script with this text, and its length; NULL: there is none.
 * Waits if the thread compiles this script now. The bytes are valid until
 * hp_javascript_ahead_close. One thread calls the function. */
const void *hp_javascript_ahead_find(hp_javascript_ahead *ahead, const char *text, size_t text_length, size_t *length);

#endif
