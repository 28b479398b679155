/* The tokens of a chunk, from its first token boundary to its end. */

#include "base/bytes.h"
#include "dom/tag.h"
#include "speculation/dispositions.h"
#include "speculation/outer_context.h"
#include "speculation/worker.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

#include <string.h>

/*** limits for work that the merger cannot use ***/

enum { CHECK_BYTES = 4 << 10 }; /* between two checks of the number of new names */

/* Returns true if most of the last `bytes` are new names. Threads that enter new names wait for the
 * lock of the table. */
static inline bool interning_dominates(const hp_worker *w, uint32_t names_before, uint32_t bytes) {
  enum { MIN_NAMES = 64, BYTES_PER_NAME = 32 };
  uint32_t names = w->engine.interner.used - names_before;
  return names > MIN_NAMES && names > bytes / BYTES_PER_NAME;
}

/* The search for growth sets a lower limit, so that short pages show what grows beyond it. */
#ifndef HPAR_READ_AHEAD_BYTES
#define HPAR_READ_AHEAD_BYTES (32 << 10)
#endif
enum { READ_AHEAD_BYTES = HPAR_READ_AHEAD_BYTES };

/* Returns false if the merger is faster without the log. An entry of the log costs as much as some
 * tokens without a node, or fewer tokens with a node. Checks the segments from `*from` on, in
 * groups of 64. */
static bool log_pays_off(const hp_log *log, uint32_t *from) {
  enum { GROUP = 64, MIN_GAIN = 8, NODE_GAIN = 3, BYTES_PER_GAIN = 64 };
  uint32_t count = log->segments.count - *from;
  if (count < GROUP) return true;
  uint64_t gained = 0;
  for (const hp_segment *s = log->segments.items + *from; s < log->segments.items + log->segments.count; s++)
    gained += s->tokens + NODE_GAIN * s->left.nodes + (s->end - s->start) / BYTES_PER_GAIN;
  *from = log->segments.count;
  return gained > (uint64_t)MIN_GAIN * count;
}

/* Widens the input that the tokenizer may read beyond the chunk. Returns false if that is
 * impossible. A token may end 32 KB plus the length of the chunk after its end, and `read_ahead`
 * bytes more. Otherwise every worker would read a long token that begins in its chunk. */
static bool widen_input(hp_tokenizer *tokenizer, const hp_request *request, const hp_chunk_result *chunk) {
  const char *all = request->text + request->length, *from = tokenizer->base + chunk->reach;
  size_t bytes = READ_AHEAD_BYTES + chunk->read_ahead + (chunk->reach - chunk->cut);
  if (tokenizer->at > from) from = tokenizer->at;
  const char *end = (size_t)(all - from) > bytes ? from + bytes : all;
  if (end <= tokenizer->end) return false;
  tokenizer->end = end;
  tokenizer->last = end == all && !request->more;
  return true;
}

static bool wastes_bytes(const hp_worker *w) {
  return w->wasted_bytes > 2 * READ_AHEAD_BYTES && w->wasted_bytes > w->done;
}

/*** the run ***/

/* Returns true if no token is in progress: the builder and the tokenizer need nothing from the
 * tokens before. */
static inline bool is_at_boundary(const hp_worker *w) {
  const hp_builder *b = &w->engine.builder;
  return is_between_tokens(b) && w->engine.tokenizer.content == HP_TEXT_STATE_DATA;
}

typedef enum progress {
  CONTINUE,
  STOP,
  RESTART /* the chunk began inside the raw text that the token ends */
} progress;

/* All functions of a run are inlined and no address of a member leaves them, so the members live in
 * registers. */
typedef struct chunk_run {
  hp_worker *worker;
  const hp_request *request;
  const hp_plan *plan;
  hp_chunk_result *chunk;
  hp_start_hypothesis *hypothesis;
  /* Set by the strategy; NULL: none. */
  bool (*stops)(hp_worker *, const hp_request *, const hp_token *, hp_chunk_result *);
  bool fast_path;     /* most tokens are built in one loop */
  bool predicts_mode; /* after each deferred token */
  bool may_restart;
  uint32_t checked_segments;    /* log_pays_off has checked these */
  uint32_t begin, names_before; /* offset and number of names at the beginning of the run */
  uint32_t at, errors_before;   /* offset and number of errors before the token */
  uint32_t note_at;             /* offset of the next hp_worker_note_progress */
  hp_token *token;
} chunk_run;

static chunk_run begin_run(hp_worker *w, const hp_request *request, const hp_plan *plan, bool may_restart,
                           hp_start_hypothesis *hypothesis, hp_chunk_result *chunk, hp_token *token) {
  const hp_strategy *strategy = plan->strategy;
  bool is_plain = !hp_sees_each_token(strategy) && !w->source.next && !hp_engine_is_limited(&w->engine);
  return (chunk_run){
      .worker = w,
      .request = request,
      .plan = plan,
      .chunk = chunk,
      .hypothesis = hypothesis,
      .stops = strategy->stops,
      .fast_path = is_plain && !hp_takes_slowly(&w->engine.builder),
      .predicts_mode = plan->mode_predictor->after_replay,
      .may_restart = may_restart,
      .checked_segments = chunk->log.segments.count,
      .begin = hp_tokenizer_offset(&w->engine.tokenizer),
      .names_before = w->engine.interner.used,
      .token = token,
  };
}

/* Leaves the rest of the chunk to the merger. */
static void end_early(chunk_run *r) {
  hp_worker_end_segment(r->worker, &r->chunk->log, HP_ENDS_CLEAN);
  r->chunk->cut_short = true;
}

/* Returns true if the next token is a tag, and therefore no line feed. "</>" is no token. */
static bool is_at_tag(const hp_tokenizer *tokenizer) {
  const char *at = tokenizer->at;
  while (tokenizer->end - at >= 3 && !memcmp(at, "</>", 3)) at += 3;
  if (tokenizer->end - at < 3 || *at != '<') return false;
  at += at[1] == '/' ? 2 : 1;
  return hp_ascii_is_letter(*at);
}

/* Ends the run at the end of the chunk, or if the worker should wait for other threads instead. */
static bool is_at_end(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_chunk_result *chunk = r->chunk;
  const hp_builder *b = &w->engine.builder;
  const hp_tokenizer *tokenizer = &w->engine.tokenizer;
  while (r->at >= chunk->limit && hp_chunk_goes_on(chunk)) {
  }
  if (r->at >= chunk->limit && b->mode != HP_IN_TEXT && (!hp_ignores_lf(b) || is_at_tag(tokenizer)) &&
      tokenizer->content == HP_TEXT_STATE_DATA) {
    w->outer.now.end = r->at;
    hp_worker_end_segment(w, &chunk->log, HP_ENDS_CLEAN);
    w->done += r->at - chunk->cut;
    return true;
  }
  if (w->outer.minimise_log && interning_dominates(w, r->names_before, r->at - r->begin) && is_at_boundary(w)) {
    w->outer.now.end = r->at;
    end_early(r);
    w->saturated = true;
    return true;
  }
  return false;
}

/* Ends the segment where other hypotheses join this one, with open elements or without. */
static void join(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_outer_context *outer = &w->outer;
  const hp_builder *b = &w->engine.builder;
  const hp_open_element *top = b->stack.top;
  uint8_t mode = b->stack.depth ? hp_adopted_mode(b) : outer->base_mode;
  bool html = b->stack.depth && top->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION);
  uint8_t ns = html ? HPAR_NAMESPACE_HTML : top->ns;
  outer->now.end = r->at;
  hp_worker_end_segment(w, &r->chunk->log, HP_ENDS_CLEAN);
  hp_begin_segment(w, r->at, mode, ns);
  while (outer->join < outer->join_count && outer->joins[outer->join] <= r->at)
    outer->joined[outer->join++] = r->chunk->log.segments.count;
}

static inline int next_token(hp_worker *w, hp_token *token) {
  if (__builtin_expect(!w->source.next, 1))
    return hp_next_token_inside(&w->engine.tokenizer, token, w->engine.builder.stack.top->name);
  *token = *w->source.next(w->source.context);
  return token->kind;
}

/* Returns the offset up to which plain tokens may be built in one loop. */
static uint32_t plain_limit(const chunk_run *r) {
  const hp_outer_context *outer = &r->worker->outer;
  uint32_t limit = r->at + CHECK_BYTES < r->chunk->limit ? r->at + CHECK_BYTES : r->chunk->limit;
  if (outer->ask_at < limit) limit = outer->ask_at;
  return outer->join < outer->join_count && outer->joins[outer->join] < limit ? outer->joins[outer->join] : limit;
}

/* Builds the next tokens. `*kind` is the kind of a token that the caller has to look at, or
 * HP_TOKEN_NEED_MORE. */
static inline hp_plain_end build_plain_tokens(chunk_run *r, int *kind) {
  hp_worker *w = r->worker;
  hp_outer_context *outer = &w->outer;
  const char *text = w->engine.tokenizer.base;
  if (r->at - outer->now.start >= outer->checkpoint_bytes) w->engine.builder.stack.entries[0].kind = HP_OPEN_OTHER;
  const char *limit = text + plain_limit(r);
  hp_plain_run plain = hp_speculative_plain_tokens(&w->engine.builder, r->token, limit);
  if (plain.tokens) {
    r->at = (uint32_t)(plain.from - text);
    outer->now.tokens += plain.tokens;
  }
  if (hp_speculative_of(&w->engine.builder)->has_raw_text) r->may_restart = false;
  *kind = plain.kind;
  if (plain.end == HP_PLAIN_OVER && outer->poisoned) {
    outer->now.tokens--; /* the last token is part of no segment */
    hp_give_segment_up(w, &r->chunk->log, r->token->end);
  }
  return plain.end;
}

/* Returns whether the current node has raw text of which the worker has built nothing. */
static bool is_at_raw_text(const hp_worker *w) {
  const hp_builder *b = &w->engine.builder;
  return b->mode == HP_IN_TEXT && !hp_ignores_lf(b) && b->stack.depth &&
         !hp_node_at(b->base, b->stack.top->node)->first;
}

/* Counts the bytes of the token at which the chunk ends as wasted. The token may be as long as the
 * rest of the page, and begin again in each later chunk. */
static void note_waste(chunk_run *r) {
  hp_worker *w = r->worker;
  const hp_tokenizer *tokenizer = &w->engine.tokenizer;
  w->done += r->at - r->chunk->cut;
  if (w->source.next) return;
  w->wasted_bytes += (uint64_t)(tokenizer->end - tokenizer->base) - r->at;
  if (wastes_bytes(w)) w->saturated = true;
}

/* The tokenizer needs more input: widens it, or leaves the token to the merger. */
static progress widen_or_stop(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_chunk_result *chunk = r->chunk;
  if (!w->source.next && widen_input(&w->engine.tokenizer, r->request, chunk)) return CONTINUE;
  note_waste(r);
  w->outer.now.begins_raw_text = is_at_raw_text(w);
  bool clean = is_at_boundary(w) || w->outer.now.begins_raw_text;
  chunk->cut_short = true;
  chunk->is_complete = clean;
  w->outer.now.end = r->at;
  if (!clean) w->outer.poisoned = HP_HAZARD_INPUT_TO_COME;
  hp_worker_end_segment(w, &chunk->log, clean ? HP_ENDS_CLEAN : HP_ENDS_HAZARD);
  return STOP;
}

/* Ends the run at raw text without an end. */
static progress stop_in_text(chunk_run *r) {
  hp_worker *w = r->worker;
  note_waste(r);
  w->outer.poisoned = HP_HAZARD_UNENDED_TEXT;
  w->outer.now.end = r->token->end;
  hp_worker_end_segment(w, &r->chunk->log, HP_ENDS_HAZARD);
  return STOP;
}

static bool ends_raw_text(const hp_token *t, bool scripting) {
  return t->kind == HP_TOKEN_END_TAG &&
         ((hp_html_tag(t->name) & HP_TAG_RAW_TEXT) || (t->name == HP_ATOM_NOSCRIPT && scripting));
}

/* Discards the hypothesis' segments and begins it after the token. */
// HPar 4.2.1(c)
static void restart(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_chunk_result *chunk = r->chunk;
  hp_worker_cut_log(w, &chunk->log, r->hypothesis->segment);
  r->checked_segments = r->hypothesis->segment;
  hp_speculative_clear(&w->engine.builder);
  r->hypothesis->first = r->token->end;
  chunk->outcome.respeculations++;
  chunk->outcome.bytes_respeculated += r->token->end - chunk->cut;
  w->outer.confident = 1u << HP_ASSUME_FORMATTING_CLEAN;
  w->outer.form_may_be_open = hp_chooses_dispositions(r->plan->strategy);
  hp_begin_segment(w, r->token->end, HP_IN_BODY, HPAR_NAMESPACE_HTML);
  w->outer.fostered = false;
  r->may_restart = false;
}

/* Ends the segment with the first half of the token, which the merger runs. Then builds the rest of
 * the token. */
static void split_token(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_builder *b = &w->engine.builder;
  hp_outer_context *outer = &w->outer;
  hp_log *log = &r->chunk->log;
  bool row = hp_splits_row(r->token);
  uint32_t confident = outer->confident;
  /* The worker's open elements belong to the outer context now. */
  if (b->stack.depth && !row) confident = (confident & ~hp_questions_reopened(b, NULL)) | hp_questions_of(b, r->token);
  outer->now.end = r->at; /* "</>" may precede the token's own start */
  hp_worker_end_segment(w, log, HP_ENDS_SPLIT);
  if (is_start(r->token, HP_ATOM_A)) hp_speculative_of(b)->outer_a_likely = false;
  /* The next segment has the errors of the token. */
  log->segments.items[log->segments.count - 1].observed_to.errors = r->errors_before;
  if (row) outer->fostered = false;
  hp_begin_segment(w, r->at, row ? HP_IN_TABLE_BODY : outer->base_mode, b->stack.entries[0].ns);
  outer->confident = confident;
  hp_speculative_of(b)->likely_false &= ~confident;
  outer->disposition = HP_DISPOSITION_LOCAL;
  hp_speculative_token(b, r->token);
}

/* Predicts the mode and the namespace of the outer context after the merger runs the deferred
 * token. */
static void predict_outer_context(chunk_run *r, uint8_t *mode, uint8_t *ns) {
  hp_worker *w = r->worker;
  hp_builder *b = &w->engine.builder;
  const hp_strategy *strategy = r->plan->strategy;
  if (strategy->mode_after) {
    w->outer.fostered = false;
    *mode = strategy->mode_after(w, *mode, r->token);
  } else {
    hp_predict_mode_after(b, r->token, mode);
  }
  hp_predict_namespace_after(b, r->token, mode, ns);
}

/* Ends the segment with the token, which the merger runs. */
static progress defer_token(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_outer_context *outer = &w->outer;
  hp_log *log = &r->chunk->log;
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  const hp_token *t = r->token;
  uint8_t mode = outer->base_mode, ns = w->engine.builder.stack.entries[0].ns;
  if (r->predicts_mode) predict_outer_context(r, &mode, &ns);
  outer->now.end = t->start;
  hp_worker_end_segment(w, log, HP_ENDS_DEFER);
  if (is_end(t, HP_ATOM_A)) hp_speculative_of(&w->engine.builder)->outer_a_likely = false;
  if (t->kind == HP_TOKEN_EOF) {
    note_waste(r);
    return STOP;
  }
  bool start = t->kind == HP_TOKEN_START_TAG;
  tokenizer->content = start ? hp_text_state_of(t->name, r->request->scripting) : HP_TEXT_STATE_DATA;
  if (hp_sees_each_token(r->plan->strategy)) hp_skip_raw_text(tokenizer);
  do
    if (!hp_log_raw_text(w, log, t->name)) return STOP;
  while (tokenizer->content != HP_TEXT_STATE_DATA && !w->source.next && widen_input(tokenizer, r->request, r->chunk));
  hp_begin_segment(w, hp_tokenizer_offset(&w->engine.tokenizer), mode, ns);
  if (!outer->minimise_log || tokenizer->content != HP_TEXT_STATE_DATA) return CONTINUE;
  uint32_t checked = r->checked_segments;
  bool pays_off = log_pays_off(log, &checked);
  r->checked_segments = checked;
  if (pays_off) return CONTINUE;
  end_early(r);
  return STOP;
}

/* Counts the token, unless it poisons the segment. Ends the segment if that is long enough.
 * Otherwise lets the fused loop build the next tokens at the outer level, too. */
static void count_token(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_builder *b = &w->engine.builder;
  hp_outer_context *outer = &w->outer;
  hp_log *log = &r->chunk->log;
  hp_outer_check_mode(outer, b);
  if (outer->poisoned) {
    hp_give_segment_up(w, log, r->token->end);
    return;
  }
  outer->now.tokens++;
  if (b->stack.depth == 0 && r->token->end - outer->now.start >= outer->checkpoint_bytes && b->formatting.count == 0 &&
      b->templates.count == 0 && is_between_tokens(b)) {
    uint8_t ns = b->stack.entries[0].ns;
    outer->now.end = r->token->end;
    hp_worker_end_segment(w, log, HP_ENDS_CLEAN);
    hp_begin_segment(w, r->token->end, outer->base_mode, ns);
    if (r->plan->strategy->one_by_one) outer->confident = 0;
  } else if (b->stack.depth == 0 && r->fast_path) {
    b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
  }
}

static progress end_token(chunk_run *r) {
  const hp_outer_context *outer = &r->worker->outer;
  if (outer->disposition == HP_DISPOSITION_SPLIT) split_token(r);
  if (outer->disposition == HP_DISPOSITION_DEFER) return defer_token(r);
  count_token(r);
  return CONTINUE;
}

/* Processes a token, or a run of tokens. */
static progress step(chunk_run *r) {
  hp_worker *w = r->worker;
  hp_builder *b = &w->engine.builder;
  hp_outer_context *outer = &w->outer;
  r->at = hp_tokenizer_offset(&w->engine.tokenizer);
  if (__builtin_expect(r->at >= r->note_at, 0)) r->note_at = hp_worker_note_progress(w, r->at);
  if (is_at_end(r)) return STOP;
  if (outer->join < outer->join_count && r->at >= outer->joins[outer->join] && is_at_boundary(w)) join(r);
  r->errors_before = r->chunk->log.errors.count;
  hp_engine_check(&w->engine);
  int kind;
  hp_plain_end end = HP_PLAIN_LEFT;
  if (r->fast_path && r->at < outer->ask_at)
    end = build_plain_tokens(r, &kind);
  else
    kind = next_token(w, r->token);
  if (end == HP_PLAIN_OVER) return CONTINUE;
  if (end != HP_PLAIN_LEFT) return end_token(r);
  if (kind == HP_TOKEN_NEED_MORE) return widen_or_stop(r);
  if (b->mode == HP_IN_TEXT) {
    r->may_restart = false; /* the chunk has raw text of its own */
    if (r->token->kind == HP_TOKEN_EOF) return stop_in_text(r);
  } else {
    if (r->may_restart && ends_raw_text(r->token, r->request->scripting) && b->stack.top->ns == HPAR_NAMESPACE_HTML)
      return RESTART;
    if (r->stops && r->stops(w, r->request, r->token, r->chunk)) return STOP;
  }
  hp_speculative_token(b, r->token);
  return end_token(r);
}

void hp_run_chunk(hp_worker *w, const hp_request *request, const hp_plan *plan, bool may_restart,
                  hp_start_hypothesis *hypothesis, hp_chunk_result *chunk) {
  const hp_strategy *strategy = plan->strategy;
  hp_token token;
  chunk_run run = begin_run(w, request, plan, may_restart, hypothesis, chunk, &token);
  w->outer.disposition = HP_DISPOSITION_LOCAL;
  w->outer.ask_at = plan->ask_every ? run.begin : UINT32_MAX;
  w->outer.minimise_log = run.predicts_mode && hp_chooses_dispositions(strategy);
  w->outer.checkpoint_bytes = strategy->one_by_one ? 0 : plan->checkpoint_bytes;
  hp_speculative_of(&w->engine.builder)->has_raw_text = false;
  hp_speculative_of(&w->engine.builder)->outer_a_likely =
      w->outer.minimise_log && hp_follows_open_a(w->engine.tokenizer.base, run.begin);
  w->outer.p_search_from = w->outer.minimise_log ? run.begin : 0;
  hp_speculative_of(&w->engine.builder)->likely_false =
      w->outer.p_search_from ? 1u << HP_ASSUME_NO_P_IN_BUTTON_SCOPE : 0;
  if (!w->source.next) {
    w->engine.tokenizer.end = w->engine.tokenizer.at;
    widen_input(&w->engine.tokenizer, request, chunk);
  }
  for (;;) {
    progress after = step(&run);
    if (after == STOP) return;
    if (after == RESTART) restart(&run);
  }
}
