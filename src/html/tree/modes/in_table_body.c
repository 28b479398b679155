#include "html/tree/construct.h"

static void clear_to_table_body(hp_builder *b) {
  while (!HP_AT_OUTER(b)) {
    const hp_open_element *e = current(b);
    if (e->ns == HPAR_NAMESPACE_HTML) switch (e->name) {
        case HP_TBODY:
        case HP_TFOOT:
        case HP_THEAD:
        case HP_TEMPLATE:
        case HP_HTML: return;
        default: break;
      }
    pop(b);
  }
}

static bool section_in_table_scope(hp_builder *b) {
  uint32_t section = higher(b->last[HP_TBODY], higher(b->last[HP_THEAD], b->last[HP_TFOOT]));
  uint32_t barrier = higher(b->last[HP_TABLE], higher(b->last[HP_TEMPLATE], b->last[HP_HTML]));
  if (in_bounds(section, barrier)) return true;
  if (!barrier) hp_outer_poison(b);
  return false;
}

//§ parsing-main-intbody
void in_table_body(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_START_TAG) {
    switch (t->name) {
      case HP_TR:
        clear_to_table_body(b);
        insert_html(b, t);
        b->mode = HP_IN_ROW;
        return;
      case HP_TD:
      case HP_TH:
        parse_error(b, t);
        clear_to_table_body(b);
        insert_implied(b, HP_TR);
        b->mode = HP_IN_ROW;
        process_token(b, t);
        return;
      case HP_CAPTION:
      case HP_COL:
      case HP_COLGROUP:
      case HP_TBODY:
      case HP_TFOOT:
      case HP_THEAD:
        if (!section_in_table_scope(b)) {
          parse_error(b, t);
          return;
        }
        clear_to_table_body(b);
        pop(b);
        b->mode = HP_IN_TABLE;
        process_token(b, t);
        return;
      default: break;
    }
  } else if (t->kind == HPAR_TOKEN_END_TAG) {
    switch (t->name) {
      case HP_TBODY:
      case HP_TFOOT:
      case HP_THEAD:
        if (!has_in_table_scope(b, t->name)) {
          parse_error(b, t);
          return;
        }
        clear_to_table_body(b);
        pop(b);
        b->mode = HP_IN_TABLE;
        return;
      case HP_TABLE:
        if (!section_in_table_scope(b)) {
          parse_error(b, t);
          return;
        }
        clear_to_table_body(b);
        pop(b);
        b->mode = HP_IN_TABLE;
        process_token(b, t);
        return;
      case HP_BODY:
      case HP_CAPTION:
      case HP_COL:
      case HP_COLGROUP:
      case HP_HTML:
      case HP_TD:
      case HP_TH:
      case HP_TR: parse_error(b, t); return;
      default: break;
    }
  }
  in_table(b, t);
}
