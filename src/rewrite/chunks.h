#ifndef HP_REWRITE_CHUNKS_H
#define HP_REWRITE_CHUNKS_H

/* The division of a window among the merger and its workers. A worker claims a chunk when it has no
 * other work. All other bytes are the merger's: the gaps before, between and after the chunks in
 * flight. A worker that finds no more bytes after the last chunk takes the end of another gap, so
 * all threads end at about the same time. Any thread may call these functions, except the first
 * three. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A chunk in flight. The cut of a worker is the first tag from `begin` on, or the given one. */
typedef struct hp_chunk {
  size_t begin, end;
  uint32_t slot, number; /* `number`: of the window */
} hp_chunk;

typedef struct hp_chunks {
  pthread_mutex_t lock;
  bool has_lock;
  /*** of the window; they do not change ***/
  const char *window;
  size_t length;
  const size_t *cuts; /* given offsets of the chunks after the first one; NULL: none */
  size_t cut_count;
  size_t first;     /* the offset of the first chunk */
  size_t size;      /* of all chunks, without cuts; 0: as the next member */
  unsigned threads; /* chunks have sizes by the bytes that are left for so many threads */
  uint32_t most;    /* chunks in flight; half as many if they are of the greatest length */
  /*** under the lock ***/
  hp_chunk *items; /* the chunks in flight, in the order of the text */
  uint32_t count, capacity;
  uint32_t number;  /* of chunks so far, including those of the merger */
  uint32_t next;    /* the given chunk that no thread has claimed */
  uint32_t skipped; /* given chunks that the merger passed before a worker claimed them */
  size_t merger;    /* all bytes before are done */
  size_t reach;     /* the merger has claimed the bytes before */
  bool is_closed;   /* the merger rewrites the rest alone */
} hp_chunks;

typedef enum hp_claim {
  HP_CLAIM_MADE,
  HP_CLAIM_LATER, /* too many chunks are in flight */
  HP_CLAIM_NEVER  /* no bytes are left for workers */
} hp_claim;

/* Begins a window. Requires: the first members are set. HPAR_ERROR_MEMORY: returns false. */
bool hp_chunks_begin(hp_chunks *chunks);
void hp_chunks_free(hp_chunks *chunks);

/* Claims a chunk for a worker, in the slot `slot`. A worker takes `percent` of the merger's time
 * for the same bytes. */
hp_claim hp_chunks_claim(hp_chunks *chunks, uint32_t slot, unsigned percent, size_t most_bytes, hp_chunk *chunk);
/* The merger has reached `at`. Claims some bytes from there on for it, and returns their end. If a
 * chunk begins at `at` or before, there are none, and `*chunk` is that chunk. Otherwise its end is
 * 0. */
size_t hp_chunks_advance(hp_chunks *chunks, size_t at, hp_chunk *chunk);
/* The first chunk in flight is done. */
void hp_chunks_remove_first(hp_chunks *chunks);
/* No thread claims a chunk any more. */
void hp_chunks_close(hp_chunks *chunks);
/* Returns the number of a part that the merger rewrites. */
uint32_t hp_chunks_number(hp_chunks *chunks);

#endif
