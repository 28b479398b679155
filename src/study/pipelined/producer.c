/* The first stage: a tokenizer that fills the token buffer. */

#include "study/pipelined/producer.h"

#include "base/process.h"
#include "tokenizer/tokenizer.h"

#include <hpar/study.h>

enum { MAX_WINDOW_BYTES = 64 << 10, MIN_WINDOW_BYTES = 256 };

/* Answers the tokenizer at "<![CDATA[" and notes the answer. Returns true if the current node is
 * foreign. */
static bool answer_cdata(void *context) {
  hp_stages *s = context;
  bool pending = s->ahead.cdata.pending_text;
  unsigned yes = pending ? HP_NOTE_CDATA_PENDING_FOREIGN : HP_NOTE_CDATA_FOREIGN;
  unsigned question = pending ? HP_NOTE_CDATA_PENDING : HP_NOTE_CDATA;
  uint8_t ns = hp_feedback_namespace(&s->feedback);
  bool foreign = ns == HPAR_NAMESPACE_SVG || ns == HPAR_NAMESPACE_MATHML;
  if (s->known & question) foreign = s->known & yes;
  s->cdata_notes |= question | (foreign ? yes : 0);
  return foreign;
}

static const char *end_of_text(const hp_stages *s) { return s->parse_request->text + s->parse_request->length; }

/* Starts a window of `bytes` at the next token. */
static void move_window(hp_stages *s, size_t bytes) {
  hp_tokenizer *t = &s->ahead;
  const char *end = end_of_text(s);
  bool all = (size_t)(end - t->at) <= bytes;
  t->end = all ? end : t->at + bytes;
  t->last = all && !s->parse_request->more;
  s->from = t->at;
  s->look = all ? (const char *)UINTPTR_MAX : t->at + bytes / 2;
}

static void widen_window(hp_stages *s) {
  if (s->window < MAX_WINDOW_BYTES) s->window *= 2;
  move_window(s, s->window);
}

void hp_stages_roll_back(hp_stages *s) {
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
  t->escape = from->escape;
  t->last_start_tag = from->last_start_tag;
  t->searched = NULL;
  s->known = from->notes;
  s->feedback = from->feedback;
  s->cdata_notes = 0;
  s->ended = from->halt;
  s->alone = s->has_held = false;
  s->errors.count = 0;
  s->window = s->window / 4 < MIN_WINDOW_BYTES ? MIN_WINDOW_BYTES : s->window / 4;
  move_window(s, s->window);
  hp_ring_show_tail(&s->ring); /* keeps the head at or before the tail */
  s->resume = s->ring.tail;
  s->wasted_bytes = s->bytes_dropped + s->bytes_searched;
  atomic_store(&s->answered, request);
  hp_event_count_wake(&s->event_count);
}

static void show(hp_stages *s) {
  hp_ring_show_tail(&s->ring);
  hp_event_count_wake(&s->event_count);
}

static void put(hp_stages *s, hp_packed token) {
  if (hp_ring_put(&s->ring, token)) show(s);
}

static void put_token(hp_stages *s, hp_packed token) {
  unsigned kind = hp_packed_kind(token);
  s->ended = kind == HP_TOKEN_EOF || kind == HP_TOKEN_NEED_MORE;
  put(s, token);
}

/* Returns the slot of the token, which starts at offset `from`. */
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

/* Puts the parse errors of the token into the slot before it. */
static void put_errors(hp_stages *s, hp_packed token) {
  hp_errors *errors = &s->errors;
  s->held = token;
  s->has_held = true;
  hp_token_errors *found = hp_arena_take(&s->bytes, sizeof *found + errors->count * sizeof *errors->items);
  found->count = errors->count;
  memcpy(found->items, errors->items, errors->count * sizeof *errors->items);
  errors->count = 0;
  put(s, (hp_packed){.what = HP_SLOT_ERRORS, .where = hp_ref_of(s->nodes.range->base, found)});
}

static const uint8_t notable[HP_KNOWN_ATOMS] = {
    [HP_ATOM_TITLE] = 1,  [HP_ATOM_TEXTAREA] = 1,  [HP_ATOM_STYLE] = 1,    [HP_ATOM_XMP] = 1,
    [HP_ATOM_IFRAME] = 1, [HP_ATOM_NOEMBED] = 1,   [HP_ATOM_NOFRAMES] = 1, [HP_ATOM_NOSCRIPT] = 1,
    [HP_ATOM_SCRIPT] = 1, [HP_ATOM_PLAINTEXT] = 1, [HP_ATOM_SVG] = 1,      [HP_ATOM_MATH] = 1,
};

/* Returns true if the start tag concerns the predictor or the hazard detector. */
static inline bool is_notable(const hp_token *tag) {
  return (tag->name < HP_KNOWN_ATOMS && notable[tag->name]) || tag->flags & HP_TOKEN_SELF_CLOSING;
}

/* Sets the predicted content state, and what the hazard detector must check. */
static void predict(hp_stages *s, hp_token *token) {
  unsigned notes = s->cdata_notes;
  if (token->kind == HP_TOKEN_START_TAG) {
    if (token->flags & HP_TOKEN_SELF_CLOSING) notes |= HP_NOTE_SELF_CLOSING;
    if ((token->name < HP_KNOWN_ATOMS && notable[token->name]) || s->feedback.depth) {
      hp_text_state content = hp_text_state_of(token->name, s->parse_request->scripting);
      if (content != HP_TEXT_STATE_DATA) notes |= HP_NOTE_RAW_TEXT;
      if (s->predictor == HP_PREDICT_FEEDBACK)
        s->ahead.content = hp_feedback_start_tag(&s->feedback, token, content, s->nodes.range->base);
    }
  } else if (token->kind == HP_TOKEN_END_TAG && s->feedback.depth) {
    hp_feedback_end_tag(&s->feedback, token);
  }
  token->content = (uint8_t)s->ahead.content;
  token->notes = (uint8_t)notes;
  s->cdata_notes = s->known = 0;
}

/* Handles a token that does not end in the window. Returns true if a wider window is possible now.
 */
static bool look_further(hp_stages *s) {
  hp_tokenizer *t = &s->ahead;
  s->cdata_notes = 0;
  s->bytes_ahead += (uint64_t)(t->end - t->at);
  s->bytes_searched += (uint64_t)(t->end - t->at);
  if (s->from == t->at) return false;
  widen_window(s);
  return true;
}

/* Moves the window on. */
static void look_ahead(hp_stages *s) {
  if (s->ahead.end != end_of_text(s)) widen_window(s);
}

static inline bool is_asked_back(const hp_stages *s) {
  return atomic_load_explicit(&s->request, memory_order_relaxed) != s->met;
}

/* A token, its kind or NOT_READ, and the offset at which the tokenizer started. */
typedef struct reading {
  hp_token token;
  uint32_t from;
  int kind;
} reading;

enum { NOT_READ = -1, TOKENS_PER_CHECK = 16 };

/* Puts plain tokens into the buffer until a batch is full or a token is not plain. The function
 * reads that token but does not put it. It checks for a request and for the end of the window once
 * in 16 tokens. */
static inline void run_through(hp_stages *s, reading *r) {
  hp_tokenizer *t = &s->ahead;
  hp_ring *ring = &s->ring;
  hp_packed *slots = ring->slots;
  const char *base = s->nodes.range->base, *text = t->base;
  uint32_t tail = ring->tail, stop = ring->head_seen + ring->length, mask = ring->mask, from = (uint32_t)(t->at - text);
  if ((int32_t)(stop - (ring->tail_shown + ring->batch)) > 0) stop = ring->tail_shown + ring->batch;
  int kind = NOT_READ;
  while (tail != stop && !is_asked_back(s) && t->at < s->look) {
    uint32_t pause = stop - tail < TOKENS_PER_CHECK ? stop : tail + TOKENS_PER_CHECK;
    do {
      hp_packed packed;
      kind = hp_next_token(t, &r->token);
      if (kind == HP_TOKEN_START_TAG ? is_notable(&r->token) : kind == HP_TOKEN_EOF) goto end;
      if (__builtin_expect(!hp_pack(&packed, &r->token, (unsigned)kind, t->content, from, text, base), 0)) goto end;
      if (__builtin_expect(s->cdata_notes, 0)) goto end;
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
static hp_stuck run_ahead(hp_stages *s) {
  hp_tokenizer *t = &s->ahead;
  for (;;) {
    if (is_asked_back(s)) hp_stages_roll_back(s);
    if (s->ended || !hp_ring_has_room(&s->ring)) {
      if (s->ring.tail != s->ring.tail_shown) show(s);
      return s->ended ? HP_STUCK_ENDED : HP_STUCK_FULL;
    }
    if (s->has_held) {
      s->has_held = false;
      put_token(s, s->held);
      continue;
    }
    reading r;
    if (t->at >= s->look && !s->alone) look_ahead(s);
    if (s->alone || s->feedback.depth || s->known || t->errors.list) {
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
        return HP_STUCK_DRAINING;
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
    if (__builtin_expect(s->errors.count != 0, 0))
      put_errors(s, packed);
    else
      put_token(s, packed);
  }
}

typedef struct advance {
  hp_stages *stages;
  hp_stuck stuck;
} advance;

static hpar_status run_advance(void *argument) {
  advance *a = argument;
  a->stuck = run_ahead(a->stages);
  return HPAR_OK;
}

/* Runs the tokenizer ahead of the tree builder. The tree builder reports a failure when it reaches
 * the failed token. */
hp_stuck hp_stages_run_ahead(hp_stages *s) {
  advance advance = {s, HP_STUCK_ENDED};
  if (hp_try(&s->unwind, run_advance, &advance) == HPAR_OK) return advance.stuck;
  hp_ring_put(&s->ring, (hp_packed){.what = HP_SLOT_FAILED});
  show(s);
  s->has_held = false;
  s->ended = true;
  return HP_STUCK_ENDED;
}

static bool is_drained(const hp_stages *s) { return atomic_load(&s->drained) == s->ring.tail; }
static bool room_again(void *context) {
  hp_stages *s = context;
  return hp_is_asked_back(s) || atomic_load(&s->ring.shared_head) != s->ring.head_seen;
}
static bool drained_again(void *context) { return hp_is_asked_back(context) || is_drained(context); }
static bool asked_back_again(void *context) { return hp_is_asked_back(context); }

void hp_stages_go_on_alone(hp_stages *s) {
  if (hp_is_asked_back(s)) return;
  s->alone = true;
  move_window(s, SIZE_MAX);
}

void hp_stages_serve(hp_stages *s) {
  static bool (*const ready[])(void *) = {
      [HP_STUCK_FULL] = room_again, [HP_STUCK_DRAINING] = drained_again, [HP_STUCK_ENDED] = asked_back_again};
  for (;;) {
    uint64_t begin = s->has_events ? hp_now() : 0;
    const char *from = s->ahead.at;
    hp_stuck why = hp_stages_run_ahead(s);
    uint64_t end = hp_stages_note(s, HP_EVENT_TOKENIZE, 1, begin, from);
    if (s->stopped) return;
    hp_stages_wait(s, &s->waits, ready[why]);
    hp_stages_note(s, HP_EVENT_WAIT, 1, end, s->ahead.at);
    if (why == HP_STUCK_DRAINING) hp_stages_go_on_alone(s);
  }
}

void hp_stages_open_ahead(hp_stages *s, unsigned part, unsigned parts) {
  const hp_tokenizer *from = &s->engine->tokenizer;
  hp_unwind *unwind = &s->engine->unwind;
  /* Until the stage runs, a failure unwinds through the engine of this thread. */
  hp_range *range = &s->parse_request->document->range;
  if (parts) range = hp_range_part(range, part);
  hp_arena_open(&s->nodes, range, unwind);
  hp_arena_open(&s->bytes, range, unwind);
  hp_interner_open(&s->interner, &s->parse_request->document->atoms, unwind);
  hp_tokenizer *t = &s->ahead;
  hp_tokenizer_open(t, &s->nodes, &s->bytes, &s->interner);
  s->nodes.unwind = s->bytes.unwind = s->interner.unwind = s->errors.unwind = &s->unwind;
  t->may_defer = from->may_defer;
  t->base = from->base;
  t->at = from->at;
  t->content = from->content;
  t->last_start_tag = from->last_start_tag;
  t->cdata.is_foreign = answer_cdata;
  t->cdata.context = s;
  t->errors.list = s->parse_request->max_errors ? &s->errors : NULL;
  s->errors.limit = UINT32_MAX;
  s->errors.count = 0;
  s->cdata_notes = s->known = 0;
  s->ended = s->alone = s->has_held = s->stopping = s->stopped = false;
  s->feedback.depth = 0;
  if (s->predictor == HP_PREDICT_FEEDBACK) hp_feedback_read(&s->feedback, &s->engine->builder);
  s->window = MAX_WINDOW_BYTES;
  move_window(s, s->window);
}
