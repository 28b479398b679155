#include "rewrite/scratch.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_BYTES = 64, BLOCK_BYTES = 240, KEPT_BYTES = 480 };

struct hp_scratch_block {
  struct hp_scratch_block *next;
  size_t size;
};

static void *refill(hp_scratch *s, size_t bytes) {
  size_t least = s->first ? BLOCK_BYTES : FIRST_BYTES, size = bytes > least ? bytes : least;
  struct hp_scratch_block *block = s->unwind->separates ? hp_allocate_aligned(HP_CACHE_LINE, sizeof *block + size)
                                                        : hp_allocate(sizeof *block + size);
  if (!block) hp_unwind_now(s->unwind, HPAR_ERROR_MEMORY);
  *block = (struct hp_scratch_block){s->first, size};
  s->first = block;
  s->bytes += size;
  s->begin = !block->next && size <= KEPT_BYTES ? (char *)(block + 1) : NULL;
  s->at = (char *)(block + 1) + bytes;
  s->end = (char *)(block + 1) + size;
  return block + 1;
}

void *hp_scratch_take(hp_scratch *s, size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  if ((size_t)(s->end - s->at) < bytes) return refill(s, bytes);
  char *memory = s->at;
  s->at += bytes;
  return memory;
}

void hp_scratch_shrink(hp_scratch *s, void *memory, size_t taken, size_t used) {
  char *last = (char *)memory + ((taken + 7) & ~(size_t)7);
  if (s->at == last) s->at = (char *)memory + ((used + 7) & ~(size_t)7);
}

static void free_blocks(hp_scratch *s, const struct hp_scratch_block *kept) {
  struct hp_scratch_block *block = s->first, *next;
  for (; block; block = next) {
    next = block->next;
    if (block != kept) hp_free(block);
  }
}

void hp_scratch_free_blocks(hp_scratch *s) {
  struct hp_scratch_block *kept = s->first->size <= KEPT_BYTES ? s->first : NULL;
  free_blocks(s, kept);
  s->first = kept;
  s->bytes = kept ? kept->size : 0;
  if (kept) kept->next = NULL;
  s->begin = s->at = kept ? (char *)(kept + 1) : NULL;
  s->end = kept ? s->at + kept->size : NULL;
}

void hp_scratch_close(hp_scratch *s) {
  free_blocks(s, NULL);
  *s = (hp_scratch){0};
}

char *hp_bytes_extend(hp_bytes *b, size_t length, hp_unwind *unwind) {
  size_t need = b->length + length;
  if (need > UINT32_MAX) hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  hp_grow_tight(&b->data, &b->capacity, need, unwind);
  char *at = b->data + b->length;
  b->length = (uint32_t)need;
  return at;
}

void hp_bytes_append(hp_bytes *b, const char *from, size_t length, hp_unwind *unwind) {
  if (length) memcpy(hp_bytes_extend(b, length, unwind), from, length);
}

void hp_bytes_free(hp_bytes *b) {
  hp_free(b->data);
  *b = (hp_bytes){0};
}
