#ifndef HP_PROGRAMS_HPAR_REWRITE_PAGE_H
#define HP_PROGRAMS_HPAR_REWRITE_PAGE_H

/* hpar rewrite: the files that it rewrites. */

#include "programs/hpar/many.h"
#include "programs/hpar/options.h"
#include "programs/hpar/pages.h"
#include "programs/rules/edit_rules.h"

typedef struct hp_rewriting {
  const hp_command *command;
  hp_edit_rules rules;
  hpar_rules *compiled;
  hpar_rewrite_options options;
  hp_pages pages;
  const char *output;        /* NULL: standard output */
  const char *trace;         /* a file for the timeline; NULL: none */
  const char *backup_suffix; /* empty: no backup */
  uint64_t feed;             /* bytes; 0: as they arrive */
  bool in_place, requires_matches, checks, explains;
  hp_report report;
} hp_rewriting;

/* Warns if the page is UTF-16: it passes without edits, or the output is UTF-8. */
void hp_warn_of_utf16(const char *path, const hpar_rewrite_stats *stats);
/* Rewrites all pages. Returns the exit code. */
int hp_rewrite_pages(hp_rewriting *rewriting);

#endif
