#ifndef HP_PROGRAMS_HPAR_EXPLAIN_PIPELINE_H
#define HP_PROGRAMS_HPAR_EXPLAIN_PIPELINE_H

/* The hazards in `hpar explain --mode pipelined` and `hpar trace --mode pipelined`, each with its
 * line. */

#include "programs/hpar/inspection.h"
#include "programs/hpar/json.h"

#include <hpar/study.h>

typedef struct hp_shown_hazard {
  hpar_hazard_event met;
  uint64_t line, column;
  hpar_string source; /* from the token on, to the end of its line at most; in UTF-8 */
} hp_shown_hazard;

/* Shows each hazard of the explained parse, or of the parse with times. Returns false after a
 * message. */
bool hp_each_hazard(const hp_inspection *inspection, bool on_threads,
                    void (*show)(void *to, const hp_shown_hazard *hazard), void *to);

int hp_explain_pipeline_text(const hp_inspection *inspection); /* an exit code */
bool hp_explain_pipeline_json(hp_json *json, const hp_inspection *inspection);
void hp_hazard_members(hp_json *json, const hp_shown_hazard *hazard);

#endif
