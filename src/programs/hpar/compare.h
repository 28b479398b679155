#ifndef HP_PROGRAMS_HPAR_COMPARE_H
#define HP_PROGRAMS_HPAR_COMPARE_H

/* The measurements of hpar compare, and their report as a table or as JSON. */

#include "programs/hpar/cli.h"
#include "programs/hpar/json.h"
#include "programs/hpar/mean.h"
#include "programs/hpar/pages.h"
#include "programs/hpar/scripts.h"

#include <hpar/study.h>

enum { HP_COMPARE_SEQUENTIAL, HP_COMPARE_PARALLEL, HP_COMPARE_SIDE_BY_SIDE, HP_COMPARE_MODES };

typedef struct hp_compared_mode {
  const char *name;
  hpar_mode mode;
  bool by_driver; /* by the driver of the options, whatever `mode` is */
  hpar_parser *parser;
  hpar_document *document;
  uint64_t *times;        /* of the current page: `repeats` times, sorted at the end */
  hpar_study_stats stats; /* of the fastest run */
  /* Side by side: `copies` of the page. A time is that of all copies, divided by their number. */
  unsigned copies;
  hpar_input *inputs;
  hpar_many_stats many;
} hp_compared_mode;

typedef struct hp_compare_totals {
  size_t pages, equal, not_parsed;
  hp_mean speedup_min, speedup_median, side_by_side;
  uint64_t bytes, tokens, log_entries, chunks, clean;
  hpar_convergence_sums convergence;
} hp_compare_totals;

typedef struct hp_comparison {
  hpar_options options;
  hpar_study study; /* of `options` */
  size_t repeat;    /* 0: chosen by the page's time */
  bool as_json, many;
  bool converges; /* also follow the start hypotheses, in a parse that is not timed */
  bool apart;     /* the sequential runs come before the others, instead of in turn with them */
  size_t mode_count;
  hp_compared_mode modes[HP_COMPARE_MODES];
  hp_script_settings scripts;
  hp_pages pages;
  int name_width;
  hp_compare_totals totals;
  hp_json json;
  int code;
} hp_comparison;

typedef struct hp_compared_page {
  const char *path;
  size_t bytes, repeats;
  bool equal;
  hp_script_run scripts; /* of one parse */
  hpar_convergence_sums convergence;
} hp_compared_page;

/* Adds a measured page to the totals. */
void hp_comparison_add(hp_comparison *c, const hp_compared_page *page);

/* Print the heading, a measured page, and the summary. */
void hp_comparison_begin(hp_comparison *c);
void hp_comparison_page(hp_comparison *c, const hp_compared_page *page);
void hp_comparison_end(hp_comparison *c);

#endif
