#ifndef HPAR_NODE_H
#define HPAR_NODE_H

/* Documents and their nodes: reading, text and HTML of a subtree, and changes.
 *
 *   hpar_node item = hpar_node_first_child(document, top);
 *   while (item) {
 *     hpar_text(document, item, NULL, print, stdout);
 *     item = hpar_node_next(document, item);
 *   }
 *
 * A document owns its nodes. A node is a 32-bit handle, which is valid for its document until the
 * next parse into it, its clearing and its destruction. HPAR_NO_NODE (0) means "no node". A handle
 * never changes, so that a program can keep data for nodes in a hash table by handle.
 *
 * These rules hold for every function below, unless the function's comment gives another rule:
 * - For HPAR_NO_NODE, for a node of another kind, and if a pointer is NULL, a function does nothing
 *   and returns 0, HPAR_NO_NODE, false or an empty string. The pointer of that is not NULL.
 * - The behaviour is undefined for a handle of another document, and for one that is not valid any
 *   more. No function detects such a handle.
 * - Strings are UTF-8 without a terminating NUL. They point into the input or the document, which
 *   must stay and must not change while the caller uses them. The caller never frees them.
 * - Any number of threads may read the same document at once. A parse into a document, an edit, and
 *   its destruction, exclude every other call with that document. */

#include <hpar/tags.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of these headers. hpar_version returns that of the library. */
#define HPAR_VERSION_MAJOR 0
#define HPAR_VERSION_MINOR 3
#define HPAR_VERSION_PATCH 0
#define HPAR_VERSION "0.3.0"
/* MAJOR * 10000 + MINOR * 100 + PATCH, for comparisons in #if. */
#define HPAR_VERSION_NUMBER (HPAR_VERSION_MAJOR * 10000 + HPAR_VERSION_MINOR * 100 + HPAR_VERSION_PATCH)

#if defined(HPAR_STATIC) || !defined(__GNUC__)
#define HPAR_API
#else
#define HPAR_API __attribute__((visibility("default")))
#endif

/* What the macros HPAR_..._INIT stand for: all fields but `size` are zero, which is their default.
 * In C, fields may follow by their names, as in {HPAR_OPTIONS_INIT, .threads = 4}. In C++, assign
 * them afterwards, because C++20 compilers warn of each field that is not named. */
#if defined __cplusplus && __cplusplus >= 201103L
extern "C++" {
template <class type> inline type hpar_sized() {
  type made = type();
  made.size = sizeof(type);
  return made;
}
}
#define HPAR_SIZED(type) hpar_sized<type>()
#else
#define HPAR_SIZED(type) .size = sizeof(type)
#endif

#ifdef __cplusplus
#define HPAR_BEGIN_C extern "C" {
#define HPAR_END_C }
#else
#define HPAR_BEGIN_C
#define HPAR_END_C
#endif
HPAR_BEGIN_C

/* Returns the library's version, "MAJOR.MINOR.PATCH", in static storage. */
HPAR_API const char *hpar_version(void);

/*** results of calls ***/

/* Malformed HTML is never an error: every byte sequence has a tree. These rules hold for every
 * function of these headers, unless its comment gives another rule:
 * - `options`, `stats`, `error` and `context` may be NULL: the defaults, no statistics, no error. A
 *   pointer to bytes may be NULL if their length is 0. For any other NULL pointer, and for options
 *   that are not accepted, a function that returns a status returns HPAR_ERROR_ARGUMENT.
 * - A function that creates an object or a node stores it in its argument, or NULL or HPAR_NO_NODE
 *   after a failure. The caller destroys the object, and may pass NULL there.
 * - Any function that returns a status may return HPAR_ERROR_MEMORY.
 * - Any number of threads may call functions without an object, as hpar_version, at once.
 * - A callback that can end its call returns a status. HPAR_OK goes on. Any other status ends the
 *   call, which returns this status. Only the walks over a finished tree (selections, links and
 *   resources) return HPAR_OK for HPAR_STOP, because a caller that has found enough did not fail.
 * - A callback gets its context as the last argument. It must not throw an exception or longjmp. */
typedef enum hpar_status {
  HPAR_OK = 0,
  HPAR_ERROR_MEMORY,      /* the library cannot allocate memory or reserve address space */
  HPAR_ERROR_ARGUMENT,    /* an option or argument is outside its documented range */
  HPAR_ERROR_IO,          /* a file cannot be read or written; errno has the reason */
  HPAR_ERROR_TOO_LARGE,   /* the input is longer than HPAR_MAX_INPUT bytes */
  HPAR_ERROR_UNSUPPORTED, /* this build or this system lacks the requested part */
  HPAR_ERROR_CALLBACK,    /* a callback of the caller failed */
  HPAR_STOP = 8,          /* no failure: a callback has what it needs */
  HPAR_RETIRE,            /* for callbacks of hpar/rewrite.h: their rule matches nothing more */
  HPAR_SUSPEND,           /* for the same callbacks: hpar_rewriter_resume brings their answer */
  /* a limit of hpar_limits: the document has the tree so far, which the statistics count */
  HPAR_LIMIT_DEPTH = 16,
  HPAR_LIMIT_NODES,
  HPAR_LIMIT_MEMORY,
  HPAR_LIMIT_ATTRIBUTES,
  HPAR_LIMIT_TIME,
  HPAR_LIMIT_INPUT
} hpar_status;

/* Why a call failed. A parser and a rewriter keep the error of their last call. Other functions
 * fill an error of the caller, their last argument or the field `error` of their options. They fill
 * it in full, after a success as well: `status` is HPAR_OK then, and `text` is empty. The caller
 * need not initialise it, so that it has no size: its layout never changes. */
typedef struct hpar_error {
  hpar_status status;
  uint64_t offset; /* of the problem in a text that the caller gave, as a selector; otherwise 0 */
  size_t item;     /* of the refused action of a rule, or element of an array; otherwise SIZE_MAX */
  /* the argument, its value, and what is accepted. `?` replaces bytes that are not UTF-8 */
  char text[256];
} hpar_error;

/* Returns a short English sentence without a full stop for any value, in static storage. */
HPAR_API const char *hpar_status_text(hpar_status status);

/*** documents ***/

typedef struct hpar_document hpar_document;
typedef struct hpar_string {
  const char *bytes;
  size_t length;
} hpar_string;
typedef uint32_t hpar_node;
#define HPAR_NO_NODE 0u

typedef enum hpar_node_type {
  HPAR_NODE_NONE = 0, /* of HPAR_NO_NODE */
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

typedef enum hpar_quirks { HPAR_NO_QUIRKS = 0, HPAR_LIMITED_QUIRKS, HPAR_QUIRKS } hpar_quirks;

/* An attribute of an element. `prefix` is "xlink", "xml", "xmlns" or empty. */
typedef struct hpar_attribute {
  hpar_namespace ns;
  hpar_string prefix, local_name, value;
} hpar_attribute;

/* Creates an empty document: a document node without children. Any number of parses may fill it,
 * one after the other, and it keeps its memory from one to the next. A parse reserves up to 80 GB
 * of address space, or less under a limit. The process keeps the unused part for later parses. */
HPAR_API hpar_status hpar_document_create(hpar_document **document);
/* Frees the document and all its nodes, in a time that does not depend on their number. If a parser
 * is being fed for this document, its input is dropped. A callback may destroy what the running
 * call uses: documents, parsers, selectors, rules and rewriters. The object is then freed when the
 * last call that uses it returns. Calls that would change it return HPAR_ERROR_ARGUMENT. */
HPAR_API void hpar_document_destroy(hpar_document *document);
/* Drops the tree, and the input of a parser that is being fed for this document, but keeps memory.
 * Waits for its late threads (see hpar_parse), so that the caller may free the bytes of the input.
 * Does nothing in a callback of a call that uses the document. */
HPAR_API void hpar_document_clear(hpar_document *document);

/* Returns the document node. Its children after a fragment parse are the fragment's nodes. */
HPAR_API hpar_node hpar_document_root(const hpar_document *document);
/* Return the element html, and the first head, and body or frameset, among its children. Each is
 * missing only after a fragment parse, a limit or an edit. */
HPAR_API hpar_node hpar_document_html(const hpar_document *document);
HPAR_API hpar_node hpar_document_head(const hpar_document *document);
HPAR_API hpar_node hpar_document_body(const hpar_document *document);
/* Returns the title element, which is the first one of HTML in tree order. Its text by
 * hpar_text_copy is `document.title` of the DOM. The time is linear in the nodes before it. */
HPAR_API hpar_node hpar_document_title(const hpar_document *document);

HPAR_API hpar_quirks hpar_document_quirks(const hpar_document *document);
/* Returns the bytes of the tree in memory, without the input. Attribute values with character
 * references count from their first access on, for which the parse has reserved the memory. */
HPAR_API size_t hpar_document_memory(const hpar_document *document);

/*** nodes ***/

HPAR_API hpar_node_type hpar_node_kind(const hpar_document *document, hpar_node node);
HPAR_API hpar_namespace hpar_node_namespace(const hpar_document *document, hpar_node element);
/* Returns an element's local name, a doctype's name, or a processing instruction's target. */
HPAR_API hpar_string hpar_node_name(const hpar_document *document, hpar_node node);
/* Returns the number of an element's local name: HPAR_TAG_DIV and so on. `a`, `script`, `style` and
 * `title` of SVG have the numbers of HTML. HPAR_TAG_UNKNOWN: a name that hpar/tags.h lacks, as most
 * of SVG and MathML. HPAR_TAG_NONE: no element. */
HPAR_API hpar_tag hpar_node_tag(const hpar_document *document, hpar_node node);
/* Returns the data of a text, a comment or a processing instruction. */
HPAR_API hpar_string hpar_node_data(const hpar_document *document, hpar_node node);
/* Return the identifiers of a doctype. A missing one is empty. */
HPAR_API hpar_string hpar_node_public_id(const hpar_document *document, hpar_node node);
HPAR_API hpar_string hpar_node_system_id(const hpar_document *document, hpar_node node);
/* The document node and the contents of a template have no parent. */
HPAR_API hpar_node hpar_node_parent(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_node_first_child(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_node_last_child(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_node_next(const hpar_document *document, hpar_node node);
HPAR_API hpar_node hpar_node_previous(const hpar_document *document, hpar_node node);
/* Returns the fragment with the contents of an HTML template element. */
HPAR_API hpar_node hpar_node_template_contents(const hpar_document *document, hpar_node node);
/* Returns the node after `node` in tree order within the subtree of `top`, and HPAR_NO_NODE after
 * the last. `node` is `top` or below it. It skips template contents. Amortised time: constant. */
HPAR_API hpar_node hpar_node_walk(const hpar_document *document, hpar_node top, hpar_node node);

HPAR_API size_t hpar_node_attribute_count(const hpar_document *document, hpar_node element);
/* Sets `*attribute` to the one at `index`, in source order. Past the last: false, and no change. */
HPAR_API bool hpar_node_attribute_at(const hpar_document *document, hpar_node element, size_t index,
                                     hpar_attribute *attribute);
/* Returns the value of the attribute with this local name and without a namespace; `bytes` is NULL
 * if there is none. `name` ends with a NUL, and is in lower case for HTML elements. */
HPAR_API hpar_string hpar_node_attribute_value(const hpar_document *document, hpar_node element, const char *name);

/*** places in the input ***/

/* Offsets count bytes; an end is the one after the last byte. Without hpar_options.source_offsets,
 * or a place in the input, the first three functions return false or 0, and change nothing. */

/* Sets `*start` and `*end` to the place of an element's start tag. An implied element, and the
 * clone of a formatting element or of an option, have none of their own. */
HPAR_API bool hpar_node_start_tag_range(const hpar_document *document, hpar_node element, uint64_t *start,
                                        uint64_t *end);
/* Sets `*start` and `*end` to the place of the end tag that closed an element, which has none if
 * its end is implied, misnested, or that of the input. The end tag of a heading may have the name
 * of another level. If content follows an end tag of body or html, a later one replaces it. */
HPAR_API bool hpar_node_end_tag_range(const hpar_document *document, hpar_node element, uint64_t *start, uint64_t *end);

/* The value is without its quotes. Without an equals sign, both its offsets are `name_end`. */
typedef struct hpar_attribute_range {
  uint64_t name_start, name_end, value_start, value_end;
} hpar_attribute_range;

/* Sets `ranges[0]`, `ranges[1]` and so on to the places of up to `count` attributes, from the one
 * at index `first` (see hpar_node_attribute_at). Returns the number of places set, because the tag
 * may have fewer attributes. Those that a second html or body tag has added come last and have no
 * place. The time is linear in the length of the start tag. */
HPAR_API size_t hpar_node_attribute_ranges(const hpar_document *document, hpar_node element, size_t first, size_t count,
                                           hpar_attribute_range *ranges);

/* Both start at 1. LF, CR and CR LF end a line, as its part. The column is in bytes, with a BOM. */
typedef struct hpar_position {
  uint64_t line, column;
} hpar_position;

/* Sets `positions[i]` to the place of the byte at `offsets[i]`, or of the end for larger offsets.
 * `bytes` are the input, in any encoding but UTF-16, whose line ends are not found. The time is
 * linear in the input and `count`, but starts again at each offset below the one before. */
HPAR_API void hpar_positions(const char *bytes, size_t length, const uint64_t *offsets, size_t count,
                             hpar_position *positions);

/* Frees a list that a function of the library has returned, as hpar_select_all. */
HPAR_API void hpar_list_destroy(void *list);

/*** HTML and text of a subtree ***/

/* These functions walk without recursion, and take no memory in proportion to the tree. A copy
 * writes at most `capacity` bytes to `buffer`, where the output is cut off, without a terminating
 * NUL. It returns the length of all output in bytes, and 0 where the function with `write` fails.
 * `buffer` may be NULL if `capacity` is 0. */

/* Receives a piece of output. The bytes are valid during the call only. */
typedef hpar_status (*hpar_write_callback)(const char *bytes, size_t length, void *context);

/* What hpar_serialize_html writes: bits. */
enum {
  HPAR_HTML_SCRIPTING = 1, /* the text of `noscript` as raw text, as with the scripting flag */
  HPAR_HTML_OUTER = 2      /* the node itself, too, and not its children only */
};

/* Writes the children of `node` as HTML, by the standard's fragment serialisation algorithm. Those
 * of a template are in its contents. HPAR_ERROR_ARGUMENT, also: `flags` has another bit. */
HPAR_API hpar_status hpar_serialize_html(const hpar_document *document, hpar_node node, unsigned flags,
                                         hpar_write_callback write, void *context);
HPAR_API size_t hpar_serialize_html_copy(const hpar_document *document, hpar_node node, unsigned flags, char *buffer,
                                         size_t capacity);
/* Writes the children of `node` in the format of html5lib-tests: "| <html>\n|   <head>\n".
 * Attributes are sorted by their displayed name in UTF-16 code unit order. */
HPAR_API hpar_status hpar_serialize_tree(const hpar_document *document, hpar_node node, hpar_write_callback write,
                                         void *context);

/* The text of a subtree, as a reader of the page sees it. Elements that browsers do not render are
 * left out. Each block has its lines, a tab separates the cells of a table, and white space is
 * collapsed. CSS is not applied. The contents of template elements and the values of attributes are
 * never part of the text. docs/guides/text-and-links.md lists the elements, and has the rules of
 * white space and lines. Zero in every field after `size` gives this text. */
typedef struct hpar_text_options {
  size_t size;           /* HPAR_TEXT_OPTIONS_INIT sets it */
  bool all_elements;     /* leave out no element */
  bool keep_white_space; /* do not collapse white space */
  bool no_breaks;        /* break no lines and insert no tabs; `br` is ignored */
  hpar_error *error;     /* filled by the call; NULL: none */
} hpar_text_options;
#define HPAR_TEXT_OPTIONS_INIT HPAR_SIZED(hpar_text_options)

/* Writes the text of `node`, which itself is never left out, hidden or closed. A comment and a
 * doctype have none. With the three flags set, it is the `textContent` of the DOM. */
HPAR_API hpar_status hpar_text(const hpar_document *document, hpar_node node, const hpar_text_options *options,
                               hpar_write_callback write, void *context);
HPAR_API size_t hpar_text_copy(const hpar_document *document, hpar_node node, const hpar_text_options *options,
                               char *buffer, size_t capacity);

/*** changes ***/

/* The right of one thread to change a document. After a parse, hpar_document_edit gives it:
 *
 *   hpar_editor *editor;
 *   if (hpar_document_edit(document, NULL, &editor, NULL) == HPAR_OK) {
 *     hpar_node_remove(editor, node);
 *     hpar_document_finish_edit(document);
 *   }
 *
 * The callback of hpar/script.h gets one, too, which is valid until the callback returns.
 *
 * These rules hold for every function that takes an editor:
 * - HPAR_ERROR_ARGUMENT, also: the calling thread does not own the document, a string is not valid
 *   UTF-8, or a node is of the wrong kind. Nothing has changed then.
 * - All handles stay valid, that of a removed node as well, which stays readable.
 * - What a change has made has no place in the input. A changed value keeps that of the old one.
 *
 * After a parse, these rules hold as well:
 * - No script runs. HPAR_ERROR_ARGUMENT, also: hpar_script_write, or another call reads the tree.
 * - A call that fails leaves the tree as it is, and later calls may succeed.
 * - The document node of a fragment parse may have any children except doctypes.
 * - The first change that needs memory reserves 1 MB of address space, or three times the tree's
 *   size. If the addresses after the tree are not free, the document keeps a copy of the tree, too.
 *
 * The HTML of an edited tree may be that of another tree: for example, `-->` ends a comment.
 * docs/guides/edit.md lists changes after which it is that of the same tree. */
typedef struct hpar_editor hpar_editor;
struct hpar_options;

/* Begins changes of the document by the calling thread, and sets `*editor`. Waits for late threads
 * (see hpar_parse). Of the options, the function reads the scripting flag of inner HTML, and the
 * limits. `depth` and `attributes` are as in a parse, `memory` counts the whole document, `nodes`
 * counts those that the edit makes, and `time_ns` begins with the call. A change that would exceed
 * a limit returns it. The editor is valid until hpar_document_finish_edit, the next parse into the
 * document, its clearing or its destruction. If the calling thread owns the document already, the
 * function sets the same editor, with the new options, or with the old ones after a failure.
 * HPAR_ERROR_ARGUMENT, also: another thread owns it, a parse fills it, or another call reads it. */
HPAR_API hpar_status hpar_document_edit(hpar_document *document, const struct hpar_options *options,
                                        hpar_editor **editor, hpar_error *error);

/* Ends the changes, and gives unused address space back. Any number of threads may then read the
 * document, and another one may edit it. Does nothing without an edit. A thread other than the
 * owner may call this if the owner makes no call with the document. */
HPAR_API void hpar_document_finish_edit(hpar_document *document);
HPAR_API hpar_document *hpar_editor_document(const hpar_editor *editor);

/* Create nodes without a parent. The name of an element is used as it is: that of an HTML element
 * is in lower case. A template element has contents. HPAR_ERROR_ARGUMENT, also: the DOM Standard
 * does not accept the name. It accepts a letter that anything except white space, NUL, `/` and `>`
 * follows. It also accepts `:`, `_` or a character beyond ASCII that only these, letters, digits,
 * `-` and `.` follow. */
HPAR_API hpar_status hpar_node_create_element(hpar_editor *editor, hpar_namespace ns, const char *name, size_t length,
                                              hpar_node *node);
HPAR_API hpar_status hpar_node_create_text(hpar_editor *editor, const char *data, size_t length, hpar_node *node);
HPAR_API hpar_status hpar_node_create_comment(hpar_editor *editor, const char *data, size_t length, hpar_node *node);
/* Copies any node but a document and a fragment. `deep`: with descendants and template contents. */
HPAR_API hpar_status hpar_node_clone(hpar_editor *editor, hpar_node node, bool deep, hpar_node *copy);

/* Inserts `node` into `parent` before its child `before`, or after the last child for HPAR_NO_NODE.
 * Removes it from its old parent first. Inserts the children of a fragment instead of the fragment.
 * During a parse, a script element that hpar_node_create_element has made runs before the function
 * returns. If `node` has descendants, the time grows with the depth of `parent`.
 * HPAR_ERROR_ARGUMENT, also: the DOM Standard forbids it, as where `node` contains `parent`. */
HPAR_API hpar_status hpar_node_insert_before(hpar_editor *editor, hpar_node parent, hpar_node node, hpar_node before);
/* Does the same after the last child of `parent`. */
HPAR_API hpar_status hpar_node_append(hpar_editor *editor, hpar_node parent, hpar_node node);
/* Removes a node from its parent. A node without a parent stays as it is. During a parse, the
 * parser still inserts content into an element that is open. */
HPAR_API hpar_status hpar_node_remove(hpar_editor *editor, hpar_node node);

/* Sets an attribute without a namespace. The name is used as it is. HPAR_ERROR_ARGUMENT, also: the
 * name is empty, or has white space, NUL, `/`, `>`, or `=` after its first character. */
HPAR_API hpar_status hpar_node_set_attribute(hpar_editor *editor, hpar_node element, const char *name,
                                             size_t name_length, const char *value, size_t length);
/* Removes the attribute with this local name and without a namespace, if the element has it. */
HPAR_API hpar_status hpar_node_remove_attribute(hpar_editor *editor, hpar_node element, const char *name,
                                                size_t name_length);

/* Sets `textContent` of the DOM: the data of a text, comment or processing instruction. One text
 * replaces the children of an element or a fragment, or none if `length` is 0. */
HPAR_API hpar_status hpar_node_set_text(hpar_editor *editor, hpar_node node, const char *text, size_t length);
/* Replaces the children of an element, or the contents of a template, by the nodes of a fragment
 * parse. Scripts in the text never run. The time grows with the depth of the element, because the
 * form around it owns the text's controls. */
HPAR_API hpar_status hpar_node_set_inner_html(hpar_editor *editor, hpar_node element, const char *bytes, size_t length);

HPAR_END_C
#endif
