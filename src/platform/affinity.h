#ifndef HP_PLATFORM_AFFINITY_H
#define HP_PLATFORM_AFFINITY_H

/* Which processor each thread is bound to, where binding is asked for: the first hyperthread of each core before the
 * second of any, fast cores before slow ones (efficiency classes), and first those of the memory (NUMA) nearest to
 * where the first question was asked. From hwloc; without it, or where it sees nothing, processors by their numbers. */

#include <hpar/stats.h>
#include <sched.h>
#include <stdbool.h>

typedef struct hp_places {
  const char *how; /* "cores": by hwloc; "processors": by number */
  unsigned count;  /* of `processor`, at least 1; more threads than that begin anew */
  uint16_t processor[HPAR_MAX_THREADS];
} hp_places;

/* Found once for the process; those that it may run on then. NULL: the system does not tell. */
const hp_places *hp_places_found(void);

/* For a thread that is ours: bound to the place of that number, or, by `bind` false, to none. A system call only where
 * that changes something. False: refused. */
bool hp_bind_thread(bool bind, unsigned number);
/* Was the calling thread bound so, and not let go since? */
bool hp_thread_is_bound(void);

/* The calling thread, which is not ours, goes to the first place and back to where it was. */
typedef struct hp_saved_affinity {
  cpu_set_t mask;
  bool left;
} hp_saved_affinity;
bool hp_save_affinity(hp_saved_affinity *home);
void hp_restore_affinity(const hp_saved_affinity *home);

#endif
