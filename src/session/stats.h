#ifndef HP_SESSION_STATS_H
#define HP_SESSION_STATS_H

/* The only writer of hpar_stats and hpar_study_stats. */

#include "session/session.h"

#include <hpar/study.h>

/* Fills all statistics of the session's last parse. After a failure only the defaults are set. */
void hp_fill_study_stats(const hp_session *session, hpar_study_stats *stats);
/* Fills those of them that hpar_stats has. */
void hp_fill_stats(const hp_session *session, hpar_stats *stats);

/* Writes the processors of the first `threads` threads. Returns the result of binding: "cores",
 * "processors" or "refused". */
const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused);

#endif
