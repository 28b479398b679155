#include "platform/affinity.h"

#include <pthread.h>
#include <stdlib.h>

#if HPAR_HWLOC
#include <hwloc.h>
#include <unistd.h>
#endif

static hp_processors processors;
static cpu_set_t all;
static bool found_processors;

static void order_by_number(void) {
  processors.how = "processors";
  processors.count = 0;
  for (int i = 0; i < CPU_SETSIZE && processors.count < HPAR_MAX_THREADS; i++)
    if (CPU_ISSET((size_t)i, &all)) processors.processor[processors.count++] = (uint16_t)i;
}

#if HPAR_HWLOC
typedef struct candidate {
  unsigned sibling, slowness, distance, number; /* sort keys in this order, ascending */
} candidate;

static int compare_candidates(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->sibling != y->sibling) return x->sibling < y->sibling ? -1 : 1;
  if (x->slowness != y->slowness) return x->slowness < y->slowness ? -1 : 1;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns 0 for the fastest kind of core, and more for slower kinds. hwloc sorts the kinds by
 * efficiency, the fastest last. */
static unsigned slowness_of(hwloc_topology_t topology, hwloc_const_bitmap_t one) {
#if HWLOC_API_VERSION >= 0x00020400
  int kinds = hwloc_cpukinds_get_nr(topology, 0), kind = hwloc_cpukinds_get_by_cpuset(topology, one, 0);
  int efficiency = -1;
  if (kind >= 0 && !hwloc_cpukinds_get_info(topology, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0) &&
      efficiency >= 0)
    return (unsigned)(kinds - 1 - efficiency);
#else
  (void)topology;
  (void)one;
#endif
  return 0;
}

/* Returns 0 for the NUMA node of the calling thread, and 1, 2, ... for the nodes after it. */
static unsigned distance_of(hwloc_topology_t topology, hwloc_const_bitmap_t one, int here) {
  int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), first = 0, its = 0;
  for (int i = 0; i < nodes; i++) {
    hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
    if (!node) continue;
    if (here >= 0 && hwloc_bitmap_isset(node->cpuset, (unsigned)here)) first = i;
    if (hwloc_bitmap_isincluded(one, node->cpuset)) its = i;
  }
  return (unsigned)(its >= first ? its - first : its - first + nodes);
}

static unsigned list_processors(hwloc_topology_t topology, candidate *found) {
  unsigned count = 0;
  int here = sched_getcpu();
  for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
    unsigned sibling = 0;
    for (hwloc_obj_t unit = NULL;
         (unit = hwloc_get_next_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, unit));) {
      if (unit->os_index >= CPU_SETSIZE || !CPU_ISSET(unit->os_index, &all) || count == CPU_SETSIZE) continue;
      found[count++] = (candidate){sibling++, slowness_of(topology, unit->cpuset),
                                   distance_of(topology, unit->cpuset, here), unit->os_index};
    }
  }
  return count;
}

static void order_by_topology(void) {
  hwloc_topology_t topology;
  /* Without sysfs, for example in a bare chroot, hwloc finds no topology and prints an error. */
  if (access("/sys/devices/system/cpu", R_OK) || hwloc_topology_init(&topology)) return;
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PU, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  candidate *found = malloc(CPU_SETSIZE * sizeof *found);
  unsigned count = found && !hwloc_topology_load(topology) ? list_processors(topology, found) : 0;
  if (count) {
    qsort(found, count, sizeof *found, compare_candidates);
    processors.how = "cores";
    processors.count = count < HPAR_MAX_THREADS ? count : HPAR_MAX_THREADS;
    for (unsigned i = 0; i < processors.count; i++) processors.processor[i] = (uint16_t)found[i].number;
  }
  free(found);
  hwloc_topology_destroy(topology);
}
#endif

static void find_processors(void) {
  if (sched_getaffinity(0, sizeof all, &all)) return;
  order_by_number();
  if (!processors.count) return;
  found_processors = true;
#if HPAR_HWLOC
  order_by_topology();
#endif
}

const hp_processors *hp_allowed_processors(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_processors);
  return found_processors ? &processors : NULL;
}

static bool bind_to(unsigned number) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processors.processor[number % processors.count], &one);
  return !sched_setaffinity(0, sizeof one, &one);
}

static _Thread_local unsigned binding; /* 1 + the number of the processor; 0: not bound */

bool hp_thread_is_bound(void) { return binding != 0; }

bool hp_bind_thread(bool bind, unsigned number) {
  unsigned target = bind ? number + 1 : 0;
  if (binding == target) return true;
  if (!hp_allowed_processors() || !(bind ? bind_to(number) : !sched_setaffinity(0, sizeof all, &all))) return false;
  binding = target;
  return true;
}

bool hp_save_affinity(hp_saved_affinity *saved) {
  saved->changed = hp_allowed_processors() && !sched_getaffinity(0, sizeof saved->mask, &saved->mask) && bind_to(0);
  return saved->changed;
}

void hp_restore_affinity(const hp_saved_affinity *saved) {
  if (saved->changed) sched_setaffinity(0, sizeof saved->mask, &saved->mask);
}
