#ifndef HP_PROGRAMS_HPAR_PROCESS_H
#define HP_PROGRAMS_HPAR_PROCESS_H

/* Other programs: finding, running, reading. */

#include <stdbool.h>
#include <stddef.h>

/* Finds the path of a program in the folder of this program or in PATH. Returns false if there is
 * none. */
bool hp_find_program(const char *name, char *path, size_t size);

/* Runs a program, which SIGTERM ends if this process ends before. The arguments end with NULL; [0]
 * is the path. Returns the exit status, 128 or more after a signal, or -1 if the program cannot
 * run. With `output`, standard output goes into a buffer of `size` bytes, truncated and with a NUL
 * at its end, and standard error is discarded. */
int hp_run_program(char *const *arguments, char *output, size_t size);
/* Does the same without a buffer, and calls `watch` five times a second. */
int hp_run_watched(char *const *arguments, void (*watch)(void *context), void *context);

#endif
