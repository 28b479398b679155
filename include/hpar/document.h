#ifndef HPAR_DOCUMENT_H
#define HPAR_DOCUMENT_H

/* The tree of a parsed document.
 *
 * A document owns its nodes. A node is a 32-bit handle. The handle is valid for its document until
 * the next parse into that document, and until the document's destruction. HPAR_NO_NODE (0) means
 * "no node".
 *
 * These rules hold for every function below, unless the function's comment gives another rule:
 * - For HPAR_NO_NODE, for a node of another kind, and if a pointer is NULL, a function returns 0,
 *   HPAR_NO_NODE, false or an empty string. The pointer of an empty string is not NULL.
 * - The behaviour is undefined for a handle of another document, and for a handle that a later
 *   parse has invalidated. No function detects such a handle.
 * - Strings are UTF-8 without a terminating NUL. They point into the input or the document. Neither
 *   the input nor the document may change or end while the caller uses them. The caller never frees
 *   them.
 * - Any number of threads may read the same document at once. A parse into a document, and its
 *   destruction, exclude every other call with that document. */

#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed document. */
typedef struct hpar_document hpar_document;

/* A handle of a node in a document: see above. */
typedef uint32_t hpar_node;
#define HPAR_NO_NODE 0u

/* UTF-8 bytes without a terminating NUL. */
typedef struct hpar_string {
  const char *bytes;
  size_t length;
} hpar_string;

/* The type of a node. */
typedef enum hpar_node_type {
  HPAR_NODE_NONE = 0,
  HPAR_NODE_DOCUMENT,
  HPAR_NODE_FRAGMENT, /* the contents of a template element */
  HPAR_NODE_DOCTYPE,
  HPAR_NODE_ELEMENT,
  HPAR_NODE_TEXT,
  HPAR_NODE_COMMENT,
  HPAR_NODE_PROCESSING_INSTRUCTION
} hpar_node_type;

/* The namespace of an element or of an attribute. */
typedef enum hpar_namespace {
  HPAR_NAMESPACE_NONE = 0,
  HPAR_NAMESPACE_HTML,
  HPAR_NAMESPACE_SVG,
  HPAR_NAMESPACE_MATHML,
  HPAR_NAMESPACE_XLINK,
  HPAR_NAMESPACE_XML,
  HPAR_NAMESPACE_XMLNS
} hpar_namespace;

/* The quirks mode of a document, by its doctype. */
typedef enum hpar_quirks { HPAR_NO_QUIRKS = 0, HPAR_LIMITED_QUIRKS, HPAR_QUIRKS } hpar_quirks;

/* An attribute of an element. `prefix` is "xlink", "xml", "xmlns" or empty. */
typedef struct hpar_attribute {
  hpar_namespace ns;
  hpar_string prefix, local_name, value;
} hpar_attribute;

/* Creates an empty document in `*document`. It has a document node without children.
 *
 * Any number of parses may fill the document, one after the other. It keeps its memory from one
 * parse to the next. A parse reserves 32 GB of address space, or less under a limit, and gives the
 * unused part back when it ends. The number of live documents therefore depends on their trees
 * only. The caller destroys the document with hpar_document_destroy. Returns HPAR_ERROR_MEMORY and
 * leaves `*document` unchanged if no memory is available; HPAR_ERROR_ARGUMENT for NULL. */
HPAR_API hpar_status hpar_document_create(hpar_document **document);

/* Frees the document and all its nodes. The time does not depend on the number of nodes.
 * NULL is allowed. If a parser is being fed for this document, its input is dropped.
 *
 * A callback may destroy what the running call uses: documents, parsers, selectors, rules and
 * rewriters. The object is then freed when the last call that uses it returns. A call that would
 * change such an object, for example parse into the document, returns HPAR_ERROR_ARGUMENT. */
HPAR_API void hpar_document_destroy(hpar_document *document);

/* Drops the tree. The document is as hpar_document_create makes it, but keeps memory for the next
 * parse. Waits for late threads of its last parse (see hpar_parse), so that the caller may free the
 * bytes of the input. If a parser is being fed for this document, its input is dropped. Does
 * nothing for NULL, and in a callback of a call that uses the document. */
HPAR_API void hpar_document_clear(hpar_document *document);

/* Returns the document node. In a document from a fragment parse its children are the fragment's
 * nodes. The result is HPAR_NO_NODE only if `document` is NULL. */
HPAR_API hpar_node hpar_document_root(const hpar_document *document);

/* Returns the element html. It is missing only after a fragment parse, a limit or an edit. */
HPAR_API hpar_node hpar_document_html(const hpar_document *document);

/* Returns the element head: the first one among the children of html. */
HPAR_API hpar_node hpar_document_head(const hpar_document *document);

/* Returns the element body or frameset: the first one among the children of html. */
HPAR_API hpar_node hpar_document_body(const hpar_document *document);

/* Returns the title element, which is the first one of HTML in tree order. Its text by
 * hpar_text_copy is `document.title` of the DOM. The time is linear in the nodes before it. */
HPAR_API hpar_node hpar_document_title(const hpar_document *document);

/* Returns the document's quirks mode. */
HPAR_API hpar_quirks hpar_document_quirks(const hpar_document *document);

/* Returns the size of the tree in bytes of memory, without the input.
 *
 * The first access to an attribute value with character references decodes the value, and adds its
 * bytes to the size. The parse has reserved these bytes, so the access never fails. */
HPAR_API size_t hpar_document_memory(const hpar_document *document);

/* Returns the type of a node, and HPAR_NODE_NONE for HPAR_NO_NODE. */
HPAR_API hpar_node_type hpar_node_kind(const hpar_document *document, hpar_node node);

/* Returns the namespace of an element, and HPAR_NAMESPACE_NONE for other nodes. */
HPAR_API hpar_namespace hpar_node_namespace(const hpar_document *document, hpar_node node);

/* Returns an element's local name, a doctype's name, or a processing instruction's target. */
HPAR_API hpar_string hpar_node_name(const hpar_document *document, hpar_node node);

/* Returns the data of a text, a comment or a processing instruction. */
HPAR_API hpar_string hpar_node_data(const hpar_document *document, hpar_node node);

/* Returns the public identifier of a doctype. A missing identifier is empty. */
HPAR_API hpar_string hpar_node_public_id(const hpar_document *document, hpar_node node);

/* Returns the system identifier of a doctype. A missing identifier is empty. */
HPAR_API hpar_string hpar_node_system_id(const hpar_document *document, hpar_node node);

/* Returns the parent, and HPAR_NO_NODE for the document node and for the contents of a template. */
HPAR_API hpar_node hpar_node_parent(const hpar_document *document, hpar_node node);

/* Returns the first child, and HPAR_NO_NODE for a node without children. */
HPAR_API hpar_node hpar_node_first_child(const hpar_document *document, hpar_node node);

/* Returns the last child, and HPAR_NO_NODE for a node without children. */
HPAR_API hpar_node hpar_node_last_child(const hpar_document *document, hpar_node node);

/* Returns the next sibling, and HPAR_NO_NODE for the last one. */
HPAR_API hpar_node hpar_node_next(const hpar_document *document, hpar_node node);

/* Returns the previous sibling, and HPAR_NO_NODE for the first one. */
HPAR_API hpar_node hpar_node_previous(const hpar_document *document, hpar_node node);

/* Returns the fragment with the contents of an HTML template element. The fragment's parent is
 * HPAR_NO_NODE. */
HPAR_API hpar_node hpar_node_template_contents(const hpar_document *document, hpar_node node);

/* Returns the node after `node` in tree order within the subtree of `top`, and HPAR_NO_NODE after
 * the last. Requires: `node` is `top` or below `top`. The walk does not enter template contents.
 * It takes constant amortised time and no stack. */
HPAR_API hpar_node hpar_node_walk(const hpar_document *document, hpar_node top, hpar_node node);

/* Returns the number of an element's attributes. */
HPAR_API size_t hpar_node_attribute_count(const hpar_document *document, hpar_node element);

/* Sets `*attribute` to the attribute at `index`, in source order. Returns false and leaves
 * `*attribute` unchanged if `index` is not below hpar_node_attribute_count. */
HPAR_API bool hpar_node_attribute_at(const hpar_document *document, hpar_node element, size_t index,
                                     hpar_attribute *attribute);

/* Returns the value of the element's attribute with this local name and without a namespace.
 *
 * `name` ends with a NUL and is in lower case for HTML elements. If the element has no such
 * attribute, or `name` is NULL, the result's `bytes` is NULL. An empty value has a `bytes` that is
 * not NULL. */
HPAR_API hpar_string hpar_node_attribute_value(const hpar_document *document, hpar_node element, const char *name);

/* Sets `*start` to the offset of an element's start tag in the input, and `*end` to the offset
 * after that tag.
 *
 * Requires: hpar_options.source_offsets was set for the parse. Returns false and leaves both
 * unchanged if it was not set, and for elements without a start tag of their own. Such elements are
 * implied elements, and clones of formatting elements and of options. */
HPAR_API bool hpar_node_start_tag_range(const hpar_document *document, hpar_node element, uint64_t *start,
                                        uint64_t *end);

/* Sets `*start` to the offset of the end tag that closed an element, and `*end` to the offset after
 * that tag.
 *
 * Requires: hpar_options.source_offsets was set for the parse. Returns false and leaves both
 * unchanged if it was not set, and for elements that closed without an end tag of their own. Their
 * end is implied, misnested, or the end of the input. The end tag of a heading may have the name of
 * another heading level. If content follows an end tag of body or html, a later such end tag
 * replaces it. */
HPAR_API bool hpar_node_end_tag_range(const hpar_document *document, hpar_node element, uint64_t *start, uint64_t *end);

/* The position of an attribute in the input, as offsets in bytes. Each end is the offset after the
 * last byte. The value is without its quotes. An attribute without an equals sign has both offsets
 * of the value at `name_end`. */
typedef struct hpar_attribute_range {
  uint64_t name_start, name_end, value_start, value_end;
} hpar_attribute_range;

/* Sets `ranges[0]`, `ranges[1]` and so on to the positions of up to `count` attributes, from the
 * attribute at index `first` (see hpar_node_attribute_at).
 *
 * Requires: hpar_options.source_offsets was set for the parse. Returns the number of positions set.
 * It is 0 without the option, and for elements without a start tag of their own. It is less than
 * `count` if the start tag has fewer attributes. A second html or body tag may add attributes to
 * the element. These come last and have no position. The time is linear in the length of the start
 * tag. */
HPAR_API size_t hpar_node_attribute_ranges(const hpar_document *document, hpar_node element, size_t first, size_t count,
                                           hpar_attribute_range *ranges);

#ifdef __cplusplus
}
#endif
#endif
