#ifndef HP_PROGRAMS_HPAR_REWRITE_MANY_H
#define HP_PROGRAMS_HPAR_REWRITE_MANY_H

/* hpar rewrite --many: rewrites files in place, several at once. */

#include "programs/hpar/rewrite_page.h"

/* Rewrites a page in place by itself, and prints why that fails. Returns an exit code. */
typedef int (*hp_rewrite_alone_fn)(const char *path, void *context);

/* Rewrites all pages in place by several threads. Each page that fails is left to `rewrite_alone`.
 * Requires: the rules have no callbacks. Returns the exit code. */
int hp_rewrite_many_pages(const hp_rewriting *rewriting, hp_rewrite_alone_fn rewrite_alone, void *context);

#endif
