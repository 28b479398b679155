/* A worker: a rewriter that rewrites a chunk without the input before it. */

#include "rewrite/speculation.h"
#include "rewrite/urls.h"

#include "base/memory.h"
#include "speculation/dispositions.h"
#include "speculation/strategy.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

#include <string.h>

static uint64_t position_of(const hpar_rewriter *r) { return hp_scanner_position(&r->scanner, r->scanner.at); }

/* Returns false if the last segments are so short that the merger rewrites their input faster than
 * it adopts them. */
static bool pays_off(hp_speculation *p) {
  enum { CHECKED = 64, MIN_BYTES = 256 };
  const hp_rewrite_log *log = p->log;
  if (p->checkpoint_bytes < MIN_BYTES || log->segment_count < p->checked_segments + CHECKED) return true;
  const hp_rewrite_segment *first = &log->segments[p->checked_segments];
  p->checked_segments = log->segment_count;
  return log->segments[log->segment_count - 1].end - first->start >= CHECKED * MIN_BYTES;
}

/*** tokens ***/

static hp_token token_of(const hp_outline_tag *tag) {
  return (hp_token){.kind = tag->is_end ? HP_TOKEN_END_TAG : HP_TOKEN_START_TAG,
                    .flags = tag->self_closing ? HP_TOKEN_SELF_CLOSING : 0,
                    .name = tag->name};
}

/* Ends the segment before the token, which the merger runs. */
static void defer_token(hpar_rewriter *r, const hp_token *t, uint64_t end) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  p->next_mode = p->outer.base_mode;
  p->next_ns = b->stack.entries[0].ns;
  hp_predict_mode_after(b, t, &p->next_mode);
  hp_predict_namespace_after(b, t, &p->next_mode, &p->next_ns);
  p->frame.knows_next = r->rules->needs_frames && b->stack.depth && t->kind == HP_TOKEN_START_TAG;
  if (p->frame.knows_next)
    hp_matching_copy_bits(&r->matching, hp_frame_of(&r->matching, b->stack.top->node), p->frame.next);
  hp_speculation_end_segment(r, end, t);
  hp_outer_take_disposition(&p->outer);
  p->seeks = true;
}

/* Ends the segment with the first half of the tag, and begins one with the rest of it. */
static void split_tag(hpar_rewriter *r, const hp_token *t) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  uint32_t trusted = hp_outer_trusted(&p->outer);
  bool row = hp_splits_row(t);
  uint8_t mode = row ? HP_IN_TABLE_BODY : p->outer.base_mode, ns = b->stack.entries[0].ns;
  if (row) p->outer.fostered = false;
  r->stats.tags--;
  hp_speculation_end_segment(r, r->token.start, NULL);
  hp_outer_trust(&p->outer, trusted);
  hp_speculation_begin_segment(r, r->token.start, mode, ns);
  p->now.split.name = t->name;
  p->now.split.end = r->token.end;
  r->stats.tags = 1;
  hp_outline_take_tag(&r->outline, &r->token.tag);
}

/* Reads the text after a deferred tag as the merger probably does. */
static void set_raw_text(hpar_rewriter *r) {
  if (!r->token.tag.is_end)
    hp_scanner_set_content(&r->scanner, hp_content_of(r->token.tag.name, r->options.scripting), r->token.tag.name);
}

bool hp_speculation_take_outer_tag(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  hp_disposition disposition = hp_outer_take_disposition(&p->outer);
  hp_token token = token_of(&r->token.tag);
  if (disposition == HP_DISPOSITION_SPLIT) {
    split_tag(r, &token);
    disposition = hp_outer_take_disposition(&p->outer);
  }
  if (disposition == HP_DISPOSITION_LOCAL) {
    p->outer.now.tokens++;
    return true;
  }
  r->stats.tags--;
  defer_token(r, &token, r->token.start);
  if (!r->token.tag.is_end)
    hp_scanner_set_content(&r->scanner, hp_content_of(r->token.tag.name, r->options.scripting), r->token.tag.name);
  return false;
}

/* Returns true if an element of this name may match an instruction of the set. */
static bool may_match(hpar_rewriter *r, const hp_bits *set, hp_atom name, uint8_t ns) {
  hp_matcher *m = &r->matching.matcher;
  const hp_node node = {.kind = HPAR_NODE_ELEMENT, .ns = ns, .name = name};
  const hp_subject subject = {&node, 0, ns == HPAR_NAMESPACE_HTML, hp_rewriter_attributes(r, ns)};
  hp_matcher_find_candidates(m, &subject);
  for (uint32_t w = 0; w < m->words; w++)
    if (m->active[w] & set[w]) return true;
  return false;
}

/* Returns true if the start tag may match an instruction of the set. NULL is the empty set. The
 * namespace of its element is known only after its insertion. */
static bool may_match_any(hpar_rewriter *r, const hp_bits *set) {
  const hp_atom name = r->token.tag.name;
  const hp_open_element *top = r->outline.builder.stack.top;
  if (!set || !r->token.has_spans) return false;
  if (may_match(r, set, name == HP_ATOM_IMAGE ? HP_ATOM_IMG : name, HPAR_NAMESPACE_HTML)) return true;
  if (top->ns == HPAR_NAMESPACE_HTML && name != HP_ATOM_SVG && name != HP_ATOM_MATH) return false;
  return may_match(r, set, hp_svg_tag_name(name), HPAR_NAMESPACE_SVG) || may_match(r, set, name, HPAR_NAMESPACE_MATHML);
}

bool hp_speculation_may_run(hpar_rewriter *r, uint32_t index) {
  hp_speculation *p = r->parallel.speculation;
  const hp_rule *rule = &r->rules->rules[index];
  if (hp_rule_needs_merger(rule, p->min_limit)) {
    hp_speculation_give_up(r);
    return false;
  }
  if (!hp_rule_may_retire(rule) || r->running.states[index].matches) return true;
  hp_rewrite_log *log = p->log;
  hp_grow(&log->matches.uses, &log->matches.use_capacity, (size_t)log->matches.use_count + 1, &r->unwind);
  log->matches.uses[log->matches.use_count++] = (hp_rule_use){.rule = index};
  return true;
}

void hp_speculation_give_up(hpar_rewriter *r) { hp_outer_give_up(&r->parallel.speculation->outer); }

bool hp_speculation_defers_start_tag(hpar_rewriter *r) {
  const hp_speculation *p = r->parallel.speculation;
  bool declares = !r->encoding.is_certain && r->token.tag.name == HP_ATOM_META;
  /* The element is probably a child of the outer current node. */
  bool is_child = r->outline.builder.stack.depth <= 1;
  if (!declares && !may_match_any(r, p->deferring) && !(is_child && may_match_any(r, p->uncounted))) return false;
  hp_token token = token_of(&r->token.tag);
  r->stats.tags--;
  defer_token(r, &token, r->token.start);
  set_raw_text(r);
  return true;
}

void hp_speculation_take_text(hpar_rewriter *r, hp_outline_text kind) {
  hp_speculation *p = r->parallel.speculation;
  if (p->seeks) return; /* the rest of a text */
  if (hp_outer_is_local(&p->outer)) {
    p->outer.now.tokens++;
    return;
  }
  if (hp_scanner_is_in_section(&r->scanner)) { /* the merger cannot begin there */
    hp_outer_give_up(&p->outer);
    return;
  }
  hp_token token = {.kind = HP_TOKEN_TEXT, .flags = kind == HP_OUTLINE_OTHER ? 0 : HP_TEXT_WHITE};
  bool in_text = r->text.is_open;
  r->text.seen[kind] = false;
  r->text.is_open = r->token.start > r->text.start || !r->text.is_first;
  defer_token(r, &token, r->token.start);
  r->text.is_open = in_text;
  memset(r->text.seen, true, sizeof r->text.seen); /* the rest of the text is the merger's */
}

/* Skips raw text that the merger processes. Returns false at the end of the input. */
static bool skip_raw_text(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  while (s->content != HP_CONTENT_DATA || !hp_scanner_is_in_data(s))
    if (hp_scanner_next(s) == HP_SCAN_NEEDS_INPUT) return false;
  return true;
}

/* Leaves a text to the merger, which may process its beginning. */
static void skip_text(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  while (s->at < r->window.limit && !hp_scanner_begins_markup(s, s->at))
    s->at = s->kernels->byte(s->at + 1, r->window.limit, '<');
}

/* Returns true between two tokens. A newline may have no meaning after some start tags. */
static bool is_at_boundary(const hpar_rewriter *r) {
  const hp_builder *b = &r->outline.builder;
  return hp_scanner_is_in_data(&r->scanner) && is_between_tokens(b);
}

bool hp_speculation_goes_on_outside(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  bool is_inside = !hp_scanner_is_in_data(&r->scanner) && b->mode != HP_IN_TEXT; /* a token */
  if (is_inside && !p->seeks) return true;
  if (!p->seeks) hp_outer_check_mode(&p->outer, b);
  if (hp_outer_is_poisoned(&p->outer) && !p->seeks) {
    p->next_mode = p->outer.base_mode;
    p->next_ns = b->stack.entries[0].ns;
    hp_outer_trust(&p->outer, hp_outer_trusted(&p->outer) & ~hp_questions_reopened(b, NULL));
    p->seeks = true;
  }
  if (p->seeks) {
    if (!skip_raw_text(r)) {
      p->has_ended = true;
      return false;
    }
    if (r->text.is_open && r->rules->edits_texts) skip_text(r);
    p->seeks = false;
    if (!pays_off(p)) {
      p->has_ended = true;
      return false;
    }
    hp_speculation_begin_segment(r, position_of(r), p->next_mode, p->next_ns);
  }
  uint64_t at = position_of(r);
  bool is_boundary = is_at_boundary(r);
  if (at >= p->limit && is_boundary) return false;
  if (atomic_load_explicit(p->passed, memory_order_relaxed) >= p->limit) return false;
  if (b->stack.depth) return true;
  bool ends = is_boundary && at - p->now.start >= p->checkpoint_bytes && !b->formatting.count && !b->templates.count &&
              !(r->text.is_open && r->running.texts);
  if (ends) {
    p->frame.knows_next = r->rules->needs_frames && !r->rules->skips_tags;
    if (p->frame.knows_next) hp_matching_outer_bits(&r->matching, b->stack.entries[0].node, p->frame.next);
    hp_speculation_end_segment(r, at, NULL);
    hp_speculation_begin_segment(r, at, p->outer.base_mode, b->stack.entries[0].ns);
  }
  b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
  return true;
}

/*** a chunk ***/

/* Returns the first token of the chunk, as predicted; NULL: there is none. */
static const char *find_start(const hp_speculation_input *input, const hp_rewrite_chunk *chunk, hpar_rewriter *r,
                              hp_start_state *state) {
  const char *cut = input->window + chunk->cut, *end = input->window + chunk->limit;
  /* More text makes few predictions better, and its search can take longer than the chunk. */
  enum { BEFORE = 256 << 10, AFTER = 64 << 10 };
  bool reads_all = input->prescan && input->length < UINT32_MAX - AFTER;
  size_t from = !reads_all && chunk->cut > BEFORE ? chunk->cut - BEFORE : 0, left = input->length - chunk->limit;
  size_t length = chunk->limit - from + (left < AFTER ? left : AFTER);
  const hp_request request = {
      .text = input->window + from, .length = length, .more = true, .scripting = r->options.scripting};
  const hp_predictor_input given = {.request = &request,
                                    .cut = (uint32_t)(chunk->cut - from),
                                    .limit = (uint32_t)(chunk->limit - from),
                                    .reach = (uint32_t)(chunk->limit - from),
                                    .prescan = reads_all ? input->prescan : NULL};
  hp_lookback_predictor.predict(&given, state);
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

/* Finds the instructions that accept for rules of the merger. The rules that the merger runs no
 * more accept nothing. */
static void open_deferring(hpar_rewriter *r, const _Atomic hp_bits *retired) {
  hp_speculation *p = r->parallel.speculation;
  const hpar_rules *rules = r->rules;
  const hpar_selectors *set = hp_matcher_set(&r->matching.matcher);
  const uint32_t words = r->matching.matcher.words;
  hp_bits *accepts = hp_matcher_accepting(&r->matching.matcher);
  hp_grow(&p->deferring_space, &p->deferring_capacity, words, &r->unwind);
  memset(p->deferring_space, 0, words * sizeof *p->deferring_space);
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    uint32_t selector = set->instructions[i].selector;
    if (selector == HP_SELECT_NONE) continue;
    uint32_t rule = rules->of_selector[selector];
    if (atomic_load_explicit(&retired[rule / HP_BITS], memory_order_relaxed) >> (rule % HP_BITS) & 1) {
      accepts[i / HP_BITS] &= ~((hp_bits)1 << (i % HP_BITS));
      continue;
    }
    if (!hp_rule_needs_merger(&rules->rules[rule], p->min_limit)) continue;
    hp_set_bit(p->deferring_space, i);
    p->deferring = p->deferring_space;
  }
}

static void open_scopes(hpar_rewriter *r, const hp_rewrite_chunk *chunk) {
  hp_speculation *p = r->parallel.speculation;
  const uint32_t words = hp_scope_words(r->rules);
  hp_grow(&p->scopes, &p->scope_capacity, words, &r->unwind);
  memcpy(p->scopes, chunk->scopes, words * sizeof *p->scopes);
  p->later_scopes = chunk->scopes;
}

static hpar_status run_chunk(void *argument) {
  const chunk_run *run = argument;
  hpar_rewriter *r = run->worker;
  hp_speculation *p = r->parallel.speculation;
  hp_scanner *s = &r->scanner;
  hp_start_state state = {
      .content = HP_CONTENT_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  if (r->rules->needs_frames) hp_speculation_open_versions(r, run->chunk);
  p->min_limit = run->input->min_limit;
  open_deferring(r, run->input->retired);
  p->may_defer = p->deferring || p->uncounted || !r->encoding.is_certain;
  s->begin = run->input->window;
  s->position = run->input->position;
  /* A token that ends long after the chunk is the merger's. */
  enum { MAX_REACH = 64 << 10 };
  size_t left = run->input->length - run->chunk->limit;
  r->window.limit = s->begin + run->chunk->limit;
  s->end = r->window.limit + (left < MAX_REACH ? left : MAX_REACH);
  s->at = find_start(run->input, run->chunk, r, &state);
  if (!s->at || !skip_raw_text(r)) return HPAR_OK;
  if (r->rules->edits_texts && s->at == s->begin + run->chunk->cut) skip_text(r);
  if (s->at >= r->window.limit) return HPAR_OK;
  if (r->rules->unit_rule_count) open_scopes(r, run->chunk);
  p->outer.outer_ns = state.outer_ns;
  hp_speculation_begin_segment(r, position_of(r), state.mode, state.ns);
  hp_rewriter_scan(r);
  if (p->has_ended || p->seeks) return HPAR_OK;
  bool is_inside = !hp_scanner_is_in_data(s), in_section = hp_scanner_is_in_section(s);
  if (s->content == HP_CONTENT_DATA && !in_section)
    hp_speculation_end_segment(r, is_inside ? s->token_start : position_of(r), NULL);
  return HPAR_OK;
}

void hp_speculation_run_chunk(hpar_rewriter *r, hp_speculation *p, const hp_speculation_input *input,
                              uint32_t checkpoint_bytes, const _Atomic uint64_t *passed, hp_rewrite_chunk *chunk) {
  hp_rewrite_log *log = &chunk->log;
  chunk_run run = {r, input, chunk};
  hp_rewrite_log_clear(log);
  log->page = chunk->page;
  const hp_speculation kept = *p;
  *p = (hp_speculation){.log = log,
                        .limit = input->position + chunk->limit,
                        .checkpoint_bytes = checkpoint_bytes,
                        .passed = passed,
                        .frame.memory = kept.frame.memory,
                        .frame.capacity = kept.frame.capacity,
                        .deferring_space = kept.deferring_space,
                        .deferring_capacity = kept.deferring_capacity,
                        .scopes = kept.scopes,
                        .scope_capacity = kept.scope_capacity};
  hp_outer_trust(&p->outer, 1u << HP_ASSUME_FORMATTING_CLEAN);
  hp_outer_minimise_log(&p->outer);
  if (chunk->limit <= chunk->cut) return;
  if (hp_rewriter_open_worker(r, input->merger, hp_speculation_take_output, r) != HPAR_OK) return;
  r->parallel.speculation = p;
  hp_rewriter_use_encoding(r, chunk->page.encoding, chunk->page.is_certain);
  r->outline.quirks = chunk->page.quirks;
  hp_urls_assume(r, input->merger, chunk->page.base);
  hp_outer_open(&p->outer, &r->outline.builder);
  hp_outline_speculate(&r->outline);
  hp_try(&r->unwind, run_chunk, &run);
  r->parallel.speculation = NULL;
  r->progress.phase = HP_PHASE_NONE;
}
