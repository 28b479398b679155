#ifndef HP_STUDY_JUDGE_H
#define HP_STUDY_JUDGE_H

/* What a study adds to the merger. It classifies the cut of each chunk, and audits the guesses of
 * hpar2013: hpar2013_audit.c. */

#include "drivers/parallel/team.h"
#include "study/boundary.h"

#include <hpar/study.h>

/* The memory of the judge: hp_merger.judgement. */
typedef struct hp_judgement {
  /* of the parse */
  hp_tag_search tag_search;
  uint64_t in_comment, in_raw_text, in_markup; /* chunks whose cut lies inside of such markup */
  uint64_t chunks_with_undetected_errors;
  uint64_t undetected_errors_by_kind[HPAR_UNDETECTED_ERRORS];
  /* of the current chunk */
  hp_boundary boundary;
  hp_atom raw_name;    /* element whose raw text contains the cut */
  uint32_t undetected; /* bit k: the strategy made an error of kind k */
  bool after_end_tag;  /* the last entry was a deferred end tag */
  /* The expected true stack, from before_splice to after_entry: */
  uint32_t depth, outer_depth; /* with and without the open elements of the segment */
  hp_ref top, outer_top;
  enum { HP_CLOSES_NOTHING, HP_CLOSES_CURRENT, HP_CLOSES_MORE } closes;
} hp_judgement;

/* Returns the judge for parses with the strategy. */
const hp_merge_judge *hp_judge_of(const hp_strategy *strategy);

/* Returns what the judge of the team's last parse has found; NULL: it had none. */
const hp_judgement *hp_judgement_of(const hp_team *team);

#endif
