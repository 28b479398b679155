#ifndef HP_PLATFORM_LATE_H
#define HP_PLATFORM_LATE_H

/* Threads that may still access an object after the call that started them has returned. The owner
 * of the object waits for them before it changes or frees the object.
 *
 * Each thread calls hp_late_leave once, as its last access. The caller that does not wait calls
 * hp_late_expect once with the number of these threads. References keep the structure alive. */

#include <stdbool.h>
#include <stdint.h>

typedef struct hp_late hp_late;

/* Returns a structure with one reference, or NULL if memory is short. */
hp_late *hp_late_create(void);
hp_late *hp_late_hold(hp_late *late);
/* Drops a reference. NULL is allowed. */
void hp_late_release(hp_late *late);
/* Returns whether the caller has the only reference. */
bool hp_late_is_unshared(const hp_late *late);

/* Requires: no thread of an earlier use is left. */
void hp_late_reset(hp_late *late);
void hp_late_leave(hp_late *late);
void hp_late_expect(hp_late *late, unsigned threads);
/* Waits until all expected threads have left. Their writes are then visible. In a forked child the
 * threads are lost, and the function returns at once. */
void hp_late_wait(hp_late *late);

#endif
