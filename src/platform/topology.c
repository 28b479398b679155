#include "platform/topology.h"

#include "platform/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

/* Returns the number of processors that the calling thread may use, at least 1. A parse that binds
 * it does not count, because the result is kept for later parses. */
static unsigned allowed_processors(void) {
  cpu_set_t allowed;
  return hp_unbound_affinity(&allowed) ? (unsigned)CPU_COUNT(&allowed) : 1;
}

#if HPAR_HWLOC
static bool load(hwloc_topology_t topology) {
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PU, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
#if HWLOC_API_VERSION >= 0x00020500
  /* Otherwise hwloc moves this thread to each processor in turn. Beside a busy process, each move
   * takes 4 ms. */
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
#endif
  return !hwloc_topology_load(topology);
}

bool hp_topology_load(hwloc_topology_t *topology) {
  /* Without sysfs, for example in a bare chroot, hwloc finds no topology and prints an error. */
  if (access("/sys/devices/system/cpu", R_OK) || hwloc_topology_init(topology)) return false;
  if (load(*topology)) return true;
  hwloc_topology_destroy(*topology);
  return false;
}

/* Returns 0 if hwloc finds no cores. */
static unsigned count_by_hwloc(void) {
  hwloc_topology_t topology;
  if (!hp_topology_load(&topology)) return 0;
  hwloc_bitmap_t mine = hwloc_bitmap_alloc();
  unsigned found = 0;
  if (mine && !hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS))
    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));)
      found += hwloc_bitmap_intersects(mine, core->cpuset) != 0;
  hwloc_bitmap_free(mine);
  hwloc_topology_destroy(topology);
  return found;
}
#else
static unsigned count_by_hwloc(void) { return 0; }
#endif

static unsigned cores;

static void count_cores(void) {
  unsigned processors = allowed_processors(), found = count_by_hwloc();
  cores = found && found < processors ? found : processors;
  if (!cores) cores = 1;
}

unsigned hp_usable_cores(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, count_cores);
  return cores;
}
