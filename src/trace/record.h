#ifndef HP_TRACE_RECORD_H
#define HP_TRACE_RECORD_H

/* What hpar_options.inspect has written down: <hpar/inspect.h>. The task has the record, or NULL where nobody asks, in
 * which case none of these is to be called.
 *
 * Chunks and what belongs to them are for the merger's thread alone, in the order of the chunks; events and hazards of
 * pipelines are for any. An
 * entry for which there is no memory is lost, and hp_record_close says so. While the record is open, offsets are those
 * in the text and times those of the clock; closing it makes them what the header says. */

#include "html/tree/engine.h"

#include <hpar/inspect.h>
#include <pthread.h>

typedef struct hp_record {
  hpar_chunk *chunks;
  size_t chunk_count, chunk_capacity;
  hpar_failure *failures; /* of all chunks, one after the other; so the next */
  size_t failure_count, failure_capacity;
  hpar_stretch *again;
  size_t again_count, again_capacity;
  hpar_event *events;
  size_t event_count, event_capacity;
  hpar_met_hazard *mets;
  size_t met_count, met_capacity;
  hpar_chunk nowhere; /* what is lost goes there */
  uint64_t begin;     /* time */
  bool lost, has_lock;
  pthread_mutex_t lock; /* of the events and the hazards of pipelines, and of `lost` */
} hp_record;

uint64_t hp_record_now(void);                         /* of the clock */
void hp_record_open(hp_record *record, uint64_t now); /* empties it; zeros are a record that was never open */
hpar_status hp_record_close(hp_record *record, const hp_request *task, const char *fragment);
void hp_record_free(hp_record *record);

/* The next chunk, [begin, end), zeros but for that; the failures and stretches that follow are its own. Valid until the
 * next one is begun. */
hpar_chunk *hp_record_chunk(hp_record *record, size_t begin, size_t end);
hpar_chunk *hp_record_last(hp_record *record);
void hp_record_failure(hp_record *record, hpar_hazard hazard, hpar_assumption assumption, size_t begin, size_t end);
/* What the merger has parsed again since `begin_ns`, which is an event, too. */
void hp_record_again(hp_record *record, size_t begin, size_t end, uint64_t begin_ns);

/* A hazard of a pipeline, at a place of the text, `text_at`, and a time of the clock. */
void hp_record_met(hp_record *record, const hpar_met_hazard *met);

/* [begin, end) of the text between two times. `chunk` UINT32_MAX: none in particular. */
void hp_record_event(hp_record *record, hpar_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                     uint64_t end_ns, size_t begin, size_t end);

#endif
