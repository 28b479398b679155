#include "programs/crawl/tally.h"

#include "base/memory.h"
#include "base/process.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  hp_tally_rule rule;
} families[HP_FAMILIES] = {
    [HP_COUNTERS] = {"counters", HP_TALLY_SUM},
    [HP_PROBLEMS] = {"problems", HP_TALLY_SUM},
    [HP_HTTP_STATUS] = {"http_status", HP_TALLY_SUM},
    [HP_CONTENT_TYPES] = {"content_types", HP_TALLY_TOP},
    [HP_CODINGS] = {"content_codings", HP_TALLY_TOP},
    [HP_ENCODINGS] = {"encodings", HP_TALLY_SUM},
    [HP_QUIRKS] = {"quirks", HP_TALLY_SUM},
    [HP_ERRORS] = {"parse_errors", HP_TALLY_SUM},
    [HP_SIZE_BYTES] = {"page_bytes", HP_TALLY_HISTOGRAM},
    [HP_SIZE_NODES] = {"page_nodes", HP_TALLY_HISTOGRAM},
    [HP_SIZE_TOKENS] = {"page_tokens", HP_TALLY_HISTOGRAM},
    [HP_SIZE_ELEMENTS] = {"page_elements", HP_TALLY_HISTOGRAM},
    [HP_SIZE_DEPTH] = {"page_depth", HP_TALLY_HISTOGRAM},
    [HP_SIZE_ATTRIBUTES] = {"page_attributes", HP_TALLY_HISTOGRAM},
    [HP_TEXT_BYTES] = {"page_text_bytes", HP_TALLY_HISTOGRAM},
    [HP_LINKS_A_PAGE] = {"page_links", HP_TALLY_HISTOGRAM},
    [HP_ELEMENTS] = {"elements", HP_TALLY_TOP},
    [HP_ELEMENT_PAGES] = {"pages_with_element", HP_TALLY_TOP},
    [HP_ATTRIBUTES] = {"attributes", HP_TALLY_TOP},
    [HP_LINK_ATTRIBUTES] = {"links_by_attribute", HP_TALLY_SUM},
    [HP_LINK_SCHEMES] = {"links_by_scheme", HP_TALLY_TOP},
    [HP_LINK_HOSTS] = {"links_by_host", HP_TALLY_TOP},
    [HP_PAGE_HOSTS] = {"pages_by_host", HP_TALLY_TOP},
    [HP_SELECTORS] = {"selector_matches", HP_TALLY_SUM},
    [HP_SELECTOR_PAGES] = {"pages_with_match", HP_TALLY_SUM},
    [HP_STATES_AT_CUTS] = {"states_at_cuts", HP_TALLY_SUM},
    [HP_MODES_AT_CUTS] = {"modes_at_cuts", HP_TALLY_SUM},
    [HP_MODES_BY_TOKEN] = {"modes_by_token", HP_TALLY_SUM},
    [HP_MODES_BY_BYTE] = {"modes_by_byte", HP_TALLY_SUM},
    [HP_FIRST_TABLE_TAGS] = {"first_table_tags", HP_TALLY_SUM},
    [HP_SWITCHES] = {"switches", HP_TALLY_SUM},
    [HP_SELF_CLOSING] = {"self_closing", HP_TALLY_SUM},
    [HP_FORMATTING_LISTS] = {"formatting_lists", HP_TALLY_SUM},
    [HP_CHUNK_OUTCOMES] = {"chunk_outcomes", HP_TALLY_SUM},
    [HP_PREDICTORS] = {"predictors", HP_TALLY_SUM},
    [HP_ASSUMPTIONS] = {"wrong_assumptions", HP_TALLY_SUM},
    [HP_PROJECTIONS] = {"projections", HP_TALLY_SUM},
    [HP_GROUPS] = {"groups", HP_TALLY_EXACT},
    [HP_GROUP_PAGES] = {"pages_by_group", HP_TALLY_EXACT},
    [HP_STORED] = {"stored", HP_TALLY_EXACT},
    [HP_REVISITS] = {"revisits", HP_TALLY_EXACT},
};

const char *hp_family_name(hp_family family) { return families[family].name; }
hp_tally_rule hp_family_rule(hp_family family) { return families[family].rule; }

/*** tables ***/

enum { LEAST = 64 };

static uint32_t hash_of(const char *key, size_t length) {
  uint64_t hash = length;
  for (; length >= 8; key += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, key, 8);
    hash = hp_hash_mix(hash ^ word);
  }
  uint64_t word = 0;
  if (length) memcpy(&word, key, length);
  return (uint32_t)hp_hash_mix(hash ^ word);
}

static hp_tally_entry *place_of(const hp_tally_table *t, const char *key, size_t length, uint32_t hash) {
  uint32_t mask = t->capacity - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    hp_tally_entry *e = &t->entries[i];
    if (!e->key || (e->hash == hash && e->length == length && !memcmp(e->key, key, length))) return e;
  }
}

static bool grow(hp_tally_table *t) {
  hp_tally_table grown = {.capacity = t->capacity ? t->capacity * 2 : LEAST,
                          .count = t->count,
                          .error = t->error,
                          .greatest = t->greatest,
                          .version = t->version + 1};
  grown.entries = hp_allocate_zeroed(grown.capacity * sizeof *grown.entries);
  if (!grown.entries) return false;
  for (uint32_t i = 0; i < t->capacity; i++) {
    const hp_tally_entry *e = &t->entries[i];
    if (e->key) *place_of(&grown, e->key, e->length, e->hash) = *e;
  }
  hp_free(t->entries);
  *t = grown;
  return true;
}

uint32_t hp_tally_table_entry(hp_tally_table *t, const char *key, size_t length) {
  if (!t->capacity) hp_hash_open();
  if (t->count >= t->capacity / 2 && !grow(t)) return HP_TALLY_NO_ENTRY;
  uint32_t hash = hash_of(key, length);
  hp_tally_entry *e = place_of(t, key, length, hash);
  if (!e->key) {
    char *copy = hp_allocate(length + 1);
    if (!copy) return HP_TALLY_NO_ENTRY;
    if (length) memcpy(copy, key, length);
    copy[length] = 0;
    *e = (hp_tally_entry){copy, (uint32_t)length, hash, 0};
    t->count++;
  }
  return (uint32_t)(e - t->entries);
}

bool hp_tally_table_add(hp_tally_table *t, const char *key, size_t length, uint64_t count) {
  uint32_t entry = hp_tally_table_entry(t, key, length);
  if (entry == HP_TALLY_NO_ENTRY) return false;
  t->entries[entry].count += count;
  return true;
}

uint64_t hp_tally_table_count(const hp_tally_table *t, const char *key, size_t length) {
  return t->capacity ? place_of(t, key, length, hash_of(key, length))->count : 0;
}

void hp_tally_table_free(hp_tally_table *t) {
  for (uint32_t i = 0; i < t->capacity; i++) hp_free(t->entries[i].key);
  hp_free(t->entries);
  *t = (hp_tally_table){0};
}

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

/* The order of the keys has no effect: the result depends on the counts only. */
static bool limit_table(hp_tally_table *t) {
  if (t->count <= HP_TALLY_KEYS) return true;
  uint64_t *counts = hp_allocate(t->count * sizeof *counts);
  hp_tally_table kept = {.error = t->error, .version = t->version};
  if (!counts) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->capacity; i++)
    if (t->entries[i].key) counts[count++] = t->entries[i].count;
  qsort(counts, count, sizeof *counts, descending);
  uint64_t less = counts[HP_TALLY_KEYS];
  hp_free(counts);
  bool fine = true;
  for (uint32_t i = 0; fine && i < t->capacity; i++) {
    const hp_tally_entry *e = &t->entries[i];
    if (e->key && e->count > less) fine = hp_tally_table_add(&kept, e->key, e->length, e->count - less);
  }
  kept.error += less;
  hp_tally_table_free(fine ? t : &kept);
  if (fine) *t = kept;
  return fine;
}

/*** tallies ***/

bool hp_tally_settle(hp_tally *tally, hp_family family) {
  hp_tally_table *t = &tally->tables[family];
  return families[family].rule != HP_TALLY_TOP || t->count < 2 * HP_TALLY_KEYS || limit_table(t);
}

bool hp_tally_add(hp_tally *tally, hp_family family, const char *key, size_t length, uint64_t count) {
  if (length > HP_TALLY_KEY_BYTES) length = HP_TALLY_KEY_BYTES;
  return hp_tally_table_add(&tally->tables[family], key, length, count) && hp_tally_settle(tally, family);
}

bool hp_tally_add_text(hp_tally *tally, hp_family family, const char *key, uint64_t count) {
  return hp_tally_add(tally, family, key, strlen(key), count);
}

uint64_t hp_histogram_bucket(uint64_t value) {
  if (value < 16) return value;
  unsigned shift = 59 - (unsigned)__builtin_clzll(value);
  return value >> shift << shift;
}

bool hp_tally_add_value(hp_tally *tally, hp_family family, uint64_t value) {
  char key[24];
  int length = snprintf(key, sizeof key, "%llu", (unsigned long long)hp_histogram_bucket(value));
  hp_tally_raise(tally, family, value);
  return hp_tally_add(tally, family, key, (size_t)length, 1);
}

void hp_tally_add_error(hp_tally *tally, hp_family family, uint64_t error) { tally->tables[family].error += error; }

void hp_tally_raise(hp_tally *tally, hp_family family, uint64_t value) {
  uint64_t *greatest = &tally->tables[family].greatest;
  if (*greatest < value) *greatest = value;
}

bool hp_tally_merge(hp_tally *sum, const hp_tally *more) {
  for (int f = 0; f < HP_FAMILIES; f++) {
    const hp_tally_table *t = &more->tables[f];
    for (uint32_t i = 0; i < t->capacity; i++) {
      const hp_tally_entry *e = &t->entries[i];
      if (e->key && !hp_tally_table_add(&sum->tables[f], e->key, e->length, e->count)) return false;
    }
    sum->tables[f].error += t->error;
    hp_tally_raise(sum, (hp_family)f, t->greatest);
    if (families[f].rule == HP_TALLY_TOP && sum->tables[f].count > HP_TALLY_MERGED_KEYS &&
        !limit_table(&sum->tables[f]))
      return false;
  }
  return true;
}

bool hp_tally_limit(hp_tally *tally) {
  for (int f = 0; f < HP_FAMILIES; f++)
    if (families[f].rule == HP_TALLY_TOP && !limit_table(&tally->tables[f])) return false;
  return true;
}

void hp_tally_free(hp_tally *tally) {
  for (int f = 0; f < HP_FAMILIES; f++) hp_tally_table_free(&tally->tables[f]);
}

uint64_t hp_tally_count(const hp_tally *tally, hp_family family, const char *key) {
  return hp_tally_table_count(&tally->tables[family], key, strlen(key));
}

static int compare_keys(const hp_tally_entry *a, const hp_tally_entry *b) {
  size_t length = a->length < b->length ? a->length : b->length;
  int order = memcmp(a->key, b->key, length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int by_key(const void *a, const void *b) {
  return compare_keys(*(const hp_tally_entry *const *)a, *(const hp_tally_entry *const *)b);
}

static int by_count_and_key(const void *a, const void *b) {
  const hp_tally_entry *x = *(const hp_tally_entry *const *)a, *y = *(const hp_tally_entry *const *)b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return compare_keys(x, y);
}

const hp_tally_entry **hp_tally_sorted(const hp_tally *tally, hp_family family, bool by_count) {
  const hp_tally_table *t = &tally->tables[family];
  const hp_tally_entry **sorted = hp_allocate((t->count + 1) * sizeof *sorted);
  if (!sorted) return NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->capacity; i++)
    if (t->entries[i].key) sorted[count++] = &t->entries[i];
  qsort(sorted, count, sizeof *sorted, by_count ? by_count_and_key : by_key);
  return sorted;
}
