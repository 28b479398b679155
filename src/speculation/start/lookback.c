#include "speculation/start/lookback.h"

#include "base/ascii.h"
#include "speculation/start/markup.h"
#include "speculation/start/prescan.h"
#include "speculation/strategies/strategy.h"
#include "speculation/worker/worker.h"
#include "text/scan/scan.h"

#include <string.h>

/* How far back is looked for what decides the tokenizer's state, where the bytes look like raw text very far, as long
 * as that has not come to so many times the text; and for what decides the namespace. */
enum { FAR = 64 << 10, VERY_FAR = 1 << 20, TIMES_TEXT = 16, NEAR = 8 << 10 };

/* What an opener costs that says nothing, beside the bytes that are gone over for it. */
enum { OPENER_COST = 64 };

/* Bytes that are looked at for that. */
enum { SAMPLE_BEFORE = 192, SAMPLE_BEHIND = 64, TAG_SAMPLE = 512, FEW_TAGS = 3 };

typedef struct view {
  const hp_request *task;
  const char *text, *end; /* of what has come */
  const char *cut;
  bool like_script;
  size_t left; /* bytes between an opener and the cut that may still be gone over, so that many openers cost no more */
} view;

/* The next such byte before the cut, or NULL. */
static const char *next_byte(view *v, const char *at, char byte) {
  size_t length = at < v->cut ? (size_t)(v->cut - at) : 0;
  if (length > v->left) length = v->left;
  const char *found = length ? memchr(at, byte, length) : NULL;
  v->left -= found ? (size_t)(found - at) : length;
  return found;
}

/* As many brackets of other kinds, bars and backslashes as scripts, style sheets and JSON have. */
static bool looks_like_script(const view *v) {
  enum { LEAST = 6 };
  const char *from = v->cut - v->text > SAMPLE_BEFORE ? v->cut - SAMPLE_BEFORE : v->text;
  const char *to = v->end - v->cut > SAMPLE_BEHIND ? v->cut + SAMPLE_BEHIND : v->end;
  unsigned count = 0;
  while (from < to) {
    enum { BLOCK = 128 };
    const char *stop = to - from > BLOCK ? from + BLOCK : to;
    uint8_t n = 0;
    for (; from < stop; from++) {
      unsigned char c = (unsigned char)*from;
      n = (uint8_t)(n + ((unsigned char)((c | 0x20) - '{') < 3) + ((c & 0xFE) == '('));
    }
    count += n;
  }
  return count >= LEAST;
}

static bool has_few_tags(const view *v) {
  const char *at = v->cut - v->text > TAG_SAMPLE ? v->cut - TAG_SAMPLE : v->text;
  int tags = 0;
  for (; tags < FEW_TAGS && (at = memchr(at, '<', (size_t)(v->cut - at))); at++) tags++;
  return tags < FEW_TAGS;
}

/* As markup in a string is: before it, in it, or behind it. */
static bool is_quoted(view *v, const char *at) {
  if (at > v->text && (at[-1] == '"' || at[-1] == '\'' || at[-1] == '`' || at[-1] == '\\')) return true;
  if (at - v->text > 1 && at[-1] == 'n' && at[-2] == '\\') return true;
  const char *close = next_byte(v, at, '>');
  if (!close || close + 1 == v->cut) return false;
  return close[1] == '"' || close[1] == '\'' || close[1] == '`' || memchr(at, '\\', (size_t)(close - at));
}

enum { MAX_BLANKS = 64, LONGEST_TAG = 512 };

static const char *before_blanks(const view *v, const char *at) {
  const char *least = at - v->text > MAX_BLANKS ? at - MAX_BLANKS : v->text;
  while (at > least && (unsigned char)at[-1] <= ' ') at--;
  return at;
}

/* Is a comment open, with nothing in it yet? */
static bool begins_comment(const view *v, const char *at) {
  at = before_blanks(v, at);
  return at - v->text >= 4 && !memcmp(at - 4, "<!--", 4);
}

/* The raw-text element whose start tag ends right before, but for white space; as scripts begin with "<!--". */
static const hp_raw_text *begun_before(const view *v, const char *at) {
  at = before_blanks(v, at);
  if (at == v->text || at[-1] != '>') return NULL;
  const char *least = at - v->text > LONGEST_TAG ? at - LONGEST_TAG : v->text;
  const char *tag = memrchr(least, '<', (size_t)(at - least));
  return tag ? hp_raw_text_at(tag + 1, v->end, v->task->scripting) : NULL;
}

static bool begins_in(hp_start_state *state, const hp_raw_text *raw) {
  state->content = raw->content;
  state->raw_name = raw->atom;
  return true;
}

/* Where a comment whose text begins at `at` ends before the cut, or NULL. */
static const char *comment_end(view *v, const char *at) {
  for (const char *from = at; (at = next_byte(v, at, '>')); at++)
    if (at - from >= 2 && at[-1] == '-' && at[-2] == '-') return at;
  return NULL;
}

/* Where an end tag of this raw text, which begins at `at`, begins before the cut, or NULL. */
static const char *raw_text_end(view *v, const char *at, const hp_raw_text *raw) {
  bool script = raw->name[0] == 's'; /* or style */
  for (; at && at < v->cut; at++) {
    const char *from = at, *stop = (size_t)(v->cut - at) > v->left ? at + v->left : v->cut;
    at = script ? hp_scan()->in_script(at, stop) : next_byte(v, at, '<');
    if (script) v->left -= (size_t)(at - from);
    if (!at || at == stop || v->cut - at < 3) return NULL;
    if (at[1] == '/' && hp_tag_is(at + 2, v->end, raw->name)) return at;
  }
  return NULL;
}

/* The tokenizer's state, where `at` is an opener and none begins between it and the cut but such as were passed over:
 * since where it is this one; or NULL: so is this one. */
static const char *opener_decides(view *v, const char *at, hp_start_state *state) {
  const char *name = at + 1, *end;
  if (*name == '!') {
    if (v->end - name < 3 || name[2] != '-' || is_quoted(v, at)) return NULL;
    const hp_raw_text *raw = begun_before(v, at);
    if (raw) {
      end = raw_text_end(v, at, raw);
      if (!end) begins_in(state, raw);
      return end ? end : at;
    }
    end = comment_end(v, at + 2);
    if (!end) state->inside = HP_INSIDE_COMMENT;
    return !end ? at : v->like_script ? NULL : end;
  }
  if (hp_tag_is(name, v->end, "svg") || hp_tag_is(name, v->end, "math")) return v->like_script ? NULL : at;
  const hp_raw_text *raw = hp_raw_text_at(name, v->end, v->task->scripting);
  if (!raw || is_quoted(v, at)) return NULL;
  if (v->like_script && raw->atom != HP_SCRIPT && raw->atom != HP_STYLE) return NULL;
  const char *close = next_byte(v, at, '>');
  if (!close) return NULL;
  if (begins_comment(v, at)) {
    end = comment_end(v, close + 1);
    if (!end) state->inside = HP_INSIDE_COMMENT;
    return end ? end : at;
  }
  end = raw_text_end(v, close, raw);
  if (!end) begins_in(state, raw);
  return !end ? at : v->like_script && is_quoted(v, end) ? NULL : end;
}

/* Is what ends right before the cut, but for white space, raw text or a comment? */
static bool is_behind_end(view *v) {
  const char *at = before_blanks(v, v->cut);
  if (at - v->text < 3 || at[-1] != '>') return false;
  if (at[-2] == '-' && at[-3] == '-') return !v->like_script;
  const char *least = at - v->text > MAX_BLANKS ? at - MAX_BLANKS : v->text;
  const char *tag = memrchr(least, '<', (size_t)(at - least));
  return tag && tag[1] == '/' && !is_quoted(v, tag) && hp_raw_text_at(tag + 2, at, v->task->scripting);
}

/* The first of those in [at, end) that are escaped, or NULL. */
static const char *escaped_quote(const char *at, const char *end) {
  static const char quote[] = "&quot;";
  for (; (at = memchr(at, '&', (size_t)(end - at))); at++)
    if (end - at >= (ptrdiff_t)sizeof quote - 1 && !memcmp(at, quote, sizeof quote - 1)) return at;
  return NULL;
}

/* Of quotes, are those that stand nearest to the cut escaped, as they are in an attribute's value? */
static bool is_in_value(const view *v) {
  enum { MOST = 4 << 10 };
  const char *from = v->cut - v->text > MOST ? v->cut - MOST : v->text;
  const char *to = v->end - v->cut > MOST ? v->cut + MOST : v->end;
  const char *quote = memchr(v->cut, '"', (size_t)(to - v->cut));
  if (!escaped_quote(v->cut, quote ? quote : to)) return false;
  quote = memrchr(from, '"', (size_t)(v->cut - from));
  return escaped_quote(quote ? quote : from, v->cut);
}

/* What was found last, if it is of use: at the cut, or at a place before it. Sets how far may be looked. */
static uint32_t known(hp_prescan *shared, const view *v, hp_start_state *state, size_t *far) {
  uint32_t cut = (uint32_t)(v->cut - v->text);
  pthread_mutex_lock(&shared->lock);
  uint32_t to = shared->found.from < cut ? shared->found.to : 0;
  if (to > cut) to = cut;
  if (to) {
    state->content = shared->found.state.content;
    state->raw_name = shared->found.state.raw_name;
    state->inside = shared->found.state.inside;
  }
  *far = shared->looked_at < TIMES_TEXT * (uint64_t)v->task->length ? VERY_FAR : FAR;
  pthread_mutex_unlock(&shared->lock);
  return to;
}

/* That since `from` this is the state; NULL: that is not sure. `looked_at` bytes were gone over for it. */
static void make_known(hp_prescan *shared, const view *v, const char *from, size_t looked_at,
                       const hp_start_state *state) {
  pthread_mutex_lock(&shared->lock);
  shared->looked_at += looked_at;
  if (from) {
    shared->found.from = (uint32_t)(from - v->text);
    shared->found.to = (uint32_t)(v->cut - v->text);
    shared->found.state = *state;
  }
  pthread_mutex_unlock(&shared->lock);
}

/* Where no opener stands between `at`, where this was the state, and the cut: since where it is the one at the cut. */
static const char *go_on_from(view *v, const char *at, hp_start_state *state) {
  const char *end = NULL;
  if (state->inside) end = comment_end(v, at);
  if (state->raw_name) end = raw_text_end(v, at, hp_raw_text_of_atom(state->raw_name));
  if (!end) return at;
  state->content = HP_CONTENT_DATA;
  state->raw_name = 0;
  state->inside = HP_INSIDE_NOTHING;
  return end;
}

/* Returns since where. */
static const char *find_state(view *v, hp_prescan *shared, hp_start_state *state) {
  if (is_behind_end(v)) return v->cut;
  hp_start_state before = *state;
  size_t far = FAR;
  uint32_t to = shared ? known(shared, v, &before, &far) : 0;
  bool few_tags = has_few_tags(v);
  if (far > FAR && !v->like_script && !few_tags) far = FAR;
  const char *least = (size_t)(v->cut - v->text) > far ? v->cut - far : v->text, *at = v->cut, *since = NULL;
  if (v->text + to > least) least = v->text + to;
  v->left = far;
  const hp_scan_kernels *scan = hp_scan();
  while (!since && v->left > OPENER_COST && (at = scan->last_opener(least, at)) >= least) {
    v->left -= OPENER_COST;
    since = opener_decides(v, at, state);
  }
  size_t looked_at = (size_t)(v->cut - (at < least ? least : at)) + (far - v->left);
  if (!since && at < least && to && least == v->text + to) {
    *state = before;
    since = go_on_from(v, least, state);
  } else if (!since && at < least && (least == v->text || !v->like_script)) {
    since = least;
  } else if (!since && v->like_script && (few_tags || at >= least)) { /* nothing but strings */
    begins_in(state, hp_raw_text_named("script", true));
    since = at < least ? least : at;
  }
  if (shared) make_known(shared, v, since, looked_at, state);
  return since ? since : v->cut;
}

/* Is svg or math around the tag that begins at `at`, as far as the tag before it says? */
static uint8_t namespace_before(const view *v, const char *at) {
  const char *least = at - v->text > NEAR ? at - NEAR : v->text;
  const char *tag = memrchr(least, '<', (size_t)(at - least));
  if (!tag || v->end - tag < 3) return HPAR_NAMESPACE_HTML;
  return hp_namespace_of_name(tag + 1 + (tag[1] == '/'), v->end) == HPAR_NAMESPACE_SVG ? HPAR_NAMESPACE_SVG
                                                                                       : HPAR_NAMESPACE_HTML;
}

static bool foreign_end(const view *v, const char *at, const char *tag) {
  size_t length = strlen(tag);
  for (; at < v->cut && (at = memchr(at, '<', (size_t)(v->cut - at))); at++)
    if ((size_t)(v->cut - at) > length && hp_ascii_equal(at, tag, length)) return true;
  return false;
}

static void find_namespace(const view *v, hp_start_state *state) {
  enum { MAX_TAGS = 8 };
  uint8_t ns = HP_NO_NAMESPACE;
  const char *at = v->cut, *stop = v->end - at > NEAR ? at + NEAR : v->end;
  for (int i = 0; i < MAX_TAGS && ns == HP_NO_NAMESPACE && (at = memchr(at, '<', (size_t)(stop - at))); i++) {
    bool closer = stop - at > 1 && at[1] == '/';
    at += 1 + closer;
    bool svg = hp_tag_is(at, v->end, "svg");
    if (svg || hp_tag_is(at, v->end, "math")) {
      if (closer) ns = svg ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
      break;
    }
    ns = at < stop ? hp_namespace_of_name(at, v->end) : HP_NO_NAMESPACE;
  }
  if (ns == HPAR_NAMESPACE_HTML) return;
  size_t most = ns == HP_NO_NAMESPACE ? NEAR : FAR;
  const char *least = (size_t)(v->cut - v->text) > most ? v->cut - most : v->text;
  for (at = v->cut; (at = hp_scan()->last_opener(least, at)) >= least;) {
    bool svg = hp_tag_is(at + 1, v->end, "svg");
    if (!svg && !hp_tag_is(at + 1, v->end, "math")) continue;
    if (hp_is_self_closing(at, v->cut) || foreign_end(v, at, svg ? "</svg" : "</math")) break;
    if (ns == HP_NO_NAMESPACE) ns = svg ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
    state->outer_ns = namespace_before(v, at);
    break;
  }
  if (ns != HP_NO_NAMESPACE) state->ns = ns;
}

static bool is_name(const char *at, const char *end) { return at < end && (unsigned char)((*at | 0x20) - 'a') < 26; }

/* May a tag of this name stand in a head, or begin or end it? */
static bool fits_head(const char *name, const char *end) {
  static const char *const names[] = {"link",     "script", "meta", "style", "noscript", "title",   "base",
                                      "template", "head",   "body", "html",  "noframes", "bgsound", "basefont"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (hp_tag_is(name, end, names[i])) return true;
  return false;
}

/* Do tags that no head has stand before `at`, and no raw text between? */
static bool is_behind_content(const view *v, const char *at) {
  enum { MOST = 1 << 10 };
  const char *least = at - v->text > MOST ? at - MOST : v->text;
  while ((at = memrchr(least, '<', (size_t)(at - least)))) {
    const char *name = at + 1 + (at[1] == '/');
    if (!is_name(name, v->cut) || hp_raw_text_at(name, v->end, true)) return false;
    if (!fits_head(name, v->end)) return hp_namespace_of_name(name, v->end) != HP_NO_NAMESPACE;
  }
  return false;
}

void hp_predict_by_lookback(const hp_plan *plan, const hp_request *task, const hp_chunk_work *chunk,
                            hp_start_state *state) {
  view v = {
      .task = task, .text = task->text, .end = task->text + task->length, .cut = task->text + chunk->cut, .left = FAR};
  const char *begin = v.cut; /* of what the cut lies in, if that is known */
  v.like_script = looks_like_script(&v);
  if (v.like_script && is_in_value(&v))
    state->inside = HP_INSIDE_DOUBLE_QUOTES;
  else
    begin = find_state(&v, plan->prescan, state);
  bool data = state->content == HP_CONTENT_DATA && !state->inside;
  if (data) find_namespace(&v, state);
  if (state->ns != HPAR_NAMESPACE_HTML || !plan->prescan) return;
  const char *name = v.cut + 1;
  if (name < v.end && *name == '/') name++;
  if (data && is_name(name, v.end) && !fits_head(name, v.end)) return;
  if (is_behind_content(&v, data ? v.cut : begin)) return;
  if (hp_prescan_is_in_head(plan->prescan, task, chunk->cut)) state->mode = HP_IN_HEAD;
}
