#include "speculation/start/predict.h"

#include "speculation/start/frequency.h"
#include "speculation/start/lookback.h"
#include "speculation/start/markup.h"
#include "speculation/start/prescan.h"

#include <hpar/study.h>

hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting) {
  const hp_raw_text *raw = hp_raw_text_at(at, end, scripting);
  return raw ? raw->atom : 0;
}

static void prescan(const hp_predictor_input *input, hp_start_state *state) {
  if (input->prescan) hp_prescan_at(input->prescan, input->request, input->cut, input->reach, state);
}

static void oracle(const hp_predictor_input *input, hp_start_state *state) {
  uint8_t mode = state->mode;
  if (input->truth) *state = *input->truth;
  state->mode = mode;
  if (state->first >= input->reach && input->truth) state->first = HP_START_BEYOND;
}

static void mode_oracle(const hp_predictor_input *input, hp_start_state *state) {
  if (input->truth) state->mode = input->truth->mode;
}

static const hp_predictor predictors[] = {
    {"lookback", "the nearest decisive text before the cut, the tag names after it, and the extent of the head",
     hp_predict_by_lookback, true, false},
    {"prescan", "a fast scan of all earlier text: comments, raw text, foreign content, the head", prescan, true, false},
    {"context", "the data state, unless an end tag in the chunk shows the construct at its start", NULL, true, false},
    {"data", "always the data state", NULL, false, false},
    {"frequency", "the most frequent state of a profile at similar cuts", hp_predict_by_frequency, false, false},
    {"oracle", "the true state, from a sequential parse before", oracle, false, true},
};

const hp_predictor *hp_predictor_named(const char *name) {
  for (size_t i = 0; i < sizeof predictors / sizeof *predictors; i++)
    if (!strcmp(predictors[i].name, name)) return &predictors[i];
  return NULL;
}

const char *hpar_predictor_name(size_t index) {
  return index < sizeof predictors / sizeof *predictors ? predictors[index].name : NULL;
}

const char *hpar_predictor_summary(size_t index) {
  return index < sizeof predictors / sizeof *predictors ? predictors[index].summary : NULL;
}

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

static const hp_mode_predictor mode_predictors[] = {
    {"replay", "no guess at the start, only at what replayed tokens lead to", NULL, true, false},
    {"body", "always in body", NULL, false, false},
    {"initial", "initial, and in body after the first tag", initial, true, false},
    {"table", "by the first tag of a table part, where it is an end tag", table, true, false},
    {"oracle", "the true mode, from a sequential parse before", mode_oracle, true, true},
};

const hp_mode_predictor *hp_mode_predictor_named(const char *name) {
  for (size_t i = 0; i < sizeof mode_predictors / sizeof *mode_predictors; i++)
    if (!strcmp(mode_predictors[i].name, name)) return &mode_predictors[i];
  return NULL;
}

const char *hpar_mode_predictor_name(size_t index) {
  return index < sizeof mode_predictors / sizeof *mode_predictors ? mode_predictors[index].name : NULL;
}

const char *hpar_mode_predictor_summary(size_t index) {
  return index < sizeof mode_predictors / sizeof *mode_predictors ? mode_predictors[index].summary : NULL;
}
