#include "html/tree/construct.h"

#include <strings.h>

static void clear_to_table(hp_builder *b) {
  while (!is_html(current(b), HP_TABLE) && !is_html(current(b), HP_TEMPLATE) && !is_html(current(b), HP_HTML) &&
         !HP_AT_OUTER(b))
    pop(b);
}

/* Which has no tag. */
void begin_table_body(hp_builder *b) {
  clear_to_table(b);
  insert_implied(b, HP_TBODY);
  b->mode = HP_IN_TABLE_BODY;
}

static bool hidden_input(const hp_builder *b, const hp_token *t) {
  if (!t->attributes) return false;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == HP_TYPE)
      return block->items[i].length == 6 && !strncasecmp(block->items[i].value, "hidden", 6);
  return false;
}

void foster_in_body(hp_builder *b, const hp_token *t) {
  parse_error(b, t);
  b->foster_parenting = true;
  in_body(b, t);
  b->foster_parenting = false;
}

//§ parsing-main-intabletext
/* A whole run: white space stays in the table, anything else makes all of it leave. */
void in_table_text(hp_builder *b, const hp_token *t) {
  hp_token text = *t;
  if (t->flags & HP_TEXT_NUL) {
    parse_error(b, t);
    text = text_without_nul(b, t, false);
    if (!text.length) return;
  }
  if (text.flags & HP_TEXT_WHITE)
    insert_text(b, text.data, text.length);
  else
    foster_in_body(b, &text);
}

static void start_tag(hp_builder *b, const hp_token *t) {
  switch (t->name) {
    case HP_CAPTION:
      clear_to_table(b);
      push_marker(b);
      insert_html(b, t);
      b->mode = HP_IN_CAPTION;
      return;
    case HP_COLGROUP:
      clear_to_table(b);
      insert_html(b, t);
      b->mode = HP_IN_COLUMN_GROUP;
      return;
    case HP_COL:
      clear_to_table(b);
      insert_implied(b, HP_COLGROUP);
      b->mode = HP_IN_COLUMN_GROUP;
      process_token(b, t);
      return;
    case HP_TBODY:
    case HP_TFOOT:
    case HP_THEAD:
      clear_to_table(b);
      insert_html(b, t);
      b->mode = HP_IN_TABLE_BODY;
      return;
    case HP_TD:
    case HP_TH:
    case HP_TR:
      begin_table_body(b);
      process_token(b, t);
      return;
    case HP_TABLE:
      parse_error(b, t);
      if (!has_in_table_scope(b, HP_TABLE)) return;
      pop_through(b, b->last[HP_TABLE]);
      reset_insertion_mode_appropriately(b);
      process_token(b, t);
      return;
    case HP_STYLE:
    case HP_SCRIPT:
    case HP_TEMPLATE: in_head(b, t); return;
    case HP_INPUT:
      if (!hidden_input(b, t)) break;
      parse_error(b, t);
      insert_void(b, t);
      return;
    case HP_FORM:
      parse_error(b, t);
      if (has_template(b)) return;
      if (HP_SPECULATIVE && !b->form_known) hp_outer_assume(b, HPAR_ASSUME_FORM_NULL, HP_FORM);
      if (b->form) return;
      b->form = insert_html_as(b, t, false);
      b->form_known = true;
      return;
    default: break;
  }
  foster_in_body(b, t);
}

//§ parsing-main-intable
void in_table(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_TEXT:
      if ((current(b)->tag & HP_TAG_TABLE_CONTEXT) || is_html(current(b), HP_TEMPLATE) || HP_AT_OUTER(b))
        in_table_text(b, t);
      else
        foster_in_body(b, t);
      return;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    case HPAR_TOKEN_START_TAG: start_tag(b, t); return;
    case HPAR_TOKEN_END_TAG:
      switch (t->name) {
        case HP_TABLE:
          if (!has_in_table_scope(b, HP_TABLE)) {
            parse_error(b, t);
            return;
          }
          pop_through(b, b->last[HP_TABLE]);
          reset_insertion_mode_appropriately(b);
          return;
        case HP_BODY:
        case HP_CAPTION:
        case HP_COL:
        case HP_COLGROUP:
        case HP_HTML:
        case HP_TBODY:
        case HP_TD:
        case HP_TFOOT:
        case HP_TH:
        case HP_THEAD:
        case HP_TR: parse_error(b, t); return;
        case HP_TEMPLATE: in_head(b, t); return;
        default: foster_in_body(b, t); return;
      }
    default: in_body(b, t);
  }
}
