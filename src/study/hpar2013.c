/* The decisions of the scheme, on the worker's thread. */

#include "study/hpar2013.h"

#include "base/bytes.h"
#include "dom/tag.h"
#include "speculation/outer_context.h"
#include "speculation/worker.h"
#include "tree/stack.h"

#include <hpar/study.h>

enum { SUFFIX = 4 << 10, TABLE_ENDS = 6 };

typedef enum contradiction {
  NOTHING,
  RAW_TEXT_END, /* without a beginning */
  FOREIGN_END,
  TABLE_END,
  META,     /* in body */
  NOT_HEAD, /* body content precedes the meta */
  BOTTOM    /* the tag reaches the bottom of the open stack */
} contradiction;

/* The guesses of a start hypothesis. The worker starts again if one is wrong. */
typedef struct guesses {
  uint32_t from; /* begin */
  uint8_t mode, ns;
  bool in_cell;                                                /* in cell instead of in body */
  bool head;                                                   /* in head, because of a meta */
  bool plain;                                                  /* does not begin after a comment */
  bool no_raw_text_end, no_foreign_end, no_table_end, no_meta; /* happened */
  uint32_t end_comment;                                        /* end of an unopened comment */
} guesses;

typedef struct attempt {
  guesses *guess;
  bool in_cell;                 /* still in cell */
  hp_atom top;                  /* the last tag before the cut, still open; or 0 */
  bool in_head, in_noscript;    /* only head content so far; in an outer noscript */
  uint32_t started[TABLE_ENDS]; /* ignored start tags of table parts without their end tag */
  bool ignores;                 /* the token is such an end tag, or that of a head */
  contradiction found;
  uint32_t found_at;
  hp_atom name; /* of the tag that revealed it */
} attempt;

static int table_end(hp_atom name) {
  switch (name) {
    case HP_ATOM_TD: return 0;
    case HP_ATOM_TH: return 1;
    case HP_ATOM_TR: return 2;
    case HP_ATOM_TBODY: return 3;
    case HP_ATOM_THEAD: return 4;
    case HP_ATOM_TFOOT: return 5;
    default: return -1;
  }
}

/* Returns the name of the last tag before the cut, if it is a start tag of a non-void element, or
 * 0. */
static hp_atom last_tag(const char *text, uint32_t cut) {
  const char *end = text + cut, *least = cut > SUFFIX ? end - SUFFIX : text, *at = end;
  while ((at = memrchr(least, '<', (size_t)(at - least)))) {
    char name[24];
    size_t length = 0;
    if (at + 1 < end && at[1] == '/') return 0;
    if (at + 1 >= end || (unsigned char)((at[1] | 0x20) - 'a') >= 26) continue;
    if (!memchr(at, '>', (size_t)(end - at))) return 0;
    for (at++; length < sizeof name && *at != '>' && *at != '/' && !hp_ascii_is_white(*at); at++)
      name[length++] = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
    if (length == sizeof name) return 0;
    hp_atom atom = hp_known_atom(name, length, hp_name_key_of(name, length));
    return hp_html_tag(atom) & HP_TAG_VOID ? 0 : atom;
  }
  return 0;
}

/* Returns the questions of a start tag that the open element `top` answers: bit q. */
static uint32_t answered_by(hp_atom top) {
#define QUESTION(name) (1u << HP_ASSUME_##name)
  switch (top) {
    case HP_ATOM_P: return QUESTION(NO_P_IN_BUTTON_SCOPE);
    case HP_ATOM_LI: return QUESTION(NO_LI);
    case HP_ANY(DD, DT): return QUESTION(NO_DD_DT);
    case HP_ANY(OPTION, OPTGROUP): return QUESTION(TOP_NOT_IMPLIED);
    case HP_ANY(BUTTON, NOBR, SELECT): return QUESTION(NOT_IN_SCOPE);
    case HP_ATOM_A: return QUESTION(NO_FORMATTING);
    default: return 0;
  }
#undef QUESTION
}

static bool is_head_content(hp_atom name) {
  switch (name) {
    case HP_ANY_METADATA:
    case HP_ANY(HTML, HEAD, NOSCRIPT): return true;
    default: return false;
  }
}

//§ parsing-main-inheadnoscript
static bool stays_in_noscript(const hp_token *t) {
  switch (t->kind) {
    case HP_TOKEN_TEXT: return t->flags & HP_TEXT_WHITE;
    case HP_TOKEN_START_TAG:
      return is_head_content(t->name) && t->name != HP_ATOM_BASE && t->name != HP_ATOM_SCRIPT &&
             t->name != HP_ATOM_TEMPLATE && t->name != HP_ATOM_TITLE;
    case HP_TOKEN_END_TAG: return t->name != HP_ATOM_BR;
    default: return true;
  }
}

static bool find(attempt *a, contradiction what, const hp_token *t) {
  a->found = what;
  a->found_at = t->end;
  a->name = t->name;
  return true;
}

static void look_for_end_comment(guesses *g, const char *text, const hp_token *t, uint32_t limit) {
  uint32_t end = t->end < limit ? t->end : limit;
  if (g->end_comment || !g->plain || end <= t->start) return;
  const char *found = memmem(text + t->start, end - t->start, "-->", 3);
  if (found) g->end_comment = (uint32_t)(found + 3 - text);
}

/* Returns whether the token ends the head content. Requires: the chunk has only head content so
 * far, and no open element. */
static bool leaves_head(attempt *a, const hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HP_TOKEN_TEXT:
      if (t->flags & HP_TEXT_WHITE) return false;
      break;
    case HP_TOKEN_START_TAG:
      if (!is_head_content(t->name)) break;
      a->in_noscript = t->name == HP_ATOM_NOSCRIPT && !b->script.scripting;
      return false;
    case HP_TOKEN_END_TAG:
      if (a->guess->head && t->name != HP_ATOM_HEAD) return false;
      a->in_head = false;
      return false;
    default: return false;
  }
  a->in_head = false;
  return a->guess->head;
}

static bool has_foreign(const hp_builder *b, hp_atom name) {
  for (uint32_t i = b->stack.depth; i > 0; i--)
    if (b->stack.entries[i].ns != HPAR_NAMESPACE_HTML && b->stack.entries[i].name == name) return true;
  return false;
}

static bool start_stops(hp_worker *w, attempt *a, const hp_token *t) {
  const hp_builder *b = &w->engine.builder;
  uint8_t mode = w->outer.base_mode;
  bool foreign_base = b->stack.entries[0].ns != HPAR_NAMESPACE_HTML;
  if (t->name == HP_ATOM_META && b->stack.depth == 0 && mode == HP_IN_BODY && !foreign_base && !a->in_head &&
      !a->guess->no_meta)
    return find(a, META, t);
  int part = table_end(t->name);
  if (part >= 0 && mode == HP_IN_BODY && !foreign_base && !b->stack.last[HP_ATOM_TABLE]) a->started[part]++;
  bool ends_table_part = hp_html_tag(t->name) & HP_TAG_TABLE_PART && (hp_is_table_mode(mode) || a->in_cell);
  bool leaves_foreign = foreign_base && breaks_out(b, t);
  if ((ends_table_part || leaves_foreign) && hp_must_defer(b, t)) return find(a, BOTTOM, t);
  if (a->top && b->stack.depth == 0 && !foreign_base && mode == HP_IN_BODY) {
    uint32_t answered = hp_questions_of(b, t) & answered_by(a->top);
    w->outer.confident &= ~answered;
    if (answered) a->top = 0;
  }
  return false;
}

static bool end_stops(hp_worker *w, attempt *a, const hp_token *t) {
  const hp_builder *b = &w->engine.builder;
  bool html = b->stack.top->ns == HPAR_NAMESPACE_HTML, html_base = b->stack.entries[0].ns == HPAR_NAMESPACE_HTML;
  bool raw_text = hp_html_tag(t->name) & HP_TAG_RAW_TEXT || (t->name == HP_ATOM_NOSCRIPT && b->script.scripting);
  if (raw_text && html && !a->guess->no_raw_text_end) return find(a, RAW_TEXT_END, t);
  bool foreign = t->name == HP_ATOM_SVG || t->name == HP_ATOM_MATH;
  if (foreign && html_base && !a->guess->no_foreign_end && !has_foreign(b, t->name)) return find(a, FOREIGN_END, t);
  int part = table_end(t->name);
  if (part >= 0 && html_base && !b->stack.last[HP_ATOM_TABLE]) {
    a->ignores = a->started[part] > 0;
    if (a->ignores)
      a->started[part]--;
    else if (w->outer.base_mode == HP_IN_BODY && !a->in_cell && !a->guess->no_table_end)
      return find(a, TABLE_END, t);
  }
  if (hp_must_defer(b, t)) {
    if (part >= 0 || t->name == HP_ATOM_TABLE || t->name == HP_ATOM_CAPTION) a->in_cell = false;
    if (t->name == a->top) a->top = 0;
  }
  return false;
}

bool hp_hpar2013_stops(hp_worker *w, const hp_request *request, const hp_token *t, hp_chunk_result *chunk) {
  attempt *a = w->own;
  const hp_builder *b = &w->engine.builder;
  a->ignores = t->kind == HP_TOKEN_END_TAG && t->name == HP_ATOM_HEAD && !a->in_head;
  w->outer.confident = ~0u; /* only the last tag before the cut is prepared for */
  if (t->kind == HP_TOKEN_TEXT) look_for_end_comment(a->guess, request->text, t, chunk->limit);
  if (a->in_noscript && b->stack.depth == 1 && is_html(current(b), HP_ATOM_NOSCRIPT) && !stays_in_noscript(t)) {
    hp_hpar2013_guess guess = hp_hpar2013_guess_of(chunk);
    guess.noscript = true;
    hp_hpar2013_keep_guess(chunk, guess);
    a->in_noscript = a->in_head = false;
  }
  if (a->in_head && b->stack.depth == 0 && leaves_head(a, b, t)) return find(a, NOT_HEAD, t);
  if (t->kind == HP_TOKEN_START_TAG) return start_stops(w, a, t);
  return t->kind == HP_TOKEN_END_TAG && end_stops(w, a, t);
}

uint8_t hp_hpar2013_mode_after(const hp_worker *w, uint8_t mode, const hp_token *t) {
  const attempt *a = w->own;
  bool ignored = t->kind == HP_TOKEN_START_TAG && mode == HP_IN_BODY &&
                 (hp_html_tag(t->name) & HP_TAG_TABLE_PART || t->name == HP_ATOM_HTML);
  return ignored || a->ignores ? mode : hp_predicted_mode(mode, t);
}

static void note_raw_name(hp_chunk_result *chunk, hp_atom name) {
  hp_hpar2013_guess guess = hp_hpar2013_guess_of(chunk);
  guess.raw_name = name;
  hp_hpar2013_keep_guess(chunk, guess);
}

/* Corrects the guesses. Returns false if no other guess is left. */
static bool correct_guesses(guesses *g, const attempt *a, hp_chunk_result *chunk) {
  switch (a->found) {
    case RAW_TEXT_END:
      g->no_raw_text_end = true;
      g->from = a->found_at;
      if (g->plain) note_raw_name(chunk, a->name);
      return true;
    case FOREIGN_END:
      g->no_foreign_end = true;
      g->ns = a->name == HP_ATOM_SVG ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
      return true;
    case TABLE_END:
      g->no_table_end = true;
      g->in_cell = a->name == HP_ATOM_TD || a->name == HP_ATOM_TH;
      g->mode = g->in_cell ? HP_IN_BODY : a->name == HP_ATOM_TR ? HP_IN_ROW : HP_IN_TABLE_BODY;
      return true;
    case META: g->no_meta = g->head = true; return true;
    case NOT_HEAD: g->head = false; return true;
    default: return false;
  }
}

/* Adds a start hypothesis. Returns false if the worker gave it up. */
static bool read_chunk(hp_worker *w, const hp_request *request, const hp_plan *plan, guesses *g,
                       hp_chunk_result *chunk) {
  uint32_t segment = chunk->log.segments.count, hypothesis = chunk->hypothesis_count;
  for (bool first = g->plain;; first = false) {
    hp_hpar2013_guess guess = hp_hpar2013_guess_of(chunk);
    if (g->plain) guess.noscript = false;
    hp_hpar2013_keep_guess(chunk, guess);
    attempt now = {.guess = g,
                   .in_cell = g->in_cell,
                   .top = guess.top,
                   .in_head = g->mode == HP_IN_BODY && !g->in_cell && g->ns == HPAR_NAMESPACE_HTML};
    w->own = &now; // NOLINT: used only in this call
    const hp_start_state in_data = {.first = g->from, .mode = g->mode, .ns = g->ns};
    hp_worker_speculate(w, request, plan, first ? &chunk->start : &in_data, false, chunk);
    if (!now.found) return true;
    hp_worker_cut_log(w, &chunk->log, segment);
    chunk->hypothesis_count = hypothesis;
    if (!correct_guesses(g, &now, chunk)) return false;
    chunk->outcome.respeculations++;
    chunk->outcome.bytes_respeculated += now.found_at - chunk->cut;
  }
}

static void abort_chunk(hp_worker *w, hp_chunk_result *chunk) {
  hp_worker_cut_log(w, &chunk->log, 0);
  chunk->hypothesis_count = 0;
  chunk->hypotheses[0] = (hp_start_hypothesis){.first = HP_NO_SEGMENT};
  chunk->outcome.aborted = true;
}

void hp_hpar2013_parse(hp_worker *w, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk) {
  hp_start_state *start = &chunk->start;
  *start = hp_worker_predict(w, request, plan, chunk);
  /* The merge would dissolve the html, head and body of Initial, so the worker does not make them.
   */
  if (start->mode == HP_BEFORE_HEAD) start->mode = HP_IN_BODY;
  hp_hpar2013_keep_guess(chunk, (hp_hpar2013_guess){.top = last_tag(request->text, chunk->cut)});
  guesses plain = {.from = chunk->cut, .mode = start->mode, .ns = start->ns, .plain = true};
  if (!read_chunk(w, request, plan, &plain, chunk)) {
    abort_chunk(w, chunk);
    return;
  }
  guesses behind = {.from = plain.end_comment, .mode = HP_IN_BODY, .ns = HPAR_NAMESPACE_HTML};
  uint8_t hypothesis = (uint8_t)chunk->hypothesis_count;
  bool has_behind = behind.from && read_chunk(w, request, plan, &behind, chunk);
  hp_hpar2013_guess guess = hp_hpar2013_guess_of(chunk);
  if (has_behind) guess.end_comment = hypothesis;
  hp_hpar2013_keep_guess(chunk, guess);
  if (guess.raw_name) return;
  uint32_t end = chunk->log.segments.count;
  chunk->hypotheses[chunk->hypothesis_count++] =
      (hp_start_hypothesis){.first = HP_NO_SEGMENT, .segment = end, .end = end};
}
