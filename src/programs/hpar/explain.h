#ifndef HP_PROGRAMS_HPAR_EXPLAIN_H
#define HP_PROGRAMS_HPAR_EXPLAIN_H

#include "programs/hpar/inspection.h"

#include <hpar/study.h>

/* Writes the page of `hpar explain --html`, which needs no other file, script or network. */
void hp_explain_html(FILE *file, const hp_inspection *inspection);

/* Describes a start state in a few words: "script data of script, in body, svg". */
void hp_describe_start(char *text, size_t size, const hpar_start_state *start);

enum { HP_SCRIPTS_TEXT_BYTES = 320 };

/* Describes the scripts that ran, and the speculation that their written text has lost. */
void hp_describe_scripts(char *text, size_t size, const hpar_study_stats *stats);

#endif
