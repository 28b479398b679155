#ifndef HP_PROGRAMS_HPAR_CRAWL_PROGRESS_H
#define HP_PROGRAMS_HPAR_CRAWL_PROGRESS_H

/* The progress of a crawl on standard error, for every engine. */

#include "programs/hpar/crawl.h"

typedef struct hp_crawl_state {
  hp_crawl_progress kind;
  size_t units, done, failed, reused;
  uint64_t records, bytes_in, bytes_out; /* of the units that are done */
  uint64_t bytes_known;                  /* of all units to run, except streams */
  uint64_t begin, shown;                 /* times in ns */
} hp_crawl_state;

void hp_crawl_progress_open(hp_crawl_state *state, const hp_crawl *crawl, size_t units);
/* Returns whether anybody reads the progress, and the last one is a second old. */
bool hp_crawl_progress_due(const hp_crawl_state *state);
/* Shows the progress; the numbers are those of the running units. */
void hp_crawl_progress_show(hp_crawl_state *state, uint64_t records, uint64_t bytes_in, uint64_t bytes_out);

/* Returns the size of a unit in its file. */
uint64_t hp_crawl_bytes_of(const hp_unit *unit);

#endif
