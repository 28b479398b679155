#ifndef HP_CLI_PROCESS_H
#define HP_CLI_PROCESS_H

/* Other programs: finding, running, reading. */

#include <stdbool.h>
#include <stddef.h>

/* The path of a program beside this one or in PATH. False if there is none. */
bool hp_find_program(const char *name, char *path, size_t size);

/* Runs a program, its arguments ended by NULL and [0] being its path. Its exit status, 128 and more if a signal ended
 * it, -1 if it cannot be run. With `output` its standard output goes into a buffer of that size, cut and with a NUL
 * behind it, and its complaints go nowhere. */
int hp_run_program(char *const *arguments, char *output, size_t size);

#endif
