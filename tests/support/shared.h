#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

/* Finds data outside the project: below $HPAR_SHARED, or else below ../shared, relative to the
 * source directory. */

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of `below` into `buffer` and returns it. Prints a line and returns NULL if the
 * path does not exist. */
const char *shared_path(char *buffer, size_t n, const char *below);

/* Returns all bytes of a file and a NUL after them; the caller frees them. Prints a line on
 * standard error and returns NULL on failure. */
char *shared_read(const char *path, size_t *length);

/* The sorted paths of the files in a directory whose names end in `suffix`. shared_list_free frees
 * them. */
typedef struct shared_list {
  char **paths;
  size_t count;
} shared_list;

bool shared_files(const char *directory, const char *suffix, shared_list *list);
void shared_list_free(shared_list *list);

#endif
