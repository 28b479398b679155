#include "study/predictors.h"

#include "speculation/strategy.h"
#include "study/frequency.h"

#include <hpar/study.h>
#include <string.h>

static void oracle(const hp_predictor_input *input, hp_start_state *state) {
  uint8_t mode = state->mode;
  if (input->truth) *state = *input->truth;
  state->mode = mode;
  if (state->first >= input->reach && input->truth) state->first = HP_START_BEYOND;
}

static void mode_oracle(const hp_predictor_input *input, hp_start_state *state) {
  if (input->truth) state->mode = input->truth->mode;
}

static const hp_predictor of_context = {
    .name = "context",
    .summary = "the data state, unless an end tag in the chunk shows the construct at its start",
    .restarts_after_end_tag = true};
const hp_predictor hp_data_predictor = {.name = "data", .summary = "always the data state"};
static const hp_predictor of_frequency = {.name = "frequency",
                                          .summary = "the most frequent state of a profile at similar cuts",
                                          .predict = hp_predict_by_frequency};
const hp_predictor hp_oracle_predictor = {.name = "oracle",
                                          .summary = "the true state, from a sequential parse before",
                                          .predict = oracle,
                                          .asks_for_truth = true};

static const hp_predictor *const predictors[] = {&hp_lookback_predictor, &hp_prescan_predictor, &of_context,
                                                 &hp_data_predictor,     &of_frequency,         &hp_oracle_predictor};
enum { PREDICTORS = sizeof predictors / sizeof *predictors };

const hp_predictor *hp_predictor_named(const char *name) {
  for (size_t i = 0; i < PREDICTORS; i++)
    if (!strcmp(predictors[i]->name, name)) return predictors[i];
  return NULL;
}

const char *hpar_predictor_name(size_t index) { return index < PREDICTORS ? predictors[index]->name : NULL; }

const char *hpar_predictor_summary(size_t index) { return index < PREDICTORS ? predictors[index]->summary : NULL; }

/*** the insertion mode ***/

/* HPar 4.2.2(b): Initial, so that html, head and body appear, and in body follows; here they are
 * not made, of course. */
static void initial(const hp_predictor_input *input, hp_start_state *state) {
  (void)input;
  state->mode = HP_BEFORE_HEAD;
}

/* HPar 4.2.2(c), Table III: the first tag of a table part, if it is an end tag. */
static void table(const hp_predictor_input *input, hp_start_state *state) {
  static const struct part {
    const char *name;
    uint8_t mode;
  } parts[] = {{"td", HP_IN_BODY},          {"th", HP_IN_BODY},          {"tr", HP_IN_ROW},
               {"tbody", HP_IN_TABLE_BODY}, {"thead", HP_IN_TABLE_BODY}, {"tfoot", HP_IN_TABLE_BODY},
               {"table", HP_IN_BODY}};
  const char *end = input->request->text + input->reach;
  for (const char *at = input->request->text + input->cut; at < end && (at = memchr(at, '<', (size_t)(end - at)));
       at++) {
    bool closer = end - at > 1 && at[1] == '/';
    const char *name = at + 1 + closer;
    if (name >= end || (*name | 0x20) != 't') continue;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      if (!hp_tag_is(name, end, parts[i].name)) continue;
      if (closer) state->mode = parts[i].mode;
      return;
    }
  }
}

const hp_mode_predictor hp_body_predictor = {.name = "body", .summary = "always in body"};
const hp_mode_predictor hp_initial_predictor = {
    .name = "initial", .summary = "initial, and in body after the first tag", .predict = initial, .after_replay = true};
static const hp_mode_predictor of_table = {.name = "table",
                                           .summary = "by the first tag of a table part, where it is an end tag",
                                           .predict = table,
                                           .after_replay = true};
const hp_mode_predictor hp_mode_oracle_predictor = {.name = "oracle",
                                                    .summary = "the true mode, from a sequential parse before",
                                                    .predict = mode_oracle,
                                                    .after_replay = true,
                                                    .asks_for_truth = true};

static const hp_mode_predictor *const mode_predictors[] = {&hp_replay_predictor, &hp_body_predictor,
                                                           &hp_initial_predictor, &of_table, &hp_mode_oracle_predictor};
enum { MODE_PREDICTORS = sizeof mode_predictors / sizeof *mode_predictors };

const hp_mode_predictor *hp_mode_predictor_named(const char *name) {
  for (size_t i = 0; i < MODE_PREDICTORS; i++)
    if (!strcmp(mode_predictors[i]->name, name)) return mode_predictors[i];
  return NULL;
}

const char *hpar_mode_predictor_name(size_t index) {
  return index < MODE_PREDICTORS ? mode_predictors[index]->name : NULL;
}

const char *hpar_mode_predictor_summary(size_t index) {
  return index < MODE_PREDICTORS ? mode_predictors[index]->summary : NULL;
}
