#include "programs/warc/octets.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum { LEAST = 256 };

bool hp_octets_reserve(hp_octets *b, size_t more) {
  if (b->capacity - b->length >= more) return true;
  if (more > SIZE_MAX / 4 - b->length) return false;
  size_t capacity = b->length + more, doubled = b->capacity * 2;
  if (capacity < doubled) capacity = doubled;
  if (capacity < LEAST) capacity = LEAST;
  char *grown = hp_reallocate(b->at, capacity);
  if (!grown) return false;
  b->at = grown;
  b->capacity = capacity;
  return true;
}

bool hp_octets_add(hp_octets *b, const char *at, size_t length) {
  if (!hp_octets_reserve(b, length)) return false;
  if (length) memcpy(b->at + b->length, at, length);
  b->length += length;
  return true;
}

void hp_octets_drop(hp_octets *b, size_t count) {
  if (!count) return;
  b->length -= count;
  if (b->length) memmove(b->at, b->at + count, b->length);
}

void hp_octets_clear(hp_octets *b, size_t keep) {
  b->length = 0;
  if (b->capacity > keep) hp_octets_free(b);
}

void hp_octets_free(hp_octets *b) {
  hp_free(b->at);
  *b = (hp_octets){0};
}
