#include "html/tree/construct.h"

static void end_template(hp_builder *b, const hp_token *t) {
  if (!b->last[HP_TEMPLATE]) {
    parse_error(b, t);
    hp_outer_poison(b);
    return;
  }
  generate_implied_end_tags_thoroughly(b);
  if (!is_html(current(b), HP_TEMPLATE)) parse_error(b, t);
  pop_through(b, b->last[HP_TEMPLATE]);
  clear_to_marker(b);
  b->template_count--;
  reset_insertion_mode_appropriately(b);
}

#if HP_SPECULATIVE
static void change_encoding(hp_builder *b, const hp_token *t) { (void)b, (void)t; } /* the merger's */
#else
static bool is_all_ascii(const char *at, const char *end) {
  unsigned char all = 0;
  for (; end - at >= 64; at += 64) {
    for (int i = 0; i < 64; i++) all |= (unsigned char)at[i];
    if (all & 0x80) return false;
  }
  while (at < end) all |= (unsigned char)*at++;
  return !(all & 0x80);
}

/* Would the text be the same? */
static bool decodes_alike(const hp_builder *b, const hp_encoding *other) {
  if (other->kind == b->tentative->kind && other->kind != HP_ENCODING_SINGLE_BYTE) return true;
  if (!b->tokenizer->last || !hp_encoding_keeps_ascii(other) || !hp_encoding_keeps_ascii(b->tentative)) return false;
  return is_all_ascii(b->tokenizer->base, b->tokenizer->end);
}

//§ changing-the-encoding-while-parsing
static void change_encoding(hp_builder *b, const hp_token *t) {
  const hp_encoding *named = hp_declared_encoding(b, t);
  if (!named) return;
  named = hp_change_encoding(b->tentative, named);
  bool same = named == b->tentative, alike = same || decodes_alike(b, named);
  b->tentative = NULL;
  if (same) return;
  b->declared = named;
  if (!alike) hp_fail_now(b->fail, HP_ANOTHER_ENCODING);
}
#endif

//§ parsing-main-inhead
void in_head(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_TEXT: {
      uint32_t white = leading_white(t);
      if (white) insert_text(b, t->data, white);
      if (white == t->length) return;
      hp_token rest = rest_of(t, white);
      pop(b);
      b->mode = HP_AFTER_HEAD;
      process_token(b, &rest);
      return;
    }
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_HTML: html_in_body(b, t); return;
        case HP_BASE:
        case HP_BASEFONT:
        case HP_BGSOUND:
        case HP_LINK: insert_void(b, t); return;
        case HP_META:
          insert_void(b, t);
          if (b->tentative) change_encoding(b, t);
          return;
        case HP_TITLE: follow_text(b, t, HP_CONTENT_RCDATA); return;
        case HP_NOSCRIPT:
          if (b->scripting) {
            follow_text(b, t, HP_CONTENT_RAWTEXT);
          } else {
            insert_html(b, t);
            b->mode = HP_IN_HEAD_NOSCRIPT;
          }
          return;
        case HP_NOFRAMES:
        case HP_STYLE: follow_text(b, t, HP_CONTENT_RAWTEXT); return;
        case HP_SCRIPT: follow_text(b, t, HP_CONTENT_SCRIPT_DATA); return;
        case HP_TEMPLATE:
          insert_html(b, t);
          push_marker(b);
          b->frameset_ok = false;
          b->mode = HP_IN_TEMPLATE;
          push_template_mode(b, HP_IN_TEMPLATE);
          return;
        case HP_HEAD: parse_error(b, t); return;
        default: break;
      }
      break;
    case HPAR_TOKEN_END_TAG:
      switch (t->name) {
        case HP_HEAD:
          pop(b);
          b->mode = HP_AFTER_HEAD;
          return;
        case HP_TEMPLATE: end_template(b, t); return;
        case HP_BODY:
        case HP_HTML:
        case HP_BR: break;
        default: parse_error(b, t); return;
      }
      break;
    default: break;
  }
  pop(b);
  b->mode = HP_AFTER_HEAD;
  process_token(b, t);
}
