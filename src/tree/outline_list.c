#include "tree/outline_list.h"

#define HP_HAS_NODES 0

#include "base/memory.h"
#include "base/process.h"
#include "tree/stack.h"

#include "tree/listed.inc"

static hp_outline *outline_of(hp_builder *b) { return (hp_outline *)b; }

/*** the hash table: linear hashing, whose number of buckets grows by one at a time ***/

enum { ENTRIES_A_BUCKET = 2, MIN_BUCKETS = 8 };

static uint32_t hash_of(const hp_outline_listed *e) {
  return (uint32_t)(hp_hash_mix(e->fingerprint[0] | (uint64_t)e->fingerprint[1] << 32) >> 16);
}

static uint32_t highest_power(uint32_t count) { return UINT32_C(1) << (31 - __builtin_clz(count)); }

static uint32_t *bucket_of(hp_builder *b, uint32_t hash) {
  const uint32_t power = highest_power(b->formatting.alike_size), index = hash & (2 * power - 1);
  return &b->formatting.alike[index < b->formatting.alike_size ? index : index - power];
}

static void link_alike(hp_builder *b, uint32_t index) {
  hp_outline_listed *entry = &hp_outline_list(b)[index];
  uint32_t *bucket = bucket_of(b, hash_of(entry));
  entry->alike = *bucket;
  *bucket = index + 1;
}

/* Returns the link to an entry after the last marker. Such entries are the first of a bucket. */
static uint32_t *link_to(hp_builder *b, uint32_t index) {
  hp_outline_listed *list = hp_outline_list(b);
  uint32_t *link = bucket_of(b, hash_of(&list[index]));
  while (*link != index + 1) link = &list[*link - 1].alike;
  return link;
}

static void unlink_alike(hp_builder *b, uint32_t index) {
  if (b->formatting.alike_size) *link_to(b, index) = hp_outline_list(b)[index].alike;
}

/* Adds a bucket, and moves a part of the entries of another bucket there. Keeps their order. */
static void add_bucket(hp_builder *b) {
  const uint32_t added = b->formatting.alike_size, power = highest_power(added);
  hp_grow_tight(&b->formatting.alike, &b->formatting.alike_capacity, (size_t)added + 1, b->unwind);
  hp_outline_listed *list = hp_outline_list(b);
  uint32_t next = b->formatting.alike[added - power],
           *tails[2] = {&b->formatting.alike[added - power], &b->formatting.alike[added]};
  while (next) {
    hp_outline_listed *entry = &list[next - 1];
    bool moves = (hash_of(entry) & (2 * power - 1)) == added;
    *tails[moves] = next;
    tails[moves] = &entry->alike;
    next = entry->alike;
  }
  *tails[0] = *tails[1] = 0;
  b->formatting.alike_size = added + 1;
}

static void fill_table(hp_builder *b) {
  const hp_outline_listed *list = hp_outline_list(b);
  uint32_t size = higher(MIN_BUCKETS, b->formatting.linked / ENTRIES_A_BUCKET + 1);
  hp_grow_tight(&b->formatting.alike, &b->formatting.alike_capacity, size, b->unwind);
  memset(b->formatting.alike, 0, size * sizeof *b->formatting.alike);
  b->formatting.alike_size = size;
  for (uint32_t i = 0; i < b->formatting.linked; i++)
    if (!hp_is_marker(&list[i]) && !hp_is_removed(&list[i])) link_alike(b, i);
}

uint32_t hp_outline_list_count_equal(hp_builder *b, const hp_outline_listed *entry, uint32_t *earliest) {
  uint32_t equal = 0;
  hp_outline_list_link(b);
  if (!b->formatting.alike_size) fill_table(b);
  const hp_outline_listed *list = hp_outline_list(b);
  for (uint32_t i = *bucket_of(b, hash_of(entry)); i > b->formatting.marker; i = list[i - 1].alike) {
    if (!hp_same_fingerprint(&list[i - 1], entry)) continue;
    if (!equal++ || i - 1 < *earliest) *earliest = i - 1;
  }
  return equal;
}

/*** entries ***/

static void note_place(hp_builder *b, uint32_t index) {
  const hp_outline_listed *entry = &hp_outline_list(b)[index];
  if (entry->element & 1) b->stack.entries[entry->element >> 1].listed = index + 1;
}

static void release_element(hp_builder *b, const hp_outline_listed *entry) {
  if (hp_is_closed(entry)) hp_outline_release(outline_of(b), entry->element);
}

static void link_entry(hp_builder *b, uint32_t index) {
  hp_outline_listed *entry = &hp_outline_list(b)[index];
  uint32_t *last = hp_is_marker(entry) ? &b->formatting.marker : &b->formatting.last[hp_listed_name(entry)];
  if (b->formatting.alike_size && b->formatting.alike_size < b->formatting.linked / ENTRIES_A_BUCKET) add_bucket(b);
  entry->previous = *last;
  *last = index + 1;
  b->formatting.linked++;
  if (b->formatting.alike_size && !hp_is_marker(entry)) link_alike(b, index);
}

void hp_outline_list_link_all(hp_builder *b) {
  while (b->formatting.linked < b->formatting.count) link_entry(b, b->formatting.linked);
}

/* Makes the list contiguous if at least half of it are removed entries. */
static void drop_tombstones(hp_builder *b) {
  uint32_t tombstones = 0;
  for (uint32_t i = 0; i < b->formatting.count; i++) tombstones += hp_is_removed(&hp_outline_list(b)[i]);
  if (tombstones && tombstones >= b->formatting.count - tombstones) hp_outline_list_close_all_tombstones(b);
}

void hp_outline_list_grow(hp_builder *b) {
  drop_tombstones(b);
  hp_grow_tight(&b->formatting.outline_entries, &b->formatting.capacity, (size_t)b->formatting.count + 1, b->unwind);
}

void hp_outline_list_append(hp_builder *b, const hp_outline_listed *entry) {
  hp_outline_list_reserve(b);
  if (b->formatting.count - b->formatting.linked >= HP_MAX_UNLINKED) hp_outline_list_link_all(b);
  hp_outline_list(b)[b->formatting.count++] = *entry;
  if (!hp_is_marker(entry)) note_place(b, b->formatting.count - 1);
}

uint32_t hp_outline_list_previous(const hp_builder *b, uint32_t index) {
  hp_outline_listed *list = hp_outline_list(b), *entry = &list[index];
  uint32_t previous = entry->previous;
  while (previous) {
    const hp_outline_listed *before = &list[previous - 1];
    if (hp_listed_name(before) != hp_listed_name(entry))
      previous--;
    else if (hp_is_removed(before))
      previous = before->previous;
    else
      break;
  }
  entry->previous = previous; /* shortens the path for the next search */
  return previous;
}

/* Takes a linked entry out of the links, which is the last of its name or has no later one whose
 * link leads here after the change. */
static void unlink_entry(hp_builder *b, uint32_t index) {
  uint32_t *last = &b->formatting.last[hp_listed_name(&hp_outline_list(b)[index])];
  unlink_alike(b, index);
  if (*last == index + 1) *last = hp_outline_list_previous(b, index);
}

void hp_outline_list_pop(hp_builder *b) {
  const uint32_t index = b->formatting.count - 1;
  hp_outline_listed *list = hp_outline_list(b), *entry = &list[index];
  release_element(b, entry);
  if (b->formatting.count > b->formatting.linked) {
    b->formatting.count = index;
    return;
  }
  if (hp_is_marker(entry))
    b->formatting.marker = entry->previous;
  else
    unlink_entry(b, index);
  uint32_t count = index;
  while (count && hp_is_removed(&list[count - 1])) count--;
  b->formatting.count = b->formatting.linked = count;
}

void hp_outline_list_remove(hp_builder *b, uint32_t index) {
  if (index == b->formatting.count - 1) {
    hp_outline_list_pop(b);
    return;
  }
  hp_outline_list_link(b);
  hp_outline_listed *entry = &hp_outline_list(b)[index];
  unlink_entry(b, index);
  release_element(b, entry);
  entry->element = HP_LISTED_REMOVED;
}

void hp_outline_list_clear(hp_builder *b) {
  if (b->formatting.linked) memset(b->formatting.last, 0, sizeof b->formatting.last);
  b->formatting.count = b->formatting.linked = b->formatting.marker = b->formatting.alike_size = 0;
}

/*** elements ***/

void hp_outline_list_open(hp_builder *b, uint32_t index, uint32_t open) {
  hp_outline_listed *entry = &hp_outline_list(b)[index];
  release_element(b, entry);
  entry->element = hp_listed_open(open);
  b->stack.entries[open].listed = index + 1;
}

void hp_outline_list_close(hp_builder *b, uint32_t open) {
  const uint32_t listed = listed_at(b, open);
  if (!listed) return;
  const hp_ref node = b->stack.entries[open].node;
  hp_outline_list(b)[listed - 1].element = node;
  if (node != outline_of(b)->plain) hp_outline_node(outline_of(b), node)->first++;
}

void hp_outline_list_renumber(hp_builder *b, uint32_t from, uint32_t to) {
  const uint32_t listed = b->stack.entries[to].listed;
  if (!listed || listed > b->formatting.count) return;
  hp_outline_listed *entry = &hp_outline_list(b)[listed - 1];
  if (entry->element == hp_listed_open(from)) entry->element = hp_listed_open(to);
}

bool hp_outline_lists(const hp_outline *s, hp_ref node) {
  const hp_builder *b = &s->builder;
  const uint32_t popped = hp_stack_popped(&b->stack, node), listed = popped ? b->stack.entries[popped].listed : 0;
  if (popped)
    return listed && listed <= b->formatting.count && b->formatting.outline_entries[listed - 1].element == node;
  for (uint32_t i = b->formatting.count; i > 0; i--)
    if (b->formatting.outline_entries[i - 1].element == node) return true;
  return false;
}

/*** moves ***/

/* Moves an entry to the place of a removed one. No entry of its name is between them. */
static void move_entry(hp_builder *b, uint32_t from, uint32_t to) {
  hp_outline_listed *list = hp_outline_list(b);
  uint32_t *last = &b->formatting.last[hp_listed_name(&list[from])];
  hp_outline_list_previous(b, from);
  if (b->formatting.alike_size) *link_to(b, from) = to + 1;
  list[to] = list[from];
  if (*last == from + 1) *last = to + 1;
  note_place(b, to);
  list[from].element = HP_LISTED_REMOVED;
  list[from].previous = to + 1;
}

void hp_outline_list_move_after(hp_builder *b, uint32_t index, uint32_t target) {
  hp_outline_list_link(b);
  hp_outline_listed *list = hp_outline_list(b);
  unlink_entry(b, index);
  const hp_outline_listed entry = list[index];
  list[index].element = HP_LISTED_REMOVED;
  for (uint32_t i = index + 1, to = index; i <= target; i++) {
    if (hp_is_removed(&list[i])) {
      list[i].previous = i; /* later entries of its name may pass it */
      continue;
    }
    move_entry(b, i, to);
    to = i;
  }
  list[target] = entry;
  b->formatting.last[hp_listed_name(&entry)] = target + 1;
  note_place(b, target);
  if (b->formatting.alike_size) link_alike(b, target);
}

void hp_outline_list_close_tombstones(hp_builder *b, uint32_t first) {
  hp_outline_list_link(b);
  hp_outline_listed *list = hp_outline_list(b);
  uint32_t to = first;
  for (uint32_t i = b->formatting.count; i > first; i--)
    if (!hp_is_removed(&list[i - 1])) unlink_entry(b, i - 1);
  for (uint32_t i = first; i < b->formatting.count; i++)
    if (!hp_is_removed(&list[i])) list[to++] = list[i];
  b->formatting.count = to;
  b->formatting.linked = first;
  hp_outline_list_link_all(b);
}

void hp_outline_list_close_all_tombstones(hp_builder *b) {
  hp_outline_listed *list = hp_outline_list(b);
  const uint32_t count = b->formatting.count;
  hp_outline_list_clear(b);
  for (uint32_t i = 0; i < count; i++) {
    if (hp_is_removed(&list[i])) continue;
    const uint32_t to = b->formatting.count++;
    list[to] = list[i];
    if (!hp_is_marker(&list[to])) note_place(b, to);
  }
  hp_outline_list_link_all(b);
}

/*** lists of any builder ***/

bool hp_has_listed(const hp_builder *b, hp_atom name, bool *marker) {
  return hp_is_outline(b) ? find_listed(b, name, marker) : hp_find_listed(b, name, marker);
}

hp_atom hp_listed_name_of(const hp_builder *b, uint32_t i) {
  if (!hp_is_outline(b)) {
    const hp_formatting *entry = &b->formatting.entries[i];
    return !entry->node ? UINT32_MAX : entry->node == HP_FORMATTING_TOMBSTONE ? HP_NO_ATOM : entry->name;
  }
  const hp_outline_listed *entry = &hp_outline_list(b)[i];
  if (hp_is_marker(entry)) return UINT32_MAX;
  return hp_is_removed(entry) ? HP_NO_ATOM : hp_formatting_name(hp_listed_name(entry));
}
