#ifndef HP_URL_LINKS_H
#define HP_URL_LINKS_H

/* The parts of a walk over links: attributes with URLs, the URLs in their values, the base URL. */

#include "base/names.h"
#include "dom/node.h"
#include "url/url.h"

#include <hpar/resources.h>

/* Attributes with URLs, as bits. */
enum {
  HP_LINK_HREF = 1 << 0,
  HP_LINK_SRC = 1 << 1,
  HP_LINK_SRCSET = 1 << 2,
  HP_LINK_PING = 1 << 3,
  HP_LINK_ACTION = 1 << 4,
  HP_LINK_FORMACTION = 1 << 5,
  HP_LINK_CITE = 1 << 6,
  HP_LINK_DATA = 1 << 7,
  HP_LINK_POSTER = 1 << 8,
  HP_LINK_BACKGROUND = 1 << 9,
  HP_LINK_LONGDESC = 1 << 10,
  HP_LINK_IMAGESRCSET = 1 << 11,
  HP_LINK_CANDIDATES = HP_LINK_SRCSET | HP_LINK_IMAGESRCSET,
  /* those that only the rewriter reads: they are no links of a page */
  HP_URL_MANIFEST = 1 << 12,
  HP_URL_REFRESH = 1 << 13, /* `content` of a meta refresh */
  HP_URL_STYLE = 1 << 14    /* url() and @import in CSS */
};

extern const uint16_t hp_link_attributes[HP_KNOWN_ATOMS]; /* by HTML element: its links */
extern const uint16_t hp_link_bits[HP_KNOWN_ATOMS];       /* by attribute */

/* Returns the bit of an attribute of an element with an atom in HTML or SVG; 0: it has no URL. */
uint16_t hp_url_bit(uint8_t ns, hp_atom element, hp_name attribute);

/* Returns the bit of an attribute whose name has no fixed atom, or 0. */
uint16_t hp_link_bit_of_name(hp_name name);

static inline uint16_t hp_link_bit(const hpar_document *document, hp_atom attribute) {
  return attribute < HP_KNOWN_ATOMS ? hp_link_bits[attribute]
                                    : hp_link_bit_of_name(hp_atom_name(&document->atoms, attribute));
}

/* Returns the attributes of an element that have URLs. */
static inline uint16_t hp_wanted_links(const hp_node *element) {
  if (element->ns == HPAR_NAMESPACE_HTML) return element->name < HP_KNOWN_ATOMS ? hp_link_attributes[element->name] : 0;
  return element->ns == HPAR_NAMESPACE_SVG ? HP_LINK_HREF : 0;
}

/* Sets `*url` to the next URL of a value with this bit, and moves `*at` after it. Returns false
 * after the last one. Only attributes with a list have another number of URLs than one. */
bool hp_next_link(uint16_t bit, const char **at, const char *end, hpar_string *url);

/* Sets `*base` to the base URL: the base element's, or else the document's. `document_url` may be
 * NULL. HPAR_ERROR_ARGUMENT: it is not valid. HPAR_ERROR_MEMORY. */
hpar_status hp_find_link_base(const hpar_document *document, const char *document_url, hp_url *base);

/* Does what hpar_links does, with options of this version, and sets `error` after
 * HPAR_ERROR_ARGUMENT. */
hpar_status hp_report_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                            hpar_link_callback callback, void *context, hpar_error *error);

#endif
