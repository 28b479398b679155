/* Segments of a worker, and the log that they are written to. */

#include "speculation/log.h"
#include "speculation/worker.h"

#include "base/memory.h"
#include "dom/tag.h"
#include "tree/active_formatting.h"
#include "tree/stack.h"

/*** the log ***/

void hp_log_clear(hp_log *log) {
  log->segments.count = log->open.count = log->formatting.count = log->template_modes.count = log->tokens.count = 0;
  log->errors.count = 0;
  log->sightings.count = 0;
}

/* Drops the state at the end of the segment and of all later ones. */
static void drop_state(hp_log *log, const hp_segment *s) {
  log->open.count = s->open_elements.first;
  log->formatting.count = s->formatting.first;
  log->template_modes.count = s->templates.first;
}

/* Keeps the first `segments` segments and their entries. */
static void cut_log(hp_log *log, uint32_t segments) {
  log->errors.count = segments ? log->segments.items[segments - 1].observed_to.errors : 0;
  log->sightings.count = segments ? log->segments.items[segments - 1].observed_to.sightings : 0;
  if (segments >= log->segments.count) return;
  const hp_segment *s = &log->segments.items[segments];
  drop_state(log, s);
  for (uint32_t i = segments; i < log->segments.count; i++, s++) {
    if (s->ends != HP_ENDS_DEFER && s->ends != HP_ENDS_SPLIT) continue;
    log->tokens.count = s->token;
    break;
  }
  log->segments.count = segments;
}

void hp_log_free(hp_log *log) {
  hp_free(log->segments.items);
  hp_free(log->open.items);
  hp_free(log->formatting.items);
  hp_free(log->template_modes.items);
  hp_free(log->tokens.items);
  hp_free(log->errors.items);
  hp_sightings_free(&log->sightings);
}

/*** segments ***/

static hp_ref new_anchor(hp_builder *b) {
  hp_node *anchor = hp_arena_take(b->nodes, sizeof *anchor);
  memset(anchor, 0, sizeof *anchor);
  anchor->kind = HP_NODE_ANCHOR;
  return hp_ref_of(b->base, anchor);
}

void hp_begin_segment(hp_worker *w, uint32_t offset, uint8_t base_mode, uint8_t ns) {
  hp_builder *b = &w->engine.builder;
  hp_ref anchor = b->stack.entries[0].node;
  if (!anchor || hp_node_at(b->base, anchor)->first) anchor = new_anchor(b);
  hp_speculative_begin_segment(b, anchor, base_mode, ns);
  hp_outer_begin(&w->outer, offset, base_mode, ns);
  w->outer.now.anchor = anchor;
}

/* Returns whether each marker of the list belongs to an open element. */
static bool has_no_leaked_marker(const hp_builder *b) {
  uint32_t markers = 0;
  for (uint32_t i = 0; i < b->formatting.count; i++) markers += !b->formatting.entries[i].node;
  for (uint32_t i = 1; markers && i <= b->stack.depth; i++)
    markers -= hp_begins_list(b->stack.entries[i].ns, b->stack.entries[i].name);
  return !markers;
}

/* Copies the builder's open elements, formatting entries and template modes to the log. */
static void log_open_state(hp_worker *w, hp_log *log, hp_segment_end ends) {
  hp_unwind *unwind = &w->engine.unwind;
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  hp_stack_close_tombstones(b);
  hp_active_formatting_close_all_tombstones(b);
  s->ark_known = s->ark_known && has_no_leaked_marker(b);
  s->left = hp_speculative_state_of(b, s->assumes.base_mode, s->begins_raw_text);
  s->open_elements.count = b->stack.depth;
  s->formatting.count = b->formatting.count;
  s->templates.count = b->templates.count;
  hp_push_all(&log->open, b->stack.entries + 1, b->stack.depth, unwind);
  hp_push_all(&log->formatting, b->formatting.entries, b->formatting.count, unwind);
  hp_push_all(&log->template_modes, b->templates.modes, b->templates.count, unwind);
  if (ends == HP_ENDS_DEFER || ends == HP_ENDS_SPLIT) {
    s->token = log->tokens.count;
    *hp_push(&log->tokens, unwind) = w->outer.token;
  }
}

/* Ends the segment's errors and resources. Segments without both keep zeros. */
static __attribute__((noinline)) void end_observed(hp_worker *w, const hp_log *log) {
  if (hp_listener_of(&w->engine.builder)) hp_finder_end_segment(&w->finder);
  w->outer.now.observed_to.errors = log->errors.count;
  w->outer.now.observed_to.sightings = log->sightings.count;
}

/* Takes the memory of the next segment and of its deferred token from the merger, which has read
 * it in the last parse. Otherwise the stores of the next segment wait for the merger's core. */
static void prefetch_next(const hp_log *log) {
  uintptr_t segment = (uintptr_t)log->segments.items + log->segments.count * sizeof *log->segments.items;
  uintptr_t token = (uintptr_t)log->tokens.items + log->tokens.count * sizeof *log->tokens.items;
  for (size_t i = 0; i < 2 * sizeof *log->segments.items; i += HP_CACHE_LINE)
    hp_prefetch_to_write((const char *)(segment + i));
  for (size_t i = 0; i < 2 * sizeof *log->tokens.items; i += HP_CACHE_LINE)
    hp_prefetch_to_write((const char *)(token + i));
}

/* Notes what the segment and its deferred token do to the form element pointer. Forms in a template
 * of the outer context can make the note wrong, but not the log. */
static void note_form(hp_outer_context *outer, const hp_builder *b, hp_segment_end ends) {
  if (hp_knows_form(b)) outer->form_may_be_open = hp_form_pointer(b);
  const hp_token *t = &outer->token;
  if (ends != HP_ENDS_DEFER) return;
  if (t->kind == HP_TOKEN_START_TAG && t->name == HP_ATOM_FORM) outer->form_may_be_open = true;
  if (t->kind != HP_TOKEN_END_TAG) return;
  if (t->name == HP_ATOM_FORM) outer->form_may_be_open = false;
  if (t->name == HP_ATOM_TEMPLATE) outer->form_may_be_open = true;
}

void hp_worker_end_segment(hp_worker *w, hp_log *log, hp_segment_end ends) {
  hp_unwind *unwind = &w->engine.unwind;
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  if (hp_builds_specially(b)) end_observed(w, log);
  s->ends = (uint8_t)ends;
  s->hazard = w->outer.poisoned;
  if (!hp_node_at(b->base, s->anchor)->first) s->anchor = 0; /* the next segment may use it */
  s->assumes.questions = hp_speculative_of(b)->assumed;
  s->misnested = hp_speculative_of(b)->misnested;
  s->fostered = hp_speculative_of(b)->fostered;
  s->form_may_be_open = w->outer.form_may_be_open;
  note_form(&w->outer, b, ends);
  s->open_elements.first = log->open.count;
  s->formatting.first = log->formatting.count;
  s->templates.first = log->template_modes.count;
  if (ends != HP_ENDS_HAZARD) log_open_state(w, log, ends);
  *hp_push(&log->segments, unwind) = *s;
  prefetch_next(log);
  bool marker;
  if (w->outer.minimise_log && b->formatting.count && hp_has_listed(b, HP_ATOM_A, &marker))
    hp_speculative_of(b)->outer_a_likely = true;
  hp_reopen_questions(b, ends == HP_ENDS_DEFER ? &w->outer.token : NULL);
  hp_speculative_clear(b);
  /* The anchor belongs to the log, which another thread may resume. */
  if (s->anchor) b->stack.entries[0].node = 0;
}

void hp_worker_cut_log(hp_worker *w, hp_log *log, uint32_t segments) {
  if (hp_listener_of(&w->engine.builder))
    hp_finder_cut_log(&w->finder, segments ? log->segments.items[segments - 1].observed_to.sightings : 0);
  cut_log(log, segments);
}

void hp_worker_resume(hp_worker *w, const hp_request *request, hp_log *log) {
  hp_builder *b = &w->engine.builder;
  hp_segment *s = &w->outer.now;
  hp_speculative_clear(b);
  *s = log->segments.items[--log->segments.count];
  if (!s->anchor) s->anchor = new_anchor(b);
  hp_speculative_begin_segment(b, s->anchor, s->assumes.base_mode, s->assumes.ns);
  hp_speculative_of(b)->assumed = s->assumes.questions;
  hp_speculative_of(b)->misnested = s->misnested;
  hp_speculative_of(b)->fostered = s->fostered;
  w->outer.base_mode = s->assumes.base_mode;
  w->outer.poisoned = HP_HAZARD_NONE;
  w->outer.form_may_be_open = s->form_may_be_open;
  for (uint32_t i = 0; i < s->open_elements.count; i++) hp_exact_push(b, &log->open.items[s->open_elements.first + i]);
  if (s->formatting.count)
    hp_active_formatting_splice(b, log->formatting.items + s->formatting.first, s->formatting.count, 0);
  hp_grow(&b->templates.modes, &b->templates.capacity, s->templates.count, b->unwind);
  b->templates.count = s->templates.count;
  if (b->templates.count)
    memcpy(b->templates.modes, log->template_modes.items + s->templates.first, s->templates.count);
  hp_speculative_resume(b, &s->left);
  hp_speculative_of(b)->likely_false = 0;
  s->open_elements.count = s->formatting.count = s->templates.count = 0;
  drop_state(log, s);
  log->errors.unwind = &w->engine.unwind;
  hp_observe_errors(b, request->max_errors ? &log->errors : NULL);
}

void hp_give_segment_up(hp_worker *w, hp_log *log, uint32_t end) {
  hp_outer_context *outer = &w->outer;
  uint8_t mode = outer->base_mode, ns = w->engine.builder.stack.entries[0].ns;
  outer->now.end = end;
  hp_worker_end_segment(w, log, HP_ENDS_HAZARD);
  hp_skip_raw_text(&w->engine.tokenizer);
  hp_begin_segment(w, hp_tokenizer_offset(&w->engine.tokenizer), mode, ns);
}

bool hp_log_raw_text(hp_worker *w, hp_log *log, hp_atom name) {
  hp_tokenizer *tokenizer = &w->engine.tokenizer;
  hp_outer_context *outer = &w->outer;
  uint32_t confident = outer->confident;
  while (tokenizer->content != HP_TEXT_STATE_DATA) {
    uint32_t at = hp_tokenizer_offset(&w->engine.tokenizer);
    hp_engine_check(&w->engine);
    if (hp_next_token(tokenizer, &outer->token) == HP_TOKEN_NEED_MORE) break;
    hp_begin_segment(w, at, outer->base_mode, w->engine.builder.stack.entries[0].ns);
    outer->now.raw_name = name;
    outer->now.end = outer->token.start;
    hp_worker_end_segment(w, log, HP_ENDS_DEFER);
    outer->confident = confident;
    if (outer->token.kind == HP_TOKEN_EOF) return false;
  }
  return true;
}
