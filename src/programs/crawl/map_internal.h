#ifndef HP_PROGRAMS_CRAWL_MAP_INTERNAL_H
#define HP_PROGRAMS_CRAWL_MAP_INTERNAL_H

/* The parts of the map step. Each function returns false if no memory is left. */

#include "base/names.h"
#include "programs/crawl/map.h"
#include "programs/crawl/python.h"
#include "programs/crawl/rows.h"
#include "url/links.h"
#include "url/url.h"

typedef struct hp_map_page {
  const char *bytes;
  size_t length;
  hpar_string url;
  const char *encoding; /* the label of the transport, or NULL */
  uint64_t elements, attributes, depth, text_bytes;
} hp_map_page;

/* A name with a fixed atom. The table is small, so that it stays in the first cache. */
typedef struct hp_map_element {
  uint32_t count; /* on the current page */
  /* of the HTML element: the attributes with URLs, if the profile counts them, and
   * HP_MAP_OMITTED */
  uint16_t traits;
} hp_map_element;

enum { HP_MAP_OMITTED = 1 << 15 }; /* the text of the element is not counted */

/* The counts of a name with a fixed atom, until the unit ends. */
typedef struct hp_map_element_sum {
  uint64_t count, pages;
} hp_map_element_sum;

/* A name without a fixed atom. */
typedef struct hp_map_name {
  uint32_t count;         /* on the current page */
  uint32_t entry, paging; /* the entries of the tally with this name */
  uint32_t version;       /* of the tally's tables when they had these entries */
  uint16_t link;          /* the bit of an attribute with URLs, if `count` is not 0 */
} hp_map_name;

/* The names without fixed atoms, by atom. Documents of one parser keep atoms, so most names have an
 * entry in the tally. */
typedef struct hp_map_names {
  hp_map_name *names;
  uint32_t *used; /* the indices of the names of the current page */
  size_t capacity, used_count;
  uint64_t generation; /* of the atoms */
} hp_map_names;

/* Counters of the tally, until the unit ends. */
typedef enum hp_map_sum {
  HP_SUM_RECORDS,
  HP_SUM_RECORD_BYTES,
  HP_SUM_TYPE_WARCINFO, /* records by type, in this order */
  HP_SUM_TYPE_RESPONSE,
  HP_SUM_TYPE_RESOURCE,
  HP_SUM_TYPE_REQUEST,
  HP_SUM_TYPE_METADATA,
  HP_SUM_TYPE_CONVERSION,
  HP_SUM_TYPE_CONTINUATION,
  HP_SUM_TYPE_REVISIT,
  HP_SUM_TYPE_OTHER,
  HP_SUM_NOT_SAMPLED,
  HP_SUM_WAT, /* metadata in JSON */
  HP_SUM_PAGES,
  HP_SUM_PAGE_BYTES,
  HP_SUM_NODES,
  HP_SUM_TOKENS,
  HP_SUM_ELEMENTS,
  HP_SUM_ATTRIBUTES,
  HP_SUM_TEXT_BYTES,
  HP_SUM_LINKS,
  HP_SUM_LINKS_INVALID,
  HP_SUM_LINKS_SAME,
  HP_SUM_LINKS_OTHER,
  HP_SUM_LINKS_HTTP, /* by scheme */
  HP_SUM_LINKS_HTTPS,
  HP_MAP_SUMS
} hp_map_sum;

/* The last key of a family, whose count the tally lacks. Most records have the key of the one
 * before. */
typedef struct hp_map_last {
  char key[60];
  uint32_t length;
  uint64_t count;
} hp_map_last;

typedef enum hp_map_last_family {
  HP_LAST_STATUS,
  HP_LAST_TYPE,
  HP_LAST_ENCODING,
  HP_LAST_QUIRKS,
  HP_MAP_LASTS
} hp_map_last_family;

enum { HP_MAP_HISTOGRAMS = HP_LINKS_A_PAGE - HP_SIZE_BYTES + 1, HP_MAP_BUCKETS = 61 * 16 };

enum { HP_MAP_ORIGINS = 1024, HP_MAP_HOST_BYTES = 36, HP_MAP_LINK_KINDS = 12 };

/* A host of links, with its scheme. */
typedef struct hp_map_origin {
  char host[HP_MAP_HOST_BYTES];
  uint8_t length; /* 0: free */
  bool secure;    /* https */
  bool same;      /* it is the host of the page `page` */
  uint64_t page;
  uint64_t links; /* on pages of other hosts */
} hp_map_origin;

/* The links of one page. */
typedef struct hp_map_links {
  hp_url base, url;
  hp_plain_base plain;
  hpar_string host; /* of the page */
  uint64_t links, invalid, same, other, of_base;
  hp_map_origin *last; /* of the last link; not NULL */
} hp_map_links;

enum { HP_MAP_PREDICTORS = 8, HP_MAP_CORES = 6 };

typedef struct hp_map_guesses {
  uint64_t right, all; /* chunks, without the first and those that the merger parsed itself */
} hp_map_guesses;

/* The profile `speculation` of a page. Zeros: the page is not in the sample. */
typedef struct hp_map_study {
  uint64_t chunks, clean, bytes_reparsed;
  hp_map_guesses guesses[HP_MAP_PREDICTORS];
  uint64_t length, time[HP_MAP_CORES]; /* of the text; on 2, 4 ... 64 cores, in bytes */
} hp_map_study;

struct hp_map {
  hp_map_options options;
  hp_tally *tally;
  hpar_parser *parser;
  hpar_document *document;
  hpar_selectors *selectors;
  hp_rows *rows;     /* NULL: none are wanted */
  hp_python *python; /* NULL: no function */
  hp_http_memory memory;
  uint64_t page; /* the number of pages so far */
  hp_map_element elements[HP_KNOWN_ATOMS];
  uint16_t used[HP_KNOWN_ATOMS]; /* the atoms of the elements of the current page */
  size_t used_count;
  hp_map_element_sum element_sums[HP_KNOWN_ATOMS];
  uint64_t attributes[HP_KNOWN_ATOMS]; /* their counts until the unit ends */
  hp_map_names other_elements, other_attributes;
  uint64_t sums[HP_MAP_SUMS];
  hp_map_last lasts[HP_MAP_LASTS];
  uint64_t histograms[HP_MAP_HISTOGRAMS][HP_MAP_BUCKETS]; /* from the family HP_SIZE_BYTES on */
  hp_map_links links;
  hp_map_origin origins[HP_MAP_ORIGINS];                      /* by a hash of the host */
  uint64_t link_kinds[HP_KNOWN_ATOMS][HP_MAP_LINK_KINDS + 1]; /* by element and attribute */
  char *url;
  size_t url_capacity;
  const char *file;
  FILE *records, *row_file;
  hp_map_refuse refuse;
  void *context;
};

/* Prepares the counts by atom. */
void hp_map_open_names(hp_map *map);
/* Counts what the profiles `sizes`, `elements`, `links` and `text` need in one walk. */
bool hp_map_tree(hp_map *map, hp_map_page *page);
/* Adds the names with fixed atoms to the tally. */
bool hp_map_finish_names(hp_map *map);

/* Returns the counts of a name without a fixed atom that the page has not had yet, or NULL. */
hp_map_name *hp_map_first_name(hp_map *map, hp_map_names *names, hp_atom atom);

/* Counts a name without a fixed atom. Returns its counts, or NULL if no memory is left. */
static inline hp_map_name *hp_map_count_name(hp_map *m, hp_map_names *names, hp_atom atom) {
  size_t index = atom - HP_KNOWN_ATOMS;
  hp_map_name *name = index < names->capacity ? &names->names[index] : NULL;
  if (__builtin_expect(!name || !name->count, 0)) name = hp_map_first_name(m, names, atom);
  if (name) name->count++;
  return name;
}

/* The links of one page: hp_map_begin_links, hp_map_attributes for each element, and
 * hp_map_end_links. */
bool hp_map_begin_links(hp_map *map, const hp_map_page *page);
/* Counts the attributes of an element from `item` on. Those with a bit in `links` have URLs. */
bool hp_map_attributes(hp_map *map, const hp_node *element, const hp_attribute *item, uint16_t links);
bool hp_map_end_links(hp_map *map);
/* Adds the hosts and the attributes to the tally. */
bool hp_map_finish_links(hp_map *map);
void hp_map_close_links(hp_map *map);

/* Adds a value to a histogram of the families HP_SIZE_BYTES to HP_LINKS_A_PAGE. */
static inline void hp_map_value(hp_map *m, hp_family family, uint64_t value) {
  unsigned shift = value < 16 ? 0 : 59 - (unsigned)__builtin_clzll(value);
  m->histograms[family - HP_SIZE_BYTES][16 * shift + (value >> shift)]++;
  hp_tally_raise(m->tally, family, value);
}

/* Adds a text to a hash (FNV-1a). */
static inline uint64_t hp_map_hash(uint64_t hash, hpar_string text) {
  for (size_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Keep the names of a response or resource, and what a revisit names. */
bool hp_map_stored(hp_map *map, const hp_warc_record *record, bool is_page);
bool hp_map_revisit(hp_map *map, const hp_warc_record *record);

bool hp_map_errors(hp_map *map);
bool hp_map_selectors(hp_map *map);
/* Profiles of sampled pages; the document has another tree then. */
bool hp_map_states(hp_map *map, const hp_map_page *page);
bool hp_map_speculation(hp_map *map, const hp_map_page *page, hp_map_study *study);
/* Writes members of JSON, after others. */
void hp_map_write_study(FILE *file, const hp_map_study *study);

/* Sets `*host` to the host and port of an absolute URL. Returns false if there is none. */
bool hp_map_host(hpar_string url, hpar_string *host);

#endif
