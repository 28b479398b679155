#ifndef HPAR_TEXT_H
#define HPAR_TEXT_H

/* The text of a subtree, as a reader of the page sees it.
 *
 * Elements that browsers do not render are left out. They are these elements:
 * - area, base, basefont, datalist, head, iframe, link, meta, noembed, noframes, noscript
 * - param, rp, script, style, template, title
 * - `script` and `style` of SVG
 * - the contents of audio, canvas, meter, progress and video, which browsers replace
 * - elements with the attribute `hidden`, elements with `popover`, and `dialog` without `open`; an
 *   open `dialog` may have `popover`
 * - of `details` without `open`: all but its first summary, up to 64 such elements in each other
 *
 * The contents of template elements and the values of attributes are never part of the text. CSS is
 * not applied.
 *
 * White space is collapsed: each run of tab, LF, FF, CR and space becomes one space, and no line
 * begins or ends with a space. The text of pre, listing, plaintext, textarea and xmp keeps it.
 *
 * Lines are broken at block elements: a line ends where such an element begins or ends. `br` ends a
 * line, too, and two `br` in a row leave an empty line. A tab separates the cells of a table row
 * that have text. The text neither begins nor ends with a line break, except by `br` and by text
 * that keeps its white space. */

#include <hpar/document.h>
#include <hpar/serialize.h>
#include <hpar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the text is made. Zero in every field after `size` gives the text that is described above. */
typedef struct hpar_text_options {
  size_t size;           /* sizeof(hpar_text_options): HPAR_TEXT_OPTIONS_INIT sets it */
  bool all_elements;     /* leave out no element */
  bool keep_white_space; /* do not collapse white space */
  bool no_breaks;        /* break no lines and insert no tabs; `br` is ignored */
} hpar_text_options;

#define HPAR_TEXT_OPTIONS_INIT HPAR_SIZED(hpar_text_options)

/* Writes the text of `node` and its descendants in pieces.
 *
 * `options` NULL means the defaults. `node` itself is never left out, hidden or closed. A comment,
 * a doctype and HPAR_NO_NODE have no text. The function takes no memory and no stack in proportion
 * to the tree. Any number of threads may call it for one document at once. With all three options
 * set, the result is the `textContent` of the DOM.
 *
 * Returns HPAR_OK, or the first other status of `write`. Returns HPAR_ERROR_ARGUMENT if `document`
 * or `write` is NULL, or if `options->size` is 0. The same holds if `options` has a field that this
 * library lacks. */
HPAR_API hpar_status hpar_text(const hpar_document *document, hpar_node node, const hpar_text_options *options,
                               hpar_write_callback write, void *context);

/* Copies the text of `node` to `buffer` and returns its length in bytes.
 *
 * The function writes at most `capacity` bytes and no terminating NUL. If the result is above
 * `capacity`, the text is cut off there. `buffer` may be NULL if `capacity` is 0. Returns 0 for the
 * arguments that hpar_text refuses. */
HPAR_API size_t hpar_text_copy(const hpar_document *document, hpar_node node, const hpar_text_options *options,
                               char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
