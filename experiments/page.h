#ifndef HPAR_EXPERIMENTS_PAGE_H
#define HPAR_EXPERIMENTS_PAGE_H

#include <stdio.h>
#include <stdlib.h>

/* Returns the first `most` bytes of a file, to be freed; 0: all of them. NULL: it cannot be read,
 * or memory has run out. */
static inline char *read_page(const char *path, size_t most, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *bytes = NULL;
  if (!fseek(file, 0, SEEK_END) && ftell(file) >= 0) {
    *length = (size_t)ftell(file);
    if (most && most < *length) *length = most;
    rewind(file);
    bytes = malloc(*length + 1);
    if (bytes && fread(bytes, 1, *length, file) != *length) {
      free(bytes);
      bytes = NULL;
    }
  }
  fclose(file);
  return bytes;
}

#endif
