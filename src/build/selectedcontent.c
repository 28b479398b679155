/* The post-insertion life of an option: the contents of a select's selected option are cloned into the first
 * `selectedcontent` of the select. Nothing here runs unless the document has such an element. */

#include "build/construct.h"

static const hp_attribute *attribute(const hp_builder *b, hp_ref element, hp_atom name) {
  hp_ref attributes = node_at(b, element)->attributes;
  if (!attributes) return NULL;
  const hp_attributes *block = hp_at(b->base, attributes);
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == name) return &block->items[i];
  return NULL;
}

static bool is_element(const hp_builder *b, hp_ref ref, hp_atom name) {
  const hp_node *node = node_at(b, ref);
  return node->kind == HPAR_NODE_ELEMENT && node->ns == HPAR_NAMESPACE_HTML && node->name == name;
}

static hp_ref children_of(const hp_node *node) {
  return node->kind == HPAR_NODE_ELEMENT || node->kind == HPAR_NODE_FRAGMENT ? node->first : 0;
}

/* The node after `ref` in tree order below `top`. */
static hp_ref walk(const hp_builder *b, hp_ref top, hp_ref ref) {
  hp_ref next = children_of(node_at(b, ref));
  while (!next && ref != top) {
    next = node_at(b, ref)->next;
    if (!next) ref = hp_parent_of(b->base, node_at(b, ref));
  }
  return next;
}

static bool disabled(const hp_builder *b, hp_ref option) {
  if (attribute(b, option, HP_DISABLED)) return true;
  hp_ref parent = hp_parent_of(b->base, node_at(b, option));
  return parent && is_element(b, parent, HP_OPTGROUP) && attribute(b, parent, HP_DISABLED);
}

static hp_ref clone_of(hp_builder *b, hp_ref ref) {
  const hp_node *node = node_at(b, ref);
  if (node->kind == HPAR_NODE_ELEMENT) return new_element(b, node->name, node->ns, node->attributes, NULL);
  hp_node *copy = hp_arena_take(b->nodes, sizeof *copy);
  *copy = *node_at(b, ref);
  copy->parent = copy->previous = copy->next = 0;
  if (copy->kind == HPAR_NODE_TEXT) copy->capacity = 0;
  b->node_count++;
  return hp_ref_of(b->base, copy);
}

/* Children of `from`, deeply, to the end of `to`. */
static void clone_children(hp_builder *b, hp_ref from, hp_ref to) {
  hp_ref source = from, target = to;
  for (;;) {
    hp_ref next = children_of(node_at(b, source));
    if (!next) {
      while (source != from && !node_at(b, source)->next) {
        source = hp_parent_of(b->base, node_at(b, source));
        target = hp_parent_of(b->base, node_at(b, target));
      }
      if (source == from) return;
      next = node_at(b, source)->next;
      target = hp_parent_of(b->base, node_at(b, target));
    }
    hp_ref copy = clone_of(b, next);
    hp_append(b->base, target, copy);
    source = next;
    target = copy;
  }
}

/* One inside an option or another one is disabled: it would have to hold itself. The first one counts even so. */
static bool enabled(const hp_builder *b, hp_ref content, hp_ref select) {
  for (hp_ref ref = hp_parent_of(b->base, node_at(b, content)); ref && ref != select;
       ref = hp_parent_of(b->base, node_at(b, ref)))
    if (is_element(b, ref, HP_OPTION) || is_element(b, ref, HP_SELECTEDCONTENT)) return false;
  return true;
}

//§ maybe-clone-an-option-into-selectedcontent
void option_popped(hp_builder *b, hp_ref option) {
  if (!b->selectedcontent_seen) {
    if (HP_SPECULATIVE && !b->last[HP_SELECT]) hp_floor_assume(b, HPAR_ASSUME_NO_SELECTEDCONTENT, HP_SELECTEDCONTENT);
    return;
  }
  if (HP_SPECULATIVE) hp_floor_poison(b);
  hp_ref select = hp_parent_of(b->base, node_at(b, option));
  while (select && !is_element(b, select, HP_SELECT)) select = hp_parent_of(b->base, node_at(b, select));
  if (!select || attribute(b, select, HP_MULTIPLE)) return;
  hp_ref content = 0;
  bool by_attribute = attribute(b, option, HP_SELECTED) != NULL, chosen = by_attribute;
  if (!by_attribute && disabled(b, option)) return;
  /* The last one that says so is selected, or the first that may be: neither asks for a walk over all of them. */
  for (hp_ref ref = by_attribute ? walk(b, select, option) : 0; ref && ref != select; ref = walk(b, select, ref))
    if (is_element(b, ref, HP_OPTION) && attribute(b, ref, HP_SELECTED)) return;
  for (hp_ref ref = walk(b, select, select); ref && ref != select; ref = walk(b, select, ref)) {
    if (!content && is_element(b, ref, HP_SELECTEDCONTENT)) content = ref;
    if (by_attribute && content) break;
    if (by_attribute || !is_element(b, ref, HP_OPTION)) continue;
    if (ref == option)
      chosen = true;
    else if (attribute(b, ref, HP_SELECTED) || (!chosen && !disabled(b, ref)))
      return;
  }
  if (!content || !chosen || !enabled(b, content, select)) return;
  while (node_at(b, content)->first) hp_remove(b->base, node_at(b, content)->first);
  clone_children(b, option, content);
}
