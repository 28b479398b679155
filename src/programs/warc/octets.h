#ifndef HP_PROGRAMS_WARC_OCTETS_H
#define HP_PROGRAMS_WARC_OCTETS_H

/* A growing run of bytes. Zero is the empty run. The owner calls hp_octets_free. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_octets {
  char *at;
  size_t length, capacity;
} hp_octets;

/* Makes space for `more` bytes after the last. Returns false if no memory is left. */
bool hp_octets_reserve(hp_octets *bytes, size_t more);
/* Appends bytes. Returns false if no memory is left. */
bool hp_octets_add(hp_octets *bytes, const char *at, size_t length);
/* Drops the first `count` bytes. */
void hp_octets_drop(hp_octets *bytes, size_t count);
/* Drops all bytes, and gives memory beyond `keep` bytes back. */
void hp_octets_clear(hp_octets *bytes, size_t keep);
void hp_octets_free(hp_octets *bytes);

#endif
