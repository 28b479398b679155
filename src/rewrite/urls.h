#ifndef HP_REWRITE_URLS_H
#define HP_REWRITE_URLS_H

/* The URLs of elements and of style sheets: what actions and callbacks do with them. */

#include "resources/imports.h"
#include "rewrite/state.h"
#include "url/url.h"

/* The `href` of the first base element. It is immutable, so that workers read that of the merger.
 * Its address is what they assume. */
typedef struct hp_base_href {
  size_t length;
  char bytes[];
} hp_base_href;

/* A base URL, and what it was made of. */
typedef struct hp_resolved_base {
  struct hp_resolved_base *next;
  const hp_base_href *base;
  const char *document;
  const hp_encoding *queries;
  bool leads_away; /* the base element may lead to another site */
  hp_url url;
  hp_plain_base plain;
} hp_resolved_base;

typedef struct hp_urls {
  const hp_base_href *base; /* NULL: no base element so far */
  hp_base_href *own;        /* the same, if this rewriter has found it */
  char *own_document;
  const char *document;             /* hpar_rewrite_options.document_url, or NULL */
  hp_css_place css;                 /* of the style sheet whose text comes in pieces */
  hp_resolved_base *bases;          /* a few: for each document before and after the base element */
  const hp_resolved_base *resolved; /* that of the last action */
  hp_url work, bare;
  hp_bytes value, made; /* the new value; the new URL */
} hp_urls;

static inline bool hp_is_url_action(const hpar_action *a) {
  return a->kind == HPAR_ACTION_PREFIX_URLS || a->kind == HPAR_ACTION_REBASE_URLS;
}
/* HPAR_ERROR_ARGUMENT: the URL is not absolute. */
hpar_status hp_check_absolute_url(hpar_string url);

/* Makes the state of a stream. */
void hp_urls_open(hpar_rewriter *rewriter);
/* Sets the URL of the document. */
hpar_status hp_urls_name_document(hpar_rewriter *rewriter, const char *url);
void hp_urls_close(hp_urls *urls);
size_t hp_urls_memory(const hp_urls *urls);
/* Returns the `href` that counts, or NULL. */
static inline const hp_base_href *hp_urls_base(const hpar_rewriter *r) {
  return r->units && r->units->urls ? r->units->urls->base : NULL;
}
/* A worker assumes the base and the document's URL of the merger. */
void hp_urls_assume(hpar_rewriter *worker, const hpar_rewriter *merger, const hp_base_href *base);

/* The callback of the rule that finds the base element. */
hpar_status hp_urls_take_base(hpar_element *element, void *context);
/* Returns true for a style element with CSS. */
bool hp_urls_is_sheet(const hp_element *element);
/* Applies an action to the URLs of the element, or the rule's callback for NULL. */
void hp_urls_edit_element(hp_element *element, const hp_rule *rule, const hpar_action *action);
/* The same for the text of a style element. */
void hp_urls_edit_sheet(hpar_rewriter *rewriter, const hp_rule *rule, const hpar_action *action);
/* Ends a piece of the sheet. */
void hp_urls_pass_sheet(hpar_rewriter *rewriter);
/* Returns where a piece of a sheet that is too long ends, at or before `to`. */
const char *hp_urls_boundary(hpar_rewriter *rewriter, const char *from, const char *to);

#endif
