#ifndef HP_SPECULATION_CUTS_CUT_H
#define HP_SPECULATION_CUTS_CUT_H

/* Where to cut. */

#include "base/unwind.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hp_cuts {
  uint32_t *at; /* ascending, each > 0: chunk i + 1 begins at at[i] */
  uint32_t count, capacity;
} hp_cuts;

typedef enum hp_cut_policy {
  HP_CUT_SMART,      /* before a tag, and past it where it ends a raw-text element: more often in the data state */
  HP_CUT_BEFORE_TAG, /* HPar 4.2.1(a) */
  HP_CUT_AFTER_TAG,  /* as the authors' prototype */
  HP_CUT_EVEN,       /* wherever it falls, but between characters */
  HP_CUT_BY_BYTES,   /* the number of those before, which go by the bytes at the place */
  HP_CUT_EXACT = HP_CUT_BY_BYTES, /* where a token truly begins: who cuts must know */
  HP_CUT_POLICIES
} hp_cut_policy;

int hp_cut_policy_named(const char *name); /* -1: no such */

/* The first place to cut at or after `from`, `length` if there is none, by one of the policies that go by bytes, as
 * below. */
size_t hp_cut(hp_cut_policy policy, const char *text, size_t length, size_t from);

/* Cuts about `chunk_size` bytes apart. */
void hp_cut_evenly(hp_cuts *cuts, hp_cut_policy policy, const char *text, size_t length, size_t chunk_size,
                   hp_unwind *unwind);

/* Cuts for so many threads, the first of which, the merger, begins on the left and the others behind its share: both
 * find large chunks first, then smaller and smaller ones, so that the last of them end at about the same time. */
void hp_cut_for(hp_cuts *cuts, hp_cut_policy policy, const char *text, size_t length, unsigned threads,
                hp_unwind *unwind);

/* The size of chunks of which threads make one as they come by them. */
size_t hp_shared_size(size_t length, unsigned threads);

/* Where the merger's share of the text ends, about: it parses faster than a worker, for nothing is asked, nothing
 * logged. */
static inline size_t hp_merger_share(size_t length, unsigned threads) {
  enum { MERGER = 11, WORKER = 10 };
  return (size_t)((uint64_t)length * MERGER / (MERGER + WORKER * (uint64_t)(threads - 1)));
}

/* The chunk size for an input whose length nobody knows yet, so much of it having come. */
size_t hp_chunk_size(size_t come, unsigned threads);

#endif
