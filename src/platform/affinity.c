#include "platform/affinity.h"

#if HPAR_HWLOC
#include <hwloc.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSFS "/sys/devices/system/cpu"

static hp_processors processors;
static cpu_set_t all;
static bool found_processors;

/*** sources ***/

/* Converts values of any unit, above 0, to capacities. */
static void scale_capacities(const uint64_t *value, unsigned count, uint16_t *capacity) {
  uint64_t most = 1;
  for (unsigned i = 0; i < count; i++)
    if (value[i] > most) most = value[i];
  for (unsigned i = 0; i < count; i++) {
    uint64_t scaled = value[i] * HP_FULL_CAPACITY / most;
    capacity[i] = (uint16_t)(scaled < HP_MIN_CAPACITY ? HP_MIN_CAPACITY : scaled);
  }
}

/* Returns the number at the processor's place in the list, or 0. */
static uint64_t listed_value(const char *listed, unsigned processor) {
  for (; processor; processor--) {
    while (*listed && *listed != ',') listed++;
    if (!*listed++) return 0;
  }
  if (*listed < '0' || *listed > '9') return 0;
  uint64_t value = strtoul(listed, NULL, 10);
  return value <= UINT32_MAX ? value : 0;
}

/* Returns the number in a file of the processor, or 0. */
static uint64_t file_value(const char *sysfs, unsigned processor, const char *name) {
  char path[256];
  unsigned long value = 0;
  snprintf(path, sizeof path, "%s/cpu%u/%s", sysfs, processor, name);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "%lu", &value) != 1 || value > UINT32_MAX) value = 0;
  fclose(file);
  return value;
}

hp_capacity_source hp_read_capacities(const char *sysfs, const char *listed, const uint16_t *processor, unsigned count,
                                      uint16_t *capacity) {
  static const char *const files[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq"};
  enum { FILES = sizeof files / sizeof *files };
  uint64_t value[CPU_SETSIZE];
  if (count > CPU_SETSIZE) return HP_CAPACITY_UNKNOWN;
  for (unsigned source = listed ? 0 : 1; source <= FILES; source++) {
    unsigned known = 0;
    for (; known < count; known++) {
      value[known] =
          source ? file_value(sysfs, processor[known], files[source - 1]) : listed_value(listed, processor[known]);
      if (!value[known]) break;
    }
    if (known < count) continue;
    scale_capacities(value, count, capacity);
    return source ? HP_CAPACITY_OF_SYSTEM : HP_CAPACITY_LISTED;
  }
  return HP_CAPACITY_UNKNOWN;
}

#if HPAR_HWLOC
/* Loads the cores and processors of the machine. Returns false if hwloc finds no topology. The
 * caller destroys a loaded topology. */
static bool open_topology(hwloc_topology_t *topology) {
  /* Without sysfs, for example in a bare chroot, hwloc finds no topology and prints an error. */
  if (access(SYSFS, R_OK) || hwloc_topology_init(topology)) return false;
  hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_PU, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
#if HWLOC_API_VERSION >= 0x00020500
  /* Otherwise hwloc moves this thread to each processor in turn. Beside a busy process, each move
   * takes 4 ms. */
  hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
#endif
  if (!hwloc_topology_load(*topology)) return true;
  hwloc_topology_destroy(*topology);
  return false;
}
#endif

/*** candidates ***/

/* An allowed processor, with the sort keys in their order, ascending. */
typedef struct candidate {
  unsigned sibling, slowness, kind, distance, number;
} candidate;

static candidate candidates[CPU_SETSIZE];

static int compare_candidates(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->sibling != y->sibling) return x->sibling < y->sibling ? -1 : 1;
  if (x->slowness != y->slowness) return x->slowness < y->slowness ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Reads the capacities of the candidates from the environment or from Linux. */
static bool find_capacities(unsigned count) {
  static uint16_t number[CPU_SETSIZE], capacity[CPU_SETSIZE];
  for (unsigned i = 0; i < count; i++) number[i] = (uint16_t)candidates[i].number;
  hp_capacity_source source = hp_read_capacities(SYSFS, getenv("HPAR_CPU_CAPACITY"), number, count, capacity);
  if (source == HP_CAPACITY_UNKNOWN) return false;
  processors.is_listed = source == HP_CAPACITY_LISTED;
  for (unsigned i = 0; i < count; i++) candidates[i].slowness = HP_FULL_CAPACITY - capacity[i];
  return true;
}

static void order_candidates(const char *how, unsigned count) {
  qsort(candidates, count, sizeof *candidates, compare_candidates);
  processors.how = how;
  processors.cores = 0;
  for (unsigned i = 0; i < count; i++) processors.cores += !candidates[i].sibling;
  processors.count = count < HPAR_MAX_THREADS ? count : HPAR_MAX_THREADS;
  for (unsigned i = 0; i < processors.count; i++) {
    processors.processor[i] = (uint16_t)candidates[i].number;
    processors.capacity[i] = (uint16_t)(HP_FULL_CAPACITY - candidates[i].slowness);
  }
}

static unsigned list_by_number(void) {
  unsigned count = 0;
  for (unsigned i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &all)) candidates[count++] = (candidate){.number = i};
  return count;
}

#if HPAR_HWLOC
#if HWLOC_API_VERSION >= 0x00020400
/* Returns 0 for the fastest kind of core, and more for slower kinds. Sets `*frequency` to its
 * highest frequency in MHz, if hwloc has that. hwloc sorts the kinds by efficiency, the fastest
 * last. */
static unsigned rank_of_kind(hwloc_topology_t topology, hwloc_const_bitmap_t one, uint64_t *frequency) {
  int kinds = hwloc_cpukinds_get_nr(topology, 0), kind = hwloc_cpukinds_get_by_cpuset(topology, one, 0);
  int efficiency = -1;
  unsigned count = 0;
  struct hwloc_info_s *infos = NULL;
  if (kind < 0 || hwloc_cpukinds_get_info(topology, (unsigned)kind, NULL, &efficiency, &count, &infos, 0)) return 0;
  for (unsigned i = 0; i < count; i++)
    if (!strcmp(infos[i].name, "FrequencyMaxMHz")) *frequency = strtoul(infos[i].value, NULL, 10);
  return efficiency < 0 ? 0 : (unsigned)(kinds - 1 - efficiency);
}
#else
static unsigned rank_of_kind(hwloc_topology_t topology, hwloc_const_bitmap_t one, uint64_t *frequency) {
  (void)topology;
  (void)one;
  (void)frequency;
  return 0;
}
#endif

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

/* Lists the allowed processors of all cores, and the highest frequency of each. Sets
 * `*has_frequencies` if hwloc has all of them. */
static unsigned list_by_topology(hwloc_topology_t topology, uint64_t *frequency, bool *has_frequencies) {
  unsigned count = 0;
  int here = sched_getcpu();
  *has_frequencies = true;
  for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
    unsigned sibling = 0;
    for (hwloc_obj_t unit = NULL;
         (unit = hwloc_get_next_obj_inside_cpuset_by_type(topology, core->cpuset, HWLOC_OBJ_PU, unit));) {
      if (unit->os_index >= CPU_SETSIZE || !CPU_ISSET(unit->os_index, &all) || count == CPU_SETSIZE) continue;
      frequency[count] = 0;
      candidates[count] = (candidate){.sibling = sibling++,
                                      .kind = rank_of_kind(topology, unit->cpuset, &frequency[count]),
                                      .distance = distance_of(topology, unit->cpuset, here),
                                      .number = unit->os_index};
      if (!frequency[count++]) *has_frequencies = false;
    }
  }
  return count;
}

static void compare_frequencies(const uint64_t *frequency, unsigned count) {
  static uint16_t capacity[CPU_SETSIZE];
  scale_capacities(frequency, count, capacity);
  for (unsigned i = 0; i < count; i++) candidates[i].slowness = HP_FULL_CAPACITY - capacity[i];
}

static bool order_by_topology(void) {
  static uint64_t frequency[CPU_SETSIZE];
  hwloc_topology_t topology;
  bool has_frequencies;
  if (!open_topology(&topology)) return false;
  unsigned count = list_by_topology(topology, frequency, &has_frequencies);
  hwloc_topology_destroy(topology);
  if (!count) return false;
  if (!find_capacities(count) && has_frequencies) compare_frequencies(frequency, count);
  order_candidates("cores", count);
  return true;
}
#else
static bool order_by_topology(void) { return false; }
#endif

static void find_processors(void) {
  if (sched_getaffinity(0, sizeof all, &all)) return;
  found_processors = order_by_topology();
  if (found_processors) return;
  unsigned count = list_by_number();
  found_processors = count;
  find_capacities(count);
  order_candidates("processors", count);
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

static _Thread_local const hp_saved_affinity *outer; /* of the calling thread; NULL: not bound */

bool hp_save_affinity(hp_saved_affinity *saved) {
  saved->changed = hp_allowed_processors() && !sched_getaffinity(0, sizeof saved->mask, &saved->mask) && bind_to(0);
  saved->is_outer = saved->changed && !outer;
  if (saved->is_outer) outer = saved;
  return saved->changed;
}

bool hp_restore_affinity(const hp_saved_affinity *saved) {
  if (saved->is_outer) outer = NULL;
  return !saved->changed || !sched_setaffinity(0, sizeof saved->mask, &saved->mask);
}

bool hp_caller_is_bound(void) { return outer; }

bool hp_unbound_affinity(cpu_set_t *mask) {
  if (!outer) return !sched_getaffinity(0, sizeof *mask, mask);
  *mask = outer->mask;
  return true;
}

unsigned hp_usable_cores(void) {
  const hp_processors *found = hp_allowed_processors();
  return found ? found->cores : 1;
}
