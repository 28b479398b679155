#ifndef HP_MERGE_CHECK_H
#define HP_MERGE_CHECK_H

/* Is what a segment relied on true? Included by the merger with HP_SPECULATIVE=0: it knows. Included by the composer
 * with 1: where what the left log has open gives no answer, the default one holds for now and is asked of BASE, as if
 * the left log's worker had come here itself. */

#include "html/tree/construct.h"
#include "speculation/log.h"

static const hp_open_element *adjusted_current_node(const hp_builder *b) {
#if HP_SPECULATIVE
  return current(b);
#else
  return hp_adjusted_current_node(b);
#endif
}

/* May the merger do the first half of a prepared token here? Only if the token is one for the body here, too. */
static bool takes_first_half(const hp_builder *b) {
  bool content = b->mode == HP_IN_BODY || b->mode == HP_IN_CELL || b->mode == HP_IN_CAPTION;
  if (!content || b->ignore_lf || adjusted_current_node(b)->ns != HPAR_NAMESPACE_HTML) return false;
  return !b->fragment || b->context.ns == HPAR_NAMESPACE_HTML; /* closing a p may bring the context up */
}

static bool same_namespace(const hp_builder *b, const hp_segment *s) {
  const hp_open_element *top = adjusted_current_node(b);
  if (s->ns == HPAR_NAMESPACE_HTML) {
    if (top->ns == HPAR_NAMESPACE_HTML) return true;
    return (top->tag & HP_TAG_HTML_INTEGRATION) && !(s->questions & 1u << HPAR_ASSUME_NAMESPACE);
  }
  return top->ns == s->ns && !(top->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION)) &&
         top->name != HP_ANNOTATION_XML;
}

static bool in_table_mode(const hp_builder *b) {
  return b->mode == HP_IN_TABLE || b->mode == HP_IN_TABLE_BODY || b->mode == HP_IN_ROW;
}

/* The run's siblings become children of the current node, wherever in the run they stand. */
static bool same_mode(const hp_builder *b, const hp_segment *s) {
  const hp_open_element *top = current(b);
  if (b->ignore_lf || !(s->modes >> b->mode & 1)) return false;
  if (s->ns != HPAR_NAMESPACE_HTML) return true;
  bool neutral = s->modes & ~(1u << s->base_mode); /* none of the run is for a table's mode alone */
  switch (neutral ? HP_IN_BODY : s->base_mode) {
    case HP_IN_TABLE: return b->mode == HP_IN_TABLE && is_html(top, HP_TABLE);
    case HP_IN_TABLE_BODY:
      return b->mode == HP_IN_TABLE_BODY &&
             (is_html(top, HP_TBODY) || is_html(top, HP_THEAD) || is_html(top, HP_TFOOT));
    case HP_IN_ROW: return b->mode == HP_IN_ROW && is_html(top, HP_TR);
    default: { /* what the table's modes take as it is, they take in their own elements only */
      bool in_table = top->tag & HP_TAG_TABLE_CONTEXT && top->ns == HPAR_NAMESPACE_HTML;
      if (in_table_mode(b)) return in_table || is_html(top, HP_TEMPLATE);
      return !in_table;
    }
  }
}

static bool none_in_scope(hp_builder *b, uint8_t names) {
  return !(names & HP_SCOPE_SELECT && has_in_scope(b, HP_SELECT)) &&
         !(names & HP_SCOPE_BUTTON && has_in_scope(b, HP_BUTTON)) &&
         !(names & HP_SCOPE_NOBR && has_in_scope(b, HP_NOBR)) && !(names & HP_SCOPE_RUBY && has_in_scope(b, HP_RUBY));
}

static bool top_is_none_of(const hp_builder *b, uint8_t names) {
  const hp_open_element *top = current(b);
  if (names & HP_TOP_HEADING && top->tag & HP_TAG_HEADING) return false;
  if (names & HP_TOP_OPTGROUP && top->tag & HP_TAG_IMPLIED_END) return false;
  return !(names & HP_TOP_OPTION && top->tag & HP_TAG_IMPLIED_END && top->name != HP_OPTGROUP);
}

static bool formatting_is_clean(hp_builder *b) {
  if (!b->formatting_count) {
    hp_outer_assume(b, HPAR_ASSUME_FORMATTING_CLEAN, 0);
    return true;
  }
  const hp_formatting *last = &b->formatting[b->formatting_count - 1];
  return !last->node || node_at(b, last->node)->flags & HP_FLAG_OPEN;
}

/* Does what follows the last marker reach down to BASE's entries? */
static bool list_is_open(const hp_builder *b) {
  uint32_t i = b->formatting_count;
  while (i > 0 && b->formatting[i - 1].node) i--;
  return i == 0;
}

/* Entries of formatting element `index` after the last marker. */
static uint32_t listed(const hp_builder *b, int index) {
  uint32_t count = 0;
  for (uint32_t i = b->formatting_count; i > 0 && b->formatting[i - 1].node; i--)
    count += hp_formatting_index(b->formatting[i - 1].name) == index;
  return count;
}

static bool ark_has_room(hp_builder *b, const hp_segment *s) {
  if (!HP_SPECULATIVE && !b->formatting_count) return true;
  for (int i = 0; i < HP_FORMATTING_NAMES; i++) {
    if (!s->ark[i]) continue;
    uint32_t theirs = listed(b, i);
    if (theirs && theirs + s->ark[i] > 3) return false;
    if (HP_SPECULATIVE && list_is_open(b)) hp_outer_assume_ark(b, hp_formatting_name(i), theirs + s->ark[i]);
  }
  return true;
}

static bool none_listed(hp_builder *b, uint32_t names) {
  for (uint32_t i = b->formatting_count; i > 0 && b->formatting[i - 1].node; i--)
    if (names >> hp_formatting_index(b->formatting[i - 1].name) & 1) return false;
  for (int i = 0; HP_SPECULATIVE && list_is_open(b) && i < HP_FORMATTING_NAMES; i++)
    if (names >> i & 1) hp_outer_assume(b, HPAR_ASSUME_NO_FORMATTING, hp_formatting_name(i));
  return true;
}

static bool no_li(hp_builder *b) {
  uint32_t barrier = current(b)->li_barrier;
  if (!barrier) hp_outer_assume(b, HPAR_ASSUME_NO_LI, HP_LI);
  return !is_html(&b->stack[barrier], HP_LI);
}

static bool no_dd_dt(hp_builder *b) {
  uint32_t barrier = current(b)->li_barrier;
  if (!barrier) hp_outer_assume(b, HPAR_ASSUME_NO_DD_DT, HP_DD);
  return !is_html(&b->stack[barrier], HP_DD) && !is_html(&b->stack[barrier], HP_DT);
}

static bool form_is_null(hp_builder *b) {
  if (!b->form_known) hp_outer_assume(b, HPAR_ASSUME_FORM_NULL, HP_FORM);
  return !b->form;
}

static bool no_selectedcontent(hp_builder *b) {
  hp_outer_assume(b, HPAR_ASSUME_NO_SELECTEDCONTENT, HP_SELECTEDCONTENT);
  return !b->selectedcontent_seen;
}

/* No token stands before the one that ends it, and that one is exact wherever it is run. */
static bool is_empty(const hp_segment *s) { return !s->tokens && !s->questions; }

/* The first of the segment's assumptions that does not hold here; HPAR_ASSUMPTIONS: all do. */
static hpar_assumption first_wrong(hp_builder *b, const hp_segment *s) {
  uint32_t questions = s->questions;
  if (is_empty(s)) return HPAR_ASSUMPTIONS;
  if (!same_namespace(b, s)) return HPAR_ASSUME_NAMESPACE;
  if (!same_mode(b, s)) return HPAR_ASSUME_MODE;
#define UNLESS(question, holds) \
  if (questions & 1u << HPAR_ASSUME_##question && !(holds)) return HPAR_ASSUME_##question
  UNLESS(NO_P_IN_BUTTON_SCOPE, !has_p_in_button_scope(b));
  UNLESS(NOT_IN_SCOPE, none_in_scope(b, s->in_scope));
  UNLESS(NO_LI, no_li(b));
  UNLESS(NO_DD_DT, no_dd_dt(b));
  UNLESS(FORMATTING_CLEAN, in_table_mode(b) || formatting_is_clean(b)); /* blanks there reconstruct nothing */
  UNLESS(NOAHS_ARK, ark_has_room(b, s));
  UNLESS(NO_FORMATTING, none_listed(b, s->formatting_names));
  UNLESS(NO_TEMPLATE, !has_template(b));
  UNLESS(FORM_NULL, form_is_null(b));
  UNLESS(NO_SELECTEDCONTENT, no_selectedcontent(b));
  UNLESS(TOP_NOT_IMPLIED, top_is_none_of(b, s->top));
#undef UNLESS
  return HPAR_ASSUMPTIONS;
}

#endif
