#ifndef HP_PLATFORM_AFFINITY_H
#define HP_PLATFORM_AFFINITY_H

/* The processor of each bound thread. The order has three keys: the first hyperthread of each core
 * before the second, fast cores before slow cores, and near memory (NUMA) before distant memory.
 * The near memory is that of the first thread that calls hp_allowed_processors.
 *
 * hwloc supplies the topology. Without hwloc, or if it finds no cores, only capacities and then the
 * processor numbers decide.
 *
 * HPAR_CPU_CAPACITY in the environment, Linux, and hwloc's kinds of cores with frequencies supply
 * capacities, in this order. hwloc's efficiency classes order cores of equal capacity.
 */

#include "base/target.h"

#include <hpar/parse.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/*** the relative speeds of processors ***/

enum { HP_FULL_CAPACITY = 1024, HP_MIN_CAPACITY = 32 };

typedef enum hp_capacity_source { HP_CAPACITY_UNKNOWN, HP_CAPACITY_LISTED, HP_CAPACITY_OF_SYSTEM } hp_capacity_source;

/* Sets capacity[i] for each processor[i]. The first of these sources that has a value for each of
 * the processors counts:
 *   - `listed`, the capacities of processors 0, 1, ... with commas between them; NULL: no list
 *   - the cpu_capacity of each processor, below `sysfs`
 *   - its highest frequency, in the same place
 * Returns that source. If no source does, changes nothing and returns HP_CAPACITY_UNKNOWN. */
hp_capacity_source hp_read_capacities(const char *sysfs, const char *listed, const uint16_t *processor, unsigned count,
                                      uint16_t *capacity);

/*** the processors and the binding of threads ***/

typedef struct hp_processors { // value
  const char *how;             /* "cores": by hwloc; "processors": by number */
  unsigned cores;              /* at least 1; the processors, if their cores are unknown */
  unsigned count;              /* length of `processor`, at least 1; more threads wrap around */
  uint16_t processor[HPAR_MAX_THREADS];
  uint16_t capacity[HPAR_MAX_THREADS]; /* of each one; HP_FULL_CAPACITY if it is unknown */
  bool is_listed;                      /* HPAR_CPU_CAPACITY has the capacities */
} hp_processors;

/* Returns the processors that the process was allowed to use at the first call. NULL: the system
 * does not report them. */
const hp_processors *hp_allowed_processors(void);

/* Binds the calling thread to the processor of this number, or, if `bind` is false, removes the
 * binding. Makes a system call only if the binding changes. Returns false if the system refuses.
 * Requires: the library created the thread. */
HP_SHARED bool hp_bind_thread(bool bind, unsigned number);
/* Returns whether hp_bind_thread has bound the calling thread. */
bool hp_thread_is_bound(void);

/* The affinity of a thread of the host program. */
typedef struct hp_saved_affinity {
  cpu_set_t mask;
  bool changed;  /* the thread is bound to the first processor */
  bool is_outer; /* no other call has bound the thread */
} hp_saved_affinity;
/* Saves the affinity of the calling thread and binds the thread to the first processor. Returns
 * false if the system refuses. */
bool hp_save_affinity(hp_saved_affinity *saved);
/* Restores the affinity if hp_save_affinity changed it. Returns false if the system refuses. */
bool hp_restore_affinity(const hp_saved_affinity *saved);

/* Sets `*mask` to the affinity of the calling thread, as it is without hp_save_affinity. A thread
 * that it creates would inherit the binding. Returns false if the system does not report it. */
bool hp_unbound_affinity(cpu_set_t *mask);
/* Returns whether hp_save_affinity has bound the calling thread. */
bool hp_caller_is_bound(void);

/* Returns the number of cores that the process was allowed to use at the first call, at least 1. */
unsigned hp_usable_cores(void);

#endif
