/* A worker: a rewriter that rewrites a chunk without the input before it. Its log: segments and
 * their output. */

#include "rewrite/speculation.h"
#include "rewrite/urls.h"

#include "base/memory.h"
#include "runtime/units.h"
#include "speculation/dispositions.h"
#include "speculation/strategy.h"
#include "tokenizer/tokenizer.h"
#include "tree/stack.h"

#include <string.h>

/*** the log ***/

static void clear_log(hp_rewrite_log *log) {
  for (uint32_t i = 0; i < log->records.count; i++) hp_ending_close(&log->records.items[i].ending);
#define CLEAR(name) log->name.count = 0;
  HP_LOGGED_ARRAYS(CLEAR)
  HP_OTHER_ARRAYS(CLEAR)
#undef CLEAR
  log->name_bytes.length = 0;
  hp_outline_log_clear(&log->outline);
}

void hp_rewrite_log_free(hp_rewrite_log *log) {
  clear_log(log);
  hp_outline_log_free(&log->outline);
#define FREE(name) hp_free(log->name.items);
  HP_LOGGED_ARRAYS(FREE)
  HP_OTHER_ARRAYS(FREE)
#undef FREE
  hp_bytes_free(&log->name_bytes);
  *log = (hp_rewrite_log){.versions = 0};
}

/* Takes output. Long parts of the input stay where they are. */
static hpar_status take_output(const char *bytes, size_t length, void *context) {
  enum { MAX_COPIED = 2048 };
  hpar_rewriter *r = context;
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  bool is_input = length > MAX_COPIED && bytes >= r->scanner.begin && bytes < r->scanner.end;
  hp_piece *last = log->pieces.count > p->joined_piece ? &log->pieces.items[log->pieces.count - 1] : NULL;
  if (!is_input) {
    const size_t need = log->block.count + length;
    if (need > log->block.capacity && !hp_reserve(&log->block.items, &log->block.capacity, need, 1))
      return HPAR_ERROR_MEMORY;
    memcpy(log->block.items + log->block.count, bytes, length);
    log->block.count += (uint32_t)length;
    if (last && !last->input) {
      last->length += length;
      return HPAR_OK;
    }
  }
  *hp_push(&log->pieces, &r->unwind) =
      is_input ? (hp_piece){bytes, 0, length} : (hp_piece){NULL, log->block.count - length, length};
  return HPAR_OK;
}

static void apply_edits(hpar_rewriter *r, uint64_t position) {
  hp_edits_apply(&r->edits, &r->sink, r->scanner.begin, r->scanner.position, position);
  hp_sink_flush(&r->sink);
}

hp_log_place hp_speculation_place_at(hpar_rewriter *r, uint64_t position) {
  const hp_rewrite_log *log = r->parallel.speculation->log;
  apply_edits(r, position);
  return (hp_log_place){.piece = log->pieces.count,
                        .found = log->found.count,
                        .mute_depth = r->edits.mute_depth,
                        .tags = r->stats.tags,
                        .matches = r->stats.matches,
                        .misplaced = r->stats.misplaced,
                        .depth = r->stats.depth,
                        .counts = hp_edits_take_counts(&r->edits)};
}

void hp_speculation_note_found(hpar_rewriter *r, uint32_t rule) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  *hp_push(&log->found, &r->unwind) = (hp_reported_match){r->token.start, r->element.end, rule};
}

/* Returns true if all rules of the last step only edit attributes. */
static bool edits_only_attributes(const hpar_rewriter *r) {
  const hp_matcher *m = &r->matching.matcher;
  for (uint32_t w = 0; w < m->words; w++)
    for (hp_bits left = hp_accepted(m, w); left; left &= left - 1) {
      uint32_t selector = hp_selector_of(m, w * HP_BITS + (uint32_t)__builtin_ctzll(left));
      if (!hp_rule_edits_only_attributes(&r->rules->rules[r->rules->of_selector[selector]])) return false;
    }
  return true;
}

void hp_speculation_write_conditionally(hpar_rewriter *r, const hp_outline_insertion *insertion, bool has_tag) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  hp_matcher *m = &r->matching.matcher;
  const uint32_t instruction = m->log->condition - 1, holding = r->matching.holding;
  const uint32_t test = holding ? 0 : m->log->test;
  const uint64_t matches = r->stats.matches, edits = r->edits.counts.edits;
  const hp_node *node = hp_outline_node(&r->outline, insertion->node);
  bool is_known = !test || hp_names_is_fixed(&r->names, node->name);
  if (r->edits.mute_depth || m->log->gives_up || !is_known || (holding && !edits_only_attributes(r))) {
    hp_speculation_give_up(r);
    return;
  }
  if (!has_tag) return;
  hp_grow(&log->conditions.items, &log->conditions.capacity, (size_t)log->conditions.count + 1, &r->unwind);
  apply_edits(r, r->token.start);
  p->joined_piece = log->pieces.count;
  hp_rewrite_condition condition = {.instruction = !holding && m->log->reads_bit ? instruction : UINT32_MAX,
                                    .versions = holding,
                                    .test = test,
                                    .index = m->log->index,
                                    .ns = node->ns,
                                    .name = node->name,
                                    .piece = log->pieces.count,
                                    .start = r->token.start,
                                    .end = r->token.end};
  condition.found = log->found.count;
  if (!holding) hp_set_bit(m->matched, instruction);
  hp_rewriter_apply_rules(r, insertion, true);
  apply_edits(r, r->token.end);
  p->joined_piece = log->pieces.count;
  condition.piece_count = log->pieces.count - condition.piece;
  condition.found_count = log->found.count - condition.found;
  condition.matches = r->stats.matches - matches;
  condition.edits = r->edits.counts.edits - edits;
  r->stats.matches = matches;
  r->edits.counts.edits = edits;
  log->conditions.items[log->conditions.count++] = condition;
}

/*** segments ***/

/* Makes the assumptions of most tags in advance, so that the fused loop reads the first tag. */
static void assume_in_advance(hpar_rewriter *r) {
  enum {
    QUESTIONS = 1u << HP_ASSUME_NO_P_IN_BUTTON_SCOPE | 1u << HP_ASSUME_NO_LI | 1u << HP_ASSUME_NO_DD_DT |
                1u << HP_ASSUME_FORMATTING_CLEAN | 1u << HP_ASSUME_NO_FORMATTING | 1u << HP_ASSUME_TOP_NOT_IMPLIED
  };
  hp_outer_context *outer = &r->parallel.speculation->outer;
  hp_builder *b = &r->outline.builder;
  if (outer->now.assumes.ns != HPAR_NAMESPACE_HTML || outer->fostered) return;
  if (outer->base_mode == HP_IN_BODY) {
    outer->now.assumes.modes = 1u << HP_IN_BODY | 1u << HP_IN_CELL | 1u << HP_IN_CAPTION;
    hp_speculative_of(b)->assumed = hp_outer_trusted(outer) & QUESTIONS;
  } else if (outer->base_mode == HP_IN_TABLE_BODY || outer->base_mode == HP_IN_ROW) {
    outer->now.assumes.modes = 1u << outer->base_mode;
  }
  b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
}

/* Predicts the outer frame. */
static void begin_frames(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  const size_t words = r->matching.matcher.words;
  const hp_bits *known = p->frame.learned_near, *values = known + words;
  memcpy(p->frame.predicted, p->frame.knows_next ? p->frame.next : p->frame.later,
         2 * p->versions * words * sizeof *p->frame.predicted);
  for (uint32_t v = 0; v < p->versions; v++) {
    hp_bits *near = p->frame.predicted + 2 * v * words, *own_later = p->candidate_logs[v].own_later;
    for (size_t w = 0; w < words && !p->frame.knows_next; w++) near[w] = (near[w] & ~known[w]) | values[w];
    if (own_later) memset(own_later, 0, words * sizeof *own_later);
    p->candidate_logs[v].min_children = 0;
  }
  p->frame.knows_next = false;
  memset(p->frame.read, 0, 2 * words * sizeof *p->frame.read);
  hp_matching_begin_segment(&r->matching, r->outline.builder.stack.entries[0].node, p->frame.predicted);
}

/* Begins a segment on the predicted outer context. */
static void begin_segment(hpar_rewriter *r, uint64_t start, uint8_t mode, uint8_t ns) {
  hp_speculation *p = r->parallel.speculation;
  const hp_scanner *s = &r->scanner;
  const bool in_text = !hp_scanner_begins_markup(s, s->begin + (start - s->position));
  for (uint32_t i = p->now.logged.uses.first; i < p->log->uses.count; i++)
    r->running.states[p->log->uses.items[i].rule].matches = 0;
  p->now = (hp_rewrite_segment){.start = start, .begins_in_text = in_text};
#define BEGIN(name) p->now.logged.name.first = p->log->name.count;
  HP_LOGGED_ARRAYS(BEGIN)
#undef BEGIN
  p->joined_piece = p->log->pieces.count;
  hp_outer_begin(&p->outer, 0, mode, ns);
  hp_outer_take_disposition(&p->outer);
  hp_outline_begin_segment(&r->outline, mode, ns);
  r->outline.builder.flags.frameset_ok = p->log->page.frameset_ok;
  assume_in_advance(r);
  if (r->rules->needs_frames) begin_frames(r);
  hp_end_records_forget(&r->ends);
  hp_edits_open(&r->edits, start);
  r->sink.length = 0;
  r->stats = (hpar_rewrite_stats){.failed_at = UINT64_MAX};
  r->text.is_open = false;
  if (!r->rules->unit_rule_count) return;
  /* Elements of earlier segments have no scopes. */
  hp_running_rules_set_scopes(&r->running, r->rules, p->scopes);
  hp_rewriter_set_captures(r);
}

static hp_saved_name save_name(hpar_rewriter *r, hp_atom atom) {
  hp_bytes *bytes = &r->parallel.speculation->log->name_bytes;
  if (hp_names_is_fixed(&r->names, atom)) return (hp_saved_name){0, 0};
  const hp_name name = hp_names_of(&r->names, atom);
  hp_bytes_append(bytes, name.bytes, name.length, &r->unwind);
  return (hp_saved_name){bytes->length - name.length, name.length};
}

static void save_names(hpar_rewriter *r, uint32_t first) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  const hp_outline_log *outline = &log->outline;
  hp_grow(&log->names.items, &log->names.capacity, outline->entries.count, &r->unwind);
  for (uint32_t i = first; i < outline->entries.count; i++)
    log->names.items[i] = save_name(r, outline->entries.items[i].element.name);
}

/* Appends space for bits to the log. */
static hp_bits *add_bits(hpar_rewriter *r, uint32_t count) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  hp_grow(&log->bits.items, &log->bits.capacity, (size_t)log->bits.count + count, &r->unwind);
  log->bits.count += count;
  return log->bits.items + (log->bits.count - count);
}

static void save_bits(hpar_rewriter *r, const hp_bits *bits, uint32_t count) {
  memcpy(add_bits(r, count), bits, count * sizeof *bits);
}

/* Saves the types of the children in a frame. */
static void save_types(hpar_rewriter *r, uint32_t frame, uint32_t entry) {
  for (const hp_type_counter *c = NULL; (c = hp_matching_next_type(&r->matching, frame, c));) {
    const hp_atom name = (hp_atom)c->type;
    *hp_push(&r->parallel.speculation->log->types, &r->unwind) =
        (hp_saved_type){entry, (uint8_t)(c->type >> 32), name, save_name(r, name), c->count};
  }
}

/* Saves a frame in all versions. */
static void save_frame(hpar_rewriter *r, uint32_t frame) {
  const uint32_t words = (uint32_t)(r->matching.version_size / sizeof(hp_bits));
  for (uint32_t v = 0; v < r->matching.versions; v++)
    save_bits(r, (const hp_bits *)(const void *)hp_frame_version(&r->matching, frame, v), words);
}

/* Saves the children of the outer current node in this segment. */
static void save_outer_frame(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  const uint32_t words = r->matching.matcher.words, place = p->log->bits.count;
  const hp_node *outer = hp_outline_node(&r->outline, r->outline.builder.stack.entries[0].node);
  save_frame(r, outer->next);
  for (uint32_t v = 0; v < p->versions; v++) {
    hp_frame *saved = (hp_frame *)(void *)((char *)(p->log->bits.items + place) + v * r->matching.version_size);
    memcpy(saved->bits + 3 * (size_t)words, p->candidate_logs[v].own_later, words * sizeof *saved->bits);
    hp_matching_assume_counter(&r->matching, saved, v, false);
  }
  save_types(r, outer->next, UINT32_MAX);
}

static void save_frames(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  const uint32_t words = r->matching.matcher.words;
  const bool counts = !r->rules->skips_tags;
  p->now.frame = log->bits.count;
  if (!r->rules->needs_frames) return;
  save_bits(r, p->frame.predicted, 2 * p->versions * words);
  save_bits(r, p->frame.read, 2 * words);
  if (counts) save_outer_frame(r);
  for (uint32_t i = first; i < log->outline.entries.count; i++) {
    uint32_t *next = &log->outline.entries.items[i].next, frame = *next;
    if (!frame) continue;
    if (counts) save_types(r, frame, i);
    *next = log->bits.count + 1;
    if (counts)
      save_frame(r, frame);
    else
      hp_matching_copy_bits(&r->matching, frame, add_bits(r, 2 * r->matching.versions * words));
  }
  for (uint32_t v = 0; v < p->versions; v++)
    if (p->candidate_logs[v].min_children > p->now.min_children)
      p->now.min_children = p->candidate_logs[v].min_children;
}

/* Moves the records of the saved entries to the log. */
static void save_records(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  for (uint32_t i = first; i < log->outline.entries.count; i++) {
    hp_outline_entry *e = &log->outline.entries.items[i];
    if (!e->previous) continue;
    hp_end_record *record = &r->ends.items[e->previous];
    if (!record->moved_to) {
      hp_end_record *to = hp_push(&log->records, &r->unwind);
      *to = *record;
      to->users = to->scope_depth = 0;
      *record = (hp_end_record){.moved_to = log->records.count};
    }
    e->previous = record->moved_to;
    hp_end_record *moved = &log->records.items[e->previous - 1];
    moved->users++;
    moved->scope_depth += i < p->now.state.entries + p->now.state.open_count;
  }
}

/* Ends the segment at `end`, before the deferred token; NULL: none. Appends the segment to the log,
 * unless it is unusable or empty. */
static void end_segment(hpar_rewriter *r, uint64_t end, const hp_token *token) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  hp_rewrite_segment *now = &p->now;
  uint32_t first = p->log->outline.entries.count;
  uint32_t reopened = hp_questions_reopened(b, token);
  const bool is_empty = !p->outer.now.tokens && !now->split.name; /* it saves the merger nothing */
  bool fits = !hp_outer_is_poisoned(&p->outer) && !is_empty && b->mode != HP_IN_TEXT && !r->ends.after_tag.length;
  if (fits && hp_outline_save(&r->outline, p->outer.base_mode, &p->log->outline, &now->state)) {
    now->assumed = p->outer.now;
    now->assumed.assumes.questions = hp_speculative_of(b)->assumed;
    now->assumed.misnested = now->assumed.fostered = true;
    now->end = end;
    save_names(r, first);
    save_frames(r, first);
    save_records(r, first);
    now->scopes = p->log->bits.count;
    if (r->rules->unit_rule_count) save_bits(r, p->scopes, hp_scope_words(r->rules));
    now->copied = r->text.is_open && r->running.texts ? r->text.start : end;
    now->last = hp_speculation_place_at(r, now->copied);
    if (r->sink.status != HPAR_OK) hp_unwind_now(&r->unwind, r->sink.status);
#define END(name) now->logged.name.end = p->log->name.count;
    HP_LOGGED_ARRAYS(END)
#undef END
    for (uint32_t i = now->logged.uses.first; i < p->log->uses.count; i++)
      p->log->uses.items[i].matches = r->running.states[p->log->uses.items[i].rule].matches;
    now->text = r->text;
    *hp_push(&p->log->segments, &r->unwind) = *now;
  }
  hp_outer_trust(&p->outer, hp_outer_trusted(&p->outer) & ~reopened);
  if (r->rules->unit_rule_count) hp_speculation_predict_scopes(r, token);
}

/*** the chunk ***/

static uint64_t position_of(const hpar_rewriter *r) { return hp_scanner_position(&r->scanner, r->scanner.at); }

/* Returns false if the last segments are so short that the merger rewrites their input faster than
 * it adopts them. */
static bool pays_off(hp_speculation *p) {
  enum { CHECKED = 64, MIN_BYTES = 256 };
  const hp_rewrite_log *log = p->log;
  if (p->input->checkpoint_bytes < MIN_BYTES || log->segments.count < p->checked_segments + CHECKED) return true;
  const hp_rewrite_segment *first = &log->segments.items[p->checked_segments];
  p->checked_segments = log->segments.count;
  return log->segments.items[log->segments.count - 1].end - first->start >= CHECKED * MIN_BYTES;
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
  end_segment(r, end, t);
  hp_outer_take_disposition(&p->outer);
  p->seeks = true;
}

/* Ends the segment with the first half of the tag, and begins one with the rest of it. */
static void split_tag(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  uint32_t trusted = hp_outer_trusted(&p->outer);
  const hp_token token = token_of(&r->token.tag);
  bool row = hp_splits_row(&token);
  uint8_t mode = row ? HP_IN_TABLE_BODY : p->outer.base_mode, ns = b->stack.entries[0].ns;
  if (row) p->outer.fostered = false;
  r->stats.tags--;
  end_segment(r, r->token.start, NULL);
  hp_outer_trust(&p->outer, trusted);
  begin_segment(r, r->token.start, mode, ns);
  p->now.split.name = token.name;
  p->now.split.end = r->token.end;
  r->stats.tags = 1;
  hp_outline_take_tag(&r->outline, &r->token.tag);
}

/* Reads the text after a deferred tag as the merger probably does. */
static void set_raw_text(hpar_rewriter *r) {
  if (!r->token.tag.is_end)
    hp_scanner_set_content(&r->scanner, hp_text_state_of(r->token.tag.name, !r->options.no_scripting),
                           r->token.tag.name);
}

/* Leaves the tag to the merger. */
static void defer_tag(hpar_rewriter *r) {
  const hp_token token = token_of(&r->token.tag);
  r->stats.tags--;
  defer_token(r, &token, r->token.start);
  set_raw_text(r);
}

bool hp_speculation_take_outer_tag(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  hp_disposition disposition = hp_outer_take_disposition(&p->outer);
  /* The merger may refuse the whole of a tag above max_token. */
  const bool may_be_refused = r->token.end - r->token.start > r->options.max_token;
  if (disposition == HP_DISPOSITION_SPLIT && !may_be_refused) {
    split_tag(r);
    disposition = hp_outer_take_disposition(&p->outer);
  }
  if (disposition == HP_DISPOSITION_LOCAL) {
    p->outer.now.tokens++;
    return true;
  }
  defer_tag(r);
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
  if (hp_rule_needs_merger(rule, p->input->min_limit)) {
    hp_speculation_give_up(r);
    return false;
  }
  if (!hp_rule_may_retire(rule) || r->running.states[index].matches) return true;
  hp_rewrite_log *log = p->log;
  *hp_push(&log->uses, &r->unwind) = (hp_rule_use){.rule = index};
  return true;
}

void hp_speculation_give_up(hpar_rewriter *r) { hp_outer_give_up(&r->parallel.speculation->outer); }

bool hp_speculation_defers_start_tag(hpar_rewriter *r) {
  const hp_speculation *p = r->parallel.speculation;
  bool declares = !r->encoding.is_certain && r->token.tag.name == HP_ATOM_META;
  /* The element is probably a child of the outer current node. */
  bool is_child = r->outline.builder.stack.depth <= 1;
  if (!declares && !may_match_any(r, p->deferring) && !(is_child && may_match_any(r, p->uncounted))) return false;
  defer_tag(r);
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
  while (s->content != HP_TEXT_STATE_DATA || !hp_scanner_is_in_data(s))
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
    begin_segment(r, position_of(r), p->next_mode, p->next_ns);
  }
  uint64_t at = position_of(r);
  bool is_boundary = is_at_boundary(r);
  hp_unit_call_hook();
  if (at >= p->limit && is_boundary) return false;
  if (atomic_load_explicit(p->passed, memory_order_relaxed) >= p->limit) return false;
  if (b->stack.depth) return true;
  bool ends = is_boundary && at - p->now.start >= p->input->checkpoint_bytes && !b->formatting.count &&
              !b->templates.count && !(r->text.is_open && r->running.texts);
  if (ends) {
    p->frame.knows_next = r->rules->needs_frames && !r->rules->skips_tags;
    if (p->frame.knows_next) hp_matching_outer_bits(&r->matching, b->stack.entries[0].node, p->frame.next);
    end_segment(r, at, NULL);
    begin_segment(r, at, p->outer.base_mode, b->stack.entries[0].ns);
  }
  b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
  return true;
}

/*** its life ***/

/* Returns the first token of the chunk, as predicted; NULL: there is none. */
static const char *find_start(hpar_rewriter *r, hp_start_state *state) {
  const hp_speculation_input *input = r->parallel.speculation->input;
  const hp_rewrite_chunk *chunk = r->parallel.speculation->chunk;
  const char *cut = input->window + chunk->cut, *end = input->window + chunk->limit;
  /* More text makes few predictions better, and its search can take longer than the chunk. */
  enum { BEFORE = 256 << 10, AFTER = 64 << 10 };
  bool reads_all = input->prescan && input->length < UINT32_MAX - AFTER;
  size_t from = !reads_all && chunk->cut > BEFORE ? chunk->cut - BEFORE : 0, left = input->length - chunk->limit;
  size_t length = chunk->limit - from + (left < AFTER ? left : AFTER);
  const hp_request request = {
      .text = input->window + from, .length = length, .more = true, .scripting = !r->options.no_scripting};
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
  if (state->content != HP_TEXT_STATE_DATA) hp_scanner_set_content(&r->scanner, state->content, state->raw_name);
  return cut;
}

/* Finds the instructions that accept for rules of the merger. Complete rules accept
 * nothing. */
static void open_deferring(hpar_rewriter *r, hp_bits *deferring) {
  hp_speculation *p = r->parallel.speculation;
  const hpar_rules *rules = r->rules;
  const hpar_selectors *set = hp_matcher_set(&r->matching.matcher);
  hp_bits *accepts = hp_matcher_accepting(&r->matching.matcher);
  memset(deferring, 0, r->matching.matcher.words * sizeof *deferring);
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    uint32_t selector = set->instructions[i].selector;
    if (selector == HP_SELECT_NONE) continue;
    uint32_t rule = rules->of_selector[selector];
    if (hp_bit_is_set(p->chunk->sets.retired, rule)) {
      accepts[i / HP_BITS] &= ~((hp_bits)1 << (i % HP_BITS));
      continue;
    }
    if (!hp_rule_needs_merger(&rules->rules[rule], p->input->min_limit)) continue;
    hp_set_bit(p->deferring = deferring, i);
  }
}

/* Opens the sets of the chunk in the worker's memory. */
static void open_sets(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  const size_t words = r->matching.matcher.words, scope_words = hp_scope_words(r->rules);
  const size_t version_words = r->rules->needs_frames ? HP_VERSION_SETS * words : 0;
  hp_grow(&p->memory, &p->capacity, words + scope_words + version_words, &r->unwind);
  p->scopes = p->memory + words;
  memcpy(p->scopes, p->chunk->sets.scopes, scope_words * sizeof *p->scopes);
  if (version_words) hp_speculation_open_versions(r, p->scopes + scope_words);
  open_deferring(r, p->memory);
}

static hpar_status run_chunk(void *argument) {
  hpar_rewriter *r = argument;
  hp_speculation *p = r->parallel.speculation;
  const hp_speculation_input *input = p->input;
  hp_scanner *s = &r->scanner;
  hp_start_state state = {
      .content = HP_TEXT_STATE_DATA, .ns = HPAR_NAMESPACE_HTML, .outer_ns = HPAR_NAMESPACE_HTML, .mode = HP_IN_BODY};
  open_sets(r);
  p->may_defer = p->deferring || p->uncounted || !r->encoding.is_certain;
  s->begin = input->window;
  s->position = input->position;
  /* A token that ends long after the chunk is the merger's. */
  enum { MAX_REACH = 64 << 10 };
  size_t left = input->length - p->chunk->limit;
  r->window.limit = s->begin + p->chunk->limit;
  s->end = r->window.limit + (left < MAX_REACH ? left : MAX_REACH);
  s->at = find_start(r, &state);
  if (!s->at || !skip_raw_text(r)) return HPAR_OK;
  if (r->rules->edits_texts && s->at == s->begin + p->chunk->cut) skip_text(r);
  if (s->at >= r->window.limit) return HPAR_OK;
  p->outer.outer_ns = state.outer_ns;
  begin_segment(r, position_of(r), state.mode, state.ns);
  hp_rewriter_scan(r);
  if (p->has_ended || p->seeks) return HPAR_OK;
  bool is_inside = !hp_scanner_is_in_data(s), in_section = hp_scanner_is_in_section(s);
  if (s->content == HP_TEXT_STATE_DATA && !in_section)
    end_segment(r, is_inside ? s->token_start : position_of(r), NULL);
  return HPAR_OK;
}

void hp_speculation_run_chunk(hpar_rewriter *r, hp_speculation *p, const hp_speculation_input *input,
                              hp_rewrite_chunk *chunk) {
  hp_rewrite_log *log = &chunk->log;
  clear_log(log);
  log->page = chunk->assumed.page;
  *p = (hp_speculation){.input = input,
                        .chunk = chunk,
                        .log = log,
                        .limit = input->position + chunk->limit,
                        .passed = input->passed,
                        .memory = p->memory,
                        .capacity = p->capacity};
  hp_outer_trust(&p->outer, 1u << HP_ASSUME_FORMATTING_CLEAN);
  hp_outer_minimise_log(&p->outer);
  if (chunk->limit <= chunk->cut) return;
  if (hp_rewriter_open_worker(r, input->merger, take_output, r) != HPAR_OK) return;
  r->parallel.speculation = p;
  hp_rewriter_use_encoding(r, log->page.encoding, log->page.is_certain);
  r->outline.quirks = log->page.quirks;
  hp_urls_assume(r, input->merger, log->page.base);
  hp_outer_open(&p->outer, &r->outline.builder);
  hp_outline_speculate(&r->outline);
  hp_try(&r->unwind, run_chunk, r);
  r->parallel.speculation = NULL;
  r->progress.phase = HP_PHASE_NONE;
}
