#ifndef HPAR_SERIALIZE_H
#define HPAR_SERIALIZE_H

/* Text of trees. The functions walk without recursion and write through a function of the caller.
 * Any number of threads may serialise a document at once. */

#include <hpar/document.h>
#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives a piece of output. The bytes are valid during the call only. A result other than HPAR_OK
 * ends the caller's call, which returns it. The function must not throw an exception or longjmp. */
typedef hpar_status (*hpar_write_callback)(const char *bytes, size_t length, void *context);

/* Serialises the children of `node` as HTML, by the standard's fragment serialisation algorithm.
 * For a template these are the children of its contents. With the scripting flag the text of
 * `noscript` is written raw. HPAR_ERROR_ARGUMENT: the document or `write` is NULL. HPAR_NO_NODE has
 * no children. */
HPAR_API hpar_status hpar_serialize_html(const hpar_document *document, hpar_node node, bool scripting,
                                         hpar_write_callback write, void *context);

/* Serialises the node itself and its children as HTML. Otherwise as hpar_serialize_html. */
HPAR_API hpar_status hpar_serialize_html_outer(const hpar_document *document, hpar_node node, bool scripting,
                                               hpar_write_callback write, void *context);

/* Copies the HTML of the node itself, as hpar_serialize_html_outer writes it, to `buffer`, and
 * returns its length in bytes. It writes at most `capacity` bytes and no terminating NUL. If the
 * result is above `capacity`, the HTML is cut off there. `buffer` may be NULL if `capacity` is 0.
 * Returns 0 for a NULL document. */
HPAR_API size_t hpar_serialize_html_copy(const hpar_document *document, hpar_node node, bool scripting, char *buffer,
                                         size_t capacity);

/* Serialises the children of `node` in the format of html5lib-tests: "| <html>\n|   <head>\n". Each
 * line ends with a newline. Attributes are sorted by their displayed name in UTF-16 code unit
 * order. Fails as hpar_serialize_html does. */
HPAR_API hpar_status hpar_serialize_tree(const hpar_document *document, hpar_node node, hpar_write_callback write,
                                         void *context);

#ifdef __cplusplus
}
#endif
#endif
