#include "dom/node.h"

void hp_append(char *base, hp_ref parent, hp_ref node) {
  hp_node *into = hp_node_at(base, parent), *child = hp_node_at(base, node);
  child->parent = parent;
  child->previous = into->last;
  child->next = 0;
  if (into->last)
    hp_node_at(base, into->last)->next = node;
  else
    into->first = node;
  into->last = node;
}

/* `parent` is the node that holds the list of siblings. It is a splice anchor for a run that the
 * merger has not spliced in yet. */
void hp_insert_before(char *base, hp_ref parent, hp_ref node, hp_ref next) {
  if (!next) {
    hp_append(base, parent, node);
    return;
  }
  hp_node *child = hp_node_at(base, node), *after = hp_node_at(base, next);
  child->parent = parent;
  child->previous = after->previous;
  child->next = next;
  if (after->previous)
    hp_node_at(base, after->previous)->next = node;
  else
    hp_node_at(base, parent)->first = node;
  after->previous = node;
}

void hp_remove(char *base, hp_ref node) {
  hp_node *child = hp_node_at(base, node);
  hp_ref parent = hp_parent_of(base, child);
  if (!parent && !child->parent) return;
  hp_node *from = hp_node_at(base, parent ? parent : child->parent);
  if (child->previous)
    hp_node_at(base, child->previous)->next = child->next;
  else
    from->first = child->next;
  if (child->next)
    hp_node_at(base, child->next)->previous = child->previous;
  else
    from->last = child->previous;
  child->parent = child->previous = child->next = 0;
}

static bool has_descendants(const hp_node *node) {
  if (node->kind == HPAR_NODE_ELEMENT) return node->first || node->flags & HP_FLAG_TEMPLATE;
  return node->kind == HPAR_NODE_DOCUMENT || node->kind == HPAR_NODE_FRAGMENT;
}

//§ concept-tree-host-including-inclusive-ancestor
bool hp_contains(const char *base, hp_ref node, hp_ref inside) {
  if (!has_descendants(hp_node_at(base, node))) return node == inside;
  while (inside && inside != node) {
    const hp_node *n = hp_node_at(base, inside);
    inside = n->kind == HPAR_NODE_FRAGMENT ? hp_host_of(n) : hp_parent_of(base, n);
  }
  return inside != 0;
}

void hp_move_children(char *base, hp_ref from, hp_ref to) {
  hp_node *source = hp_node_at(base, from), *target = hp_node_at(base, to);
  if (!source->first) return;
  for (hp_ref ref = source->first; ref; ref = hp_node_at(base, ref)->next) hp_node_at(base, ref)->parent = to;
  hp_node_at(base, source->first)->previous = target->last;
  if (target->last)
    hp_node_at(base, target->last)->next = source->first;
  else
    target->first = source->first;
  target->last = source->last;
  source->first = source->last = 0;
}
