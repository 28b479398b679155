#include "html/tree/construct.h"

#include "base/memory.h"

/* Room for `node`, which was inserted just now, unless so many must not be open. */
void grow_stack(hp_builder *b, hp_ref node) {
  if (b->depth >= b->max_depth) {
    if (node_at(b, node)->parent) hp_remove(b->base, node);
    hp_fail_now(b->fail, HPAR_LIMIT_DEPTH);
  }
  hp_grow(&b->stack, &b->stack_capacity, b->depth + 2, b->fail);
  b->top = b->stack + b->depth;
  hp_builder_limit_depth(b, b->max_depth);
}

void grow_last(hp_builder *b, hp_atom name) {
  uint32_t old = b->last_capacity;
  hp_grow(&b->last, &b->last_capacity, (size_t)name + 1, b->fail);
  memset(b->last + old, 0, (b->last_capacity - old) * sizeof *b->last);
}

/* Entries from `index` on are put back one by one, so that their links hold again. */
void rebuild_stack_from(hp_builder *b, uint32_t index) {
  uint32_t top = b->depth;
  for (uint32_t i = index; i <= top; i++) {
    const hp_open_element *below = &b->stack[i - 1];
    hp_open_element *e = &b->stack[i];
    if (e->ns == HPAR_NAMESPACE_HTML) {
      e->previous_same = b->last[e->name];
      b->last[e->name] = i;
      if (e->tag & HP_TAG_FORMATTING) node_at(b, e->node)->flags |= HP_FLAG_OPEN;
    }
    e->scope = e->tag & HP_TAG_SCOPE ? i : below->scope;
    e->special = e->tag & HP_TAG_SPECIAL ? i : below->special;
    e->li_barrier = e->tag & HP_TAG_LI_BARRIER ? i : below->li_barrier;
  }
}

/* Undoes the links of the entries from `index` on; rebuild_stack_from makes them anew. */
static void unlink_from(hp_builder *b, uint32_t index) {
  for (uint32_t i = b->depth; i >= index; i--) {
    const hp_open_element *e = &b->stack[i];
    if (e->ns == HPAR_NAMESPACE_HTML) b->last[e->name] = e->previous_same;
  }
}

void remove_from_stack(hp_builder *b, uint32_t index) {
  hp_open_element removed = b->stack[index];
  if (removed.name == HP_OPTION || removed.name == HP_SELECTEDCONTENT)
    forget_selections(b); /* what was in it leaves it */
  unlink_from(b, index);
  memmove(&b->stack[index], &b->stack[index + 1], (b->depth - index) * sizeof *b->stack);
  b->depth--;
  b->top--;
  if (removed.tag & HP_TAG_FORMATTING) node_at(b, removed.node)->flags &= (uint16_t)~HP_FLAG_OPEN;
  rebuild_stack_from(b, index);
}

void HP_FLAVOUR(clear_stack)(hp_builder *b) {
  unlink_from(b, 1);
  b->depth = 0;
  b->top = b->stack;
}

void push_template_mode(hp_builder *b, uint8_t mode) {
  hp_grow(&b->template_modes, &b->template_capacity, b->template_count + 1, b->fail);
  b->template_modes[b->template_count++] = mode;
}

/* The highest of the open elements that tell of the mode; 0: none. */
static uint32_t last_that_tells(const hp_builder *b) {
  static const hp_atom names[] = {HP_TD,       HP_TH,    HP_TR,       HP_TBODY, HP_THEAD, HP_TFOOT,    HP_CAPTION,
                                  HP_COLGROUP, HP_TABLE, HP_TEMPLATE, HP_HEAD,  HP_BODY,  HP_FRAMESET, HP_HTML};
  uint32_t last = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) last = higher(last, b->last[names[i]]);
  return last;
}

//§ reset-the-insertion-mode-appropriately
void reset_insertion_mode_appropriately(hp_builder *b) {
  uint32_t index = last_that_tells(b);
  bool last = !HP_SPECULATIVE && index <= 1;
  const hp_open_element *e = last && b->fragment ? &b->context : &b->stack[index];
  if (index && e->ns == HPAR_NAMESPACE_HTML) {
    switch (e->name) {
      case HP_TD:
      case HP_TH:
        if (last) break;
        b->mode = HP_IN_CELL;
        return;
      case HP_TR: b->mode = HP_IN_ROW; return;
      case HP_TBODY:
      case HP_THEAD:
      case HP_TFOOT: b->mode = HP_IN_TABLE_BODY; return;
      case HP_CAPTION: b->mode = HP_IN_CAPTION; return;
      case HP_COLGROUP: b->mode = HP_IN_COLUMN_GROUP; return;
      case HP_TABLE: b->mode = HP_IN_TABLE; return;
      case HP_TEMPLATE: b->mode = b->template_modes[b->template_count - 1]; return;
      case HP_HEAD:
        if (last) break;
        b->mode = HP_IN_HEAD;
        return;
      case HP_BODY: b->mode = HP_IN_BODY; return;
      case HP_FRAMESET: b->mode = HP_IN_FRAMESET; return;
      case HP_HTML: b->mode = b->head ? HP_AFTER_HEAD : HP_BEFORE_HEAD; return;
      default: break;
    }
  }
#if HP_SPECULATIVE
  b->mode = hp_outer_mode(b);
#else
  b->mode = HP_IN_BODY;
#endif
}
