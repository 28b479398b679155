/* The predictor "prescan": a scan of all text before the cut. It adds foreign elements to the scan
 * of speculation/prescan.h. The scan runs up to the last requested cut, on one thread at a time. It
 * keeps its state every STEP bytes, so that a request for an earlier place scans at most one
 * step. */

#include "speculation/prescan.h"
#include "base/memory.h"
#include "dom/tag.h"
#include "study/choices.h"

#include <string.h>

enum { STEP = 4 << 10, MAX_OPEN = 12 };
enum { SVG = 1, MATH, INTEGRATION };

typedef struct full_state {
  hp_prescan_state markup;
  uint8_t depth, open[MAX_OPEN]; /* svg, math and integration points in them */
} full_state;

/* The scan of one text. */
typedef struct full_scan {
  uint64_t text; /* hp_prescan.texts */
  full_state front;
  full_state *notes; /* [i]: the first state with at >= i * STEP */
  uint32_t note_count, note_capacity;
} full_scan;

static full_state *full(const hp_markup_scan *c) { return (full_state *)c->s; }

static void push(hp_markup_scan *c, const char *at, uint8_t what) {
  full_state *s = full(c);
  const char *close = hp_markup_tag_end(c, at);
  if ((!close || close[-1] != '/') && s->depth < MAX_OPEN) s->open[s->depth++] = what;
}

/* Pops up to and including the innermost of these elements, if one is open. */
static void pop(full_state *s, uint8_t what) {
  for (uint8_t i = s->depth; i > 0; i--) {
    if (s->open[i - 1] != what) continue;
    s->depth = (uint8_t)(i - 1);
    return;
  }
}

static bool is_integration_point(hp_atom name, uint8_t top) {
  return hp_foreign_tag(HPAR_NAMESPACE_MATHML, name) & HP_TAG_TEXT_INTEGRATION ||
         (top != MATH && (name == HP_ATOM_FOREIGNOBJECT || name == HP_ATOM_DESC || name == HP_ATOM_TITLE));
}

/* Processes a tag in foreign content. Returns false if HTML's rules apply to it. */
static bool in_foreign_content(hp_markup_scan *c, const char *at, hp_atom name, bool closer) {
  full_state *s = full(c);
  uint8_t top = s->open[s->depth - 1];
  if (closer) {
    uint8_t what = name == HP_ATOM_SVG ? SVG : name == HP_ATOM_MATH ? MATH : 0;
    if (top == INTEGRATION && is_integration_point(name, top)) what = INTEGRATION;
    if (what) pop(s, what);
    return what || top != INTEGRATION;
  }
  if (top == INTEGRATION) return false;
  if (is_integration_point(name, top)) {
    push(c, at, INTEGRATION);
    return true;
  }
  //§ parsing-main-inforeign
  if (hp_html_tag(name) & HP_TAG_BREAKOUT) {
    while (s->depth && s->open[s->depth - 1] != INTEGRATION) s->depth--;
    return false;
  }
  return name != HP_ATOM_SVG && name != HP_ATOM_MATH; /* nested ones */
}

static bool take_tag(hp_markup_scan *c, const char *at, const char *bytes, bool closer) {
  full_state *s = full(c);
  const hp_atom name = hp_name_at(bytes, c->end);
  bool is_foreign = s->depth && in_foreign_content(c, at, name, closer);
  if (!is_foreign && !closer && (name == HP_ATOM_SVG || name == HP_ATOM_MATH)) {
    push(c, at, name == HP_ATOM_SVG ? SVG : MATH);
    is_foreign = true;
  }
  s->markup.is_foreign = s->depth;
  return is_foreign;
}

static void advance(full_state *s, const hp_request *request, uint32_t to, bool only_text) {
  hp_markup_scan scan = {.s = &s->markup,
                         .text = request->text,
                         .end = request->text + request->length,
                         .target = request->text + to,
                         .scripting = request->scripting,
                         .only_text = only_text,
                         .foreign = take_tag};
  hp_markup_scan_go_on(&scan);
}

static void free_scan(void *memory) {
  hp_free(((full_scan *)memory)->notes);
  hp_free(memory);
}

/* Returns the scan of the current text, or NULL. */
static full_scan *scan_of(hp_prescan *shared) {
  full_scan *scan = shared->of_predictor;
  if (!scan) {
    scan = shared->of_predictor = hp_allocate_zeroed(sizeof *scan);
    shared->free_of_predictor = free_scan;
  }
  if (scan && scan->text != shared->texts) {
    scan->text = shared->texts;
    scan->front = (full_state){0};
    scan->note_count = 0;
  }
  return scan;
}

/* Returns the last kept state at or before the cut. */
static full_state noted(full_scan *p, const hp_request *request, uint32_t cut) {
  uint32_t wanted = cut / STEP;
  while (p->note_count <= wanted) {
    if (p->note_count == p->note_capacity) {
      uint32_t capacity = p->note_capacity ? 2 * p->note_capacity : 64;
      full_state *grown = hp_reallocate(p->notes, capacity * sizeof *grown);
      if (!grown) break;
      p->notes = grown;
      p->note_capacity = capacity;
    }
    advance(&p->front, request, p->note_count * STEP, false);
    p->notes[p->note_count++] = p->front;
  }
  /* Most cuts ascend. */
  if (p->note_count > wanted && p->front.markup.at <= cut) advance(&p->front, request, cut, false);
  full_state state = p->front;
  for (uint32_t i = wanted < p->note_count ? wanted + 1 : p->note_count; state.markup.at > cut && i > 0; i--) {
    state = p->notes[i - 1];
    if (state.markup.at <= cut) break;
    if (i == 1) state = (full_state){0};
  }
  return state;
}

/* Skips the text before `to`. */
static void skip(hp_prescan *shared, uint32_t to) {
  pthread_mutex_lock(&shared->lock);
  full_scan *p = scan_of(shared);
  if (p && p->note_count && p->front.markup.at < to) {
    p->front = (full_state){.markup = {.at = to, .where = HP_MARKUP_DATA, .head = HP_MARKUP_AFTER_HEAD}};
    while (p->note_count < p->note_capacity && p->note_count * (uint64_t)STEP <= to)
      p->notes[p->note_count++] = p->front;
  }
  pthread_mutex_unlock(&shared->lock);
}

/* Returns the namespace of the foreign element `level` elements below the top. */
static uint8_t namespace_at(const full_state *s, uint8_t level) {
  if (s->depth < level || s->open[s->depth - level] == INTEGRATION) return HPAR_NAMESPACE_HTML;
  return s->open[s->depth - level] == SVG ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
}

static void predict(const hp_predictor_input *input, hp_start_state *state) {
  const hp_request *request = input->request;
  if (!input->prescan) return;
  pthread_mutex_lock(&input->prescan->lock);
  full_scan *p = scan_of(input->prescan);
  full_state s = p ? noted(p, request, input->cut) : (full_state){0};
  pthread_mutex_unlock(&input->prescan->lock);
  advance(&s, request, input->cut, false);
  if (s.markup.where == HP_MARKUP_COMMENT) state->inside = HP_INSIDE_COMMENT;
  if (s.markup.where == HP_MARKUP_RAW_TEXT) {
    state->content = hp_raw_text_of(s.markup.raw)->content;
    state->raw_name = hp_raw_text_of(s.markup.raw)->atom;
  }
  if (s.markup.where != HP_MARKUP_DATA) {
    advance(&s, request, input->reach, true);
    state->first = s.markup.where == HP_MARKUP_DATA  ? s.markup.at
                   : input->reach == request->length ? 0
                                                     : HP_START_BEYOND;
  }
  if (s.markup.head == HP_MARKUP_IN_HEAD && !s.depth) state->mode = HP_IN_HEAD;
  state->ns = namespace_at(&s, 1);
  state->outer_ns = namespace_at(&s, 2);
}

const hp_predictor hp_prescan_predictor = {
    .name = "prescan",
    .summary = "a fast scan of all earlier text: comments, raw text, foreign content, the head",
    .predict = predict,
    .skip = skip,
    .restarts_after_end_tag = true};
