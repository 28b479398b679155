#ifndef HP_PROGRAMS_HPAR_MACHINE_H
#define HP_PROGRAMS_HPAR_MACHINE_H

#include "programs/hpar/json.h"

/* Writes what the times of a run depend on: processor, usable cores, memory, system. */
void hp_machine_json(hp_json *json);

/* Returns the number of processors that the process may use. */
unsigned hp_machine_cores(void);

/* Returns the number of threads that the library uses by default: one a core. */
unsigned hp_default_threads(void);

/* Writes the description of the machine as one line. */
void hp_machine_line(FILE *file);

#endif
