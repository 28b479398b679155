/* The predictor "lookback". It searches backwards from the cut for the nearest opener of a comment
 * or of raw text that determines the tokenizer's state. The tags around the cut suggest the
 * namespace, and the prescan tells whether the cut is in the head. A limit bounds each search,
 * because a wrong state only costs time. */

#include "base/bytes.h"
#include "speculation/prescan.h"
#include "speculation/strategy.h"
#include "text/scan/scan.h"

#include <string.h>

/* Limits of the search before the cut, in bytes: for raw text among tags, for comments there and,
 * once a search has found a longer comment or raw text in the document, for raw text there,
 * elsewhere, and for the namespace. Among tags with brackets in their text, the limit is FAR / 2.
 * TIMES_TEXT bounds the sum of all searches. */
enum { AMONG_TAGS = 8 << 10, FAR = 64 << 10, VERY_FAR = 1 << 20, TIMES_TEXT = 16, NEAR = 8 << 10 };

/* An opener without a result costs these bytes in addition to the scanned bytes. */
enum { OPENER_COST = 64 };

/* Bytes of a sample. */
enum { SAMPLE_BEFORE = 192, SAMPLE_AFTER = 64 };
enum { TAG_SAMPLE = 512, FEW_TAGS = 3, LONG_TAG_SAMPLE = 4 << 10, FEW_IN_LONG_SAMPLE = 8 };

/*** markup in attribute values, whose quotes are escaped as `&quot;` ***/

static const char escaped[] = "&quot;";

static bool is_escaped(const char *at, const char *end) {
  return end - at >= (ptrdiff_t)sizeof escaped - 1 && !memcmp(at, escaped, sizeof escaped - 1);
}

static const char *escaped_quote(const char *at, const char *end) {
  for (; (at = memchr(at, '&', (size_t)(end - at))); at++)
    if (is_escaped(at, end)) return at;
  return NULL;
}

/* Returns whether the quotes nearest to the cut are escaped, as in an attribute's value. */
static bool is_in_value(const char *text, const char *cut, const char *end) {
  enum { MOST = 4 << 10 };
  const char *from = cut - text > MOST ? cut - MOST : text;
  const char *to = end - cut > MOST ? cut + MOST : end;
  const char *quote = memchr(cut, '"', (size_t)(to - cut));
  if (!escaped_quote(cut, quote ? quote : to)) return false;
  quote = memrchr(from, '"', (size_t)(cut - from));
  return escaped_quote(quote ? quote : from, cut);
}

/* Returns whether the tag at the cut has an attribute with escaped quotes around its value. */
static bool has_escaped_attribute(const char *cut, const char *end) {
  enum { LONGEST_TAG = 512 };
  const char *stop = end - cut > LONGEST_TAG ? cut + LONGEST_TAG : end;
  const char *equals = memchr(cut, '=', (size_t)(stop - cut)), *at = equals;
  if (!equals) return false;
  for (at++; at < stop && *at == '\\'; at++) {
  }
  return is_escaped(at, stop) && *cut == '<' && !memchr(cut, '>', (size_t)(equals - cut));
}

/*** searches ***/

typedef struct view {
  const hp_request *request;
  const char *text, *end; /* of the available text */
  const char *cut;
  bool like_script;
  size_t left; /* bytes after openers that the search may still scan */
  size_t scanned_bytes;
  const char *least;  /* the search ends there */
  hp_used_state used; /* of other searches */
} view;

static bool starts_with_letter(const char *at, const char *end) { return at < end && hp_ascii_is_letter(*at); }

static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

/* Returns the next such byte before the cut, or NULL. */
static const char *next_byte(view *v, const char *at, char byte) {
  size_t length = at < v->cut ? (size_t)(v->cut - at) : 0;
  if (length > v->left) length = v->left;
  const char *found = length ? memchr(at, byte, length) : NULL;
  v->left -= found ? (size_t)(found - at) : length;
  return found;
}

/* Returns whether the cut begins a string that follows an operator or an opening bracket. */
static bool begins_string(const view *v) {
  const char *at = v->cut - 1;
  if (at - v->text < 2 || !is_quote(*at)) return false;
  at -= 1 + (at[-1] == ' ');
  return *at == '(' || *at == '+' || *at == '=' || *at == ',' || *at == ':' || *at == '[';
}

/* Returns whether the sample has the punctuation of scripts, style sheets or JSON. */
static bool looks_like_script(const view *v) {
  enum { LEAST = 6 };
  if (begins_string(v)) return true;
  const char *from = v->cut - v->text > SAMPLE_BEFORE ? v->cut - SAMPLE_BEFORE : v->text;
  const char *to = v->end - v->cut > SAMPLE_AFTER ? v->cut + SAMPLE_AFTER : v->end;
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

/* Returns whether `sample` bytes before the cut have fewer brackets than `least`. */
static bool has_fewer_tags(const view *v, int sample, int least) {
  const char *at = v->cut - v->text > sample ? v->cut - sample : v->text;
  int tags = 0;
  for (; tags < least && (at = memchr(at, '<', (size_t)(v->cut - at))); at++) tags++;
  return tags < least;
}

/* Returns whether few tags precede the cut. The attributes of one tag may fill the short sample. */
static bool has_few_tags(const view *v) {
  return has_fewer_tags(v, TAG_SAMPLE, FEW_TAGS) && has_fewer_tags(v, LONG_TAG_SAMPLE, FEW_IN_LONG_SAMPLE);
}

/* Returns whether white space, "/" or ">" ends the name of an element. A period or a bracket does
 * so in a comparison of a script. */
static bool is_element_name(const char *at, const char *end) {
  while (at < end &&
         (starts_with_letter(at, end) || (*at >= '0' && *at <= '9') || *at == '-' || *at == '_' || *at == ':'))
    at++;
  return at < end && ((unsigned char)*at <= ' ' || *at == '/' || *at == '>');
}

/* Returns whether most of the last tags before the cut are markup, instead of parts of strings. */
static bool follows_markup(const view *v) {
  enum { MOST_BYTES = 4 << 10, MOST_TAGS = 10, LEAST = 6 };
  const char *least = v->cut - v->text > MOST_BYTES ? v->cut - MOST_BYTES : v->text, *at = v->cut;
  int plain = 0;
  for (int tags = 0; tags < MOST_TAGS && plain < LEAST; tags++) {
    const char *tag = memrchr(least, '<', (size_t)(at - least));
    if (!tag || tag == least) return false;
    const char *name = tag + 1 + (tag[1] == '/');
    const char *close = name < at ? memchr(name, '>', (size_t)(at - name)) : NULL;
    if (!close || !starts_with_letter(name, v->cut) || !is_element_name(name, v->cut) || tag[-1] == '\\' ||
        memchr(name, '\\', (size_t)(close - name)))
      return false;
    plain += !is_quote(tag[-1]) && !is_quote(close[1]);
    at = tag;
  }
  return plain == LEAST;
}

/* Returns whether a quote or backslash is before, in or after the markup, as in a string. */
static bool is_quoted(view *v, const char *at) {
  if (at > v->text && (at[-1] == '"' || at[-1] == '\'' || at[-1] == '`' || at[-1] == '\\')) return true;
  if (at - v->text > 1 && at[-1] == 'n' && at[-2] == '\\') return true;
  const char *close = next_byte(v, at, '>');
  if (!close || close + 1 == v->cut) return false;
  static const char directive[] = "use strict";
  if (v->cut - close > (ptrdiff_t)sizeof directive + 1 && !memcmp(close + 2, directive, sizeof directive - 1))
    return false;
  return close[1] == '"' || close[1] == '\'' || close[1] == '`' || memchr(at, '\\', (size_t)(close - at));
}

enum { MAX_BLANKS = 64, LONGEST_TAG = 512 };

static const char *before_blanks(const view *v, const char *at) {
  const char *least = at - v->text > MAX_BLANKS ? at - MAX_BLANKS : v->text;
  while (at > least && (unsigned char)at[-1] <= ' ') at--;
  return at;
}

/* Returns whether "<!--" and white space precede `at`. */
static bool begins_comment(const view *v, const char *at) {
  at = before_blanks(v, at);
  return at - v->text >= 4 && !memcmp(at - 4, "<!--", 4);
}

/* Returns the raw-text element whose start tag and white space precede `at`, or NULL. */
static const hp_raw_text *raw_text_before(const view *v, const char *at) {
  at = before_blanks(v, at);
  if (at == v->text || at[-1] != '>') return NULL;
  const char *least = at - v->text > LONGEST_TAG ? at - LONGEST_TAG : v->text;
  const char *tag = memrchr(least, '<', (size_t)(at - least));
  return tag ? hp_raw_text_at(tag + 1, v->end, v->request->scripting) : NULL;
}

static bool begins_in(hp_start_state *state, const hp_raw_text *raw) {
  state->content = raw->content;
  state->raw_name = raw->atom;
  return true;
}

/* Returns the end, before the cut, of a comment whose text begins at `at`, or NULL. */
static const char *comment_end(view *v, const char *at) {
  for (const char *from = at; (at = next_byte(v, at, '>')); at++)
    if (at - from >= 2 && at[-1] == '-' && at[-2] == '-') return at;
  return NULL;
}

/* Returns whether a string has this end tag. */
static bool is_escaped_end(const char *end) { return end && end[1] == '\\'; }

/* Returns the end tag, before the cut, of raw text that begins at `at`, or NULL. The end tag of
 * other text than a script or a style sheet may be escaped. Then a string has that text. */
static const char *raw_text_end(view *v, const char *at, const hp_raw_text *raw) {
  bool script = raw->name[0] == 's'; /* or style */
  for (; at && at < v->cut; at++) {
    const char *from = at, *stop = (size_t)(v->cut - at) > v->left ? at + v->left : v->cut;
    at = script ? hp_scan()->in_script(at, stop) : next_byte(v, at, '<');
    if (script) v->left -= (size_t)(at - from);
    if (!at || at == stop || v->cut - at < 3) return NULL;
    const char *name = at + 1 + (!script && at[1] == '\\');
    if (*name == '/' && hp_tag_is(name + 1, v->end, raw->name)) return at;
  }
  return NULL;
}

/* Sets the tokenizer's state if the opener at `at` determines it. Returns the begin of that state,
 * or NULL. Requires: no later opener before the cut determines the state. */
static const char *opener_decides(view *v, const char *at, hp_start_state *state) {
  const char *name = at + 1, *end;
  if (*name == '!') {
    if (v->end - name < 3 || name[2] != '-' || is_quoted(v, at)) return NULL;
    const hp_raw_text *raw = raw_text_before(v, at);
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
  const hp_raw_text *raw = hp_raw_text_at(name, v->end, v->request->scripting);
  if (!raw || is_quoted(v, at)) return NULL;
  if (v->like_script && raw->atom != HP_ATOM_SCRIPT && raw->atom != HP_ATOM_STYLE) return NULL;
  const char *close = next_byte(v, at, '>');
  if (!close) return NULL;
  if (begins_comment(v, at)) {
    end = comment_end(v, close + 1);
    if (!end) state->inside = HP_INSIDE_COMMENT;
    return end ? end : at;
  }
  end = raw_text_end(v, close, raw);
  if (is_escaped_end(end)) return NULL;
  if (!end) begins_in(state, raw);
  return !end ? at : v->like_script && is_quoted(v, end) ? NULL : end;
}

/* Returns whether raw text or a comment, and white space, end at the cut. */
static bool follows_end(view *v) {
  const char *at = before_blanks(v, v->cut);
  if (at - v->text < 3 || at[-1] != '>') return false;
  if (at[-2] == '-' && at[-3] == '-') return !v->like_script;
  const char *least = at - v->text > MAX_BLANKS ? at - MAX_BLANKS : v->text;
  const char *tag = memrchr(least, '<', (size_t)(at - least));
  return tag && tag[1] == '/' && !is_quoted(v, tag) && hp_raw_text_at(tag + 2, at, v->request->scripting);
}

typedef struct limits {
  size_t among_tags, elsewhere;
} limits;

static uint32_t cut_of(const view *v) { return (uint32_t)(v->cut - v->text); }

/* Uses the results that other searches have found meanwhile. */
static void read_known(hp_known_states *known, view *v) {
  if (!known) return;
  hp_known_read(known, cut_of(v), &v->used);
  if (v->text + v->used.to > v->least) v->least = v->text + v->used.to;
}

static limits find_limits(hp_known_states *known, view *v) {
  uint64_t scanned_bytes = 0;
  bool has_long_text = known && hp_known_read_long_text(known, cut_of(v), &v->used, &scanned_bytes);
  return (limits){.among_tags = has_long_text || !known ? FAR : AMONG_TAGS,
                  .elsewhere = known && scanned_bytes < TIMES_TEXT * (uint64_t)v->request->length ? VERY_FAR : FAR};
}

/* Keeps the state, which begins at `from`, or NULL if that is not sure. Counts the scanned bytes.
 */
static void make_known(hp_known_states *known, const view *v, const char *from, size_t scanned_bytes,
                       const hp_start_state *state) {
  bool is_text = (state->inside || state->raw_name) && !state->is_doubtful;
  hp_known_state found = {.state = *state};
  if (from) {
    found.from = (uint32_t)(from - v->text);
    found.to = cut_of(v);
  }
  hp_known_add(known, &found, is_text && found.to - found.from > AMONG_TAGS, scanned_bytes);
}

/* Continues a state at `at` to the cut, if no opener is between them. Returns the begin of the
 * state at the cut. */
static const char *go_on_from(view *v, const char *at, hp_start_state *state) {
  const char *end = NULL;
  if (state->inside) end = comment_end(v, at);
  if (state->raw_name) end = raw_text_end(v, at, hp_raw_text_of_atom(state->raw_name, true));
  if (!end) return at;
  state->content = HP_TEXT_STATE_DATA;
  state->raw_name = 0;
  state->inside = HP_INSIDE_NOTHING;
  state->is_doubtful = false;
  return end;
}

/* Returns the last opener in [v->least, at), or `v->least - 1`. Skips the blocks in which another
 * search has found none. */
static const char *last_opener(view *v, hp_known_states *known, const char *at) {
  enum { REST = 3 }; /* bytes of an opener after its first one */
  for (read_known(known, v); at > v->least; read_known(known, v)) {
    size_t block = (size_t)(at - 1 - v->text) / HP_OPENER_BLOCK;
    const char *begin = v->text + block * HP_OPENER_BLOCK, *end = begin + HP_OPENER_BLOCK;
    bool is_shared = known && block < HP_OPENER_BLOCKS, is_whole = at == end && begin >= v->least;
    if (is_shared && is_whole && hp_known_bit(known->has_no_opener, block)) {
      at = begin;
      continue;
    }
    const char *from = begin > v->least ? begin : v->least, *to = at == end && v->cut - end > REST ? end + REST : at;
    const char *found = hp_scan()->last_opener(from, to);
    v->scanned_bytes += (size_t)(to - (found < from ? from : found));
    while (found >= end) found = hp_scan()->last_opener(from, found); /* it is in the next block */
    if (found >= from) return found;
    if (is_shared && is_whole) hp_known_set_bit(known->has_no_opener, block);
    at = from;
  }
  return v->least - 1;
}

/* Returns the last comment in [v->least, at), or `v->least - 1`. Skips the blocks in which another
 * search has found none. A search for one byte costs a fourth of a search for all openers. */
static const char *last_comment(view *v, hp_known_states *known, const char *at) {
  const char *before = at;
  while (before > v->least && v->left > OPENER_COST) {
    size_t block = (size_t)(before - 1 - v->text) / HP_COMMENT_BLOCK;
    const char *begin = v->text + block * HP_COMMENT_BLOCK, *end = begin + HP_COMMENT_BLOCK;
    bool is_shared = known && block < HP_COMMENT_BLOCKS, is_whole = before == end && begin >= v->least;
    const char *from = begin > v->least ? begin : v->least, *mark = before;
    if (!(is_shared && is_whole && hp_known_bit(known->has_no_comment, block))) {
      v->scanned_bytes += (size_t)(before - from) / 4;
      while (v->left > OPENER_COST && (mark = memrchr(from, '!', (size_t)(mark - from)))) {
        v->left -= OPENER_COST;
        if (mark > v->text && mark[-1] == '<' && mark[1] == '-') return mark - 1;
      }
      if (is_shared && is_whole && !mark) hp_known_set_bit(known->has_no_comment, block);
    }
    before = from;
    read_known(known, v);
  }
  return v->least - 1;
}

/* Searches backwards from `at` for a comment that determines the state. Returns the begin of that
 * state, or NULL. */
static const char *find_comment(view *v, hp_known_states *known, const char *at, hp_start_state *state) {
  const char *since = NULL;
  v->left = FAR;
  while (!since && v->left > OPENER_COST && (at = last_comment(v, known, at)) >= v->least) {
    since = opener_decides(v, at, state);
    at++;
  }
  if (!since && v->used.to && v->least == v->text + v->used.to && v->used.state.inside) {
    *state = v->used.state;
    since = go_on_from(v, v->least, state);
  }
  return since;
}

/* Finds the state at the cut. Returns its begin, or NULL. */
static const char *find_state(view *v, hp_known_states *known, hp_start_state *state) {
  if (follows_end(v)) {
    state->is_sure = before_blanks(v, v->cut)[-2] != '-';
    return v->cut;
  }
  v->used.state = *state;
  limits limits = find_limits(known, v);
  bool few_tags = has_few_tags(v);
  size_t far = few_tags            ? limits.elsewhere
               : !v->like_script   ? limits.among_tags
               : follows_markup(v) ? FAR / 2
                                   : limits.elsewhere;
  const char *at = v->cut, *since = NULL;
  v->least = (size_t)(v->cut - v->text) > far ? v->cut - far : v->text;
  if (v->text + v->used.to > v->least) v->least = v->text + v->used.to;
  v->left = far;
  v->scanned_bytes = 0;
  const char *nearest = NULL; /* opener that does not determine the state */
  while (!since && v->left > OPENER_COST && (at = last_opener(v, known, at)) >= v->least) {
    v->left -= OPENER_COST;
    since = opener_decides(v, at, state);
    if (!since && !nearest) nearest = at;
  }
  size_t scanned_bytes = v->scanned_bytes + (far - v->left);
  const char *least = v->least;
  bool is_known = v->used.to && least == v->text + v->used.to;
  if (!since && at < least && far == AMONG_TAGS && !is_known) {
    v->scanned_bytes = 0;
    v->least = (size_t)(v->cut - v->text) > FAR ? v->cut - FAR : v->text;
    if (v->text + v->used.to > v->least) v->least = v->text + v->used.to;
    since = find_comment(v, known, least, state);
    scanned_bytes += v->scanned_bytes + (FAR - v->left);
  }
  if (!since && at < least && is_known) {
    *state = v->used.state;
    since = go_on_from(v, least, state);
  } else if (!since && at < least && (least == v->text || !v->like_script)) {
    since = least;
  } else if (!since && v->like_script && (few_tags || at >= least)) { /* only strings */
    begins_in(state, hp_raw_text_of_atom(HP_ATOM_SCRIPT, true));
    state->is_doubtful = true;
    since = at < least ? least : at;
  }
  /* A comment that looks like one in a script may end at that opener. */
  bool is_data = !state->inside && !state->raw_name;
  if (known) make_known(known, v, since && is_data && nearest > since ? nearest : since, scanned_bytes, state);
  return since ? since : v->cut;
}

/* Returns the namespace around the tag at `at`, as the previous tag suggests. */
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
      if (closer)
        ns = svg ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
      else if (svg && !i && namespace_before(v, v->cut) == HPAR_NAMESPACE_SVG)
        ns = HPAR_NAMESPACE_SVG; /* a nested one */
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

/* Returns whether a tag of this name may occur in a head, or begin or end it. */
static bool fits_head(const char *bytes, const char *end) {
  const hp_atom name = hp_name_at(bytes, end);
  return name == HP_ATOM_BODY || name == HP_ATOM_HTML || hp_may_be_in_head(name);
}

static bool is_custom_name(const char *at, const char *end) {
  enum { LONGEST = 32 }; /* the part before the hyphen */
  const char *stop = end - at > LONGEST ? at + LONGEST : end;
  while (starts_with_letter(at, stop)) at++;
  return at < stop && *at == '-';
}

/* Returns whether a tag that no head contains, and no raw text, precedes `at`. */
static bool follows_content(const view *v, const char *at) {
  enum { MOST = 1 << 10 };
  const char *least = at - v->text > MOST ? at - MOST : v->text;
  while ((at = memrchr(least, '<', (size_t)(at - least)))) {
    const char *name = at + 1 + (at[1] == '/');
    if (!starts_with_letter(name, v->cut) || hp_raw_text_at(name, v->end, true)) return false;
    if (!fits_head(name, v->end)) return hp_namespace_of_name(name, v->end) != HP_NO_NAMESPACE;
  }
  return false;
}

static void predict(const hp_predictor_input *input, hp_start_state *state) {
  const hp_request *request = input->request;
  view v = {.request = request,
            .text = request->text,
            .end = request->text + request->length,
            .cut = request->text + input->cut,
            .left = FAR};
  const char *begin = v.cut; /* of the markup around the cut, if known */
  v.like_script = looks_like_script(&v);
  if ((v.like_script || has_escaped_attribute(v.cut, v.end)) && is_in_value(v.text, v.cut, v.end))
    state->inside = HP_INSIDE_DOUBLE_QUOTES;
  else
    begin = find_state(&v, input->prescan ? &input->prescan->known : NULL, state);
  bool data = state->content == HP_TEXT_STATE_DATA && !state->inside;
  if (data) find_namespace(&v, state);
  if (state->ns != HPAR_NAMESPACE_HTML || !input->prescan) return;
  const char *name = v.cut + 1;
  if (name < v.end && *name == '/') name++;
  if (data && starts_with_letter(name, v.end) && !fits_head(name, v.end) && !is_custom_name(name, v.end)) return;
  if (follows_content(&v, data ? v.cut : begin)) return;
  if (hp_prescan_is_in_head(input->prescan, request, input->cut)) state->mode = HP_IN_HEAD;
}

const hp_predictor hp_lookback_predictor = {
    .name = "lookback",
    .summary = "the nearest decisive text before the cut, the tag names after it, and the extent of the head",
    .predict = predict,
    .restarts_after_end_tag = true};
