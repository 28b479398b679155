#include "html/tree/construct.h"

/* Index in the list of the entry for `node`, or -1. */
static int64_t listed(const hp_builder *b, hp_ref node) {
  for (uint32_t i = b->formatting_count; i > 0; i--)
    if (b->formatting[i - 1].node == node) return i - 1;
  return -1;
}

/* Index in the list of the last entry named `name` after the last marker, or -1. */
static int64_t last_listed(hp_builder *b, hp_atom name) {
  for (uint32_t i = b->formatting_count; i > 0; i--) {
    if (!b->formatting[i - 1].node) return -1;
    if (b->formatting[i - 1].name == name) return i - 1;
  }
  hp_outer_assume(b, HPAR_ASSUME_NO_FORMATTING, name);
  return -1;
}

static void insert_in_stack(hp_builder *b, uint32_t index, hp_open_element entry) {
  /* Pushed on top and carried down: the entries above are put back with their links. */
  push_html(b, entry.node, entry.name);
  hp_open_element moved = *current(b);
  remove_from_stack(b, b->depth);
  hp_open_element *stack = b->stack;
  for (uint32_t i = b->depth; i >= index; i--)
    if (stack[i].ns == HPAR_NAMESPACE_HTML) b->last[stack[i].name] = stack[i].previous_same;
  memmove(&stack[index + 1], &stack[index], (b->depth + 1 - index) * sizeof *stack);
  stack[index] = moved;
  b->depth++;
  b->top++;
  rebuild_stack_from(b, index);
}

//§ adoption-agency-algorithm
void run_adoption_agency(hp_builder *b, const hp_token *t) {
  hp_atom subject = t->name;
  if (is_html(current(b), subject) && listed(b, current(b)->node) < 0) {
    pop(b);
    return;
  }
  for (int outer = 0; outer < 8; outer++) {
    int64_t found = last_listed(b, subject);
    if (found < 0) {
      any_other_end_tag(b, t);
      return;
    }
    uint32_t in_list = (uint32_t)found;
    hp_ref formatting = b->formatting[in_list].node;
    if (!(node_at(b, formatting)->flags & HP_FLAG_OPEN)) {
      parse_error(b, t);
      remove_formatting(b, in_list);
      return;
    }
    uint32_t open = b->last[subject];
    while (b->stack[open].node != formatting) open = b->stack[open].previous_same;
    if (open < current(b)->scope) {
      parse_error(b, t);
      return;
    }
    if (open != b->depth) parse_error(b, t);

    uint32_t furthest = 0;
    if (current(b)->special > open)
      for (furthest = open + 1; !(b->stack[furthest].tag & HP_TAG_SPECIAL);) furthest++;
    if (!furthest) {
      pop_through(b, open);
      remove_formatting(b, in_list);
      return;
    }

    const hp_open_element ancestor = b->stack[open - 1];
    const hp_ref block = b->stack[furthest].node;
    uint32_t bookmark = in_list;
    hp_ref last = block;
    uint32_t above = furthest - 1;
    for (int inner = 1; above != open; inner++, above--) {
      hp_open_element *entry = &b->stack[above];
      int64_t index = entry->tag & HP_TAG_FORMATTING && entry->ns == HPAR_NAMESPACE_HTML ? listed(b, entry->node) : -1;
      if (inner > 3 && index >= 0) {
        remove_formatting(b, (uint32_t)index);
        if ((uint32_t)index < bookmark) bookmark--;
        if ((uint32_t)index < in_list) in_list--;
        index = -1;
      }
      if (index < 0) {
        remove_from_stack(b, above);
        furthest--;
        continue;
      }
      hp_ref clone = new_element(b, entry->name, HPAR_NAMESPACE_HTML, b->formatting[index].attributes, NULL);
      node_at(b, entry->node)->flags &= (uint16_t)~HP_FLAG_OPEN;
      node_at(b, clone)->flags |= HP_FLAG_OPEN;
      b->formatting[index].node = clone;
      b->stack[above].node = clone;
      if (last == block) bookmark = (uint32_t)index + 1;
      hp_remove(b->base, last);
      hp_append(b->base, clone, last);
      last = clone;
    }

    hp_remove(b->base, last);
    insert_element_at(
        b, place_for(b, ancestor.node, ancestor.tag, ancestor.ns == HPAR_NAMESPACE_HTML ? ancestor.name : 0), last);
    hp_ref clone = new_element(b, subject, HPAR_NAMESPACE_HTML, b->formatting[in_list].attributes, NULL);
    hp_move_children(b->base, block, clone);
    hp_append(b->base, block, clone);

    hp_formatting entry = {clone, subject, b->formatting[in_list].attributes};
    remove_formatting(b, in_list);
    if (in_list < bookmark) bookmark--;
    memmove(&b->formatting[bookmark + 1], &b->formatting[bookmark],
            (b->formatting_count - bookmark) * sizeof *b->formatting);
    b->formatting[bookmark] = entry;
    b->formatting_count++;

    remove_from_stack(b, open);
    furthest--;
    insert_in_stack(b, furthest + 1, (hp_open_element){.node = clone, .name = subject});
  }
}

void any_other_end_tag(hp_builder *b, const hp_token *t) {
  uint32_t found = last_of(b, t->name), special = current(b)->special;
  if (found && found >= special) {
    generate_implied_end_tags(b, t->name);
    if (b->depth != found) parse_error(b, t);
    pop_through(b, found);
    return;
  }
  parse_error(b, t);
  if (HP_SPECULATIVE && !special) hp_outer_poison(b);
}
