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

/* Options of the map step. Each except the last two changes the results. */
typedef struct hp_map_options {
  unsigned profiles;
  uint64_t memory;          /* bytes of a record, of its body and of its tree */
  uint64_t time_ns;         /* 0: no limit */
  uint64_t nodes, depth;    /* 0: no limit */
  uint64_t sample_of, seed; /* one page of so many, by a hash of its URL */
  uint64_t study_bytes;     /* the least length of a page for the profile `speculation` */
  const char *const *selectors;
  size_t selector_count;
  bool records; /* a line of JSON for each page */
  /* No effect on the results: pages from this length on are parsed by `threads`; 0: none. */
  uint64_t split_bytes;
  unsigned threads;
} hp_map_options;

typedef struct hp_map hp_map;

/* Receives a record that the results leave out. */
typedef void (*hp_map_refuse)(void *context, const hp_warc_record *record, const char *reason);

/* Creates the state of one worker. `tally` receives the counts, `records` the lines, and `refuse`
 * the records above a limit and the damaged ones. HPAR_ERROR_MEMORY; HPAR_ERROR_ARGUMENT: a
 * selector is wrong. */
hpar_status hp_map_create(hp_map **map, const hp_map_options *options, hp_tally *tally);
void hp_map_destroy(hp_map *map);
void hp_map_report_to(hp_map *map, const char *file, FILE *records, hp_map_refuse refuse, void *context);

/* Counts a record. HPAR_ERROR_MEMORY. */
hpar_status hp_map_record(hp_map *map, const hp_warc_record *record);
/* Adds the counts that the tally lacks, after the last record. HPAR_ERROR_MEMORY. */
hpar_status hp_map_finish(hp_map *map);

#endif
