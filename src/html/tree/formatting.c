/* The list of active formatting elements. Whether an entry is open is a bit in its node, so that
 * reconstruction does not search the stack. */

#include "html/tree/construct.h"

static bool same_attributes(const hp_builder *b, hp_ref left, hp_ref right) {
  if (left == right) return true;
  const hp_attributes *l = hp_at(b->base, left), *r = hp_at(b->base, right);
  uint32_t count = left ? l->count : 0;
  if (count != (right ? r->count : 0)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const hp_attribute *a = &l->items[i];
    uint32_t j = 0;
    /* Mostly the order is the same, too. */
    if (r->items[i].name == a->name)
      j = i;
    else
      while (j < count && r->items[j].name != a->name) j++;
    if (j == count || r->items[j].length != a->length || memcmp(r->items[j].value, a->value, a->length) != 0)
      return false;
  }
  return true;
}

static void append(hp_builder *b, hp_formatting entry) {
  hp_grow(&b->formatting, &b->formatting_capacity, b->formatting_count + 1, b->fail);
  b->formatting[b->formatting_count++] = entry;
}

static HP_OUT_OF_LINE void push_among_its_like(hp_builder *b, hp_ref ref) {
  const hp_node *node = node_at(b, ref);
  uint32_t equal = 0, named = 1, earliest = 0, i = b->formatting_count;
  for (; i > 0 && b->formatting[i - 1].node; i--) {
    const hp_formatting *entry = &b->formatting[i - 1];
    if (entry->name != node->name) continue;
    named++;
    if (same_attributes(b, entry->attributes, node->attributes)) {
      equal++;
      earliest = i - 1;
    }
  }
  if (i == 0) hp_outer_assume_ark(b, node->name, named);
  if (equal >= 3) remove_formatting(b, earliest);
  append(b, (hp_formatting){ref, node->name, node->attributes});
}

//§ push-onto-the-list-of-active-formatting-elements
void push_formatting(hp_builder *b, hp_ref ref) {
  const hp_node *node = node_at(b, ref);
  hp_formatting *list = b->formatting;
  uint32_t i = b->formatting_count;
  while (i > 0 && list[i - 1].node && list[i - 1].name != node->name) i--;
  if ((i > 0 && list[i - 1].node) || b->formatting_count == b->formatting_capacity) {
    push_among_its_like(b, ref);
    return;
  }
  if (i == 0) hp_outer_assume_ark(b, node->name, 1);
  list[b->formatting_count++] = (hp_formatting){ref, node->name, node->attributes};
}

void push_marker(hp_builder *b) { append(b, (hp_formatting){0, 0, 0}); }

//§ clear-the-list-of-active-formatting-elements-up-to-the-last-marker
void clear_to_marker(hp_builder *b) {
  while (b->formatting_count) {
    if (!b->formatting[--b->formatting_count].node) return;
  }
  hp_outer_poison(b);
}

void remove_formatting(hp_builder *b, uint32_t index) {
  b->formatting_count--;
  memmove(&b->formatting[index], &b->formatting[index + 1], (b->formatting_count - index) * sizeof *b->formatting);
}

static bool closed(const hp_builder *b, const hp_formatting *entry) {
  return entry->node && !(node_at(b, entry->node)->flags & HP_FLAG_OPEN);
}

//§ reconstruct-the-active-formatting-elements
void reconstruct_slowly(hp_builder *b) {
  uint32_t first = b->formatting_count;
  while (first > 0 && closed(b, &b->formatting[first - 1])) first--;
  if (first == 0) hp_outer_assume(b, HPAR_ASSUME_FORMATTING_CLEAN, 0);
  for (uint32_t i = first; i < b->formatting_count; i++) {
    hp_formatting *entry = &b->formatting[i];
    hp_token token = {.kind = HPAR_TOKEN_START_TAG, .name = entry->name, .attributes = entry->attributes};
    hp_ref clone = insert_html_slowly(b, &token, true);
    b->formatting[i].node = clone;
  }
}
