#include "study/choices.h"

#include "base/bytes.h"
#include "speculation/prescan.h"
#include "study/enumerate.h"
#include "study/frequency.h"
#include "study/hpar2013.h"
#include "study/indexed.h"
#include "study/pipelined/driver.h"

#include <string.h>

/* Defines the functions that find a choice in a list by its name, and that tell name and summary by
 * index. */
#define CHOICES(type, kind, list)                                                                            \
  const type *hp_##kind##_named(const char *name) {                                                          \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)                                                  \
      if (!strcmp(list[i]->name, name)) return list[i];                                                      \
    return NULL;                                                                                             \
  }                                                                                                          \
  const char *hpar_##kind##_name(size_t i) { return i < sizeof list / sizeof *list ? list[i]->name : NULL; } \
  const char *hpar_##kind##_summary(size_t i) { return i < sizeof list / sizeof *list ? list[i]->summary : NULL; }

/*** cut policies ***/

static size_t before_tag(const char *text, size_t length, size_t from, unsigned max_misses) {
  const char *end = text + length, *at = text + from;
  for (; max_misses && at < end && (at = memchr(at, '<', (size_t)(end - at))) && end - at > 2; max_misses--, at++)
    if (hp_ascii_is_letter(at[at[1] == '/' ? 2 : 1])) return (size_t)(at - text);
  return length;
}

static size_t after_tag(const char *text, size_t length, size_t from, unsigned max_misses) {
  (void)max_misses;
  const char *tag_end = from < length ? memchr(text + from, '>', length - from) : NULL;
  return tag_end ? (size_t)(tag_end - text) + 1 : length;
}

static size_t between_characters(const char *text, size_t length, size_t from, unsigned max_misses) {
  (void)max_misses;
  while (from < length && ((unsigned char)text[from] & 0xc0) == 0x80) from++;
  return from;
}

static const hp_cut_policy of_before_tag = {"before-tag", "before a tag, as in the paper", before_tag};
static const hp_cut_policy of_after_tag = {"after-tag", "after a \">\", as in the paper's prototype", after_tag};
static const hp_cut_policy of_even = {"even", "at equal distances, wherever that is", between_characters};
static const hp_cut_policy of_exact = {"exact", "where a token begins, by a sequential parse before: the upper bound",
                                       NULL};

const hp_cut_policy *const hp_cut_policies[HP_CUT_POLICIES] = {&hp_smart_cuts, &of_before_tag, &of_after_tag, &of_even,
                                                               &of_exact};

CHOICES(hp_cut_policy, cut_policy, hp_cut_policies)

/*** predictors ***/

static void take_truth(const hp_predictor_input *input, hp_start_state *state) {
  uint8_t mode = state->mode;
  if (input->truth) *state = *input->truth;
  state->mode = mode;
  if (state->first >= input->reach && input->truth) state->first = HP_START_BEYOND;
}

static void take_true_mode(const hp_predictor_input *input, hp_start_state *state) {
  if (input->truth) state->mode = input->truth->mode;
}

static const hp_predictor of_context = {
    .name = "context",
    .summary = "the data state, unless an end tag in the chunk shows the construct at its start",
    .restarts_after_end_tag = true};
static const hp_predictor of_data = {.name = "data", .summary = "always the data state"};
static const hp_predictor of_frequency = {.name = "frequency",
                                          .summary = "the most frequent state of a profile at similar cuts",
                                          .predict = hp_predict_by_frequency};
static const hp_predictor of_truth = {.name = "oracle",
                                      .summary = "the true state, from a sequential parse before",
                                      .predict = take_truth,
                                      .asks_for_truth = true};

static const hp_predictor *const predictors[] = {
    &hp_lookback_predictor, &hp_prescan_predictor, &of_context, &of_data, &of_frequency, &of_truth};
CHOICES(hp_predictor, predictor, predictors)

/*** the insertion mode ***/

/* HPar 4.2.2(b) begins in "initial". Here, a worker begins in "before head", because it must not
 * make html, head and body. */
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

static const hp_mode_predictor in_body = {.name = "body", .summary = "always in body"};
static const hp_mode_predictor of_initial = {
    .name = "initial", .summary = "initial, and in body after the first tag", .predict = initial, .after_replay = true};
static const hp_mode_predictor of_table = {.name = "table",
                                           .summary = "by the first tag of a table part, where it is an end tag",
                                           .predict = table,
                                           .after_replay = true};
static const hp_mode_predictor of_true_mode = {.name = "oracle",
                                               .summary = "the true mode, from a sequential parse before",
                                               .predict = take_true_mode,
                                               .after_replay = true,
                                               .asks_for_truth = true};

static const hp_mode_predictor *const mode_predictors[] = {&hp_replay_predictor, &in_body, &of_initial, &of_table,
                                                           &of_true_mode};
CHOICES(hp_mode_predictor, mode_predictor, mode_predictors)

/*** strategies ***/

/* The audit of this strategy runs on the merger's thread, so a plug-in could not do the same. */
static const hp_strategy hpar2013 = {.name = "hpar2013",
                                     .summary = "HPar 4.2, the paper's scheme; its undetected errors are counted",
                                     .predictor = &of_data,
                                     .mode_predictor = &of_initial,
                                     .cut = &of_before_tag,
                                     .parse = hp_hpar2013_parse,
                                     .stops = hp_hpar2013_stops,
                                     .mode_after = hp_hpar2013_mode_after};

static const hpar_strategy temppa = {HPAR_STRATEGY_INIT,
                                     .name = "temppa",
                                     .summary =
                                         "HPar 4.1: merging only; the data state, in body, one node after the other",
                                     .predictor_name = "data",
                                     .mode_predictor_name = "body",
                                     .cut_policy_name = "before-tag",
                                     .one_by_one = true};

static const hpar_strategy enumerate = {HPAR_STRATEGY_INIT, .name = "enumerate",
                                        .summary = "all states of the tokenizer at once, until they converge",
                                        .predictor_name = "data", .starts = hp_enumerate_starts};

static const hpar_strategy oracle = {HPAR_STRATEGY_INIT, .name = "oracle",
                                     .summary = "as exact, but the true start states are known: the upper bound",
                                     .predictor_name = "oracle", .mode_predictor_name = "oracle"};

static const hp_named_strategy strategies[] = {
    {&hp_exact_strategy, NULL}, {NULL, &temppa}, {&hpar2013, NULL}, {NULL, &enumerate}, {NULL, &oracle}};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

const hp_named_strategy *hp_strategy_named(const char *name) {
  for (size_t i = 0; i < STRATEGIES; i++)
    if (!name || !strcmp(hpar_strategy_name(i), name)) return &strategies[i];
  return NULL;
}

const char *hpar_strategy_name(size_t index) {
  if (index >= STRATEGIES) return NULL;
  const hp_named_strategy *named = &strategies[index];
  return named->own ? named->own->name : named->as_plugin->name;
}

const char *hpar_strategy_summary(size_t index) {
  if (index >= STRATEGIES) return NULL;
  const hp_named_strategy *named = &strategies[index];
  return named->own ? named->own->summary : named->as_plugin->summary;
}

/*** drivers ***/

static const hpar_driver *const drivers[] = {&hp_pipelined_driver, &hp_indexed_driver, &hp_index_ahead_driver};
CHOICES(hpar_driver, driver, drivers)
