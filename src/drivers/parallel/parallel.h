#ifndef HP_DRIVERS_PARALLEL_PARALLEL_H
#define HP_DRIVERS_PARALLEL_PARALLEL_H

/* The data-parallel parser: it cuts the text into chunks, workers parse the chunks, and the calling
 * thread merges. The text is complete, or it arrives in pieces. In the latter case the driver
 * publishes a chunk when its bytes are there. */

#include "drivers/parallel/team.h"

/* Parses the request to its end on `engine`, which is open. Failures and restarts unwind through
 * the engine. Then the caller calls hp_parallel_abandon. */
void hp_parse_in_parallel(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                          hp_parallel_counters *counters);

/* The next three functions parse arriving text and unwind as above. The text arrives where
 * `request` has its text. The request, the configuration and the counters must stay until the
 * end. */

/* Begins a parse of arriving text. */
void hp_parallel_begin(hp_team *team, hp_engine *engine, const hp_request *request, const hp_parallel_config *config,
                       hp_parallel_counters *counters);
/* Parses `available` bytes of text as far as possible. The source offsets of the first `mapped`
 * bytes are final. */
void hp_parallel_feed(hp_team *team, size_t available, size_t mapped);
/* Parses the rest of the text, which has `length` bytes. */
void hp_parallel_finish(hp_team *team, size_t length);

/* Ends the job, if any runs, without a result. No thread accesses the document afterwards. */
void hp_parallel_abandon(hp_team *team);

/* Returns whether a fork has lost the threads of the job. Only hp_parallel_abandon may follow. */
bool hp_parallel_is_lost(const hp_team *team);

/* Abandons the job and frees the team's memory. */
void hp_parallel_close(hp_team *team);

#endif
