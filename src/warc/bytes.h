#ifndef HP_WARC_BYTES_H
#define HP_WARC_BYTES_H

/* A growing run of bytes. Zero is the empty run. The owner calls hp_bytes_free. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_bytes {
  char *at;
  size_t length, capacity;
} hp_bytes;

/* Makes space for `more` bytes after the last. Returns false if no memory is left. */
bool hp_bytes_reserve(hp_bytes *bytes, size_t more);
/* Appends bytes. Returns false if no memory is left. */
bool hp_bytes_add(hp_bytes *bytes, const char *at, size_t length);
/* Drops the first `count` bytes. */
void hp_bytes_drop(hp_bytes *bytes, size_t count);
/* Drops all bytes, and gives memory beyond `keep` bytes back. */
void hp_bytes_clear(hp_bytes *bytes, size_t keep);
void hp_bytes_free(hp_bytes *bytes);

#endif
