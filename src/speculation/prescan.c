#include "speculation/prescan.h"

#include "base/bytes.h"
#include "base/target.h"
#include "dom/tag.h"
#include "speculation/strategy.h"
#include "text/scan/scan.h"

#include <string.h>

/*** markup ***/

static const hp_raw_text raw_texts[HP_RAW_TEXTS] = {
    {"script", HP_ATOM_SCRIPT, HP_TEXT_STATE_SCRIPT_DATA}, {"style", HP_ATOM_STYLE, HP_TEXT_STATE_RAWTEXT},
    {"textarea", HP_ATOM_TEXTAREA, HP_TEXT_STATE_RCDATA},  {"title", HP_ATOM_TITLE, HP_TEXT_STATE_RCDATA},
    {"xmp", HP_ATOM_XMP, HP_TEXT_STATE_RAWTEXT},           {"iframe", HP_ATOM_IFRAME, HP_TEXT_STATE_RAWTEXT},
    {"noembed", HP_ATOM_NOEMBED, HP_TEXT_STATE_RAWTEXT},   {"noframes", HP_ATOM_NOFRAMES, HP_TEXT_STATE_RAWTEXT},
    {"noscript", HP_ATOM_NOSCRIPT, HP_TEXT_STATE_RAWTEXT},
};

static bool ends_name(char c) {
  return c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r';
}

bool hp_tag_goes_on(const char *at, const char *end, const char *name) {
  for (; *name; name++, at++)
    if (at >= end || (*at | 0x20) != *name) return false;
  return at < end && ends_name(*at);
}

const char *hp_comment_end(const char *from, const char *at, const char *limit) {
  while ((at = memchr(at, '>', (size_t)(limit - at)))) {
    at++;
    if (at - from >= 3 && at[-2] == '-' && at[-3] == '-') return at;
    if (at - from >= 4 && at[-2] == '!' && at[-3] == '-' && at[-4] == '-') return at;
  }
  return NULL;
}

hp_atom hp_name_at(const char *at, const char *end) {
  enum { LONGEST = 16 }; /* of the names that predictors know */
  const char *stop = end - at > LONGEST ? at + LONGEST + 1 : end, *name = at;
  while (at < stop && !ends_name(*at)) at++;
  return at < stop ? hp_known_atom_in_any_case(name, (size_t)(at - name)) : HP_NO_ATOM;
}

const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting) {
  enum { FIRST = 1 << ('s' - 'a') | 1 << ('t' - 'a') | 1 << ('x' - 'a') | 1 << ('i' - 'a') | 1 << ('n' - 'a') };
  unsigned letter = at < end ? (unsigned char)((*at | 0x20) - 'a') : 26;
  return letter < 26 && FIRST >> letter & 1 ? hp_raw_text_of_atom(hp_name_at(at, end), scripting) : NULL;
}

const hp_raw_text *hp_raw_text_of_atom(hp_atom atom, bool scripting) {
  for (int i = 0; i < HP_RAW_TEXTS; i++)
    if (raw_texts[i].atom == atom) return atom == HP_ATOM_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

uint8_t hp_raw_text_index(const hp_raw_text *raw) { return (uint8_t)(raw - raw_texts); }

const hp_raw_text *hp_raw_text_of(uint8_t index) { return &raw_texts[index]; }

bool hp_is_self_closing(const char *at, const char *end) {
  const char *close = memchr(at, '>', (size_t)(end - at));
  return close && close[-1] == '/';
}

bool hp_may_be_in_head(hp_atom name) {
  switch (name) {
    case HP_ANY(HEAD, NOSCRIPT):
    case HP_ANY_METADATA: return true;
    default: return false;
  }
}

// clang-format off
#define EACH_HTML_NAME(_) \
  _(ARTICLE) _(ASIDE) _(ABBR) _(ADDRESS) _(AREA) _(B) _(BR) _(BUTTON) _(BODY) _(BLOCKQUOTE) _(BIG) _(CENTER) _(CODE) \
  _(CITE) _(DIV) _(DD) _(DL) _(DT) _(DEL) _(EM) _(EMBED) _(FORM) _(FOOTER) _(FIGURE) _(FIELDSET) _(H1) _(H2) _(H3) \
  _(H4) _(H5) _(H6) _(HR) _(HEADER) _(HEAD) _(IMG) _(I) _(INPUT) _(IFRAME) _(INS) _(LI) _(LABEL) _(LINK) _(META) \
  _(MAIN) _(MENU) _(NAV) _(NOSCRIPT) _(NOBR) _(OPTION) _(OL) _(P) _(PRE) _(PICTURE) _(RUBY) _(SPAN) _(STRONG) \
  _(SECTION) _(SMALL) _(SELECT) _(SUP) _(SUB) _(SOURCE) _(S) _(STRIKE) _(TD) _(TR) _(TBODY) _(TABLE) _(TH) _(THEAD) \
  _(TT) _(TEXTAREA) _(UL) _(U) _(VAR) _(VIDEO)
#define EACH_SVG_NAME(_) \
  _(CIRCLE) _(CLIPPATH) _(DEFS) _(ELLIPSE) _(FEGAUSSIANBLUR) _(FEOFFSET) _(FEBLEND) _(FEFLOOD) _(FECOLORMATRIX) \
  _(FECOMPOSITE) _(FOREIGNOBJECT) _(G) _(LINE) _(LINEARGRADIENT) _(MASK) _(PATH) _(POLYGON) _(POLYLINE) _(PATTERN) \
  _(RECT) _(RADIALGRADIENT) _(SYMBOL) _(STOP) _(TSPAN) _(TEXTPATH) _(USE)
/* Elements that may contain HTML are missing. */
#define EACH_MATH_NAME(_) \
  _(MROW) _(MI) _(MO) _(MN) _(MFRAC) _(MSUP) _(MSUB) _(MSTYLE) _(MSQRT) _(MROOT) _(MSUBSUP) _(MUNDER) _(MOVER) \
  _(MTABLE) _(MTR) _(MTD) _(MSPACE) _(MPADDED) _(MUNDEROVER) _(MPHANTOM) _(MFENCED) _(MTEXT) _(MERROR) _(MS) \
  _(MENCLOSE) _(MACTION)
// clang-format on

uint8_t hp_namespace_of_name(const char *at, const char *end) {
  static const uint8_t namespaces[HP_KNOWN_ATOMS] = {
#define HTML(name) [HP_ATOM_##name] = HPAR_NAMESPACE_HTML + 1,
#define SVG(name) [HP_ATOM_##name] = HPAR_NAMESPACE_SVG + 1,
#define MATH(name) [HP_ATOM_##name] = HPAR_NAMESPACE_MATHML + 1,
      EACH_HTML_NAME(HTML) EACH_SVG_NAME(SVG) EACH_MATH_NAME(MATH)};
  _Static_assert(HP_NO_NAMESPACE == UINT8_MAX, "the name without a namespace has 0 here");
  return (uint8_t)(namespaces[hp_name_at(at, end)] - 1);
}

/*** known states ***/

static void clear_bits(_Atomic uint64_t *bits, size_t count) {
  for (size_t i = 0; i < count / 64; i++) atomic_store_explicit(&bits[i], 0, memory_order_relaxed);
}

/* Forgets all results, for another text. */
static void begin_known(hp_known_states *known) {
  if (!known->has_lock) pthread_mutex_init(&known->lock, NULL);
  known->has_lock = true;
  known->long_text = (hp_known_state){0};
  known->scanned_bytes = 0;
  atomic_store_explicit(&known->count, 0, memory_order_relaxed);
  clear_bits(known->has_no_opener, HP_OPENER_BLOCKS);
  clear_bits(known->has_no_comment, HP_COMMENT_BLOCKS);
}

static void close_known(hp_known_states *known) {
  if (known->has_lock) pthread_mutex_destroy(&known->lock);
}

/* Uses the result if it is known at least as near to the cut as the one that is in use. */
static void use_state(const hp_known_state *found, uint32_t cut, hp_used_state *used) {
  uint32_t to = found->to < cut ? found->to : cut;
  if (found->from >= cut || !to || to < used->to) return;
  used->to = to;
  used->state = found->state;
}

void hp_known_read(hp_known_states *known, uint32_t cut, hp_used_state *used) {
  hp_turn();
  if (atomic_load_explicit(&known->count, memory_order_relaxed) == used->seen) return;
  pthread_mutex_lock(&known->lock);
  uint32_t count = atomic_load_explicit(&known->count, memory_order_relaxed);
  uint32_t i = count - used->seen > HP_KNOWN_STATES ? count - HP_KNOWN_STATES : used->seen;
  for (; i < count; i++) use_state(&known->found[i % HP_KNOWN_STATES], cut, used);
  pthread_mutex_unlock(&known->lock);
  used->seen = count;
}

bool hp_known_read_long_text(hp_known_states *known, uint32_t cut, hp_used_state *used, uint64_t *scanned_bytes) {
  pthread_mutex_lock(&known->lock);
  use_state(&known->long_text, cut, used);
  bool has_long_text = known->long_text.to;
  *scanned_bytes = known->scanned_bytes;
  pthread_mutex_unlock(&known->lock);
  return has_long_text;
}

void hp_known_add(hp_known_states *known, const hp_known_state *found, bool is_long_text, size_t scanned_bytes) {
  pthread_mutex_lock(&known->lock);
  known->scanned_bytes += scanned_bytes;
  if (found->to) {
    uint32_t count = atomic_load_explicit(&known->count, memory_order_relaxed);
    known->found[count % HP_KNOWN_STATES] = *found;
    atomic_store_explicit(&known->count, count + 1, memory_order_relaxed);
    if (is_long_text) known->long_text = *found;
  }
  pthread_mutex_unlock(&known->lock);
}

/*** the scan ***/

typedef hp_markup_scan scan;

static bool is_over(const scan *c) {
  return (c->only_head && c->s->head == HP_MARKUP_AFTER_HEAD) || (c->only_text && c->s->where == HP_MARKUP_DATA);
}

static void go_to(scan *c, const char *at) { c->s->at = (uint32_t)(at - c->text); }

/* Returns whether the marker is the first part of an attribute's value. */
static bool is_quoted(const scan *c, const char *marker) {
  return marker - c->text >= 2 && (marker[-1] == '"' || marker[-1] == '\'') && marker[-2] == '=';
}

static void in_comment(scan *c) {
  const char *end = hp_comment_end(c->text + c->s->from, c->text + c->s->at, c->target);
  if (end) c->s->where = HP_MARKUP_DATA;
  go_to(c, end ? end : c->target);
}

/* Returns whether a "-->" ends the script's escape before `to`. */
static bool escape_ends(scan *c, const char *to) {
  /* The search begins with the hyphens that begin the escape. */
  for (const char *at = c->text + c->s->looked; at < to && (at = memchr(at, '>', (size_t)(to - at))); at++)
    if (at[-1] == '-' && at[-2] == '-') return true;
  c->s->looked = (uint32_t)(to - c->text);
  return false;
}

//§ script-data-escaped-state
/* Returns whether the end tag at `at` ends the script. */
static bool ends_script(scan *c, const char *at) {
  hp_prescan_state *s = c->s;
  if (s->escaped && escape_ends(c, at)) s->escaped = s->double_escaped = false;
  if (c->end - at > 3 && at[1] == '!' && at[2] == '-' && at[3] == '-') {
    if (!s->escaped) {
      s->escaped = true;
      s->looked = (uint32_t)(at + 2 - c->text);
    }
    return false;
  }
  if (hp_tag_is(at + 1, c->end, "script")) {
    s->double_escaped |= s->escaped;
    return false;
  }
  if (at[1] != '/' || !hp_tag_is(at + 2, c->end, "script")) return false;
  if (!s->double_escaped) return true;
  s->double_escaped = false;
  return false;
}

static void in_raw_text(scan *c) {
  const hp_raw_text *raw = hp_raw_text_of(c->s->raw);
  bool script = raw->content == HP_TEXT_STATE_SCRIPT_DATA;
  const char *limit = c->end - c->target > 4 ? c->target + 4 : c->end;
  for (const char *at = c->text + c->s->at; at < c->target; at++) {
    at = script ? hp_scan()->in_script(at, limit) : memchr(at, '<', (size_t)(c->target - at));
    if (!at || at >= c->target) break;
    if (c->end - at < 3) continue;
    if (script ? !ends_script(c, at) : at[1] != '/' || !hp_tag_is(at + 2, c->end, raw->name)) continue;
    c->s->where = HP_MARKUP_DATA;
    const char *close = memchr(at, '>', (size_t)(c->end - at));
    go_to(c, close ? close + 1 : c->end);
    return;
  }
  go_to(c, c->target);
}

const char *hp_markup_tag_end(scan *c, const char *at) {
  const char *from = c->text + c->s->no_end_before;
  if (from < at) from = at;
  const char *close = from < c->end ? memchr(from, '>', (size_t)(c->end - from)) : NULL;
  c->s->no_end_before = (uint32_t)((close ? close : c->end) - c->text);
  return close;
}

static void tell_head(scan *c, const char *bytes, bool closer) {
  const hp_atom name = hp_name_at(bytes, c->end);
  if (closer ? name != HP_ATOM_HEAD : name == HP_ATOM_HTML) return;
  c->s->head = closer || !hp_may_be_in_head(name) ? HP_MARKUP_AFTER_HEAD : HP_MARKUP_IN_HEAD;
}

/* Processes a bracket in data. Leaves the scan after it. */
static void at_bracket(scan *c, const char *at) {
  hp_prescan_state *s = c->s;
  go_to(c, at + 1);
  if (c->end - at < 3) return;
  if (at[1] == '!') {
    if (at[2] != '-' || c->end - at < 4 || at[3] != '-' || is_quoted(c, at)) return;
    s->where = HP_MARKUP_COMMENT;
    s->from = s->at = (uint32_t)(at + 2 - c->text); /* "<!-->" is a comment */
    if (c->end - at > 4 && at[4] == '>') return;
    if (c->end - at > 5 && at[4] == '-' && at[5] == '>') return;
    s->from = s->at = (uint32_t)(at + 4 - c->text);
    return;
  }
  bool closer = at[1] == '/';
  const char *name = at + 1 + closer;
  if (!hp_ascii_is_letter(*name)) return;
  if (s->head != HP_MARKUP_AFTER_HEAD) tell_head(c, name, closer);
  if ((c->foreign && c->foreign(c, at, name, closer)) || closer) return;
  const hp_raw_text *raw = hp_raw_text_at(name, c->end, c->scripting);
  if (!raw || is_quoted(c, at)) return;
  const char *close = hp_markup_tag_end(c, at);
  if (!close) return;
  s->where = HP_MARKUP_RAW_TEXT;
  s->raw = hp_raw_text_index(raw);
  s->escaped = s->double_escaped = false;
  go_to(c, close + 1);
}

static void in_data(scan *c) {
  const hp_scan_kernels *kernels = hp_scan();
  for (const char *at; (at = c->text + c->s->at) < c->target && c->s->where == HP_MARKUP_DATA;) {
    if (is_over(c)) return;
    if (c->s->is_foreign || c->s->head != HP_MARKUP_AFTER_HEAD) {
      at = memchr(at, '<', (size_t)(c->target - at));
      if (!at) break;
    } else {
      /* A marker may reach beyond the target. */
      const char *limit = c->end - c->target > 4 ? c->target + 4 : c->end;
      at = kernels->next_opener(at, limit);
      if (at >= c->target) break;
    }
    at_bracket(c, at);
  }
  if (c->s->where == HP_MARKUP_DATA && c->text + c->s->at < c->target) go_to(c, c->target);
}

void hp_markup_scan_go_on(scan *c) {
  while (c->text + c->s->at < c->target && !is_over(c)) {
    if (c->s->where == HP_MARKUP_COMMENT)
      in_comment(c);
    else if (c->s->where == HP_MARKUP_RAW_TEXT)
      in_raw_text(c);
    else
      in_data(c);
  }
}

void hp_prescan_begin(hp_prescan *p) {
  if (!p->has_lock) pthread_mutex_init(&p->lock, NULL);
  p->has_lock = true;
  p->head = (hp_prescan_state){0};
  p->texts++;
  begin_known(&p->known);
}

void hp_prescan_close(hp_prescan *p) {
  if (p->of_predictor) p->free_of_predictor(p->of_predictor);
  close_known(&p->known);
  if (p->has_lock) pthread_mutex_destroy(&p->lock);
}

bool hp_prescan_is_in_head(hp_prescan *p, const hp_request *request, uint32_t cut) {
  pthread_mutex_lock(&p->lock);
  scan c = {.s = &p->head,
            .text = request->text,
            .end = request->text + request->length,
            .target = request->text + cut,
            .scripting = request->scripting,
            .only_head = true};
  hp_markup_scan_go_on(&c);
  bool inside = p->head.at >= cut;
  pthread_mutex_unlock(&p->lock);
  return inside;
}
