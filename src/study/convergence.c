#include "study/convergence.h"

#include "base/memory.h"
#include "speculation/strategy.h"
#include "study/enumerate.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

enum { MOST = 1 + HP_ENUMERATED + HP_RAW_TEXTS };

static const size_t steps[HPAR_CONVERGENCE_STEPS] = {1, 16, 64, 256, 1024, 4096};

/* A hypothesis. At `at`, its tokenizer is between two tokens. */
typedef struct hypothesis {
  hpar_start_context context;
  size_t at;
  hp_text_state content;
  hp_atom name;         /* whose end tag ends the content */
  bool is_stuck;        /* its next token does not end in the chunk */
  bool has_met, is_one; /* it is equal to an earlier hypothesis, since `met`; or it is followed */
  size_t met;
} hypothesis;

typedef struct followed {
  hp_engine *engine;
  const hpar_cut *cut;
  hypothesis all[MOST];
  unsigned count;
} followed;

static void add_hypothesis(followed *f, hypothesis h) {
  h.is_one = true;
  h.is_stuck = h.at > f->cut->end;
  f->all[f->count++] = h;
}

static void open_hypotheses(followed *f) {
  static const hpar_start_context contexts[HP_ENUMERATED] = {HPAR_CONTEXT_COMMENT, HPAR_CONTEXT_TAG,
                                                             HPAR_CONTEXT_DOUBLE_QUOTES, HPAR_CONTEXT_SINGLE_QUOTES,
                                                             HPAR_CONTEXT_CDATA};
  const hpar_cut *cut = f->cut;
  size_t ends[HP_ENUMERATED];
  hp_enumerate_ends(cut, ends);
  add_hypothesis(f, (hypothesis){.context = HPAR_CONTEXT_NONE, .at = cut->begin});
  for (int i = 0; i < HP_ENUMERATED; i++) add_hypothesis(f, (hypothesis){.context = contexts[i], .at = ends[i]});
  for (uint8_t i = 0; i < HP_RAW_TEXTS; i++) {
    const hp_raw_text *raw = hp_raw_text_of_atom(hp_raw_text_of(i)->atom, cut->scripting);
    if (!raw) continue;
    add_hypothesis(
        f,
        (hypothesis){.context = HPAR_CONTEXT_RAW_TEXT, .at = cut->begin, .content = raw->content, .name = raw->atom});
  }
}

static bool goes_on(const hypothesis *h) { return h->is_one && !h->is_stuck; }

/* The two are equal from `at` on. The first of both is followed further. */
static void meet(hypothesis *a, hypothesis *b, size_t at) {
  hypothesis *first = a < b ? a : b, *second = a < b ? b : a;
  first->at = at;
  second->has_met = true;
  second->is_one = false;
  second->met = at;
}

static bool is_equal(const hypothesis *a, const hypothesis *b) {
  return a->at == b->at && a->content == b->content && (a->content == HP_TEXT_STATE_DATA || a->name == b->name);
}

/* Returns another hypothesis that begins a token in the text from `from` to `to`, the first of
 * them; NULL: there is none. */
static hypothesis *first_in_text(followed *f, const hypothesis *reader, size_t from, size_t to) {
  hypothesis *found = NULL;
  for (hypothesis *h = f->all; h < f->all + f->count; h++) {
    if (h == reader || !goes_on(h) || h->content != HP_TEXT_STATE_DATA || h->at < from || h->at > to) continue;
    if (!found || h->at < found->at) found = h;
  }
  return found;
}

/* Reads the next token of the hypothesis. */
static void advance(followed *f, hypothesis *h) {
  hp_tokenizer *t = &f->engine->tokenizer;
  hp_token token;
  size_t from = h->at;
  h->is_stuck = from == f->cut->end; /* so are all others */
  if (h->is_stuck) return;
  t->at = t->base + from;
  t->content = h->content;
  t->escape = HP_SCRIPT_PLAIN;
  t->last_start_tag = h->name;
  t->searched = NULL;
  int kind = hp_next_token(t, &token);
  size_t to = (size_t)(t->at - t->base);
  if (kind == HP_TOKEN_NEED_MORE) { /* text at the end of the chunk is one, too */
    h->is_stuck = true;
    if (h->content != HP_TEXT_STATE_DATA || f->cut->text[from] == '<') return;
    kind = HP_TOKEN_TEXT;
    to = f->cut->end;
  }
  if (kind == HP_TOKEN_TEXT && h->content == HP_TEXT_STATE_DATA) {
    hypothesis *other = first_in_text(f, h, from, to);
    if (other) {
      h->is_stuck = false;
      meet(h, other, other->at);
      return;
    }
  }
  if (h->is_stuck) return;
  h->at = to;
  if (kind == HP_TOKEN_START_TAG) {
    h->name = token.name;
    h->content = hp_text_state_of(token.name, f->cut->scripting);
  } else if (kind != HP_TOKEN_TEXT) {
    h->content = HP_TEXT_STATE_DATA;
  }
}

/* Returns the hypothesis that is the farthest behind; NULL: fewer than two go on. */
static hypothesis *find_last(followed *f) {
  hypothesis *last = NULL;
  unsigned going_on = 0;
  for (hypothesis *h = f->all; h < f->all + f->count; h++) {
    if (!goes_on(h)) continue;
    going_on++;
    if (!last || h->at < last->at) last = h;
  }
  return going_on > 1 ? last : NULL;
}

static void step(followed *f, hypothesis *h) {
  for (hypothesis *other = f->all; other < f->all + f->count; other++) {
    if (other == h || !goes_on(other) || !is_equal(h, other)) continue;
    meet(h, other, h->at);
    return;
  }
  advance(f, h);
}

static void count_hypotheses(const followed *f, hpar_convergence *c) {
  size_t begin = f->cut->begin, last = 0;
  *c = (hpar_convergence){.hypotheses = f->count, .bytes_until_one = UINT64_MAX};
  for (unsigned i = 0; i < f->count; i++) {
    const hypothesis *h = &f->all[i];
    for (int k = 0; k < HPAR_CONVERGENCE_STEPS; k++) c->live_after[k] += !h->has_met || h->met - begin > steps[k];
    if (h->has_met && h->met - begin > last) last = h->met - begin;
    if (h->has_met) continue;
    c->live++;
    c->live_by_context[h->context]++;
  }
  if (c->live == 1) c->bytes_until_one = last;
}

typedef struct following {
  hp_engine *engine;
  const hp_request *request;
  hpar_document *scratch;
  const hpar_chunk *chunk;
  hpar_convergence result;
} following;

static hpar_status follow(void *argument) {
  following *now = argument;
  const hp_request *from = now->request;
  const hpar_cut cut = {from->text, from->length, now->chunk->text_begin, now->chunk->text_end, from->scripting};
  const hp_request own = {.document = now->scratch, .text = cut.text, .length = cut.end, .more = true};
  hp_engine_open(now->engine, &own);
  now->engine->tokenizer.cdata.is_foreign = NULL;
  now->engine->tokenizer.may_defer = false;
  followed f = {.engine = now->engine, .cut = &cut};
  open_hypotheses(&f);
  for (hypothesis *h; (h = find_last(&f));) step(&f, h);
  count_hypotheses(&f, &now->result);
  return HPAR_OK;
}

static void add_up(hpar_convergence_sums *sums, const hpar_convergence *c) {
  sums->chunks++;
  sums->hypotheses += c->hypotheses;
  sums->live += c->live;
  for (int k = 0; k < HPAR_CONVERGENCE_STEPS; k++) sums->live_after[k] += c->live_after[k];
  for (int i = 0; i <= HPAR_CONTEXT_CDATA; i++) sums->live_by_context[i] += c->live_by_context[i];
  if (c->live != 1) return;
  sums->chunks_with_one++;
  sums->bytes_until_one += c->bytes_until_one;
}

hpar_status hp_record_convergence(hp_record *record, const hp_request *request) {
  following now = {.engine = hp_allocate_zeroed(sizeof *now.engine), .request = request};
  hpar_status status = now.engine ? hpar_document_create(&now.scratch) : HPAR_ERROR_MEMORY;
  for (size_t i = 1; i < record->chunk_count && status == HPAR_OK; i++) {
    now.chunk = &record->chunks[i];
    status = hp_document_open(now.scratch, false, request->length);
    if (status == HPAR_OK) status = hp_try(&now.engine->unwind, follow, &now);
    if (status != HPAR_OK) break;
    record->chunks[i].convergence = now.result;
    add_up(&record->convergence, &now.result);
  }
  if (now.engine) hp_engine_close(now.engine);
  hp_free(now.engine);
  hpar_document_destroy(now.scratch);
  return status;
}
