/* The second stage: the tree builder, which takes tokens from the buffer. */

#include "base/process.h"
#include "study/pipelined/producer.h"
#include "tree/engine.h"

#include <hpar/study.h>

enum { ROLLBACK_COST = 512, ENOUGH_CREDIT = 8 << 10 }; /* bytes of credit */
enum { CDATA_QUESTIONS = HP_NOTE_CDATA | HP_NOTE_CDATA_PENDING };

static bool tokens_again(void *context) {
  hp_stages *s = context;
  return atomic_load(&s->ring.shared_tail) != s->ring.head;
}
static bool answered_again(void *context) { return !hp_is_asked_back(context); }

/* Waits for a token. Requires: all tokens before it are built. */
static void await_tokens(hp_stages *s) {
  if (s->ring.head != s->ring.head_shown) hp_ring_show_head(&s->ring);
  atomic_store(&s->drained, s->ring.head);
  if (!s->taking_turns) {
    hp_event_count_wake(&s->event_count);
    uint64_t begin = s->has_events ? hp_now() : 0;
    hp_stages_wait(s, &s->builder_waits, tokens_again);
    hp_stages_note(s, HP_EVENT_WAIT, 0, begin, s->engine->tokenizer.at);
    return;
  }
  s->builder_waits.count++;
  uint64_t begin = hp_now();
  if (hp_stages_run_ahead(s) == HP_STUCK_DRAINING && s->ring.tail == s->ring.head) {
    hp_stages_go_on_alone(s);
    hp_stages_run_ahead(s);
  }
  s->builder_waits.nanoseconds += hp_now() - begin;
}

/* Lets the tokenizer continue from the state of the engine, and drops the tokens in the buffer. */
static void request_rollback(hp_stages *s, unsigned known, hpar_pipeline_hazard hazard) {
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_snapshot *to = &s->snapshot;
  to->at = t->at;
  to->content = t->content;
  to->escape = t->escape;
  to->last_start_tag = t->last_start_tag;
  to->notes = known;
  to->feedback.depth = 0;
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&to->feedback, &s->engine->builder);
  if (s->at > s->credited) s->credit += s->at - s->credited;
  s->credited = t->at;
  if (t->at == s->at) s->credit -= ROLLBACK_COST;
  to->halt = s->alone_now = s->credit < 0;
  atomic_fetch_add(&s->request, 1);
  hp_event_count_wake(&s->event_count);
  if (s->taking_turns)
    hp_stages_roll_back(s);
  else if (hp_is_asked_back(s))
    hp_stages_wait(s, &s->builder_waits, answered_again);
  s->credit -= (int64_t)(s->wasted_bytes - s->debited_bytes);
  s->debited_bytes = s->wasted_bytes;
  s->was_dropped = s->dropped_so_far;
  s->dropped_so_far = s->bytes_dropped;
  s->dropped = s->resume - s->ring.head;
  s->tokens_dropped += s->dropped;
  hp_ring_drop_to(&s->ring, s->resume);
  if (!s->taking_turns) hp_event_count_wake(&s->event_count);
  s->found = NULL;
  if (s->at) s->rollbacks++;
  if (hazard < HPAR_PIPELINE_HAZARDS) s->rolled_back[hazard]++;
  t->searched = NULL;
  if (!s->alone_now) t->escape = HP_SCRIPT_PLAIN; /* the snapshot has it */
  s->at = s->alone_now ? NULL : t->at;
  s->content = t->content;
  s->notes = 0;
}

static void count_hazard(hp_stages *s, hpar_pipeline_hazard hazard, uint32_t at, bool rolled_back) {
  s->hazards[hazard]++;
  if (!s->parse_request->trace) return;
  hp_record_pipeline_event((hp_record *)s->parse_request->trace, /* its first member */
                           &(hpar_hazard_event){.hazard = hazard,
                                                .text_at = at,
                                                .rolled_back = rolled_back,
                                                .tokens_dropped = rolled_back ? s->dropped : 0,
                                                .bytes_dropped = rolled_back ? s->dropped_so_far - s->was_dropped : 0,
                                                .ns = hp_now()});
}

/* Rolls back after a script whose written text has moved the engine, or has left another content
 * state. */
static void roll_back_after_script(hp_stages *s) {
  uint64_t before = s->rollbacks;
  request_rollback(s, 0, HPAR_PIPELINE_HAZARDS);
  if (s->rollbacks == before) return;
  s->rollbacks_by_scripts++;
  s->bytes_dropped_by_scripts += s->dropped_so_far - s->was_dropped;
}

/* Checks the predictions of the last token, and rolls back if one was wrong or the engine has
 * moved. */
static __attribute__((noinline)) void check_predictions(hp_stages *s) {
  hpar_pipeline_hazard met[2];
  unsigned count = 0;
  const hp_tokenizer *t = &s->engine->tokenizer;
  const hp_builder *b = &s->engine->builder;
  hpar_pipeline_hazard hazard = HPAR_PIPELINE_HAZARDS;
  bool back = t->at != s->at || t->content != s->content;
  if (s->notes & HP_NOTE_RAW_TEXT) {
    hazard = hp_switch_hazard(b, s->name, t->content != HP_TEXT_STATE_DATA);
    met[count++] = hazard;
  }
  if ((s->notes & HP_NOTE_SELF_CLOSING) && hp_self_closing_acknowledged(b, s->name)) {
    met[count++] = HPAR_PIPELINE_SELF_CLOSING;
    if (!back && s->predictor == HP_PREDICT_OPTIMISTIC) {
      hazard = HPAR_PIPELINE_SELF_CLOSING;
      back = true;
    }
  }
  s->notes = 0;
  if (back && s->parse_request->runs_scripts && hazard == HPAR_PIPELINE_HAZARDS)
    roll_back_after_script(s);
  else if (back)
    request_rollback(s, 0, hazard);
  for (unsigned i = 0; i < count; i++) count_hazard(s, met[i], s->start, back && met[i] == hazard);
}

static void take_errors(hp_stages *s) {
  hp_errors *errors = s->engine->tokenizer.errors.list;
  const hp_token_errors *found = s->found;
  s->found = NULL;
  if (!errors) return;
  for (uint32_t i = 0; i < found->count; i++)
    hp_errors_add(errors, (hp_error_code)found->items[i].code, found->items[i].offset);
}

/* Reads the next token with the engine's own tokenizer, while speculation has debt. */
static __attribute__((noinline)) hp_token *read_alone(hp_stages *s) {
  hp_tokenizer *t = &s->engine->tokenizer;
  const char *from = t->at;
  bool whole = hp_next_token(t, &s->own) != HP_TOKEN_NEED_MORE;
  uint64_t bytes = (uint64_t)((whole ? t->at : t->end) - from);
  s->bytes_alone += bytes;
  s->credit += (int64_t)bytes;
  s->credited = t->at;
  /* The next token restarts the tokenizer thread. */
  if (s->credit >= ENOUGH_CREDIT) s->alone_now = false;
  return &s->own;
}

static inline void unpack(hp_stages *s, hp_packed packed) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  hp_unpack(&s->own, packed, (uint32_t)(t->at - t->base), t->base, s->engine->builder.base);
}

/* Processes slots up to the next token, and unpacks it. `packed` is the first slot, if there is
 * `any`. Returns false if the tree builder must read the token itself. */
static __attribute__((noinline)) bool next_slowly(hp_stages *s, hp_packed packed, bool any) {
  bool back = false;
  for (;; any = hp_ring_take(&s->ring, &packed)) {
    if (!any) {
      await_tokens(s);
    } else if (hp_packed_kind(packed) == HP_SLOT_ERRORS) {
      s->found = hp_at(s->engine->builder.base, hp_packed_ref(packed));
    } else if (hp_packed_kind(packed) == HP_SLOT_FAILED) {
      hp_unwind_now(&s->engine->unwind, s->unwind.status);
    } else {
      unsigned questions = hp_packed_notes(packed) & CDATA_QUESTIONS;
      unpack(s, packed);
      if (!questions) break;
      unsigned all = questions | (unsigned)(questions & HP_NOTE_CDATA ? HP_NOTE_CDATA_FOREIGN : 0) |
                     (unsigned)(questions & HP_NOTE_CDATA_PENDING ? HP_NOTE_CDATA_PENDING_FOREIGN : 0);
      unsigned right = hp_cdata_notes(&s->engine->tokenizer, CDATA_QUESTIONS);
      bool same = (hp_packed_notes(packed) & all) == (right & all),
           yes = right & all & (HP_NOTE_CDATA_FOREIGN | HP_NOTE_CDATA_PENDING_FOREIGN);
      if (!same) request_rollback(s, right, HPAR_PIPELINE_CDATA);
      /* A token that is read again gives the same answer. It counts then, unless the tree builder
       * reads it. */
      if (same == yes || (yes && s->alone_now)) count_hazard(s, HPAR_PIPELINE_CDATA, s->own.start, back || !same);
      if (same) break;
      if (s->alone_now) return false;
      back = true;
    }
  }
  if (s->found) take_errors(s);
  return true;
}

static inline hp_token *next(hp_stages *s) {
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_token *token = &s->own;
  hp_packed packed = {0};
  if (__builtin_expect(s->notes || t->content != s->content || t->at != s->at, 0)) {
    if (!s->alone_now) check_predictions(s);
    if (s->alone_now) return read_alone(s);
  }
  bool any = hp_ring_take(&s->ring, &packed);
  if (__builtin_expect(!any || hp_packed_kind(packed) >= HP_TOKEN_NEED_MORE ||
                           hp_packed_notes(packed) & CDATA_QUESTIONS || s->found,
                       0)) {
    if (!next_slowly(s, packed, any)) return read_alone(s);
  } else {
    unpack(s, packed);
  }
  if (hp_ring_taken(&s->ring)) {
    hp_ring_show_head(&s->ring);
    hp_event_count_wake(&s->event_count);
  }
  if (__builtin_expect(token->kind == HP_TOKEN_NEED_MORE, 0)) return token;
  t->at = s->at = t->base + token->end;
  s->notes = token->notes;
  s->start = token->start;
  s->content = token->content;
  if (token->kind == HP_TOKEN_START_TAG) {
    s->name = t->last_start_tag = token->name;
    t->content = HP_TEXT_STATE_DATA;
  } else {
    t->content = token->content;
  }
  return token;
}

const hp_token *hp_stages_next(hp_stages *s) { return next(s); }

/* Builds plain tokens, at most a batch, and returns their number. With `scripts`, it counts them
 * itself, and an end tag may run a script. Its written text may end in a token of the page, which
 * moves the engine. */
static inline __attribute__((always_inline)) uint64_t build_through(hp_stages *s, bool scripts) {
  hp_ring *r = &s->ring;
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_builder *b = &s->engine->builder;
  const hp_packed *slots = r->slots;
  const char *text = t->base, *base = b->base;
  uint32_t head = r->head, stop = r->head_shown + r->batch, mask = r->mask, from = (uint32_t)(t->at - text);
  if (s->notes || t->at != s->at || t->content != s->content || s->found) return 0;
  if ((int32_t)(r->tail_seen - stop) < 0) stop = r->tail_seen;
  hp_text_state content = s->content;
  hp_token token;
  while (head != stop) {
    hp_packed packed = slots[head & mask];
    hp_ring_look_ahead(r, head);
    if (__builtin_expect(!hp_packed_is_plain(packed), 0)) break;
    hp_unpack_plain(&token, packed, from, text, base);
    head++;
    from = hp_packed_end(packed);
    t->at = text + from;
    t->content = content = hp_packed_content(packed);
    if (hp_packed_kind(packed) == HP_TOKEN_START_TAG) t->last_start_tag = token.name;
    hp_exact_token(b, &token);
    if (scripts) s->engine->tokens++;
    if (__builtin_expect(t->content != content, 0)) break;
    if (scripts && t->at != text + from) break;
  }
  uint64_t built = head - r->head;
  if (!built) return 0;
  r->head = head;
  s->at = text + from;
  s->content = content;
  s->name = t->last_start_tag;
  if (hp_ring_taken(r)) {
    hp_ring_show_head(r);
    hp_event_count_wake(&s->event_count);
  }
  return built;
}

/* Builds the plain tokens that are ready, and returns the kind of the next token. */
HP_LOOP int next_after_plain(hp_engine *engine, hp_token **token, void *context) {
  hp_stages *s = context;
  engine->tokens += build_through(s, false);
  *token = next(s);
  return (*token)->kind;
}

HP_LOOP int next_beside_scripts(hp_engine *engine, hp_token **token, void *context) {
  hp_stages *s = context;
  (void)engine;
  build_through(s, true);
  *token = next(s);
  return (*token)->kind;
}

HP_LOOP void build(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_exact_token(&engine->builder, token);
}

/* Counts each token when it is built: a limit of the scripts may end the parse in any. */
static __attribute__((noinline)) void run_with_scripts(hp_stages *s) {
  hp_loop_run(s->engine, (hp_loop_parts){.next = next_beside_scripts, .build = build, .checks_limits = true}, s);
}

void hp_stages_run(hp_stages *s) {
  if (s->parse_request->runs_scripts)
    run_with_scripts(s);
  else
    hp_loop_run(s->engine, (hp_loop_parts){.next = next_after_plain, .build = build}, s);
}
