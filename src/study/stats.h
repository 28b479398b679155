#ifndef HP_STUDY_STATS_H
#define HP_STUDY_STATS_H

#include "session/session.h"

#include <hpar/study.h>

/* Fills all statistics of the session's last parse. After a failure only the defaults are set. */
void hp_fill_study_stats(const hp_session *session, hpar_study_stats *stats);

#endif
