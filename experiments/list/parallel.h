#ifndef LIST_PARALLEL_H
#define LIST_PARALLEL_H

/* Runs `partition`, `parallelParsing` and `merge` on a pool of threads and times each. */

#include "merge.h"
#include "partition.h"

typedef enum list_scheme { LIST_SEQUENTIAL, LIST_TEMPPA, LIST_FIXED, LIST_FLEXIBLE, LIST_SCHEMES } list_scheme;

extern const char *const list_scheme_names[LIST_SCHEMES];

typedef struct list_plan {
  list_scheme scheme;
  size_t pieces;    /* Temppa: chunks; the other two: groups of units; at least 1 */
  size_t level;     /* fixed */
  size_t threshold; /* flexible, bytes */
} list_plan;

typedef struct list_report {
  /* Parse: from the first worker's start to the last worker's end. */
  uint64_t ns_partition, ns_parse, ns_merge, ns_total;
  size_t units, high_level_bytes, largest_piece; /* bytes */
  size_t merge_steps;                            /* children of roots, or units */
  bool malformed;                                /* preparse failed; parsed sequentially */
} list_report;

typedef struct list_parser list_parser;

/* Returns NULL without memory. `threads` includes the caller. */
list_parser *list_parser_create(unsigned threads);
void list_parser_destroy(list_parser *parser);
unsigned list_parser_threads(const list_parser *parser);

/* Returns a tree that the parser owns until the next call. `report` may be NULL. */
list_tree list_parse_document(list_parser *parser, const list_plan *plan, const char *input, size_t n,
                              list_report *report);

#endif
