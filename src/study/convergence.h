#ifndef HP_STUDY_CONVERGENCE_H
#define HP_STUDY_CONVERGENCE_H

/* How fast the start hypotheses of a chunk converge (hpar_convergence). Each hypothesis is a
 * tokenizer that begins at the cut in its own state. The one that is behind reads the next token,
 * until it meets another one. The start tags of raw text change the state by their names alone,
 * because no tree builder says otherwise. */

#include "study/record.h"

/* Follows the hypotheses of each chunk after the first, and adds up the sums of the record. */
hpar_status hp_record_convergence(hp_record *record, const hp_request *request);

#endif
