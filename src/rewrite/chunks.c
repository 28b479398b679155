#include "rewrite/chunks.h"

#include "base/memory.h"
#include "speculation/cuts/cut.h"

/* The merger's chunk is longer than those of the workers by this part of them. In the first round,
 * workers may have versions, which cost time. */
enum { BONUS_PERCENT = 17, BONUS_WITH_VERSIONS_PERCENT = 40 };

void hp_chunks_free(hp_chunks *chunks) { hp_free(chunks->begins); }

void hp_chunks_use_cuts(hp_chunks *chunks, const size_t *cuts, size_t cut_count) {
  chunks->cuts = cuts;
  chunks->count = (uint32_t)cut_count + 1;
  chunks->period = 0;
}

static bool add_chunk(hp_chunks *chunks, size_t begin) {
  enum { FIRST_CAPACITY = 64 };
  if (chunks->count == chunks->capacity) {
    uint32_t capacity = chunks->capacity ? 2 * chunks->capacity : FIRST_CAPACITY;
    size_t *begins = hp_reallocate(chunks->begins, capacity * sizeof *begins);
    if (!begins) return false;
    chunks->begins = begins;
    chunks->capacity = capacity;
  }
  chunks->begins[chunks->count++] = begin;
  return true;
}

/* Returns the bytes of the next round, in which each thread has one chunk. A round has half the
 * bytes that are left. A short rest belongs to the last round, because each chunk has a cost. */
static size_t round_for(size_t left, unsigned threads) {
  enum { MIN_CHUNK = 128 << 10, MAX_CHUNK = 256 << 10 };
  const size_t least = (size_t)threads * MIN_CHUNK, most = (size_t)threads * MAX_CHUNK;
  size_t bytes = left / 2 < least ? least : left / 2 > most ? most : left / 2;
  return left - least / 2 < bytes || left < bytes ? left : bytes;
}

/* Returns the size of a worker's chunk in a round. */
static size_t size_for(size_t bytes, unsigned threads, unsigned bonus_percent) {
  enum { LEAST = 32 << 10 };
  size_t size = (size_t)((uint64_t)bytes * 100 / (100 * (uint64_t)threads + bonus_percent)) + 1;
  return size < LEAST ? LEAST : size;
}

bool hp_chunks_divide(hp_chunks *chunks, size_t size, unsigned threads, bool has_versions) {
  const bool is_even = size != 0;
  chunks->cuts = NULL;
  chunks->count = 0;
  chunks->period = is_even || threads < 2 ? 0 : threads;
  for (size_t at = chunks->first; at < chunks->length || !chunks->count;) {
    const bool begins_round = chunks->count % threads == 0;
    const unsigned bonus = has_versions && chunks->count < threads ? BONUS_WITH_VERSIONS_PERCENT : BONUS_PERCENT;
    if (!is_even && begins_round) size = size_for(round_for(chunks->length - at, threads), threads, bonus);
    if (!add_chunk(chunks, at)) return false;
    at += chunks->period && begins_round ? size + size * bonus / 100 : size;
  }
  return true;
}

size_t hp_chunk_begin(const hp_chunks *chunks, uint32_t chunk) {
  if (chunk >= chunks->count) return chunks->length;
  if (!chunk) return chunks->first;
  if (chunks->cuts) return chunks->cuts[chunk - 1];
  return hp_cut(HP_CUT_SMART, chunks->window, chunks->length, chunks->begins[chunk]);
}
