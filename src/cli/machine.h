#ifndef HP_CLI_MACHINE_H
#define HP_CLI_MACHINE_H

#include "cli/json.h"

/* What the times of a run depend on: processor, cores that may be used, memory, system. */
void hp_machine_json(hp_json *json);

/* Processors that may be used. */
unsigned hp_machine_cores(void);

/* One line of the same. */
void hp_machine_line(FILE *file);

#endif
