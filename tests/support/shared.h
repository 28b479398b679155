#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

/* Data that lies beside the project and is no part of it: below $HPAR_SHARED, else below ../shared seen from
 * the source directory. */

#include <stdbool.h>
#include <stddef.h>

/* The path of what lies at `below`, in `buffer`; NULL, and a line that says so, where there is nothing. */
const char *shared_path(char *buffer, size_t n, const char *below);

/* All bytes of a file, to be freed, with a NUL behind them. NULL, and a line on standard error, on failure. */
char *shared_read(const char *path, size_t *length);

/* The paths of the files in a directory whose names end in `suffix`, sorted; freed by shared_list_free. */
typedef struct shared_list {
  char **paths;
  size_t count;
} shared_list;

bool shared_files(const char *directory, const char *suffix, shared_list *list);
void shared_list_free(shared_list *list);

#endif
