#include "html/tree/construct.h"

static void by_body_rules(hp_builder *b, const char *data, uint32_t length) {
  reconstruct_formatting(b);
  insert_text(b, data, length);
}

//§ parsing-main-inframeset
void in_frameset(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_TEXT: insert_white(b, t, insert_text); return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_HTML: html_in_body(b, t); return;
        case HP_FRAMESET: insert_html(b, t); return;
        case HP_FRAME: insert_void(b, t); return;
        case HP_NOFRAMES: in_head(b, t); return;
        default: break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      if (t->name != HP_FRAMESET || b->depth <= 1) break;
      pop(b);
      if (!b->fragment && !is_html(current(b), HP_FRAMESET)) b->mode = HP_AFTER_FRAMESET;
      return;
    case HPAR_TOKEN_EOF: stop_parsing(b); return;
    default: break;
  }
  parse_error(b, t);
}

//§ parsing-main-afterframeset
void after_frameset(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_TEXT)
    insert_white(b, t, insert_text);
  else if (is_comment(t))
    insert_comment(b, t);
  else if (is_start(t, HP_HTML))
    html_in_body(b, t);
  else if (is_end(t, HP_HTML))
    b->mode = HP_AFTER_AFTER_FRAMESET;
  else if (is_start(t, HP_NOFRAMES))
    in_head(b, t);
  else if (t->kind == HPAR_TOKEN_EOF)
    stop_parsing(b);
  else
    parse_error(b, t);
}

//§ the-after-after-frameset-insertion-mode
void after_after_frameset(hp_builder *b, const hp_token *t) {
  if (is_comment(t))
    insert_comment_at(b, t, (hp_place){b->document->root, 0});
  else if (t->kind == HPAR_TOKEN_TEXT)
    insert_white(b, t, by_body_rules);
  else if (is_start(t, HP_HTML))
    html_in_body(b, t);
  else if (is_start(t, HP_NOFRAMES))
    in_head(b, t);
  else if (t->kind == HPAR_TOKEN_EOF)
    stop_parsing(b);
  else
    parse_error(b, t);
}
