/* Predictions of the outer context after a deferred token. A wrong one costs time only, because the
 * merger checks it. */

#include "speculation/dispositions.h"

#include "html/tree/foreign.h"

uint8_t hp_predicted_mode(uint8_t mode, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_TR: return HP_IN_ROW;
        case HP_TD:
        case HP_TH:
        case HP_CAPTION: return HP_IN_BODY;
        case HP_TBODY:
        case HP_THEAD:
        case HP_TFOOT: return HP_IN_TABLE_BODY;
        case HP_TABLE: return HP_IN_TABLE;
        case HP_COLGROUP:
        case HP_COL: return HP_IN_COLUMN_GROUP;
        case HP_HTML: return mode;
        case HP_HEAD:
        case HP_BODY: return HP_IN_BODY;
        case HP_FRAMESET: return HP_IN_FRAMESET;
        case HP_NOSCRIPT:
          if (mode == HP_IN_HEAD) return HP_IN_HEAD_NOSCRIPT;
          break;
        default:
          if (hp_is_head_tag(t->name)) return mode == HP_BEFORE_HEAD ? HP_IN_BODY : mode;
          break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      switch (t->name) {
        case HP_TD:
        case HP_TH: return HP_IN_ROW;
        case HP_TR: return HP_IN_TABLE_BODY;
        case HP_TBODY:
        case HP_THEAD:
        case HP_TFOOT:
        case HP_CAPTION:
        case HP_COLGROUP: return HP_IN_TABLE;
        case HP_TABLE:
        case HP_TEMPLATE: return HP_IN_BODY;
        case HP_HEAD: return HP_AFTER_HEAD;
        case HP_NOSCRIPT: return mode == HP_IN_HEAD_NOSCRIPT ? HP_IN_HEAD : mode;
        case HP_BODY:
        case HP_HTML: return HP_AFTER_BODY;
        default: return mode;
      }
    case HPAR_TOKEN_TEXT:
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
  return name == HP_MI || name == HP_MO || name == HP_MN || name == HP_MS || name == HP_MTEXT;
}

bool hp_is_fostered(uint8_t mode, const hp_token *t) {
  if (!hp_is_table_mode(mode) || t->kind != HPAR_TOKEN_START_TAG) return false;
  switch (t->name) {
    case HP_CAPTION:
    case HP_COL:
    case HP_COLGROUP:
    case HP_TBODY:
    case HP_THEAD:
    case HP_TFOOT:
    case HP_TR:
    case HP_TD:
    case HP_TH:
    case HP_TABLE:
    case HP_HTML:
    case HP_HEAD:
    case HP_BODY:
    case HP_FORM:
    case HP_INPUT:
    case HP_BR:
    case HP_IMG:
    case HP_HR:
    case HP_SCRIPT: return false;
    default: return true;
  }
}

uint8_t hp_predicted_namespace(uint8_t ns, const hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_END_TAG) {
    if (t->name == HP_SVG || t->name == HP_MATH) return ns == HPAR_NAMESPACE_HTML ? ns : hp_outer_of(b)->outer_ns;
    if (ns == HPAR_NAMESPACE_HTML && is_text_integration_point(t->name)) return hp_outer_of(b)->outer_ns;
    if (t->name == HP_FOREIGNOBJECT || (t->name == HP_DESC && ns == HPAR_NAMESPACE_HTML)) return HPAR_NAMESPACE_SVG;
    if (ns == HPAR_NAMESPACE_HTML && b->depth && current(b)->ns != HPAR_NAMESPACE_HTML) return HPAR_NAMESPACE_HTML;
    return t->name == HP_P || t->name == HP_BR ? HPAR_NAMESPACE_HTML : ns;
  }
  if (t->kind == HPAR_TOKEN_START_TAG) {
    if (t->name == HP_SVG) return t->flags & HP_TOKEN_SELF_CLOSING ? ns : HPAR_NAMESPACE_SVG;
    if (t->name == HP_MATH) return t->flags & HP_TOKEN_SELF_CLOSING ? ns : HPAR_NAMESPACE_MATHML;
    if (breaks_out(b, t)) return HPAR_NAMESPACE_HTML;
  }
  return ns;
}
