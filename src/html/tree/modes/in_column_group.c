#include "html/tree/construct.h"

//§ parsing-main-incolgroup
void in_column_group(hp_builder *b, const hp_token *t) {
  hp_token rest = *t;
  switch (t->kind) {
    case HPAR_TOKEN_TEXT: {
      if (!is_html(current(b), HP_COLGROUP) && !HP_AT_OUTER(b)) { /* each other character is ignored by itself */
        insert_white(b, t, insert_text);
        return;
      }
      uint32_t white = leading_white(t);
      if (white) insert_text(b, t->data, white);
      if (white == t->length) return;
      rest = rest_of(t, white);
      break;
    }
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_HTML: html_in_body(b, t); return;
        case HP_COL: insert_void(b, t); return;
        case HP_TEMPLATE: in_head(b, t); return;
        default: break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      switch (t->name) {
        case HP_COLGROUP:
          if (!is_html(current(b), HP_COLGROUP)) {
            parse_error(b, t);
            if (HP_AT_OUTER(b)) hp_outer_poison(b);
            return;
          }
          pop(b);
          b->mode = HP_IN_TABLE;
          return;
        case HP_COL: parse_error(b, t); return;
        case HP_TEMPLATE: in_head(b, t); return;
        default: break;
      }
      break;
    default: in_body(b, t); return;
  }
  if (!is_html(current(b), HP_COLGROUP)) {
    parse_error(b, t);
    if (HP_AT_OUTER(b)) hp_outer_poison(b);
    return;
  }
  pop(b);
  b->mode = HP_IN_TABLE;
  process_token(b, &rest);
}
