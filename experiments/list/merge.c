#include "merge.h"

size_t list_merge_two(list_tree *tree, list_tree *next) {
  list_node *e = tree->current;
  size_t steps = 0;
  for (list_node *child = next->root->first, *after; child; child = after, steps++) {
    after = child->next;
    if (!child->start_missing) {
      if (e != tree->root) tree->errors += (child->kind == LIST_DATA) != (e->kind == LIST_ITEM);
      list_append(e, child);
      if (e == tree->root) tree->root_nodes++;
    } else if (e != tree->root && e->kind == child->kind) {
      e->end_missing = false;
      e = e->parent;
    } else {
      tree->errors++;
    }
  }
  /* The end-missing path continues with that of `next`, whose topmost node was appended to e. */
  tree->current = next->current == next->root ? e : next->current;
  tree->errors += next->errors;
  next->root->first = next->root->last = NULL;
  return steps;
}

size_t list_merge(list_tree *trees, size_t count) {
  size_t steps = 0;
  for (size_t i = 1; i < count; i++) steps += list_merge_two(&trees[0], &trees[i]);
  list_finish(&trees[0]);
  return steps;
}

void list_finish(list_tree *tree) {
  for (const list_node *node = tree->current; node != tree->root; node = node->parent) tree->errors++;
  for (const list_node *node = tree->root->first; node; node = node->next)
    tree->errors += node->start_missing || node->kind == LIST_DATA || node->kind == LIST_ITEM;
}

void list_merge_units(list_node *const *holders, list_node *const *elements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    list_node *holder = holders[i], *next = holder->next, *parent = holder->parent;
    *holder = *elements[i];
    holder->next = next;
    holder->parent = parent;
  }
}
