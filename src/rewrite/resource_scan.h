#ifndef HP_REWRITE_RESOURCE_SCAN_H
#define HP_REWRITE_RESOURCE_SCAN_H

/* The resources of a text without its tree. The rewriter's scanner reads the tags, and its outline
 * builder gives their context: namespaces, templates, pictures, and tags that make no element. */

#include "resources/describe.h"
#include "session/session.h"
#include "text/encoding/encoding.h"
#include "tokenizer/tokenizer.h"

#include <hpar/resources.h>
#include <hpar/rewrite.h>
#include <stdatomic.h>

typedef struct hp_resource_scan hp_resource_scan;

/* The bytes [from, to) of a text. */
typedef struct hp_scan_part {
  const char *bytes;
  size_t from, to;
  bool is_last;       /* the text ends at `to` */
  const char *prefix; /* markup that makes the state at `from` */
  const hp_encoding *encoding;
  bool is_certain; /* no meta element changes the encoding */
  bool scripting;
  const char *fragment;
  unsigned thread;
  const _Atomic bool *cancelled; /* NULL: nothing cancels the scan */
  /* Moves `to` if the scan is to go on there. Receives the context of the callback. NULL: never */
  bool (*extend)(void *context);
} hp_scan_part;

/* Makes the rules of all scans. The caller destroys them. */
hpar_status hp_resource_rules(hpar_rules **rules);

/* Makes a scan. It keeps its memory from one part to the next. */
hpar_status hp_resource_scan_create(hp_resource_scan **scan, const hpar_rules *rules);
void hp_resource_scan_destroy(hp_resource_scan *scan); /* NULL is allowed */

/* Reports the resources of the part in the order of their start tags. The element is 0, and the
 * picture a number. `error` receives a reason. Ends early, with HPAR_OK, if the callback returns
 * false, or if a meta element declares another encoding. */
hpar_status hp_resource_scan_run(hp_resource_scan *scan, const hp_scan_part *part, hp_resource_fn callback,
                                 void *context, const char **error);

/* Returns the other encoding that a meta element of the last part has declared; NULL: none. */
const hp_encoding *hp_resource_scan_declared(const hp_resource_scan *scan);

/*** page_scan.c ***/

/* Scans of pages for resources, without a tree. The calling thread scans the whole text and reports
 * CONFIRMED. Other threads are scouts: they claim later parts of the text in order, scan them
 * meanwhile from a predicted state, and report FOUND. */

/* Reports the resources of the bytes to config->resources. */
hpar_status hp_scan_page(hp_session *session, const hp_config *config, const char *bytes, size_t length);

#endif
