#include "pipeline/stages.h"

#include "base/memory.h"
#include "tokenize/content.h"

/* Kinds of slots that are no tokens, beside HP_TOKEN_NEED_MORE. */
enum { SLOT_ERRORS = HP_TOKEN_NEED_MORE + 1, SLOT_FAILED };

enum { LARGEST_WINDOW = 64 << 10, SMALLEST_WINDOW = 256 };
enum { DEFAULT_LENGTH = 1024, DEFAULT_BATCH = 32 };
enum { ASKED = HP_NOTE_ASKED | HP_NOTE_ASKED_PENDING };

/* Parse errors found in a token; in the arena, since the token may be dropped. */
typedef struct hp_found {
  uint32_t count;
  uint64_t seen;
  hp_error items[];
} hp_found;

typedef enum stuck { FULL, DRAINING, ENDED } stuck;

/*** the tokenizer ***/

static bool answer(void *context) {
  hp_stages *s = context;
  bool pending = s->ahead.pending_text;
  unsigned yes = pending ? HP_NOTE_YES_PENDING : HP_NOTE_YES;
  unsigned asked = pending ? HP_NOTE_ASKED_PENDING : HP_NOTE_ASKED;
  uint8_t ns = hp_feedback_namespace(&s->feedback);
  bool foreign = ns == HPAR_NAMESPACE_SVG || ns == HPAR_NAMESPACE_MATHML;
  if (s->known & asked) foreign = s->known & yes;
  s->asked |= asked | (foreign ? yes : 0);
  return foreign;
}

static const char *end_of_text(const hp_stages *s) { return s->task->text + s->task->length; }

/* Which a token that is `alone` need not heed. */
static void move_window(hp_stages *s, size_t bytes) {
  hp_tokenizer *t = &s->ahead;
  const char *end = end_of_text(s);
  bool all = (size_t)(end - t->at) <= bytes;
  t->end = all ? end : t->at + bytes;
  t->last = all && !s->task->more;
  s->from = t->at;
  s->slide = all ? end : t->at + bytes / 2;
}

static void widen_window(hp_stages *s) {
  if (s->window < LARGEST_WINDOW) s->window *= 2;
  move_window(s, s->window);
}

static void roll_back(hp_stages *s) {
  const hp_snapshot *from = &s->snapshot;
  hp_tokenizer *t = &s->ahead;
  uint32_t request = atomic_load_explicit(&s->request, memory_order_acquire);
  if (s->stopping) {
    s->ended = s->stopped = true;
    atomic_store(&s->answered, request);
    return;
  }
  if (t->at > from->at) s->bytes_dropped += (uint64_t)(t->at - from->at);
  t->at = from->at;
  t->content = from->content;
  t->last_start_tag = from->last_start_tag;
  t->searched = NULL;
  s->known = from->notes;
  s->feedback = from->feedback;
  s->asked = 0;
  s->ended = false;
  s->alone = s->has_held = false;
  s->errors.count = 0;
  s->errors.seen = 0;
  s->window = s->window / 4 < SMALLEST_WINDOW ? SMALLEST_WINDOW : s->window / 4;
  move_window(s, s->window);
  hp_ring_show_tail(&s->ring); /* the tree builder must not see itself ahead of it */
  s->resume = s->ring.tail;
  atomic_store(&s->answered, request);
  hp_unpark(&s->parking);
}

static void show(hp_stages *s) {
  hp_ring_show_tail(&s->ring);
  hp_unpark(&s->parking);
}

static void put(hp_stages *s) {
  if (hp_ring_put(&s->ring)) show(s);
}

/* Puts the parse errors that were found in the token before it. */
static void put_errors(hp_stages *s, hp_token *slot) {
  hp_errors *errors = &s->errors;
  s->held = *slot;
  s->has_held = true;
  hp_found *found = hp_arena_take(&s->bytes, sizeof *found + errors->count * sizeof *errors->items);
  found->count = errors->count;
  found->seen = errors->seen;
  memcpy(found->items, errors->items, errors->count * sizeof *errors->items);
  errors->count = 0;
  errors->seen = 0;
  slot->kind = SLOT_ERRORS;
  slot->data = (const char *)found;
  put(s);
}

/* What the predictor says of a tag, and what the detector is to look at. */
static inline void predict(hp_stages *s, hp_token *token) {
  static const uint8_t of_note[HP_KNOWN_ATOMS] = {
      [HP_TITLE] = 1,    [HP_TEXTAREA] = 1, [HP_STYLE] = 1,  [HP_XMP] = 1,       [HP_IFRAME] = 1, [HP_NOEMBED] = 1,
      [HP_NOFRAMES] = 1, [HP_NOSCRIPT] = 1, [HP_SCRIPT] = 1, [HP_PLAINTEXT] = 1, [HP_SVG] = 1,    [HP_MATH] = 1,
  };
  unsigned notes = s->asked;
  if (token->kind == HPAR_TOKEN_START_TAG) {
    if (token->flags & HP_TOKEN_SELF_CLOSING) notes |= HP_NOTE_SELF_CLOSING;
    if ((token->name < HP_KNOWN_ATOMS && of_note[token->name]) || s->feedback.depth) {
      hp_content content = hp_content_of(token->name, s->task->scripting);
      if (content != HP_CONTENT_DATA) notes |= HP_NOTE_RAW_TEXT;
      if (s->predictor == HP_PREDICT_FEEDBACK)
        s->ahead.content = hp_feedback_start_tag(&s->feedback, token, content, s->nodes.range->base);
    }
  } else if (token->kind == HPAR_TOKEN_END_TAG && s->feedback.depth) {
    hp_feedback_end_tag(&s->feedback, token);
  }
  token->content = (uint8_t)s->ahead.content;
  token->notes = (uint8_t)notes;
  s->asked = s->known = 0;
}

/* A token that does not end in the window: true if it may be tried again at once. */
static bool look_further(hp_stages *s) {
  hp_tokenizer *t = &s->ahead;
  s->asked = 0;
  if (s->from == t->at) return false;
  widen_window(s);
  return true;
}

/* As far as it goes without waiting. */
static stuck run_ahead(hp_stages *s) {
  hp_tokenizer *t = &s->ahead;
  for (;;) {
    if (atomic_load_explicit(&s->request, memory_order_relaxed) !=
        atomic_load_explicit(&s->answered, memory_order_relaxed))
      roll_back(s);
    hp_token *slot = hp_ring_room(&s->ring);
    if (!slot || s->ended) {
      if (s->ring.tail != s->ring.tail_shown) show(s);
      return s->ended ? ENDED : FULL;
    }
    if (s->has_held) {
      s->has_held = false;
      *slot = s->held;
    } else {
      if (t->at >= s->slide && t->end != end_of_text(s)) widen_window(s);
      if (hp_next_token(t, slot) == HP_TOKEN_NEED_MORE) {
        if (!s->alone) {
          if (look_further(s)) continue;
          if (s->ring.tail != s->ring.tail_shown) show(s);
          s->drains++;
          return DRAINING;
        }
        slot->kind = HP_TOKEN_NEED_MORE;
      }
      predict(s, slot);
      if (s->alone) {
        s->alone = false;
        move_window(s, s->window);
      }
      if (__builtin_expect(s->errors.seen != 0, 0)) {
        put_errors(s, slot);
        continue;
      }
    }
    s->ended = slot->kind == HPAR_TOKEN_EOF || slot->kind == HP_TOKEN_NEED_MORE;
    put(s);
  }
}

/* The failure is the tree builder's if it comes that far. */
static stuck run_guarded(hp_stages *s) {
  if (!setjmp(s->fail.frame)) return run_ahead(s);
  hp_token *slot = hp_ring_room(&s->ring);
  slot->kind = SLOT_FAILED;
  slot->notes = 0;
  hp_ring_put(&s->ring);
  show(s);
  s->has_held = false;
  s->ended = true;
  return ENDED;
}

static bool asked_back(const hp_stages *s) { return atomic_load(&s->request) != atomic_load(&s->answered); }
static bool is_drained(const hp_stages *s) { return atomic_load(&s->drained) == s->ring.tail; }
static bool room_again(void *context) {
  hp_stages *s = context;
  return asked_back(s) || atomic_load(&s->ring.shared_head) != s->ring.head_seen;
}
static bool drained_again(void *context) { return asked_back(context) || is_drained(context); }
static bool asked_back_again(void *context) { return asked_back(context); }

/* All is built up to here, unless there is a request. */
static void go_on_alone(hp_stages *s) {
  if (asked_back(s)) return;
  s->alone = true;
  move_window(s, SIZE_MAX);
}

void hp_stages_serve(hp_stages *s) {
  static bool (*const ready[])(void *) = {[FULL] = room_again, [DRAINING] = drained_again, [ENDED] = asked_back_again};
  for (;;) {
    stuck why = run_guarded(s);
    if (s->stopped) return;
    hp_park(&s->parking, &s->waits, ready[why], s);
    if (why == DRAINING) go_on_alone(s);
  }
}

/*** the tree builder ***/

static bool tokens_again(void *context) {
  hp_stages *s = context;
  return atomic_load(&s->ring.shared_tail) != s->ring.head;
}
static bool answered_again(void *context) { return !asked_back(context); }

/* Until there is a token. Everything before it is built. */
static void await_tokens(hp_stages *s) {
  if (s->ring.head != s->ring.head_shown) hp_ring_show_head(&s->ring);
  atomic_store(&s->drained, s->ring.head);
  if (!s->taking_turns) {
    hp_unpark(&s->parking);
    hp_park(&s->parking, &s->builder_waits, tokens_again, s);
    return;
  }
  s->builder_waits.count++;
  if (run_guarded(s) == DRAINING && s->ring.tail == s->ring.head) {
    go_on_alone(s);
    run_guarded(s);
  }
}

/* The tokenizer goes on as the lane's stands. What it has read beyond is dropped. */
static void ask_back(hp_stages *s, unsigned known, hpar_pipeline_hazard hazard) {
  const hp_tokenizer *t = &s->lane->tokenizer;
  hp_snapshot *to = &s->snapshot;
  to->at = t->at;
  to->content = t->content;
  to->last_start_tag = t->last_start_tag;
  to->notes = known;
  to->feedback.depth = 0;
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&to->feedback, &s->lane->builder);
  atomic_fetch_add(&s->request, 1);
  hp_unpark(&s->parking);
  if (s->taking_turns)
    roll_back(s);
  else if (asked_back(s))
    hp_park(&s->parking, &s->builder_waits, answered_again, s);
  s->tokens_dropped += s->resume - s->ring.head;
  hp_ring_drop_to(&s->ring, s->resume);
  if (!s->taking_turns) hp_unpark(&s->parking);
  s->found = NULL;
  s->rollbacks++;
  if (hazard < HPAR_PIPELINE_HAZARDS) s->rolled_back[hazard]++;
  s->at = t->at;
  s->content = t->content;
  s->notes = 0;
}

/* The token that was built had something to look at, or the lane does not stand where it was left. */
static __attribute__((noinline)) void settle(hp_stages *s) {
  const hp_tokenizer *t = &s->lane->tokenizer;
  const hp_builder *b = &s->lane->builder;
  hpar_pipeline_hazard hazard = HPAR_PIPELINE_HAZARDS;
  bool back = t->at != s->at || t->content != s->content;
  if (s->notes & HP_NOTE_RAW_TEXT) {
    hazard = hp_switch_hazard(b, s->name, t->content != HP_CONTENT_DATA);
    s->hazards[hazard]++;
  }
  if ((s->notes & HP_NOTE_SELF_CLOSING) && hp_self_closing_acknowledged(b, s->name)) {
    s->hazards[HPAR_PIPELINE_SELF_CLOSING]++;
    if (!back && s->predictor == HP_PREDICT_OPTIMISTIC) {
      hazard = HPAR_PIPELINE_SELF_CLOSING;
      back = true;
    }
  }
  s->notes = 0;
  if (back) ask_back(s, 0, hazard);
}

static void take_errors(hp_stages *s) {
  hp_errors *errors = s->lane->tokenizer.errors;
  const hp_found *found = s->found;
  s->found = NULL;
  if (!errors) return;
  for (uint32_t i = 0; i < found->count; i++)
    hp_errors_add(errors, (hp_error_code)found->items[i].code, found->items[i].offset);
  errors->seen += found->seen - found->count;
}

/* On from a slot that is no plain token, or NULL. */
static __attribute__((noinline)) const hp_token *next_slowly(hp_stages *s, const hp_token *token) {
  for (;;) {
    if (!token) {
      await_tokens(s);
    } else if (token->kind == SLOT_ERRORS) {
      s->found = (const hp_found *)(const void *)token->data;
    } else if (token->kind == SLOT_FAILED) {
      hp_fail_now(&s->lane->fail, s->fail.status);
    } else {
      unsigned asked = token->notes & ASKED;
      if (!asked) break;
      unsigned all = asked | (unsigned)(asked & HP_NOTE_ASKED ? HP_NOTE_YES : 0) |
                     (unsigned)(asked & HP_NOTE_ASKED_PENDING ? HP_NOTE_YES_PENDING : 0);
      unsigned right = hp_cdata_notes(&s->lane->tokenizer, ASKED);
      bool same = (token->notes & all) == (right & all), yes = right & all & (HP_NOTE_YES | HP_NOTE_YES_PENDING);
      if (same == yes) s->hazards[HPAR_PIPELINE_CDATA]++;
      if (same) break;
      ask_back(s, right, HPAR_PIPELINE_CDATA);
    }
    token = hp_ring_take(&s->ring);
  }
  if (s->found) take_errors(s);
  return token;
}

static inline const hp_token *next(hp_stages *s) {
  hp_tokenizer *t = &s->lane->tokenizer;
  if (__builtin_expect(s->notes || t->content != s->content || t->at != s->at, 0)) settle(s);
  const hp_token *token = hp_ring_take(&s->ring);
  if (__builtin_expect(!token || token->kind >= HP_TOKEN_NEED_MORE || token->notes & ASKED || s->found, 0))
    token = next_slowly(s, token);
  if (hp_ring_taken(&s->ring)) {
    hp_ring_show_head(&s->ring);
    hp_unpark(&s->parking);
  }
  if (__builtin_expect(token->kind == HP_TOKEN_NEED_MORE, 0)) return token;
  t->at = s->at = t->base + token->end;
  s->notes = token->notes;
  s->content = token->content;
  if (token->kind == HPAR_TOKEN_START_TAG) {
    s->name = t->last_start_tag = token->name;
    t->content = HP_CONTENT_DATA;
  } else {
    t->content = token->content;
  }
  return token;
}

const hp_token *hp_stages_next(hp_stages *s) { return next(s); }

void hp_stages_stop(hp_stages *s) {
  s->stopping = true;
  atomic_fetch_add(&s->request, 1);
  hp_unpark(&s->parking);
}

/*** both ***/

bool hp_stages_check(const hpar_options *o) {
  return o->buffer_tokens <= HP_MOST_BUFFER_TOKENS && o->batch <= HP_MOST_BUFFER_TOKENS &&
         hp_pipeline_predictor_named(o->pipeline_predictor) < HP_PIPELINE_PREDICTORS;
}

void hp_stages_open(hp_stages *s, hp_lane *lane, const hp_task *task, const hpar_options *o, bool taking_turns) {
  hpar_document *document = task->document;
  const hp_tokenizer *from = &lane->tokenizer;
  hp_fail *fail = &lane->fail;
  s->lane = lane;
  s->task = task;
  s->predictor = hp_pipeline_predictor_named(o->pipeline_predictor);
  s->taking_turns = taking_turns;
  uint32_t length = o->buffer_tokens ? o->buffer_tokens : DEFAULT_LENGTH;
  if (!hp_ring_open(&s->ring, length, o->batch ? o->batch : DEFAULT_BATCH)) hp_fail_now(fail, HPAR_ERROR_MEMORY);
  hp_parking_open(&s->parking);
  /* For now it is this thread's to fail. */
  hp_arena_open(&s->nodes, &document->range, fail);
  hp_arena_open(&s->bytes, &document->range, fail);
  hp_interner_open(&s->interner, &document->atoms, fail);
  hp_tokenizer *t = &s->ahead;
  hp_tokenizer_open(t, &s->nodes, &s->bytes, &s->interner);
  s->nodes.fail = s->bytes.fail = s->interner.fail = s->errors.fail = &s->fail;
  t->base = from->base;
  t->at = from->at;
  t->content = from->content;
  t->last_start_tag = from->last_start_tag;
  t->foreign = answer;
  t->context = s;
  t->errors = task->max_errors ? &s->errors : NULL;
  s->errors.limit = task->max_errors;
  s->errors.count = 0;
  s->errors.seen = 0;
  s->asked = s->known = 0;
  s->ended = s->alone = s->has_held = s->stopping = s->stopped = false;
  s->feedback.depth = 0;
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&s->feedback, &lane->builder);
  s->window = LARGEST_WINDOW;
  move_window(s, s->window);
  s->waits = s->builder_waits = (hp_waits){0};
  s->bytes_dropped = s->tokens_dropped = s->rollbacks = s->drains = 0;
  memset(s->hazards, 0, sizeof s->hazards);
  memset(s->rolled_back, 0, sizeof s->rolled_back);
  s->at = from->at;
  s->content = from->content;
  s->notes = 0;
  s->found = NULL;
  atomic_store_explicit(&s->request, 0, memory_order_relaxed);
  atomic_store_explicit(&s->answered, 0, memory_order_relaxed);
  atomic_store_explicit(&s->drained, 0, memory_order_relaxed);
}

void hp_stages_count(const hp_stages *s, hpar_stats *stats) {
  stats->pipeline.predictor = hp_pipeline_predictor_name(s->predictor);
  stats->pipeline.buffer_tokens = s->ring.length;
  stats->pipeline.batch = s->ring.batch;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) {
    stats->pipeline.hazards_by_kind[i] += s->hazards[i];
    stats->pipeline.rollbacks_by_kind[i] += s->rolled_back[i];
  }
  stats->pipeline.rollbacks += s->rollbacks;
  stats->pipeline.tokens_dropped += s->tokens_dropped;
  stats->pipeline.bytes_dropped += s->bytes_dropped;
  stats->pipeline.drains += s->drains;
  stats->pipeline.tokenizer_waits += s->waits.count;
  stats->pipeline.tokenizer_slept += s->waits.slept;
  stats->pipeline.tokenizer_wait_ns += s->waits.nanoseconds;
  stats->pipeline.builder_waits += s->builder_waits.count;
  stats->pipeline.builder_slept += s->builder_waits.slept;
  stats->pipeline.builder_wait_ns += s->builder_waits.nanoseconds;
}

void hp_stages_close(hp_stages *s) {
  hp_ring_close(&s->ring);
  hp_parking_close(&s->parking);
  hp_interner_close(&s->interner);
  hp_tokenizer_close(&s->ahead);
  hp_free(s->errors.items);
}
