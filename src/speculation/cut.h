#ifndef HP_SPECULATION_CUT_H
#define HP_SPECULATION_CUT_H

/* Cut policies: the places at which a text is divided into chunks. */

#include "base/target.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hp_cut_policy { // value
  const char *name, *summary;
  /* Returns the first cut at or after `from`, or `length`. It may return `length` after
   * `max_misses` places that look like a cut and are none. Reads at most 16 bytes after a cut.
   * NULL: the cuts are the next true token boundaries, which hp_plan.truth knows. */
  size_t (*find)(const char *text, size_t length, size_t from, unsigned max_misses);
} hp_cut_policy;

/* Before a tag. An end tag of a raw-text element is left to the chunk before: the cut is at the
 * next tag. */
HP_SHARED extern const hp_cut_policy hp_smart_cuts;

/* Returns the first cut at or after `from`, or `length`. Requires, as the next functions: the
 * policy has the function `find`. */
HP_SHARED size_t hp_find_cut(const hp_cut_policy *policy, const char *text, size_t length, size_t from);

/* How a parse chooses its cuts: by a policy, or by a function of a study. */
typedef struct hp_cut_choice { // value
  const hp_cut_policy *policy;
  /* Returns a cut near `from`. NULL: by the policy. Only the calling thread uses it, because two
   * calls for one cut may have different results. */
  size_t (*find)(const void *data, const char *text, size_t length, size_t from);
  const void *data;
  const char *name;
} hp_cut_choice;

/* Does the same as hp_find_cut by the choice. A result of its function that lies before `from`,
 * after the text or inside a character is moved to the next possible cut. */
size_t hp_cut_by(const hp_cut_choice *choice, const char *text, size_t length, size_t from);

/* Cuts about `distance` bytes apart. A thread finds each cut without the others. */
typedef struct hp_lazy_cuts {
  const char *text;
  size_t length, distance;
  const hp_cut_policy *policy;
} hp_lazy_cuts;

/* Returns the number of chunks, some of which may be empty. */
static inline uint32_t hp_lazy_chunks(const hp_lazy_cuts *cuts) {
  return cuts->length ? (uint32_t)((cuts->length - 1) / cuts->distance + 1) : 1;
}

/* Returns the beginning of a chunk: the first cut at or after chunk * distance, or the length. A
 * chunk without a cut in its bytes is empty and begins at the next cut. */
uint32_t hp_lazy_cut(const hp_lazy_cuts *cuts, uint32_t chunk);
/* Returns the end of a chunk, which begins at `begin`. */
uint32_t hp_lazy_end(const hp_lazy_cuts *cuts, uint32_t chunk, uint32_t begin);

/* Returns the size of small chunks, which threads join when they claim them. */
size_t hp_joinable_chunk_size(size_t length, unsigned threads);

/* Returns the work of a thread, compared with other threads on equal processors. Thread 0 is the
 * merger. */
static inline uint32_t hp_relative_throughput(unsigned thread) { return thread ? 10 : 11; }

/* Returns the bytes of text that the merger parses itself. It parses faster than a worker, because
 * it neither checks nor logs assumptions. */
static inline size_t hp_merger_bytes(size_t length, unsigned threads) {
  return (size_t)((uint64_t)length * hp_relative_throughput(0) /
                  (hp_relative_throughput(0) + hp_relative_throughput(1) * (threads - 1)));
}

/* Returns the chunk size for arriving input, of which `available` bytes are there. */
size_t hp_chunk_size(size_t available, unsigned threads);

/*** the work by place ***/

/* An estimate of the work by place. A parse takes little time for the bytes of scripts and text,
 * and much more for tags. The estimate counts tags in blocks of 64 bytes at equal distances. */

enum { HP_COST_SAMPLES = 256 };

typedef struct hp_cost_estimate {
  size_t length, distance;             /* of the text, between samples */
  uint32_t count;                      /* of the samples */
  uint32_t until[HP_COST_SAMPLES + 1]; /* the work up to the end of each sample's distance */
} hp_cost_estimate;

void hp_estimate_cost(hp_cost_estimate *estimate, const char *text, size_t length);

/* Returns the work in the text up to `place`, in the unit of a byte without tags. */
uint64_t hp_cost_until(const hp_cost_estimate *estimate, size_t place);

/* Returns the place that divides the work part : whole - part. Requires: part <= whole, and
 * whole > 0. */
size_t hp_cost_place(const hp_cost_estimate *estimate, uint64_t part, uint64_t whole);

#endif
