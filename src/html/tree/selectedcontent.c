/* The post-insertion life of an option: the contents of a select's selected option are cloned into the first
 * `selectedcontent` of the select. Nothing here runs unless the document has such an element. */

#include "html/tree/construct.h"

#if HP_SPECULATIVE

void option_popped(hp_builder *b, hp_ref option) {
  (void)option;
  if (b->selectedcontent_seen)
    hp_outer_poison(b);
  else if (!b->last[HP_SELECT])
    hp_outer_assume(b, HPAR_ASSUME_NO_SELECTEDCONTENT, HP_SELECTEDCONTENT);
}

#else

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
static hp_ref walk(hp_builder *b, hp_ref top, hp_ref ref) {
  hp_ref next = children_of(node_at(b, ref));
  b->walked++;
  while (!next && ref != top) {
    b->walked++;
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
static bool enabled(hp_builder *b, hp_ref content, hp_ref select) {
  for (hp_ref ref = hp_parent_of(b->base, node_at(b, content)); ref && ref != select;
       ref = hp_parent_of(b->base, node_at(b, ref))) {
    if (is_element(b, ref, HP_OPTION) || is_element(b, ref, HP_SELECTEDCONTENT)) return false;
    b->walked++;
  }
  return true;
}

/* Where the option's contents go, or 0, by looking at all that stands there. */
static hp_ref find_by_walking(hp_builder *b, hp_ref option) {
  hp_ref select = hp_parent_of(b->base, node_at(b, option)), content = 0;
  for (; select && !is_element(b, select, HP_SELECT); b->walked++) select = hp_parent_of(b->base, node_at(b, select));
  if (!select) return 0;
  bool by_attribute = attribute(b, option, HP_SELECTED) != NULL, chosen = by_attribute;
  /* The last one that says so is selected, or the first that may be: neither asks for a walk over all of them. */
  for (hp_ref ref = by_attribute ? walk(b, select, option) : 0; ref && ref != select; ref = walk(b, select, ref))
    if (is_element(b, ref, HP_OPTION) && attribute(b, ref, HP_SELECTED)) return 0;
  for (hp_ref ref = walk(b, select, select); ref && ref != select; ref = walk(b, select, ref)) {
    if (!content && is_element(b, ref, HP_SELECTEDCONTENT)) content = ref;
    if (by_attribute && content) break;
    if (by_attribute || !is_element(b, ref, HP_OPTION)) continue;
    if (ref == option)
      chosen = true;
    else if (attribute(b, ref, HP_SELECTED) || (!chosen && !disabled(b, ref)))
      return 0;
  }
  return content && chosen && enabled(b, content, select) ? content : 0;
}

static void look_at(hp_builder *b, hp_selection *s, hp_ref ref) {
  const hp_node *node = node_at(b, ref);
  if (node->kind != HPAR_NODE_ELEMENT || node->ns != HPAR_NAMESPACE_HTML) return;
  if (node->name == HP_SELECTEDCONTENT && !s->content) {
    s->content = ref;
    s->holds_itself = !enabled(b, ref, s->select);
  }
  if (node->name != HP_OPTION) return;
  if (attribute(b, ref, HP_SELECTED)) s->selected = ref;
  if (!s->first && !disabled(b, ref)) s->first = ref;
}

/* Goes on until `before` comes, or all of `through` was seen. False: there is no such thing behind what was seen. */
static bool go_on(hp_builder *b, hp_selection *s, hp_ref before, hp_ref through) {
  hp_ref ref = s->seen ? s->seen : s->select, next = s->seen ? 0 : children_of(node_at(b, ref));
  for (;;) {
    b->looked++;
    while (!next) {
      if (through && ref == through) return true;
      if (!ref || ref == s->select) return false;
      next = node_at(b, ref)->next;
      if (!next) ref = hp_parent_of(b->base, node_at(b, ref));
      b->looked++;
    }
    if (next == before) return true;
    look_at(b, s, next);
    ref = next;
    next = children_of(node_at(b, ref));
  }
}

/* `inner` comes behind: it is of the same select, or of one that is within it. */
static void add(hp_builder *b, hp_selection *s, const hp_selection *inner) {
  if (!s->first) s->first = inner->first;
  if (inner->selected) s->selected = inner->selected;
  if (s->content || !inner->content) return;
  s->content = inner->content;
  s->holds_itself = inner->holds_itself || (inner->select != s->select && !enabled(b, inner->select, s->select));
}

/* The same, but what is looked at for the first time is looked at to its end: `all` is told what there is, and
 * `more` if some of it stands behind. */
static bool go_first(hp_builder *b, hp_selection *s, hp_ref before, hp_ref through, hp_selection *all, bool *more) {
  bool first = !s->seen, there = go_on(b, s, before, through);
  *all = *s;
  if (!first || !there) return there;
  hp_selection rest = {.select = s->select, .seen = before ? before : through};
  go_on(b, &rest, 0, 0);
  if (rest.first || rest.selected || rest.content) *more = true;
  add(b, all, &rest);
  return true;
}

/* The select is closed, and part of the one around it. */
static void leave_selection(hp_builder *b) {
  hp_selection *s = &b->selections[--b->selection_count], *around = s - 1;
  if (s->apart || !b->selection_count) return;
  go_on(b, s, 0, 0);
  around->seen = s->select;
  add(b, around, s);
}

/* Of the selects that are open, each within the one before. */
static void follow_selects(hp_builder *b, bool *more) {
  uint32_t count = 0, index = b->last[HP_SELECT], template = b->last[HP_TEMPLATE];
  while (index && !(node_at(b, b->stack[index].node)->flags & HP_FLAG_FOLLOWED)) {
    index = b->stack[index].previous_same;
    count++;
  }
  while (b->selection_count && (!index || b->selections[b->selection_count - 1].select != b->stack[index].node))
    leave_selection(b);
  if (!b->selection_count)
    for (b->looked = 0; index; index = b->stack[index].previous_same) count++;
  if (!count) return;
  uint32_t known = b->selection_count;
  hp_grow(&b->selections, &b->selection_capacity, known + count, b->fail);
  index = b->last[HP_SELECT];
  for (uint32_t i = known + count; i-- > known; index = b->stack[index].previous_same) {
    while (template > index) template = b->stack[template].previous_same;
    b->selections[i] =
        (hp_selection){.select = b->stack[index].node, .apart = template > b->stack[index].previous_same};
    node_at(b, b->stack[index].node)->flags |= HP_FLAG_FOLLOWED;
  }
  b->selection_count = known + count;
  for (uint32_t i = known ? known : 1; i < b->selection_count; i++) {
    hp_selection *s = &b->selections[i], all;
    if (!s->apart) s->apart = !go_first(b, s - 1, s->select, 0, &all, more);
  }
}

/* The same from what is known. False: the option stands where nothing is known of. */
static bool find_in_selection(hp_builder *b, hp_ref option, hp_ref *content) {
  bool more = false;
  hp_selection all;
  follow_selects(b, &more);
  hp_selection *s = &b->selections[b->selection_count - 1];
  bool there = go_first(b, s, 0, option, &all, &more);
  s->seen = option;
  *content = !all.holds_itself && (all.selected ? all.selected : all.first) == option ? all.content : 0;
  if (more || !there) forget_selections(b);
  return there;
}

static bool is_open(const hp_builder *b, hp_ref content) {
  uint32_t index = b->last[HP_SELECTEDCONTENT];
  while (index && b->stack[index].node != content) index = b->stack[index].previous_same;
  return index != 0;
}

//§ maybe-clone-an-option-into-selectedcontent
void option_popped(hp_builder *b, hp_ref option) {
  uint32_t select = b->last[HP_SELECT];
  if (!b->selectedcontent_seen || !select || b->last[HP_TEMPLATE] > select) return;
  if (attribute(b, b->stack[select].node, HP_MULTIPLE)) return;
  if (!attribute(b, option, HP_SELECTED) && disabled(b, option)) return;
  hp_ref content;
  bool walks = !b->selection_count && b->walked < b->looked;
  if (walks || !find_in_selection(b, option, &content)) content = find_by_walking(b, option);
  if (!content) return;
  /* What options it held or will hold changes no answer: an option that says so is selected for good, and so is one
   * without any that does. But if it is open the option stands in it. */
  if (is_open(b, content)) forget_selections(b);
  while (node_at(b, content)->first) hp_remove(b->base, node_at(b, content)->first);
  clone_children(b, option, content);
}

#endif
