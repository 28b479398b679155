#include "html/tree/construct.h"

//§ the-before-html-insertion-mode
void before_html(hp_builder *b, const hp_token *t) {
  hp_place document = {b->document->root, 0};
  hp_token rest = *t;
  switch (t->kind) {
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment_at(b, t, document); return;
    case HPAR_TOKEN_TEXT:
      rest = rest_of(t, leading_white(t));
      if (!rest.length) return;
      break;
    case HPAR_TOKEN_END_TAG:
      if (t->name != HP_HEAD && t->name != HP_BODY && t->name != HP_HTML && t->name != HP_BR) {
        parse_error(b, t);
        return;
      }
      break;
    default: break;
  }
  bool html = is_start(t, HP_HTML);
  hp_ref element = new_element(b, HP_HTML, HPAR_NAMESPACE_HTML, html ? t->attributes : 0, html ? t : NULL);
  insert_at(b, document, element);
  push_html(b, element, HP_HTML);
  b->mode = HP_BEFORE_HEAD;
  if (!html) process_token(b, &rest);
}
