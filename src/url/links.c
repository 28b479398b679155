/* The links of a subtree: one walk, a table of elements and attributes, and short ways to resolve
 * simple URLs. */

#include <hpar/links.h>

#include "base/ascii.h"
#include "base/names.h"
#include "html/dom/value.h"
#include "url/plain.h"
#include "url/url.h"

#include <string.h>

/* Attributes with URLs, as bits. */
enum {
  HREF = 1,
  SRC = 2,
  SRCSET = 4,
  PING = 8,
  ACTION = 16,
  FORMACTION = 32,
  CITE = 64,
  DATA = 128,
  POSTER = 256,
  BACKGROUND = 512,
  LONGDESC = 1024,
  IMAGESRCSET = 2048
};

static const uint16_t attributes_of[HP_KNOWN_ATOMS] = {
    [HP_A] = HREF | PING,
    [HP_AREA] = HREF | PING,
    [HP_AUDIO] = SRC,
    [HP_BLOCKQUOTE] = CITE,
    [HP_BODY] = BACKGROUND,
    [HP_BUTTON] = FORMACTION,
    [HP_DEL] = CITE,
    [HP_EMBED] = SRC,
    [HP_FORM] = ACTION,
    [HP_FRAME] = SRC | LONGDESC,
    [HP_IFRAME] = SRC | LONGDESC,
    [HP_IMG] = SRC | SRCSET | LONGDESC,
    [HP_INPUT] = SRC | FORMACTION,
    [HP_INS] = CITE,
    [HP_LINK] = HREF | IMAGESRCSET,
    [HP_OBJECT] = DATA,
    [HP_Q] = CITE,
    [HP_SCRIPT] = SRC,
    [HP_SOURCE] = SRC | SRCSET,
    [HP_TRACK] = SRC,
    [HP_VIDEO] = SRC | POSTER,
};

static const struct {
  const char *name;
  uint16_t bit;
} unknown_names[] = {
    {"formaction", FORMACTION}, {"imagesrcset", IMAGESRCSET}, {"longdesc", LONGDESC}, {"poster", POSTER}};

static uint16_t bit_of_unknown(hp_name name) {
  for (size_t i = 0; i < sizeof unknown_names / sizeof *unknown_names; i++)
    if (strlen(unknown_names[i].name) == name.length && !memcmp(unknown_names[i].name, name.bytes, name.length))
      return unknown_names[i].bit;
  return 0;
}

static uint16_t bit_of(const hpar_document *document, hp_atom name) {
  switch (name) {
    case HP_HREF:
    case HP_ADJUSTED_XLINK_HREF: return HREF;
    case HP_SRC: return SRC;
    case HP_SRCSET: return SRCSET;
    case HP_PING: return PING;
    case HP_ACTION: return ACTION;
    case HP_CITE: return CITE;
    case HP_DATA: return DATA;
    case HP_BACKGROUND: return BACKGROUND;
    default: return name < HP_KNOWN_ATOMS ? 0 : bit_of_unknown(hp_atom_name(&document->atoms, name));
  }
}

typedef struct walk {
  const hpar_document *document;
  const char *memory; /* of the document's range */
  hp_url base, url;
  hp_plain_base plain;
  hpar_link_callback callback;
  void *context;
  bool ended;
} walk;

static void report(walk *w, hpar_link *link) {
  if (w->ended) return;
  const char *value = link->value.bytes;
  size_t length = link->value.length;
  if (!hp_plain_resolve(&w->plain, &w->url, value, length, &link->url)) {
    bool fine = hp_url_parse(&w->url, value, length, w->base.length ? &w->base : NULL);
    link->url = fine ? (hpar_string){w->url.bytes, w->url.length} : (hpar_string){NULL, 0};
  }
  w->ended = w->url.failed || !w->callback(w->context, link);
}

/* Reports the URLs of image candidates. */
//§ parse-a-srcset-attribute
static void report_candidates(walk *w, hpar_link *link, const char *at, const char *end) {
  for (;;) {
    while (at < end && (hp_ascii_is_white(*at) || *at == ',')) at++;
    if (at == end) return;
    const char *begin = at;
    while (at < end && !hp_ascii_is_white(*at)) at++;
    const char *stop = at;
    while (stop > begin && stop[-1] == ',') stop--;
    link->value = (hpar_string){begin, (size_t)(stop - begin)};
    report(w, link);
    if (stop < at) continue;
    for (bool inside = false; at < end && (inside || *at != ','); at++) {
      if (*at == '(') inside = true;
      if (*at == ')') inside = false;
    }
  }
}

static void report_words(walk *w, hpar_link *link, const char *at, const char *end) {
  for (;;) {
    while (at < end && hp_ascii_is_white(*at)) at++;
    if (at == end) return;
    const char *begin = at;
    while (at < end && !hp_ascii_is_white(*at)) at++;
    link->value = (hpar_string){begin, (size_t)(at - begin)};
    report(w, link);
  }
}

static void report_attribute(walk *w, hp_ref element, const hp_attributes *block, const hp_attribute *attribute,
                             uint16_t bit) {
  hp_name name = hp_atom_name(&w->document->atoms, attribute->name);
  hpar_link link = {.element = element, .attribute = {name.bytes, name.length}};
  hpar_string read = hp_attribute_value(w->document, block, attribute);
  const char *value = read.length ? read.bytes : "", *end = value + read.length;
  if (bit == SRCSET || bit == IMAGESRCSET) {
    report_candidates(w, &link, value, end);
  } else if (bit == PING) {
    report_words(w, &link, value, end);
  } else {
    link.value = (hpar_string){value, read.length};
    report(w, &link);
  }
}

static void visit(walk *w, hp_ref ref, const hp_node *element) {
  uint16_t wanted = element->ns == HPAR_NAMESPACE_HTML
                        ? element->name < HP_KNOWN_ATOMS ? attributes_of[element->name] : 0
                    : element->ns == HPAR_NAMESPACE_SVG ? HREF
                                                        : 0;
  if (!wanted) return;
  const hp_attributes *block = hp_at(w->memory, element->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    uint16_t bit = bit_of(w->document, block->items[i].name);
    if (wanted & bit) report_attribute(w, ref, block, &block->items[i], bit);
  }
}

/* Returns the node after `ref` in tree order below `top`, or 0. */
static inline hp_ref next_node(const char *memory, hp_ref top, hp_ref ref) {
  const hp_node *node = hp_node_at(memory, ref);
  if ((node->kind == HPAR_NODE_ELEMENT || node->kind == HPAR_NODE_DOCUMENT || node->kind == HPAR_NODE_FRAGMENT) &&
      node->first)
    return node->first;
  while (ref != top) {
    if (node->next) return node->next;
    ref = hp_parent_of(memory, node);
    if (!ref) return 0;
    node = hp_node_at(memory, ref);
  }
  return 0;
}

/* Returns the `href` of the document's first base element that has one. `bytes` is NULL if no base
 * element has one. */
static hpar_string base_url(const hpar_document *document) {
  const char *memory = document->range.base;
  if (!atomic_load_explicit(&document->has_base, memory_order_relaxed)) return (hpar_string){NULL, 0};
  for (hp_ref ref = document->root; ref; ref = next_node(memory, document->root, ref)) {
    const hp_node *node = hp_node_at(memory, ref);
    if (node->kind != HPAR_NODE_ELEMENT || node->name != HP_BASE || node->ns != HPAR_NAMESPACE_HTML) continue;
    const hp_attributes *block = node->attributes ? hp_at(memory, node->attributes) : NULL;
    for (uint32_t i = 0; block && i < block->count; i++)
      if (block->items[i].name == HP_HREF) return hp_attribute_value(document, block, &block->items[i]);
  }
  return (hpar_string){NULL, 0};
}

/* Sets the base URL: the base element's, or else the document's. */
//§ frozen-base-url
static hpar_status find_base(walk *w, const char *document_url) {
  hp_url fallback = {0};
  if (document_url && !hp_url_parse(&fallback, document_url, strlen(document_url), NULL)) {
    hpar_status status = fallback.failed ? HPAR_ERROR_MEMORY : HPAR_ERROR_ARGUMENT;
    hp_url_close(&fallback);
    return status;
  }
  hpar_string href = base_url(w->document);
  bool fine = href.bytes && hp_url_parse(&w->base, href.bytes, href.length, fallback.length ? &fallback : NULL);
  bool failed = w->base.failed;
  if (fine && w->base.scheme == HP_SCHEME_OTHER &&
      ((w->base.scheme_end == 5 && !memcmp(w->base.bytes, "data:", 5)) ||
       (w->base.scheme_end == 11 && !memcmp(w->base.bytes, "javascript:", 11))))
    fine = false;
  if (fine) {
    hp_url_close(&fallback);
  } else {
    hp_url_close(&w->base);
    w->base = fallback;
  }
  return failed ? HPAR_ERROR_MEMORY : HPAR_OK;
}

/* Reads the options of a caller that may be older or newer than this library. */
static bool take_options(const hpar_link_options *options, const char **document_url) {
  *document_url = NULL;
  if (!options) return true;
  for (size_t i = sizeof *options; i < options->size; i++)
    if (((const char *)options)[i]) return false;
  if (options->size >= sizeof *options) *document_url = options->document_url;
  return options->size >= sizeof options->size;
}

hpar_status hpar_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                       hpar_link_callback callback, void *context) {
  const char *document_url;
  if (!document || !callback || !take_options(options, &document_url)) return HPAR_ERROR_ARGUMENT;
  walk w = {.document = document, .memory = document->range.base, .callback = callback, .context = context};
  hpar_status status = find_base(&w, document_url);
  hp_plain_base_open(&w.plain, &w.base);
  for (hp_ref ref = status ? 0 : top; ref && !w.ended; ref = next_node(w.memory, top, ref)) {
    const hp_node *node = hp_node_at(w.memory, ref);
    if (node->kind == HPAR_NODE_ELEMENT && node->attributes) visit(&w, ref, node);
  }
  if (w.url.failed) status = HPAR_ERROR_MEMORY;
  hp_url_close(&w.base);
  hp_url_close(&w.url);
  return status;
}
