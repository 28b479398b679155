#ifndef HP_PROGRAMS_HPAR_REPORT_H
#define HP_PROGRAMS_HPAR_REPORT_H

/* Writes the statistics of a parse as a table, or as one JSON object with stable keys. */

#include "programs/hpar/json.h"

#include <hpar/study.h>

void hp_report_stats(FILE *file, const hpar_study_stats *stats);
void hp_report_stats_json(hp_json *json, const hpar_study_stats *stats);

/* Writes the member "script": the figures of the scripts that ran. */
void hp_report_scripts_json(hp_json *json, const hpar_study_stats *stats);

/* Writes the statistics of many inputs. */
void hp_report_many(FILE *file, const hpar_many_stats *stats);
void hp_report_many_json(hp_json *json, const hpar_many_stats *stats);

/* Writes the member "convergence": how the start hypotheses of all chunks converge. */
void hp_report_convergence_json(hp_json *json, const hpar_convergence_sums *sums);

#endif
