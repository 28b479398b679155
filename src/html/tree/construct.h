#ifndef HP_HTML_TREE_CONSTRUCT_H
#define HP_HTML_TREE_CONSTRUCT_H

/* The vocabulary in which the insertion modes are written: the stack, scopes, insertion, and the shared
 * algorithms. The hot ones are inline; nothing here walks the stack to answer a question about scope. */

#include "base/vector.h"
#include "html/dom/tag.h"
#include "html/tree/alike.h"
#include "html/tree/builder.h"
#include "html/tree/context.h"

/* Not inlined, so that callers need no frame for what is seldom called, or can jump to what is called last. */
#define HP_OUT_OF_LINE __attribute__((noinline))

/* Each of these exists once in the exact builder and once in the speculative one. */
#define clear_to_marker HP_FLAVOUR(clear_to_marker)
#define close_cell HP_FLAVOUR(close_cell)
#define begin_table_body HP_FLAVOUR(begin_table_body)
#define grow_last HP_FLAVOUR(grow_last)
#define grow_stack HP_FLAVOUR(grow_stack)
#define insert_comment_at HP_FLAVOUR(insert_comment_at)
#define insert_foreign_element HP_FLAVOUR(insert_foreign_element)
#define insert_html_slowly HP_FLAVOUR(insert_html_slowly)
#define insert_text HP_FLAVOUR(insert_text)
#define insert_text_at HP_FLAVOUR(insert_text_at)
#define insert_white HP_FLAVOUR(insert_white)
#define new_element HP_FLAVOUR(new_element)
#define option_popped HP_FLAVOUR(option_popped)
#define parse_error HP_FLAVOUR(parse_error)
#define place_for HP_FLAVOUR(place_for)
#define push_formatting HP_FLAVOUR(push_formatting)
#define push_marker HP_FLAVOUR(push_marker)
#define push_template_mode HP_FLAVOUR(push_template_mode)
#define rebuild_stack_from HP_FLAVOUR(rebuild_stack_from)
#define reconstruct_slowly HP_FLAVOUR(reconstruct_slowly)
#define remove_formatting HP_FLAVOUR(remove_formatting)
#define remove_from_stack HP_FLAVOUR(remove_from_stack)
#define reset_insertion_mode_appropriately HP_FLAVOUR(reset_insertion_mode_appropriately)
#define run_adoption_agency HP_FLAVOUR(run_adoption_agency)
#define any_other_end_tag HP_FLAVOUR(any_other_end_tag)
#define foster_in_body HP_FLAVOUR(foster_in_body)
#define process_token HP_FLAVOUR(process_token)
#define process_in_foreign HP_FLAVOUR(process_in_foreign)
#define in_initial HP_FLAVOUR(in_initial)
#define before_html HP_FLAVOUR(before_html)
#define before_head HP_FLAVOUR(before_head)
#define in_head HP_FLAVOUR(in_head)
#define in_head_noscript HP_FLAVOUR(in_head_noscript)
#define after_head HP_FLAVOUR(after_head)
#define in_body HP_FLAVOUR(in_body)
#define in_text HP_FLAVOUR(in_text)
#define in_table HP_FLAVOUR(in_table)
#define in_table_text HP_FLAVOUR(in_table_text)
#define in_caption HP_FLAVOUR(in_caption)
#define in_column_group HP_FLAVOUR(in_column_group)
#define in_table_body HP_FLAVOUR(in_table_body)
#define in_row HP_FLAVOUR(in_row)
#define in_cell HP_FLAVOUR(in_cell)
#define in_template HP_FLAVOUR(in_template)
#define after_body HP_FLAVOUR(after_body)
#define in_frameset HP_FLAVOUR(in_frameset)
#define after_frameset HP_FLAVOUR(after_frameset)
#define after_after_body HP_FLAVOUR(after_after_body)
#define after_after_frameset HP_FLAVOUR(after_after_frameset)
#define in_foreign_content HP_FLAVOUR(in_foreign_content)
#define stop_parsing HP_FLAVOUR(stop_parsing)
#define follow_mode HP_FLAVOUR(follow_mode)
#define html_in_body HP_FLAVOUR(html_in_body)
#define text_without_nul HP_FLAVOUR(text_without_nul)

typedef struct hp_place {
  hp_ref parent;
  hp_ref next; /* 0: after the last child */
} hp_place;

static inline hp_node *node_at(const hp_builder *b, hp_ref ref) { return hp_node_at(b->base, ref); }
static inline hp_open_element *current(const hp_builder *b) { return b->top; }
static inline bool is_html(const hp_open_element *e, hp_atom name) {
  return e->name == name && e->ns == HPAR_NAMESPACE_HTML;
}
static inline uint32_t last_of(const hp_builder *b, hp_atom name) {
  return name < b->last_capacity ? b->last[name] : 0;
}
static inline uint32_t higher(uint32_t a, uint32_t b) { return a > b ? a : b; }

void grow_stack(hp_builder *b, hp_ref node);
void grow_last(hp_builder *b, hp_atom name);
void parse_error(hp_builder *b, const hp_token *t);
void option_popped(hp_builder *b, hp_ref option);

/*** the stack of open elements ***/

static inline void push_entry(hp_builder *b, hp_ref node, hp_atom name, uint8_t ns, uint16_t tag) {
  if (b->depth + 1 >= b->stack_room) grow_stack(b, node);
  if (ns == HPAR_NAMESPACE_HTML && name >= b->last_capacity) grow_last(b, name); /* unwinds with the stack as it was */
  const hp_open_element *below = b->top;
  hp_open_element *e = ++b->top;
  uint32_t index = ++b->depth;
  e->node = node;
  e->name = name;
  e->ns = ns;
  e->tag = tag;
  e->previous_same = 0;
  if (ns == HPAR_NAMESPACE_HTML) {
    e->previous_same = b->last[name];
    b->last[name] = index;
    if (tag & HP_TAG_FORMATTING) node_at(b, node)->flags |= HP_FLAG_OPEN;
  }
  e->scope = tag & HP_TAG_SCOPE ? index : below->scope;
  e->special = tag & HP_TAG_SPECIAL ? index : below->special;
  e->li_barrier = tag & HP_TAG_LI_BARRIER ? index : below->li_barrier;
}

static inline void push_html(hp_builder *b, hp_ref node, hp_atom name) {
  push_entry(b, node, name, HPAR_NAMESPACE_HTML, hp_html_tag(name));
}

static inline void pop(hp_builder *b) {
  if (HP_AT_OUTER(b)) {
    hp_outer_poison(b);
    return;
  }
  hp_open_element *e = current(b);
  if (e->ns == HPAR_NAMESPACE_HTML) {
    b->last[e->name] = e->previous_same;
    if (e->tag & HP_TAG_FORMATTING) node_at(b, e->node)->flags &= (uint16_t)~HP_FLAG_OPEN;
  }
  b->depth--;
  b->top--;
  if (e->name == HP_OPTION && e->ns == HPAR_NAMESPACE_HTML) option_popped(b, e->node);
}

static inline void forget_selections(hp_builder *b) {
  if (b->selection_count) b->walked = 0;
  b->selection_count = 0;
}

/* Until the entry at `index` is gone, too. */
static inline void pop_through(hp_builder *b, uint32_t index) {
  while (b->depth >= index) pop(b);
}

void remove_from_stack(hp_builder *b, uint32_t index);
void rebuild_stack_from(hp_builder *b, uint32_t index);

/*** scopes ***/

//§ has-an-element-in-the-specific-scope
static inline bool in_bounds(uint32_t found, uint32_t barrier) { return found && found >= barrier; }

//§ has-an-element-in-scope
static inline bool has_in_scope(hp_builder *b, hp_atom name) {
  uint32_t barrier = current(b)->scope;
  if (in_bounds(last_of(b, name), barrier)) return true;
  if (HP_SPECULATIVE && !barrier) hp_outer_assume(b, HPAR_ASSUME_NOT_IN_SCOPE, name);
  return false;
}

//§ has-an-element-in-button-scope
static inline bool has_p_in_button_scope(hp_builder *b) {
  uint32_t barrier = higher(current(b)->scope, b->last[HP_BUTTON]);
  if (in_bounds(b->last[HP_P], barrier)) return true;
  if (HP_SPECULATIVE && !barrier) hp_outer_assume(b, HPAR_ASSUME_NO_P_IN_BUTTON_SCOPE, HP_P);
  return false;
}

//§ has-an-element-in-list-item-scope
static inline bool has_li_in_list_item_scope(hp_builder *b) {
  uint32_t barrier = higher(current(b)->scope, higher(b->last[HP_OL], b->last[HP_UL]));
  if (in_bounds(b->last[HP_LI], barrier)) return true;
  if (HP_SPECULATIVE && !barrier) hp_outer_poison(b);
  return false;
}

//§ has-an-element-in-table-scope
static inline bool has_in_table_scope(hp_builder *b, hp_atom name) {
  uint32_t barrier = higher(b->last[HP_TABLE], higher(b->last[HP_TEMPLATE], b->last[HP_HTML]));
  if (in_bounds(last_of(b, name), barrier)) return true;
  if (HP_SPECULATIVE && !barrier) hp_outer_poison(b);
  return false;
}

static inline bool has_template(hp_builder *b) {
  if (b->last[HP_TEMPLATE]) return true;
  hp_outer_assume(b, HPAR_ASSUME_NO_TEMPLATE, HP_TEMPLATE);
  return false;
}

//§ generate-implied-end-tags
static inline void generate_implied_end_tags(hp_builder *b, hp_atom except) {
  while ((current(b)->tag & HP_TAG_IMPLIED_END) && current(b)->name != except) pop(b);
  if (HP_AT_OUTER(b)) hp_outer_poison(b);
}

static inline void generate_implied_end_tags_thoroughly(hp_builder *b) {
  while (current(b)->tag & HP_TAG_IMPLIED_THOROUGH) pop(b);
  if (HP_AT_OUTER(b)) hp_outer_poison(b);
}

//§ close-a-p-element
static inline void close_p(hp_builder *b) {
  uint32_t p = b->last[HP_P];
  if (b->depth == p) {
    pop(b);
    return;
  }
  generate_implied_end_tags(b, HP_P);
  pop_through(b, p);
}

static inline void close_p_in_button_scope(hp_builder *b) {
  if (has_p_in_button_scope(b)) close_p(b);
}

/*** insertion ***/

hp_place place_for(hp_builder *b, hp_ref target, uint16_t tag, hp_atom name);

//§ appropriate-place-for-inserting-a-node
static inline hp_place appropriate_place(hp_builder *b) {
  const hp_open_element *target = current(b);
  if (target->name == HP_TEMPLATE || b->foster_parenting) return place_for(b, target->node, target->tag, target->name);
  return (hp_place){target->node, 0};
}

static inline void insert_at(hp_builder *b, hp_place place, hp_ref node) {
  hp_insert_before(b->base, place.parent, node, place.next);
}

/* What is fostered may come before options that were seen. */
static inline void insert_element_at(hp_builder *b, hp_place place, hp_ref element) {
  if (place.next) forget_selections(b);
  insert_at(b, place, element);
}

//§ create-an-element-for-the-token
hp_ref new_element(hp_builder *b, hp_atom name, uint8_t ns, hp_ref attributes, const hp_token *source);

hp_ref insert_html_slowly(hp_builder *b, const hp_token *t, bool push);

#if HP_SPECULATIVE
#define HP_WORKERS_INLINE \
  inline __attribute__((always_inline)) /* as the compiler does by itself in the exact builder */
#else
#define HP_WORKERS_INLINE inline
#endif

/* The usual case: no template, no offsets, no fostering. */
static HP_WORKERS_INLINE hp_ref insert_html_as(hp_builder *b, const hp_token *t, bool push) {
  hp_open_element *parent = current(b);
  if (b->source_offsets || b->foster_parenting || parent->name == HP_TEMPLATE || t->name == HP_TEMPLATE ||
      t->name == HP_SELECTEDCONTENT)
    return insert_html_slowly(b, t, push);
  hp_node *node = hp_arena_take(b->nodes, sizeof *node);
  hp_ref ref = hp_ref_of(b->base, node), into = parent->node;
  hp_node *above = node_at(b, into);
  hp_ref previous = above->last;
  node->parent = into;
  node->previous = previous;
  node->next = 0;
  node->kind = HPAR_NODE_ELEMENT;
  node->ns = HPAR_NAMESPACE_HTML;
  node->flags = 0;
  node->first = node->last = 0;
  node->name = t->name;
  node->attributes = t->attributes;
  above->last = ref;
  if (previous)
    node_at(b, previous)->next = ref;
  else
    above->first = ref;
  b->node_count++;
  if (push) push_html(b, ref, t->name);
  return ref;
}

//§ insert-an-html-element
static inline hp_ref insert_html(hp_builder *b, const hp_token *t) { return insert_html_as(b, t, true); }

/* Inserted and popped at once. */
static inline void insert_void(hp_builder *b, const hp_token *t) { insert_html_as(b, t, false); }

/* An element that no token made: <tbody>, <html> and so on. */
static inline hp_ref insert_implied(hp_builder *b, hp_atom name) {
  hp_token token = {.kind = HPAR_TOKEN_START_TAG, .name = name};
  return insert_html_slowly(b, &token, true);
}

void insert_foreign_element(hp_builder *b, const hp_token *t, uint8_t ns);

//§ insert-a-character
void insert_text_at(hp_builder *b, hp_place place, const char *data, uint32_t length);

void insert_text(hp_builder *b, const char *data, uint32_t length);

//§ insert-a-comment
/* And processing instructions, which go where comments go. */
void insert_comment_at(hp_builder *b, const hp_token *t, hp_place place);
static inline void insert_comment(hp_builder *b, const hp_token *t) { insert_comment_at(b, t, appropriate_place(b)); }

static inline bool is_comment(const hp_token *t) {
  return t->kind == HPAR_TOKEN_COMMENT || t->kind == HPAR_TOKEN_PROCESSING_INSTRUCTION;
}
static inline bool is_start(const hp_token *t, hp_atom name) {
  return t->kind == HPAR_TOKEN_START_TAG && t->name == name;
}
static inline bool is_end(const hp_token *t, hp_atom name) { return t->kind == HPAR_TOKEN_END_TAG && t->name == name; }

/* The token's leading white space, and what is left of it. */
static inline bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'; }
static inline uint32_t leading_white(const hp_token *t) {
  if (t->flags & HP_TEXT_WHITE) return t->length;
  uint32_t n = 0;
  while (n < t->length && is_white(t->data[n])) n++;
  return n;
}
static inline hp_token rest_of(const hp_token *t, uint32_t skip) {
  hp_token rest = *t;
  rest.data += skip;
  rest.length -= skip;
  return rest;
}

/* Only the white space of the text, wherever in it that stands, by `insert`. */
void insert_white(hp_builder *b, const hp_token *t, void (*insert)(hp_builder *, const char *, uint32_t));

/* The text with U+0000 dropped or, with `replace`, turned to U+FFFD. */
hp_token text_without_nul(hp_builder *b, const hp_token *t, bool replace);

/*** the list of active formatting elements ***/

void push_formatting(hp_builder *b, hp_ref node);
void push_marker(hp_builder *b);
void clear_to_marker(hp_builder *b);
void remove_formatting(hp_builder *b, uint32_t index);
void reconstruct_slowly(hp_builder *b);

//§ reconstruct-the-active-formatting-elements
static inline bool is_formatting_reconstructed(hp_builder *b) {
  if (b->formatting_count) {
    const hp_formatting *top = &b->formatting[b->formatting_count - 1];
    return !top->node || node_at(b, top->node)->flags & HP_FLAG_OPEN;
  }
  if (HP_SPECULATIVE) hp_outer_assume(b, HPAR_ASSUME_FORMATTING_CLEAN, 0);
  return true;
}

static inline void reconstruct_formatting(hp_builder *b) {
  if (!is_formatting_reconstructed(b)) reconstruct_slowly(b);
}

/*** tokens and modes ***/

void push_template_mode(hp_builder *b, uint8_t mode);
void reset_insertion_mode_appropriately(hp_builder *b);
void close_cell(hp_builder *b);
void begin_table_body(hp_builder *b);
void run_adoption_agency(hp_builder *b, const hp_token *t);
void any_other_end_tag(hp_builder *b, const hp_token *t);
void foster_in_body(hp_builder *b, const hp_token *t);
void html_in_body(hp_builder *b, const hp_token *t);
void stop_parsing(hp_builder *b);

void process_token(hp_builder *b, const hp_token *t);      /* the dispatcher; also for reprocessing */
void process_in_foreign(hp_builder *b, const hp_token *t); /* with an adjusted current node that is not plain HTML */
void follow_mode(hp_builder *b, const hp_token *t);        /* by the rules of the mode, whatever the namespace */
void in_initial(hp_builder *b, const hp_token *t);
void before_html(hp_builder *b, const hp_token *t);
void before_head(hp_builder *b, const hp_token *t);
void in_head(hp_builder *b, const hp_token *t);
void in_head_noscript(hp_builder *b, const hp_token *t);
void after_head(hp_builder *b, const hp_token *t);
void in_body(hp_builder *b, const hp_token *t);
void in_text(hp_builder *b, const hp_token *t);
void in_table(hp_builder *b, const hp_token *t);
void in_table_text(hp_builder *b, const hp_token *t);
void in_caption(hp_builder *b, const hp_token *t);
void in_column_group(hp_builder *b, const hp_token *t);
void in_table_body(hp_builder *b, const hp_token *t);
void in_row(hp_builder *b, const hp_token *t);
void in_cell(hp_builder *b, const hp_token *t);
void in_template(hp_builder *b, const hp_token *t);
void after_body(hp_builder *b, const hp_token *t);
void in_frameset(hp_builder *b, const hp_token *t);
void after_frameset(hp_builder *b, const hp_token *t);
void after_after_body(hp_builder *b, const hp_token *t);
void after_after_frameset(hp_builder *b, const hp_token *t);
void in_foreign_content(hp_builder *b, const hp_token *t);

/* The element's content is text, up to its end tag. */
//§ generic-raw-text-element-parsing-algorithm
static inline void follow_text(hp_builder *b, const hp_token *t, hp_content content) {
  insert_html(b, t);
  b->tokenizer->content = content;
  b->original_mode = b->mode;
  b->mode = HP_IN_TEXT;
}

#endif
