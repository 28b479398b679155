#ifndef HP_TREE_TOMBSTONES_H
#define HP_TREE_TOMBSTONES_H

/* Changes in the middle of the stack of open elements. Each takes constant time: see
 * hp_open_element. */

#include "base/target.h"
#include "tree/query.h"

/* An element that hp_stack_take took, and the next higher element of its name, or 0. */
typedef struct hp_taken {
  hp_open_element element;
  uint32_t above;
} hp_taken;

static inline bool is_tombstone(const hp_open_element *e) { return !e->node; }

/* Returns the index of the element below the element at `index`. */
static inline uint32_t index_below(const hp_open_stack *s, uint32_t index) {
  return s->entries[index].tag & HP_OPEN_ABOVE_TOMBSTONE ? index - 1 - s->entries[index - 1].previous_same : index - 1;
}

uint32_t hp_find_special(hp_open_stack *stack, uint32_t index);
uint32_t hp_find_li_barrier(hp_open_stack *stack, uint32_t index);

/* Returns the index of the highest special element, or 0. */
static inline uint32_t special_barrier(hp_open_stack *s) {
  uint32_t index = s->top->special;
  return !index || s->entries[index].tag & HP_TAG_SPECIAL ? index : hp_find_special(s, s->depth);
}

/* Returns the index of the highest special element other than address, div and p, or 0. */
static inline uint32_t li_barrier(hp_open_stack *s) {
  uint32_t index = s->top->li_barrier;
  return !index || s->entries[index].tag & HP_TAG_LI_BARRIER ? index : hp_find_li_barrier(s, s->depth);
}

/* Returns the index of an element that was popped just now, or 0 if it was in the middle of the
 * stack. */
static inline uint32_t hp_stack_popped(const hp_open_stack *s, hp_ref node) {
  uint32_t index = s->depth + 1;
  return index < s->capacity && s->entries[index].node == node ? index : 0;
}

/* Makes the element below the run of tombstones at the top of the stack the current node. */
void hp_stack_pass_tombstone(hp_builder *b);
/* Takes an element out of the stack. hp_stack_put must follow. */
hp_taken hp_stack_take(hp_builder *b, uint32_t index);
/* Puts elements, lowest first, at the upper end of a range. The caller took all elements of the
 * range. */
void hp_stack_put(hp_builder *b, uint32_t low, uint32_t high, const hp_taken *elements, uint32_t count);
/* Removes the element at `index`. */
void hp_stack_remove(hp_builder *b, uint32_t index);
/* Makes the stack contiguous. This costs its length if there is a tombstone. */
HP_SHARED void hp_stack_close_tombstones(hp_builder *b);

#endif
