#ifndef HPAR_HPAR_H
#define HPAR_HPAR_H

/* HPar: a sequential and parallel HTML parser. This header includes all others but hpar/study.h.
 *
 *   hpar_document *document = hpar_parse_file("page.html", NULL, NULL);
 *   hpar_text(document, hpar_document_title(document), NULL, print, stdout);
 *   hpar_document_destroy(document);
 *
 * Start with hpar_parse_bytes in parse.h, the nodes in node.h and the selectors in select.h. */

#include <hpar/node.h>
#include <hpar/parse.h>
#include <hpar/resources.h>
#include <hpar/rewrite.h>
#include <hpar/script.h>
#include <hpar/select.h>

#endif
