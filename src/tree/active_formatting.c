#include "tree/active_formatting.h"

#include "base/memory.h"
#include "base/process.h"
#include "dom/value.h"

/*** attributes ***/

/* A search costs less than the table of places, up to so many attributes. */
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

/* Returns a hash of the name and the set of attributes. */
static uint32_t hash_of(const hp_builder *b, hp_atom name, hp_ref attributes) {
  uint64_t sum = name;
  const hp_attributes *block = hp_at(b->base, attributes);
  for (uint32_t i = 0; attributes && i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    sum += hp_is_deferred(block, i) ? hash_deferred_value(block, i, a->name) : hash_value(a, a->name);
  }
  return (uint32_t)(hp_hash_mix(sum) >> 16);
}

/*** the hash table ***/

static bool is_element(const hp_formatting *entry) { return entry->node > HP_FORMATTING_TOMBSTONE; }

static uint32_t *bucket_of(hp_builder *b, uint32_t hash) {
  return &b->formatting.alike[hash & (b->formatting.alike_size - 1)];
}

static void link_alike(hp_builder *b, uint32_t index) {
  hp_formatting *entry = &b->formatting.entries[index];
  uint32_t *bucket = bucket_of(b, entry->hash);
  entry->alike = *bucket;
  *bucket = index + 1;
}

/* Returns the link to an entry after the last marker. Such entries are the first of a bucket. */
static uint32_t *link_to(hp_builder *b, uint32_t index) {
  uint32_t *link = bucket_of(b, b->formatting.entries[index].hash);
  while (*link != index + 1) link = &b->formatting.entries[*link - 1].alike;
  return link;
}

static void unlink_alike(hp_builder *b, uint32_t index) { *link_to(b, index) = b->formatting.entries[index].alike; }

/* Makes a table with at least twice as many buckets as there are entries. */
static void fill_table(hp_builder *b) {
  bool hashed = b->formatting.alike_size != 0;
  uint32_t size = hashed ? b->formatting.alike_size : 32;
  while (size <= b->formatting.linked) size *= 2;
  size *= 2;
  hp_grow(&b->formatting.alike, &b->formatting.alike_capacity, size, b->unwind);
  memset(b->formatting.alike, 0, size * sizeof *b->formatting.alike);
  b->formatting.alike_size = size;
  for (uint32_t i = 0; i < b->formatting.linked; i++) {
    hp_formatting *entry = &b->formatting.entries[i];
    if (!is_element(entry)) continue;
    if (!hashed) entry->hash = hash_of(b, entry->name, entry->attributes);
    link_alike(b, i);
  }
}

uint32_t hp_active_formatting_count_equal(hp_builder *b, const hp_node *node, uint32_t *earliest) {
  uint32_t equal = 0;
  hp_active_formatting_link(b);
  if (!b->formatting.alike_size) fill_table(b);
  uint32_t hash = hash_of(b, node->name, node->attributes);
  for (uint32_t i = *bucket_of(b, hash); i > b->formatting.marker; i = b->formatting.entries[i - 1].alike) {
    const hp_formatting *entry = &b->formatting.entries[i - 1];
    if (entry->hash != hash || entry->name != node->name || !hp_same_attributes(b, entry->attributes, node->attributes))
      continue;
    if (!equal++ || i - 1 < *earliest) *earliest = i - 1;
  }
  return equal;
}

/*** entries ***/

static uint32_t *last_of_name(hp_builder *b, hp_atom name) { return &b->formatting.last[hp_formatting_index(name)]; }

static void note_place(hp_builder *b, uint32_t index) {
  uint32_t old = b->formatting.by_index_capacity, open = b->formatting.entries[index].open;
  if (open >= old) {
    hp_grow(&b->formatting.by_index, &b->formatting.by_index_capacity, (size_t)open + 1, b->unwind);
    memset(b->formatting.by_index + old, 0, (b->formatting.by_index_capacity - old) * sizeof *b->formatting.by_index);
  }
  b->formatting.by_index[open] = index;
}

static bool is_open(const hp_builder *b, const hp_formatting *entry) {
  return node_at(b, entry->node)->flags & HP_FLAG_OPEN;
}

static void link_entry(hp_builder *b, uint32_t index) {
  hp_formatting *list = b->formatting.entries, *entry = &list[index];
  if (!entry->node) {
    entry->previous = b->formatting.marker;
    b->formatting.marker = index + 1;
    b->formatting.linked++;
    return;
  }
  if (is_open(b, entry)) note_place(b, index);
  if (b->formatting.alike_size && index >= b->formatting.alike_size) fill_table(b);
  uint32_t *last = last_of_name(b, entry->name);
  entry->previous = *last;
  entry->next = 0;
  if (*last) list[*last - 1].next = index + 1;
  *last = index + 1;
  b->formatting.linked++;
  if (!b->formatting.alike_size) return;
  entry->hash = hash_of(b, entry->name, entry->attributes);
  link_alike(b, index);
}

void hp_active_formatting_link_all(hp_builder *b) {
  while (b->formatting.linked < b->formatting.count) link_entry(b, b->formatting.linked);
}

uint32_t hp_listed_at(const hp_builder *b, uint32_t index) {
  const hp_ref node = b->stack.entries[index].node;
  for (uint32_t i = b->formatting.count; i > b->formatting.linked; i--)
    if (b->formatting.entries[i - 1].node == node) return i;
  uint32_t at = index < b->formatting.by_index_capacity ? b->formatting.by_index[index] : UINT32_MAX;
  return at < b->formatting.count && b->formatting.entries[at].node == node ? at + 1 : 0;
}

void hp_active_formatting_append(hp_builder *b, const hp_formatting *entry) {
  uint32_t index = b->formatting.count;
  if (index - b->formatting.linked >= HP_MAX_UNLINKED) hp_active_formatting_link_all(b);
  hp_formatting copy = *entry;
  hp_grow(&b->formatting.entries, &b->formatting.capacity, index + 1, b->unwind);
  b->formatting.entries[index] = copy;
  b->formatting.count = index + 1;
}

/* Removes the last entry, and the removed ones before it. */
static void trim(hp_builder *b, uint32_t count) {
  while (count && b->formatting.entries[count - 1].node == HP_FORMATTING_TOMBSTONE) count--;
  b->formatting.count = b->formatting.linked = count;
}

void hp_active_formatting_unlink_last(hp_builder *b) {
  uint32_t index = b->formatting.count - 1;
  const hp_formatting *entry = &b->formatting.entries[index];
  if (!entry->node) {
    b->formatting.marker = entry->previous;
  } else {
    if (b->formatting.alike_size) unlink_alike(b, index);
    *last_of_name(b, entry->name) = entry->previous;
  }
  trim(b, index);
}

/* Returns the index + 1 of the next entry of its name, or 0. */
static uint32_t next_of_name(const hp_builder *b, uint32_t index) {
  const hp_formatting *list = b->formatting.entries;
  uint32_t next = list[index].next;
  if (!next || next > b->formatting.count) return 0;
  return list[next - 1].name == list[index].name && list[next - 1].previous == index + 1 ? next : 0;
}

void hp_active_formatting_remove(hp_builder *b, uint32_t index) {
  if (index == b->formatting.count - 1) {
    hp_active_formatting_pop(b);
    return;
  }
  hp_active_formatting_link(b);
  hp_formatting *list = b->formatting.entries, *entry = &list[index];
  uint32_t next = next_of_name(b, index);
  if (b->formatting.alike_size) unlink_alike(b, index);
  if (next)
    list[next - 1].previous = entry->previous;
  else
    *last_of_name(b, entry->name) = entry->previous;
  if (entry->previous) list[entry->previous - 1].next = next;
  *entry = (hp_formatting){.node = HP_FORMATTING_TOMBSTONE};
}

void hp_active_formatting_clear(hp_builder *b) {
  if (b->formatting.linked) memset(b->formatting.last, 0, sizeof b->formatting.last);
  b->formatting.count = b->formatting.linked = b->formatting.marker = b->formatting.alike_size = 0;
}

void hp_active_formatting_open(hp_builder *b, uint32_t index, hp_ref node, uint32_t open) {
  b->formatting.entries[index].node = node;
  b->formatting.entries[index].open = open;
  if (index < b->formatting.linked) note_place(b, index);
}

/* Moves an entry to the place of a removed one. No entry of its name is between them. */
static void move_entry(hp_builder *b, uint32_t from, uint32_t to) {
  hp_formatting *list = b->formatting.entries;
  uint32_t next = next_of_name(b, from);
  if (b->formatting.alike_size) *link_to(b, from) = to + 1;
  list[to] = list[from];
  list[to].next = next;
  if (next)
    list[next - 1].previous = to + 1;
  else
    *last_of_name(b, list[to].name) = to + 1;
  if (list[to].previous) list[list[to].previous - 1].next = to + 1;
  if (is_open(b, &list[to])) note_place(b, to);
  list[from] = (hp_formatting){.node = HP_FORMATTING_TOMBSTONE};
}

void hp_active_formatting_move_after(hp_builder *b, uint32_t index, uint32_t target) {
  hp_active_formatting_link(b);
  hp_formatting *list = b->formatting.entries, entry = list[index];
  if (b->formatting.alike_size) unlink_alike(b, index);
  *last_of_name(b, entry.name) = entry.previous;
  list[index] = (hp_formatting){.node = HP_FORMATTING_TOMBSTONE};
  for (uint32_t i = index + 1, to = index; i <= target; i++) {
    if (!is_element(&list[i])) continue;
    move_entry(b, i, to);
    to = i;
  }
  list[target] = entry;
  if (entry.previous) list[entry.previous - 1].next = target + 1;
  *last_of_name(b, entry.name) = target + 1;
  note_place(b, target);
  if (b->formatting.alike_size) link_alike(b, target);
}

void hp_active_formatting_close_tombstones(hp_builder *b, uint32_t first) {
  uint32_t to = first, count = b->formatting.count;
  hp_active_formatting_link(b);
  for (uint32_t i = first; i < count; i++) {
    if (!is_element(&b->formatting.entries[i])) continue;
    if (i > to) move_entry(b, i, to);
    to++;
  }
  b->formatting.count = b->formatting.linked = to;
}

void hp_active_formatting_close_all_tombstones(hp_builder *b) {
  uint32_t first = 0, count = b->formatting.count;
  while (first < count && b->formatting.entries[first].node != HP_FORMATTING_TOMBSTONE) first++;
  if (first == count) return;
  hp_active_formatting_clear(b);
  hp_active_formatting_splice(b, b->formatting.entries, count, 0);
}

void hp_active_formatting_splice(hp_builder *b, const hp_formatting *entries, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count; i++) {
    hp_formatting entry = entries[i];
    if (entry.node == HP_FORMATTING_TOMBSTONE) continue;
    entry.open += depth;
    hp_active_formatting_append(b, &entry);
  }
}
