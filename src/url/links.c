#include "url/links.h"

#include "base/bytes.h"
#include "base/call.h"
#include "dom/value.h"
#include "url/url.h"

#include <hpar/resources.h>
#include <string.h>

/* The elements with URLs: their links, and the URLs that are no links. hpar_links, resources and
 * the rewriter read this table. */
#define URL_ELEMENTS(ROW)                                      \
  ROW(A, HP_LINK_HREF | HP_LINK_PING, 0)                       \
  ROW(AREA, HP_LINK_HREF | HP_LINK_PING, 0)                    \
  ROW(AUDIO, HP_LINK_SRC, 0)                                   \
  ROW(BASE, 0, HP_LINK_HREF)                                   \
  ROW(BGSOUND, 0, HP_LINK_SRC)                                 \
  ROW(BLOCKQUOTE, HP_LINK_CITE, 0)                             \
  ROW(BODY, HP_LINK_BACKGROUND, 0)                             \
  ROW(BUTTON, HP_LINK_FORMACTION, 0)                           \
  ROW(DEL, HP_LINK_CITE, 0)                                    \
  ROW(EMBED, HP_LINK_SRC, 0)                                   \
  ROW(FORM, HP_LINK_ACTION, 0)                                 \
  ROW(FRAME, HP_LINK_SRC | HP_LINK_LONGDESC, 0)                \
  ROW(HTML, 0, HP_URL_MANIFEST)                                \
  ROW(IFRAME, HP_LINK_SRC | HP_LINK_LONGDESC, 0)               \
  ROW(IMG, HP_LINK_SRC | HP_LINK_SRCSET | HP_LINK_LONGDESC, 0) \
  ROW(INPUT, HP_LINK_SRC | HP_LINK_FORMACTION, 0)              \
  ROW(INS, HP_LINK_CITE, 0)                                    \
  ROW(LINK, HP_LINK_HREF | HP_LINK_IMAGESRCSET, 0)             \
  ROW(META, 0, HP_URL_REFRESH)                                 \
  ROW(OBJECT, HP_LINK_DATA, 0)                                 \
  ROW(Q, HP_LINK_CITE, 0)                                      \
  ROW(SCRIPT, HP_LINK_SRC, 0)                                  \
  ROW(SOURCE, HP_LINK_SRC | HP_LINK_SRCSET, 0)                 \
  ROW(TABLE, 0, HP_LINK_BACKGROUND)                            \
  ROW(TBODY, 0, HP_LINK_BACKGROUND)                            \
  ROW(TD, 0, HP_LINK_BACKGROUND)                               \
  ROW(TFOOT, 0, HP_LINK_BACKGROUND)                            \
  ROW(TH, 0, HP_LINK_BACKGROUND)                               \
  ROW(THEAD, 0, HP_LINK_BACKGROUND)                            \
  ROW(TR, 0, HP_LINK_BACKGROUND)                               \
  ROW(TRACK, HP_LINK_SRC, 0)                                   \
  ROW(VIDEO, HP_LINK_SRC | HP_LINK_POSTER, 0)

#define LINKS_OF(element, links, others) [HP_ATOM_##element] = (links),
#define URLS_OF(element, links, others) [HP_ATOM_##element] = (links) | (others),
const uint16_t hp_link_attributes[HP_KNOWN_ATOMS] = {URL_ELEMENTS(LINKS_OF)};
/* By HTML element: all but `style`. */
static const uint16_t url_attributes[HP_KNOWN_ATOMS] = {URL_ELEMENTS(URLS_OF)};
#undef LINKS_OF
#undef URLS_OF

const uint16_t hp_link_bits[HP_KNOWN_ATOMS] = {
    [HP_ATOM_HREF] = HP_LINK_HREF,
    [HP_ATOM_ADJUSTED_XLINK_HREF] = HP_LINK_HREF,
    [HP_ATOM_SRC] = HP_LINK_SRC,
    [HP_ATOM_SRCSET] = HP_LINK_SRCSET,
    [HP_ATOM_PING] = HP_LINK_PING,
    [HP_ATOM_ACTION] = HP_LINK_ACTION,
    [HP_ATOM_CITE] = HP_LINK_CITE,
    [HP_ATOM_DATA] = HP_LINK_DATA,
    [HP_ATOM_BACKGROUND] = HP_LINK_BACKGROUND,
    [HP_ATOM_CONTENT] = HP_URL_REFRESH,
    [HP_ATOM_STYLE] = HP_URL_STYLE,
};

uint16_t hp_link_bit_of_name(hp_name name) {
  static const struct {
    const char *name;
    uint8_t length;
    uint16_t bit;
  } names[] = {{"formaction", 10, HP_LINK_FORMACTION},
               {"imagesrcset", 11, HP_LINK_IMAGESRCSET},
               {"longdesc", 8, HP_LINK_LONGDESC},
               {"poster", 6, HP_LINK_POSTER},
               {"manifest", 8, HP_URL_MANIFEST}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].length == name.length && !memcmp(names[i].name, name.bytes, name.length)) return names[i].bit;
  return 0;
}

uint16_t hp_url_bit(uint8_t ns, hp_atom element, hp_name attribute) {
  static const hp_name xlink = {"xlink:href", 10};
  uint16_t wanted = HP_URL_STYLE;
  if (ns == HPAR_NAMESPACE_SVG) wanted |= HP_LINK_HREF;
  if (ns == HPAR_NAMESPACE_HTML && element < HP_KNOWN_ATOMS) wanted |= url_attributes[element];
  if (ns == HPAR_NAMESPACE_SVG && attribute.length == xlink.length &&
      !memcmp(attribute.bytes, xlink.bytes, xlink.length))
    return HP_LINK_HREF;
  const hp_atom atom =
      hp_known_atom(attribute.bytes, attribute.length, hp_name_key_of(attribute.bytes, attribute.length));
  return wanted & (atom ? hp_link_bits[atom] : hp_link_bit_of_name(attribute));
}

/* Reads an image candidate. */
//§ parse-a-srcset-attribute
static bool next_candidate(const char **from, const char *end, hpar_string *url) {
  const char *at = *from;
  while (at < end && (hp_ascii_is_white(*at) || *at == ',')) at++;
  if (at == end) return false;
  const char *begin = at;
  while (at < end && !hp_ascii_is_white(*at)) at++;
  const char *stop = at;
  while (stop > begin && stop[-1] == ',') stop--;
  *url = (hpar_string){begin, (size_t)(stop - begin)};
  if (stop == at)
    for (bool inside = false; at < end && (inside || *at != ','); at++) {
      if (*at == '(') inside = true;
      if (*at == ')') inside = false;
    }
  *from = at;
  return true;
}

static bool next_word(const char **from, const char *end, hpar_string *url) {
  const char *at = *from;
  while (at < end && hp_ascii_is_white(*at)) at++;
  if (at == end) return false;
  const char *begin = at;
  while (at < end && !hp_ascii_is_white(*at)) at++;
  *url = (hpar_string){begin, (size_t)(at - begin)};
  *from = at;
  return true;
}

bool hp_next_link(uint16_t bit, const char **at, const char *end, hpar_string *url) {
  if (bit & HP_LINK_CANDIDATES) return next_candidate(at, end, url);
  if (bit & HP_LINK_PING) return next_word(at, end, url);
  if (!*at) return false;
  *url = (hpar_string){*at, (size_t)(end - *at)};
  *at = NULL;
  return true;
}

/* Returns the `href` of the document's first base element that has one. `bytes` is NULL if no base
 * element has one. */
static hpar_string base_url(const hpar_document *document) {
  const char *memory = document->range.base;
  if (!hp_document_has_base(document)) return (hpar_string){NULL, 0};
  for (hp_ref ref = document->root; ref; ref = hp_next_in_tree(memory, ref, document->root)) {
    const hp_node *node = hp_node_at(memory, ref);
    if (node->kind != HPAR_NODE_ELEMENT || node->name != HP_ATOM_BASE || node->ns != HPAR_NAMESPACE_HTML) continue;
    const hp_attributes *block = node->attributes ? hp_at(memory, node->attributes) : NULL;
    for (uint32_t i = 0; block && i < block->count; i++)
      if (block->items[i].name == HP_ATOM_HREF) return hp_attribute_value(document, block, &block->items[i]);
  }
  return (hpar_string){NULL, 0};
}

//§ frozen-base-url
hpar_status hp_find_link_base(const hpar_document *document, const char *document_url, hp_url *base) {
  hp_url fallback = {0};
  if (document_url && !hp_url_parse(&fallback, document_url, strlen(document_url), NULL)) {
    hpar_status status = fallback.failed ? HPAR_ERROR_MEMORY : HPAR_ERROR_ARGUMENT;
    hp_url_close(&fallback);
    return status;
  }
  hpar_string href = base_url(document);
  bool fine = href.bytes && hp_url_parse(base, href.bytes, href.length, fallback.length ? &fallback : NULL);
  bool failed = base->failed;
  if (fine && base->scheme == HP_SCHEME_OTHER &&
      ((base->scheme_end == 5 && !memcmp(base->bytes, "data:", 5)) ||
       (base->scheme_end == 11 && !memcmp(base->bytes, "javascript:", 11))))
    fine = false;
  if (fine) {
    hp_url_close(&fallback);
  } else {
    hp_url_close(base);
    *base = fallback;
  }
  return failed ? HPAR_ERROR_MEMORY : HPAR_OK;
}

/*** the links of a subtree: one walk, and short ways to resolve simple URLs ***/

typedef struct walk {
  const hpar_document *document;
  const char *memory; /* of the document's range */
  hp_url base, url;
  hp_plain_base plain;
  hpar_link_callback callback;
  void *context;
  hpar_status status; /* what it has returned */
  bool ended;
} walk;

static void report_link(walk *w, hpar_link *link) {
  if (w->ended) return;
  const char *value = link->value.bytes;
  size_t length = link->value.length;
  if (!hp_plain_resolve(&w->plain, &w->url, value, length, &link->url)) {
    bool fine = hp_url_parse(&w->url, value, length, w->base.length ? &w->base : NULL);
    link->url = fine ? (hpar_string){w->url.bytes, w->url.length} : (hpar_string){NULL, 0};
    for (size_t i = 0; fine && i < w->url.length; i++)
      link->host_not_converted |= (unsigned char)w->url.bytes[i] >= 0x80;
  }
  if (!w->url.failed) w->status = w->callback(link, w->context);
  w->ended = w->url.failed || w->status != HPAR_OK;
}

static void report_attribute(walk *w, hp_ref element, const hp_attributes *block, const hp_attribute *attribute,
                             uint16_t bit) {
  hp_name name = hp_atom_name(&w->document->atoms, attribute->name);
  hpar_link link = {.element = element, .attribute = {name.bytes, name.length}};
  hpar_string read = hp_attribute_value(w->document, block, attribute);
  const char *value = read.length ? read.bytes : "", *end = value + read.length;
  while (hp_next_link(bit, &value, end, &link.value)) report_link(w, &link);
}

static void visit(walk *w, hp_ref ref, const hp_node *element) {
  uint16_t wanted = hp_wanted_links(element);
  if (!wanted) return;
  const hp_attributes *block = hp_at(w->memory, element->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    uint16_t bit = hp_link_bit(w->document, block->items[i].name);
    if (wanted & bit) report_attribute(w, ref, block, &block->items[i], bit);
  }
}

hpar_status hp_report_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                            hpar_link_callback callback, void *context, hpar_error *error) {
  if (!document || !callback)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s is NULL", document ? "callback" : "document");
  const hp_encoding *queries = document->input.encoding;
  const char *label = options->query_encoding;
  if (label && !(queries = hp_encoding_for_label(label, strlen(label))))
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_link_options.query_encoding is \"%.60s\"; accepted: a label of the Encoding Standard",
                      label);
  hp_begin_reading(&document->use);
  walk w = {.document = document, .memory = document->range.base, .callback = callback, .context = context};
  w.base.queries = w.url.queries = queries;
  hpar_status status = hp_find_link_base(document, options->document_url, &w.base);
  if (status == HPAR_ERROR_ARGUMENT)
    hp_explain(error, status, "hpar_link_options.document_url is \"%.100s\"; accepted: an absolute URL",
               options->document_url);
  hp_plain_base_open(&w.plain, &w.base);
  for (hp_ref ref = status ? 0 : top; ref && !w.ended; ref = hp_next_in_tree(w.memory, ref, top)) {
    const hp_node *node = hp_node_at(w.memory, ref);
    if (node->kind == HPAR_NODE_ELEMENT && node->attributes) visit(&w, ref, node);
  }
  if (!status) status = hp_end_of_walk(w.status);
  if (w.url.failed) status = HPAR_ERROR_MEMORY;
  hp_url_close(&w.base);
  hp_url_close(&w.url);
  hp_document_end_reading(document);
  return status;
}

hpar_status hpar_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                       hpar_link_callback callback, void *context) {
  hpar_link_options own = {HPAR_LINK_OPTIONS_INIT};
  hpar_status status =
      hp_read_options(&own, sizeof own, options, "hpar_link_options", "HPAR_LINK_OPTIONS_INIT", &own.error);
  if (status == HPAR_OK) status = hp_report_links(document, top, &own, callback, context, own.error);
  return hp_explain_status(own.error, status);
}
