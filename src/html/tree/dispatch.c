#include "html/tokenizer/content.h"
#include "html/tree/construct.h"

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
    b->mode == HP_IN_BODY ? in_body(b, t) : follow_mode(b, t);
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

enum {
  CONTENT_MODES = 1 << HP_IN_BODY | 1 << HP_IN_CELL | 1 << HP_IN_CAPTION,
  TABLE_MODES = 1 << HP_IN_TABLE | 1 << HP_IN_TABLE_BODY | 1 << HP_IN_ROW
};

/* The usual tokens of content inside an HTML element of the worker's own, `top`, known at a glance not to reach below,
 * and to go by the rules for the body. */
static inline bool plainly_content(const hp_builder *b, const hp_token *t, int kind, const hp_open_element *top) {
  if (kind == HPAR_TOKEN_TEXT) return true;
  if (kind == HPAR_TOKEN_START_TAG) {
    uint16_t tag = hp_html_tag(t->name);
    if (!(tag & (HP_TAG_OUTWARD | HP_TAG_ITEM))) return true;
    return tag & HP_TAG_ITEM ? top->li_barrier != 0 : t->name == HP_FORM;
  }
  if (kind != HPAR_TOKEN_END_TAG) return kind == HPAR_TOKEN_COMMENT;
  if (top->name != t->name) return false;
  if (top->tag & HP_TAG_FORMATTING)
    return b->formatting_count && b->formatting[b->formatting_count - 1].node == top->node;
  return !(top->tag & (HP_TAG_OUTWARD | HP_TAG_TABLE_CONTEXT));
}

static inline bool plainly_ours(const hp_builder *b, const hp_token *t) {
  const hp_open_element *top = current(b);
  if (b->mode == HP_IN_TEXT) return t->kind != HPAR_TOKEN_EOF;
  if (b->depth == 0 || top->ns != HPAR_NAMESPACE_HTML || b->foreign_base) return false;
  if (CONTENT_MODES >> b->mode & 1) return plainly_content(b, t, t->kind, top) || plainly_table(b, t);
  return TABLE_MODES >> b->mode & 1 && plainly_table(b, t);
}

/* False: the token is left alone. */
static HP_OUT_OF_LINE bool take_part_of_table(hp_builder *b, const hp_token *t) {
  if (!((CONTENT_MODES | TABLE_MODES) >> b->mode & 1) || !plainly_table(b, t)) return false;
  by_mode(b, t);
  return true;
}

hp_plain_run hp_speculative_plain_tokens(hp_builder *b, hp_token *t, const char *limit) {
  hp_tokenizer *tokenizer = b->tokenizer;
  const char *at = NULL;
  uint32_t tokens = 0;
  int kind = t->kind;
  if (b->foreign_base) return (hp_plain_run){.kind = kind};
  b->plain_limit = limit;
  while (!b->ignore_lf) {
    const hp_open_element *top = current(b);
    if (top->ns != HPAR_NAMESPACE_HTML || b->depth == 0) break;
    if (kind == HPAR_TOKEN_END_TAG && b->depth == 1) break;
    if ((b->mode == HP_IN_BODY || CONTENT_MODES >> b->mode & 1) && plainly_content(b, t, kind, top))
      in_body(b, t);
    else if (kind == HP_TOKEN_NEED_MORE || !take_part_of_table(b, t))
      break;
    tokens++;
    at = tokenizer->at;
    if (at >= b->plain_limit) return (hp_plain_run){tokens, kind, true, at};
    kind = hp_next_token(tokenizer, t);
  }
  return (hp_plain_run){tokens, kind, false, at};
}
#endif

/* What is seldom asked for: errors, and the newline that some start tags eat. */
static HP_OUT_OF_LINE void take_slowly(hp_builder *b, const hp_token *t) {
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
  if (!plainly_ours(b, t) && hp_outer_takes(b, t)) return;
#endif
  dispatch(b, t);
  if (b->errors && t->kind == HPAR_TOKEN_START_TAG && (t->flags & HP_TOKEN_SELF_CLOSING) &&
      !(hp_html_tag(t->name) & HP_TAG_VOID) && current(b)->ns == HPAR_NAMESPACE_HTML && current(b)->name == t->name)
    hp_errors_add(b->errors, HP_ERROR_NON_VOID_HTML_ELEMENT_START_TAG_WITH_TRAILING_SOLIDUS, t->start);
}

void HP_FLAVOUR(token)(hp_builder *b, const hp_token *t) {
  if (b->ignore_lf || b->errors) {
    take_slowly(b, t);
    return;
  }
#if HP_SPECULATIVE
  if (!plainly_ours(b, t) && hp_outer_takes(b, t)) return;
#endif
  dispatch(b, t);
}

#if !HP_SPECULATIVE
bool hp_exact_tokens(hp_builder *b, const char *near, uint64_t *tokens) {
  hp_tokenizer *tokenizer = b->tokenizer;
  hp_token token;
  uint64_t count = 0;
  bool ended = false;
  uint8_t plain_mode = b->errors || b->fragment ? HP_INSERTION_MODES : HP_IN_BODY;
  while (tokenizer->at < near) {
    if (hp_next_token(tokenizer, &token) == HPAR_TOKEN_EOF) {
      hp_exact_token(b, &token);
      ended = true;
      break;
    }
    count++;
    if (b->mode == plain_mode && current(b)->ns == HPAR_NAMESPACE_HTML && !b->ignore_lf)
      in_body(b, &token);
    else
      hp_exact_token(b, &token);
  }
  *tokens += count;
  return ended;
}

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
