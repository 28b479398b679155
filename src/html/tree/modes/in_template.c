#include "html/tree/construct.h"

static void switch_mode(hp_builder *b, const hp_token *t, uint8_t mode) {
  b->template_modes[b->template_count - 1] = mode;
  b->mode = mode;
  process_token(b, t);
}

//§ parsing-main-intemplate
void in_template(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_START_TAG:
      switch (t->name) {
        case HP_ANY_METADATA: in_head(b, t); return;
        case HP_CAPTION:
        case HP_COLGROUP:
        case HP_TBODY:
        case HP_TFOOT:
        case HP_THEAD: switch_mode(b, t, HP_IN_TABLE); return;
        case HP_COL: switch_mode(b, t, HP_IN_COLUMN_GROUP); return;
        case HP_TR: switch_mode(b, t, HP_IN_TABLE_BODY); return;
        case HP_TD:
        case HP_TH: switch_mode(b, t, HP_IN_ROW); return;
        default: switch_mode(b, t, HP_IN_BODY); return;
      }
    case HPAR_TOKEN_END_TAG:
      if (t->name == HP_TEMPLATE)
        in_head(b, t);
      else
        parse_error(b, t);
      return;
    case HPAR_TOKEN_EOF:
      if (!b->last[HP_TEMPLATE]) {
        stop_parsing(b);
        return;
      }
      /* Whatever mode comes up between two templates, it would bring the end back here. */
      while (b->last[HP_TEMPLATE]) {
        parse_error(b, t);
        pop_through(b, b->last[HP_TEMPLATE]);
        clear_to_marker(b);
        b->template_count--;
        reset_insertion_mode_appropriately(b);
      }
      process_token(b, t);
      return;
    default: in_body(b, t);
  }
}
