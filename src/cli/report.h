#ifndef HP_CLI_REPORT_H
#define HP_CLI_REPORT_H

/* The statistics of a parse, for people and as one JSON object whose keys are a contract. */

#include "cli/json.h"

#include <hpar/parse.h>

void hp_report_stats(FILE *file, const hpar_stats *stats);
void hp_report_stats_json(hp_json *json, const hpar_stats *stats);

/* The same of many parsed side by side. */
void hp_report_many(FILE *file, const hpar_many_stats *stats);
void hp_report_many_json(hp_json *json, const hpar_many_stats *stats);

#endif
