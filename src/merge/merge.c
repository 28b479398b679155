#include "merge/merge.h"

#include "base/clock.h"
#include "html/tree/engine_loop.h"
#include "merge/note.h"

#include "html/tree/no_context.h"
#include "merge/boundary.h"
#include "merge/check.inc"
#include "merge/splice.h"

static uint32_t position(const hp_merger *m) { return (uint32_t)(m->engine->tokenizer.at - m->engine->tokenizer.base); }

static bool at_boundary(const hp_merger *m) {
  return m->engine->tokenizer.content == HP_CONTENT_DATA && m->engine->builder.mode != HP_IN_TEXT;
}

typedef struct target {
  const hp_merger *merger;
  uint32_t offset;
} target;

static bool is_reached(const hp_engine *engine, void *context) {
  (void)engine;
  const target *t = context;
  return position(t->merger) >= t->offset && at_boundary(t->merger);
}

static void build(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_exact_token(&engine->builder, token);
  engine->builder.prepared = false;
}

static const hp_loop_parts exactly = {.next = hp_loop_next, .build = build, .stops = is_reached, .checks_limits = true};

bool hp_merger_parse_until(hp_merger *m, uint32_t offset) {
  hp_engine *engine = m->engine;
  target target = {m, offset};
  if (m->done || is_reached(engine, &target)) return true;
  if (hp_engine_awaits_input(engine)) return false;
  /* The first token may be prepared and the last one may begin raw text. The fast loop parses the
   * tokens between. */
  hp_loop_end end = hp_loop_step(engine, exactly, &target, &engine->tokens);
  if (end == HP_LOOP_GOES_ON && engine->tokenizer.last && !hp_engine_is_limited(engine))
    end = hp_engine_run_fast(engine, engine->tokenizer.base + offset);
  if (end == HP_LOOP_GOES_ON || end == HP_LOOP_STOPPED) end = hp_loop_run(engine, exactly, &target);
  m->done = end == HP_LOOP_ENDED;
  return end != HP_LOOP_NEEDS_INPUT;
}

void hp_merger_finish(hp_merger *m) { hp_merger_parse_until(m, UINT32_MAX); }

/* As above, on a stretch that a worker has been over, too. */
static bool parse_again(hp_merger *m, uint32_t offset) {
  uint32_t from = position(m);
  uint64_t begin = m->record ? hp_now() : 0;
  bool there = hp_merger_parse_until(m, offset);
  m->counters->bytes_reparsed += position(m) - from;
  if (m->record) hp_record_again(m->record, from, position(m), begin);
  return there;
}

static bool wrong(hp_merger *m, const hp_chunk_work *chunk, const hp_segment *s, hpar_assumption assumption) {
  m->counters->wrong_assumptions_by_kind[assumption]++;
  m->right = false;
  if (m->record) hp_note_wrong(m, s, assumption);
  if (m->strategy->at_wrong) m->strategy->at_wrong(m->engine, chunk, s, assumption, &m->judgement);
  return false;
}

static bool holds(hp_merger *m, const hp_chunk_work *chunk, const hp_segment *s) {
  hpar_assumption failed = first_wrong(&m->engine->builder, s);
  return failed == HPAR_ASSUMPTIONS || wrong(m, chunk, s, failed);
}

/* A token out of the log, its attributes where the worker put them. */
static void replay(hp_merger *m, const hp_token *token) {
  hp_exact_token(&m->engine->builder, token);
  m->engine->tokenizer.at = m->engine->tokenizer.base + token->end;
  if (token->kind == HPAR_TOKEN_START_TAG) m->engine->tokenizer.last_start_tag = token->name;
  if (token->kind == HPAR_TOKEN_EOF)
    m->done = true;
  else
    m->engine->tokens++;
}

/* The token's first half, if the token is one for the body here, too. */
static void prepare(hp_merger *m, const hp_token *token) {
  hp_builder *b = &m->engine->builder;
  if (token->name != HP_TR || token->kind != HPAR_TOKEN_START_TAG) {
    if (takes_first_half(b)) hp_exact_prepare(b, token);
  } else if (!b->ignore_lf && hp_exact_adjusted_current_node(b)->ns == HPAR_NAMESPACE_HTML) {
    hp_exact_prepare_row(b, token);
  }
}

static void count(hp_merger *m, const hp_segment *s) {
  uint64_t *by_kind = m->counters->log_entries_by_kind;
  by_kind[HPAR_LOG_SPLICE] += s->tokens != 0;
  by_kind[HPAR_LOG_REPLAY] += s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT;
  by_kind[HPAR_LOG_HAZARD] += s->ends == HP_ENDS_HAZARD;
  by_kind[HPAR_LOG_ASSUME] += (uint64_t)__builtin_popcount(s->questions);
  by_kind[HPAR_LOG_END_MISSING] += s->open_count;
}

/* The reading of the chunk that begins where the merger stands, or -1. */
static int reading_here(const hp_merger *m, const hp_chunk_work *chunk) {
  for (uint32_t i = 0; i < chunk->hypothesis_count; i++) {
    uint32_t first = chunk->hypotheses[i].first;
    if (first == HP_NO_SEGMENT ? position(m) >= chunk->limit : position(m) == first) return (int)i;
  }
  return -1;
}

static void begin_chunk(hp_merger *m, const hp_chunk_work *chunk) {
  hp_merge_counters *counters = m->counters;
  bool composed = chunk->taken && m->taken_to > chunk->hypotheses[0].first; /* and so we are past its beginning */
  uint32_t first = composed ? chunk->hypotheses[0].first : position(m);
  int reading = composed ? 0 : reading_here(m, chunk);
  m->begun = true;
  m->again = counters->bytes_reparsed;
  m->reading = reading < 0 ? 0 : (uint32_t)reading;
  m->segment = chunk->hypotheses[m->reading].segment + chunk->taken;
  m->lost = composed ? 0 : chunk->taken;
  m->clean = reading >= 0 && !chunk->cut_short;
  m->right = true;
  m->judgement = (hp_audit){0};
  m->judgement.seam = hp_classify_boundary(&m->tag_search, m->engine->tokenizer.base, chunk->cut, first,
                                           m->engine->builder.scripting, &m->judgement.raw_name);
  counters->chunks_in_comment += m->judgement.seam == HP_BOUNDARY_COMMENT;
  counters->chunks_in_raw_text += m->judgement.seam == HP_BOUNDARY_RAW_TEXT;
  counters->chunks_in_markup += m->judgement.seam == HP_BOUNDARY_MARKUP;
  counters->chunks_right_start += reading >= 0;
  counters->levels[0].merges++;
  counters->respeculations += chunk->outcome.respeculations;
  counters->bytes_respeculated += chunk->outcome.bytes_respeculated;
  counters->aborts += chunk->outcome.aborted;
  if (m->strategy->at_seam) {
    bool taken = m->strategy->at_seam(m->engine, chunk, reading, &m->judgement);
    m->judgement.rolled_back = !taken;
    counters->rollbacks += !taken && !chunk->outcome.aborted;
  }
  if (m->record) hp_note_begun(m, chunk, reading);
}

static void end_chunk(hp_merger *m, const hp_chunk_work *chunk) {
  hp_merge_counters *counters = m->counters;
  counters->chunks_right += m->right && !m->judgement.rolled_back;
  counters->chunks_clean += m->clean && counters->bytes_reparsed == m->again;
  counters->chunks_misguessed += m->judgement.rolled_back || chunk->outcome.respeculations;
  counters->chunks_with_undetected_errors += m->judgement.silent != 0;
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++)
    counters->undetected_errors_by_kind[i] += m->judgement.silent >> i & 1;
  m->begun = false;
  if (m->record) hp_note_taken(m, chunk);
}

/* Is the merger, too, where the token of the segment belongs to raw text? */
static bool in_raw_text(const hp_merger *m, const hp_segment *s) {
  const hp_tokenizer *tokenizer = &m->engine->tokenizer;
  return position(m) == s->start && tokenizer->content != HP_CONTENT_DATA && tokenizer->last_start_tag == s->raw_name;
}

/* False: more input must come first. */
static bool take_segments(hp_merger *m, const hp_chunk_work *chunk) {
  const hp_log *log = &chunk->log;
  const hp_strategy *strategy = m->strategy;
  for (; m->segment < chunk->hypotheses[m->reading].end && !m->done; m->segment++) {
    uint32_t i = m->segment;
    const hp_segment *s = &log->segments[i];
    if (s->ends == HP_ENDS_HAZARD) {
      count(m, s);
      if (m->record) hp_note_hazard(m, s);
      m->clean = false;
      continue;
    }
    if (s->raw_name && !in_raw_text(m, s)) {
      m->lost++;
      continue;
    }
    if (!s->raw_name && (position(m) < s->start || !at_boundary(m)) && !parse_again(m, s->start)) return false;
    count(m, s);
    if (m->done) break;
    if (position(m) != s->start) {
      wrong(m, chunk, s, HPAR_ASSUME_START_STATE);
      m->clean = false;
      continue;
    }
    if (!holds(m, chunk, s)) {
      m->clean = false;
      continue;
    }
    if (strategy->before_splice) strategy->before_splice(m->engine, chunk, s, &m->judgement);
    hp_splice(&m->engine->builder, log, i);
    m->engine->builder.prepared = s->prepared;
    m->engine->tokens += s->tokens;
    m->engine->tokenizer.at = m->engine->tokenizer.base + s->end;
    m->counters->levels[0].segments++;
    if (s->ends == HP_ENDS_DEFER) replay(m, &log->tokens[s->token]);
    if (s->raw_name && log->tokens[s->token].kind == HPAR_TOKEN_END_TAG) m->engine->tokenizer.content = HP_CONTENT_DATA;
    if (s->ends == HP_ENDS_SPLIT) prepare(m, &log->tokens[s->token]);
    m->taken_to = position(m);
    m->counters->levels[0].tokens += s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT;
    if (strategy->after_entry) strategy->after_entry(m->engine, chunk, s, &m->judgement);
  }
  return m->done || chunk->cut_short || position(m) >= chunk->limit || parse_again(m, chunk->limit);
}

bool hp_merger_merge_chunk(hp_merger *m, const hp_chunk_work *chunk) {
  if (!m->begun) {
    if (!hp_merger_parse_until(m, chunk->cut)) return false;
    if (m->record) hp_note_chunk(m, chunk);
    if (m->done || chunk->failed) return true;
    begin_chunk(m, chunk);
  }
  if (m->judgement.rolled_back ? !parse_again(m, chunk->limit) : !take_segments(m, chunk)) return false;
  end_chunk(m, chunk);
  return true;
}
