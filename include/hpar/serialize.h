#ifndef HPAR_SERIALIZE_H
#define HPAR_SERIALIZE_H

/* Trees back to text. Both forms walk without recursion and write through a sink. */

#include <hpar/document.h>
#include <hpar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives the output piece by piece; anything but HPAR_OK stops and is returned. */
typedef hpar_status (*hpar_write)(const char *bytes, size_t length, void *context);

/* The standard's HTML fragment serialisation algorithm, of the children of `node` (of its template
 * contents where it is a template). With the scripting flag the text of `noscript` is written raw. */
HPAR_API hpar_status hpar_serialize_html(const hpar_document *document, hpar_node node, bool scripting,
                                         hpar_write write, void *context);

/* The same for the node itself and its children. */
HPAR_API hpar_status hpar_serialize_html_outer(const hpar_document *document, hpar_node node, bool scripting,
                                               hpar_write write, void *context);

/* The format of html5lib-tests' tree-construction tests: "| <html>\n|   <head>\n" ... of the children of
 * `node`, each line ended by a newline. Attributes are sorted by their displayed name in UTF-16 code unit order. */
HPAR_API hpar_status hpar_serialize_tree(const hpar_document *document, hpar_node node, hpar_write write,
                                         void *context);

#ifdef __cplusplus
}
#endif
#endif
