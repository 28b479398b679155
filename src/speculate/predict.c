#include "speculate/strategy.h"
#include "speculate/worker.h"

#include "scan/scan.h"
#include "speculate/frequency.h"
#include "speculate/markup.h"
#include "speculate/prescan.h"

/* How far back a decisive marker is looked for: an eighth of the chunk, within these bounds. Farther costs more than
 * it gives: the chunk itself shows by an end tag what longer raw text it began in. */
enum { LEAST_LOOKBACK = 1 << 10, MOST_LOOKBACK = 8 << 10 };

/* Where hardly a tag stands, or a backslash as in a string does, raw text is likely, and its opener is worth a longer
 * search. */
enum { SAMPLE = 1 << 10, FEW_TAGS = 6, BACKSLASH_SAMPLE = 256, RAW_LOOKBACK = 256 << 10 };

hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting) {
  const hp_raw_text *raw = hp_raw_text_at(at, end, scripting);
  return raw ? raw->atom : 0;
}

static bool has_few_tags(const char *at, const char *end) {
  int tags = 0;
  while (tags < FEW_TAGS && (at = memchr(at, '<', (size_t)(end - at)))) {
    at++;
    tags += at < end && (*at == '/' || (unsigned char)((*at | 0x20) - 'a') < 26);
  }
  return tags < FEW_TAGS;
}

/* As a string in a script has them around quotes and in end tags. */
static bool has_escape(const char *at, const char *end) {
  while ((at = memchr(at, '\\', (size_t)(end - at))) && ++at < end)
    if (*at == '/' || *at == '"' || *at == '\'' || *at == 'u') return true;
  return false;
}

/* The nearest decisive marker before the cut: the opener or closer of raw text, comment or foreign content. */
static void lookback(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  (void)plan;
  const char *text = task->text;
  size_t length = task->length, cut = chunk->cut, window = (chunk->reach - cut) / 8;
  if (window < LEAST_LOOKBACK) window = LEAST_LOOKBACK;
  if (window > MOST_LOOKBACK) window = MOST_LOOKBACK;
  const char *end = text + cut, *limit = text + length, *usual = cut > window ? end - window : text, *least = usual;
  size_t before = cut < SAMPLE ? cut : SAMPLE, near = before < BACKSLASH_SAMPLE ? before : BACKSLASH_SAMPLE;
  if (has_few_tags(end - before, end) || has_escape(end - near, end))
    least = cut > RAW_LOOKBACK ? end - RAW_LOOKBACK : text;
  const hp_scan_kernels *scan = hp_scan();
  bool data = false;          /* the tokenizer's state is settled; the namespace is still looked for */
  bool after_comment = false; /* a "-->" was met, so that no earlier "<!--" is open */
  bool perhaps_comment = false;
  for (const char *at = end; (at = scan->last_marker(least, at)) >= least;) {
    if (*at == '>') {
      after_comment = true;
      continue;
    }
    const char *name = at + 1;
    bool closer = name < end && *name == '/';
    if (closer) name++;
    if (!closer && limit - name > 2 && name[0] == '!' && name[1] == '-' && name[2] == '-') {
      if (!data && !after_comment) perhaps_comment = true;
      after_comment = true;
      continue;
    }
    if (hp_tag_is(name, limit, "svg") || hp_tag_is(name, limit, "math")) {
      if (perhaps_comment) break;
      if (!closer && !hp_is_self_closing(at, limit))
        state->ns = (*name | 0x20) == 's' ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
      return;
    }
    if (closer && (hp_tag_is(name, limit, "foreignobject") || hp_tag_is(name, limit, "desc"))) continue;
    if (data) continue;
    const hp_raw_text *raw = hp_raw_text_at(name, limit, task->scripting);
    if (!raw) continue;
    if (closer) {
      if (perhaps_comment) break;
      if (at < usual) return;
      data = true;
      least = usual;
      continue;
    }
    const char *close = memchr(at, '>', (size_t)(end - at));
    if (!close) continue;
    state->content = raw->content;
    state->raw_name = raw->atom;
    return;
  }
  if (perhaps_comment) state->inside = HP_INSIDE_COMMENT;
}

static void prescan(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  if (plan->prescan) hp_prescan_at(plan->prescan, task, chunk->cut, chunk->reach, state);
}

static void oracle(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  (void)plan, (void)task;
  uint8_t mode = state->mode;
  if (chunk->truth_known) *state = chunk->truth;
  state->mode = mode;
  if (state->first >= chunk->reach && chunk->truth_known) state->first = HP_START_BEYOND;
}

static void mode_oracle(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  (void)plan, (void)task;
  if (chunk->truth_known) state->mode = chunk->truth.mode;
}

static const hp_predictor predictors[] = {
    {"lookback", "the nearest opener or closer of raw text, comment or foreign content before the cut", lookback, true,
     false},
    {"prescan", "a fast scan of all that stands before: comments, raw text, foreign content, the head", prescan, true,
     false},
    {"context", "the data state, unless an end tag in the chunk shows what it began inside", NULL, true, false},
    {"data", "always the data state", NULL, false, false},
    {"frequency", "the state that a profile has most often at cuts that look the same", hp_predict_by_frequency, false,
     false},
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

/* HPar 4.2.2(b): Initial, so that html, head and body appear, and in body follows; here they are not made, of course.
 */
static void initial(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  (void)plan, (void)task, (void)chunk;
  state->mode = HP_BEFORE_HEAD;
}

/* HPar 4.2.2(c), Table III: the first tag of a table part, if it is an end tag. */
static void table(const hp_plan *plan, const hp_task *task, const hp_chunk_work *chunk, hp_start_state *state) {
  (void)plan;
  static const struct part {
    const char *name;
    uint8_t mode;
  } parts[] = {{"td", HP_IN_BODY},          {"th", HP_IN_BODY},          {"tr", HP_IN_ROW},
               {"tbody", HP_IN_TABLE_BODY}, {"thead", HP_IN_TABLE_BODY}, {"tfoot", HP_IN_TABLE_BODY},
               {"table", HP_IN_BODY}};
  const char *end = task->text + chunk->reach;
  for (const char *at = task->text + chunk->cut; at < end && (at = memchr(at, '<', (size_t)(end - at))); at++) {
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
