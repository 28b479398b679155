#include "html/tree/construct.h"

static void clear_to_row(hp_builder *b) {
  while (!is_html(current(b), HP_TR) && !is_html(current(b), HP_TEMPLATE) && !is_html(current(b), HP_HTML) &&
         !HP_AT_OUTER(b))
    pop(b);
}

/* True if there was a row to close. */
static bool close_row(hp_builder *b, const hp_token *t) {
  if (!has_in_table_scope(b, HP_TR)) {
    parse_error(b, t);
    return false;
  }
  clear_to_row(b);
  pop(b);
  b->mode = HP_IN_TABLE_BODY;
  return true;
}

#if !HP_SPECULATIVE
void hp_exact_prepare_row(hp_builder *b, const hp_token *t) {
  if (b->mode == HP_IN_TABLE) begin_table_body(b);
  if (b->mode == HP_IN_CELL && (has_in_table_scope(b, HP_TD) || has_in_table_scope(b, HP_TH))) close_cell(b);
  if (b->mode == HP_IN_ROW && has_in_table_scope(b, HP_TR)) close_row(b, t);
}
#endif

//§ parsing-main-intr
void in_row(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_START_TAG) {
    switch (t->name) {
      case HP_TH:
      case HP_TD:
        clear_to_row(b);
        insert_html(b, t);
        b->mode = HP_IN_CELL;
        push_marker(b);
        return;
      case HP_CAPTION:
      case HP_COL:
      case HP_COLGROUP:
      case HP_TBODY:
      case HP_TFOOT:
      case HP_THEAD:
      case HP_TR:
        if (close_row(b, t)) process_token(b, t);
        return;
      default: break;
    }
  } else if (t->kind == HPAR_TOKEN_END_TAG) {
    switch (t->name) {
      case HP_TR: close_row(b, t); return;
      case HP_TABLE:
        if (close_row(b, t)) process_token(b, t);
        return;
      case HP_TBODY:
      case HP_TFOOT:
      case HP_THEAD:
        if (!has_in_table_scope(b, t->name)) {
          parse_error(b, t);
          return;
        }
        if (!has_in_table_scope(b, HP_TR)) return;
        close_row(b, t);
        process_token(b, t);
        return;
      case HP_BODY:
      case HP_CAPTION:
      case HP_COL:
      case HP_COLGROUP:
      case HP_HTML:
      case HP_TD:
      case HP_TH: parse_error(b, t); return;
      default: break;
    }
  }
  in_table(b, t);
}
