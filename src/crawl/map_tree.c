/* The counts of one tree. */

#include "crawl/map_internal.h"

#include "base/memory.h"

#include <string.h>

/* Adds the names of a page to the names of all pages. */
static bool flush_names(hp_map *m, hp_family family, hp_family pages, hp_tally_table *table) {
  bool fine = true;
  for (uint32_t i = 0; fine && i < table->capacity; i++) {
    const hp_tally_entry *e = &table->entries[i];
    if (!e->key) continue;
    fine = hp_tally_add(m->tally, family, e->key, e->length, e->count);
    if (fine && pages != HP_FAMILIES) fine = hp_tally_add(m->tally, pages, e->key, e->length, 1);
  }
  hp_tally_table_clear(table);
  return fine;
}

static bool count_attributes(hp_map *m, hp_map_page *page, hpar_node node, bool names) {
  size_t attributes = hpar_node_attribute_count(m->document, node);
  page->attributes += attributes;
  hpar_attribute attribute;
  for (size_t i = 0; names && i < attributes; i++) {
    if (!hpar_node_attribute_at(m->document, node, i, &attribute)) continue;
    if (!hp_tally_table_add(&m->attributes, attribute.local_name.bytes, attribute.local_name.length, 1)) return false;
  }
  return true;
}

/* Walks the tree without template contents. */
bool hp_map_tree(hp_map *m, hp_map_page *page) {
  const hpar_document *d = m->document;
  hpar_node root = hpar_document_root(d), node = hpar_node_first_child(d, root);
  bool names = m->options.profiles & HP_PROFILE_ELEMENTS, fine = true;
  uint64_t depth = 1;
  while (node && fine) {
    if (hpar_node_kind(d, node) == HPAR_NODE_ELEMENT) {
      hpar_string name = hpar_node_name(d, node);
      page->elements++;
      if (depth > page->depth) page->depth = depth;
      if (names) fine = hp_tally_table_add(&m->names, name.bytes, name.length, 1);
      fine = fine && count_attributes(m, page, node, names);
    }
    hpar_node next = hpar_node_first_child(d, node);
    if (next) depth++;
    while (!next && node && node != root) {
      next = hpar_node_next(d, node);
      if (next) break;
      node = hpar_node_parent(d, node);
      depth--;
    }
    node = next;
  }
  if (!names || !fine) return fine;
  return flush_names(m, HP_ELEMENTS, HP_ELEMENT_PAGES, &m->names) &&
         flush_names(m, HP_ATTRIBUTES, HP_FAMILIES, &m->attributes);
}

/*** links ***/

typedef struct link_count {
  hp_map *map;
  hpar_string host;
  uint64_t links;
  bool fine;
} link_count;

static bool take_link(void *context, const hpar_link *link) {
  link_count *c = context;
  hp_tally *t = c->map->tally;
  char key[128];
  hpar_string element = hpar_node_name(c->map->document, link->element), host;
  c->links++;
  int length = snprintf(key, sizeof key, "%.*s %.*s", element.length < 60 ? (int)element.length : 60, element.bytes,
                        (int)link->attribute.length, link->attribute.bytes);
  c->fine = hp_tally_add(t, HP_LINK_ATTRIBUTES, key, (size_t)length, 1);
  if (!link->url.bytes) {
    c->fine = c->fine && hp_tally_add_text(t, HP_COUNTERS, "links_invalid", 1);
    return c->fine;
  }
  const char *colon = memchr(link->url.bytes, ':', link->url.length);
  size_t scheme = colon ? (size_t)(colon - link->url.bytes) : 0;
  c->fine = c->fine && hp_tally_add(t, HP_LINK_SCHEMES, link->url.bytes, scheme, 1);
  if (c->fine && hp_map_host(link->url, &host)) {
    bool same = host.length == c->host.length && !memcmp(host.bytes, c->host.bytes, host.length);
    c->fine = hp_tally_add_text(t, HP_COUNTERS, same ? "links_to_same_host" : "links_to_other_hosts", 1) &&
              (same || hp_tally_add(t, HP_LINK_HOSTS, host.bytes, host.length, 1));
  }
  return c->fine;
}

static bool copy_url(hp_map *m, hpar_string url) {
  if (url.length >= m->url_capacity) {
    char *grown = hp_reallocate(m->url, url.length + 1);
    if (!grown) return false;
    m->url = grown;
    m->url_capacity = url.length + 1;
  }
  if (url.length) memcpy(m->url, url.bytes, url.length);
  m->url[url.length] = 0;
  return true;
}

bool hp_map_links(hp_map *m, const hp_map_page *page) {
  link_count c = {.map = m, .host = {"", 0}, .fine = true};
  if (!copy_url(m, page->url)) return false;
  hp_map_host(page->url, &c.host);
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = *m->url ? m->url : NULL};
  hpar_node root = hpar_document_root(m->document);
  hpar_status status = hpar_links(m->document, root, &options, take_link, &c);
  if (status == HPAR_ERROR_ARGUMENT) { /* the URL of the record is not valid */
    options.document_url = NULL;
    status = hpar_links(m->document, root, &options, take_link, &c);
  }
  return !status && c.fine && hp_tally_add_value(m->tally, HP_LINKS_A_PAGE, c.links) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "links", c.links);
}

/*** text, errors, selectors ***/

static hpar_status add_length(const char *bytes, size_t length, void *context) {
  (void)bytes;
  *(uint64_t *)context += length;
  return HPAR_OK;
}

bool hp_map_text(hp_map *m) {
  uint64_t length = 0;
  hpar_text(m->document, hpar_document_root(m->document), NULL, add_length, &length);
  return hp_tally_add_value(m->tally, HP_TEXT_BYTES, length) &&
         hp_tally_add_text(m->tally, HP_COUNTERS, "text_bytes", length);
}

bool hp_map_errors(hp_map *m) {
  size_t count = hpar_parse_error_count(m->parser);
  bool fine = hp_tally_add_text(m->tally, HP_COUNTERS, "parse_errors", count);
  for (size_t i = 0; fine && i < count; i++)
    fine = hp_tally_add_text(m->tally, HP_ERRORS, hpar_parse_error_at(m->parser, i).code, 1);
  return fine && (!count || hp_tally_add_text(m->tally, HP_COUNTERS, "pages_with_parse_errors", 1));
}

static bool take_match(void *context, hpar_node element, uint32_t selector) {
  (void)element;
  ((uint64_t *)context)[selector]++;
  return true;
}

bool hp_map_selectors(hp_map *m) {
  size_t count = m->options.selector_count;
  uint64_t *matches = hp_allocate_zeroed(count * sizeof *matches);
  if (!matches) return false;
  bool fine = !hpar_select(m->selectors, m->document, hpar_document_root(m->document), take_match, matches);
  for (size_t i = 0; fine && i < count; i++) {
    const char *text = m->options.selectors[i];
    fine = hp_tally_add_text(m->tally, HP_SELECTORS, text, matches[i]) &&
           (!matches[i] || hp_tally_add_text(m->tally, HP_SELECTOR_PAGES, text, 1));
  }
  hp_free(matches);
  return fine;
}
