#include "drivers/pipelined/stages.h"

#include "base/clock.h"
#include "base/memory.h"
#include "html/tokenizer/content.h"
#include "html/tree/engine_loop.h"
#include "trace/record.h"

enum { LARGEST_WINDOW = 64 << 10, SMALLEST_WINDOW = 256 };
/* The tokenizer of a worker runs on beyond the end of the chunk, in vain. */
enum { DEFAULT_LENGTH = 16384, WORKERS_LENGTH = 256, DEFAULT_BATCH = 256 };
/* In bytes of credit: to begin with, of a rollback, and at which speculation is taken up again. */
enum { FIRST_CREDIT = 64 << 10, ROLLBACK_COST = 512, ENOUGH_CREDIT = 8 << 10 };
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
  s->look = all ? (const char *)UINTPTR_MAX : t->at + bytes / 2;
}

static void widen_window(hp_stages *s) {
  if (s->window < LARGEST_WINDOW) s->window *= 2;
  move_window(s, s->window);
}

static void roll_back(hp_stages *s) {
  const hp_snapshot *from = &s->snapshot;
  hp_tokenizer *t = &s->ahead;
  uint32_t request = atomic_load_explicit(&s->request, memory_order_acquire);
  s->met = request;
  if (s->stopping) {
    s->ended = s->stopped = true;
    atomic_store(&s->answered, request);
    return;
  }
  if (t->at > from->at && s->began <= from->at) s->bytes_dropped += (uint64_t)(t->at - from->at);
  s->bytes_ahead += (uint64_t)(t->at - s->began);
  t->at = s->began = from->at;
  t->content = from->content;
  t->last_start_tag = from->last_start_tag;
  t->searched = NULL;
  s->known = from->notes;
  s->feedback = from->feedback;
  s->asked = 0;
  s->ended = from->halt;
  s->alone = s->has_held = false;
  s->errors.count = 0;
  s->errors.seen = 0;
  s->window = s->window / 4 < SMALLEST_WINDOW ? SMALLEST_WINDOW : s->window / 4;
  move_window(s, s->window);
  hp_ring_show_tail(&s->ring); /* the tree builder must not see itself ahead of it */
  s->resume = s->ring.tail;
  s->in_vain = s->bytes_dropped + s->bytes_searched;
  atomic_store(&s->answered, request);
  hp_event_count_wake(&s->parking);
}

static void show(hp_stages *s) {
  hp_ring_show_tail(&s->ring);
  hp_event_count_wake(&s->parking);
}

static void put(hp_stages *s, hp_packed token) {
  if (hp_ring_put(&s->ring, token)) show(s);
}

static void put_token(hp_stages *s, hp_packed token) {
  unsigned kind = hp_packed_kind(token);
  s->ended = kind == HPAR_TOKEN_EOF || kind == HP_TOKEN_NEED_MORE;
  put(s, token);
}

/* Of the token that begins at offset `from`. */
static hp_packed pack(hp_stages *s, const hp_token *token, unsigned kind, uint32_t from) {
  hp_packed packed = {.what = HP_TOKEN_NEED_MORE};
  const char *base = s->nodes.range->base;
  if (kind == HP_TOKEN_NEED_MORE) return packed;
  if (!hp_pack(&packed, token, kind, token->content, from, s->ahead.base, base)) {
    hp_token *whole = hp_arena_take(&s->bytes, sizeof *whole);
    *whole = *token;
    packed = hp_pack_whole(token, whole, base);
  }
  packed.what |= (uint64_t)token->notes << 24;
  return packed;
}

/* Puts the parse errors that were found in a token before it. */
static void put_errors(hp_stages *s, hp_packed token) {
  hp_errors *errors = &s->errors;
  s->held = token;
  s->has_held = true;
  hp_found *found = hp_arena_take(&s->bytes, sizeof *found + errors->count * sizeof *errors->items);
  found->count = errors->count;
  found->seen = errors->seen;
  memcpy(found->items, errors->items, errors->count * sizeof *errors->items);
  errors->count = 0;
  errors->seen = 0;
  put(s, (hp_packed){.what = HP_SLOT_ERRORS, .where = hp_ref_of(s->nodes.range->base, found)});
}

static const uint8_t notable[HP_KNOWN_ATOMS] = {
    [HP_TITLE] = 1,    [HP_TEXTAREA] = 1, [HP_STYLE] = 1,  [HP_XMP] = 1,       [HP_IFRAME] = 1, [HP_NOEMBED] = 1,
    [HP_NOFRAMES] = 1, [HP_NOSCRIPT] = 1, [HP_SCRIPT] = 1, [HP_PLAINTEXT] = 1, [HP_SVG] = 1,    [HP_MATH] = 1,
};

/* A start tag that the predictor or the detector has anything to do with. */
static inline bool is_notable(const hp_token *tag) {
  return (tag->name < HP_KNOWN_ATOMS && notable[tag->name]) || tag->flags & HP_TOKEN_SELF_CLOSING;
}

/* What the predictor says of a tag, and what the detector is to look at. */
static void predict(hp_stages *s, hp_token *token) {
  unsigned notes = s->asked;
  if (token->kind == HPAR_TOKEN_START_TAG) {
    if (token->flags & HP_TOKEN_SELF_CLOSING) notes |= HP_NOTE_SELF_CLOSING;
    if ((token->name < HP_KNOWN_ATOMS && notable[token->name]) || s->feedback.depth) {
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
  s->bytes_ahead += (uint64_t)(t->end - t->at);
  s->bytes_searched += (uint64_t)(t->end - t->at);
  if (s->from == t->at) return false;
  widen_window(s);
  return true;
}

/* The window moves on. */
static void look_ahead(hp_stages *s) {
  if (s->ahead.end != end_of_text(s)) widen_window(s);
}

static inline bool is_asked_back(const hp_stages *s) {
  return atomic_load_explicit(&s->request, memory_order_relaxed) != s->met;
}

/* A token that is read, and the offset from which it was; its kind, or NOT_READ. */
typedef struct reading {
  hp_token token;
  uint32_t from;
  int kind;
} reading;

enum { NOT_READ = -1, TOKENS_A_LOOK = 16 };

/* Tokens with nothing to them, of which there are many; until a batch is full, or something is: that one is read but
 * not put. Whether there is a request, and where the window ends, is looked at now and then. */
static inline void run_through(hp_stages *s, reading *r) {
  hp_tokenizer *t = &s->ahead;
  hp_ring *ring = &s->ring;
  hp_packed *slots = ring->slots;
  const char *base = s->nodes.range->base, *text = t->base;
  uint32_t tail = ring->tail, stop = ring->head_seen + ring->length, mask = ring->mask, from = (uint32_t)(t->at - text);
  if ((int32_t)(stop - (ring->tail_shown + ring->batch)) > 0) stop = ring->tail_shown + ring->batch;
  int kind = NOT_READ;
  while (tail != stop && !is_asked_back(s) && t->at < s->look) {
    uint32_t pause = stop - tail < TOKENS_A_LOOK ? stop : tail + TOKENS_A_LOOK;
    do {
      hp_packed packed;
      kind = hp_next_token(t, &r->token);
      if (kind == HPAR_TOKEN_START_TAG ? is_notable(&r->token) : kind == HPAR_TOKEN_EOF) goto end;
      if (__builtin_expect(!hp_pack(&packed, &r->token, (unsigned)kind, t->content, from, text, base), 0)) goto end;
      if (__builtin_expect(s->asked, 0)) goto end;
      slots[tail++ & mask] = packed;
      from = hp_packed_end(packed);
      kind = NOT_READ;
    } while (tail != pause);
  }
end:
  ring->tail = tail;
  r->from = from;
  r->kind = kind;
}

/* Tokenizes until the stage would have to wait. Returns the reason. */
static stuck run_ahead(hp_stages *s) {
  hp_tokenizer *t = &s->ahead;
  for (;;) {
    if (is_asked_back(s)) roll_back(s);
    if (s->ended || !hp_ring_has_room(&s->ring)) {
      if (s->ring.tail != s->ring.tail_shown) show(s);
      return s->ended ? ENDED : FULL;
    }
    if (s->has_held) {
      s->has_held = false;
      put_token(s, s->held);
      continue;
    }
    reading r;
    if (t->at >= s->look && !s->alone) look_ahead(s);
    if (s->alone || s->feedback.depth || s->known || t->errors) {
      r.from = (uint32_t)(t->at - t->base);
      r.kind = hp_next_token(t, &r.token);
    } else {
      run_through(s, &r);
      if (r.kind == NOT_READ) {
        if (s->ring.tail - s->ring.tail_shown >= s->ring.batch) show(s);
        continue;
      }
    }
    if (r.kind == HP_TOKEN_NEED_MORE) {
      if (!s->alone) {
        if (look_further(s)) continue;
        if (s->ring.tail != s->ring.tail_shown) show(s);
        s->drains++;
        return DRAINING;
      }
      r.token.kind = HP_TOKEN_NEED_MORE;
      s->bytes_ahead += (uint64_t)(t->end - t->at);
    }
    predict(s, &r.token);
    hp_packed packed = pack(s, &r.token, (unsigned)r.kind, r.from);
    if (s->alone) {
      s->alone = false;
      move_window(s, s->window);
    }
    if (__builtin_expect(s->errors.seen != 0, 0))
      put_errors(s, packed);
    else
      put_token(s, packed);
  }
}

typedef struct advance {
  hp_stages *stages;
  stuck stuck;
} advance;

static hpar_status run_advance(void *argument) {
  advance *a = argument;
  a->stuck = run_ahead(a->stages);
  return HPAR_OK;
}

/* Runs ahead. The tree builder reports a failure when it reaches the failed token. */
static stuck run_guarded(hp_stages *s) {
  advance advance = {s, ENDED};
  if (hp_try(&s->unwind, run_advance, &advance) == HPAR_OK) return advance.stuck;
  hp_ring_put(&s->ring, (hp_packed){.what = HP_SLOT_FAILED});
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

/* Of the stage whose tokenizer was at `from`; the time of its end. */
static uint64_t note_event(hp_stages *s, hpar_event_kind kind, unsigned thread, uint64_t begin, const char *from) {
  if (!s->has_events) return 0;
  const hp_tokenizer *t = thread ? &s->ahead : &s->engine->tokenizer;
  uint64_t end = hp_now();
  size_t first = (size_t)(from - t->base), last = (size_t)(t->at - t->base);
  hp_record_event(s->task->record, kind, thread, UINT32_MAX, begin, end, first < last ? first : last, last);
  return end;
}

void hp_stages_serve(hp_stages *s) {
  static bool (*const ready[])(void *) = {[FULL] = room_again, [DRAINING] = drained_again, [ENDED] = asked_back_again};
  for (;;) {
    uint64_t begin = s->has_events ? hp_now() : 0;
    const char *from = s->ahead.at;
    stuck why = run_guarded(s);
    uint64_t end = note_event(s, HPAR_EVENT_TOKENIZE, 1, begin, from);
    if (s->stopped) return;
    hp_event_count_wait(&s->parking, &s->waits, ready[why], s);
    note_event(s, HPAR_EVENT_WAIT, 1, end, s->ahead.at);
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
    hp_event_count_wake(&s->parking);
    uint64_t begin = s->has_events ? hp_now() : 0;
    hp_event_count_wait(&s->parking, &s->builder_waits, tokens_again, s);
    note_event(s, HPAR_EVENT_WAIT, 0, begin, s->engine->tokenizer.at);
    return;
  }
  s->builder_waits.count++;
  uint64_t begin = hp_now();
  if (run_guarded(s) == DRAINING && s->ring.tail == s->ring.head) {
    go_on_alone(s);
    run_guarded(s);
  }
  s->builder_waits.nanoseconds += hp_now() - begin;
}

/* The tokenizer goes on as the engine's stands. What it has read beyond is dropped. */
static void ask_back(hp_stages *s, unsigned known, hpar_pipeline_hazard hazard) {
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_snapshot *to = &s->snapshot;
  to->at = t->at;
  to->content = t->content;
  to->last_start_tag = t->last_start_tag;
  to->notes = known;
  to->feedback.depth = 0;
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&to->feedback, &s->engine->builder);
  if (s->at > s->paid) s->credit += s->at - s->paid;
  s->paid = t->at;
  if (t->at == s->at) s->credit -= ROLLBACK_COST;
  to->halt = s->alone_now = s->credit < 0;
  atomic_fetch_add(&s->request, 1);
  hp_event_count_wake(&s->parking);
  if (s->taking_turns)
    roll_back(s);
  else if (asked_back(s))
    hp_event_count_wait(&s->parking, &s->builder_waits, answered_again, s);
  s->credit -= (int64_t)(s->in_vain - s->charged);
  s->charged = s->in_vain;
  s->was_dropped = s->dropped_so_far;
  s->dropped_so_far = s->bytes_dropped;
  s->dropped = s->resume - s->ring.head;
  s->tokens_dropped += s->dropped;
  hp_ring_drop_to(&s->ring, s->resume);
  if (!s->taking_turns) hp_event_count_wake(&s->parking);
  s->found = NULL;
  if (s->at) s->rollbacks++;
  if (hazard < HPAR_PIPELINE_HAZARDS) s->rolled_back[hazard]++;
  t->searched = NULL;
  s->at = s->alone_now ? NULL : t->at;
  s->content = t->content;
  s->notes = 0;
}

static void count_hazard(hp_stages *s, hpar_pipeline_hazard hazard, uint32_t at, bool rolled_back) {
  s->hazards[hazard]++;
  if (!s->task->record) return;
  hp_record_met(s->task->record,
                &(hpar_hazard_event){.hazard = hazard,
                                     .text_at = at,
                                     .rolled_back = rolled_back,
                                     .tokens_dropped = rolled_back ? s->dropped : 0,
                                     .bytes_dropped = rolled_back ? s->dropped_so_far - s->was_dropped : 0,
                                     .ns = hp_now()});
}

/* The token that was built had something to look at, or the engine does not stand where it was left. */
static __attribute__((noinline)) void settle(hp_stages *s) {
  hpar_pipeline_hazard met[2];
  unsigned count = 0;
  const hp_tokenizer *t = &s->engine->tokenizer;
  const hp_builder *b = &s->engine->builder;
  hpar_pipeline_hazard hazard = HPAR_PIPELINE_HAZARDS;
  bool back = t->at != s->at || t->content != s->content;
  if (s->notes & HP_NOTE_RAW_TEXT) {
    hazard = hp_switch_hazard(b, s->name, t->content != HP_CONTENT_DATA);
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
  if (back) ask_back(s, 0, hazard);
  for (unsigned i = 0; i < count; i++) count_hazard(s, met[i], s->start, back && met[i] == hazard);
}

static void take_errors(hp_stages *s) {
  hp_errors *errors = s->engine->tokenizer.errors;
  const hp_found *found = s->found;
  s->found = NULL;
  if (!errors) return;
  for (uint32_t i = 0; i < found->count; i++)
    hp_errors_add(errors, (hp_error_code)found->items[i].code, found->items[i].offset);
  errors->seen += found->seen - found->count;
}

/* The tree builder's own next token, until speculation has paid its debt. */
static __attribute__((noinline)) hp_token *read_alone(hp_stages *s) {
  hp_tokenizer *t = &s->engine->tokenizer;
  const char *from = t->at;
  bool whole = hp_next_token(t, &s->own) != HP_TOKEN_NEED_MORE;
  uint64_t bytes = (uint64_t)((whole ? t->at : t->end) - from);
  s->bytes_alone += bytes;
  s->credit += (int64_t)bytes;
  s->paid = t->at;
  if (s->credit >= ENOUGH_CREDIT) s->alone_now = false; /* the tokenizer is asked on at the next token */
  return &s->own;
}

static inline void unpack(hp_stages *s, hp_packed packed) {
  const hp_tokenizer *t = &s->engine->tokenizer;
  hp_unpack(&s->own, packed, (uint32_t)(t->at - t->base), t->base, s->engine->builder.base);
}

/* On from a slot that is no plain token, if `any`, to one that is to be built, which is unpacked. False: the tree
 * builder is to read by itself. */
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
      unsigned asked = hp_packed_notes(packed) & ASKED;
      unpack(s, packed);
      if (!asked) break;
      unsigned all = asked | (unsigned)(asked & HP_NOTE_ASKED ? HP_NOTE_YES : 0) |
                     (unsigned)(asked & HP_NOTE_ASKED_PENDING ? HP_NOTE_YES_PENDING : 0);
      unsigned right = hp_cdata_notes(&s->engine->tokenizer, ASKED);
      bool same = (hp_packed_notes(packed) & all) == (right & all),
           yes = right & all & (HP_NOTE_YES | HP_NOTE_YES_PENDING);
      if (!same) ask_back(s, right, HPAR_PIPELINE_CDATA);
      /* Read again, it is the same: it is counted then, unless that will not be. */
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
    if (!s->alone_now) settle(s);
    if (s->alone_now) return read_alone(s);
  }
  bool any = hp_ring_take(&s->ring, &packed);
  if (__builtin_expect(
          !any || hp_packed_kind(packed) >= HP_TOKEN_NEED_MORE || hp_packed_notes(packed) & ASKED || s->found, 0)) {
    if (!next_slowly(s, packed, any)) return read_alone(s);
  } else {
    unpack(s, packed);
  }
  if (hp_ring_taken(&s->ring)) {
    hp_ring_show_head(&s->ring);
    hp_event_count_wake(&s->parking);
  }
  if (__builtin_expect(token->kind == HP_TOKEN_NEED_MORE, 0)) return token;
  t->at = s->at = t->base + token->end;
  s->notes = token->notes;
  s->start = token->start;
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

/* Builds plain tokens for as long as there are any, and no longer than a batch; counts them. Where something is to be
 * looked at, the engine tells. */
static inline uint64_t build_through(hp_stages *s) {
  hp_ring *r = &s->ring;
  hp_tokenizer *t = &s->engine->tokenizer;
  hp_builder *b = &s->engine->builder;
  const hp_packed *slots = r->slots;
  const char *text = t->base, *base = b->base;
  uint32_t head = r->head, stop = r->head_shown + r->batch, mask = r->mask, from = (uint32_t)(t->at - text);
  if (s->notes || t->at != s->at || t->content != s->content || s->found) return 0;
  if ((int32_t)(r->tail_seen - stop) < 0) stop = r->tail_seen;
  hp_content content = s->content;
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
    if (hp_packed_kind(packed) == HPAR_TOKEN_START_TAG) t->last_start_tag = token.name;
    hp_exact_token(b, &token);
    if (__builtin_expect(t->content != content, 0)) break;
  }
  uint64_t built = head - r->head;
  if (!built) return 0;
  r->head = head;
  s->at = t->at;
  s->content = content;
  s->name = t->last_start_tag;
  if (hp_ring_taken(r)) {
    hp_ring_show_head(r);
    hp_event_count_wake(&s->parking);
  }
  return built;
}

/* Builds the plain tokens that are ready, and returns the kind of the next token. */
HP_LOOP int next_after_plain(hp_engine *engine, hp_token **token, void *context) {
  hp_stages *s = context;
  engine->tokens += build_through(s);
  *token = next(s);
  return (*token)->kind;
}

void hp_stages_run(hp_stages *s) {
  hp_loop_run(s->engine, (hp_loop_parts){.next = next_after_plain, .build = hp_loop_build, .is_complete = true}, s);
}

void hp_stages_stop(hp_stages *s) {
  s->stopping = true;
  atomic_fetch_add(&s->request, 1);
  hp_event_count_wake(&s->parking);
}

/*** both ***/

void hp_stages_open(hp_stages *s, hp_engine *engine, const hp_request *task, const hp_pipeline_config *config,
                    bool taking_turns, unsigned part, unsigned parts) {
  hpar_document *document = task->document;
  const hp_tokenizer *from = &engine->tokenizer;
  hp_unwind *unwind = &engine->unwind;
  s->engine = engine;
  s->task = task;
  s->predictor = config->predictor;
  s->taking_turns = taking_turns;
  s->has_events = false;
  uint32_t usual = engine->builder.outer ? WORKERS_LENGTH : DEFAULT_LENGTH;
  uint32_t length = config->buffer_tokens ? config->buffer_tokens : usual;
  if (!hp_ring_open(&s->ring, length, config->batch_tokens ? config->batch_tokens : DEFAULT_BATCH))
    hp_unwind_now(unwind, HPAR_ERROR_MEMORY);
  hp_event_count_open(&s->parking);
  /* Until the stage runs, a failure unwinds through the engine of this thread. */
  hp_range *range = &document->range;
  s->part.base = NULL;
  if (parts) hp_range_part(range = &s->part, &document->range, part);
  hp_arena_open(&s->nodes, range, unwind);
  hp_arena_open(&s->bytes, range, unwind);
  hp_interner_open(&s->interner, &document->atoms, unwind);
  hp_tokenizer *t = &s->ahead;
  hp_tokenizer_open(t, &s->nodes, &s->bytes, &s->interner);
  s->nodes.unwind = s->bytes.unwind = s->interner.unwind = s->errors.unwind = &s->unwind;
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
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&s->feedback, &engine->builder);
  s->window = LARGEST_WINDOW;
  move_window(s, s->window);
  s->waits = s->builder_waits = (hp_waits){0};
  s->bytes_dropped = s->tokens_dropped = s->rollbacks = s->drains = 0;
  s->bytes_ahead = s->bytes_searched = s->bytes_alone = s->charged = s->in_vain = s->dropped_so_far = s->was_dropped =
      0;
  s->began = s->paid = from->at;
  s->credit = FIRST_CREDIT;
  s->alone_now = false;
  s->met = 0;
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

void hp_stages_count(const hp_stages *s, hp_pipeline_counters *counters) {
  counters->predictor = hp_pipeline_predictor_name(s->predictor);
  if (s->part.base) s->task->document->range.in_parts += hp_range_part_used(&s->part);
  counters->buffer_tokens = s->ring.length;
  counters->batch_tokens = s->ring.batch;
  for (int i = 0; i < HPAR_PIPELINE_HAZARDS; i++) {
    counters->hazards_by_kind[i] += s->hazards[i];
    counters->rollbacks_by_kind[i] += s->rolled_back[i];
  }
  counters->rollbacks += s->rollbacks;
  counters->tokens_dropped += s->tokens_dropped;
  counters->bytes_dropped += s->bytes_dropped;
  counters->bytes_read += s->bytes_ahead + (uint64_t)(s->ahead.at - s->began) + s->bytes_alone;
  counters->bytes_alone += s->bytes_alone;
  counters->drains += s->drains;
  counters->tokenizer_waits += s->waits.count;
  counters->tokenizer_slept += s->waits.slept;
  counters->tokenizer_wait_ns += s->waits.nanoseconds;
  counters->builder_waits += s->builder_waits.count;
  counters->builder_slept += s->builder_waits.slept;
  counters->builder_wait_ns += s->builder_waits.nanoseconds;
}

void hp_stages_close(hp_stages *s) {
  hp_ring_close(&s->ring);
  hp_event_count_close(&s->parking);
  hp_interner_close(&s->interner);
  hp_tokenizer_close(&s->ahead);
  hp_free(s->errors.items);
}
