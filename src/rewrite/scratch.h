#ifndef HP_REWRITE_SCRATCH_H
#define HP_REWRITE_SCRATCH_H

/* Memory for the time of one token, and strings that grow. Failure unwinds. */

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hp_scratch {
  struct hp_scratch_block *first; /* the newest */
  char *at, *end;
  char *begin;  /* of the only block, if it is small; NULL: there are other blocks, or none */
  size_t bytes; /* of all blocks */
  hp_unwind *unwind;
} hp_scratch;

/* Returns uninitialised memory, aligned to 8. */
void *hp_scratch_take(hp_scratch *scratch, size_t bytes);
/* Gives back the last `bytes` bytes of the last allocation of `taken` bytes. */
void hp_scratch_shrink(hp_scratch *scratch, void *memory, size_t taken, size_t used);
/* The rare case of hp_scratch_clear. */
void hp_scratch_free_blocks(hp_scratch *scratch);
/* Frees everything; keeps one block if it is small. */
static inline void hp_scratch_clear(hp_scratch *s) {
  if (s->at == s->begin) return;
  if (s->begin)
    s->at = s->begin;
  else
    hp_scratch_free_blocks(s);
}
void hp_scratch_close(hp_scratch *scratch);

/* A growing string of bytes. */
typedef struct hp_bytes {
  char *data;
  uint32_t length, capacity;
} hp_bytes;

/* Appends space for `length` bytes and returns it. */
char *hp_bytes_extend(hp_bytes *bytes, size_t length, hp_unwind *unwind);
void hp_bytes_append(hp_bytes *bytes, const char *from, size_t length, hp_unwind *unwind);
void hp_bytes_free(hp_bytes *bytes);

#endif
