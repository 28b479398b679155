#ifndef HP_REWRITE_PARALLEL_H
#define HP_REWRITE_PARALLEL_H

/* Rewriting of one window by several threads: docs/decisions/10-rewriter.md. The calling thread
 * is the merger. */

#include "rewrite/state.h"

/* How the window is divided. Zeros are the defaults. */
typedef struct hp_rewrite_division {
  size_t chunk_size;  /* bytes; 0: by the window and the threads */
  const size_t *cuts; /* ascending offsets in the window; NULL: by chunk_size */
  size_t cut_count;
  uint32_t checkpoint_bytes; /* 0: the default */
  uint64_t min_limit;        /* workers run rules with this limit or a higher one; 0: the default */
  bool is_inline;            /* the calling thread runs all workers, before the merge */
} hp_rewrite_division;

typedef struct hp_rewrite_counters {
  uint64_t chunks, exact_chunks;
  uint64_t skipped_chunks; /* inside a comment or raw text that the merger has read */
  uint64_t segments, adopted_segments;
  uint64_t bytes, rewritten_bytes; /* that the merger has rewritten itself */
  uint64_t worker_ns;              /* of workers on the calling thread */
} hp_rewrite_counters;

/* Lets the caller's executor run the threads of the stream; NULL: they are the rewriter's own.
 * HPAR_ERROR_MEMORY. */
hpar_status hp_rewriter_run_on(hpar_rewriter *rewriter, hpar_run_callback run, void *context);
/* Returns true if several threads should rewrite a window of this length. */
bool hp_rewriter_is_parallel(const hpar_rewriter *rewriter, size_t length);
/* Processes the events of the window, as hp_rewriter_scan. */
void hp_rewriter_scan_parallel(hpar_rewriter *rewriter);
/* Waits for threads that earlier windows have left. */
void hp_rewriter_await_stragglers(hpar_rewriter *rewriter);
void hp_rewrite_team_destroy(struct hp_rewrite_team *team);

/* Sets the division for tests and experiments. HPAR_ERROR_MEMORY. */
hpar_status hp_rewriter_divide(hpar_rewriter *rewriter, const hp_rewrite_division *division);
/* Returns the counters of all windows since the rewriter was made. */
hp_rewrite_counters hp_rewriter_counters(const hpar_rewriter *rewriter);

#endif
