#include "tree/active_formatting.h"

#include "base/memory.h"
#include "base/process.h"
#include "dom/value.h"

/*** attributes ***/

/* Up to this many attributes, a linear search costs less than the table of places. */
enum { MAX_SEARCHED = 16 };

/* Compares the attributes from `from` on, whose order differs, by the place of each name in `r`. */
static bool same_in_other_order(hp_builder *b, const hp_attributes *l, const hp_attributes *r, uint32_t from) {
  uint32_t largest = 0, count = l->count;
  for (uint32_t i = from; i < count; i++) largest = higher(largest, higher(l->items[i].name, r->items[i].name));
  uint32_t old = b->formatting.attribute_place_capacity;
  if (largest >= old) {
    hp_grow(&b->formatting.attribute_places, &b->formatting.attribute_place_capacity, (size_t)largest + 1, b->unwind);
    memset(b->formatting.attribute_places + old, 0,
           (b->formatting.attribute_place_capacity - old) * sizeof *b->formatting.attribute_places);
  }
  uint32_t *places = b->formatting.attribute_places;
  bool same = true;
  for (uint32_t i = from; i < count; i++) places[r->items[i].name] = i + 1; // NOLINT: grown above
  for (uint32_t i = from; i < count && same; i++) {
    const hp_attribute *a = &l->items[i];
    uint32_t place = places[a->name]; // NOLINT: as above
    same = place && hp_values_equal(l, i, r, place - 1);
  }
  for (uint32_t i = from; i < count; i++) places[r->items[i].name] = 0; // NOLINT: as above
  return same;
}

bool hp_same_attributes(hp_builder *b, hp_ref left, hp_ref right) {
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
    else if (count > MAX_SEARCHED)
      return same_in_other_order(b, l, r, i);
    else
      while (j < count && r->items[j].name != a->name) j++;
    if (j == count || !hp_values_equal(l, i, r, j)) return false;
  }
  return true;
}

/* Adds a decoded value to the hash: words of 8 bytes, the rest, and the length. */
static uint64_t hash_value(const hp_attribute *a, uint64_t hash) {
  uint32_t at = 0;
  for (; at + 8 <= a->length; at += 8) {
    uint64_t word;
    memcpy(&word, a->value + at, 8);
    hash = hp_hash_mix(hash ^ word);
  }
  for (; at < a->length; at++) hash = hp_hash_mix(hash ^ (unsigned char)a->value[at]);
  return hp_hash_mix(hash ^ a->length);
}

/* Does the same for a deferred value. */
static uint64_t hash_deferred_value(const hp_attributes *block, uint32_t index, uint64_t hash) {
  hp_value_reader reader = hp_value_reader_of(block, index);
  char bytes[8];
  uint32_t count = 0, length = 0;
  for (int byte; (byte = hp_next_value_byte(&reader)) >= 0; length++) {
    bytes[count++] = (char)byte;
    if (count < 8) continue;
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = hp_hash_mix(hash ^ word);
    count = 0;
  }
  for (uint32_t at = 0; at < count; at++) hash = hp_hash_mix(hash ^ (unsigned char)bytes[at]);
  return hp_hash_mix(hash ^ length);
}

uint32_t hp_formatting_hash(const hp_builder *b, hp_atom name, hp_ref attributes) {
  uint64_t sum = name;
  const hp_attributes *block = hp_at(b->base, attributes);
  for (uint32_t i = 0; attributes && i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    sum += hp_is_deferred(block, i) ? hash_deferred_value(block, i, a->name) : hash_value(a, a->name);
  }
  return (uint32_t)(hp_hash_mix(sum) >> 16);
}

void hp_active_formatting_splice(hp_builder *b, const hp_formatting *entries, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count; i++) {
    hp_formatting entry = entries[i];
    entry.open += depth;
    hp_active_formatting_append(b, &entry);
  }
}

/*** lists of any builder ***/

bool hp_has_listed(const hp_builder *b, hp_atom name, bool *marker) {
  return (hp_is_outline(b) ? hp_outline_list_find : hp_active_formatting_find)(b, name, marker);
}

hp_atom hp_listed_name_of(const hp_builder *b, uint32_t i) {
  if (!hp_is_outline(b)) {
    const hp_formatting *entry = &b->formatting.entries[i];
    return !entry->node ? UINT32_MAX : entry->node == HP_FORMATTING_TOMBSTONE ? HP_NO_ATOM : entry->name;
  }
  const hp_outline_listed *entry = &b->formatting.outline_entries[i];
  if (hp_is_marker(entry)) return UINT32_MAX;
  return hp_is_removed(entry) ? HP_NO_ATOM : hp_formatting_name(hp_listed_name(entry));
}
