#ifndef TESTS_SUPPORT_DAT_H
#define TESTS_SUPPORT_DAT_H

/* Reads the tree-construction tests of html5lib-tests (.dat files). Every string points into the
 * file's bytes, which the list owns. Data may contain any byte. */

#include <stdbool.h>
#include <stddef.h>

typedef enum dat_scripting { DAT_BOTH, DAT_OFF, DAT_ON } dat_scripting;

typedef struct dat_test {
  const char *data;
  size_t data_length;
  const char *errors; /* each line has its newline */
  size_t errors_length;
  char *fragment; /* the context, "svg path"; NULL: a document */
  dat_scripting scripting;
  const char *expected; /* each line has its newline */
  size_t expected_length;
  unsigned line; /* of its #data, from 1 */
} dat_test;

typedef struct dat_file {
  char *bytes;
  dat_test *tests;
  size_t count;
} dat_file;

/* Returns false, and prints a line on standard error, if the file cannot be read or violates the
 * format. */
bool dat_read(const char *path, dat_file *file);
void dat_free(dat_file *file);

#endif
