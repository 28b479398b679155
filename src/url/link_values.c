#include "url/link_values.h"

#include "base/bytes.h"
#include "dom/value.h"

#include <string.h>

const uint16_t hp_link_attributes[HP_KNOWN_ATOMS] = {
    [HP_ATOM_A] = HP_LINK_HREF | HP_LINK_PING,
    [HP_ATOM_AREA] = HP_LINK_HREF | HP_LINK_PING,
    [HP_ATOM_AUDIO] = HP_LINK_SRC,
    [HP_ATOM_BLOCKQUOTE] = HP_LINK_CITE,
    [HP_ATOM_BODY] = HP_LINK_BACKGROUND,
    [HP_ATOM_BUTTON] = HP_LINK_FORMACTION,
    [HP_ATOM_DEL] = HP_LINK_CITE,
    [HP_ATOM_EMBED] = HP_LINK_SRC,
    [HP_ATOM_FORM] = HP_LINK_ACTION,
    [HP_ATOM_FRAME] = HP_LINK_SRC | HP_LINK_LONGDESC,
    [HP_ATOM_IFRAME] = HP_LINK_SRC | HP_LINK_LONGDESC,
    [HP_ATOM_IMG] = HP_LINK_SRC | HP_LINK_SRCSET | HP_LINK_LONGDESC,
    [HP_ATOM_INPUT] = HP_LINK_SRC | HP_LINK_FORMACTION,
    [HP_ATOM_INS] = HP_LINK_CITE,
    [HP_ATOM_LINK] = HP_LINK_HREF | HP_LINK_IMAGESRCSET,
    [HP_ATOM_OBJECT] = HP_LINK_DATA,
    [HP_ATOM_Q] = HP_LINK_CITE,
    [HP_ATOM_SCRIPT] = HP_LINK_SRC,
    [HP_ATOM_SOURCE] = HP_LINK_SRC | HP_LINK_SRCSET,
    [HP_ATOM_TRACK] = HP_LINK_SRC,
    [HP_ATOM_VIDEO] = HP_LINK_SRC | HP_LINK_POSTER,
};

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
};

static const struct {
  const char *name;
  uint16_t bit;
} unknown_names[] = {{"formaction", HP_LINK_FORMACTION},
                     {"imagesrcset", HP_LINK_IMAGESRCSET},
                     {"longdesc", HP_LINK_LONGDESC},
                     {"poster", HP_LINK_POSTER}};

uint16_t hp_link_bit_of_name(hp_name name) {
  for (size_t i = 0; i < sizeof unknown_names / sizeof *unknown_names; i++)
    if (strlen(unknown_names[i].name) == name.length && !memcmp(unknown_names[i].name, name.bytes, name.length))
      return unknown_names[i].bit;
  return 0;
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
  if (!atomic_load_explicit(&document->has_base, memory_order_relaxed)) return (hpar_string){NULL, 0};
  for (hp_ref ref = document->root; ref; ref = hp_next_in_tree(memory, document->root, ref)) {
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
