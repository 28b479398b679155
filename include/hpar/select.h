#ifndef HPAR_SELECT_H
#define HPAR_SELECT_H

/* CSS selectors on documents: Selectors Level 4, https://drafts.csswg.org/selectors/.
 *
 *   hpar_node_list *links = hpar_select_all(document, top, "a[href]", NULL);
 *   for (size_t i = 0; links && i < links->count; i++)
 *     hpar_text(document, links->nodes[i], NULL, print, stdout);
 *   hpar_list_destroy(links);
 *
 * A set of selectors is compiled once and may then be used by any number of threads at once, on any
 * documents. Adding to it and destroying it must be alone. One walk over a document evaluates all
 * selectors of the set, in linear time and memory in the nodes, whatever the selectors are.
 *
 * docs/guides/select.md lists the types, attributes, combinators and pseudo-classes, and what they
 * mean in a document without a user. Other selectors are errors with a place and a reason. Ids and
 * classes are compared without ASCII case in documents in quirks mode, as browsers do. */

#include <hpar/parse.h>

HPAR_BEGIN_C

/*** one selector ***/

/* Returns the first element below `top` that the selector matches, in document order; HPAR_NO_NODE
 * without a match and after a failure. This function and the next one compile `selector`, a
 * NUL-terminated list, for one call: a program that uses a selector often keeps a set. */
HPAR_API hpar_node hpar_select_first(const hpar_document *document, hpar_node top, const char *selector,
                                     hpar_error *error);

/* Elements in document order, each once. */
typedef struct hpar_node_list {
  size_t count;
  const hpar_node *nodes;
} hpar_node_list;
/* Returns all elements below `top` that the selector matches; NULL after a failure. The list may
 * outlive the document, and hpar_list_destroy frees it. */
HPAR_API hpar_node_list *hpar_select_all(const hpar_document *document, hpar_node top, const char *selector,
                                         hpar_error *error);

/*** sets of selectors ***/

typedef struct hpar_selectors hpar_selectors;
HPAR_API hpar_status hpar_selectors_create(hpar_selectors **selectors);
HPAR_API void hpar_selectors_destroy(hpar_selectors *selectors);

/* Appends one selector, which may be a list ("a, b"), in UTF-8. Its number is the count before the
 * call. HPAR_ERROR_ARGUMENT, also: it is not supported, see `error`. A failure leaves the set. */
HPAR_API hpar_status hpar_selectors_add(hpar_selectors *selectors, const char *text, size_t length, hpar_error *error);
HPAR_API uint32_t hpar_selectors_count(const hpar_selectors *selectors);

/* How many threads select. Several threads do if the tree below `top` has at least 6 MB (about
 * 60,000 elements). Sets of more than 64 compounds need 1.5 MB, and with `run` 1 MB is enough. One
 * thread divides the tree, all threads match, and then the calling thread reports. Until then each
 * match takes 8 bytes. The calling thread works alone if a selector has :nth-last-child(),
 * :last-of-type, :only-of-type or :nth-last-of-type(), or a :has() of more than one child or next
 * sibling. So it does if the library has no parallel parser, and `run` is not set. */
typedef struct hpar_select_options {
  size_t size;    /* HPAR_SELECT_OPTIONS_INIT sets it */
  hpar_mode mode; /* HPAR_MODE_AUTO: one thread, unless `threads` or `run` is set */
  /* with the calling one, up to HPAR_MAX_THREADS; 0: one per core; with AUTO, one without `run` */
  unsigned threads;
  /* as in hpar_parallel_options; NULL: the library's threads, which may be late: see hpar_parse */
  hpar_run_callback run;
  void *run_context;
  hpar_error *error; /* filled by the call; NULL: none */
} hpar_select_options;
#define HPAR_SELECT_OPTIONS_INIT HPAR_SIZED(hpar_select_options)

/* Receives one match. It may read the document. */
typedef hpar_status (*hpar_match_callback)(hpar_node element, uint32_t selector, void *context);

/* Reports the elements below `top` that match, in document order, and for each element its
 * selectors in ascending order. `top` itself is not reported. Selectors see the ancestors of `top`.
 * :scope is `top`, or :root if `top` is the document node. By default, the calling thread works
 * alone. With `run`, HPAR_ERROR_MEMORY comes before the first report. */
HPAR_API hpar_status hpar_select(const hpar_selectors *selectors, const hpar_document *document, hpar_node top,
                                 const hpar_select_options *options, hpar_match_callback callback, void *context);

#define HPAR_ANY_SELECTOR UINT32_MAX
/* Sets `*matches` to whether the element matches the selector with this number, or any one of the
 * set. :scope is the element. Anything but an element matches nothing. The time grows with the
 * depth of the element and the number of its preceding siblings. With :checked, :has(),
 * :nth-last-child(), :last-of-type, :only-of-type or :nth-last-of-type(), the time grows with the
 * document. HPAR_ERROR_ARGUMENT, also: the set has no such number. */
HPAR_API hpar_status hpar_matches(const hpar_selectors *selectors, const hpar_document *document, hpar_node element,
                                  uint32_t selector, bool *matches);

HPAR_END_C
#endif
