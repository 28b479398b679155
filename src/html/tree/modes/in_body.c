#include "html/tree/construct.h"

#if !HP_SPECULATIVE
enum { OF_HTML = 1, OF_BODY = 2, GROWING = 4 };

static bool has_attribute(hp_builder *b, hp_atom name, uint8_t of) {
  uint32_t old = b->merged_capacity;
  if (name >= old) {
    hp_grow(&b->merged, &b->merged_capacity, (size_t)name + 1, b->fail);
    memset(b->merged + old, 0, b->merged_capacity - old); // NOLINT: grown above
  }
  bool has = b->merged[name] & of; // NOLINT: as above
  b->merged[name] |= of;
  return has;
}

static void mark_attributes(hp_builder *b, const hp_node *node, uint8_t of) {
  if (!b->merging && b->merged) memset(b->merged, 0, b->merged_capacity);
  b->merging |= of;
  const hp_attributes *block = hp_at(b->base, node->attributes);
  for (uint32_t i = 0; node->attributes && i < block->count; i++) has_attribute(b, block->items[i].name, of);
}

/* A block with room for `count`, its size doubled, so that many tags with an attribute each cost no more than one
 * with all of them. `growing`: the block is one of these. */
static hp_attributes *with_room(hp_builder *b, hp_node *node, uint32_t count, bool growing) {
  hp_attributes *old = node->attributes ? hp_at(b->base, node->attributes) : NULL;
  if (growing && old && count <= old->capacity) return old;
  uint32_t have = old ? old->count : 0;
  hp_attributes *block = hp_arena_take(b->nodes, sizeof *block + (size_t)count * 2 * sizeof(hp_attribute));
  block->count = have;
  block->capacity = count * 2;
  if (old) memcpy(block->items, old->items, have * sizeof(hp_attribute));
  node->attributes = hp_ref_of(b->base, block);
  return block;
}

/* Attributes that the element does not have yet; the first writer wins. */
static void merge_attributes(hp_builder *b, hp_ref element, hp_ref attributes, uint8_t of) {
  if (!attributes) return;
  const hp_attributes *more = hp_at(b->base, attributes);
  hp_node *node = node_at(b, element);
  if (!(b->merging & of)) mark_attributes(b, node, of);
  for (uint32_t i = 0; i < more->count; i++) {
    if (has_attribute(b, more->items[i].name, of)) continue;
    const hp_attributes *old = node->attributes ? hp_at(b->base, node->attributes) : NULL;
    hp_attributes *block = with_room(b, node, (old ? old->count : 0) + 1, b->merging & of * GROWING);
    block->items[block->count++] = more->items[i];
    b->merging |= of * GROWING;
  }
}
#endif

static bool attribute_value_is(const hp_builder *b, const hp_token *t, hp_atom name, const char *value) {
  if (!t->attributes) return false;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  size_t length = strlen(value);
  for (uint32_t i = 0; i < block->count; i++) {
    if (block->items[i].name != name) continue;
    if (block->items[i].length != length) return false;
    for (size_t j = 0; j < length; j++)
      if ((block->items[i].value[j] | 0x20) != value[j]) return false;
    return true;
  }
  return false;
}

/* A second <html>, in any mode that hands it here. */
void html_in_body(hp_builder *b, const hp_token *t) {
  parse_error(b, t);
  if (has_template(b)) return;
#if HP_SPECULATIVE
  hp_outer_poison(b);
#else
  merge_attributes(b, b->stack[1].node, t->attributes, OF_HTML);
#endif
}

static void body(hp_builder *b, const hp_token *t) {
  parse_error(b, t);
#if HP_SPECULATIVE
  if (!b->last[HP_TEMPLATE]) hp_outer_poison(b);
#else
  if (b->depth < 2 || !is_html(&b->stack[2], HP_BODY) || has_template(b)) return;
  b->frameset_ok = false;
  merge_attributes(b, b->stack[2].node, t->attributes, OF_BODY);
#endif
}

static void frameset(hp_builder *b, const hp_token *t) {
  parse_error(b, t);
  if (HP_SPECULATIVE) {
    if (b->frameset_ok && !b->last[HP_TEMPLATE]) hp_outer_poison(b);
    return;
  }
  if (b->depth < 2 || !is_html(&b->stack[2], HP_BODY) || !b->frameset_ok) return;
  hp_remove(b->base, b->stack[2].node);
  pop_through(b, 2);
  insert_html(b, t);
  b->mode = HP_IN_FRAMESET;
}

/*** what start tags do before they insert ***/

/* Closing a p and reconstructing do nothing the second time; the rest must not be done twice, so the merger says
 * when it was done ahead of the token. */

static void close_open_li(hp_builder *b) {
  if (b->prepared) return;
  uint32_t barrier = current(b)->li_barrier, li = b->last[HP_LI];
  if (li && li == barrier) {
    generate_implied_end_tags(b, HP_LI);
    pop_through(b, li);
  } else if (HP_SPECULATIVE && !barrier) {
    hp_outer_assume(b, HPAR_ASSUME_NO_LI, HP_LI);
  }
}

static void close_open_dd_dt(hp_builder *b) {
  if (b->prepared) return;
  uint32_t barrier = current(b)->li_barrier;
  const hp_open_element *found = &b->stack[barrier];
  if (barrier && (is_html(found, HP_DD) || is_html(found, HP_DT))) {
    generate_implied_end_tags(b, found->name);
    pop_through(b, barrier);
  } else if (HP_SPECULATIVE && !barrier) {
    hp_outer_assume(b, HPAR_ASSUME_NO_DD_DT, HP_DD);
  }
}

static void close_current_heading(hp_builder *b, const hp_token *t) {
  if (b->prepared) return;
  if (HP_AT_OUTER(b)) {
    hp_outer_assume(b, HPAR_ASSUME_TOP_NOT_IMPLIED, HP_H1);
  } else if (current(b)->tag & HP_TAG_HEADING) {
    parse_error(b, t);
    pop(b);
  }
}

static void end_active_a(hp_builder *b, const hp_token *t) {
  if (b->prepared) return;
  uint32_t i = b->formatting_count;
  while (i > 0 && b->formatting[i - 1].node && b->formatting[i - 1].name != HP_A) i--;
  if (i == 0) hp_outer_assume(b, HPAR_ASSUME_NO_FORMATTING, HP_A);
  if (i == 0 || !b->formatting[i - 1].node) return;
  parse_error(b, t);
  hp_ref element = b->formatting[i - 1].node;
  run_adoption_agency(b, t);
  for (i = b->formatting_count; i > 0; i--) {
    if (b->formatting[i - 1].node != element) continue;
    remove_formatting(b, i - 1);
    break;
  }
  if (node_at(b, element)->flags & HP_FLAG_OPEN) {
    uint32_t open = b->last[HP_A];
    while (b->stack[open].node != element) open = b->stack[open].previous_same;
    remove_from_stack(b, open);
  }
}

static void close_open_button(hp_builder *b, const hp_token *t) {
  if (b->prepared) return;
  if (!has_in_scope(b, HP_BUTTON)) return;
  parse_error(b, t);
  generate_implied_end_tags(b, 0);
  pop_through(b, b->last[HP_BUTTON]);
}

static void end_nobr_in_scope(hp_builder *b, const hp_token *t) {
  if (b->prepared) return;
  if (!has_in_scope(b, HP_NOBR)) return;
  parse_error(b, t);
  run_adoption_agency(b, t);
  reconstruct_formatting(b);
}

/* What an option or optgroup closes depends on whether a select is in scope. */
static void close_open_option(hp_builder *b, const hp_token *t) {
  if (b->prepared) return;
  hp_atom except = t->name == HP_OPTION ? HP_OPTGROUP : 0;
  bool alone =
      HP_SPECULATIVE && !current(b)->scope && (b->depth == 0 || (b->depth == 1 && is_html(current(b), HP_OPTION)));
  if (alone) { /* both readings pop that option, and no more if BASE's top has no implied end tag */
    if (b->depth) pop(b);
    hp_outer_assume(b, HPAR_ASSUME_TOP_NOT_IMPLIED, t->name);
  } else if (has_in_scope(b, HP_SELECT)) {
    generate_implied_end_tags(b, except);
  } else if (is_html(current(b), HP_OPTION)) {
    pop(b);
  }
}

/* A select in scope ends here. True if there was one. */
static bool close_select(hp_builder *b, const hp_token *t) {
  if (b->prepared) return false;
  if (!has_in_scope(b, HP_SELECT)) return false;
  parse_error(b, t);
  pop_through(b, b->last[HP_SELECT]);
  return true;
}

static void prepare(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_START_TAG) {
    switch (t->name) {
      case HP_ANY_BLOCK:
      case HP_LISTING:
      case HP_P:
      case HP_PRE: close_p_in_button_scope(b); return;
      case HP_FORM:
        if (HP_SPECULATIVE && !b->form_known) hp_outer_assume(b, HPAR_ASSUME_FORM_NULL, HP_FORM);
        if (!b->form || has_template(b)) close_p_in_button_scope(b);
        return;
      case HP_TABLE:
        if (b->document->quirks != HPAR_QUIRKS) close_p_in_button_scope(b);
        return;
      case HP_ANY_HEADING:
        close_p_in_button_scope(b);
        close_current_heading(b, t);
        return;
      case HP_LI:
        close_open_li(b);
        close_p_in_button_scope(b);
        return;
      case HP_DD:
      case HP_DT:
        close_open_dd_dt(b);
        close_p_in_button_scope(b);
        return;
      case HP_HR:
        close_p_in_button_scope(b);
        if (has_in_scope(b, HP_SELECT)) generate_implied_end_tags(b, 0);
        return;
      case HP_XMP: close_p_in_button_scope(b); break;
      case HP_A: end_active_a(b, t); break;
      case HP_BUTTON: close_open_button(b, t); break;
      case HP_INPUT:
        if (b->fragment && is_html(&b->context, HP_SELECT)) return;
        close_select(b, t);
        break;
      case HP_SELECT: return; /* one in scope would swallow the tag */
      case HP_OPTION:
      case HP_OPTGROUP: close_open_option(b, t); break;
      case HP_NOBR:
        reconstruct_formatting(b);
        end_nobr_in_scope(b, t);
        return;
      default: break;
    }
  }
  reconstruct_formatting(b);
}

void HP_FLAVOUR(prepare)(hp_builder *b, const hp_token *t) {
  prepare(b, t);
  b->prepared = !is_start(t, HP_SELECT);
}

/*** tags ***/

/* The usual start tags, each with a frame of its own, which start_tag jumps to. */

static HP_OUT_OF_LINE void block(hp_builder *b, const hp_token *t) {
  close_p_in_button_scope(b);
  insert_html(b, t);
}

static HP_OUT_OF_LINE void formatting(hp_builder *b, const hp_token *t) {
  reconstruct_formatting(b);
  push_formatting(b, insert_html(b, t));
}

static HP_OUT_OF_LINE void anchor(hp_builder *b, const hp_token *t) {
  end_active_a(b, t);
  formatting(b, t);
}

static HP_OUT_OF_LINE void list_item(hp_builder *b, const hp_token *t) {
  b->frameset_ok = false;
  if (t->name == HP_LI)
    close_open_li(b);
  else
    close_open_dd_dt(b);
  close_p_in_button_scope(b);
  insert_html(b, t);
}

static HP_OUT_OF_LINE void embedded(hp_builder *b, const hp_token *t) {
  reconstruct_formatting(b);
  insert_void(b, t);
  b->frameset_ok = false;
}

static HP_OUT_OF_LINE void ordinary(hp_builder *b, const hp_token *t) {
  reconstruct_formatting(b);
  insert_html(b, t);
}

static bool in_select_fragment(const hp_builder *b) { return b->fragment && is_html(&b->context, HP_SELECT); }

static HP_OUT_OF_LINE void rare_start_tag(hp_builder *b, const hp_token *t) {
  switch (t->name) {
    case HP_HTML: html_in_body(b, t); return;
    case HP_ANY_METADATA: in_head(b, t); return;
    case HP_BODY: body(b, t); return;
    case HP_FRAMESET: frameset(b, t); return;

    case HP_ANY_HEADING:
      close_p_in_button_scope(b);
      close_current_heading(b, t);
      insert_html(b, t);
      return;

    case HP_PRE:
    case HP_LISTING:
      close_p_in_button_scope(b);
      insert_html(b, t);
      b->ignore_lf = true;
      b->frameset_ok = false;
      return;

    case HP_FORM:
      if (HP_SPECULATIVE && !b->form_known) hp_outer_assume(b, HPAR_ASSUME_FORM_NULL, HP_FORM);
      if (b->form && !has_template(b)) {
        parse_error(b, t);
        return;
      }
      close_p_in_button_scope(b);
      {
        hp_ref form = insert_html(b, t);
        if (!has_template(b)) {
          b->form = form;
          b->form_known = true;
        }
      }
      return;

    case HP_PLAINTEXT:
      close_p_in_button_scope(b);
      insert_html(b, t);
      b->tokenizer->content = HP_CONTENT_PLAINTEXT;
      return;

    case HP_BUTTON:
      close_open_button(b, t);
      reconstruct_formatting(b);
      insert_html(b, t);
      b->frameset_ok = false;
      return;

    case HP_NOBR:
      reconstruct_formatting(b);
      end_nobr_in_scope(b, t);
      push_formatting(b, insert_html(b, t));
      return;

    case HP_APPLET:
    case HP_MARQUEE:
    case HP_OBJECT:
      reconstruct_formatting(b);
      insert_html(b, t);
      push_marker(b);
      b->frameset_ok = false;
      return;

    case HP_TABLE:
      if (b->document->quirks != HPAR_QUIRKS) close_p_in_button_scope(b);
      insert_html(b, t);
      b->frameset_ok = false;
      b->mode = HP_IN_TABLE;
      return;

    case HP_INPUT:
      if (in_select_fragment(b)) {
        parse_error(b, t);
        return;
      }
      close_select(b, t);
      reconstruct_formatting(b);
      insert_void(b, t);
      if (!attribute_value_is(b, t, HP_TYPE, "hidden")) b->frameset_ok = false;
      return;

    case HP_PARAM:
    case HP_SOURCE:
    case HP_TRACK: insert_void(b, t); return;

    case HP_HR:
      close_p_in_button_scope(b);
      if (has_in_scope(b, HP_SELECT)) generate_implied_end_tags(b, 0);
      insert_void(b, t);
      b->frameset_ok = false;
      return;

    case HP_IMAGE: {
      hp_token img = *t;
      img.name = HP_IMG;
      parse_error(b, t);
      process_token(b, &img);
      return;
    }

    case HP_TEXTAREA:
      b->ignore_lf = true;
      b->frameset_ok = false;
      follow_text(b, t, HP_CONTENT_RCDATA);
      return;

    case HP_XMP:
      close_p_in_button_scope(b);
      reconstruct_formatting(b);
      b->frameset_ok = false;
      follow_text(b, t, HP_CONTENT_RAWTEXT);
      return;
    case HP_IFRAME:
      b->frameset_ok = false;
      follow_text(b, t, HP_CONTENT_RAWTEXT);
      return;
    case HP_NOEMBED: follow_text(b, t, HP_CONTENT_RAWTEXT); return;
    case HP_NOSCRIPT:
      if (b->scripting) {
        follow_text(b, t, HP_CONTENT_RAWTEXT);
      } else {
        reconstruct_formatting(b);
        insert_html(b, t);
      }
      return;

    case HP_SELECT:
      if (in_select_fragment(b)) {
        parse_error(b, t);
        return;
      }
      if (close_select(b, t)) return;
      reconstruct_formatting(b);
      insert_html(b, t);
      b->frameset_ok = false;
      return;

    case HP_OPTGROUP:
    case HP_OPTION:
      close_open_option(b, t);
      reconstruct_formatting(b);
      insert_html(b, t);
      return;

    case HP_RB:
    case HP_RTC:
      if (has_in_scope(b, HP_RUBY)) generate_implied_end_tags(b, 0);
      insert_html(b, t);
      return;
    case HP_RP:
    case HP_RT:
      if (has_in_scope(b, HP_RUBY)) generate_implied_end_tags(b, HP_RTC);
      insert_html(b, t);
      return;

    case HP_MATH:
      reconstruct_formatting(b);
      insert_foreign_element(b, t, HPAR_NAMESPACE_MATHML);
      return;
    case HP_SVG:
      reconstruct_formatting(b);
      insert_foreign_element(b, t, HPAR_NAMESPACE_SVG);
      return;

    case HP_CAPTION:
    case HP_COL:
    case HP_COLGROUP:
    case HP_FRAME:
    case HP_HEAD:
    case HP_TBODY:
    case HP_TD:
    case HP_TFOOT:
    case HP_TH:
    case HP_THEAD:
    case HP_TR: parse_error(b, t); return;

    default: ordinary(b, t);
  }
}

static void start_tag(hp_builder *b, const hp_token *t) {
  switch (t->name) {
    case HP_ANY_BLOCK:
    case HP_P: block(b, t); return;
    case HP_A: anchor(b, t); return;
    case HP_ANY_PHRASE: formatting(b, t); return;
    case HP_DD:
    case HP_DT:
    case HP_LI: list_item(b, t); return;
    case HP_AREA:
    case HP_BR:
    case HP_EMBED:
    case HP_IMG:
    case HP_KEYGEN:
    case HP_WBR: embedded(b, t); return;
    case HP_SPAN: ordinary(b, t); return;
    default: rare_start_tag(b, t);
  }
}

/* The end tag of an element in scope, implied end tags and all. */
static void close_block(hp_builder *b, const hp_token *t) {
  if (b->depth == b->last[t->name]) {
    pop(b);
    return;
  }
  if (!has_in_scope(b, t->name)) {
    parse_error(b, t);
    return;
  }
  generate_implied_end_tags(b, 0);
  if (!is_html(current(b), t->name)) parse_error(b, t);
  pop_through(b, b->last[t->name]);
}

static void end_heading(hp_builder *b, const hp_token *t) {
  uint32_t highest = 0;
  for (hp_atom name = HP_H1; name <= HP_H6; name++) highest = higher(highest, b->last[name]);
  if (!in_bounds(highest, current(b)->scope)) {
    parse_error(b, t);
    if (!current(b)->scope) hp_outer_poison(b);
    return;
  }
  generate_implied_end_tags(b, 0);
  if (!is_html(current(b), t->name)) parse_error(b, t);
  pop_through(b, highest);
}

static void end_formatting(hp_builder *b, const hp_token *t) {
  const hp_open_element *top = current(b);
  if (is_html(top, t->name) && b->formatting_count && b->formatting[b->formatting_count - 1].node == top->node) {
    pop(b); /* the usual case: no furthest block, nothing above */
    b->formatting_count--;
    return;
  }
  run_adoption_agency(b, t);
}

static void end_form(hp_builder *b, const hp_token *t) {
  if (!has_template(b)) {
    if (HP_SPECULATIVE && !b->form_known) {
      hp_outer_poison(b);
      return;
    }
    hp_ref form = b->form;
    b->form = 0;
    uint32_t open = b->last[HP_FORM];
    while (open && b->stack[open].node != form) open = b->stack[open].previous_same;
    if (!form || !open || open < current(b)->scope) {
      parse_error(b, t);
      return;
    }
    generate_implied_end_tags(b, 0);
    if (open != b->depth) {
      parse_error(b, t);
      remove_from_stack(b, open);
    } else {
      pop(b);
    }
    return;
  }
  close_block(b, t);
}

static HP_OUT_OF_LINE void end_tag(hp_builder *b, const hp_token *t) {
  switch (t->name) {
    case HP_TEMPLATE: in_head(b, t); return;
    case HP_BODY:
    case HP_HTML:
      if (!has_in_scope(b, HP_BODY)) {
        parse_error(b, t);
        return;
      }
      b->mode = HP_AFTER_BODY;
      if (t->name == HP_HTML) process_token(b, t);
      return;

    case HP_ANY_BLOCK:
    case HP_BUTTON:
    case HP_LISTING:
    case HP_PRE:
    case HP_SELECT: close_block(b, t); return;

    case HP_FORM: end_form(b, t); return;

    case HP_P:
      if (b->depth == b->last[HP_P] && b->depth) {
        pop(b);
        return;
      }
      if (!has_p_in_button_scope(b)) {
        parse_error(b, t);
        insert_implied(b, HP_P);
      }
      close_p(b);
      return;

    case HP_LI:
      if (!has_li_in_list_item_scope(b)) {
        parse_error(b, t);
        return;
      }
      generate_implied_end_tags(b, HP_LI);
      pop_through(b, b->last[HP_LI]);
      return;
    case HP_DD:
    case HP_DT:
      if (!has_in_scope(b, t->name)) {
        parse_error(b, t);
        return;
      }
      generate_implied_end_tags(b, t->name);
      pop_through(b, b->last[t->name]);
      return;

    case HP_ANY_HEADING: end_heading(b, t); return;

    case HP_ANY_PHRASE:
    case HP_A:
    case HP_NOBR: end_formatting(b, t); return;

    case HP_APPLET:
    case HP_MARQUEE:
    case HP_OBJECT:
      if (!has_in_scope(b, t->name)) {
        parse_error(b, t);
        return;
      }
      generate_implied_end_tags(b, 0);
      pop_through(b, b->last[t->name]);
      clear_to_marker(b);
      return;

    case HP_BR: {
      hp_token br = {.kind = HPAR_TOKEN_START_TAG, .name = HP_BR, .start = t->start, .end = t->end};
      parse_error(b, t);
      start_tag(b, &br);
      return;
    }

    default: any_other_end_tag(b, t);
  }
}

static HP_OUT_OF_LINE void odd_text(hp_builder *b, const hp_token *t) {
  hp_token clean = *t;
  if (t->flags & HP_TEXT_NUL) {
    parse_error(b, t);
    clean = text_without_nul(b, t, false);
    if (!clean.length) return;
  }
  reconstruct_formatting(b);
  if (!(clean.flags & HP_TEXT_WHITE)) b->frameset_ok = false;
  insert_text(b, clean.data, clean.length);
}

static void text(hp_builder *b, const hp_token *t) {
  if (t->flags & HP_TEXT_NUL || !is_formatting_reconstructed(b)) {
    odd_text(b, t);
    return;
  }
  if (!(t->flags & HP_TEXT_WHITE)) b->frameset_ok = false;
  insert_text(b, t->data, t->length);
}

//§ parsing-main-inbody
static HP_OUT_OF_LINE void other(hp_builder *b, const hp_token *t) {
  switch (t->kind) {
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: insert_comment(b, t); return;
    case HPAR_TOKEN_DOCTYPE: parse_error(b, t); return;
    default:
      if (b->template_count)
        in_template(b, t);
      else
        stop_parsing(b);
  }
}

/* By a jump each, without a frame of its own. */
void in_body(hp_builder *b, const hp_token *t) {
  if (t->kind == HPAR_TOKEN_TEXT)
    text(b, t);
  else if (t->kind == HPAR_TOKEN_START_TAG)
    start_tag(b, t);
  else if (t->kind == HPAR_TOKEN_END_TAG)
    end_tag(b, t);
  else
    other(b, t);
}
