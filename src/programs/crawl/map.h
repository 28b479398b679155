#ifndef HP_PROGRAMS_CRAWL_MAP_H
#define HP_PROGRAMS_CRAWL_MAP_H

/* The map step of a crawl: counts the properties of one record. */

#include "programs/crawl/tally.h"
#include "programs/warc/http.h"
#include "programs/warc/warc.h"

#include <hpar/hpar.h>
#include <stdio.h>

typedef enum hp_crawl_profile {
  HP_PROFILE_SIZES = 1 << 0,
  HP_PROFILE_ENCODINGS = 1 << 1,
  HP_PROFILE_ELEMENTS = 1 << 2,
  HP_PROFILE_LINKS = 1 << 3,
  HP_PROFILE_TEXT = 1 << 4,
  HP_PROFILE_ERRORS = 1 << 5,
  HP_PROFILE_STATES = 1 << 6,      /* of the sampled pages */
  HP_PROFILE_SPECULATION = 1 << 7, /* of the sampled pages */
  HP_PROFILE_ALL = (1 << 8) - 1
} hp_crawl_profile;

/* How rows are written. */
typedef enum hp_row_format { HP_ROWS_JSON, HP_ROWS_CSV, HP_ROWS_TSV } hp_row_format;
/* What a row is, if there is no selector. */
typedef enum hp_row_kind { HP_ROWS_OF_PAGES, HP_ROWS_OF_RESPONSES, HP_ROWS_OF_RECORDS } hp_row_kind;

/* Options of the map step. Each except the last two changes the results. */
typedef struct hp_map_options {
  unsigned profiles;
  uint64_t memory;          /* bytes of a record, of its body and of its tree */
  uint64_t time_ns;         /* 0: no limit */
  uint64_t nodes, depth;    /* 0: no limit */
  uint64_t sample_of, seed; /* one page of so many, by a hash of its URL */
  uint64_t share;           /* of the records, in 2^-64; 0: all */
  uint64_t study_bytes;     /* the least length of a page for the profile `speculation` */
  const char *const *selectors;
  size_t selector_count;
  bool records;          /* a line of JSON for each page */
  bool duplicates;       /* resolve revisits, and count pages with equal digests */
  char *fields, *groups; /* the columns of rows, and those by which they are counted; NULL: none */
  hp_row_format row_format;
  hp_row_kind row_kind;
  char *suffixes;         /* the path of the public suffix list, if a column needs it */
  char suffix_digest[65]; /* its SHA-256 */
  char *python;           /* the path of a file with a function record(); NULL: none */
  char python_digest[65];
  /* No effect on the results: pages from this length on are parsed by `threads`; 0: none. */
  uint64_t split_bytes;
  unsigned threads;
} hp_map_options;

typedef struct hp_map hp_map;

/* Receives a record that the results leave out. */
typedef void (*hp_map_refuse)(void *context, const hp_warc_record *record, const char *reason);

/* Creates the state of one worker. `tally` receives the counts, `records` and `rows` the lines, and
 * `refuse` the records above a limit and the damaged ones. HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT:
 * a selector, a column, the public suffix list or the Python file is wrong. */
hpar_status hp_map_create(hp_map **map, const hp_map_options *options, hp_tally *tally);
void hp_map_destroy(hp_map *map);
void hp_map_report_to(hp_map *map, const char *file, FILE *records, FILE *rows, hp_map_refuse refuse, void *context);

/* Counts a record. HPAR_ERROR_MEMORY. */
hpar_status hp_map_record(hp_map *map, const hp_warc_record *record);
/* Adds the counts that the tally lacks, after the last record. HPAR_ERROR_MEMORY. */
hpar_status hp_map_finish(hp_map *map);

/* Counts the revisits by what they name, and the pages with an earlier digest, in the sum of all
 * units. Removes the names from it. Returns false if no memory is left. */
bool hp_map_resolve_revisits(hp_tally *sum);

#endif
