#include "html/tree/construct.h"

static bool is_white_text(const hp_token *t) { return t->kind == HPAR_TOKEN_TEXT && (t->flags & HP_TEXT_WHITE); }

/* White space goes by the rules for "in body"; so may the beginning of a longer run. */
static void back_to_body(hp_builder *b, const hp_token *t) {
  hp_token rest = *t;
  if (t->kind == HPAR_TOKEN_TEXT) {
    uint32_t white = leading_white(t);
    if (white) {
      hp_token blank = *t;
      blank.length = white;
      blank.flags |= HP_TEXT_WHITE;
      blank.flags &= (uint8_t)~HP_TEXT_NUL;
      in_body(b, &blank);
    }
    rest = rest_of(t, white);
  }
  parse_error(b, t);
  b->mode = HP_IN_BODY;
  process_token(b, &rest);
}

//§ parsing-main-afterbody
void after_body(hp_builder *b, const hp_token *t) {
  if (is_white_text(t)) {
    in_body(b, t);
  } else if (is_comment(t)) {
    insert_comment_at(b, t, (hp_place){b->stack[1].node, 0});
  } else if (t->kind == HPAR_TOKEN_DOCTYPE) {
    parse_error(b, t);
  } else if (is_start(t, HP_HTML)) {
    html_in_body(b, t);
  } else if (is_end(t, HP_HTML)) {
    if (b->fragment)
      parse_error(b, t);
    else
      b->mode = HP_AFTER_AFTER_BODY;
  } else if (t->kind == HPAR_TOKEN_EOF) {
    stop_parsing(b);
  } else {
    back_to_body(b, t);
  }
}

//§ the-after-after-body-insertion-mode
void after_after_body(hp_builder *b, const hp_token *t) {
  if (is_comment(t))
    insert_comment_at(b, t, (hp_place){b->document->root, 0});
  else if (t->kind == HPAR_TOKEN_DOCTYPE || is_white_text(t) || is_start(t, HP_HTML))
    in_body(b, t);
  else if (t->kind == HPAR_TOKEN_EOF)
    stop_parsing(b);
  else
    back_to_body(b, t);
}
