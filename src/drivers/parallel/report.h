#ifndef HP_DRIVERS_PARALLEL_REPORT_H
#define HP_DRIVERS_PARALLEL_REPORT_H

/* The counters of a job. */

#include "drivers/parallel/team.h"

/* Completes the trace and the counters. Requires: no thread works for the job. */
void hp_report_job(hp_job *job);

#endif
