#include "html/tree/construct.h"

//§ parsing-main-incdata
void in_text(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_TEXT) {
    insert_text(b, t->data, t->length);
    return;
  }
  b->mode = b->original_mode;
  if (t->kind == HPAR_TOKEN_EOF) {
    parse_error(b, t);
    pop(b);
    process_token(b, t);
    return;
  }
  pop(b);
}
