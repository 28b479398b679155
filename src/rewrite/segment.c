/* The log of a worker: segments and their output. */

#include "base/memory.h"
#include "rewrite/speculation.h"
#include "speculation/dispositions.h"

#include <string.h>

/*** the log ***/

void hp_rewrite_log_clear(hp_rewrite_log *log) {
  for (uint32_t i = 0; i < log->record_count; i++) hp_end_record_close(&log->records[i]);
  log->segment_count = log->names.bytes.length = log->bit_count = log->record_count = log->output.piece_count =
      log->condition_count = log->matches.found_count = log->matches.use_count = log->names.type_count =
          log->notes.count = log->notes.scope_count = 0;
  log->output.block_length = 0;
  hp_outline_log_clear(&log->outline);
}

void hp_rewrite_log_free(hp_rewrite_log *log) {
  hp_rewrite_log_clear(log);
  hp_free(log->segments);
  hp_outline_log_free(&log->outline);
  hp_free(log->names.items);
  hp_bytes_free(&log->names.bytes);
  hp_free(log->bits);
  hp_free(log->records);
  hp_free(log->output.pieces);
  hp_free(log->conditions);
  hp_free(log->matches.found);
  hp_free(log->matches.uses);
  hp_free(log->names.types);
  hp_free(log->notes.items);
  hp_free(log->notes.scopes);
  hp_free(log->output.block);
  *log = (hp_rewrite_log){0};
}

static char *extend_block(hp_rewrite_log *log, size_t length) {
  size_t need = log->output.block_length + length;
  if (need > log->output.block_capacity) {
    size_t capacity = need + need / 2 + 4096;
    char *block = hp_reallocate(log->output.block, capacity);
    if (!block) return NULL;
    log->output.block = block;
    log->output.block_capacity = capacity;
  }
  char *at = log->output.block + log->output.block_length;
  log->output.block_length += length;
  return at;
}

/* Takes output. Long parts of the input stay where they are. */
hpar_status hp_speculation_take_output(const char *bytes, size_t length, void *context) {
  enum { MAX_COPIED = 2048 };
  hpar_rewriter *r = context;
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  bool is_input = length > MAX_COPIED && bytes >= r->scanner.begin && bytes < r->scanner.end;
  hp_piece *last = log->output.piece_count > p->joined_piece ? &log->output.pieces[log->output.piece_count - 1] : NULL;
  if (!is_input) {
    char *to = extend_block(log, length);
    if (!to) return HPAR_ERROR_MEMORY;
    memcpy(to, bytes, length);
    if (last && !last->input) {
      last->length += length;
      return HPAR_OK;
    }
  }
  hp_grow(&log->output.pieces, &log->output.piece_capacity, (size_t)log->output.piece_count + 1, &r->unwind);
  log->output.pieces[log->output.piece_count++] =
      is_input ? (hp_piece){bytes, 0, length} : (hp_piece){NULL, log->output.block_length - length, length};
  return HPAR_OK;
}

void hp_speculation_apply_edits(hpar_rewriter *r, uint64_t position) {
  hp_edits_apply(&r->edits, &r->sink, r->scanner.begin, r->scanner.position, position);
  hp_sink_flush(&r->sink);
}

void hp_speculation_note_found(hpar_rewriter *r, uint32_t rule) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  hp_grow(&log->matches.found, &log->matches.found_capacity, (size_t)log->matches.found_count + 1, &r->unwind);
  log->matches.found[log->matches.found_count++] = (hp_reported_match){r->token.start, r->element.end, rule};
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
  const uint32_t instruction = m->watch->condition - 1, holding = r->matching.holding;
  const uint32_t test = holding ? 0 : m->watch->test;
  const uint64_t matches = r->stats.matches, edits = r->edits.total;
  const hp_node *node = hp_outline_node(&r->outline, insertion->node);
  bool is_known = !test || node->name < HP_KNOWN_ATOMS + r->names.fixed->count;
  if (r->edits.mute_depth || m->watch->gives_up || !is_known || (holding && !edits_only_attributes(r))) {
    hp_speculation_give_up(r);
    return;
  }
  if (!has_tag) return;
  hp_grow(&log->conditions, &log->condition_capacity, (size_t)log->condition_count + 1, &r->unwind);
  hp_speculation_apply_edits(r, r->token.start);
  p->joined_piece = log->output.piece_count;
  hp_rewrite_condition condition = {.instruction = !holding && m->watch->reads_bit ? instruction : UINT32_MAX,
                                    .versions = holding,
                                    .test = test,
                                    .index = m->watch->index,
                                    .ns = node->ns,
                                    .name = node->name,
                                    .piece = log->output.piece_count,
                                    .start = r->token.start,
                                    .end = r->token.end};
  condition.found = log->matches.found_count;
  if (!holding) hp_set_bit(m->matched, instruction);
  hp_rewriter_apply_rules(r, insertion, true);
  hp_speculation_apply_edits(r, r->token.end);
  p->joined_piece = log->output.piece_count;
  condition.piece_count = log->output.piece_count - condition.piece;
  condition.found_count = log->matches.found_count - condition.found;
  condition.matches = r->stats.matches - matches;
  condition.edits = r->edits.total - edits;
  r->stats.matches = matches;
  r->edits.total = edits;
  log->conditions[log->condition_count++] = condition;
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
         2 * p->versions * words * sizeof *p->frame.memory);
  for (uint32_t v = 0; v < p->versions; v++) {
    hp_bits *near = p->frame.predicted + 2 * v * words, *own_later = p->watches[v].own_later;
    for (size_t w = 0; w < words && !p->frame.knows_next; w++) near[w] = (near[w] & ~known[w]) | values[w];
    if (own_later) memset(own_later, 0, words * sizeof *own_later);
    p->watches[v].min_children = 0;
  }
  p->frame.knows_next = false;
  memset(p->frame.read, 0, 2 * words * sizeof *p->frame.read);
  hp_matching_begin_segment(&r->matching, r->outline.builder.stack.entries[0].node, p->frame.predicted);
}

/* Begins a segment on the predicted outer context. */
void hp_speculation_begin_segment(hpar_rewriter *r, uint64_t start, uint8_t mode, uint8_t ns) {
  hp_speculation *p = r->parallel.speculation;
  const hp_scanner *s = &r->scanner;
  const bool in_text = !hp_scanner_begins_markup(s, s->begin + (start - s->position));
  for (uint32_t i = p->now.logged.uses.first; i < p->log->matches.use_count; i++)
    r->running.states[p->log->matches.uses[i].rule].matches = 0;
  p->now = (hp_rewrite_segment){.start = start,
                                .begins_in_text = in_text,
                                .logged.pieces.first = p->log->output.piece_count,
                                .logged.conditions.first = p->log->condition_count,
                                .logged.found.first = p->log->matches.found_count,
                                .logged.uses.first = p->log->matches.use_count,
                                .logged.notes.first = p->log->notes.count};
  p->joined_piece = p->log->output.piece_count;
  hp_outer_begin(&p->outer, 0, mode, ns);
  hp_outer_take_disposition(&p->outer);
  hp_outline_begin_segment(&r->outline, mode, ns);
  r->outline.builder.flags.frameset_ok = p->log->page.frameset_ok;
  assume_in_advance(r);
  if (r->rules->needs_frames) begin_frames(r);
  hp_end_records_forget(&r->ends);
  hp_edits_open(&r->edits, start);
  r->sink.length = 0;
  r->stats = (hp_stream_stats){.failed_at = UINT64_MAX};
  r->text.is_open = false;
  if (r->rules->unit_rule_count) hp_speculation_begin_scopes(r);
}

static void save_names(hpar_rewriter *r, uint32_t first) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  const hp_outline_log *outline = &log->outline;
  const hp_atom first_own = HP_KNOWN_ATOMS + r->names.fixed->count;
  hp_grow(&log->names.items, &log->names.capacity, outline->entry_count, &r->unwind);
  for (uint32_t i = first; i < outline->entry_count; i++) {
    hp_atom atom = outline->entries[i].element.name;
    log->names.items[i] = (hp_saved_name){0, 0};
    if (atom < first_own) continue;
    hp_name name = hp_names_of(&r->names, atom);
    log->names.items[i] = (hp_saved_name){log->names.bytes.length, name.length};
    hp_bytes_append(&log->names.bytes, name.bytes, name.length, &r->unwind);
  }
}

hp_bits *hp_speculation_add_bits(hpar_rewriter *r, uint32_t count) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  hp_grow(&log->bits, &log->bit_capacity, (size_t)log->bit_count + count, &r->unwind);
  log->bit_count += count;
  return log->bits + (log->bit_count - count);
}

static void save_bits(hpar_rewriter *r, const hp_bits *bits, uint32_t count) {
  memcpy(hp_speculation_add_bits(r, count), bits, count * sizeof *bits);
}

/* Saves the types of the children in a frame. */
static void save_types(hpar_rewriter *r, uint32_t frame, uint32_t entry) {
  hp_rewrite_log *log = r->parallel.speculation->log;
  const hp_atom first_own = HP_KNOWN_ATOMS + r->names.fixed->count;
  for (const hp_type_counter *c = NULL; (c = hp_matching_next_type(&r->matching, frame, c));) {
    hp_saved_type type = {.entry = entry, .ns = (uint8_t)(c->type >> 32), .name = (hp_atom)c->type, .count = c->count};
    if (type.name >= first_own) {
      hp_name name = hp_names_of(&r->names, type.name);
      type.text = log->names.bytes.length;
      type.length = name.length;
      hp_bytes_append(&log->names.bytes, name.bytes, name.length, &r->unwind);
    }
    hp_grow(&log->names.types, &log->names.type_capacity, (size_t)log->names.type_count + 1, &r->unwind);
    log->names.types[log->names.type_count++] = type;
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
  const uint32_t words = r->matching.matcher.words, place = p->log->bit_count;
  const hp_node *outer = hp_outline_node(&r->outline, r->outline.builder.stack.entries[0].node);
  save_frame(r, outer->next);
  for (uint32_t v = 0; v < p->versions; v++) {
    hp_frame *saved = (hp_frame *)(void *)((char *)(p->log->bits + place) + v * r->matching.version_size);
    memcpy(saved->bits + 3 * (size_t)words, p->watches[v].own_later, words * sizeof *p->frame.memory);
    hp_matching_forget_counter(&r->matching, saved, v);
  }
  save_types(r, outer->next, UINT32_MAX);
}

static void save_frames(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  const uint32_t words = r->matching.matcher.words;
  const bool counts = !r->rules->skips_tags;
  p->now.frame = log->bit_count;
  p->now.logged.types.first = log->names.type_count;
  if (!r->rules->needs_frames) return;
  save_bits(r, p->frame.predicted, 2 * p->versions * words);
  save_bits(r, p->frame.read, 2 * words);
  if (counts) save_outer_frame(r);
  for (uint32_t i = first; i < log->outline.entry_count; i++) {
    uint32_t *next = &log->outline.entries[i].next, frame = *next;
    if (!frame) continue;
    if (counts) save_types(r, frame, i);
    *next = log->bit_count + 1;
    if (counts)
      save_frame(r, frame);
    else
      hp_matching_copy_bits(&r->matching, frame, hp_speculation_add_bits(r, 2 * r->matching.versions * words));
  }
  p->now.logged.types.count = log->names.type_count - p->now.logged.types.first;
  for (uint32_t v = 0; v < p->versions; v++)
    if (p->watches[v].min_children > p->now.min_children) p->now.min_children = p->watches[v].min_children;
}

/* Moves the records of the saved entries to the log. */
static void save_records(hpar_rewriter *r, uint32_t first) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  p->now.logged.records.first = log->record_count;
  for (uint32_t i = first; i < log->outline.entry_count; i++) {
    hp_outline_entry *e = &log->outline.entries[i];
    if (!e->previous) continue;
    hp_end_record *record = &r->ends.items[e->previous];
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
  p->now.logged.records.count = log->record_count - p->now.logged.records.first;
}

/* Returns true if the segment saves the merger nothing. */
static bool is_empty(const hp_speculation *p) { return !p->outer.now.tokens && !p->now.split.name; }

/* Ends the segment at `end` and appends it to the log, unless it is unusable. */
void hp_speculation_end_segment(hpar_rewriter *r, uint64_t end, const hp_token *token) {
  hp_speculation *p = r->parallel.speculation;
  hp_builder *b = &r->outline.builder;
  hp_rewrite_segment *now = &p->now;
  uint32_t first = p->log->outline.entry_count;
  uint32_t reopened = hp_questions_reopened(b, token);
  bool fits = !hp_outer_is_poisoned(&p->outer) && !is_empty(p) && b->mode != HP_IN_TEXT && !r->ends.after_tag.length;
  if (fits && hp_outline_save(&r->outline, p->outer.base_mode, &p->log->outline, &now->state)) {
    now->assumed = p->outer.now;
    now->assumed.assumes.questions = hp_speculative_of(b)->assumed;
    now->assumed.misnested = now->assumed.fostered = true;
    now->end = end;
    save_names(r, first);
    save_frames(r, first);
    save_records(r, first);
    hp_speculation_save_scopes(r);
    now->copied = r->text.is_open && r->running.texts ? r->text.start : end;
    hp_speculation_apply_edits(r, now->copied);
    if (r->sink.status != HPAR_OK) hp_unwind_now(&r->unwind, r->sink.status);
    now->logged.pieces.count = p->log->output.piece_count - now->logged.pieces.first;
    now->logged.conditions.count = p->log->condition_count - now->logged.conditions.first;
    now->logged.found.count = p->log->matches.found_count - now->logged.found.first;
    now->logged.uses.count = p->log->matches.use_count - now->logged.uses.first;
    for (uint32_t i = now->logged.uses.first; i < p->log->matches.use_count; i++)
      p->log->matches.uses[i].matches = r->running.states[p->log->matches.uses[i].rule].matches;
    now->tags = r->stats.tags;
    now->matches = r->stats.matches;
    now->misplaced = r->stats.misplaced;
    now->depth = r->stats.depth;
    now->counts = hp_edits_take_counts(&r->edits);
    now->logged.notes.count = p->log->notes.count - now->logged.notes.first;
    now->mute_depth = r->edits.mute_depth;
    now->text = r->text;
    hp_grow(&p->log->segments, &p->log->segment_capacity, (size_t)p->log->segment_count + 1, &r->unwind);
    p->log->segments[p->log->segment_count++] = *now;
  }
  hp_outer_trust(&p->outer, hp_outer_trusted(&p->outer) & ~reopened);
  if (r->rules->unit_rule_count) hp_speculation_predict_scopes(r, token);
}
