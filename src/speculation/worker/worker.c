#include "speculation/worker/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vector.h"
#include "html/dom/tag.h"
#include "html/tokenizer/content.h"
#include "speculation/start/prescan.h"

void hp_worker_open(hp_worker *w, const hp_request *task, bool fragment, const hp_open_element *context) {
  hp_engine_open(&w->engine, task);
  hp_builder *b = &w->engine.builder;
  b->outer = &w->outer;
  b->fragment = fragment;
  b->context = *context;
  w->engine.tokenizer.foreign = hp_speculative_adjusted_current_node_is_foreign;
  w->nanoseconds = w->predict_nanoseconds = 0;
}

void hp_worker_close(hp_worker *w) {
  for (hp_chunk_work *work = w->works, *next; work; work = next) {
    next = work->next;
    hp_log_free(&work->log);
    hp_free(work);
  }
  if (w->stages) hp_stages_close(w->stages);
  hp_free(w->stages);
  hp_engine_close(&w->engine);
}

hp_chunk_work *hp_worker_next_work(hp_worker *w) {
  hp_chunk_work **next = w->work ? &w->work->next : &w->works;
  if (!*next) *next = hp_allocate_zeroed(sizeof **next);
  if (!*next) return NULL;
  w->work = *next;
  w->work->hypothesis_count = w->work->taken = 0;
  w->work->truth_known = false;
  return w->work;
}

static hp_ref new_anchor(hp_builder *b) {
  hp_node *anchor = hp_arena_take(b->nodes, sizeof *anchor);
  memset(anchor, 0, sizeof *anchor);
  anchor->kind = HP_NODE_ANCHOR;
  return hp_ref_of(b->base, anchor);
}

/* With empty hands, at a token boundary. */
static void begin_segment(hp_worker *w, uint32_t offset, uint8_t base_mode, uint8_t ns) {
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  hp_ref anchor = b->stack[0].node;
  if (!anchor || hp_node_at(b->base, anchor)->first) anchor = new_anchor(b);
  memset(s, 0, sizeof *s);
  s->start = s->end = offset;
  s->anchor = anchor;
  s->modes = ~0u;
  s->base_mode = base_mode;
  s->ns = ns;
  b->stack[0] = (hp_open_element){.node = anchor, .ns = ns};
  b->mode = base_mode;
  b->frameset_ok = true;
  b->form = 0;
  b->form_known = false;
  b->node_count = 0;
  b->assumed = 0;
  memset(b->ark_asked, 0, sizeof b->ark_asked);
  b->foreign_base = ns != HPAR_NAMESPACE_HTML;
  w->outer.base_mode = base_mode;
  w->outer.poisoned = HPAR_HAZARD_NONE;
}

static void let_go(hp_builder *b) {
  hp_speculative_clear_stack(b);
  b->formatting_count = 0;
  b->template_count = 0;
  b->foster_parenting = false;
  b->ignore_lf = false;
  b->prepared = false;
}

static void end_segment(hp_worker *w, hp_log *log, hp_segment_end ends) {
  hp_unwind *unwind = &w->engine.unwind;
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  s->ends = (uint8_t)ends;
  s->hazard = w->outer.poisoned;
  if (!hp_node_at(b->base, s->anchor)->first) s->anchor = 0; /* the next segment may use it */
  s->errors_end = log->errors.count;
  s->questions = b->assumed;
  s->open = log->open_count;
  s->formatting = log->formatting_count;
  s->template_modes = log->template_count;
  if (ends != HP_ENDS_HAZARD) {
    s->mode = b->mode;
    s->mode_is_base = b->mode == s->base_mode && !b->last[HP_TEMPLATE];
    s->frameset_not_ok = !b->frameset_ok;
    s->form_written = b->form_known;
    s->form = b->form;
    s->nodes = b->node_count;
    s->open_count = b->depth;
    s->formatting_count = b->formatting_count;
    s->template_count = b->template_count;
    hp_grow(&log->open, &log->open_capacity, log->open_count + b->depth, unwind);
    if (b->depth) memcpy(log->open + log->open_count, b->stack + 1, b->depth * sizeof *b->stack);
    log->open_count += b->depth;
    hp_grow(&log->formatting, &log->formatting_capacity, log->formatting_count + b->formatting_count, unwind);
    if (b->formatting_count)
      memcpy(log->formatting + log->formatting_count, b->formatting, b->formatting_count * sizeof *b->formatting);
    log->formatting_count += b->formatting_count;
    hp_grow(&log->template_modes, &log->template_capacity, log->template_count + b->template_count, unwind);
    if (b->template_count) memcpy(log->template_modes + log->template_count, b->template_modes, b->template_count);
    log->template_count += b->template_count;
    if (ends == HP_ENDS_DEFER || ends == HP_ENDS_SPLIT) {
      hp_grow(&log->tokens, &log->token_capacity, log->token_count + 1, unwind);
      s->token = log->token_count;
      log->tokens[log->token_count++] = w->outer.token;
    }
  }
  hp_grow(&log->segments, &log->segment_capacity, log->segment_count + 1, unwind);
  log->segments[log->segment_count++] = *s;
  w->outer.confident &= ~hp_unsettled(b, ends == HP_ENDS_DEFER ? &w->outer.token : NULL);
  let_go(b);
  if (s->anchor) b->stack[0].node = 0; /* it is the log's, which another thread may take up */
}

void hp_worker_end_segment(hp_worker *w, hp_log *log, hp_segment_end ends) { end_segment(w, log, ends); }

void hp_worker_resume(hp_worker *w, const hp_request *task, hp_log *log) {
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  let_go(b);
  *s = log->segments[--log->segment_count];
  if (!s->anchor) s->anchor = new_anchor(b);
  b->stack[0] = (hp_open_element){.node = s->anchor, .ns = s->ns};
  b->foreign_base = s->ns != HPAR_NAMESPACE_HTML;
  b->assumed = s->questions;
  memset(b->ark_asked, 0, sizeof b->ark_asked);
  w->outer.base_mode = s->base_mode;
  w->outer.poisoned = HPAR_HAZARD_NONE;
  for (uint32_t i = 0; i < s->open_count; i++) hp_exact_push(b, &log->open[s->open + i]);
  hp_grow(&b->formatting, &b->formatting_capacity, s->formatting_count, b->unwind);
  b->formatting_count = s->formatting_count;
  if (b->formatting_count)
    memcpy(b->formatting, log->formatting + s->formatting, s->formatting_count * sizeof *b->formatting);
  hp_grow(&b->template_modes, &b->template_capacity, s->template_count, b->unwind);
  b->template_count = s->template_count;
  if (b->template_count) memcpy(b->template_modes, log->template_modes + s->template_modes, s->template_count);
  b->mode = s->mode;
  b->frameset_ok = !s->frameset_not_ok;
  b->form = s->form;
  b->form_known = s->form_written;
  b->node_count = s->nodes;
  s->open_count = s->formatting_count = s->template_count = 0;
  log->open_count = s->open;
  log->formatting_count = s->formatting;
  log->template_count = s->template_modes;
  log->errors.limit = log->errors.count + task->max_errors;
  log->errors.unwind = &w->engine.unwind;
  b->errors = task->max_errors ? &log->errors : NULL;
}

static uint32_t offset_of(const hp_tokenizer *tokenizer) { return (uint32_t)(tokenizer->at - tokenizer->base); }

/* Raw text that is the merger's: on to its end. */
static void skip_raw_text(hp_tokenizer *tokenizer) {
  hp_token token;
  hp_errors *errors = tokenizer->errors;
  tokenizer->errors = NULL;
  int kind = HPAR_TOKEN_TEXT;
  while (tokenizer->content != HP_CONTENT_DATA && kind != HPAR_TOKEN_EOF && kind != HP_TOKEN_NEED_MORE)
    kind = hp_next_token(tokenizer, &token);
  tokenizer->errors = errors;
}

/* Raw text that a replayed tag has begun, as far as it has come, and its end tag: nothing in it depends on BASE but
 * whether it is raw text. False at the end of the input. */
static bool log_raw_text(hp_worker *w, hp_log *log, hp_atom name) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  struct hp_outer_context *outer = &w->outer;
  uint32_t confident = outer->confident;
  while (tokenizer->content != HP_CONTENT_DATA) {
    uint32_t at = offset_of(tokenizer);
    hp_engine_check(&w->engine);
    if (hp_next_token(tokenizer, &outer->token) == HP_TOKEN_NEED_MORE) break;
    begin_segment(w, at, outer->base_mode, w->engine.builder.stack[0].ns);
    outer->now.raw_name = name;
    outer->now.end = outer->token.start;
    end_segment(w, log, HP_ENDS_DEFER);
    outer->confident = confident;
    if (outer->token.kind == HPAR_TOKEN_EOF) return false;
  }
  return true;
}

/* Raw text that the chunk begins in is the merger's. If it fills all of the chunk, nothing is left to parse. */
static bool skip_raw_text_before(hp_tokenizer *tokenizer, const char *limit) {
  hp_token token;
  const char *end = tokenizer->end;
  bool last = tokenizer->last;
  int kind = HPAR_TOKEN_TEXT;
  tokenizer->end = limit;
  tokenizer->last = last && limit == end;
  while (tokenizer->content != HP_CONTENT_DATA && kind != HPAR_TOKEN_EOF && kind != HP_TOKEN_NEED_MORE)
    kind = hp_next_token(tokenizer, &token);
  tokenizer->end = end;
  tokenizer->last = last;
  return kind != HP_TOKEN_NEED_MORE;
}

/* On behind the tag that the chunk begins inside, where `quote` is open, or 0. False: it does not end before `limit`.
 */
static bool skip_tag(hp_tokenizer *tokenizer, const char *limit, char quote) {
  char before = 0;
  for (const char *at = tokenizer->at; at < limit; at++) {
    char c = *at;
    if (quote) {
      at = memchr(at, quote, (size_t)(limit - at));
      if (!at) return false;
      before = quote;
      quote = 0;
    } else if (c == '>') {
      tokenizer->at = at + 1;
      return true;
    } else if ((c == '"' || c == '\'') && before == '=') {
      quote = c;
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f') {
      before = c;
    }
  }
  return false;
}

/* The tag may have begun raw text that is empty. */
static void skip_raw_text_end(hp_tokenizer *tokenizer, bool scripting) {
  const char *at = tokenizer->at, *end = tokenizer->end;
  if (end - at < 3 || at[0] != '<' || at[1] != '/' || !hp_raw_text_name(at + 2, end, scripting)) return;
  const char *close = memchr(at, '>', (size_t)(end - at));
  if (close) tokenizer->at = close + 1;
}

/* False: the comment does not end before `limit`. */
static bool skip_comment(hp_tokenizer *tokenizer, const char *limit) {
  const char *from = tokenizer->at, *at = from;
  while ((at = memchr(at, '>', (size_t)(limit - at)))) {
    at++;
    if ((at - from >= 3 && at[-2] == '-' && at[-3] == '-') ||
        (at - from >= 4 && at[-2] == '!' && at[-3] == '-' && at[-4] == '-')) {
      tokenizer->at = at;
      return true;
    }
  }
  return false;
}

static bool ends_raw_text(const hp_token *t, bool scripting) {
  return t->kind == HPAR_TOKEN_END_TAG &&
         ((hp_html_tag(t->name) & HP_TAG_RAW_TEXT) || (t->name == HP_NOSCRIPT && scripting));
}

void hp_worker_clear(hp_worker *w, const hp_request *task, hp_chunk_work *chunk) {
  hp_log_clear(&chunk->log);
  chunk->log.errors.limit = task->max_errors;
  chunk->log.errors.unwind = &w->engine.unwind;
  chunk->hypothesis_count = 0;
  w->outer.join_count = w->outer.join = 0;
  chunk->hypotheses[0] = (hp_start_hypothesis){.first = HP_NO_SEGMENT};
  chunk->taken = 0;
  chunk->cut_short = false;
  memset(&chunk->outcome, 0, sizeof chunk->outcome);
  memset(&chunk->guess, 0, sizeof chunk->guess);
}

hp_start_state hp_worker_predict(hp_worker *w, const hp_request *task, const hp_plan *plan,
                                 const hp_chunk_work *chunk) {
  hp_start_state state = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  if (!plan->predictor->predict && !plan->mode_predictor->predict) return state;
  uint64_t begin = hp_now();
  if (plan->predictor->predict) plan->predictor->predict(plan, task, chunk, &state);
  if (plan->mode_predictor->predict) plan->mode_predictor->predict(plan, task, chunk, &state);
  w->predict_nanoseconds += hp_now() - begin;
  return state;
}

/* To the first token boundary in the data state. False if there is none before `limit`. */
static bool find_start(hp_tokenizer *tokenizer, const hp_start_state *state, const char *limit, bool scripting) {
  tokenizer->content = HP_CONTENT_DATA;
  if (state->first) {
    if (state->first != HP_START_BEYOND) tokenizer->at = tokenizer->base + state->first;
    return state->first != HP_START_BEYOND;
  }
  bool found = true;
  switch (state->inside) {
    case HP_INSIDE_COMMENT: return skip_comment(tokenizer, limit);
    case HP_INSIDE_TAG: found = skip_tag(tokenizer, limit, 0); break;
    case HP_INSIDE_DOUBLE_QUOTES: found = skip_tag(tokenizer, limit, '"'); break;
    case HP_INSIDE_SINGLE_QUOTES: found = skip_tag(tokenizer, limit, '\''); break;
    default: break;
  }
  if (state->inside) {
    if (found) skip_raw_text_end(tokenizer, scripting);
    return found;
  }
  tokenizer->content = state->content;
  if (tokenizer->content == HP_CONTENT_DATA) return true;
  tokenizer->last_start_tag = state->raw_name;
  found = skip_raw_text_before(tokenizer, limit);
  tokenizer->content = HP_CONTENT_DATA;
  return found;
}

/* The segment, poisoned by the token that ends there, which the next one does not count. */
static void give_up(hp_worker *w, hp_log *log, uint32_t end) {
  struct hp_outer_context *outer = &w->outer;
  uint8_t mode = outer->base_mode, ns = w->engine.builder.stack[0].ns;
  outer->now.end = end;
  end_segment(w, log, HP_ENDS_HAZARD);
  skip_raw_text(&w->engine.tokenizer);
  begin_segment(w, offset_of(&w->engine.tokenizer), mode, ns);
  outer->now.tokens--;
}

/* The mode that BASE has when it is given what the worker has open. */
static uint8_t worker_mode(const hp_builder *b) {
  return b->mode == HP_IN_CELL || b->mode == HP_IN_CAPTION || b->mode == HP_IN_TEXT ? HP_IN_BODY : b->mode;
}

static bool in_table_mode(uint8_t mode) { return mode == HP_IN_TABLE || mode == HP_IN_TABLE_BODY || mode == HP_IN_ROW; }

static bool is_table_part(const hp_token *t) {
  switch (t->name) {
    case HP_TABLE:
    case HP_CAPTION:
    case HP_COL:
    case HP_COLGROUP:
    case HP_TBODY:
    case HP_THEAD:
    case HP_TFOOT:
    case HP_TR:
    case HP_TD:
    case HP_TH: return t->kind == HPAR_TOKEN_START_TAG || t->kind == HPAR_TOKEN_END_TAG;
    default: return false;
  }
}

/* At a tag, so that no line feed is next. */
static bool at_tag(const hp_tokenizer *tokenizer) {
  const char *at = tokenizer->at;
  if (tokenizer->end - at < 3 || *at != '<') return false;
  at += at[1] == '/' ? 2 : 1;
  return (unsigned char)((*at | 0x20) - 'a') < 26;
}

/* Where other readings become this one a segment ends, whatever is open. */
static void join(hp_worker *w, hp_log *log, uint32_t at) {
  struct hp_outer_context *outer = &w->outer;
  const hp_builder *b = &w->engine.builder;
  const hp_open_element *top = b->top;
  uint8_t mode = b->depth ? worker_mode(b) : outer->base_mode;
  bool html = b->depth && top->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION);
  uint8_t ns = html ? HPAR_NAMESPACE_HTML : top->ns;
  outer->now.end = at;
  end_segment(w, log, HP_ENDS_CLEAN);
  begin_segment(w, at, mode, ns);
  while (outer->join < outer->join_count && outer->joins[outer->join] <= at)
    outer->joined[outer->join++] = log->segment_count;
}

static inline int next_token(hp_worker *w, hp_token *token) {
  if (__builtin_expect(!w->pipelined, 1)) return hp_next_token(&w->engine.tokenizer, token);
  *token = *hp_stages_next(w->stages);
  return token->kind;
}

/* An entry of the log costs as much as some tokens that make no node, or fewer that do. Where there is less to an
 * entry, as among end tags that close nothing, the merger is faster alone. Looked at every so many, from segment
 * `*from` on. */
static bool is_worth_it(const hp_log *log, uint32_t *from) {
  enum { LOOK = 64, LEAST = 8, NODE = 3, BYTES = 64 };
  uint32_t count = log->segment_count - *from;
  if (count < LOOK) return true;
  uint64_t gained = 0;
  for (const hp_segment *s = log->segments + *from; s < log->segments + log->segment_count; s++)
    gained += s->tokens + NODE * s->nodes + (s->end - s->start) / BYTES;
  *from = log->segment_count;
  return gained > (uint64_t)LEAST * count;
}

/* Names that nobody has met yet are entered under a lock. Where they are all there is, threads wait for each other. */
static bool names_are_dear(const hp_worker *w, uint32_t names_before, uint32_t bytes) {
  enum { FEW = 64, BYTES = 32 };
  uint32_t names = w->engine.interner.used - names_before;
  return names > FEW && names > bytes / BYTES;
}

/* The rest of the chunk is left to the merger. */
static void end_early(hp_worker *w, hp_log *log, hp_chunk_work *chunk) {
  end_segment(w, log, HP_ENDS_CLEAN);
  chunk->cut_short = true;
}

/* A token may end so far behind what the worker has before it, and as far again as that is long: what reaches further
 * would be gone over by every worker in whose chunk such a one begins. */
enum { BEYOND = 32 << 10 };

/* What the tokenizer may look at. False: no more than before. */
static bool widen(hp_tokenizer *tokenizer, const hp_request *task, const hp_chunk_work *chunk) {
  const char *all = task->text + task->length, *from = tokenizer->base + chunk->reach;
  size_t bytes = BEYOND + (chunk->reach - chunk->cut);
  if (tokenizer->at > from) from = tokenizer->at;
  const char *end = (size_t)(all - from) > bytes ? from + bytes : all;
  if (end <= tokenizer->end) return false;
  tokenizer->end = end;
  tokenizer->last = end == all && !task->more;
  return true;
}

/* What was looked at behind the chunks in vain is more than what was done of them. */
static bool is_in_vain(const hp_worker *w) { return w->wasted_bytes > 2 * BEYOND && w->wasted_bytes > w->done; }

enum { STRIDE = 4 << 10 }; /* bytes between two looks at names */

static void run(hp_worker *w, const hp_request *task, const hp_plan *plan, bool context, hp_start_hypothesis *reading,
                hp_chunk_work *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_builder *b = &w->engine.builder;
  struct hp_outer_context *outer = &w->outer;
  hp_log *log = &chunk->log;
  hp_token token;
  bool after_replay = plan->mode_predictor->after_replay, one_by_one = plan->strategy->one_by_one;
  size_t checkpoint_bytes = one_by_one ? 0 : plan->checkpoint_bytes;
  bool (*stops)(hp_worker *, const hp_request *, const hp_token *, hp_chunk_work *) = plan->strategy->stops;
  bool quick = !stops && !b->errors && !outer->join_count && !w->pipelined && !hp_engine_is_limited(&w->engine);
  uint32_t looked = log->segment_count;
  uint32_t begin = offset_of(tokenizer), names = w->engine.interner.used;
  outer->disposition = HP_DISPOSITION_LOCAL;
  outer->minimise_log = after_replay && !stops && !one_by_one;
  if (!w->pipelined) {
    tokenizer->end = tokenizer->at;
    widen(tokenizer, task, chunk);
  }
  for (;; outer->now.tokens++) {
    uint32_t at = offset_of(tokenizer);
    while (at >= chunk->limit && hp_chunk_goes_on(chunk)) {
    }
    if (at >= chunk->limit && b->mode != HP_IN_TEXT && (!b->ignore_lf || at_tag(tokenizer)) &&
        tokenizer->content == HP_CONTENT_DATA) {
      outer->now.end = at;
      end_segment(w, log, HP_ENDS_CLEAN);
      w->done += at - chunk->cut;
      return;
    }
    if (outer->minimise_log && names_are_dear(w, names, at - begin) && b->mode != HP_IN_TEXT && !b->ignore_lf &&
        tokenizer->content == HP_CONTENT_DATA) {
      outer->now.end = at;
      end_early(w, log, chunk);
      w->saturated = true;
      return;
    }
    if (outer->join < outer->join_count && at >= outer->joins[outer->join] && b->mode != HP_IN_TEXT && !b->ignore_lf &&
        tokenizer->content == HP_CONTENT_DATA)
      join(w, log, at);
    uint32_t errors = log->errors.count;
    hp_engine_check(&w->engine);
    int kind = next_token(w, &token);
    if (quick && kind != HP_TOKEN_NEED_MORE) {
      /* Most tokens by far are here. */
      uint32_t limit = at + STRIDE < chunk->limit ? at + STRIDE : chunk->limit;
      hp_plain_run plain = hp_speculative_plain_tokens(b, &token, tokenizer->base + limit);
      if (plain.tokens) {
        at = (uint32_t)(plain.from - tokenizer->base);
        outer->now.tokens += plain.tokens;
      }
      if (plain.is_over) {
        outer->now.tokens--;
        if (outer->poisoned) give_up(w, log, token.end);
        continue;
      }
      kind = plain.kind;
    }
    if (kind == HP_TOKEN_NEED_MORE) {
      if (!w->pipelined && widen(tokenizer, task, chunk)) {
        outer->now.tokens--;
        continue;
      }
      w->done += at - chunk->cut;
      if (!tokenizer->last) w->wasted_bytes += (uint64_t)(tokenizer->end - tokenizer->base) - at;
      if (is_in_vain(w)) w->saturated = true;
      bool clean = b->mode != HP_IN_TEXT && !b->ignore_lf && tokenizer->content == HP_CONTENT_DATA;
      chunk->cut_short = true;
      outer->now.end = at;
      if (!clean) outer->poisoned = HPAR_HAZARD_INPUT_TO_COME;
      end_segment(w, log, clean ? HP_ENDS_CLEAN : HP_ENDS_HAZARD);
      return;
    }
    if (b->mode == HP_IN_TEXT) {
      context = false; /* the chunk has raw text of its own */
      if (token.kind == HPAR_TOKEN_EOF) {
        outer->poisoned = HPAR_HAZARD_UNENDED_TEXT;
        outer->now.end = token.end;
        end_segment(w, log, HP_ENDS_HAZARD);
        return;
      }
    } else if (context && ends_raw_text(&token, task->scripting) && b->top->ns == HPAR_NAMESPACE_HTML) {
      /* HPar 4.2.1(c): the chunk began inside what this closes. */
      hp_log_cut(log, reading->segment);
      looked = reading->segment;
      let_go(b);
      reading->first = token.end;
      chunk->outcome.respeculations++;
      chunk->outcome.bytes_respeculated += token.end - chunk->cut;
      outer->confident = 1u << HPAR_ASSUME_FORMATTING_CLEAN;
      begin_segment(w, token.end, HP_IN_BODY, HPAR_NAMESPACE_HTML);
      outer->fostered = false;
      context = false;
      outer->now.tokens--;
      continue;
    }
    if (b->mode != HP_IN_TEXT && stops && stops(w, task, &token, chunk)) return;
    hp_speculative_token(b, &token);
    if (outer->disposition == HP_DISPOSITION_SPLIT) {
      uint32_t confident = outer->confident;
      outer->now.end = at; /* not where the token starts: "</>" may stand before it */
      end_segment(w, log, HP_ENDS_SPLIT);
      log->segments[log->segment_count - 1].errors_end = errors; /* the token's own are the next segment's */
      bool row = hp_splits_row(&token);
      if (row) outer->fostered = false;
      begin_segment(w, at, row ? HP_IN_TABLE_BODY : outer->base_mode, b->stack[0].ns);
      outer->confident = confident;
      outer->disposition = HP_DISPOSITION_LOCAL;
      hp_speculative_token(b, &token);
    }
    if (outer->disposition == HP_DISPOSITION_DEFER) {
      uint8_t mode = outer->base_mode, ns = b->stack[0].ns;
      if (after_replay) {
        /* A start tag is run on top of what was open, and not all of it may be closed by it. */
        bool on_top = token.kind == HPAR_TOKEN_START_TAG && b->depth && !b->last[HP_TEMPLATE];
        if (on_top && !plan->strategy->mode_after) mode = worker_mode(b);
        outer->fostered = !plan->strategy->mode_after &&
                          ((outer->fostered && !is_table_part(&token)) || hp_is_fostered(mode, &token));
        mode =
            plan->strategy->mode_after ? plan->strategy->mode_after(w, mode, &token) : hp_predicted_mode(mode, &token);
        ns = hp_predicted_namespace(ns, b, &token);
        if (ns != HPAR_NAMESPACE_HTML && !in_table_mode(mode)) mode = HP_IN_BODY; /* a head holds nothing foreign */
        if (token.kind == HPAR_TOKEN_END_TAG && (ns != b->stack[0].ns || token.name == HP_SVG || token.name == HP_MATH))
          outer->outer_ns = HPAR_NAMESPACE_HTML;
      }
      outer->now.end = token.start;
      end_segment(w, log, HP_ENDS_DEFER);
      if (token.kind == HPAR_TOKEN_EOF) return;
      bool start = token.kind == HPAR_TOKEN_START_TAG;
      tokenizer->content = start ? hp_content_of(token.name, task->scripting) : HP_CONTENT_DATA;
      if (stops) skip_raw_text(tokenizer);
      if (!log_raw_text(w, log, token.name)) return;
      begin_segment(w, offset_of(tokenizer), mode, ns);
      outer->disposition = HP_DISPOSITION_LOCAL;
      if (outer->minimise_log && tokenizer->content == HP_CONTENT_DATA && !is_worth_it(log, &looked)) {
        end_early(w, log, chunk);
        return;
      }
      outer->now.tokens--;
      continue;
    }
    if (b->depth == 0 && b->mode != outer->base_mode && b->mode != HP_IN_TEXT && !outer->poisoned)
      outer->poisoned = HPAR_HAZARD_UNFORESEEN;
    if (outer->poisoned) {
      give_up(w, log, token.end);
      continue;
    }
    if (b->depth == 0 && token.end - outer->now.start >= checkpoint_bytes && b->formatting_count == 0 &&
        b->template_count == 0 && b->mode != HP_IN_TEXT && !b->ignore_lf) {
      uint8_t ns = b->stack[0].ns;
      outer->now.end = token.end;
      outer->now.tokens++;
      end_segment(w, log, HP_ENDS_CLEAN);
      begin_segment(w, token.end, outer->base_mode, ns);
      if (one_by_one) outer->confident = 0;
      outer->now.tokens--;
    }
  }
}

static hp_start_hypothesis *begin_reading(hp_worker *w, const hp_request *task, uint32_t from, hp_chunk_work *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_start_hypothesis *reading = &chunk->hypotheses[chunk->hypothesis_count++];
  reading->segment = chunk->log.segment_count;
  let_go(&w->engine.builder);
  tokenizer->errors = w->engine.builder.errors = NULL;
  tokenizer->at = tokenizer->base + from;
  tokenizer->searched = NULL; /* chunks come in any order */
  tokenizer->end = task->text + task->length;
  tokenizer->last = !task->more;
  tokenizer->content = HP_CONTENT_DATA;
  return reading;
}

static void read_on(hp_worker *w, const hp_request *task, const hp_plan *plan, uint8_t mode, uint8_t ns, bool context,
                    hp_start_hypothesis *reading, hp_chunk_work *chunk) {
  w->engine.tokenizer.errors = w->engine.builder.errors = task->max_errors ? &chunk->log.errors : NULL;
  reading->first = offset_of(&w->engine.tokenizer);
  w->outer.confident = 1u << HPAR_ASSUME_FORMATTING_CLEAN;
  w->outer.fostered = false;
  begin_segment(w, reading->first, mode, ns);
  run(w, task, plan, context, reading, chunk);
  reading->end = chunk->log.segment_count;
}

void hp_worker_speculate(hp_worker *w, const hp_request *task, const hp_plan *plan, const hp_start_state *state,
                         bool context, hp_chunk_work *chunk) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_start_hypothesis *reading = begin_reading(w, task, chunk->cut, chunk);
  if (find_start(tokenizer, state, tokenizer->base + chunk->reach, task->scripting)) {
    w->outer.outer_ns = state->outer_ns ? state->outer_ns : HPAR_NAMESPACE_HTML;
    read_on(w, task, plan, state->mode, state->ns, context, reading, chunk);
  } else {
    reading->first = HP_NO_SEGMENT;
    reading->end = reading->segment;
    while (hp_chunk_goes_on(chunk)) {
    }
  }
}

void hp_worker_read(hp_worker *w, const hp_request *task, const hp_plan *plan, uint32_t from, uint8_t mode, uint8_t ns,
                    hp_chunk_work *chunk) {
  w->outer.outer_ns = HPAR_NAMESPACE_HTML;
  read_on(w, task, plan, mode, ns, false, begin_reading(w, task, from, chunk), chunk);
}

void hp_worker_speculate_joined(hp_worker *w, const hp_request *task, const hp_plan *plan, const hp_start_state *state,
                                const uint32_t *places, uint32_t count, hp_chunk_work *chunk) {
  struct hp_outer_context *outer = &w->outer;
  uint32_t joined[HP_MAX_HYPOTHESES];
  if (count > HP_MAX_HYPOTHESES) count = HP_MAX_HYPOTHESES;
  outer->joins = places + 1;
  outer->joined = joined;
  outer->join = 0;
  outer->join_count = count - 1;
  hp_worker_speculate(w, task, plan, state, false, chunk);
  uint32_t end = chunk->hypotheses[0].end;
  for (uint32_t i = 1; i < count; i++)
    chunk->hypotheses[chunk->hypothesis_count++] =
        (hp_start_hypothesis){.first = places[i],
                              .segment = i - 1 < outer->join ? joined[i - 1] : end, // NOLINT: so many are set
                              .end = end};
  outer->join_count = 0;
}

/* Has the chunk ended in the body, and in HTML? */
static bool ended_in_html(const hp_worker *w, const hp_chunk_work *chunk) {
  const hp_log *log = &chunk->log;
  if (chunk->cut_short || !log->segment_count) return false;
  const hp_segment *s = &log->segments[log->segment_count - 1];
  if (s->ends != HP_ENDS_CLEAN || s->ns != HPAR_NAMESPACE_HTML || w->outer.outer_ns != HPAR_NAMESPACE_HTML)
    return false;
  if (s->base_mode != HP_IN_BODY && !in_table_mode(s->base_mode)) return false;
  for (uint32_t i = 0; i < s->open_count; i++)
    if (log->open[s->open + i].ns != HPAR_NAMESPACE_HTML) return false;
  return true;
}

static void parse(hp_worker *w, const hp_request *task, const hp_plan *plan, hp_chunk_work *chunk) {
  chunk->start = hp_worker_predict(w, task, plan, chunk);
  hp_worker_speculate(w, task, plan, &chunk->start, plan->predictor->context, chunk);
  if (plan->prescan && ended_in_html(w, chunk))
    hp_prescan_skip(plan->prescan, chunk->log.segments[chunk->log.segment_count - 1].end);
}

typedef struct chunk_parse {
  hp_worker *worker;
  const hp_request *request;
  const hp_plan *plan;
  hp_chunk_work *chunk;
} chunk_parse;

static hpar_status parse_as_planned(void *argument) {
  const chunk_parse *p = argument;
  const hp_strategy *strategy = p->plan->strategy;
  hp_worker_clear(p->worker, p->request, p->chunk);
  (strategy->parse ? strategy->parse : parse)(p->worker, p->request, p->plan, p->chunk);
  return HPAR_OK;
}

void hp_worker_parse(hp_worker *w, const hp_request *task, const hp_plan *plan, hp_chunk_work *chunk) {
  uint64_t begin = hp_now(), predicting = w->predict_nanoseconds;
  chunk_parse parse = {w, task, plan, chunk};
  chunk->failed = hp_try(&w->engine.unwind, parse_as_planned, &parse) != HPAR_OK;
  chunk->times.begin = begin;
  chunk->times.end = hp_now();
  chunk->times.prescan = w->predict_nanoseconds - predicting;
  w->nanoseconds += chunk->times.end - begin;
}
