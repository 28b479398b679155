#ifndef HP_RUNTIME_STRAGGLERS_H
#define HP_RUNTIME_STRAGGLERS_H

/* Threads that may still access an object after the call that started them has returned. The owner
 * of the object waits for them before it changes or frees the object.
 *
 * Each thread calls hp_stragglers_leave once, as its last access. The caller that does not wait
 * calls hp_stragglers_expect once with the number of these threads. References keep the structure
 * alive. */

#include <stdbool.h>
#include <stdint.h>

typedef struct hp_stragglers hp_stragglers;

/* Returns a structure with one reference, or NULL if memory is short. */
hp_stragglers *hp_stragglers_create(void);
hp_stragglers *hp_stragglers_hold(hp_stragglers *it);
/* Drops a reference. NULL is allowed. */
void hp_stragglers_release(hp_stragglers *it);
/* Returns whether the caller has the only reference. */
bool hp_stragglers_are_unshared(const hp_stragglers *it);

/* Requires: no thread of an earlier use is left. */
void hp_stragglers_reset(hp_stragglers *it);
void hp_stragglers_leave(hp_stragglers *it);
void hp_stragglers_expect(hp_stragglers *it, unsigned threads);
/* Waits until all expected threads have left. Their writes are then visible. In a forked child the
 * threads are lost, and the function returns at once. */
void hp_stragglers_wait(hp_stragglers *it);

#endif
