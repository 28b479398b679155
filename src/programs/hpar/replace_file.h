#ifndef HP_PROGRAMS_HPAR_REPLACE_FILE_H
#define HP_PROGRAMS_HPAR_REPLACE_FILE_H

/* Replaces a file by a new version: the caller writes a temporary file in the same folder, which
 * then takes the name of the file. At every moment the name has the old or the new bytes. The
 * temporary file has no name before it is complete, unless the file system demands one. */

#include <stdbool.h>
#include <stdio.h>

typedef struct hp_replacement {
  FILE *file;             /* for the new bytes */
  char *path, *temporary; /* without symbolic links; temporary: NULL without a name */
} hp_replacement;

/* Returns false after a message. */
bool hp_replacement_open(hp_replacement *replacement, const char *path);
/* Gives the new bytes the name of the file. The old file keeps its bytes under its name with
 * `suffix`, unless it is empty. Returns false after a message; the file is then as before. */
bool hp_replacement_finish(hp_replacement *replacement, const char *suffix);
/* Drops the new bytes. */
void hp_replacement_drop(hp_replacement *replacement);

#endif
