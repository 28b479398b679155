#ifndef HP_DRIVERS_PARALLEL_REPORT_H
#define HP_DRIVERS_PARALLEL_REPORT_H

/* The report of a job: its entries in the record of the parse, and its counters. */

#include "drivers/parallel/team.h"

/* Records that the merger has been in the chunk since `begin`. `is_finished`: it has left the
 * chunk. Requires: the merger has a record. */
void hp_report_merged_chunk(hp_job *job, const hp_chunk *chunk, uint64_t begin, bool is_finished);
/* Completes the record and the counters. Requires: no thread works for the job. */
void hp_report_job(hp_job *job);

#endif
