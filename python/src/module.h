#ifndef HPAR_PYTHON_MODULE_H
#define HPAR_PYTHON_MODULE_H

/* The extension hpar._core: documents, nodes and selections of HPar as Python objects.
 *
 * The extension uses the limited API of Python 3.9. All its state belongs to one module object, so
 * that each interpreter has its own. Objects never change after their creation, except iterators,
 * batches and editable documents. Any number of threads may therefore use the same document.
 *
 * Each function that returns an object returns a new reference, or NULL with an exception. */

#include "stable.h"

#include <hpar/hpar.h>
#include <hpar/node.h>
#include <hpar/resources.h>
#include <hpar/rewrite.h>
#include <hpar/select.h>
#include <hpar/study.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_PY_PARSERS = 16, HP_PY_SELECTORS = 256 };

/* What callbacks of the rewriter receive. */
enum { HP_PY_ELEMENT, HP_PY_ELEMENT_END, HP_PY_TEXT, HP_PY_COMMENT, HP_PY_DOCTYPE, HP_PY_DOCUMENT_END, HP_PY_UNITS };

/* The state of one module object. */
typedef struct hp_py_state {
  PyTypeObject *document, *node, *nodes, *links, *attributes, *children, *descendants, *selector, *column, *batch,
      *rules, *feed, *rewriter, *archive, *xpath;
  PyTypeObject *units[HP_PY_UNITS];
  PyObject *error, *limit_error, *selector_error, *xpath_error;
  PyObject *selectors;                 /* dict: text to selector */
  PyObject *xpaths;                    /* dict: text to XPath */
  hpar_parser *parsers[HP_PY_PARSERS]; /* idle */
  size_t parser_count;
} hp_py_state;

/* The statistics of a parse in less space than hpar_study_stats takes. */
typedef struct hp_py_summary {
  const char *mode, *encoding, *encoding_source;
  uint64_t bytes, tokens, nodes, parse_errors, ns_total, ns_decode;
  hpar_study_stats *all; /* of a parse with several threads; otherwise NULL */
} hp_py_summary;

typedef struct hp_py_document {
  PyObject_HEAD hp_py_state *state; /* lives as long as the type */
  hpar_document *tree;
  Py_buffer view;  /* the input; `view.obj` is NULL if the document holds a str, or copied bytes */
  PyObject *owner; /* a str, bytes that the document made, or NULL */
  const char *bytes;
  size_t length;
  hp_py_summary summary;
  hpar_parse_error *errors;
  size_t error_count;
  hpar_status status;
  bool scripting, positions, tracked;
  bool fed;     /* in pieces, which nobody keeps, or from a pickle */
  bool changed; /* by an editor, perhaps */
  bool is_fragment;
  char *label, *fragment; /* of the options; NULL: none */
  size_t max_errors;
  bool editable;                /* calls that read it keep the interpreter's lock */
  unsigned readers;             /* threads that read it without the lock */
  unsigned long removals;       /* changes that have taken nodes out of their places */
  hpar_editor *edit;            /* NULL: no change yet */
  unsigned long edit_thread;    /* that `edit` is for */
  hpar_limits *edit_limits;     /* NULL: none */
  struct hp_xpath_order *order; /* of a document that never changes; NULL: not known, or in use */
  PyObject *weak_references;
} hp_py_document;

typedef struct hp_py_node {
  PyObject_HEAD hp_py_document *document;
  hpar_node handle;
} hp_py_node;

/* Bytes that grow. Functions that write to it need no Python thread state. */
typedef struct hp_py_buffer {
  char *bytes;
  size_t length, capacity;
} hp_py_buffer;

/* Names of arguments for hp_py_arguments. */
typedef struct hp_py_signature {
  const char *function;
  const char *const *names;
  size_t count, required, positional;
} hp_py_signature;

/*** arguments.c ***/

/* Sets `values[i]` to the borrowed argument with the name `names[i]`, or NULL. Returns false with
 * TypeError if the arguments do not fit the signature. */
bool hp_py_arguments(const hp_py_signature *signature, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords,
                     PyObject **values);

/* What parse and parse_many accept besides the input. */
typedef struct hp_py_options {
  hpar_options c;
  int copy; /* 1: always; 0: never; -1: buffers that a program can write to */
  bool editable;
} hp_py_options;

enum {
  HP_PY_THREADS,
  HP_PY_ENCODING,
  HP_PY_FRAGMENT,
  HP_PY_LIMITS,
  HP_PY_MODE,
  HP_PY_SCRIPTING,
  HP_PY_POSITIONS,
  HP_PY_MAX_ERRORS,
  HP_PY_COPY,
  HP_PY_EDITABLE,
  HP_PY_OPTIONS
};
extern const char *const hp_py_option_names[HP_PY_OPTIONS];

/* Reads the options from `values`, in the order of the names. `options` borrows their strings. */
bool hp_py_read_options(hp_py_options *options, PyObject *const *values);

/* Each reads one value, and returns false with an exception if it is not fit. A text or a flag that is
 * NULL stays as it is, and None is no text. */
bool hp_py_read_number(PyObject *value, const char *name, uint64_t *number);
bool hp_py_read_threads(PyObject *value, unsigned *threads);
bool hp_py_read_flag(PyObject *value, bool *flag);
bool hp_py_read_text(PyObject *value, const char *name, const char **text);

/* Returns false with an exception if the label of an encoding is wrong. None and NULL are fine. */
bool hp_py_check_encoding(PyObject *label);

/* Reads a mapping with the names of hpar_limits, or the text "untrusted". */
bool hp_py_read_limits(PyObject *value, hpar_limits *limits);
/* Returns such a mapping, or None for NULL. */
PyObject *hp_py_limits(const hpar_limits *limits);

/* Sets an exception for a status that is not HPAR_OK. `text` may be empty. */
void hp_py_raise(const hp_py_state *state, hpar_status status, const char *text);

/* Takes an idle parser, or makes one. Returns NULL with an exception. */
hpar_parser *hp_py_take_parser(hp_py_state *state);
void hp_py_return_parser(hp_py_state *state, hpar_parser *parser);

/* Returns the contents of a path or of an open file, and any other value as it is. */
PyObject *hp_py_open_input(PyObject *value);

/* The slot of types whose instances only the extension makes, for Python 3.9, which does not know
 * Py_TPFLAGS_DISALLOW_INSTANTIATION. */
PyObject *hp_py_refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords);
#define HP_PY_NO_NEW \
  { Py_tp_new, hp_py_refuse_new }

/*** strings.c ***/

hpar_status hp_py_write(const char *bytes, size_t length, void *buffer);
PyObject *hp_py_str(const char *bytes, size_t length);
PyObject *hp_py_string(hpar_string string);
/* Returns bytes, and copies many of them without the interpreter's lock. */
PyObject *hp_py_bytes(const char *from, size_t length);
/* Returns the contents as a str or bytes and frees them; MemoryError for another status. */
PyObject *hp_py_buffer_str(hp_py_buffer *buffer, hpar_status status);
PyObject *hp_py_buffer_bytes(hp_py_buffer *buffer, hpar_status status);
/* Ends the read that began with hp_py_begin_read, and does the same as hp_py_buffer_str. The lock is held
 * for a shorter time. */
PyObject *hp_py_end_text(hp_py_document *document, PyThreadState *saved, hp_py_buffer *buffer, hpar_status status);
/* Puts `value` under `key` and drops the reference to it. Returns false if `value` is NULL. */
bool hp_py_put(PyObject *dict, const char *key, PyObject *value);
bool hp_py_put_number(PyObject *dict, const char *key, uint64_t number);
bool hp_py_put_text(PyObject *dict, const char *key, const char *text);

/* Sets `*bytes` to the str in UTF-8, with U+FFFD in place of each lone surrogate. Returns the object
 * that holds the bytes. */
PyObject *hp_py_utf8(PyObject *text, const char **bytes, size_t *length);

/* Input that the library reads without the interpreter's lock: a str, or a buffer. That of a buffer
 * that a program can write to is a copy. */
typedef struct hp_py_piece {
  Py_buffer view;
  PyObject *owner;
  const char *bytes;
  size_t length;
  bool is_text;
} hp_py_piece;
/* Returns false with an exception, and then the piece needs no release. */
bool hp_py_hold_piece(hp_py_piece *piece, PyObject *data);
void hp_py_release_piece(hp_py_piece *piece);

/* Whether the pieces of a page are str, which the first one decides. */
typedef enum hp_py_kind { HP_PY_NO_PIECE, HP_PY_TEXT_PIECES, HP_PY_BYTE_PIECES } hp_py_kind;
/* Returns false with TypeError if the piece is of the other kind. */
bool hp_py_check_kind(hp_py_kind kind, const hp_py_piece *piece);

/*** document.c ***/

extern PyType_Spec hp_py_document_spec;
/* Makes a document for an input that is not parsed yet. */
hp_py_document *hp_py_new_document(hp_py_state *state, PyObject *input, const hp_py_options *options);
/* Keeps what a parse reports. Needs no Python thread state. Returns false if memory is short. */
bool hp_py_keep_results(hp_py_document *document, const hpar_parser *parser, const hpar_stats *stats);
/* Returns the document, or NULL with the exception of its status. Takes the reference. */
PyObject *hp_py_check_document(hp_py_document *document, const char *text);
PyObject *hp_py_parse(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/* Calls a function of the Python part of the package with `self` as the first argument. */
PyObject *hp_py_delegate(const char *module, const char *name, PyObject *self, PyObject *const *arguments,
                         Py_ssize_t count, PyObject *keywords);

/*** edit.c ***/

/* Releases the interpreter's lock while this thread reads the document, unless the document is
 * editable. */
PyThreadState *hp_py_begin_read(hp_py_document *document);
void hp_py_end_read(hp_py_document *document, PyThreadState *saved);

/* Lets other threads run after each `step` objects of a long list, so that no call keeps the lock for a
 * millisecond. The document cannot become editable meanwhile. */
void hp_py_let_others_run(hp_py_document *document, PyObject *list, Py_ssize_t step);

/* Returns false with an exception if memory is short. */
bool hp_py_make_editable(hp_py_document *document, const hpar_limits *limits);

/* Sets the attribute, or removes it for NULL. Returns 0, or -1 with an exception. */
int hp_py_change_attribute(hp_py_document *document, hpar_node element, PyObject *name, PyObject *value);

/* Methods and setters of nodes. */
PyObject *hp_py_insert_before(PyObject *node, PyObject *value);
PyObject *hp_py_insert_after(PyObject *node, PyObject *value);
PyObject *hp_py_insert_child(PyObject *node, PyObject *value);
PyObject *hp_py_append(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_insert(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_wrap(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_replace_with(PyObject *node, PyObject *value);
PyObject *hp_py_decompose(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_unwrap(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_clone(PyObject *node, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
int hp_py_set_data(PyObject *node, PyObject *value, void *closure);
int hp_py_set_text(PyObject *node, PyObject *value, void *closure);
int hp_py_set_inner_html(PyObject *node, PyObject *value, void *closure);

/* Methods of documents. */
PyObject *hp_py_edit(PyObject *document, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_freeze(PyObject *document, PyObject *ignored);
PyObject *hp_py_create_tag(PyObject *document, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_create_text(PyObject *document, PyObject *value);
PyObject *hp_py_create_comment(PyObject *document, PyObject *value);

/*** copies.c ***/

/* Returns the tree as bytes, from which hp_py_load makes a document, or a node of a new document. */
PyObject *hp_py_save(hp_py_document *document, hpar_node top);
PyObject *hp_py_load(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
/* Copies the subtree of another document. `*made` has no parent. */
hpar_status hp_py_import(hpar_editor *edit, const hpar_document *from, hpar_node top, hpar_node *made);

/*** stats.c ***/

PyObject *hp_py_stats(const hp_py_document *document);
PyObject *hp_py_errors(const hp_py_document *document);

/*** node.c ***/

extern PyType_Spec hp_py_node_spec;
/* Returns the node, and None for HPAR_NO_NODE. */
PyObject *hp_py_new_node(hp_py_document *document, hpar_node handle);

/*** attributes.c ***/

extern PyType_Spec hp_py_attributes_spec;
PyObject *hp_py_attribute_dict(hp_py_document *document, hpar_node element);
PyObject *hp_py_new_attributes(hp_py_document *document, hpar_node element);
PyObject *hp_py_attribute_positions(hp_py_document *document, hpar_node element);
/* What a node and its mapping of attributes share, because both are an hp_py_node. */
PyObject *hp_py_attribute_of(PyObject *self, PyObject *name);
int hp_py_assign_attribute(PyObject *self, PyObject *name, PyObject *value);
PyObject *hp_py_get_attribute(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/*** walk.c ***/

extern PyType_Spec hp_py_children_spec, hp_py_descendants_spec;
PyObject *hp_py_iter(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords);
PyObject *hp_py_traverse(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords);
PyObject *hp_py_iter_children(hp_py_document *document, hpar_node top);

/* Nodes relative to a node, as a sequence. */
typedef enum hp_py_relation {
  HP_PY_CHILDREN,
  HP_PY_DESCENDANTS,
  HP_PY_PARENTS,
  HP_PY_NEXT_SIBLINGS,
  HP_PY_PREVIOUS_SIBLINGS
} hp_py_relation;
PyObject *hp_py_related(hp_py_document *document, hpar_node node, hp_py_relation relation);
Py_ssize_t hp_py_count_children(const hp_py_document *document, hpar_node node);

/*** text.c ***/

/* Text as Beautiful Soup has it: without that of scripts and styles below `top`. */
PyObject *hp_py_get_text(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *keywords);

PyObject *hp_py_text(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords);
PyObject *hp_py_readable_text(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *keywords);
PyObject *hp_py_html(hp_py_document *document, hpar_node node, bool outer);
PyObject *hp_py_tree(hp_py_document *document, hpar_node node);

/*** select.c ***/

extern PyType_Spec hp_py_selector_spec, hp_py_nodes_spec;
/* Makes a sequence of nodes. It takes the handles, which are from malloc. */
PyObject *hp_py_new_nodes(hp_py_document *document, hpar_node *handles, size_t count);
PyObject *hp_py_css(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                    PyObject *keywords);
PyObject *hp_py_css_first(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *keywords);
/* Returns whether `top`, or an element below it, matches. */
PyObject *hp_py_css_matches(hp_py_document *document, hpar_node top, PyObject *selector);
PyObject *hp_py_any_css_matches(hp_py_document *document, hpar_node top, PyObject *selectors);

/* Raises SelectorError with the offset. Takes the reference to the message, which may be NULL. */
void hp_py_raise_selector_error(const hp_py_state *state, PyObject *message, size_t place);

/*** xpath_object.c ***/

extern PyType_Spec hp_py_xpath_spec;
/* Evaluates the expression, which is the only positional argument, with the variables of the others. */
PyObject *hp_py_xpath(hp_py_document *document, hpar_node context, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords);
/* Forgets the order of the nodes. */
void hp_py_drop_order(hp_py_document *document);

/*** contents.c ***/

/* Returns the data of the texts below `top` that are children of the nodes, as a list. */
PyObject *hp_py_texts_of(hp_py_document *document, hpar_node top, const hpar_node *handles, size_t count);
/* Returns those of the nodes, which lie below `top` in document order, that have the text below them. */
PyObject *hp_py_containing(hp_py_document *document, hpar_node top, const hpar_node *handles, size_t count,
                           hpar_string needle, bool ignore_case);

/*** select.c ***/

/* Makes a sequence of the Node objects of a list. */
PyObject *hp_py_sequence(hp_py_document *document, PyObject *list);
PyObject *hp_py_matches(hp_py_document *document, hpar_node element, PyObject *selector);

/*** sequences.c ***/

/* Slots and methods of sequences that compare and print as lists. */
PyObject *hp_py_sequence_compare(PyObject *left, PyObject *right, int operation);
PyObject *hp_py_sequence_repr(PyObject *self);
PyObject *hp_py_sequence_index(PyObject *self, PyObject *value);
PyObject *hp_py_sequence_count(PyObject *self, PyObject *value);

/*** links.c ***/

extern PyType_Spec hp_py_links_spec;
PyObject *hp_py_links(hp_py_document *document, hpar_node top, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *keywords);
PyObject *hp_py_resources(hp_py_document *document, hpar_node top);

/*** table.c ***/

extern PyType_Spec hp_py_column_spec;
PyObject *hp_py_table(hp_py_document *document);

/*** events.c ***/

/* Returns the events of src/events.c, or for each start of an element the end of its tag in the input. */
PyObject *hp_py_events(hp_py_document *document, bool ends);

/* A walk over the nodes below a node, in which the contents of a template are its children. It ends
 * if `enter` or `leave` returns false. */
typedef struct hp_py_walk {
  const hpar_document *tree;
  bool (*enter)(struct hp_py_walk *walk, hpar_node node), (*leave)(struct hp_py_walk *walk, hpar_node node);
  hpar_node *templates; /* those whose contents the walk is in */
  size_t template_count, template_capacity;
  bool is_memory_short;
} hp_py_walk;
/* Returns false if the walk did not reach the end. */
bool hp_py_walk_below(hp_py_walk *walk, hpar_node top);

/*** xml.c ***/

/* Returns the root element as XML in UTF-8, in bytes; None without an element. */
PyObject *hp_py_xml(hp_py_document *document, hpar_node top);

/*** many.c ***/

extern PyType_Spec hp_py_batch_spec;
PyObject *hp_py_start_batch(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/*** feed.c ***/

extern PyType_Spec hp_py_feed_spec;
PyObject *hp_py_start_feed(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/*** archive.c ***/

extern PyType_Spec hp_py_archive_spec;
PyObject *hp_py_open_archive(PyObject *module, PyObject *max_record);
/* Returns the fields of a head as a list of (name, value). */
PyObject *hp_py_fields(PyObject *module, PyObject *head);
/* Takes a block and a limit. Returns the HTTP message in the block: (problem or None, status, head, encoding or
 * None, content coding, body). */
PyObject *hp_py_message(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/*** rewrite.c, units.c ***/

extern PyType_Spec hp_py_rules_spec, hp_py_rewriter_spec;
extern PyType_Spec *const hp_py_unit_specs[HP_PY_UNITS];
PyObject *hp_py_start_rewrite(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_rewrite(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

/*** inspect.c ***/

PyObject *hp_py_inspect(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_profile(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);
PyObject *hp_py_schedule(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords);

#endif
