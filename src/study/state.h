#ifndef HP_STUDY_STATE_H
#define HP_STUDY_STATE_H

/* What a session keeps for studies between parses: hp_session.study. */

#include "study/record.h"
#if HPAR_PARALLEL
#include "study/pipelined/stages.h"
#endif

typedef struct hp_study_state {
  hp_record record; /* of the last inspected parse */
#if HPAR_PARALLEL
  hp_stages stages;                       /* of the driver "pipelined" */
  hp_pipeline_counters pipeline_counters; /* undefined before its first parse */
  struct hp_index_block *index;           /* of the drivers in indexed.h */
  size_t index_capacity;
#endif
} hp_study_state;

/* Returns the state of the session, which it makes if there is none. NULL: out of memory. */
hp_study_state *hp_study_state_of(hp_session *session);

#endif
