/* The links of pages, by element and attribute, by scheme and by host. Most links need no
 * resolution: only their beginnings decide about scheme and host. */

#include "programs/crawl/map_internal.h"

#include "base/memory.h"
#include "dom/value.h"

#include <string.h>

static bool add(hp_map *m, hp_family family, hpar_string key, uint64_t count) {
  return !count || hp_tally_add(m->tally, family, key.bytes, key.length, count);
}

/*** elements and attributes ***/

enum { XLINK_HREF = HP_MAP_LINK_KINDS };

static bool add_kind(hp_map *m, hp_name element, hp_name attribute, uint64_t count) {
  char key[128];
  int length = snprintf(key, sizeof key, "%.*s %.*s", element.length < 60 ? (int)element.length : 60, element.bytes,
                        (int)attribute.length, attribute.bytes);
  return hp_tally_add(m->tally, HP_LINK_ATTRIBUTES, key, (size_t)length, count);
}

static inline bool count_kind(hp_map *m, hp_atom element, hp_atom attribute, uint16_t bit) {
  unsigned kind = attribute == HP_ATOM_ADJUSTED_XLINK_HREF ? XLINK_HREF : (unsigned)__builtin_ctz(bit);
  if (element < HP_KNOWN_ATOMS) {
    m->link_kinds[element][kind]++;
    return true;
  }
  const hp_atoms *atoms = &m->document->atoms;
  return add_kind(m, hp_atom_name(atoms, element), hp_atom_name(atoms, attribute), 1);
}

static bool add_kinds(hp_map *m) {
  static const char *const names[HP_MAP_LINK_KINDS + 1] = {
      "href", "src",    "srcset",     "ping",     "action",      "formaction", "cite",
      "data", "poster", "background", "longdesc", "imagesrcset", "href"};
  for (hp_atom element = 0; element < HP_KNOWN_ATOMS; element++)
    for (unsigned kind = 0; kind <= HP_MAP_LINK_KINDS; kind++) {
      uint64_t *count = &m->link_kinds[element][kind];
      const hp_known_name *name = &hp_known_names[element];
      if (*count && !add_kind(m, (hp_name){name->bytes, name->length},
                              (hp_name){names[kind], (uint32_t)strlen(names[kind])}, *count))
        return false;
      *count = 0;
    }
  return true;
}

/*** hosts ***/

static bool is_same_host(const hp_map_links *l, hpar_string host) {
  return host.length == l->host.length && !memcmp(host.bytes, l->host.bytes, host.length);
}

/* Adds the links to a host to the tally, and frees the origin. */
static bool add_origin(hp_map *m, hp_map_origin *o) {
  hpar_string host = {o->host, o->length};
  o->length = 0;
  return add(m, HP_LINK_HOSTS, host, o->links);
}

/* The key of the process has no effect on the order of the hosts. */
static uint32_t slot_of(hpar_string host, bool secure) {
  uint64_t first = 0, last = 0;
  size_t part = host.length < 8 ? host.length : 8;
  memcpy(&first, host.bytes, part);
  memcpy(&last, host.bytes + host.length - part, part);
  uint64_t hash =
      (first * UINT64_C(0x9E3779B97F4A7C15)) ^ (last * UINT64_C(0xC2B2AE3D27D4EB4F)) ^ (host.length + secure);
  return (uint32_t)((hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93) >> 32) % HP_MAP_ORIGINS;
}

static inline bool is_origin(const hp_map_origin *o, hpar_string host, bool secure) {
  return o->length == host.length && o->secure == secure && !memcmp(o->host, host.bytes, host.length);
}

static inline void count_at(hp_map *m, hp_map_origin *o) {
  hp_map_links *l = &m->links;
  if (o->page != m->page) {
    o->page = m->page;
    o->same = is_same_host(l, (hpar_string){o->host, o->length});
  }
  m->sums[HP_SUM_LINKS_HTTP + o->secure]++;
  o->links += !o->same;
  l->same += o->same;
  l->other += !o->same;
}

static bool count_host(hp_map *m, hpar_string host, bool secure) {
  hp_map_links *l = &m->links;
  if (!is_origin(l->last, host, secure)) {
    hp_map_origin *o = l->last = &m->origins[slot_of(host, secure)];
    if (!is_origin(o, host, secure)) {
      if (o->length && !add_origin(m, o)) return false;
      *o = (hp_map_origin){.length = (uint8_t)host.length, .secure = secure};
      memcpy(o->host, host.bytes, host.length);
    }
  }
  count_at(m, l->last);
  return true;
}

/* Counts a valid URL by scheme and host. */
static bool count_url(hp_map *m, hpar_string url, uint64_t count) {
  hp_map_links *l = &m->links;
  const char *colon = url.length ? memchr(url.bytes, ':', url.length) : NULL;
  hpar_string host;
  if (!add(m, HP_LINK_SCHEMES, (hpar_string){url.bytes, colon ? (size_t)(colon - url.bytes) : 0}, count)) return false;
  if (!hp_map_host(url, &host)) return true;
  bool same = is_same_host(l, host);
  *(same ? &l->same : &l->other) += count;
  return same || add(m, HP_LINK_HOSTS, host, count);
}

static __attribute__((noinline)) bool resolve_link(hp_map *m, hpar_string value) {
  hp_map_links *l = &m->links;
  hpar_string url;
  if (!hp_plain_resolve(&l->plain, &l->url, value.bytes, value.length, &url)) {
    bool valid = hp_url_parse(&l->url, value.bytes, value.length, l->base.length ? &l->base : NULL);
    if (l->url.failed) return false;
    l->invalid += !valid;
    if (!valid) return true;
    url = (hpar_string){l->url.bytes, l->url.length};
  }
  return count_url(m, url, 1);
}

/* Compares the bytes of hosts. */
static inline bool is_equal(const char *left, const char *right, size_t length) {
  uint64_t x, y, differ = 0;
  if (length < 8) return !memcmp(left, right, length);
  for (size_t i = 0; i + 8 < length; i += 8) {
    memcpy(&x, left + i, 8);
    memcpy(&y, right + i, 8);
    differ |= x ^ y;
  }
  memcpy(&x, left + length - 8, 8);
  memcpy(&y, right + length - 8, 8);
  return !(differ | (x ^ y));
}

/* Returns whether an absolute URL has the origin of the last one. */
static inline bool has_last_origin(const hp_map_origin *last, hpar_string value) {
  size_t length = last->length, before = 7 + last->secure;
  return length && value.length > before + length && value.bytes[before + length] == '/' &&
         !memcmp(value.bytes, "http", 4) && !memcmp(value.bytes + before - 4, last->secure ? "s://" : "p://", 4) &&
         is_equal(value.bytes + before, last->host, length);
}

static inline bool count_link(hp_map *m, hpar_string value) {
  hp_map_links *l = &m->links;
  l->links++;
  if (has_last_origin(l->last, value)) {
    count_at(m, l->last);
    return true;
  }
  hp_origin origin = hp_plain_origin(&l->plain, value.bytes, value.length);
  if (origin.kind == HP_ORIGIN_BASE) {
    l->of_base++;
    return true;
  }
  if (origin.kind == HP_ORIGIN_OWN && origin.host.length <= HP_MAP_HOST_BYTES)
    return count_host(m, origin.host, origin.secure);
  return resolve_link(m, value);
}

/* Counts a link with character references that the parser has not decoded. A query has no effect on
 * the scheme, the host and the validity of a URL, so only references before it need decoding. */
static bool count_deferred(hp_map *m, const hp_attributes *block, const hp_attribute *item) {
  const char *reference = memchr(item->value, '&', item->length);
  size_t before = reference ? (size_t)(reference - item->value) : item->length;
  const char *query = memchr(item->value, '?', before);
  if (query) return count_link(m, (hpar_string){item->value, (size_t)(query + 1 - item->value)});
  return count_link(m, hp_attribute_value(m->document, block, item));
}

/*** attributes ***/

static __attribute__((noinline)) bool count_list(hp_map *m, const hp_node *element, const hp_attributes *block,
                                                 const hp_attribute *item, uint16_t bit) {
  hpar_string value = hp_attribute_value(m->document, block, item);
  const char *at = value.length ? value.bytes : "", *end = at + value.length;
  while (hp_next_link(bit, &at, end, &value))
    if (!count_kind(m, element->name, item->name, bit) || !count_link(m, value)) return false;
  return true;
}

static inline bool count_value(hp_map *m, const hp_node *element, const hp_attributes *block, const hp_attribute *item,
                               uint16_t bit) {
  if (__builtin_expect(bit & (HP_LINK_CANDIDATES | HP_LINK_PING), 0)) return count_list(m, element, block, item, bit);
  if (!count_kind(m, element->name, item->name, bit)) return false;
  if (__builtin_expect(hp_is_deferred(block, (uint32_t)(item - block->items)), 0))
    return count_deferred(m, block, item);
  return count_link(m, (hpar_string){item->value, item->length});
}

bool hp_map_attributes(hp_map *m, const hp_node *element, const hp_attribute *item, uint16_t links) {
  const hp_attributes *block = hp_at(m->document->range.base, element->attributes);
  for (const hp_attribute *end = block->items + block->count; item < end; item++) {
    uint16_t bit;
    if (__builtin_expect(item->name < HP_KNOWN_ATOMS, 1)) {
      m->attributes[item->name]++;
      bit = hp_link_bits[item->name];
    } else {
      const hp_map_name *name = hp_map_count_name(m, &m->other_attributes, item->name);
      if (!name) return false;
      bit = name->link;
    }
    if (links & bit && !count_value(m, element, block, item, bit)) return false;
  }
  return true;
}

/*** pages ***/

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

bool hp_map_begin_links(hp_map *m, const hp_map_page *page) {
  hp_map_links *l = &m->links;
  *l = (hp_map_links){.base = l->base, .url = l->url, .host = {"", 0}, .last = m->origins};
  if (!copy_url(m, page->url)) return false;
  hp_map_host(page->url, &l->host);
  hpar_status status = hp_find_link_base(m->document, *m->url ? m->url : NULL, &l->base);
  if (status == HPAR_ERROR_ARGUMENT) /* the URL of the page is not valid */
    status = hp_find_link_base(m->document, NULL, &l->base);
  hp_plain_base_open(&l->plain, &l->base);
  return !status;
}

bool hp_map_end_links(hp_map *m) {
  const hp_map_links *l = &m->links;
  bool fine = !l->of_base || count_url(m, (hpar_string){l->base.bytes, l->base.length}, l->of_base);
  m->sums[HP_SUM_LINKS] += l->links;
  m->sums[HP_SUM_LINKS_INVALID] += l->invalid;
  m->sums[HP_SUM_LINKS_SAME] += l->same;
  m->sums[HP_SUM_LINKS_OTHER] += l->other;
  hp_map_value(m, HP_LINKS_A_PAGE, l->links);
  hp_url_close(&m->links.base);
  return fine;
}

bool hp_map_finish_links(hp_map *m) {
  bool fine = add_kinds(m);
  uint64_t *schemes = &m->sums[HP_SUM_LINKS_HTTP];
  fine = fine && add(m, HP_LINK_SCHEMES, (hpar_string){"http", 4}, schemes[0]) &&
         add(m, HP_LINK_SCHEMES, (hpar_string){"https", 5}, schemes[1]);
  schemes[0] = schemes[1] = 0;
  for (size_t i = 0; fine && i < HP_MAP_ORIGINS; i++) fine = !m->origins[i].length || add_origin(m, &m->origins[i]);
  return fine;
}

void hp_map_close_links(hp_map *m) {
  hp_url_close(&m->links.base);
  hp_url_close(&m->links.url);
  hp_free(m->url);
}
