#ifndef HP_PLATFORM_CAPACITY_H
#define HP_PLATFORM_CAPACITY_H

/* Capacities: the relative speeds of processors. 1024 is the fastest of the given processors. */

#include <stdbool.h>
#include <stdint.h>

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

/* Converts values of any unit to capacities. Requires: all values are greater than 0. */
void hp_scale_capacities(const uint64_t *value, unsigned count, uint16_t *capacity);

#endif
