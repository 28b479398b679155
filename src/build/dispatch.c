#include "build/construct.h"
#include "tokenize/content.h"

static inline void by_mode(hp_builder *b, const hp_token *t) {
  switch ((hp_insertion_mode)b->mode) {
    case HP_IN_BODY: in_body(b, t); return;
    case HP_IN_TEXT: in_text(b, t); return;
    case HP_IN_CELL: in_cell(b, t); return;
    case HP_IN_ROW: in_row(b, t); return;
    case HP_IN_TABLE_BODY: in_table_body(b, t); return;
    case HP_IN_TABLE: in_table(b, t); return;
    case HP_IN_HEAD: in_head(b, t); return;
    case HP_IN_TEMPLATE: in_template(b, t); return;
    case HP_IN_CAPTION: in_caption(b, t); return;
    case HP_IN_COLUMN_GROUP: in_column_group(b, t); return;
    case HP_INITIAL: in_initial(b, t); return;
    case HP_BEFORE_HTML: before_html(b, t); return;
    case HP_BEFORE_HEAD: before_head(b, t); return;
    case HP_IN_HEAD_NOSCRIPT: in_head_noscript(b, t); return;
    case HP_AFTER_HEAD: after_head(b, t); return;
    case HP_AFTER_BODY: after_body(b, t); return;
    case HP_IN_FRAMESET: in_frameset(b, t); return;
    case HP_AFTER_FRAMESET: after_frameset(b, t); return;
    case HP_AFTER_AFTER_BODY: after_after_body(b, t); return;
    case HP_AFTER_AFTER_FRAMESET: after_after_frameset(b, t); return;
    case HP_INSERTION_MODES: return;
  }
}

void follow_mode(hp_builder *b, const hp_token *t) { by_mode(b, t); }

//§ tree-construction-dispatcher
static inline void dispatch(hp_builder *b, const hp_token *t) {
  if (current(b)->ns == HPAR_NAMESPACE_HTML && (HP_SPECULATIVE || !b->fragment || b->depth != 1))
    by_mode(b, t);
  else
    process_in_foreign(b, t);
}

void process_token(hp_builder *b, const hp_token *t) { dispatch(b, t); }

//§ the-end
void stop_parsing(hp_builder *b) {
  while (b->depth > 0) pop(b);
}

#if HP_SPECULATIVE
/* Within a table of the worker's own its parts stay above it. */
static inline bool plainly_table(const hp_builder *b, const hp_token *t) {
  if (!b->last[HP_TABLE]) return false;
  if (t->kind == HPAR_TOKEN_TEXT) return t->flags & HP_TEXT_WHITE;
  switch (t->name) {
    case HP_TR:
    case HP_TD:
    case HP_TH:
    case HP_TBODY:
    case HP_THEAD: return t->kind == HPAR_TOKEN_START_TAG || t->kind == HPAR_TOKEN_END_TAG;
    default: return false;
  }
}

/* The usual token inside an HTML element of the worker's own where content goes, known at a glance not to reach
 * below. */
static inline bool plainly_content(const hp_builder *b, const hp_token *t) {
  enum {
    CONTENT = 1 << HP_IN_BODY | 1 << HP_IN_CELL | 1 << HP_IN_CAPTION,
    TABLE = 1 << HP_IN_TABLE | 1 << HP_IN_TABLE_BODY | 1 << HP_IN_ROW
  };
  const hp_open_element *top = current(b);
  if (b->depth == 0 || top->ns != HPAR_NAMESPACE_HTML || b->foreign_base) return false;
  if (!(CONTENT >> b->mode & 1)) return TABLE >> b->mode & 1 && plainly_table(b, t);
  switch (t->kind) {
    case HPAR_TOKEN_TEXT:
    case HPAR_TOKEN_COMMENT: return true;
    case HPAR_TOKEN_START_TAG:
      if (t->name == HP_LI || t->name == HP_DD || t->name == HP_DT) return top->li_barrier != 0;
      return !(hp_html_tag(t->name) & HP_TAG_OUTWARD) || t->name == HP_FORM || plainly_table(b, t);
    case HPAR_TOKEN_END_TAG: {
      if (top->name != t->name) return plainly_table(b, t);
      uint16_t tag = top->tag;
      if (tag & HP_TAG_FORMATTING)
        return b->formatting_count && b->formatting[b->formatting_count - 1].node == top->node;
      return !(tag & HP_TAG_OUTWARD) || plainly_table(b, t);
    }
    default: return false;
  }
}

static inline bool plainly_ours(const hp_builder *b, const hp_token *t) {
  return b->mode == HP_IN_TEXT ? t->kind != HPAR_TOKEN_EOF : plainly_content(b, t);
}

hp_plain_run hp_speculative_plain_tokens(hp_builder *b, hp_token *t, const char *limit) {
  hp_tokenizer *tokenizer = b->tokenizer;
  hp_plain_run run = {.kind = t->kind};
  while (!b->ignore_lf && !(b->depth == 1 && t->kind == HPAR_TOKEN_END_TAG) && plainly_content(b, t)) {
    if (b->mode == HP_IN_BODY)
      in_body(b, t);
    else
      by_mode(b, t);
    run.tokens++;
    run.from = tokenizer->at;
    if (run.from >= limit || b->poisoned) {
      run.is_over = true;
      break;
    }
    run.kind = hp_next_token(tokenizer, t);
    if (run.kind == HP_TOKEN_NEED_MORE) break;
  }
  return run;
}
#endif

void HP_FLAVOUR(token)(hp_builder *b, const hp_token *t) {
  hp_token rest;
  if (b->ignore_lf) {
    b->ignore_lf = false;
    if (t->kind == HPAR_TOKEN_TEXT && t->data[0] == '\n') {
      rest = rest_of(t, 1);
      if (!rest.length) return;
      t = &rest;
    }
  }
#if HP_SPECULATIVE
  if (!plainly_ours(b, t) && hp_floor_takes(b, t)) return;
#endif
  dispatch(b, t);
  if (b->errors && t->kind == HPAR_TOKEN_START_TAG && (t->flags & HP_TOKEN_SELF_CLOSING) &&
      !(hp_html_tag(t->name) & HP_TAG_VOID) && current(b)->ns == HPAR_NAMESPACE_HTML && current(b)->name == t->name)
    hp_errors_add(b->errors, HP_ERROR_NON_VOID_HTML_ELEMENT_START_TAG_WITH_TRAILING_SOLIDUS, t->start);
}

#if !HP_SPECULATIVE
void hp_exact_push(hp_builder *b, const hp_open_element *e) { push_entry(b, e->node, e->name, e->ns, e->tag); }

//§ html-fragment-parsing-algorithm
void hp_exact_begin_fragment(hp_builder *b) {
  hp_ref html = new_element(b, HP_HTML, HPAR_NAMESPACE_HTML, 0, NULL);
  hp_append(b->base, b->document->root, html);
  push_html(b, html, HP_HTML);
  if (is_html(&b->context, HP_TEMPLATE)) push_template_mode(b, HP_IN_TEMPLATE);
  reset_insertion_mode_appropriately(b);
  if (is_html(&b->context, HP_FORM)) b->form = b->document->root; /* some form that is not on the stack */
  if (b->context.ns != HPAR_NAMESPACE_HTML) return;
  b->tokenizer->content = hp_content_of(b->context.name, b->scripting);
}
#endif
