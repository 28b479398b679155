#include "merge/merge.h"

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 0

#include "base/process.h"
#include "tokenizer/tokenizer.h"
#include "tree/engine.h"

#include "tree/context.inc"

#include "merge/check.inc"

static uint32_t position(const hp_merger *m) { return hp_tokenizer_offset(&m->engine->tokenizer); }

/* Returns whether the merger is between two tokens of the data state. */
static bool is_at_boundary(const hp_merger *m) {
  const hp_builder *b = &m->engine->builder;
  return m->engine->tokenizer.content == HP_TEXT_STATE_DATA && b->mode != HP_IN_TEXT && !hp_page_is_used_up(b);
}

typedef struct target {
  const hp_merger *merger;
  uint32_t offset;
} target;

static bool is_reached(const hp_engine *engine, void *context) {
  (void)engine;
  const target *t = context;
  return position(t->merger) >= t->offset && is_at_boundary(t->merger);
}

static void build(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_exact_token(&engine->builder, token);
  engine->builder.flags.prepared = false;
}

static const hp_loop_parts exactly = {.next = hp_loop_next, .build = build, .stops = is_reached, .checks_limits = true};

bool hp_merger_parse_until(hp_merger *m, uint32_t offset) {
  hp_engine *engine = m->engine;
  target end_at = {m, offset};
  if (m->done || is_reached(engine, &end_at)) return true;
  if (hp_engine_awaits_input(engine)) return false;
  /* The first token may be prepared and the last one may begin raw text. The fast loop parses the
   * tokens between. */
  hp_loop_end end = hp_loop_step(engine, exactly, &end_at, &engine->tokens);
  if (end == HP_LOOP_GOES_ON && engine->tokenizer.last && !hp_engine_is_limited(engine))
    end = hp_engine_run_fast(engine, engine->tokenizer.base + offset);
  if (end == HP_LOOP_GOES_ON || end == HP_LOOP_STOPPED) end = hp_loop_run(engine, exactly, &end_at);
  m->done = end == HP_LOOP_ENDED;
  return end != HP_LOOP_NEEDS_INPUT;
}

void hp_merger_finish(hp_merger *m) { hp_merger_parse_until(m, UINT32_MAX); }

/* Parses a region that a worker has parsed, too. Returns false if more input must come first. */
static bool reparse_until(hp_merger *m, uint32_t offset) {
  if (m->is_rescued) return hp_merger_parse_until(m, offset); /* up to the first useful segment */
  uint32_t from = position(m);
  uint64_t begin = m->notes ? hp_now() : 0;
  bool is_finished = hp_merger_parse_until(m, offset);
  m->counters->bytes_reparsed += position(m) - from;
  if (hp_script_has_written(&m->engine->builder)) m->counters->bytes_lost_to_writes += position(m) - from;
  if (m->notes) m->notes->again(m, from, position(m), begin);
  return is_finished;
}

/* Counts a wrong assumption. Returns false. */
static bool reject_segment(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s, hp_assumption assumption) {
  m->counters->wrong_assumptions_by_kind[assumption]++;
  m->counters->segments_lost_to_writes += hp_script_has_written(&m->engine->builder);
  m->is_right = false;
  if (m->notes) m->notes->wrong_assumption(m, s, assumption);
  if (m->judge && m->judge->at_wrong_assumption) m->judge->at_wrong_assumption(m, chunk, s, assumption);
  return false;
}

static bool check_segment(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s) {
  hp_assumption failed = first_wrong_assumption(&m->engine->builder, s);
  if (failed == HP_ASSUMPTION_KINDS) return true;
  return reject_segment(m, chunk, s, failed);
}

/* Builds a deferred token of the log. The worker's memory holds its attributes. The tokenizer is
 * after the token before, because the token may run a script. */
static void replay(hp_merger *m, const hp_token *token) {
  hp_tokenizer_pass(&m->engine->tokenizer, token);
  hp_exact_token(&m->engine->builder, token);
  if (token->kind == HP_TOKEN_EOF)
    m->done = true;
  else
    m->engine->tokens++;
}

/* Runs the first half of a split token, if the token belongs to the body here, too. */
static void run_first_half(hp_merger *m, const hp_token *token) {
  hp_builder *b = &m->engine->builder;
  if (token->name != HP_ATOM_TR || token->kind != HP_TOKEN_START_TAG) {
    if (can_run_first_half(b)) hp_exact_prepare(b, token);
  } else if (!hp_ignores_lf(b) && hp_exact_adjusted_current_node(b)->ns == HPAR_NAMESPACE_HTML) {
    hp_exact_prepare_row(b, token);
  }
}

static void count_entries(hp_merger *m, const hp_segment *s) {
  uint64_t *by_kind = m->counters->log_entries_by_kind;
  by_kind[HP_LOG_SPLICE] += s->tokens != 0;
  by_kind[HP_LOG_REPLAY] += s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT;
  by_kind[HP_LOG_HAZARD] += s->ends == HP_ENDS_HAZARD;
  for (uint32_t questions = s->assumes.questions; questions; questions &= questions - 1) by_kind[HP_LOG_ASSUME]++;
  by_kind[HP_LOG_END_MISSING] += s->open_elements.count;
}

/* Returns the start hypothesis of the chunk that begins at the merger's position, or -1. */
static int find_hypothesis(const hp_merger *m, const hp_chunk_result *chunk) {
  for (uint32_t i = 0; i < chunk->hypothesis_count; i++) {
    uint32_t first = chunk->hypotheses[i].first;
    if (first == HP_NO_SEGMENT ? position(m) >= chunk->limit : position(m) == first) return (int)i;
  }
  return -1;
}

static bool judges_chunks(const hp_merger *m) { return m->judge && m->judge->at_chunk_boundary; }

/* Returns whether no token begins in the chunk, because a token from before contains it. Each chunk
 * has this hypothesis, too. The merger then ignores its log. */
static bool is_passed(const hp_merger *m, const hp_chunk_result *chunk) {
  return !judges_chunks(m) && position(m) >= chunk->limit;
}

void hp_merger_count_passed(hp_merger *m, uint64_t chunks) {
  if (judges_chunks(m)) return;
  m->counters->chunks_right_start += chunks;
  m->counters->chunks_right += chunks;
  m->counters->chunks_clean += chunks;
}

static void count_outcome(hp_merge_counters *counters, const hp_chunk_result *chunk) {
  counters->levels[0].merges++;
  counters->respeculations += chunk->outcome.respeculations;
  counters->bytes_respeculated += chunk->outcome.bytes_respeculated;
  counters->aborts += chunk->outcome.aborted;
}

bool hp_merger_count_composed(hp_merger *m, const hp_chunk_result *chunk) {
  if (!hp_is_composed(chunk) || chunk->cut_short || m->merged_to < chunk->limit) return false;
  hp_merge_counters *counters = m->counters;
  if (m->judge) m->judge->classify(m, chunk, chunk->hypotheses[0].first);
  count_outcome(counters, chunk);
  counters->chunks_right_start++;
  counters->chunks_right++;
  counters->chunks_clean++;
  counters->chunks_misguessed += chunk->outcome.respeculations != 0;
  return true;
}

/* Chooses the start hypothesis and counts the chunk. */
static void begin_chunk(hp_merger *m, const hp_chunk_result *chunk) {
  hp_merge_counters *counters = m->counters;
  /* A composition of the previous chunks contains the start of this chunk. */
  bool composed = chunk->taken && m->merged_to > chunk->hypotheses[0].first;
  uint32_t first = composed ? chunk->hypotheses[0].first : position(m);
  int hypothesis = composed ? 0 : find_hypothesis(m, chunk);
  m->is_in_chunk = true;
  m->reparsed_before = counters->bytes_reparsed;
  m->hypothesis = hypothesis < 0 ? 0 : (uint32_t)hypothesis;
  m->segment = chunk->hypotheses[m->hypothesis].segment + chunk->taken;
  m->skipped = composed ? 0 : chunk->taken;
  m->is_rescued = m->rescued_to > chunk->cut;
  bool right_start = hypothesis >= 0 || m->is_rescued;
  m->is_passed = !right_start && is_passed(m, chunk);
  if (m->is_passed) {
    right_start = true;
    m->segment = chunk->hypotheses[0].end;
    m->skipped = m->segment - chunk->hypotheses[0].segment;
  }
  bool ends_early = chunk->cut_short && !chunk->is_complete;
  m->is_clean = right_start && (!ends_early || first >= chunk->limit);
  m->is_right = true;
  m->is_rolled_back = false;
  if (m->judge && !m->is_rescued) m->judge->classify(m, chunk, first);
  counters->chunks_right_start += right_start;
  count_outcome(counters, chunk);
  if (judges_chunks(m)) {
    m->is_rolled_back = !m->judge->at_chunk_boundary(m, chunk, hypothesis);
    counters->rollbacks += m->is_rolled_back && !chunk->outcome.aborted;
  }
  if (m->notes) m->notes->start(m, chunk, hypothesis);
  if (m->finder) {
    hp_finder_own(m->finder, chunk->limit);
    hp_finder_begin_chunk(m->finder, &chunk->log.sightings);
  }
}

static void end_chunk(hp_merger *m, const hp_chunk_result *chunk) {
  hp_merge_counters *counters = m->counters;
  counters->chunks_right += m->is_right && !m->is_rolled_back;
  counters->chunks_clean += m->is_clean && counters->bytes_reparsed == m->reparsed_before;
  counters->chunks_misguessed += m->is_rolled_back || chunk->outcome.respeculations;
  if (m->judge && m->judge->end_chunk) m->judge->end_chunk(m);
  m->is_in_chunk = false;
  if (m->notes) m->notes->end_chunk(m, chunk);
  if (m->finder) hp_finder_end_chunk(m->finder);
}

/* Returns whether the segment's raw text is the merger's, too. */
static bool is_in_raw_text(const hp_merger *m, const hp_segment *s) {
  const hp_tokenizer *tokenizer = &m->engine->tokenizer;
  return position(m) == s->start && tokenizer->content != HP_TEXT_STATE_DATA &&
         hp_tokenizer_is_before(tokenizer, s->raw_name) && !hp_page_is_used_up(&m->engine->builder);
}

/* Splices a segment in. Calls the judge before, and confirms the resources of the segment. */
static __attribute__((noinline)) void splice_observed(hp_merger *m, const hp_chunk_result *chunk) {
  const hp_log *log = &chunk->log;
  const hp_segment *s = &log->segments.items[m->segment];
  if (m->judge && m->judge->before_splice) m->judge->before_splice(m, chunk, s);
  bool is_inert = m->finder && hp_finder_is_inert(m->finder);
  hp_adopt_segment(&m->engine->builder, log, m->segment);
  if (m->finder)
    hp_finder_confirm(m->finder, m->segment ? s[-1].observed_to.sightings : 0, s->observed_to.sightings, is_inert);
}

/* Splices a segment in, all of whose assumptions hold, and builds the token that ends it. */
static void splice_segment(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s) {
  const hp_log *log = &chunk->log;
  hp_engine *engine = m->engine;
  bool ends_with_token = s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT;
  const hp_token *token = ends_with_token ? &log->tokens.items[s->token] : NULL;
  m->is_rescued = false;
  if (m->is_observed)
    splice_observed(m, chunk);
  else
    hp_adopt_segment(&engine->builder, log, m->segment);
  engine->builder.flags.prepared = s->prepared;
  if (s->begins_raw_text) hp_engine_begin_raw_text(engine);
  engine->tokens += s->tokens;
  engine->tokenizer.at = engine->tokenizer.base + s->end;
  m->counters->levels[0].segments++;
  if (s->raw_name && token->kind == HP_TOKEN_END_TAG) engine->tokenizer.content = HP_TEXT_STATE_DATA;
  if (s->ends == HP_ENDS_DEFER) replay(m, token);
  if (s->ends == HP_ENDS_SPLIT) run_first_half(m, token);
  m->merged_to = position(m);
  m->counters->levels[0].tokens += ends_with_token;
  if (m->judge && m->judge->after_entry) m->judge->after_entry(m, chunk, s);
}

/* Parses up to the segment. If a split token begins it, the merger then runs the first half, which
 * was part of a segment that it has not spliced. Returns false if more input must come first. */
static bool reparse_to_segment(hp_merger *m, const hp_chunk_result *chunk, const hp_segment *s) {
  if (!reparse_until(m, s->start)) return false;
  if (m->done || m->segment == chunk->hypotheses[m->hypothesis].segment) return true;
  const hp_segment *before = s - 1;
  if (before->ends == HP_ENDS_SPLIT && position(m) == s->start)
    run_first_half(m, &chunk->log.tokens.items[before->token]);
  return true;
}

static bool is_token_only(const hp_segment *s) {
  return s->ends == HP_ENDS_DEFER &&
         !(s->tokens | s->assumes.questions | s->anchor | s->open_elements.count | s->raw_name) && !s->prepared;
}

/* Builds the tokens of the next segments that have nothing else. Most of them are end tags. */
static void build_deferred_tokens(hp_merger *m, const hp_chunk_result *chunk) {
  const hp_log *log = &chunk->log;
  hp_engine *engine = m->engine;
  uint32_t first = m->segment, end = chunk->hypotheses[m->hypothesis].end;
  const hp_segment *s = &log->segments.items[first];
  for (; m->segment < end && is_token_only(s) && position(m) == s->start && is_at_boundary(m); s++) {
    engine->builder.flags.prepared = false;
    replay(m, &log->tokens.items[s->token]);
    m->segment++;
  }
  uint32_t count = m->segment - first;
  if (!count) return;
  m->is_rescued = false;
  m->counters->log_entries_by_kind[HP_LOG_REPLAY] += count;
  m->counters->levels[0].segments += count;
  m->counters->levels[0].tokens += count;
  m->merged_to = position(m);
}

/* Merges the segments from m->segment on. Returns false if more input must come first. */
static bool merge_segments(hp_merger *m, const hp_chunk_result *chunk) {
  const hp_log *log = &chunk->log;
  /* A segment without nodes may have parse errors. */
  bool goes_singly = judges_chunks(m) || hp_observed_errors(&m->engine->builder);
  for (; m->segment < chunk->hypotheses[m->hypothesis].end; m->segment++) {
    if (!goes_singly) build_deferred_tokens(m, chunk);
    if (m->done || m->segment == chunk->hypotheses[m->hypothesis].end) break;
    const hp_segment *s = &log->segments.items[m->segment];
    if (s->start < m->rescued_to) {
      m->skipped++;
      continue;
    }
    if (s->ends == HP_ENDS_HAZARD) {
      count_entries(m, s);
      if (m->notes) m->notes->hazard(m, s);
      m->is_clean = false;
      continue;
    }
    if (s->raw_name && !is_in_raw_text(m, s)) {
      m->skipped++;
      continue;
    }
    if (!s->raw_name && (position(m) < s->start || !is_at_boundary(m)) && !reparse_to_segment(m, chunk, s))
      return false;
    count_entries(m, s);
    if (m->done) break;
    if (position(m) != s->start) { /* the merger has parsed a token there */
      reject_segment(m, chunk, s, HP_ASSUME_START_STATE);
      continue;
    }
    if (!check_segment(m, chunk, s)) {
      m->is_clean = false;
      continue;
    }
    splice_segment(m, chunk, s);
  }
  return m->done || chunk->cut_short || position(m) >= chunk->limit || reparse_until(m, chunk->limit);
}

/* Cancels the resources that the worker has found, because the merger does not take its log. */
static void cancel_found(hp_merger *m, const hp_chunk_result *chunk) {
  if (!m->finder) return;
  hp_finder_begin_chunk(m->finder, &chunk->log.sightings);
  hp_finder_end_chunk(m->finder);
}

bool hp_merger_merge_chunk(hp_merger *m, const hp_chunk_result *chunk) {
  if (!m->is_in_chunk) {
    if (m->finder) hp_finder_own(m->finder, chunk->cut);
    if (!hp_merger_parse_until(m, chunk->cut)) return false;
    if (m->notes) m->notes->begin_chunk(m, chunk);
    if (m->done && !chunk->failed) hp_merger_count_passed(m, 1);
    if (m->done || chunk->failed) {
      cancel_found(m, chunk);
      return true;
    }
    begin_chunk(m, chunk);
  }
  if (m->is_rolled_back ? !reparse_until(m, chunk->limit) : !merge_segments(m, chunk)) return false;
  end_chunk(m, chunk);
  return true;
}
