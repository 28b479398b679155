/* A predictor: looks back from the cut for the nearest mark of a comment, a script, a style sheet
 * or a tag. Builds with
 *   cc -shared -fPIC $(pkg-config --cflags hpar) predictor.c -o predictor.so
 * and runs with
 *   hpar compare --plugin predictor.so --predictor nearest PAGE.html */

#include <hpar/study.h>

enum { REACH = 64 << 10 }; /* bytes before the cut */

static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }

/* Returns whether `word`, in lower case, is at `at`. */
static bool is_at(const char *at, const char *end, const char *word) {
  for (; *word; at++, word++)
    if (at == end || lower(*at) != *word) return false;
  return true;
}

/* What a mark says about the text after it. */
static const struct mark {
  const char *word, *element;
  hpar_start_context context;
} marks[] = {
    {"<!--", NULL, HPAR_CONTEXT_COMMENT},
    {"-->", NULL, HPAR_CONTEXT_NONE},
    {"<script", "script", HPAR_CONTEXT_RAW_TEXT},
    {"</script", NULL, HPAR_CONTEXT_NONE},
    {"<style", "style", HPAR_CONTEXT_RAW_TEXT},
    {"</style", NULL, HPAR_CONTEXT_NONE},
    {"<title", "title", HPAR_CONTEXT_RAW_TEXT},
    {"</title", NULL, HPAR_CONTEXT_NONE},
    {"<textarea", "textarea", HPAR_CONTEXT_RAW_TEXT},
    {"</textarea", NULL, HPAR_CONTEXT_NONE},
};

static const struct mark *mark_at(const char *at, const char *end) {
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (is_at(at, end, marks[i].word)) return &marks[i];
  return NULL;
}

static bool begins_tag(const char *at, const char *end) {
  if (end - at < 2 || *at != '<') return false;
  char next = lower(at[1]);
  return next == '/' || (next >= 'a' && next <= 'z');
}

/* Any number of threads call it at once, so it writes only to `guess`. */
static void predict(const hpar_cut *cut, hpar_guess *guess, void *context) {
  (void)context;
  const char *place = cut->text + cut->begin, *least = cut->begin > REACH ? place - REACH : cut->text;
  bool ends_tag = false; /* some ">" lies between `at` and the cut */
  for (const char *at = place; at > least; at--) {
    const char *here = at - 1;
    const struct mark *mark = *here == '<' || *here == '-' ? mark_at(here, place) : NULL;
    if (mark && (ends_tag || mark->context == HPAR_CONTEXT_COMMENT)) {
      guess->context = mark->context;
      guess->element = mark->element;
      return;
    }
    if (!ends_tag && begins_tag(here, place)) {
      guess->context = HPAR_CONTEXT_TAG;
      return;
    }
    if (*here == '>') ends_tag = true;
  }
}

static const hpar_predictor nearest = {HPAR_PREDICTOR_INIT, .name = "nearest", .predict = predict,
                                       .summary = "the nearest mark of a comment, raw text or tag before the cut"};
static const hpar_predictor *const predictors[] = {&nearest, NULL};
static const hpar_plugin plugin = {HPAR_PLUGIN_VERSION, .name = "predictor", .predictors = predictors};

HPAR_PLUGIN { return &plugin; }
