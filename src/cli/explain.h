#ifndef HP_CLI_EXPLAIN_H
#define HP_CLI_EXPLAIN_H

#include "cli/inspection.h"

/* The page of `hpar explain --html`: it needs nothing but itself, no script and no network. */
void hp_explain_html(FILE *file, const hp_inspection *inspection);

/* The same start state in a few words: "script data of script, in body, svg". */
void hp_describe_start(char *text, size_t size, const hpar_start_state *start);

#endif
