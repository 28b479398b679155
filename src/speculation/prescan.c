#include "speculation/prescan.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/target.h"
#include "speculation/start.h"
#include "text/scan/scan.h"

#include <string.h>

/*** markup ***/

static const hp_raw_text raw_texts[] = {
    {"script", HP_ATOM_SCRIPT, HP_CONTENT_SCRIPT_DATA}, {"style", HP_ATOM_STYLE, HP_CONTENT_RAWTEXT},
    {"textarea", HP_ATOM_TEXTAREA, HP_CONTENT_RCDATA},  {"title", HP_ATOM_TITLE, HP_CONTENT_RCDATA},
    {"xmp", HP_ATOM_XMP, HP_CONTENT_RAWTEXT},           {"iframe", HP_ATOM_IFRAME, HP_CONTENT_RAWTEXT},
    {"noembed", HP_ATOM_NOEMBED, HP_CONTENT_RAWTEXT},   {"noframes", HP_ATOM_NOFRAMES, HP_CONTENT_RAWTEXT},
    {"noscript", HP_ATOM_NOSCRIPT, HP_CONTENT_RAWTEXT},
};

static bool ends_name(char c) {
  return c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r';
}

bool hp_tag_goes_on(const char *at, const char *end, const char *name) {
  for (; *name; name++, at++)
    if (at >= end || (*at | 0x20) != *name) return false;
  return at < end && ends_name(*at);
}

const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting) {
  enum { FIRST = 1 << ('s' - 'a') | 1 << ('t' - 'a') | 1 << ('x' - 'a') | 1 << ('i' - 'a') | 1 << ('n' - 'a') };
  unsigned letter = at < end ? (unsigned char)((*at | 0x20) - 'a') : 26;
  if (letter >= 26 || !(FIRST >> letter & 1)) return NULL;
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (at < end && (*at | 0x20) == raw_texts[i].name[0] && hp_tag_is(at, end, raw_texts[i].name))
      return raw_texts[i].atom == HP_ATOM_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting) {
  const hp_raw_text *raw = hp_raw_text_at(at, end, scripting);
  return raw ? raw->atom : 0;
}

const hp_raw_text *hp_raw_text_named(const char *name, bool scripting) {
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (hp_ascii_equal_strings(name, raw_texts[i].name))
      return raw_texts[i].atom == HP_ATOM_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

const hp_raw_text *hp_raw_text_of_atom(hp_atom atom) {
  size_t i = 0;
  while (raw_texts[i].atom != atom) i++;
  return &raw_texts[i];
}

uint8_t hp_raw_text_index(const hp_raw_text *raw) { return (uint8_t)(raw - raw_texts); }

const hp_raw_text *hp_raw_text_of(uint8_t index) { return &raw_texts[index]; }

bool hp_is_self_closing(const char *at, const char *end) {
  const char *close = memchr(at, '>', (size_t)(end - at));
  return close && close[-1] == '/';
}

static const char *const html_names[26][12] = {
    ['a' - 'a'] = {"article", "aside", "abbr", "address", "area"},
    ['b' - 'a'] = {"b", "br", "button", "body", "blockquote", "big"},
    ['c' - 'a'] = {"center", "code", "cite"},
    ['d' - 'a'] = {"div", "dd", "dl", "dt", "del"},
    ['e' - 'a'] = {"em", "embed"},
    ['f' - 'a'] = {"form", "footer", "figure", "fieldset"},
    ['h' - 'a'] = {"h1", "h2", "h3", "h4", "h5", "h6", "hr", "header", "head"},
    ['i' - 'a'] = {"img", "i", "input", "iframe", "ins"},
    ['l' - 'a'] = {"li", "label", "link"},
    ['m' - 'a'] = {"meta", "main", "menu"},
    ['n' - 'a'] = {"nav", "noscript", "nobr"},
    ['o' - 'a'] = {"option", "ol"},
    ['p' - 'a'] = {"p", "pre", "picture"},
    ['r' - 'a'] = {"ruby"},
    ['s' - 'a'] = {"span", "strong", "section", "small", "select", "sup", "sub", "source", "s", "strike"},
    ['t' - 'a'] = {"td", "tr", "tbody", "table", "th", "thead", "tt", "textarea"},
    ['u' - 'a'] = {"ul", "u"},
    ['v' - 'a'] = {"var", "video"},
};
static const char *const svg_names[26][8] = {
    ['c' - 'a'] = {"circle", "clippath"},
    ['d' - 'a'] = {"defs"},
    ['e' - 'a'] = {"ellipse"},
    ['f' - 'a'] = {"fegaussianblur", "feoffset", "feblend", "feflood", "fecolormatrix", "fecomposite", "foreignobject"},
    ['g' - 'a'] = {"g"},
    ['l' - 'a'] = {"line", "lineargradient"},
    ['m' - 'a'] = {"mask"},
    ['p' - 'a'] = {"path", "polygon", "polyline", "pattern"},
    ['r' - 'a'] = {"rect", "radialgradient"},
    ['s' - 'a'] = {"symbol", "stop"},
    ['t' - 'a'] = {"tspan", "textpath"},
    ['u' - 'a'] = {"use"},
};
/* All names begin with m. Elements that may contain HTML are missing. */
static const char *const math_names[] = {"mrow",   "mi",     "mo",     "mn",       "mfrac",      "msup",     "msub",
                                         "mstyle", "msqrt",  "mroot",  "msubsup",  "munder",     "mover",    "mtable",
                                         "mtr",    "mtd",    "mspace", "mpadded",  "munderover", "mphantom", "mfenced",
                                         "mtext",  "merror", "ms",     "menclose", "maction"};

static bool is_one_of(const char *at, const char *end, const char *const *names, size_t count) {
  for (size_t i = 0; i < count && names[i]; i++)
    if (hp_tag_is(at, end, names[i])) return true;
  return false;
}

uint8_t hp_namespace_of_name(const char *at, const char *end) {
  unsigned letter = (unsigned char)((*at | 0x20) - 'a');
  if (letter >= 26) return HP_NO_NAMESPACE;
  if (is_one_of(at, end, html_names[letter], sizeof *html_names / sizeof **html_names)) return HPAR_NAMESPACE_HTML;
  if (is_one_of(at, end, svg_names[letter], sizeof *svg_names / sizeof **svg_names)) return HPAR_NAMESPACE_SVG;
  if (letter == 'm' - 'a' && is_one_of(at, end, math_names, sizeof math_names / sizeof *math_names))
    return HPAR_NAMESPACE_MATHML;
  return HP_NO_NAMESPACE;
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

/*** prescan ***/

enum { IN_DATA, IN_COMMENT, IN_RAW_TEXT };
enum { BEFORE_HEAD, IN_HEAD, AFTER_HEAD };
enum { SVG = 1, MATH, INTEGRATION };

typedef struct scan {
  hp_prescan_state *s;
  const char *text, *end; /* of the available text */
  const char *target;
  bool scripting;
  bool only_head; /* stops at the end of the head */
} scan;

static bool is_over(const scan *c) { return c->only_head && c->s->head == AFTER_HEAD; }

static void go_to(scan *c, const char *at) { c->s->at = (uint32_t)(at - c->text); }

/* Returns whether the marker is the first part of an attribute's value. */
static bool is_quoted(const scan *c, const char *marker) {
  return marker - c->text >= 2 && (marker[-1] == '"' || marker[-1] == '\'') && marker[-2] == '=';
}

static void in_comment(scan *c) {
  const char *from = c->text + c->s->from;
  for (const char *at = c->text + c->s->at; at < c->target; at++) {
    at = memchr(at, '>', (size_t)(c->target - at));
    if (!at) break;
    bool ends = at - from >= 2 && at[-1] == '-' && at[-2] == '-';
    ends |= at - from >= 3 && at[-1] == '!' && at[-2] == '-' && at[-3] == '-';
    if (!ends) continue;
    c->s->where = IN_DATA;
    go_to(c, at + 1);
    return;
  }
  go_to(c, c->target);
}

/* Returns whether a "-->" ends the script's escape before `to`. */
static bool escape_ends(scan *c, const char *to) {
  const char *from = c->text + c->s->from, *at = c->text + c->s->looked;
  for (; at < to && (at = memchr(at, '>', (size_t)(to - at))); at++)
    if (at - from >= 2 && at[-1] == '-' && at[-2] == '-') return true;
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
      s->from = s->looked = (uint32_t)(at + 2 - c->text);
    }
    return false;
  }
  if (hp_tag_is(at + 1, c->end, "script")) {
    s->double_escaped |= s->escaped;
    return false;
  }
  if (at + 1 == c->end || at[1] != '/' || !hp_tag_is(at + 2, c->end, "script")) return false;
  if (!s->double_escaped) return true;
  s->double_escaped = false;
  return false;
}

static void in_raw_text(scan *c) {
  const hp_raw_text *raw = hp_raw_text_of(c->s->raw);
  bool script = raw->content == HP_CONTENT_SCRIPT_DATA;
  const char *limit = c->end - c->target > 4 ? c->target + 4 : c->end;
  for (const char *at = c->text + c->s->at; at < c->target; at++) {
    at = script ? hp_scan()->in_script(at, limit) : memchr(at, '<', (size_t)(c->target - at));
    if (!at || at >= c->target) break;
    if (c->end - at < 3) continue;
    if (script ? !ends_script(c, at) : at[1] != '/' || !hp_tag_is(at + 2, c->end, raw->name)) continue;
    c->s->where = IN_DATA;
    const char *close = memchr(at, '>', (size_t)(c->end - at));
    go_to(c, close ? close + 1 : c->end);
    return;
  }
  go_to(c, c->target);
}

//§ parsing-main-inforeign
static bool breaks_out(const char *name, const char *end) {
  static const char *const names[26][10] = {
      ['b' - 'a'] = {"b", "big", "blockquote", "body", "br"},
      ['c' - 'a'] = {"center", "code"},
      ['d' - 'a'] = {"dd", "div", "dl", "dt"},
      ['e' - 'a'] = {"em", "embed"},
      ['h' - 'a'] = {"h1", "h2", "h3", "h4", "h5", "h6", "head", "hr"},
      ['i' - 'a'] = {"i", "img"},
      ['l' - 'a'] = {"li", "listing"},
      ['m' - 'a'] = {"menu", "meta"},
      ['n' - 'a'] = {"nobr"},
      ['o' - 'a'] = {"ol"},
      ['p' - 'a'] = {"p", "pre"},
      ['r' - 'a'] = {"ruby"},
      ['s' - 'a'] = {"s", "small", "span", "strong", "strike", "sub", "sup"},
      ['t' - 'a'] = {"table", "tt"},
      ['u' - 'a'] = {"u", "ul"},
      ['v' - 'a'] = {"var"},
  };
  const char *const *list = names[(*name | 0x20) - 'a'];
  for (size_t i = 0; i < 10 && list[i]; i++)
    if (hp_tag_is(name, end, list[i])) return true;
  return false;
}

/* Returns the ">" of the tag at `at`, or NULL. Tags ascend, and the search visits each byte once.
 */
static const char *tag_end(scan *c, const char *at) {
  const char *from = c->text + c->s->no_end_before;
  if (from < at) from = at;
  const char *close = from < c->end ? memchr(from, '>', (size_t)(c->end - from)) : NULL;
  c->s->no_end_before = (uint32_t)((close ? close : c->end) - c->text);
  return close;
}

static bool is_self_closing(scan *c, const char *at) {
  const char *close = tag_end(c, at);
  return close && close[-1] == '/';
}

static void push(scan *c, uint8_t what) {
  if (c->s->depth < HP_PRESCAN_OPEN) c->s->open[c->s->depth++] = what;
}

/* Pops up to and including the innermost of these elements, if one is open. */
static void pop(scan *c, uint8_t what) {
  for (uint8_t i = c->s->depth; i > 0; i--) {
    if (c->s->open[i - 1] != what) continue;
    c->s->depth = (uint8_t)(i - 1);
    return;
  }
}

static bool is_text_integration_point(const char *name, const char *end) {
  if ((name[0] | 0x20) != 'm' || end - name < 3) return false;
  char c = (char)(name[1] | 0x20);
  bool two = (c == 'i' || c == 'o' || c == 'n' || c == 's') && !hp_ascii_is_letter(name[2]);
  return two || hp_tag_is(name, end, "mtext");
}

static bool is_integration_point(const char *name, const char *end) {
  return is_text_integration_point(name, end) || hp_tag_is(name, end, "foreignobject") ||
         hp_tag_is(name, end, "desc") || hp_tag_is(name, end, "title");
}

/* Processes a tag in foreign content. Returns false if HTML's rules apply to it. */
static bool foreign_tag(scan *c, const char *at, const char *name, bool closer) {
  uint8_t top = c->s->open[c->s->depth - 1];
  if (closer) {
    if (top == INTEGRATION && is_integration_point(name, c->end)) {
      pop(c, INTEGRATION);
      return true;
    }
    if (hp_tag_is(name, c->end, "svg")) return pop(c, SVG), true;
    if (hp_tag_is(name, c->end, "math")) return pop(c, MATH), true;
    return top != INTEGRATION;
  }
  if (top == INTEGRATION) return false;
  if (top == MATH ? is_text_integration_point(name, c->end) : is_integration_point(name, c->end)) {
    if (!is_self_closing(c, at)) push(c, INTEGRATION);
    return true;
  }
  if (breaks_out(name, c->end)) {
    while (c->s->depth && c->s->open[c->s->depth - 1] != INTEGRATION) c->s->depth--;
    return false;
  }
  if (hp_tag_is(name, c->end, "svg") || hp_tag_is(name, c->end, "math")) return false; /* nested */
  return true;
}

/* Updates the state of the head after a tag. */
static void tell_head(scan *c, const char *name, bool closer) {
  static const char *const in_head[] = {"base",     "basefont", "bgsound", "link",  "meta",    "noframes",
                                        "noscript", "script",   "style",   "title", "template"};
  hp_prescan_state *s = c->s;
  if (closer) {
    if (hp_tag_is(name, c->end, "head")) s->head = AFTER_HEAD;
    return;
  }
  if (hp_tag_is(name, c->end, "html")) return;
  bool head = hp_tag_is(name, c->end, "head");
  for (size_t i = 0; !head && i < sizeof in_head / sizeof *in_head; i++)
    head = *in_head[i] == (*name | 0x20) && hp_tag_is(name, c->end, in_head[i]);
  s->head = head ? IN_HEAD : AFTER_HEAD;
}

/* Processes a bracket in data. Leaves the scan after it. */
static void at_bracket(scan *c, const char *at) {
  hp_prescan_state *s = c->s;
  go_to(c, at + 1);
  if (c->end - at < 3) return;
  if (at[1] == '!') {
    if (at[2] != '-' || c->end - at < 4 || at[3] != '-' || is_quoted(c, at)) return;
    s->where = IN_COMMENT;
    s->from = s->at = (uint32_t)(at + 2 - c->text); /* "<!-->" is a comment */
    if (c->end - at > 4 && at[4] == '>') return;
    if (c->end - at > 5 && at[4] == '-' && at[5] == '>') return;
    s->from = s->at = (uint32_t)(at + 4 - c->text);
    return;
  }
  bool closer = at[1] == '/';
  const char *name = at + 1 + closer;
  if (!hp_ascii_is_letter(*name)) return;
  if (s->head != AFTER_HEAD) tell_head(c, name, closer);
  if (s->depth && foreign_tag(c, at, name, closer)) return;
  if (closer) return;
  bool svg = hp_tag_is(name, c->end, "svg");
  if (svg || hp_tag_is(name, c->end, "math")) {
    if (!is_self_closing(c, at)) push(c, svg ? SVG : MATH);
    return;
  }
  const hp_raw_text *raw = hp_raw_text_at(name, c->end, c->scripting);
  if (!raw || is_quoted(c, at)) return;
  const char *close = tag_end(c, at);
  if (!close) return;
  s->where = IN_RAW_TEXT;
  s->raw = hp_raw_text_index(raw);
  s->escaped = s->double_escaped = false;
  go_to(c, close + 1);
}

static void in_data(scan *c) {
  const hp_scan_kernels *kernels = hp_scan();
  for (const char *at; (at = c->text + c->s->at) < c->target && c->s->where == IN_DATA;) {
    if (is_over(c)) return;
    if (c->s->depth || c->s->head != AFTER_HEAD) {
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
  if (c->s->where == IN_DATA && c->text + c->s->at < c->target) go_to(c, c->target);
}

static void go_on(scan *c) {
  while (c->text + c->s->at < c->target && !is_over(c)) {
    if (c->s->where == IN_COMMENT)
      in_comment(c);
    else if (c->s->where == IN_RAW_TEXT)
      in_raw_text(c);
    else
      in_data(c);
  }
}

static void advance(hp_prescan_state *s, const char *text, size_t length, uint32_t to, bool scripting) {
  scan c = {s, text, text + length, text + to, scripting, false};
  go_on(&c);
}

void hp_prescan_begin(hp_prescan *p) {
  if (!p->has_lock) pthread_mutex_init(&p->lock, NULL);
  p->has_lock = true;
  p->front = p->head = (hp_prescan_state){0};
  begin_known(&p->known);
  p->note_count = 0;
}

void hp_prescan_close(hp_prescan *p) {
  hp_free(p->notes);
  close_known(&p->known);
  if (p->has_lock) pthread_mutex_destroy(&p->lock);
}

/* Returns the last kept state at or before the cut. */
static hp_prescan_state noted(hp_prescan *p, const char *text, size_t length, uint32_t cut, bool scripting) {
  uint32_t wanted = cut / HP_PRESCAN_STEP;
  pthread_mutex_lock(&p->lock);
  while (p->note_count <= wanted) {
    if (p->note_count == p->note_capacity) {
      uint32_t capacity = p->note_capacity ? 2 * p->note_capacity : 64;
      hp_prescan_state *grown = hp_reallocate(p->notes, capacity * sizeof *grown);
      if (!grown) break;
      p->notes = grown;
      p->note_capacity = capacity;
    }
    advance(&p->front, text, length, p->note_count * HP_PRESCAN_STEP, scripting);
    p->notes[p->note_count++] = p->front;
  }
  /* Most cuts ascend. */
  if (p->note_count > wanted && p->front.at <= cut) advance(&p->front, text, length, cut, scripting);
  hp_prescan_state state = p->front;
  for (uint32_t i = wanted < p->note_count ? wanted + 1 : p->note_count; state.at > cut && i > 0; i--) {
    state = p->notes[i - 1];
    if (state.at <= cut) break;
    if (i == 1) state = (hp_prescan_state){0};
  }
  pthread_mutex_unlock(&p->lock);
  return state;
}

bool hp_prescan_is_in_head(hp_prescan *p, const hp_request *request, uint32_t cut) {
  pthread_mutex_lock(&p->lock);
  scan c = {&p->head, request->text, request->text + request->length, request->text + cut, request->scripting, true};
  go_on(&c);
  bool inside = p->head.at >= cut;
  pthread_mutex_unlock(&p->lock);
  return inside;
}

void hp_prescan_skip(hp_prescan *p, uint32_t to) {
  pthread_mutex_lock(&p->lock);
  if (p->note_count && p->front.at < to) {
    p->front = (hp_prescan_state){.at = to, .where = IN_DATA, .head = AFTER_HEAD};
    while (p->note_count < p->note_capacity && p->note_count * (uint64_t)HP_PRESCAN_STEP <= to)
      p->notes[p->note_count++] = p->front;
  }
  pthread_mutex_unlock(&p->lock);
}

/* Returns the namespace of the foreign element `level` elements below the top. */
static uint8_t namespace_at(const hp_prescan_state *s, uint8_t level) {
  if (s->depth < level || s->open[s->depth - level] == INTEGRATION) return HPAR_NAMESPACE_HTML;
  return s->open[s->depth - level] == SVG ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
}

void hp_prescan_at(hp_prescan *p, const hp_request *request, uint32_t cut, uint32_t limit, hp_start_state *state) {
  hp_prescan_state s = noted(p, request->text, request->length, cut, request->scripting);
  advance(&s, request->text, request->length, cut, request->scripting);
  if (s.where == IN_COMMENT) state->inside = HP_INSIDE_COMMENT;
  if (s.where == IN_RAW_TEXT) {
    state->content = hp_raw_text_of(s.raw)->content;
    state->raw_name = hp_raw_text_of(s.raw)->atom;
  }
  if (s.where != IN_DATA) {
    scan c = {&s, request->text, request->text + request->length, request->text + limit, request->scripting, false};
    if (s.where == IN_COMMENT)
      in_comment(&c);
    else
      in_raw_text(&c);
    state->first = s.where == IN_DATA ? s.at : limit == request->length ? 0 : HP_START_BEYOND;
  }
  if (s.head == IN_HEAD && !s.depth) state->mode = HP_IN_HEAD;
  state->ns = namespace_at(&s, 1);
  state->outer_ns = namespace_at(&s, 2);
}
