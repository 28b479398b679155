#include "html/tree/construct.h"

//§ the-before-head-insertion-mode
void before_head(hp_builder *b, const hp_token *t) {
  hp_token rest = *t;
  switch (t->kind) {
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_TEXT:
      rest = rest_of(t, leading_white(t));
      if (!rest.length) return;
      break;
    case HPAR_TOKEN_START_TAG:
      if (t->name == HP_HTML) {
        html_in_body(b, t);
        return;
      }
      if (t->name == HP_HEAD) {
        b->head = insert_html(b, t);
        b->mode = HP_IN_HEAD;
        return;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      if (t->name != HP_HEAD && t->name != HP_BODY && t->name != HP_HTML && t->name != HP_BR) {
        parse_error(b, t);
        return;
      }
      break;
    default: break;
  }
  b->head = insert_implied(b, HP_HEAD);
  b->mode = HP_IN_HEAD;
  process_token(b, &rest);
}
