#ifndef HP_SPECULATION_START_FREQUENCY_H
#define HP_SPECULATION_START_FREQUENCY_H

/* The predictor "frequency", HPar 4.2.1(b): the state that was the most frequent one at cuts that look the same, in a
 * profile. */

#include "html/tokenizer/state.h"
#include "speculation/cuts/key.h"
#include "speculation/start/predict.h"

#include <hpar/predictor.h>

/* Of `cuts` that look like this, `right` were in `state`. No text before: whatever stands before. */
typedef struct hp_frequency_row {
  hp_cut_key key;
  uint8_t state; /* hp_state */
  uint64_t cuts, right;
} hp_frequency_row;

/* The rows are in the order of their keys' bytes. */
struct hpar_frequency_table {
  const hp_frequency_row *rows;
  size_t count;
};

extern const hpar_frequency_table hp_default_frequencies; /* frequency_default.c, by scripts/generate-frequencies */

hp_state hp_most_frequent(const hpar_frequency_table *table, const hp_cut_key *key);

void hp_predict_by_frequency(const struct hp_plan *plan, const hp_request *task, const struct hp_chunk_work *chunk,
                             hp_start_state *state);

#endif
