/* Tags whose attributes the parser adds to the open html or body. The element began earlier, so the
 * outline builder inserts nothing. Rules see the tag all the same: a filter that removes onload
 * must also remove that of a second <body>.
 *
 * Selectors match the element with the attributes of all its tags so far, at the place among its
 * siblings where it began. The first value of an attribute counts, as in the parser. An attribute
 * that rules removed from an earlier tag stays known, because the rules must remove it from this
 * tag, too. */

#include "base/memory.h"
#include "rewrite/state.h"

#include <string.h>

enum { TARGETS = 2 };

typedef struct hp_kept_attribute {
  hp_atom name;
  uint32_t value, length; /* in `values` */
} hp_kept_attribute;

void hp_merge_targets_reset(hpar_rewriter *r) {
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) r->element.merge_targets[i].is_known = false;
}

void hp_merge_targets_close(hpar_rewriter *r) {
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) {
    hp_merge_target *target = &r->element.merge_targets[i];
    hp_bytes_free(&target->frame);
    hp_bytes_free(&target->attributes);
    hp_bytes_free(&target->values);
    hp_bytes_free(&target->matched);
  }
  hp_free(r->element.merge_targets);
}

size_t hp_merge_targets_memory(const hpar_rewriter *r) {
  size_t bytes = r->element.merge_targets ? TARGETS * sizeof *r->element.merge_targets : 0;
  for (int i = 0; r->element.merge_targets && i < TARGETS; i++) {
    const hp_merge_target *target = &r->element.merge_targets[i];
    bytes += (size_t)target->frame.capacity + target->attributes.capacity + target->values.capacity +
             target->matched.capacity;
  }
  return bytes;
}

/* Requires: the element is open. A worker never inserts html or body for good: see
 * speculation/dispositions.c. */
hp_merge_target *hp_rewriter_begin_target(hpar_rewriter *r, const hp_outline_insertion *insertion) {
  const hp_node *node = hp_outline_node(&r->outline, insertion->node);
  if (node->ns != HPAR_NAMESPACE_HTML || !insertion->is_open || hp_speculates(r)) return NULL;
  if (!hp_matching_reads_tag(&r->matching, node->name)) return NULL;
  if (!r->element.merge_targets)
    r->element.merge_targets = hp_allocate_zeroed(TARGETS * sizeof *r->element.merge_targets);
  if (!r->element.merge_targets) hp_unwind_now(&r->unwind, HPAR_ERROR_MEMORY);
  hp_merge_target *target = &r->element.merge_targets[node->name == HP_ATOM_BODY];
  const size_t rules = r->rules->count / 8 + 1;
  target->is_known = true;
  target->attributes.length = target->values.length = target->matched.length = 0;
  memset(hp_bytes_extend(&target->matched, rules, &r->unwind), 0, rules);
  target->of_type = hp_matching_remember(&r->matching, insertion, &target->frame);
  return target;
}

bool hp_merge_target_knows(hp_merge_target *target, uint32_t rule) {
  char *byte = &target->matched.data[rule / 8], bit = (char)(1 << rule % 8);
  bool known = *byte & bit;
  *byte |= bit;
  return known;
}

static uint32_t kept_count(const hp_merge_target *target) {
  return target->attributes.length / (uint32_t)sizeof(hp_kept_attribute);
}

static hp_kept_attribute kept_at(const hp_merge_target *target, uint32_t index) {
  hp_kept_attribute kept;
  memcpy(&kept, target->attributes.data + index * sizeof kept, sizeof kept);
  return kept;
}

static bool is_kept(const hp_merge_target *target, hp_atom name) {
  for (uint32_t i = 0; i < kept_count(target); i++)
    if (kept_at(target, i).name == name) return true;
  return false;
}

void hp_merge_target_keep(hpar_rewriter *r, hp_merge_target *target, const hp_attributes *attributes) {
  for (uint32_t i = 0; attributes && i < attributes->count; i++) {
    const hp_attribute *item = &attributes->items[i];
    /* Other names are in no selector. Therefore the list is short. */
    if (!item->name || !hp_names_is_fixed(&r->names, item->name) || is_kept(target, item->name)) continue;
    const hp_kept_attribute kept = {item->name, target->values.length, item->length};
    hp_bytes_append(&target->values, item->value, item->length, &r->unwind);
    hp_bytes_append(&target->attributes, (const char *)&kept, sizeof kept, &r->unwind);
  }
}

/* Returns the attributes of the element after the tag. */
static const hp_attributes *all_attributes(hpar_rewriter *r, const hp_merge_target *target) {
  const uint32_t count = kept_count(target);
  hp_attributes *block = hp_scratch_take(&r->scratch, sizeof *block + count * sizeof(hp_attribute));
  block->count = count;
  block->deferred = 0;
  for (uint32_t i = 0; i < count; i++) {
    const hp_kept_attribute kept = kept_at(target, i);
    block->items[i] = (hp_attribute){kept.name, kept.length, target->values.data + kept.value};
  }
  return block;
}

void hp_rewriter_merged(void *context, bool is_body) {
  hpar_rewriter *r = context;
  const hp_atom name = is_body ? HP_ATOM_BODY : HP_ATOM_HTML;
  hp_merge_target *target = r->element.merge_targets ? &r->element.merge_targets[is_body] : NULL;
  if (!r->token.is_tag || !r->token.has_spans || !target || !target->is_known) return;
  hp_merge_target_keep(r, target, hp_rewriter_attributes(r, HPAR_NAMESPACE_HTML));
  const hp_attributes *all = all_attributes(r, target);
  hp_frame *frame = hp_scratch_take(&r->scratch, target->frame.length);
  memcpy(frame, target->frame.data, target->frame.length);
  if (hp_matching_match_again(&r->matching, name, frame, target->of_type, all))
    hp_rewriter_apply_merged(r, target, name);
}
