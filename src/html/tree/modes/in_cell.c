#include "html/tree/construct.h"

static uint32_t highest_cell(const hp_builder *b) { return higher(b->last[HP_TD], b->last[HP_TH]); }

//§ close-the-cell
void close_cell(hp_builder *b) {
  generate_implied_end_tags(b, 0);
  uint32_t cell = highest_cell(b);
  if (!cell) {
    hp_outer_poison(b);
    return;
  }
  pop_through(b, cell);
  clear_to_marker(b);
  b->mode = HP_IN_ROW;
}

//§ parsing-main-intd
void in_cell(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_START_TAG) {
    if (hp_html_tag(t->name) & HP_TAG_TABLE_PART) {
      close_cell(b);
      process_token(b, t);
      return;
    }
  } else if (t->kind == HPAR_TOKEN_END_TAG) {
    switch (t->name) {
      case HP_TD:
      case HP_TH:
        if (!has_in_table_scope(b, t->name)) {
          parse_error(b, t);
          return;
        }
        generate_implied_end_tags(b, 0);
        if (!is_html(current(b), t->name)) parse_error(b, t);
        pop_through(b, b->last[t->name]);
        clear_to_marker(b);
        b->mode = HP_IN_ROW;
        return;
      case HP_BODY:
      case HP_CAPTION:
      case HP_COL:
      case HP_COLGROUP:
      case HP_HTML: parse_error(b, t); return;
      case HP_TABLE:
      case HP_TBODY:
      case HP_TFOOT:
      case HP_THEAD:
      case HP_TR:
        if (!has_in_table_scope(b, t->name)) {
          parse_error(b, t);
          return;
        }
        close_cell(b);
        process_token(b, t);
        return;
      default: break;
    }
  }
  in_body(b, t);
}
