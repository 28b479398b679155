/* The audit counts the decisions of the scheme that would have changed the tree, and that the
 * scheme itself does not examine again. It examines each decision on the true state, as if all
 * earlier ones were right. A rejected segment counts by its first wrong assumption. */

#include "base/bytes.h"
#include "study/hpar2013.h"
#include "study/judge.h"

#include "speculation/worker.h"
#include "tree/stack.h"

#include <hpar/study.h>

static void note_error(hp_judgement *j, hpar_undetected_error kind) { j->undetected |= 1u << kind; }

static bool is_table_part(hp_atom name) { return hp_html_tag(name) & HP_TAG_TABLE_PART; }
static bool before_body(uint8_t mode) { return mode <= HP_AFTER_HEAD && mode != HP_IN_HEAD_NOSCRIPT; }

bool hp_hpar2013_at_chunk_boundary(hp_merger *m, const hp_chunk_result *chunk, int hypothesis) {
  hp_judgement *j = m->judgement;
  const hp_hpar2013_guess guess = hp_hpar2013_guess_of(chunk);
  uint32_t end_comment = guess.end_comment;
  if (chunk->outcome.aborted) return false;
  switch (j->boundary) {
    case HP_BOUNDARY_DATA:
      if (guess.raw_name) return false;
      if (guess.noscript && !before_body(m->engine->builder.mode)) note_error(j, HPAR_UNDETECTED_MODE);
      return true;
    case HP_BOUNDARY_COMMENT:
      if (end_comment && hypothesis != (int)end_comment) note_error(j, HPAR_UNDETECTED_START_STATE);
      return end_comment || hypothesis >= 0;
    case HP_BOUNDARY_RAW_TEXT:
      if (guess.raw_name != j->raw_name) return !guess.raw_name && hypothesis >= 0;
      if (hypothesis != 0) note_error(j, HPAR_UNDETECTED_START_STATE);
      return true;
    case HP_BOUNDARY_TEXT: note_error(j, HPAR_UNDETECTED_TEXT); return true;
    case HP_BOUNDARY_MARKUP: note_error(j, HPAR_UNDETECTED_START_STATE); return true;
  }
  return true;
}

/* Returns whether table modes keep all nodes of the run in the table. */
static bool stays_in_table(const hp_builder *b, hp_ref anchor) {
  for (hp_ref ref = anchor ? node_at(b, anchor)->first : 0; ref; ref = node_at(b, ref)->next) {
    const hp_node *node = node_at(b, ref);
    if (node->kind == HPAR_NODE_TEXT) {
      hpar_string text = text_of(b, node);
      for (size_t i = 0; i < text.length; i++)
        if (!hp_ascii_is_white(text.bytes[i])) return false;
    } else if (node->kind == HPAR_NODE_ELEMENT && node->name != HP_ATOM_SCRIPT && node->name != HP_ATOM_STYLE &&
               node->name != HP_ATOM_TEMPLATE) {
      return false;
    }
  }
  return true;
}

static void audit_mode(const hp_builder *b, const hp_chunk_result *chunk, const hp_segment *s, hp_judgement *j) {
  const hp_token *t = s->ends == HP_ENDS_DEFER ? &chunk->log.tokens.items[s->token] : NULL;
  bool part = t && t->kind == HP_TOKEN_START_TAG && is_table_part(t->name);
  bool in_body = s->assumes.base_mode == HP_IN_BODY;
  if (in_body && hp_is_table_mode(b->mode)) {
    if (!stays_in_table(b, s->anchor)) note_error(j, HPAR_UNDETECTED_FOSTER);
    if (part) note_error(j, HPAR_UNDETECTED_MODE);
  } else if (in_body && (before_body(b->mode) || b->mode == HP_AFTER_BODY || b->mode == HP_AFTER_AFTER_BODY ||
                         b->mode == HP_IN_TEMPLATE)) {
    if (part && b->mode == HP_IN_TEMPLATE) note_error(j, HPAR_UNDETECTED_MODE);
  } else if (s->tokens || part) {
    note_error(j, HPAR_UNDETECTED_MODE);
  }
}

/* Returns whether the last tag before the cut tells the scheme that the assumption is wrong. */
static bool scheme_corrects(const hp_builder *b, const hp_chunk_result *chunk, const hp_segment *s,
                            hp_assumption wrong) {
  hp_atom top = hp_hpar2013_guess_of(chunk).top;
  bool first = false;
  for (uint32_t i = 0; i < chunk->hypothesis_count; i++)
    first |= s == &chunk->log.segments.items[chunk->hypotheses[i].segment];
  if (!first || !top || !is_html(current(b), top)) return false;
  switch (wrong) {
    case HP_ASSUME_NO_P_IN_BUTTON_SCOPE: return top == HP_ATOM_P;
    case HP_ASSUME_NO_LI: return top == HP_ATOM_LI;
    case HP_ASSUME_NO_DD_DT: return top == HP_ATOM_DD || top == HP_ATOM_DT;
    case HP_ASSUME_NOT_IN_SCOPE: return top == HP_ATOM_SELECT || top == HP_ATOM_BUTTON || top == HP_ATOM_NOBR;
    case HP_ASSUME_TOP_NOT_IMPLIED: return true;
    case HP_ASSUME_NO_FORMATTING: return hp_html_tag(top) & HP_TAG_FORMATTING;
    default: return false;
  }
}

void hp_hpar2013_at_wrong_assumption(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s,
                                     hp_assumption wrong) {
  hp_judgement *j = m->judgement;
  const hp_builder *b = &m->engine->builder;
  j->after_end_tag = false;
  if (wrong == HP_ASSUME_MODE) {
    audit_mode(b, chunk, s, j);
    return;
  }
  /* A wrong position follows from an earlier decision. */
  if (wrong == HP_ASSUME_START_STATE || !s->tokens || scheme_corrects(b, chunk, s, wrong)) return;
  switch (wrong) {
    case HP_ASSUME_NO_P_IN_BUTTON_SCOPE:
    case HP_ASSUME_NOT_IN_SCOPE:
    case HP_ASSUME_NO_LI:
    case HP_ASSUME_NO_DD_DT:
    case HP_ASSUME_TOP_NOT_IMPLIED: note_error(j, HPAR_UNDETECTED_IMPLIED_END); return;
    case HP_ASSUME_FORMATTING_CLEAN:
    case HP_ASSUME_NOAHS_ARK:
    case HP_ASSUME_NO_FORMATTING: note_error(j, HPAR_UNDETECTED_FORMATTING); return;
    case HP_ASSUME_NAMESPACE: note_error(j, HPAR_UNDETECTED_NAMESPACE); return;
    default: note_error(j, HPAR_UNDETECTED_OTHER); return;
  }
}

static uint32_t nearest(const hp_builder *b, hp_atom name) {
  uint32_t i = b->stack.depth;
  while (i > 0 && !named(&b->stack.entries[i], name)) i--;
  return i;
}

/* Stores the stack that the scheme expects, with the segment's open elements. */
void hp_hpar2013_before_splice(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s) {
  hp_judgement *j = m->judgement;
  hp_builder *b = &m->engine->builder;
  hp_stack_close_tombstones(b);
  if (s->anchor && j->after_end_tag) {
    const hp_node *into = node_at(b, hp_exact_appropriate_place(b).parent),
                  *first = node_at(b, node_at(b, s->anchor)->first);
    if (first->kind == HPAR_NODE_TEXT && into->last && node_at(b, into->last)->kind == HPAR_NODE_TEXT)
      note_error(j, HPAR_UNDETECTED_TEXT);
  }
  if (s->ends != HP_ENDS_DEFER && s->ends != HP_ENDS_SPLIT) return;
  const hp_token *t = &chunk->log.tokens.items[s->token];
  bool prepares = s->ends == HP_ENDS_SPLIT;
  hp_atom closed = prepares ? hp_hpar2013_guess_of(chunk).top : t->kind == HP_TOKEN_END_TAG ? t->name : 0;
  uint32_t found = closed ? nearest(b, closed) : 0;
  uint32_t depth = found ? found - 1 : b->stack.depth;
  j->closes = !found ? HP_CLOSES_NOTHING : found == b->stack.depth ? HP_CLOSES_CURRENT : HP_CLOSES_MORE;
  j->outer_depth = depth;
  j->outer_top = b->stack.entries[depth].node;
  j->depth = depth + s->open_elements.count;
  j->top = s->open_elements.count ? chunk->log.open.items[s->open_elements.first + s->open_elements.count - 1].node
                                  : b->stack.entries[depth].node;
}

static bool as_expected(const hp_builder *b, const hp_judgement *j) {
  return b->stack.depth == j->depth && b->stack.top->node == j->top;
}

static void audit_end_tag(const hp_builder *b, const hp_token *t, hp_judgement *j) {
  if (t->name == HP_ATOM_HTML || t->name == HP_ATOM_BODY) return;
  bool inserts = t->name == HP_ATOM_BR || (t->name == HP_ATOM_P && j->closes == HP_CLOSES_NOTHING);
  if (as_expected(b, j) && !inserts) return;
  note_error(j, hp_html_tag(t->name) & HP_TAG_FORMATTING ? HPAR_UNDETECTED_FORMATTING : HPAR_UNDETECTED_END_TAG);
}

static void audit_start_tag(const hp_builder *b, const hp_segment *s, const hp_token *t, hp_judgement *j) {
  switch (t->name) {
    case HP_ANY(HTML, HEAD, BODY, FRAMESET, META, SELECTEDCONTENT): return;
    default: break;
  }
  if (is_table_part(t->name)) { /* ignored */
    if (s->assumes.base_mode == HP_IN_BODY && !as_expected(b, j)) note_error(j, HPAR_UNDETECTED_MODE);
    return;
  }
  const hp_node *parent =
      j->depth <= b->stack.depth && b->stack.entries[j->depth].node == j->top ? node_at(b, j->top) : NULL;
  if (hp_is_table_mode(s->assumes.base_mode)) {
    const hp_node *last = parent && parent->last ? node_at(b, parent->last) : NULL;
    bool is_inserted = last && last->kind == HPAR_NODE_ELEMENT && last->name == t->name;
    if (!is_inserted) note_error(j, HPAR_UNDETECTED_FOSTER);
  } else if (!parent) {
    /* Such a tag leaves foreign content of the chunk itself. The scheme does the same. */
    bool closes_own = j->outer_depth < b->stack.depth && b->stack.entries[j->outer_depth].node == j->outer_top;
    if (!closes_own) note_error(j, HPAR_UNDETECTED_IMPLIED_END);
  } else if (b->stack.depth > j->depth + 1) {
    note_error(j, HPAR_UNDETECTED_FORMATTING);
  }
}

void hp_hpar2013_after_entry(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s) {
  hp_judgement *j = m->judgement;
  hp_builder *b = &m->engine->builder;
  hp_stack_close_tombstones(b);
  if (s->ends == HP_ENDS_SPLIT) {
    if (as_expected(b, j)) return;
    note_error(j, j->closes != HP_CLOSES_CURRENT ? HPAR_UNDETECTED_TOP
                  : b->stack.depth > j->depth    ? HPAR_UNDETECTED_FORMATTING
                                                 : HPAR_UNDETECTED_IMPLIED_END);
  }
  j->after_end_tag = false;
  if (s->ends != HP_ENDS_DEFER) return;
  const hp_token *t = &chunk->log.tokens.items[s->token];
  j->after_end_tag = t->kind == HP_TOKEN_END_TAG;
  switch (t->kind) {
    case HP_TOKEN_END_TAG: audit_end_tag(b, t, j); return;
    case HP_TOKEN_START_TAG:
      if (s->assumes.base_mode == HP_IN_BODY || hp_is_table_mode(s->assumes.base_mode)) audit_start_tag(b, s, t, j);
      return;
    case HP_TOKEN_TEXT:
      if (hp_is_table_mode(s->assumes.base_mode) && !(t->flags & HP_TEXT_WHITE)) note_error(j, HPAR_UNDETECTED_FOSTER);
      return;
    default: return;
  }
}
