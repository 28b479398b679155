#ifndef HP_PLATFORM_TOPOLOGY_H
#define HP_PLATFORM_TOPOLOGY_H

/* The cores that this process may use. */

#include <stdbool.h>

#if HPAR_HWLOC
#include <hwloc.h>

/* Loads the cores and processors of the machine. Returns false if hwloc finds no topology. The
 * caller destroys a loaded topology. */
bool hp_topology_load(hwloc_topology_t *topology);
#endif

/* Returns the number of cores that this process may use, at least 1. hwloc counts them, if the
 * library is built with it. */
unsigned hp_usable_cores(void);

#endif
