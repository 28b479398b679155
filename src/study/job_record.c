/* The entries of the parallel parser in the record of a parse. */

#include "base/process.h"
#include "drivers/parallel/team.h"
#include "study/judge.h"
#include "study/record.h"

#include "study/true_state.h"
#include "tree/builder.h"

#include <hpar/study.h>

static hp_state state_of(const hp_start_state *s) {
  switch (s->inside) {
    case HP_INSIDE_COMMENT: return HP_STATE_COMMENT;
    case HP_INSIDE_TAG: return HP_STATE_BEFORE_ATTRIBUTE_NAME;
    case HP_INSIDE_DOUBLE_QUOTES: return HP_STATE_DOUBLE_QUOTED;
    case HP_INSIDE_SINGLE_QUOTES: return HP_STATE_SINGLE_QUOTED;
    default: break;
  }
  switch (s->content) {
    case HP_TEXT_STATE_RCDATA: return HP_STATE_RCDATA;
    case HP_TEXT_STATE_RAWTEXT: return HP_STATE_RAWTEXT;
    case HP_TEXT_STATE_SCRIPT_DATA: return HP_STATE_SCRIPT_DATA;
    case HP_TEXT_STATE_PLAINTEXT: return HP_STATE_PLAINTEXT;
    case HP_TEXT_STATE_CDATA_SECTION: return HP_STATE_CDATA_SECTION;
    default: return HP_STATE_DATA;
  }
}

/* Replaces each counter of the chunk by its difference to the merger's: the first call stores the
 * state before the chunk, and the second the chunk's own count. */
static void subtract(const hp_merger *m, hpar_chunk *c) {
  const hp_judgement *judgement = m->judgement;
  for (int i = 0; i < HPAR_LOG_KINDS; i++)
    c->log_entries_by_kind[i] = m->counters->log_entries_by_kind[i] - c->log_entries_by_kind[i];
  for (int i = 0; judgement && i < HPAR_UNDETECTED_ERRORS; i++)
    c->undetected_errors_by_kind[i] = judgement->undetected_errors_by_kind[i] - c->undetected_errors_by_kind[i];
}

/* The trace is the first member of its record. */
static hp_record *record_of(const hp_merger *m) { return (hp_record *)m->trace; }

static hpar_chunk *recorded_chunk(const hp_merger *m) { return hp_record_last(record_of(m)); }

static void begin_chunk(hp_merger *m, const hp_chunk_result *chunk) {
  hpar_chunk *c = hp_record_chunk(record_of(m), chunk->cut, chunk->limit);
  subtract(m, c);
  c->outcome = m->done ? HPAR_CHUNK_UNREACHED : chunk->failed ? HPAR_CHUNK_DISCARDED : HPAR_CHUNK_CLEAN;
}

static void start(hp_merger *m, const hp_chunk_result *chunk, int hypothesis) {
  hpar_chunk *c = recorded_chunk(m);
  const hp_start_state *s = &chunk->start;
  const hp_start_hypothesis *r = &chunk->hypotheses[hypothesis < 0 ? 0 : hypothesis];
  c->predicted = (hpar_start_state){.state = hp_state_name(state_of(s)),
                                    .element = s->raw_name < HP_KNOWN_ATOMS ? hp_known_names[s->raw_name].bytes : "",
                                    .mode = hp_mode_name(s->raw_name ? HP_IN_TEXT : s->mode),
                                    .ns = (hpar_namespace)s->ns,
                                    .first = r->first == HP_NO_SEGMENT ? UINT64_MAX : r->first};
  c->right_start = hypothesis >= 0 || m->is_passed;
  c->hypotheses = chunk->hypothesis_count;
  c->segments = m->is_passed ? 0 : r->end - r->segment;
  for (uint32_t i = r->segment; i < r->end; i++)
    for (uint32_t questions = chunk->log.segments.items[i].assumes.questions; questions; questions &= questions - 1)
      c->assumed_by_kind[__builtin_ctz(questions)]++;
  c->respeculations = chunk->outcome.respeculations;
  c->aborted = chunk->outcome.aborted;
  c->rolled_back = m->is_rolled_back;
}

static void end_chunk(hp_merger *m, const hp_chunk_result *chunk) {
  hpar_chunk *c = recorded_chunk(m);
  subtract(m, c);
  uint32_t visited = m->segment - chunk->hypotheses[m->hypothesis].segment;
  c->taken = visited - (uint32_t)c->failure_count - m->skipped;
  /* A token that began before the last segments may have ended the input. */
  if (c->taken + c->failure_count < c->segments && c->taken) c->outcome = HPAR_CHUNK_REPAIRED;
  if (chunk->cut_short && !chunk->is_complete && !m->is_passed && c->outcome == HPAR_CHUNK_CLEAN)
    c->outcome = HPAR_CHUNK_REPAIRED;
}

static void wrong_assumption(hp_merger *m, const hp_segment *s, hp_assumption assumption) {
  hp_record_failure(record_of(m), HPAR_HAZARD_NONE, (hpar_assumption)assumption, s->start, s->end);
}

static void hazard(hp_merger *m, const hp_segment *s) {
  hp_record_failure(record_of(m), (hpar_hazard)s->hazard, HPAR_ASSUMPTIONS, s->start, s->end);
}

/* Adds a chunk that the merger has parsed itself or has not reached. */
static void add_unmerged(hp_merger *m, uint32_t cut, uint32_t limit, hpar_chunk_outcome outcome) {
  hpar_chunk *c = hp_record_chunk(record_of(m), cut, limit);
  c->outcome = outcome;
  c->right_start = outcome == HPAR_CHUNK_EXACT;
}

static void again(hp_merger *m, uint32_t begin, uint32_t end, uint64_t begin_ns) {
  hp_record_again(record_of(m), begin, end, begin_ns);
}

static void merged_chunk(hp_job *job, const hp_chunk *c, uint64_t begin, bool is_finished) {
  hp_record *record = record_of(&job->merger);
  uint64_t end = hp_now();
  hp_event_kind kind = job->position.is_exact ? HP_EVENT_EXACT : HP_EVENT_MERGE;
  hp_record_event(record, kind, 0, job->position.number, begin, end, c->cut, c->limit);
  if (!is_finished) return;
  if (job->position.is_exact) add_unmerged(&job->merger, c->cut, c->limit, HPAR_CHUNK_EXACT);
  hpar_chunk *chunk = hp_record_last(record);
  chunk->ns.merge_begin = begin;
  chunk->ns.merge_end = end;
}

/* Records the work of the chunk's worker. */
static void record_work(hp_record *record, const hp_chunk *c, uint32_t number) {
  const hp_chunk_result *work = c->work;
  if (number < record->chunk_count) {
    hpar_chunk *chunk = &record->chunks[number];
    chunk->worker = work->times.worker;
    chunk->ns.prescan = work->times.prescan;
    chunk->ns.parse_begin = work->times.begin;
    chunk->ns.parse_end = work->times.end;
  }
  uint64_t predicted = work->times.begin + work->times.prescan;
  if (work->times.prescan)
    hp_record_event(record, HP_EVENT_PRESCAN, work->times.worker, number, work->times.begin, predicted, c->cut,
                    c->limit);
  hp_record_event(record, HP_EVENT_PARSE, work->times.worker, number, predicted, work->times.end, c->cut, c->limit);
}

/* Records the chunks that the merger has not reached, and the work on all chunks. */
static void complete(hp_job *job) {
  hp_record *record = record_of(&job->merger);
  uint32_t published = hp_published_chunks(job->queue);
  hp_record_event(record, HP_EVENT_CUT, 0, UINT32_MAX, job->times.begin, job->times.begin + job->counters->cut_ns, 0,
                  0);
  uint32_t number = 0;
  for (uint32_t i = 0, span; i < published; i += span) {
    const hp_chunk *c = hp_chunk_at(job->queue, i);
    span = hp_chunk_span(c);
    if (hp_chunk_is_empty(job->queue, c)) continue;
    if (!c->limit) hp_chunk_queue_place(job->queue, i);
    if (i >= job->position.chunk)
      add_unmerged(&job->merger, c->cut, c->limit, i ? HPAR_CHUNK_UNREACHED : HPAR_CHUNK_EXACT);
    if (hp_unit_is_complete(&c->unit) && c->work) record_work(record, c, number);
    number++;
  }
}

static const hp_merge_trace of_merger = {.begin_chunk = begin_chunk,
                                         .start = start,
                                         .end_chunk = end_chunk,
                                         .wrong_assumption = wrong_assumption,
                                         .hazard = hazard,
                                         .again = again};

const hp_job_trace hp_job_record = {.merge = &of_merger, .merged_chunk = merged_chunk, .complete = complete};
