#ifndef HPAR_SELECT_H
#define HPAR_SELECT_H

/* CSS selectors on documents: Selectors Level 4, https://drafts.csswg.org/selectors/.
 *
 *   hpar_node_list *links = hpar_select_all(document, top, "a[href]", NULL);
 *   for (size_t i = 0; links && i < links->count; i++)
 *     hpar_text(document, links->nodes[i], NULL, print, stdout);
 *   hpar_list_destroy(links);
 *
 * A set of selectors is compiled once and may then be used by any number of threads at once, on
 * any documents. Adding to it and destroying it must be alone. One walk over a document
 * evaluates all selectors of the set. It takes linear time and memory in the nodes, whatever the
 * selectors are.
 *
 * Types and names are `E`, `*`, `svg|E`, `math|E`, `html|E`, `*|E`, `#id` and `.class`.
 * Attributes are `[a]`, and `=` `~=` `|=` `^=` `$=` `*=` with `i` or `s`, `[xlink|a]` and `[*|a]`.
 * Combinators are `A B`, `A > B`, `A + B`, `A ~ B` and `A, B`.
 * Lists are `:is()`, `:where()` and `:not()` with any selectors, and `:has()`.
 * Positions are `:nth-child(An+B of S)`, `:first-child`, `:only-child`, their forms of type, and
 * those from the end.
 * Other tests are `:root :scope :empty :link :any-link :enabled :disabled :checked :lang()`.
 *
 * The pseudo-classes of a user's actions (:hover :active :focus :focus-within :focus-visible
 * :visited :target) match nothing. A pseudo-element, and any other pseudo-class, is an error.
 * :lang() looks at attributes and at the last meta element with http-equiv=content-language. In a
 * stream it looks at attributes only. `:checked` matches what browsers show as selected or checked
 * after the parse. Without a `selected` option, that is the first one of a drop-down list that is
 * not disabled. Otherwise, the last one of a list or of a group of radio buttons counts. In a
 * stream, `selected` and `checked` decide. A `form` attribute names the form of a radio button.
 * Otherwise that is the form around it in the tree, and the last button is that in tree order. The
 * contents of a template element are not among its descendants.
 *
 * The end of the text closes what is open, as in `[a="b` and `:not(a` (CSS Syntax). Within :has(),
 * the S of `:nth-child(An+B of S)` cannot look at later siblings or at descendants.
 *
 * The types of elements of SVG and MathML are compared in their own case, by the HTML Standard:
 * `foreignObject` matches, and `foreignobject` does not. Chromium compares them without case.
 *
 * Ids and classes are compared without ASCII case in documents in quirks mode, as browsers do. */

#include <hpar/node.h>
#include <hpar/parse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpar_selectors hpar_selectors;

/* Makes an empty set. The caller destroys it. HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT for NULL. */
HPAR_API hpar_status hpar_selectors_create(hpar_selectors **selectors);

/* Frees the set. NULL is allowed. */
HPAR_API void hpar_selectors_destroy(hpar_selectors *selectors);

/* Appends one selector, which may be a list ("a, b"), in UTF-8. Its number is the count before
 * the call. HPAR_ERROR_ARGUMENT for text that is no supported selector: `error` then has the place
 * and the reason. After an error the set is as before. */
HPAR_API hpar_status hpar_selectors_add(hpar_selectors *selectors, const char *text, size_t length, hpar_error *error);

/* Returns the number of selectors in the set; 0 for NULL. */
HPAR_API uint32_t hpar_selectors_count(const hpar_selectors *selectors);

/* Receives one match. It may read the document and may not change it. */
typedef hpar_status (*hpar_match_callback)(hpar_node element, uint32_t selector, void *context);

/* Reports the elements below `top` that match, in document order, and for each element its
 * selectors in ascending order. `top` itself is not reported. Selectors see the ancestors of
 * `top`. :scope is `top`, or :root if `top` is the document node. HPAR_NO_NODE, or a node without
 * children, reports nothing.
 * HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT for a NULL pointer other than `context`. */
HPAR_API hpar_status hpar_select(const hpar_selectors *selectors, const hpar_document *document, hpar_node top,
                                 hpar_match_callback callback, void *context);

/* Returns the first element below `top` that the selector matches, in document order; HPAR_NO_NODE
 * without a match and after a failure. `selector` is NUL-terminated and may be a list. The call
 * compiles it: a program that uses a selector often keeps a set. `error` may be NULL, and names the
 * place and the reason if the selector is refused. HPAR_ERROR_ARGUMENT: `document` or `selector` is
 * NULL, or the selector is not supported. HPAR_ERROR_MEMORY. */
HPAR_API hpar_node hpar_select_first(const hpar_document *document, hpar_node top, const char *selector,
                                     hpar_error *error);

/* Elements in document order, each once. */
typedef struct hpar_node_list {
  size_t count;
  const hpar_node *nodes;
} hpar_node_list;

/* Returns all elements below `top` that the selector matches, for a loop without a callback:
 *
 *   hpar_node_list *links = hpar_select_all(document, top, "a[href]", NULL);
 *   for (size_t i = 0; links && i < links->count; i++) use(links->nodes[i]);
 *   hpar_list_destroy(links);
 *
 * hpar_list_destroy frees the list, which may outlive the document. NULL after a failure, as in
 * hpar_select_first; without a match the list is empty. */
HPAR_API hpar_node_list *hpar_select_all(const hpar_document *document, hpar_node top, const char *selector,
                                         hpar_error *error);

/* The threads of hpar_select_parallel. HPAR_SELECT_OPTIONS_INIT initialises it, as with
 * hpar_options. */
typedef struct hpar_select_options {
  size_t size; /* HPAR_SELECT_OPTIONS_INIT sets it */
  /* including the calling one, up to HPAR_MAX_THREADS; 0: one per usable core */
  unsigned threads;
  /* the caller's executor, as in hpar_parallel_options; NULL: the library starts threads and ends
   * them before it returns */
  hpar_run_callback run;
  void *run_context;
  uint64_t reserved[4]; /* zero */
} hpar_select_options;

#define HPAR_SELECT_OPTIONS_INIT HPAR_SIZED(hpar_select_options)

/* Does the same as hpar_select, with several threads if the tree below `top` is large. The least
 * size is 6 MB (about 60,000 elements), 1.5 MB for sets of more than 64 compounds, and 1 MB with
 * `run`. One thread divides the tree, then all threads match, then the calling thread reports all
 * matches in the order of hpar_select. Until then each match takes 8 bytes. `options` may be NULL.
 * The calling thread works alone if a selector has :nth-last-child(), :last-of-type,
 * :only-of-type or :nth-last-of-type(), or a :has() of more than one child or next sibling. In a
 * library without the parallel parser, it works alone unless `run` is set. HPAR_ERROR_MEMORY comes
 * before the first report. HPAR_ERROR_ARGUMENT as hpar_select, and for wrong options. */
HPAR_API hpar_status hpar_select_parallel(const hpar_selectors *selectors, const hpar_document *document, hpar_node top,
                                          const hpar_select_options *options, hpar_match_callback callback,
                                          void *context);

#define HPAR_ANY_SELECTOR UINT32_MAX

/* Sets `*matches` to whether the element matches the selector with this number, or any one of
 * the set. :scope is the element. Anything but an element matches nothing. The time grows with
 * the depth of the element and the number of its preceding siblings. With :checked, :has(),
 * :nth-last-child(), :last-of-type, :only-of-type or :nth-last-of-type(), the time grows with the
 * document.
 * HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT for a NULL pointer or a number that the set does not
 * have. */
HPAR_API hpar_status hpar_matches(const hpar_selectors *selectors, const hpar_document *document, hpar_node element,
                                  uint32_t selector, bool *matches);

#ifdef __cplusplus
}
#endif
#endif
