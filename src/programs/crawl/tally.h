#ifndef HP_PROGRAMS_CRAWL_TALLY_H
#define HP_PROGRAMS_CRAWL_TALLY_H

/* The counts of a crawl. A tally is a set of families, and a family has counts by key. The sum of
 * tallies does not depend on their order, except for families with more keys than
 * HP_TALLY_MERGED_KEYS.
 *
 * The families of rule HP_TALLY_TOP have open sets of keys. They keep at most HP_TALLY_KEYS keys by
 * the scheme of Misra and Gries: when there are more, the tally subtracts the count of the first
 * key that is too many from all counts, and drops the keys without a count. The true count of a key
 * is at least the count of the tally, and at most the count plus the error of the family. Without
 * an error the counts are exact.
 *
 * A histogram has the buckets 0 to 15, and 16 buckets for each power of two from 16 on. It also
 * keeps the greatest value. */

#include <hpar/node.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum hp_tally_rule {
  HP_TALLY_SUM,
  HP_TALLY_TOP,
  HP_TALLY_EXACT, /* an open set of keys, all of which are kept */
  HP_TALLY_HISTOGRAM
} hp_tally_rule;

typedef enum hp_family {
  HP_COUNTERS,
  HP_PROBLEMS,
  HP_HTTP_STATUS,
  HP_CONTENT_TYPES,
  HP_CODINGS,
  HP_ENCODINGS,
  HP_QUIRKS,
  HP_ERRORS,
  HP_SIZE_BYTES,
  HP_SIZE_NODES,
  HP_SIZE_TOKENS,
  HP_SIZE_ELEMENTS,
  HP_SIZE_DEPTH,
  HP_SIZE_ATTRIBUTES,
  HP_TEXT_BYTES,
  HP_LINKS_A_PAGE,
  HP_ELEMENTS,
  HP_ELEMENT_PAGES,
  HP_ATTRIBUTES,
  HP_LINK_ATTRIBUTES,
  HP_LINK_SCHEMES,
  HP_LINK_HOSTS,
  HP_PAGE_HOSTS,
  HP_SELECTORS,
  HP_SELECTOR_PAGES,
  HP_STATES_AT_CUTS,
  HP_MODES_AT_CUTS,
  HP_MODES_BY_TOKEN,
  HP_MODES_BY_BYTE,
  HP_FIRST_TABLE_TAGS,
  HP_SWITCHES,
  HP_SELF_CLOSING,
  HP_FORMATTING_LISTS,
  HP_CHUNK_OUTCOMES,
  HP_PREDICTORS,
  HP_ASSUMPTIONS,
  HP_PROJECTIONS,
  HP_GROUPS,
  HP_GROUP_PAGES,
  HP_STORED, /* these two are no results: see hp_map_resolve_revisits */
  HP_REVISITS,
  HP_FAMILIES
} hp_family;

enum { HP_TALLY_KEYS = 4096, HP_TALLY_MERGED_KEYS = 32 * HP_TALLY_KEYS, HP_TALLY_KEY_BYTES = 200 };

const char *hp_family_name(hp_family family);
hp_tally_rule hp_family_rule(hp_family family);

typedef struct hp_tally_entry {
  char *key; /* NULL: free */
  uint32_t length, hash;
  uint64_t count;
} hp_tally_entry;

typedef struct hp_tally_table {
  hp_tally_entry *entries;
  uint32_t count, capacity; /* the capacity is a power of two */
  uint32_t version;         /* of the places of the entries */
  uint64_t error;           /* HP_TALLY_TOP */
  uint64_t greatest;        /* HP_TALLY_HISTOGRAM: the greatest value, not that of its bucket */
} hp_tally_table;

/* Zero is empty. The owner calls hp_tally_free. */
typedef struct hp_tally {
  hp_tally_table tables[HP_FAMILIES];
} hp_tally;

/* Adds to the count of a key. A key is cut off after HP_TALLY_KEY_BYTES. Returns false if no memory
 * is left. */
bool hp_tally_add(hp_tally *tally, hp_family family, const char *key, size_t length, uint64_t count);
bool hp_tally_add_text(hp_tally *tally, hp_family family, const char *key, uint64_t count);
/* Reduces a family of rule HP_TALLY_TOP that has far more than HP_TALLY_KEYS keys. Keys that the
 * caller adds to the table between two calls may have any order. */
bool hp_tally_settle(hp_tally *tally, hp_family family);
/* Adds a value to a histogram. */
bool hp_tally_add_value(hp_tally *tally, hp_family family, uint64_t value);
/* Adds an error, for tables that are read from a file. */
void hp_tally_add_error(hp_tally *tally, hp_family family, uint64_t error);
/* Raises the greatest value of a histogram to `value`, if it is less. */
void hp_tally_raise(hp_tally *tally, hp_family family, uint64_t value);
/* Adds a tally. The families of rule HP_TALLY_TOP may have too many keys until hp_tally_limit. */
bool hp_tally_merge(hp_tally *sum, const hp_tally *more);
/* Reduces the families of rule HP_TALLY_TOP to HP_TALLY_KEYS keys. */
bool hp_tally_limit(hp_tally *tally);
void hp_tally_free(hp_tally *tally);

uint64_t hp_tally_count(const hp_tally *tally, hp_family family, const char *key);
/* Returns the entries of a family sorted by key, or by count and key; the caller frees the array.
 * NULL: no memory. An empty family has an array, too. */
const hp_tally_entry **hp_tally_sorted(const hp_tally *tally, hp_family family, bool by_count);

/* Returns the least value of the bucket of a value. */
uint64_t hp_histogram_bucket(uint64_t value);

enum { HP_TALLY_NO_ENTRY = UINT32_MAX };

/* Tables keep keys of any length. */
uint64_t hp_tally_table_count(const hp_tally_table *table, const char *key, size_t length);
/* Returns the index of the entry of a key, which is new or has a count. The index is valid while
 * the version of the table is unchanged. Returns HP_TALLY_NO_ENTRY if no memory is left. */
uint32_t hp_tally_table_entry(hp_tally_table *table, const char *key, size_t length);
bool hp_tally_table_add(hp_tally_table *table, const char *key, size_t length, uint64_t count);
void hp_tally_table_free(hp_tally_table *table);

#endif
