#ifndef HP_STUDY_RECORD_H
#define HP_STUDY_RECORD_H

/* The record of a parse: the trace of hpar_study.inspect.
 *
 * Only the merger's thread records chunks, failures and reparsed ranges, in the order of the
 * chunks. Any thread may record events and hazards. If memory is short, an entry is lost, and
 * `lost` is set. Offsets are offsets in the text, and times are those of hp_now, until
 * hp_record_complete. */

#include "session/session.h"

#include <hpar/study.h>
#include <pthread.h>

typedef struct hp_record {
  hp_trace trace;
  hpar_chunk *chunks;
  size_t chunk_count, chunk_capacity;
  hpar_failure *failures; /* of all chunks, in their order */
  size_t failure_count, failure_capacity;
  hpar_byte_range *again; /* reparsed ranges of all chunks, in their order */
  size_t again_count, again_capacity;
  hpar_event *events;
  size_t event_count, event_capacity;
  hpar_hazard_event *pipeline_events;
  size_t pipeline_event_count, pipeline_event_capacity;
  hpar_convergence_sums convergence; /* zeros unless hp_record_convergence was called */
  hpar_chunk discarded;              /* receives what is lost */
  uint64_t begin;                    /* time */
  bool lost, has_lock;
  pthread_mutex_t lock; /* of the events, the hazards and `lost` */
} hp_record;

/* Empties the record. Zeros are a record that was never open. */
void hp_record_open(hp_record *record, uint64_t now);
void hp_record_free(hp_record *record);

/* Adds a chunk of zeros, except its range of the text. The next failures and ranges belong to it.
 * The pointer is valid until the next call. */
hpar_chunk *hp_record_chunk(hp_record *record, size_t begin, size_t end);
/* Returns the last chunk. */
hpar_chunk *hp_record_last(hp_record *record);
/* Adds a failure of the last chunk. */
void hp_record_failure(hp_record *record, hpar_hazard hazard, hpar_assumption assumption, size_t begin, size_t end);
/* Adds a range that the merger has parsed again since `begin_ns`, and the event. */
void hp_record_again(hp_record *record, size_t begin, size_t end, uint64_t begin_ns);

/* Adds a hazard of a pipeline, with the offset `text_at`. */
void hp_record_pipeline_event(hp_record *record, const hpar_hazard_event *event);

static inline void hp_record_event(hp_record *record, hp_event_kind kind, unsigned thread, uint32_t chunk,
                                   uint64_t begin_ns, uint64_t end_ns, size_t begin, size_t end) {
  record->trace.event(&record->trace, kind, thread, chunk, begin_ns, end_ns, begin, end);
}

/* Adds the true state at each chunk's cut and the outcome of each chunk. Converts offsets in the
 * text to offsets in the input, and times to times since the begin. The request has the complete
 * text; `fragment` is as in hpar_options. Returns HPAR_OK, or HPAR_ERROR_MEMORY if the record is
 * incomplete. */
hpar_status hp_record_complete(hp_record *record, const hp_request *request, const char *fragment);

#if HPAR_PARALLEL
/* What it records of a parallel parse. */
extern const hp_job_trace hp_job_record;
#endif

#endif
