/* A worker: a rewriter that rewrites a chunk without the input before it. */

#include "rewrite/speculation.h"

#include "base/memory.h"
#include "base/vector.h"
#include "html/tokenizer/content.h"
#include "speculation/outer_prediction.h"
#include "speculation/start/lookback.h"

#include <string.h>

/*** the log ***/

void hp_rewrite_log_clear(hp_rewrite_log *log) {
  for (uint32_t i = 0; i < log->record_count; i++) hp_end_record_close(&log->records[i]);
  log->segment_count = log->name_bytes.length = log->bit_count = log->record_count = log->piece_count = 0;
  log->block_length = 0;
  hp_shadow_log_clear(&log->shadow);
}

void hp_rewrite_log_free(hp_rewrite_log *log) {
  hp_rewrite_log_clear(log);
  hp_free(log->segments);
  hp_shadow_log_free(&log->shadow);
  hp_free(log->names);
  hp_bytes_free(&log->name_bytes);
  hp_free(log->bits);
  hp_free(log->records);
  hp_free(log->pieces);
  hp_free(log->block);
  *log = (hp_rewrite_log){0};
}

static char *extend_block(hp_rewrite_log *log, size_t length) {
  size_t need = log->block_length + length;
  if (need > log->block_capacity) {
    size_t capacity = need + need / 2 + 4096;
    char *block = hp_reallocate(log->block, capacity);
    if (!block) return NULL;
    log->block = block;
    log->block_capacity = capacity;
  }
  char *at = log->block + log->block_length;
  log->block_length += length;
  return at;
}

/* Takes output. Long parts of the input stay where they are. */
static hpar_status take_output(const char *bytes, size_t length, void *context) {
  enum { MAX_COPIED = 2048 };
  hpar_rewriter *r = context;
  hp_speculation *p = r->speculation;
  hp_rewrite_log *log = p->log;
  bool is_input = length > MAX_COPIED && bytes >= r->scanner.begin && bytes < r->scanner.end;
  hp_piece *last = log->piece_count > p->first_piece ? &log->pieces[log->piece_count - 1] : NULL;
  if (!is_input) {
    char *to = extend_block(log, length);
    if (!to) return HPAR_ERROR_MEMORY;
    memcpy(to, bytes, length);
    if (last && !last->input) {
      last->length += length;
      return HPAR_OK;
    }
  }
  hp_grow(&log->pieces, &log->piece_capacity, (size_t)log->piece_count + 1, &r->unwind);
  log->pieces[log->piece_count++] =
      is_input ? (hp_piece){bytes, 0, length} : (hp_piece){NULL, log->block_length - length, length};
  return HPAR_OK;
}

/*** segments ***/

static uint64_t position_of(const hpar_rewriter *r) { return hp_scanner_position(&r->scanner, r->scanner.at); }

static uint32_t words_of(const hpar_rewriter *r) { return r->rules->needs_frames ? r->matching.matcher.words : 0; }

static void forget_records(hpar_rewriter *r) {
  for (uint32_t i = 1; i < r->record_count; i++) {
    hp_end_record *record = &r->records[i];
    record->append.length = record->after.length = record->rename.length = 0;
    record->moved_to = 0;
  }
  r->record_count = 1;
  r->free_record = r->open_records = r->mute_depth = r->unmute_after_tag = 0;
}

/* Begins a segment on the predicted outer context. */
static void begin_segment(hpar_rewriter *r, uint64_t start, uint8_t mode, uint8_t ns) {
  hp_speculation *p = r->speculation;
  const uint32_t words = words_of(r);
  p->now = (hp_rewrite_segment){.start = start};
  p->outer.now = (hp_segment){.modes = ~0u, .base_mode = mode, .ns = ns};
  p->outer.base_mode = mode;
  p->outer.poisoned = HPAR_HAZARD_NONE;
  p->outer.disposition = HP_DISPOSITION_LOCAL;
  p->first_piece = p->log->piece_count;
  hp_shadow_begin_segment(&r->shadow, mode, ns);
  if (words) {
    memcpy(p->bits, p->bits + 2 * words, 2 * words * sizeof *p->bits);
    memset(p->bits + 4 * words, 0, 2 * words * sizeof *p->bits);
    hp_matching_begin_segment(&r->matching, r->shadow.builder.stack[0].node, p->bits);
  }
  forget_records(r);
  r->edits.count = r->edits.complete = r->edits.text.length = 0;
  r->edits.copied = start;
  r->edits.is_muted = false;
  r->edits.total = 0;
  r->edits.last_position = r->edits.last_resume = r->edits.first_insertion = UINT64_MAX;
  r->stats = (hp_stream_stats){.failed_at = UINT64_MAX};
  r->after_tag.length = 0;
  r->in_text = false;
  hp_rewriter_mark(r, start);
}

static void save_names(hpar_rewriter *r, uint32_t first) {
  hp_rewrite_log *log = r->speculation->log;
  const hp_shadow_log *shadow = &log->shadow;
  const hp_atom first_own = HP_KNOWN_ATOMS + r->names.fixed->count;
  hp_grow(&log->names, &log->name_capacity, shadow->entry_count, &r->unwind);
  for (uint32_t i = first; i < shadow->entry_count; i++) {
    hp_atom atom = shadow->entries[i].element.name;
    log->names[i] = (hp_saved_name){0, 0};
    if (atom < first_own) continue;
    hp_name name = hp_names_of(&r->names, atom);
    log->names[i] = (hp_saved_name){log->name_bytes.length, name.length};
    hp_bytes_append(&log->name_bytes, name.bytes, name.length, &r->unwind);
  }
}

static void save_bits(hpar_rewriter *r, const hp_bits *bits, uint32_t count) {
  hp_rewrite_log *log = r->speculation->log;
  hp_grow(&log->bits, &log->bit_capacity, (size_t)log->bit_count + count, &r->unwind);
  memcpy(log->bits + log->bit_count, bits, count * sizeof *bits);
  log->bit_count += count;
}

static void save_frames(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->speculation;
  hp_rewrite_log *log = p->log;
  const uint32_t words = words_of(r);
  p->now.frame = log->bit_count;
  if (!words) return;
  save_bits(r, p->bits, 2 * words);
  save_bits(r, p->bits + 4 * words, 2 * words);
  for (uint32_t i = first; i < log->shadow.entry_count; i++) {
    uint32_t *next = &log->shadow.entries[i].next;
    if (!*next) continue;
    const hp_bits *bits = hp_matching_frame_bits(&r->matching, *next);
    *next = log->bit_count + 1;
    save_bits(r, bits, 2 * words);
  }
}

/* Moves the records of the saved entries to the log. */
static void save_records(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->speculation;
  hp_rewrite_log *log = p->log;
  p->now.records = log->record_count;
  for (uint32_t i = first; i < log->shadow.entry_count; i++) {
    hp_shadow_entry *e = &log->shadow.entries[i];
    if (!e->previous) continue;
    hp_end_record *record = &r->records[e->previous];
    if (!record->moved_to) {
      hp_grow(&log->records, &log->record_capacity, (size_t)log->record_count + 1, &r->unwind);
      uint32_t index = log->record_count++;
      log->records[index] = *record;
      log->records[index].users = log->records[index].scope_depth = 0;
      *record = (hp_end_record){.moved_to = index + 1};
    }
    e->previous = record->moved_to;
    hp_end_record *moved = &log->records[e->previous - 1];
    moved->users++;
    moved->scope_depth += i < p->now.state.entries + p->now.state.open_count;
  }
  p->now.record_count = log->record_count - p->now.records;
}

/* Returns true if the segment saves the merger nothing. */
static bool is_empty(const hp_speculation *p) { return !p->outer.now.tokens && !p->now.split_name; }

/* Ends the segment at `end` and appends it to the log, unless it is unusable. */
static void end_segment(hpar_rewriter *r, uint64_t end, const hp_token *token) {
  hp_speculation *p = r->speculation;
  hp_builder *b = &r->shadow.builder;
  hp_rewrite_segment *now = &p->now;
  uint32_t first = p->log->shadow.entry_count;
  uint32_t reopened = hp_questions_reopened(b, token);
  bool fits = !p->outer.poisoned && !is_empty(p) && b->mode != HP_IN_TEXT && !r->after_tag.length;
  if (fits && hp_shadow_save(&r->shadow, p->outer.base_mode, &p->log->shadow, &now->state)) {
    now->assumed = p->outer.now;
    now->assumed.questions = b->assumed;
    now->assumed.misnested = true;
    now->end = end;
    save_names(r, first);
    save_frames(r, first);
    save_records(r, first);
    now->pieces = p->first_piece;
    hp_edits_apply(&r->edits, &r->sink, r->scanner.begin, r->scanner.position, end);
    if (r->sink.status != HPAR_OK) hp_unwind_now(&r->unwind, r->sink.status);
    now->piece_count = p->log->piece_count - p->first_piece;
    p->first_piece = p->log->piece_count;
    now->tags = r->stats.tags;
    now->matches = r->stats.matches;
    now->misplaced = r->stats.misplaced;
    now->depth = r->stats.depth;
    now->edits = r->edits.total;
    now->first_insertion = r->edits.first_insertion;
    now->last_position = r->edits.last_position;
    now->last_resume = r->edits.last_resume;
    now->mute_depth = r->mute_depth;
    now->in_text = r->in_text;
    now->text_is_first = r->text_is_first;
    now->text_start = r->text_start;
    now->after_cr = r->after_cr;
    memcpy(now->seen, r->seen, sizeof now->seen);
    hp_grow(&p->log->segments, &p->log->segment_capacity, (size_t)p->log->segment_count + 1, &r->unwind);
    p->log->segments[p->log->segment_count++] = *now;
  }
  p->outer.confident &= ~reopened;
}

/*** tokens ***/

static hp_token token_of(const hp_shadow_tag *tag) {
  return (hp_token){.kind = tag->is_end ? HPAR_TOKEN_END_TAG : HPAR_TOKEN_START_TAG,
                    .flags = tag->self_closing ? HP_TOKEN_SELF_CLOSING : 0,
                    .name = tag->name};
}

/* Ends the segment before the token, which the merger runs. */
static void defer_token(hpar_rewriter *r, const hp_token *t, uint64_t end) {
  hp_speculation *p = r->speculation;
  hp_builder *b = &r->shadow.builder;
  const uint32_t words = words_of(r);
  p->next_mode = p->outer.base_mode;
  p->next_ns = b->stack[0].ns;
  hp_predict_mode_after(b, t, &p->next_mode);
  hp_predict_namespace_after(b, t, &p->next_mode, &p->next_ns);
  if (words && b->depth && t->kind == HPAR_TOKEN_START_TAG)
    memcpy(p->bits + 2 * words, hp_matching_bits_of(&r->matching, b->top->node), 2 * words * sizeof *p->bits);
  end_segment(r, end, t);
  p->outer.disposition = HP_DISPOSITION_LOCAL;
  p->seeks = true;
}

/* Ends the segment with the first half of the tag, and begins one with the rest of it. */
static void split_tag(hpar_rewriter *r, const hp_token *t) {
  hp_speculation *p = r->speculation;
  hp_builder *b = &r->shadow.builder;
  uint32_t confident = p->outer.confident;
  bool row = hp_splits_row(t);
  uint8_t mode = row ? HP_IN_TABLE_BODY : p->outer.base_mode, ns = b->stack[0].ns;
  if (row) p->outer.fostered = false;
  r->stats.tags--;
  end_segment(r, r->token_start, NULL);
  begin_segment(r, r->token_start, mode, ns);
  p->outer.confident = confident;
  p->now.split_name = t->name;
  p->now.split_end = r->token_end;
  r->stats.tags = 1;
  hp_shadow_take_tag(&r->shadow, &r->tag);
}

bool hp_speculation_take_tag(hpar_rewriter *r) {
  hp_speculation *p = r->speculation;
  hp_disposition disposition = p->outer.disposition;
  hp_token token = token_of(&r->tag);
  p->outer.disposition = HP_DISPOSITION_LOCAL;
  if (disposition == HP_DISPOSITION_SPLIT) {
    split_tag(r, &token);
    disposition = p->outer.disposition;
    p->outer.disposition = HP_DISPOSITION_LOCAL;
  }
  if (disposition == HP_DISPOSITION_LOCAL) {
    p->outer.now.tokens++;
    return true;
  }
  r->stats.tags--;
  defer_token(r, &token, r->token_start);
  if (!r->tag.is_end)
    hp_scanner_set_content(&r->scanner, hp_content_of(r->tag.name, r->options.scripting), r->tag.name);
  return false;
}

bool hp_speculation_defers_tag(hpar_rewriter *r) {
  if (r->is_certain || r->tag.is_end || r->tag.name != HP_META) return false;
  hp_token token = token_of(&r->tag);
  r->stats.tags--;
  defer_token(r, &token, r->token_start);
  return true;
}

void hp_speculation_take_text(hpar_rewriter *r, hp_shadow_text kind) {
  hp_speculation *p = r->speculation;
  if (p->seeks) return; /* the rest of a text */
  if (p->outer.disposition == HP_DISPOSITION_LOCAL) {
    p->outer.now.tokens++;
    return;
  }
  if (hp_scanner_is_in_section(&r->scanner)) { /* the merger cannot begin there */
    p->outer.poisoned = HPAR_HAZARD_UNFORESEEN;
    return;
  }
  hp_token token = {.kind = HPAR_TOKEN_TEXT, .flags = kind == HP_SHADOW_OTHER ? 0 : HP_TEXT_WHITE};
  bool in_text = r->in_text;
  r->seen[kind] = false;
  r->in_text = r->token_start > r->text_start;
  defer_token(r, &token, r->token_start);
  r->in_text = in_text;
  memset(r->seen, true, sizeof r->seen); /* the rest of the text is the merger's */
}

void hp_speculation_run(hpar_rewriter *r) { r->speculation->outer.now.tokens++; }

/* Skips raw text that the merger processes. Returns false at the end of the input. */
static bool skip_raw_text(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  while (s->content != HP_CONTENT_DATA || !hp_scanner_is_in_data(s))
    if (hp_scanner_next(s) == HP_SCAN_NEEDS_INPUT) return false;
  return true;
}

/* Returns true between two tokens. A newline may have no meaning after some start tags. */
static bool is_at_boundary(const hpar_rewriter *r) {
  const hp_builder *b = &r->shadow.builder;
  return hp_scanner_is_in_data(&r->scanner) && b->mode != HP_IN_TEXT && !b->ignore_lf;
}

static void check_mode(hpar_rewriter *r) {
  hp_speculation *p = r->speculation;
  const hp_builder *b = &r->shadow.builder;
  if (b->depth == 0 && b->mode != p->outer.base_mode && b->mode != HP_IN_TEXT)
    p->outer.poisoned = HPAR_HAZARD_UNFORESEEN;
}

bool hp_speculation_goes_on(hpar_rewriter *r) {
  hp_speculation *p = r->speculation;
  hp_builder *b = &r->shadow.builder;
  bool is_inside = !hp_scanner_is_in_data(&r->scanner) && b->mode != HP_IN_TEXT; /* a token */
  if (is_inside && !p->seeks) return true;
  if (!p->seeks) check_mode(r);
  if (p->outer.poisoned && !p->seeks) {
    p->next_mode = p->outer.base_mode;
    p->next_ns = b->stack[0].ns;
    p->outer.confident &= ~hp_questions_reopened(b, NULL);
    p->seeks = true;
  }
  if (p->seeks) {
    if (!skip_raw_text(r)) {
      p->has_ended = true;
      return false;
    }
    p->seeks = false;
    begin_segment(r, position_of(r), p->next_mode, p->next_ns);
  }
  uint64_t at = position_of(r);
  bool is_boundary = is_at_boundary(r);
  if (at >= p->limit && is_boundary) return false;
  if (p->stops && atomic_load_explicit(p->stops, memory_order_relaxed)) return false;
  if (b->depth) return true;
  bool ends = is_boundary && at - p->now.start >= p->checkpoint_bytes && !b->formatting_count && !b->template_count;
  if (ends) {
    end_segment(r, at, NULL);
    begin_segment(r, at, p->outer.base_mode, b->stack[0].ns);
  }
  b->stack[0].kind = (uint8_t)hp_outer_kind(b);
  return true;
}

/*** a chunk ***/

/* Returns the first token of the chunk, as predicted; NULL: there is none. */
static const char *find_start(const hp_speculation_input *input, const hp_rewrite_chunk *chunk, hpar_rewriter *r,
                              hp_start_state *state) {
  const char *cut = input->window + chunk->cut, *end = input->window + input->length;
  /* The predictor reads at most 1 MB before the cut, and its offsets have 32 bits. */
  enum { BEFORE = 4 << 20, AFTER = 4 << 20 };
  size_t from = chunk->cut > BEFORE ? chunk->cut - BEFORE : 0, left = input->length - chunk->limit;
  size_t length = chunk->limit - from + (left < AFTER ? left : AFTER);
  const hp_request request = {
      .text = input->window + from, .length = length, .more = true, .scripting = r->options.scripting};
  const hp_predictor_input given = {.request = &request,
                                    .cut = (uint32_t)(chunk->cut - from),
                                    .limit = (uint32_t)(chunk->limit - from),
                                    .reach = (uint32_t)(chunk->limit - from)};
  hp_predict_by_lookback(&given, state);
  if (state->inside == HP_INSIDE_COMMENT) {
    const char *close = memmem(cut, (size_t)(end - cut), "-->", 3);
    return close ? close + 3 : NULL;
  }
  if (state->inside) {
    const char *close = memchr(cut, '>', (size_t)(end - cut));
    return close ? close + 1 : NULL;
  }
  if (state->content != HP_CONTENT_DATA) hp_scanner_set_content(&r->scanner, state->content, state->raw_name);
  return cut;
}

typedef struct chunk_run {
  hpar_rewriter *worker;
  const hp_speculation_input *input;
  hp_rewrite_chunk *chunk;
} chunk_run;

static void open_bits(hpar_rewriter *r, const hp_rewrite_chunk *chunk) {
  hp_speculation *p = r->speculation;
  const uint32_t words = words_of(r);
  if (!words) return;
  hp_matcher *m = &r->matching.matcher;
  hp_grow(&p->bits, &p->bit_capacity, 8 * (size_t)words, &r->unwind);
  hp_bits *after = p->bits + 6 * (size_t)words, carry[2] = {0, 0};
  for (uint32_t w = 0; w < words; w++) {
    hp_bits child = m->by_combinator[HP_COMBINATOR_CHILD][w], heir = m->by_combinator[HP_COMBINATOR_DESCENDANT][w];
    after[w] = child << 1 | carry[0];
    after[words + w] = heir << 1 | carry[1];
    carry[0] = child >> (HP_BITS - 1);
    carry[1] = heir >> (HP_BITS - 1);
  }
  memcpy(p->bits + 2 * words, chunk->prediction, 2 * words * sizeof *p->bits);
  p->watch = (hp_candidate_watch){p->bits + 4 * words, p->bits + 5 * words, after, after + words, false};
  m->watch = &p->watch;
}

static hpar_status run_chunk(void *argument) {
  const chunk_run *run = argument;
  hpar_rewriter *r = run->worker;
  hp_speculation *p = r->speculation;
  hp_scanner *s = &r->scanner;
  hp_start_state state = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  open_bits(r, run->chunk);
  s->begin = run->input->window;
  s->position = run->input->position;
  s->end = s->begin + run->input->length;
  r->limit = s->begin + run->chunk->limit;
  s->at = find_start(run->input, run->chunk, r, &state);
  if (!s->at || !skip_raw_text(r) || s->at >= r->limit) return HPAR_OK;
  p->outer.outer_ns = state.outer_ns;
  begin_segment(r, position_of(r), state.mode, state.ns);
  hp_rewriter_scan(r);
  if (p->has_ended || p->seeks) return HPAR_OK;
  bool is_inside = !hp_scanner_is_in_data(s), in_section = hp_scanner_is_in_section(s);
  if (s->content == HP_CONTENT_DATA && !in_section) end_segment(r, is_inside ? s->token_start : position_of(r), NULL);
  return HPAR_OK;
}

void hp_speculation_run_chunk(hpar_rewriter *r, hp_speculation *p, const hp_speculation_input *input,
                              uint32_t checkpoint_bytes, const _Atomic bool *stops, hp_rewrite_chunk *chunk) {
  hp_rewrite_log *log = &chunk->log;
  chunk_run run = {r, input, chunk};
  hp_rewrite_log_clear(log);
  log->encoding = chunk->encoding;
  log->is_certain = chunk->is_certain;
  log->quirks = chunk->quirks;
  hp_bits *bits = p->bits;
  uint32_t bit_capacity = p->bit_capacity;
  *p = (hp_speculation){.log = log,
                        .limit = input->position + chunk->limit,
                        .checkpoint_bytes = checkpoint_bytes,
                        .stops = stops,
                        .bits = bits,
                        .bit_capacity = bit_capacity};
  p->outer.confident = 1u << HPAR_ASSUME_FORMATTING_CLEAN;
  p->outer.minimise_log = true;
  if (hp_rewriter_open_worker(r, input->merger, take_output, r) != HPAR_OK) return;
  r->speculation = p;
  r->sink.writes_at_once = true;
  r->encoding = chunk->encoding;
  r->is_certain = chunk->is_certain;
  r->shadow.quirks = chunk->quirks;
  r->scanner.has_wide_trails = chunk->encoding && hp_has_wide_trails(chunk->encoding);
  hp_shadow_speculate(&r->shadow, &p->outer);
  hp_try(&r->unwind, run_chunk, &run);
  r->speculation = NULL;
  r->phase = HP_PHASE_NONE;
}
