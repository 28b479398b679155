#include "html/tree/construct.h"

/* True if there was a caption to close. */
static bool close_caption(hp_builder *b, const hp_token *t) {
  if (!has_in_table_scope(b, HP_CAPTION)) {
    parse_error(b, t);
    return false;
  }
  generate_implied_end_tags(b, 0);
  if (!is_html(current(b), HP_CAPTION)) parse_error(b, t);
  pop_through(b, b->last[HP_CAPTION]);
  clear_to_marker(b);
  b->mode = HP_IN_TABLE;
  return true;
}

//§ parsing-main-incaption
void in_caption(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_START_TAG && (hp_html_tag(t->name) & HP_TAG_TABLE_PART)) {
    if (close_caption(b, t)) process_token(b, t);
    return;
  }
  if (t->kind == HPAR_TOKEN_END_TAG) {
    switch (t->name) {
      case HP_CAPTION: close_caption(b, t); return;
      case HP_TABLE:
        if (close_caption(b, t)) process_token(b, t);
        return;
      case HP_BODY:
      case HP_COL:
      case HP_COLGROUP:
      case HP_HTML:
      case HP_TBODY:
      case HP_TD:
      case HP_TFOOT:
      case HP_TH:
      case HP_THEAD:
      case HP_TR: parse_error(b, t); return;
      default: break;
    }
  }
  in_body(b, t);
}
