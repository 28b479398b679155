/* The outer context of the speculative builder. It logs every read. Every write poisons the
 * segment. */

#include "speculation/outer_context.h"

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 1

#include "speculation/dispositions.h"
#include "tree/stack.h"

#include "tree/context.inc"

static void poison(hp_builder *b) {
  hp_outer_give_up(hp_outer_of(b));
  hp_speculative_of(b)->plain_limit = NULL;
}

static uint8_t mode(const hp_builder *b) { return hp_outer_of(b)->base_mode; }

static void log_assumption(hp_builder *b, hp_assumption question, hp_atom name) {
  hp_segment *s = &hp_outer_of(b)->now;
  hp_speculative_of(b)->assumed |= 1u << question;
  switch (question) {
    case HP_ASSUME_NOT_IN_SCOPE:
      for (int i = 0; i < HP_SCOPED_NAMES; i++) {
        if (hp_scoped_name(i) != name) continue;
        s->assumes.in_scope |= (uint8_t)(1u << i);
        return;
      }
      poison(b);
      return;
    case HP_ASSUME_TOP_NOT_IMPLIED:
      s->assumes.top |= name == HP_ATOM_H1 ? HP_TOP_HEADING : name == HP_ATOM_OPTION ? HP_TOP_OPTION : HP_TOP_OPTGROUP;
      return;
    case HP_ASSUME_NO_FORMATTING: s->assumes.formatting_names |= (uint16_t)(1u << hp_formatting_index(name)); return;
    default: return;
  }
}

static void log_ark(hp_builder *b, hp_atom name, uint32_t ours) {
  hp_segment *s = &hp_outer_of(b)->now;
  int index = hp_formatting_index(name);
  if (ours > UINT8_MAX) ours = UINT8_MAX;
  hp_speculative_of(b)->ark_assumed[index] = (uint8_t)ours;
  if (s->assumes.formatting_names >> index & 1) return; /* there is none, as assumed */
  hp_speculative_of(b)->assumed |= 1u << HP_ASSUME_NOAHS_ARK;
  if (s->assumes.ark[index] < ours) s->assumes.ark[index] = (uint8_t)ours;
}

static bool goes_on(hp_builder *b, const hp_token *t) {
  const hp_outer_context *outer = hp_outer_of(b);
  if (b->mode != outer->base_mode || outer->poisoned || t->end - outer->now.start >= outer->checkpoint_bytes)
    return false;
  b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
  return true;
}

static bool takes(hp_builder *b, const hp_token *t) {
  hp_outer_context *outer = hp_outer_of(b);
  outer->disposition = hp_disposition_of(b, t);
  if (outer->disposition != HP_DISPOSITION_LOCAL) {
    outer->token = *t;
    return true;
  }
  if (b->stack.depth == 0) {
    outer->now.assumes.modes &= hp_modes_for(b, t);
    if (t->kind == HP_TOKEN_TEXT && b->mode != HP_IN_BODY) hp_outer_assume(b, HP_ASSUME_FORMATTING_CLEAN, 0);
  } else if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML && b->mode == outer->base_mode)
    outer->now.assumes.modes &= hp_modes_inside_foreign(b, t);
  return false;
}

void hp_outer_open(hp_outer_context *outer, hp_builder *b) {
  static const hp_outer_owner owner = {log_assumption, log_ark, poison, mode, takes, goes_on};
  *hp_speculative_of(b) = (hp_speculative_state){.owner = &owner, .outer = outer};
}

void hp_outer_begin(hp_outer_context *outer, uint32_t start, uint8_t mode, uint8_t ns) {
  outer->now = (hp_segment){
      .start = start, .end = start, .assumes = {.modes = ~0u, .base_mode = mode, .ns = ns}, .ark_known = true};
  outer->base_mode = mode;
  outer->poisoned = HP_HAZARD_NONE;
}

void hp_outer_check_mode(hp_outer_context *outer, const hp_builder *b) {
  if (b->stack.depth == 0 && b->mode != outer->base_mode && b->mode != HP_IN_TEXT) hp_outer_give_up(outer);
}

/*** prediction ***/

uint8_t hp_predicted_mode(uint8_t mode, const hp_token *t) {
  switch (t->kind) {
    case HP_TOKEN_START_TAG:
      switch (t->name) {
        case HP_ATOM_TR: return HP_IN_ROW;
        case HP_ANY(TD, TH, CAPTION): return HP_IN_BODY;
        case HP_ANY(TBODY, THEAD, TFOOT): return HP_IN_TABLE_BODY;
        case HP_ATOM_TABLE: return HP_IN_TABLE;
        case HP_ANY(COLGROUP, COL): return HP_IN_COLUMN_GROUP;
        case HP_ATOM_HTML: return mode;
        case HP_ANY(HEAD, BODY): return HP_IN_BODY;
        case HP_ATOM_FRAMESET: return HP_IN_FRAMESET;
        case HP_ATOM_NOSCRIPT:
          if (mode == HP_IN_HEAD) return HP_IN_HEAD_NOSCRIPT;
          break;
        default:
          if (hp_is_head_tag(t->name)) return mode == HP_BEFORE_HEAD ? HP_IN_BODY : mode;
          break;
      }
      break;
    case HP_TOKEN_END_TAG:
      switch (t->name) {
        case HP_ANY(TD, TH): return HP_IN_ROW;
        case HP_ATOM_TR: return HP_IN_TABLE_BODY;
        case HP_ANY(TBODY, THEAD, TFOOT, CAPTION, COLGROUP): return HP_IN_TABLE;
        case HP_ANY(TABLE, TEMPLATE): return HP_IN_BODY;
        case HP_ATOM_HEAD: return HP_AFTER_HEAD;
        case HP_ATOM_NOSCRIPT: return mode == HP_IN_HEAD_NOSCRIPT ? HP_IN_HEAD : mode;
        case HP_ANY(BODY, HTML): return HP_AFTER_BODY;
        default: return mode;
      }
    case HP_TOKEN_TEXT:
      if (t->flags & HP_TEXT_WHITE) return mode;
      break;
    default: return mode;
  }
  /* Other content begins or continues the body. */
  switch (mode) {
    case HP_BEFORE_HEAD:
    case HP_IN_HEAD:
    case HP_IN_HEAD_NOSCRIPT:
    case HP_AFTER_HEAD:
    case HP_AFTER_BODY: return HP_IN_BODY;
    case HP_IN_COLUMN_GROUP: return HP_IN_TABLE;
    default: return mode;
  }
}

static bool is_text_integration_point(hp_atom name) {
  return name == HP_ATOM_MI || name == HP_ATOM_MO || name == HP_ATOM_MN || name == HP_ATOM_MS || name == HP_ATOM_MTEXT;
}

static bool is_table_part(hp_atom name) { return name == HP_ATOM_TABLE || hp_html_tag(name) & HP_TAG_TABLE_PART; }

/* Returns true if the tag, in a mode of a table, leaves an element as current node that is not part
 * of the table. */
static bool is_fostered(uint8_t mode, const hp_token *t) {
  if (!hp_is_table_mode(mode) || t->kind != HP_TOKEN_START_TAG || is_table_part(t->name)) return false;
  switch (t->name) {
    case HP_ANY(HTML, HEAD, BODY, FORM, INPUT, BR, IMG, HR, SCRIPT): return false;
    default: return true;
  }
}

static uint8_t predicted_namespace(uint8_t ns, const hp_builder *b, const hp_token *t) {
  if (t->kind == HP_TOKEN_END_TAG) {
    if (t->name == HP_ATOM_SVG || t->name == HP_ATOM_MATH)
      return ns == HPAR_NAMESPACE_HTML ? ns : hp_outer_of(b)->outer_ns;
    if (ns == HPAR_NAMESPACE_HTML && is_text_integration_point(t->name)) return hp_outer_of(b)->outer_ns;
    if (t->name == HP_ATOM_FOREIGNOBJECT || (t->name == HP_ATOM_DESC && ns == HPAR_NAMESPACE_HTML))
      return HPAR_NAMESPACE_SVG;
    if (ns == HPAR_NAMESPACE_HTML && b->stack.depth && current(b)->ns != HPAR_NAMESPACE_HTML)
      return HPAR_NAMESPACE_HTML;
    return t->name == HP_ATOM_P || t->name == HP_ATOM_BR ? HPAR_NAMESPACE_HTML : ns;
  }
  if (t->kind == HP_TOKEN_START_TAG) {
    if (t->name == HP_ATOM_SVG) return t->flags & HP_TOKEN_SELF_CLOSING ? ns : HPAR_NAMESPACE_SVG;
    if (t->name == HP_ATOM_MATH) return t->flags & HP_TOKEN_SELF_CLOSING ? ns : HPAR_NAMESPACE_MATHML;
    if (breaks_out(b, t)) return HPAR_NAMESPACE_HTML;
  }
  return ns;
}

uint8_t hp_adopted_mode(const hp_builder *b) {
  return b->mode == HP_IN_CELL || b->mode == HP_IN_CAPTION || b->mode == HP_IN_TEXT ? HP_IN_BODY : b->mode;
}

void hp_predict_mode_after(hp_builder *b, const hp_token *t, uint8_t *mode) {
  hp_outer_context *outer = hp_outer_of(b);
  /* The merger runs a start tag on top of the worker's open elements, some of which may stay
   * open. */
  if (t->kind == HP_TOKEN_START_TAG && b->stack.depth && !b->stack.last[HP_ATOM_TEMPLATE]) *mode = hp_adopted_mode(b);
  bool tag = t->kind == HP_TOKEN_START_TAG || t->kind == HP_TOKEN_END_TAG;
  outer->fostered = (outer->fostered && !(tag && is_table_part(t->name))) || is_fostered(*mode, t);
  *mode = hp_predicted_mode(*mode, t);
}

void hp_predict_namespace_after(hp_builder *b, const hp_token *t, uint8_t *mode, uint8_t *ns) {
  *ns = predicted_namespace(*ns, b, t);
  /* A head has no foreign content. */
  if (*ns != HPAR_NAMESPACE_HTML && !hp_is_table_mode(*mode)) *mode = HP_IN_BODY;
  if (t->kind == HP_TOKEN_END_TAG &&
      (*ns != b->stack.entries[0].ns || t->name == HP_ATOM_SVG || t->name == HP_ATOM_MATH))
    hp_outer_of(b)->outer_ns = HPAR_NAMESPACE_HTML;
}
