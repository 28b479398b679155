#ifndef HPAR_DOCUMENT_H
#define HPAR_DOCUMENT_H

/* The tree that a parse leaves behind.
 *
 * A document owns its nodes; a node is named by a 32-bit handle that is valid for that document until
 * it is parsed into again or destroyed. 0 (HPAR_NO_NODE) is no node, and every accessor given it, or a
 * node of a kind to which the question does not apply, answers 0, NULL or an empty string.
 *
 * Strings are UTF-8, not NUL-terminated, and point into the input or the document: they live as long as
 * both. A document that has been parsed may be read from any number of threads at once; parsing into it
 * or destroying it must be alone. */

#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpar_document hpar_document;
typedef uint32_t hpar_node;
#define HPAR_NO_NODE 0u

typedef struct hpar_string {
  const char *bytes;
  size_t length;
} hpar_string;

typedef enum hpar_node_kind {
  HPAR_NODE_NONE = 0,
  HPAR_NODE_DOCUMENT,
  HPAR_NODE_FRAGMENT, /* the contents of a template element */
  HPAR_NODE_DOCTYPE,
  HPAR_NODE_ELEMENT,
  HPAR_NODE_TEXT,
  HPAR_NODE_COMMENT,
  HPAR_NODE_PROCESSING_INSTRUCTION
} hpar_node_kind;

typedef enum hpar_namespace {
  HPAR_NAMESPACE_NONE = 0,
  HPAR_NAMESPACE_HTML,
  HPAR_NAMESPACE_SVG,
  HPAR_NAMESPACE_MATHML,
  HPAR_NAMESPACE_XLINK,
  HPAR_NAMESPACE_XML,
  HPAR_NAMESPACE_XMLNS
} hpar_namespace;

typedef enum hpar_quirks { HPAR_NO_QUIRKS = 0, HPAR_LIMITED_QUIRKS, HPAR_QUIRKS } hpar_quirks;

/* An attribute as the tree holds it. `prefix` is "xlink", "xml", "xmlns" or empty. */
typedef struct hpar_attribute {
  hpar_namespace ns;
  hpar_string prefix, local_name, value;
} hpar_attribute;

/* An empty document, ready to be parsed into any number of times; memory is kept from one parse to the
 * next. HPAR_ERROR_MEMORY if address space cannot be reserved. The caller destroys it. */
HPAR_API hpar_status hpar_document_create(hpar_document **document);

/* Frees the document and all its nodes in time independent of their number. NULL is allowed. */
HPAR_API void hpar_document_destroy(hpar_document *document);

/* The document node. For a fragment parse its children are the fragment's nodes. */
HPAR_API hpar_node hpar_document_root(const hpar_document *document);
HPAR_API hpar_quirks hpar_document_quirks(const hpar_document *document);

/* Bytes of memory that the tree takes, the input aside. */
HPAR_API size_t hpar_document_memory(const hpar_document *document);

HPAR_API hpar_node_kind hpar_kind(const hpar_document *document, hpar_node node);
HPAR_API hpar_namespace hpar_node_namespace(const hpar_document *document, hpar_node node);

/* An element's local name, a doctype's name, a processing instruction's target. */
HPAR_API hpar_string hpar_name(const hpar_document *document, hpar_node node);

/* The data of a text, a comment or a processing instruction. */
HPAR_API hpar_string hpar_data(const hpar_document *document, hpar_node node);

/* The public and system identifiers of a doctype. Both empty when it has none. */
HPAR_API hpar_string hpar_public_id(const hpar_document *document, hpar_node node);
HPAR_API hpar_string hpar_system_id(const hpar_document *document, hpar_node node);

HPAR_API hpar_node hpar_parent(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_first_child(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_last_child(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_next(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_previous(const hpar_document *document, hpar_node node);

/* The fragment that holds the contents of an HTML template element. Its parent is HPAR_NO_NODE. */
HPAR_API hpar_node hpar_template_contents(const hpar_document *document, hpar_node node);

/* The node after `node` in tree order within the subtree of `top`, template contents not entered;
 * HPAR_NO_NODE after the last. Takes constant amortised time and no stack. */
HPAR_API hpar_node hpar_walk(const hpar_document *document, hpar_node top, hpar_node node);

HPAR_API size_t hpar_attribute_count(const hpar_document *document, hpar_node element);

/* The attribute at `index`, in source order. False, and nothing set, when there is none. */
HPAR_API bool hpar_attribute_at(const hpar_document *document, hpar_node element, size_t index,
                                hpar_attribute *attribute);

/* The value of the attribute of no namespace with this local name (NUL-terminated, lower case in HTML).
 * `bytes` is NULL when the element has none. */
HPAR_API hpar_string hpar_attribute_value(const hpar_document *document, hpar_node element, const char *name);

/* Where an element's start tag begins and ends in the input, in bytes; asked for with
 * hpar_options.source_offsets. False for elements that no tag made, and when not asked for. */
HPAR_API bool hpar_source_offsets(const hpar_document *document, hpar_node element, uint64_t *start, uint64_t *end);

#ifdef __cplusplus
}
#endif
#endif
