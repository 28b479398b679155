/* A strategy: assumes that a chunk begins in data and in body, and corrects that by what the chunk
 * shows, as the scheme of HPar does. It gives a chunk up whose tags mostly belong to the text
 * before it. Builds with
 *   cc -shared -fPIC $(pkg-config --cflags hpar) strategy.c -o strategy.so
 * and runs with
 *   hpar compare --plugin strategy.so --strategy learner PAGE.html */

#include <hpar/study.h>

enum { TAGS_BEFORE_SURRENDER = 2000 };

/* The numbers that the library keeps for a chunk: hpar_attempt.notes. */
enum { TAGS, REACHING_TAGS, HAS_CORRECTED_MODE };

static bool is_name(hpar_string name, const char *expected) {
  size_t i = 0;
  while (i < name.length && expected[i] && name.bytes[i] == expected[i]) i++;
  return i == name.length && !expected[i];
}

/* Returns the insertion mode in which a chunk begins that has this end tag without its start tag;
 * NULL: the tag does not tell. */
static const char *mode_before(hpar_string name) {
  if (is_name(name, "tr")) return "in row";
  if (is_name(name, "tbody") || is_name(name, "thead") || is_name(name, "tfoot")) return "in table body";
  return NULL;
}

/* The worker calls it before each token, because `interval` is 1. */
static hpar_decision decide(const hpar_attempt *attempt, hpar_guess *next, void *context) {
  (void)context;
  uint64_t *notes = attempt->notes;
  if (attempt->is_contradiction && !attempt->restarts) {
    next->first = attempt->token_end; /* the chunk began in raw text, which ends here */
    return HPAR_DECISION_RESTART;
  }
  if (attempt->kind != HPAR_TOKEN_START_TAG && attempt->kind != HPAR_TOKEN_END_TAG) return HPAR_DECISION_GO_ON;
  notes[TAGS]++;
  if (!attempt->reaches_out) return HPAR_DECISION_GO_ON;
  notes[REACHING_TAGS]++;
  if (notes[TAGS] > TAGS_BEFORE_SURRENDER && 2 * notes[REACHING_TAGS] > notes[TAGS]) return HPAR_DECISION_GIVE_UP;
  const char *mode = mode_before(attempt->name);
  bool is_end_tag = attempt->kind == HPAR_TOKEN_END_TAG;
  if (!mode || !is_end_tag || notes[HAS_CORRECTED_MODE] || attempt->has_open(attempt, "table"))
    return HPAR_DECISION_GO_ON;
  notes[HAS_CORRECTED_MODE] = 1;
  *next = attempt->guess;
  next->mode = mode;
  return HPAR_DECISION_RESTART;
}

static const hpar_strategy learner = {HPAR_STRATEGY_INIT,
                                      .name = "learner",
                                      .summary = "data and in body, corrected by the first tags that contradict",
                                      .predictor_name = "data",
                                      .mode_predictor_name = "replay",
                                      .cut_policy_name = "before-tag",
                                      .decide = decide,
                                      .interval = 1};
static const hpar_strategy *const strategies[] = {&learner, NULL};
static const hpar_plugin plugin = {HPAR_PLUGIN_VERSION, .name = "strategy", .strategies = strategies};

HPAR_PLUGIN { return &plugin; }
