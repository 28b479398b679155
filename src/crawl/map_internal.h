#ifndef HP_CRAWL_MAP_INTERNAL_H
#define HP_CRAWL_MAP_INTERNAL_H

/* The parts of the map step. Each function returns false if no memory is left. */

#include "base/names.h"
#include "crawl/map.h"

typedef struct hp_map_page {
  const char *bytes;
  size_t length;
  hpar_string url;
  const char *encoding; /* the label of the transport, or NULL */
  uint64_t elements, attributes, depth;
} hp_map_page;

/* The names of one page, by atom or as texts. */
typedef struct hp_map_names {
  uint32_t counts[HP_KNOWN_ATOMS];
  uint16_t used[HP_KNOWN_ATOMS]; /* the atoms with a count, in the order of the page */
  uint32_t used_count;
  hp_tally_table others;
} hp_map_names;

struct hp_map {
  hp_map_options options;
  hp_tally *tally;
  hpar_parser *parser;
  hpar_document *document;
  hpar_selectors *selectors;
  hp_http_memory memory;
  hp_map_names names, attributes;
  char *url;
  size_t url_capacity;
  const char *file;
  FILE *records;
  hp_map_refuse refuse;
  void *context;
};

bool hp_map_tree(hp_map *map, hp_map_page *page);
bool hp_map_links(hp_map *map, const hp_map_page *page);
bool hp_map_text(hp_map *map);
bool hp_map_errors(hp_map *map);
bool hp_map_selectors(hp_map *map);
/* Profiles of sampled pages; the document has another tree then. */
bool hp_map_states(hp_map *map, const hp_map_page *page);
bool hp_map_speculation(hp_map *map, const hp_map_page *page);

/* Sets `*host` to the host and port of an absolute URL. Returns false if there is none. */
bool hp_map_host(hpar_string url, hpar_string *host);

#endif
