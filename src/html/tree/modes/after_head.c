#include "html/tree/construct.h"

//§ the-after-head-insertion-mode
void after_head(hp_builder *b, const hp_token *t) {
  hp_token rest = *t;
  switch (t->kind) {
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_TEXT: {
      uint32_t white = leading_white(t);
      if (white) insert_text(b, t->data, white);
      if (white == t->length) return;
      rest = rest_of(t, white);
      break;
    }
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_HTML: html_in_body(b, t); return;
        case HP_BODY:
          insert_html(b, t);
          b->frameset_ok = false;
          b->mode = HP_IN_BODY;
          return;
        case HP_FRAMESET:
          insert_html(b, t);
          b->mode = HP_IN_FRAMESET;
          return;
        case HP_ANY_METADATA: {
          parse_error(b, t);
          hp_ref head = b->head;
          push_html(b, head, HP_HEAD);
          in_head(b, t);
          uint32_t open = b->last[HP_HEAD];
          while (b->stack[open].node != head) open = b->stack[open].previous_same;
          remove_from_stack(b, open);
          return;
        }
        case HP_HEAD: parse_error(b, t); return;
        default: break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      if (t->name == HP_TEMPLATE) {
        in_head(b, t);
        return;
      }
      if (t->name != HP_BODY && t->name != HP_HTML && t->name != HP_BR) {
        parse_error(b, t);
        return;
      }
      break;
    default: break;
  }
  insert_implied(b, HP_BODY);
  b->mode = HP_IN_BODY;
  process_token(b, &rest);
}
