#ifndef HP_DRIVERS_PARALLEL_CUTTER_H
#define HP_DRIVERS_PARALLEL_CUTTER_H

/* The cutter divides the text of a job into chunks and appends them to the chunk queue. */

#include "speculation/cut.h"
#include "speculation/strategy.h"

struct hp_job;

typedef struct hp_cutter {
  void *source;    /* of plan.truth; NULL: no predictor and no cut policy needs the true state */
  size_t begin;    /* the next chunk begins here */
  size_t cut;      /* and ends here; 0: not found yet */
  size_t searched; /* no cut lies between `begin` and here */
  size_t forced;   /* forced cuts that are used up */
  struct {
    bool known;
    hp_start_state state;
  } truth, next_truth; /* at `begin` and at `cut`, with exact cuts */
} hp_cutter;

/* Prepares the cutter of a new job, which is zero. */
void hp_cutter_open(struct hp_job *job);
void hp_cutter_close(hp_cutter *cutter, const hp_plan *plan);
/* Returns the time that the true states have taken. */
uint64_t hp_cutter_truth_ns(const hp_cutter *cutter, const hp_plan *plan);

/* Returns whether the cuts are true token boundaries. */
bool hp_cuts_exactly(const struct hp_job *job);

/* Returns whether the chunks may be small, so that threads join adjacent ones. The inline executor
 * parses each chunk by itself, before the merge. Another order of merging needs all chunks at its
 * start. A strategy with its own `parse` ends at the limit of its chunk. */
bool hp_may_join_chunks(const struct hp_job *job);
/* Cuts the whole text. Sets queue.by_range. Unwinds through the merger's engine, as the next
 * function. */
void hp_cut_text(struct hp_job *job);
/* Cuts the first `available` bytes of incoming text. The offsets of the first `mapped` bytes are
 * known. `all`: the text ends there. Keeps back a chunk whose worker would soon wait for more text.
 */
void hp_cut_available(struct hp_job *job, size_t available, size_t mapped, bool all);
/* Returns the offset before which the cutter will not cut next. */
size_t hp_cutter_next_cut(const struct hp_job *job, size_t available);

#endif
