#include "html/tree/construct.h"

//§ parsing-main-inheadnoscript
void in_head_noscript(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: in_head(b, t); return;
    case HPAR_TOKEN_TEXT: {
      uint32_t white = leading_white(t);
      if (white) insert_text(b, t->data, white);
      if (white == t->length) return;
      hp_token rest = rest_of(t, white);
      parse_error(b, t);
      pop(b);
      b->mode = HP_IN_HEAD;
      process_token(b, &rest);
      return;
    }
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_HTML: html_in_body(b, t); return;
        case HP_BASEFONT:
        case HP_BGSOUND:
        case HP_LINK:
        case HP_META:
        case HP_NOFRAMES:
        case HP_STYLE: in_head(b, t); return;
        case HP_HEAD:
        case HP_NOSCRIPT: parse_error(b, t); return;
        default: break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      if (t->name == HP_NOSCRIPT) {
        pop(b);
        b->mode = HP_IN_HEAD;
        return;
      }
      if (t->name != HP_BR) {
        parse_error(b, t);
        return;
      }
      break;
    default: break;
  }
  parse_error(b, t);
  pop(b);
  b->mode = HP_IN_HEAD;
  process_token(b, t);
}
