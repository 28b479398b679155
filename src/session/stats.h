#ifndef HP_SESSION_STATS_H
#define HP_SESSION_STATS_H

/* The only writer of hpar_stats. */

#include "base/target.h"
#include "session/session.h"

/* Fills the statistics of the session's last parse. After a failure only the defaults are set. */
HP_SHARED void hp_fill_stats(const hp_session *session, hpar_stats *stats);

/* Writes the processors of the first `threads` threads. Returns the result of binding: "cores",
 * "processors" or "refused". */
HP_SHARED const char *hp_note_processors(uint16_t *processor_per_worker, unsigned threads, bool refused);

#endif
