#include "merge/note.h"

#include "tokenizer/state.h"
#include "tree/mode_name.h"

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
    case HP_CONTENT_RCDATA: return HP_STATE_RCDATA;
    case HP_CONTENT_RAWTEXT: return HP_STATE_RAWTEXT;
    case HP_CONTENT_SCRIPT_DATA: return HP_STATE_SCRIPT_DATA;
    case HP_CONTENT_PLAINTEXT: return HP_STATE_PLAINTEXT;
    case HP_CONTENT_CDATA_SECTION: return HP_STATE_CDATA_SECTION;
    default: return HP_STATE_DATA;
  }
}

/* Replaces each counter of the chunk by its difference to the merger's: the first call stores the
 * state before the chunk, and the second the chunk's own count. */
static void subtract(const hp_merger *m, hpar_chunk *c) {
  for (int i = 0; i < HPAR_LOG_KINDS; i++)
    c->log_entries_by_kind[i] = m->counters->log_entries_by_kind[i] - c->log_entries_by_kind[i];
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++)
    c->undetected_errors_by_kind[i] = m->counters->undetected_errors_by_kind[i] - c->undetected_errors_by_kind[i];
}

static hpar_chunk *recorded_chunk(const hp_merger *m) { return hp_record_last(m->record); }

void hp_note_chunk(hp_merger *m, const hp_chunk_work *chunk) {
  hpar_chunk *c = hp_record_chunk(m->record, chunk->cut, chunk->limit);
  subtract(m, c);
  c->outcome = m->done ? HPAR_CHUNK_UNREACHED : chunk->failed ? HPAR_CHUNK_DISCARDED : HPAR_CHUNK_CLEAN;
}

void hp_note_start(hp_merger *m, const hp_chunk_work *chunk, int hypothesis) {
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
    for (uint32_t questions = chunk->log.segments[i].questions; questions; questions &= questions - 1)
      c->assumed_by_kind[__builtin_ctz(questions)]++;
  c->respeculations = chunk->outcome.respeculations;
  c->aborted = chunk->outcome.aborted;
  c->rolled_back = m->audit.rolled_back;
}

void hp_note_merged(hp_merger *m, const hp_chunk_work *chunk) {
  hpar_chunk *c = recorded_chunk(m);
  subtract(m, c);
  uint32_t visited = m->segment - chunk->hypotheses[m->hypothesis].segment;
  c->taken = visited - (uint32_t)c->failure_count - m->skipped;
  /* A token that began before the last segments may have ended the input. */
  if (c->taken + c->failure_count < c->segments && c->taken) c->outcome = HPAR_CHUNK_REPAIRED;
  if (chunk->cut_short && !chunk->is_complete && !m->is_passed && c->outcome == HPAR_CHUNK_CLEAN)
    c->outcome = HPAR_CHUNK_REPAIRED;
}

void hp_note_wrong_assumption(hp_merger *m, const hp_segment *s, hpar_assumption assumption) {
  hp_record_failure(m->record, HPAR_HAZARD_NONE, assumption, s->start, s->end);
}

void hp_note_hazard(hp_merger *m, const hp_segment *s) {
  hp_record_failure(m->record, (hpar_hazard)s->hazard, HPAR_ASSUMPTIONS, s->start, s->end);
}

void hp_note_unmerged(hp_merger *m, uint32_t cut, uint32_t limit, hpar_chunk_outcome outcome) {
  hpar_chunk *c = hp_record_chunk(m->record, cut, limit);
  c->outcome = outcome;
  c->right_start = outcome == HPAR_CHUNK_EXACT;
}
