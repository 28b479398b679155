#include "speculation/outer_prediction.h"

uint8_t hp_adopted_mode(const hp_builder *b) {
  return b->mode == HP_IN_CELL || b->mode == HP_IN_CAPTION || b->mode == HP_IN_TEXT ? HP_IN_BODY : b->mode;
}

static bool is_table_part(const hp_token *t) {
  switch (t->name) {
    case HP_TABLE:
    case HP_CAPTION:
    case HP_COL:
    case HP_COLGROUP:
    case HP_TBODY:
    case HP_THEAD:
    case HP_TFOOT:
    case HP_TR:
    case HP_TD:
    case HP_TH: return t->kind == HPAR_TOKEN_START_TAG || t->kind == HPAR_TOKEN_END_TAG;
    default: return false;
  }
}

void hp_predict_mode_after(hp_builder *b, const hp_token *t, uint8_t *mode) {
  hp_outer_context *outer = hp_outer_of(b);
  /* The merger runs a start tag on top of the worker's open elements, some of which may stay open.
   */
  if (t->kind == HPAR_TOKEN_START_TAG && b->depth && !b->last[HP_TEMPLATE]) *mode = hp_adopted_mode(b);
  outer->fostered = (outer->fostered && !is_table_part(t)) || hp_is_fostered(*mode, t);
  *mode = hp_predicted_mode(*mode, t);
}

void hp_predict_namespace_after(hp_builder *b, const hp_token *t, uint8_t *mode, uint8_t *ns) {
  *ns = hp_predicted_namespace(*ns, b, t);
  /* A head has no foreign content. */
  if (*ns != HPAR_NAMESPACE_HTML && !hp_is_table_mode(*mode)) *mode = HP_IN_BODY;
  if (t->kind == HPAR_TOKEN_END_TAG && (*ns != b->stack[0].ns || t->name == HP_SVG || t->name == HP_MATH))
    hp_outer_of(b)->outer_ns = HPAR_NAMESPACE_HTML;
}
