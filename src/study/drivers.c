#include "study/drivers.h"

#include "study/indexed.h"
#include "study/pipelined/driver.h"

#include <string.h>

static const hpar_driver *const drivers[] = {&hp_pipelined_driver, &hp_indexed_driver, &hp_index_ahead_driver};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

const char *hpar_driver_name(size_t index) { return index < DRIVERS ? drivers[index]->name : NULL; }
const char *hpar_driver_summary(size_t index) { return index < DRIVERS ? drivers[index]->summary : NULL; }

const hpar_driver *hp_driver_named(const char *name) {
  for (size_t i = 0; i < DRIVERS; i++)
    if (!strcmp(drivers[i]->name, name)) return drivers[i];
  return NULL;
}
