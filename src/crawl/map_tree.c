/* The counts of one tree. */

#include "crawl/map_internal.h"

#include "base/memory.h"
#include "html/dom/document.h"

#include <string.h>

static inline void count_atom(hp_map_names *names, hp_atom atom) {
  if (!names->counts[atom]++) names->used[names->used_count++] = (uint16_t)atom;
}

static bool add_name(hp_map *m, hp_family family, hp_family pages, const char *name, size_t length, uint64_t count) {
  return hp_tally_add(m->tally, family, name, length, count) &&
         (pages == HP_FAMILIES || hp_tally_add(m->tally, pages, name, length, 1));
}

/* Adds the names of a page to the names of all pages. */
static bool flush_names(hp_map *m, hp_family family, hp_family pages, hp_map_names *names) {
  bool fine = true;
  for (uint32_t i = 0; i < names->used_count; i++) {
    const hp_known_name *name = &hp_known_names[names->used[i]];
    fine = fine && add_name(m, family, pages, name->bytes, name->length, names->counts[names->used[i]]);
    names->counts[names->used[i]] = 0;
  }
  names->used_count = 0;
  for (uint32_t i = 0; fine && names->others.count && i < names->others.capacity; i++) {
    const hp_tally_entry *e = &names->others.entries[i];
    fine = !e->key || add_name(m, family, pages, e->key, e->length, e->count);
  }
  if (names->others.count) hp_tally_table_clear(&names->others);
  return fine;
}

static bool count_element_name(hp_map *m, hpar_node element, hp_atom atom) {
  if (atom < HP_KNOWN_ATOMS) {
    count_atom(&m->names, atom);
    return true;
  }
  hpar_string name = hpar_node_name(m->document, element);
  return hp_tally_table_add(&m->names.others, name.bytes, name.length, 1);
}

static bool count_attribute_names(hp_map *m, hpar_node element, const hp_attributes *attributes) {
  hpar_attribute attribute;
  for (uint32_t i = 0; i < attributes->count; i++) {
    hp_atom atom = attributes->items[i].name;
    if (atom < HP_ADJUSTED_XLINK_ACTUATE)
      count_atom(&m->attributes, atom);
    else if (hpar_node_attribute_at(m->document, element, i, &attribute) &&
             !hp_tally_table_add(&m->attributes.others, attribute.local_name.bytes, attribute.local_name.length, 1))
      return false;
  }
  return true;
}

/* Walks the tree without template contents. */
bool hp_map_tree(hp_map *m, hp_map_page *page) {
  const char *memory = m->document->range.base;
  hp_ref root = m->document->root, ref = hp_node_at(memory, root)->first;
  bool names = m->options.profiles & HP_PROFILE_ELEMENTS, fine = true;
  uint64_t depth = 1, elements = 0, attributes = 0, greatest = 0;
  while (ref && fine) {
    const hp_node *node = hp_node_at(memory, ref);
    hp_ref next = 0;
    if (node->kind == HPAR_NODE_ELEMENT) {
      elements++;
      if (depth > greatest) greatest = depth;
      if (names) fine = count_element_name(m, ref, node->name);
      if (node->attributes) {
        const hp_attributes *block = hp_at(memory, node->attributes);
        attributes += block->count;
        if (names) fine = fine && count_attribute_names(m, ref, block);
      }
      next = node->first;
      depth += next != 0;
    }
    while (!next && ref && ref != root) {
      next = node->next;
      if (next) break;
      ref = hp_parent_of(memory, node);
      if (ref) node = hp_node_at(memory, ref);
      depth--;
    }
    ref = next;
  }
  page->elements = elements;
  page->attributes = attributes;
  page->depth = greatest;
  if (!names || !fine) return fine;
  return flush_names(m, HP_ELEMENTS, HP_ELEMENT_PAGES, &m->names) &&
         flush_names(m, HP_ATTRIBUTES, HP_FAMILIES, &m->attributes);
}

/*** links ***/

enum { LINK_KINDS = 32, MAX_ORIGIN = 128 };

/* Links of one element and attribute. The names are those of the document. */
typedef struct link_kind {
  hpar_string element, attribute;
  uint64_t count;
} link_kind;

/* The beginning of a URL up to its path, and the count of the last links that begin with it. */
typedef struct link_origin {
  char bytes[MAX_ORIGIN]; /* with the "/" after the host */
  uint32_t length;        /* 0: none */
  hpar_string scheme, host;
  uint64_t count;
} link_origin;

typedef struct link_count {
  hp_map *map;
  hpar_string host;
  uint64_t links, invalid, same, other;
  link_origin origin;
  link_kind kinds[LINK_KINDS];
  uint32_t kind_count;
  bool fine;
} link_count;

static bool add_kinds(link_count *c) {
  char key[128];
  for (uint32_t i = 0; i < c->kind_count; i++) {
    const link_kind *k = &c->kinds[i];
    int length = snprintf(key, sizeof key, "%.*s %.*s", k->element.length < 60 ? (int)k->element.length : 60,
                          k->element.bytes, (int)k->attribute.length, k->attribute.bytes);
    if (!hp_tally_add(c->map->tally, HP_LINK_ATTRIBUTES, key, (size_t)length, k->count)) return false;
  }
  c->kind_count = 0;
  return true;
}

static bool count_kind(link_count *c, const hpar_link *link) {
  hpar_string element = hpar_node_name(c->map->document, link->element);
  for (uint32_t i = 0; i < c->kind_count; i++) {
    link_kind *k = &c->kinds[i];
    if (k->element.bytes != element.bytes || k->attribute.bytes != link->attribute.bytes) continue;
    k->count++;
    return true;
  }
  if (c->kind_count == LINK_KINDS && !add_kinds(c)) return false;
  c->kinds[c->kind_count++] = (link_kind){element, link->attribute, 1};
  return true;
}

static bool add_url(link_count *c, hpar_string scheme, hpar_string host, uint64_t count) {
  hp_tally *t = c->map->tally;
  if (!hp_tally_add(t, HP_LINK_SCHEMES, scheme.bytes, scheme.length, count)) return false;
  if (!host.length) return true;
  bool same = host.length == c->host.length && !memcmp(host.bytes, c->host.bytes, host.length);
  *(same ? &c->same : &c->other) += count;
  return same || hp_tally_add(t, HP_LINK_HOSTS, host.bytes, host.length, count);
}

static bool add_origin(link_count *c) {
  link_origin *o = &c->origin;
  uint64_t count = o->count;
  o->count = 0;
  return !count || add_url(c, o->scheme, o->host, count);
}

/* Counts a URL by scheme and host. Most URLs of a page have the origin of the link before. */
static bool count_url(link_count *c, hpar_string url) {
  link_origin *o = &c->origin;
  if (o->length && url.length >= o->length && !memcmp(url.bytes, o->bytes, o->length)) {
    o->count++;
    return true;
  }
  hpar_string host = {"", 0};
  const char *colon = memchr(url.bytes, ':', url.length);
  size_t scheme = colon ? (size_t)(colon - url.bytes) : 0;
  bool has_host = hp_map_host(url, &host);
  size_t length = has_host ? (size_t)(host.bytes + host.length - url.bytes) + 1 : 0;
  if (!length || length > MAX_ORIGIN || length > url.length || url.bytes[length - 1] != '/')
    return add_url(c, (hpar_string){url.bytes, scheme}, has_host ? host : (hpar_string){"", 0}, 1);
  if (!add_origin(c)) return false;
  memcpy(o->bytes, url.bytes, length);
  o->length = (uint32_t)length;
  o->scheme = (hpar_string){o->bytes, scheme};
  o->host = (hpar_string){o->bytes + (host.bytes - url.bytes), host.length};
  o->count = 1;
  return true;
}

static bool count_link(link_count *c, const hpar_link *link) {
  c->links++;
  if (!count_kind(c, link)) return false;
  c->invalid += !link->url.bytes;
  return !link->url.bytes || count_url(c, link->url);
}

static bool take_link(void *context, const hpar_link *link) {
  link_count *c = context;
  return c->fine = count_link(c, link);
}

static bool add_positive(hp_tally *tally, hp_family family, const char *key, uint64_t count) {
  return !count || hp_tally_add_text(tally, family, key, count);
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
  hp_tally *t = m->tally;
  if (!copy_url(m, page->url)) return false;
  hp_map_host(page->url, &c.host);
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = *m->url ? m->url : NULL};
  hpar_node root = hpar_document_root(m->document);
  hpar_status status = hpar_links(m->document, root, &options, take_link, &c);
  if (status == HPAR_ERROR_ARGUMENT) { /* the URL of the record is not valid */
    options.document_url = NULL;
    status = hpar_links(m->document, root, &options, take_link, &c);
  }
  return !status && c.fine && add_kinds(&c) && add_origin(&c) &&
         add_positive(t, HP_COUNTERS, "links_invalid", c.invalid) &&
         add_positive(t, HP_COUNTERS, "links_to_same_host", c.same) &&
         add_positive(t, HP_COUNTERS, "links_to_other_hosts", c.other) &&
         hp_tally_add_value(t, HP_LINKS_A_PAGE, c.links) && hp_tally_add_text(t, HP_COUNTERS, "links", c.links);
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
