#ifndef HP_STUDY_FREQUENCY_H
#define HP_STUDY_FREQUENCY_H

/* The predictor "frequency", HPar 4.2.1(b): the most frequent state, in a profile, at cuts with the
 * same key. */

#include "speculation/strategy.h"
#include "study/cut_key.h"
#include "tokenizer/tokenizer.h"

#include <hpar/study.h>

/* `right` of `cuts` cuts with this key were in `state`. An empty `before` matches any text. */
typedef struct hp_frequency_row {
  hp_cut_key key;
  uint8_t state; /* hp_state */
  uint64_t cuts, right;
} hp_frequency_row;

/* The rows are sorted by the bytes of their keys. */
struct hpar_frequency_table {
  const hp_frequency_row *rows;
  size_t count;
};

/* In frequency_default.c, which scripts/generate-frequencies writes. */
extern const hpar_frequency_table hp_default_frequencies;

/* Returns the most frequent state at cuts with this key. */
hp_state hp_most_frequent(const hpar_frequency_table *table, const hp_cut_key *key);

void hp_predict_by_frequency(const hp_predictor_input *input, hp_start_state *state);

#endif
