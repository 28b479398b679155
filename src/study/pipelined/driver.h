#ifndef HP_STUDY_PIPELINED_DRIVER_H
#define HP_STUDY_PIPELINED_DRIVER_H

/* The pipeline as a driver of whole parses, and as the two threads of each worker of a parallel
 * parse. Their options in a configuration are a packed hp_pipeline_config. */

#include "session/session.h"
#include "study/pipelined/config.h"

extern const hpar_driver hp_pipelined_driver;
extern const hp_pairs hp_pipelined_pairs;

hp_part_options hp_pack_pipeline(const hp_pipeline_config *config);

/* Returns the counters of the pairs of the team's last parse, the sum over all workers; NULL: there
 * were none. */
const hp_pipeline_counters *hp_pairs_counters(const hp_team *team);

#endif
