#include "tree/stack.h"

#include "base/memory.h"
#include "dom/tag.h"
#include "tree/active_formatting.h"

void hp_stack_pass_tombstone(hp_builder *b) {
  uint32_t run = b->stack.top->previous_same;
  b->stack.depth -= run;
  b->stack.top -= run;
  b->stack.tombstones -= run;
  hp_stack_limit_depth(&b->stack, b->stack.max_depth);
}

/* Notes the links of the elements that were pushed since the last call. The time is proportional to
 * the number of pushes and pops since then. */
static void note_higher(hp_builder *b) {
  const hp_open_element *stack = b->stack.entries;
  if (hp_is_outline(b))
    hp_grow_tight(&b->stack.higher.links, &b->stack.higher.capacity, (size_t)b->stack.depth + 1, b->unwind);
  else
    hp_grow(&b->stack.higher.links, &b->stack.higher.capacity, (size_t)b->stack.depth + 1, b->unwind);
  hp_same_name_link *links = b->stack.higher.links;
  uint32_t top = b->stack.higher.top;
  while (top > b->stack.depth || (top && links[top].node != stack[top].node)) top--;
  while (top < b->stack.depth) {
    const hp_open_element *e = &stack[++top];
    links[top] = (hp_same_name_link){e->node, 0};
    if (e->ns == HPAR_NAMESPACE_HTML) links[e->previous_same].same = top;
  }
  b->stack.higher.top = top;
}

/* Returns the index of the next higher element of this name, or 0. */
static uint32_t next_of_name(const hp_builder *b, uint32_t index) {
  const hp_open_element *stack = b->stack.entries;
  uint32_t next = b->stack.higher.links[index].same;
  if (next <= index || next > b->stack.depth || stack[next].ns != HPAR_NAMESPACE_HTML) return 0;
  return stack[next].name == stack[index].name && stack[next].previous_same == index ? next : 0;
}

/* Makes the run of tombstones from `low` to `high` known to its ends and to the element above
 * it. */
static void mark_run(hp_builder *b, uint32_t low, uint32_t high) {
  b->stack.entries[low].scope = b->stack.entries[high].previous_same = high - low + 1;
  b->stack.entries[high + 1].tag |= HP_OPEN_ABOVE_TOMBSTONE;
}

hp_taken hp_stack_take(hp_builder *b, uint32_t index) {
  note_higher(b);
  hp_open_element *stack = b->stack.entries, *e = &stack[index];
  const hp_open_element *below = &stack[index - 1];
  hp_taken taken = {*e, 0};
  taken.element.tag &= (uint16_t)~HP_OPEN_ABOVE_TOMBSTONE;
  if (e->ns == HPAR_NAMESPACE_HTML) {
    taken.above = next_of_name(b, index);
    if (taken.above)
      stack[taken.above].previous_same = e->previous_same;
    else
      *hp_last_slot(&b->stack, e->name) = e->previous_same;
    b->stack.higher.links[e->previous_same].same = taken.above;
  }
  *e = (hp_open_element){.special = below->special, .li_barrier = below->li_barrier};
  /* See hp_stack_popped. */
  if (b->stack.depth + 1 < b->stack.capacity) stack[b->stack.depth + 1].node = 0;
  b->stack.higher.links[index].node = 0;
  b->stack.tombstones++;
  return taken;
}

/* Sets the links of the entry at `index`: to itself, or as those of the element below it. */
static void link_barriers(hp_builder *b, uint32_t index, uint32_t below) {
  hp_open_element *e = &b->stack.entries[index];
  const hp_open_element *lower = &b->stack.entries[below];
  e->scope = e->tag & HP_TAG_SCOPE ? index : lower->scope;
  e->special = e->tag & HP_TAG_SPECIAL ? index : lower->special;
  e->li_barrier = e->tag & HP_TAG_LI_BARRIER ? index : lower->li_barrier;
}

void hp_stack_put(hp_builder *b, uint32_t low, uint32_t high, const hp_taken *elements, uint32_t count) {
  hp_open_element *stack = b->stack.entries;
  uint32_t first = high + 1 - count;
  if (low > 1 && is_tombstone(&stack[low - 1])) low -= stack[low - 1].previous_same;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = first + i, above = elements[i].above;
    hp_open_element *e = &stack[index];
    *e = elements[i].element;
    e->previous_same = above ? stack[above].previous_same : *hp_last_slot(&b->stack, e->name);
    b->stack.higher.links[index] = (hp_same_name_link){e->node, above};
    b->stack.higher.links[e->previous_same].same = index;
    if (above)
      stack[above].previous_same = index;
    else
      *hp_last_slot(&b->stack, e->name) = index;
    if (e->tag & HP_TAG_FORMATTING && !hp_is_outline(b)) node_at(b, e->node)->flags |= HP_FLAG_OPEN;
    link_barriers(b, index, i ? index - 1 : low - 1);
  }
  b->stack.tombstones -= count;
  hp_stack_limit_depth(&b->stack, b->stack.max_depth);
  if (first > low) mark_run(b, low, first - 1);
}

void hp_stack_remove(hp_builder *b, uint32_t index) {
  uint32_t low = index_below(&b->stack, index) + 1;
  bool top = index == b->stack.depth;
  hp_stack_take(b, index);
  if (top) {
    b->stack.depth = low - 1;
    b->stack.top = &b->stack.entries[low - 1];
    b->stack.tombstones -= index + 1 - low;
    hp_stack_limit_depth(&b->stack, b->stack.max_depth);
    return;
  }
  const hp_open_element *above = &b->stack.entries[index + 1];
  hp_stack_limit_depth(&b->stack, b->stack.max_depth);
  mark_run(b, low, is_tombstone(above) ? index + above->scope : index);
}

/* Both follow links that are out of date, and shorten the path for the next search. */
uint32_t hp_find_special(hp_open_stack *s, uint32_t index) {
  hp_open_element *stack = s->entries;
  uint32_t found;
  while ((found = stack[index].special) && !(stack[found].tag & HP_TAG_SPECIAL))
    index = stack[index].special = stack[found].special;
  return found;
}

uint32_t hp_find_li_barrier(hp_open_stack *s, uint32_t index) {
  hp_open_element *stack = s->entries;
  uint32_t found;
  while ((found = stack[index].li_barrier) && !(stack[found].tag & HP_TAG_LI_BARRIER))
    index = stack[index].li_barrier = stack[found].li_barrier;
  return found;
}

void hp_stack_close_tombstones(hp_builder *b) {
  hp_open_element *stack = b->stack.entries;
  uint32_t count = b->stack.depth, to = 0;
  if (!b->stack.tombstones) return;
  for (; b->stack.foreign.top; b->stack.foreign.top--) {
    const hp_foreign_link *e = &b->stack.foreign.links[b->stack.foreign.top];
    if (e->foreign) b->stack.foreign.last[e->name] = e->previous_same;
  }
  for (uint32_t i = count; i > 0; i--)
    if (stack[i].ns == HPAR_NAMESPACE_HTML) *hp_last_slot(&b->stack, stack[i].name) = 0;
  for (uint32_t i = 1; i <= count; i++) {
    if (is_tombstone(&stack[i])) continue;
    hp_open_element *e = &stack[++to];
    *e = stack[i];
    e->tag &= (uint16_t)~HP_OPEN_ABOVE_TOMBSTONE;
    if (e->ns == HPAR_NAMESPACE_HTML) {
      e->previous_same = *hp_last_slot(&b->stack, e->name);
      *hp_last_slot(&b->stack, e->name) = to;
    }
    link_barriers(b, to, to - 1);
    if (e->tag & HP_TAG_FORMATTING)
      (hp_is_outline(b) ? hp_outline_list_renumber : hp_active_formatting_renumber)(b, i, to);
  }
  b->stack.depth = to;
  b->stack.top = &stack[to];
  b->stack.tombstones = b->stack.higher.top = 0;
  hp_stack_limit_depth(&b->stack, b->stack.max_depth);
}
