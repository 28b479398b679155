#include "platform/affinity.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void hp_scale_capacities(const uint64_t *value, unsigned count, uint16_t *capacity) {
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
    hp_scale_capacities(value, count, capacity);
    return source ? HP_CAPACITY_OF_SYSTEM : HP_CAPACITY_LISTED;
  }
  return HP_CAPACITY_UNKNOWN;
}
