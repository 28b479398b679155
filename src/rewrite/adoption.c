/* How the rewriter with the true state adopts the segments of one worker's log: it checks their
 * assumptions and conditions, and puts their output into its own. Where an assumption does not
 * hold, it rewrites that region itself. */

#define HP_HAS_NODES 0
#define HP_HAS_OUTER 0

#include "base/memory.h"
#include "base/process.h"
#include "rewrite/speculation.h"
#include "rewrite/team.h"
#include "rewrite/urls.h"
#include "tree/outline.h"

#include "tree/context.inc"

#include "merge/check.inc"

#include <string.h>

void hp_rewriter_scan_until(hpar_rewriter *r, size_t to) {
  hp_scanner *s = &r->scanner;
  r->window.limit = s->begin + to;
  if (s->at < r->window.limit) hp_rewriter_scan(r);
  r->window.limit = NULL;
}

void hp_rewriter_leave_raw_text(hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  for (const char *at = NULL; !hp_scanner_is_in_data(s) && r->progress.phase == HP_PHASE_RUNS && s->at > at;) {
    at = s->at;
    hp_rewriter_scan_until(r, hp_rewrite_offset(r) + 1);
  }
}

/* Returns true between two tokens of the data state. */
static bool is_at_boundary(const hpar_rewriter *r) {
  const hp_builder *b = &r->outline.builder;
  return hp_scanner_is_in_data(&r->scanner) && b->mode != HP_IN_TEXT && b->stack.depth > 0;
}

/*** checks ***/

/* Returns the place of the near and heir bits of the outer current node. */
static hp_bits *truth_of(const hpar_rewriter *r) {
  return r->parallel.team->learning.adopted + 2 * (size_t)r->matching.matcher.words;
}

/* Returns true if no element of the segment reads a bit of the outer frame that differs from the
 * prediction of the version. Elements that stay open inherit the true bits, which must include the
 * predicted ones. */
static bool check_bits(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg,
                       uint32_t version) {
  const uint32_t words = r->matching.matcher.words;
  const hp_bits *truth = truth_of(r), *of_segment = log->bits.items + seg->frame;
  const hp_bits *predicted = of_segment + 2 * (size_t)version * words, *read = of_segment + 2 * log->versions * words;
  for (uint32_t w = 0; w < 2 * words; w++) {
    if ((truth[w] ^ predicted[w]) & read[w]) return false;
    if (w >= words && seg->state.entry_count && predicted[w] & ~truth[w]) return false;
  }
  return true;
}

/* Returns true if the outer current node has as many children as the version assumes. */
static bool check_counter(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_frame *outer, uint32_t version) {
  const hp_unknown_counter *c = &log->counter;
  if (!c->period) return true;
  uint32_t count = c->slot == HP_SELECT_NONE ? outer->children : hp_counter(&r->matching.matcher, outer, c->slot);
  return count >= c->min && count % c->period == version % c->period;
}

/* Finds a version that has the true outer frame. */
static bool find_version(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg,
                         uint32_t *version) {
  *version = 0;
  if (!r->rules->needs_frames) return true;
  const hp_frame *outer = hp_frame_of_node(&r->matching, r->outline.builder.stack.top->node);
  if (seg->min_children && outer->children < seg->min_children) return false;
  for (; *version < log->versions; ++*version)
    if (check_bits(r, log, seg, *version) && check_counter(r, log, outer, *version)) return true;
  return false;
}

/* Notes the true near bits that the segment has read. */
static void learn(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg, hp_bits *learned) {
  if (!r->rules->needs_frames) return;
  const uint32_t words = r->matching.matcher.words;
  const hp_bits *truth = truth_of(r), *read = log->bits.items + seg->frame + 2 * (size_t)log->versions * words;
  for (uint32_t w = 0; w < words; w++) {
    learned[w] |= read[w];
    learned[words + w] = (learned[words + w] & ~read[w]) | (truth[w] & read[w]);
  }
}

/* Returns true if the rules of the segment exist up to its end. */
static bool check_uses(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg) {
  if (seg->reads_removal && r->edits.mute_depth) return false;
  for (uint32_t i = seg->logged.uses.first; i < seg->logged.uses.end; i++) {
    const hp_rule_use *use = &log->uses.items[i];
    const hp_rule_state *state = &r->running.states[use->rule];
    uint64_t limit = r->rules->rules[use->rule].given.limit;
    if (state->is_complete || (limit && use->matches >= limit - state->matches)) return false;
  }
  return true;
}

static bool check_segment(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg) {
  hp_builder *b = &r->outline.builder;
  if (log->page.encoding != r->encoding.used || log->page.is_certain != r->encoding.is_certain ||
      log->page.quirks != r->outline.quirks || log->page.base != hp_urls_base(r))
    return false;
  if ((hp_ignores_lf(b) && seg->end > seg->start) || (b->flags.frameset_ok && !log->page.frameset_ok)) return false;
  return check_uses(r, log, seg) && hp_rewriter_check_scopes(r, log, seg) &&
         first_wrong_assumption(b, &seg->assumed) == HP_ASSUMPTION_KINDS;
}

/*** adoption ***/

/* Returns a frame for a saved element that has the bits `own`, or a frame there. */
static uint32_t map_frame(hpar_rewriter *r, const hp_bits *own, bool *has_child) {
  const uint32_t words = r->matching.matcher.words;
  const hp_bits *heir = truth_of(r) + words;
  hp_bits *bits = r->parallel.team->learning.adopted;
  *has_child = true;
  if (!r->rules->skips_tags) return hp_matching_adopt_frame(&r->matching, (const hp_frame *)(const void *)own, heir);
  for (uint32_t w = 0; w < words; w++) {
    bits[w] = own ? own[w] : 0;
    bits[words + w] = (own ? own[words + w] : 0) | heir[w];
  }
  return hp_matching_frame_with(&r->matching, bits, has_child);
}

static hp_atom map_name(hpar_rewriter *r, const hp_rewrite_log *log, hp_atom name, hp_saved_name own) {
  return own.length ? hp_names_add(&r->names, log->name_bytes.data + own.offset, own.length) : name;
}

/* Gives the saved elements the names, frames and records of the merger. */
static void map_entries(hpar_rewriter *r, hp_rewrite_log *log, const hp_rewrite_segment *seg, uint32_t version) {
  const bool counts = !r->rules->skips_tags;
  const size_t size = counts ? r->matching.version_size / sizeof(hp_bits) : 2 * (size_t)r->matching.matcher.words;
  for (uint32_t i = seg->state.entries; i < seg->state.entries + seg->state.entry_count; i++) {
    hp_outline_entry *e = &log->outline.entries.items[i];
    e->element.name = map_name(r, log, e->element.name, log->names.items[i]);
    const hp_bits *own = e->next ? log->bits.items + e->next - 1 + version * size : NULL;
    bool has_child = false;
    e->next = r->rules->needs_frames && (own || !counts) ? map_frame(r, own, &has_child) : 0;
    e->last = !has_child;
    if (e->previous) e->previous = log->records.items[e->previous - 1].moved_to;
  }
}

/* Adds the children of the outer current node, and the types of children in all saved frames. */
static void adopt_children(hpar_rewriter *r, hp_rewrite_log *log, const hp_rewrite_segment *seg, hp_ref outer,
                           uint32_t version) {
  if (r->rules->skips_tags) return;
  const uint32_t words = r->matching.matcher.words;
  const hp_bits *seen = log->bits.items + seg->frame + 2 * ((size_t)log->versions + 1) * words +
                        version * r->matching.version_size / sizeof *seen;
  hp_matching_add_children(&r->matching, outer, (const hp_frame *)(const void *)seen);
  for (uint32_t i = seg->logged.types.first; i < seg->logged.types.end; i++) {
    const hp_saved_type *type = &log->types.items[i];
    const hp_atom name = map_name(r, log, type->name, type->own_name);
    bool is_outer = type->entry == UINT32_MAX;
    uint32_t frame = is_outer ? hp_frame_of(&r->matching, outer) : log->outline.entries.items[type->entry].next;
    *hp_matching_type_counter(&r->matching, frame, hp_matching_type_of(type->ns, name)) += type->count;
  }
}

static void put_pieces(hpar_rewriter *r, const hp_rewrite_log *log, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    const hp_piece *piece = &log->pieces.items[i];
    hp_sink_put(&r->sink, piece->input ? piece->input : log->block.items + piece->offset, piece->length);
  }
}

static void report_found(const hpar_rewriter *r, const hp_rewrite_log *log, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    const hpar_rule *rule = &r->rules->rules[log->found.items[i].rule].given;
    rule->found(log->found.items[i].start, log->found.items[i].end, rule->context);
  }
}

/* Returns true if the condition holds in the outer current node. */
static bool condition_holds(const hpar_rewriter *r, const hp_rewrite_condition *c, hp_ref outer, uint32_t version) {
  if (c->versions && !(c->versions >> version & 1)) return false;
  if (c->instruction != UINT32_MAX && !hp_bit_is_set(truth_of(r), c->instruction)) return false;
  if (!c->test) return true;
  const hp_matcher *m = &r->matching.matcher;
  const hp_frame *frame = hp_frame_of_node(&r->matching, outer);
  const hp_test *test = &hp_matcher_set(m)->tests[c->test - 1];
  uint32_t earlier;
  if (test->kind == HP_TEST_NTH_CHILD)
    earlier = frame->children;
  else if (test->kind == HP_TEST_NTH_OF_TYPE)
    earlier = hp_matching_type_count(&r->matching, outer, hp_matching_type_of(c->ns, c->name));
  else
    earlier = hp_counter(m, frame, test->slot + c->ns - HPAR_NAMESPACE_HTML);
  return hp_nth_holds(test->a, test->b, earlier + c->index) != test->negated;
}

/* The output of a segment up to a place. */
typedef struct adopted_output {
  hpar_rewriter *rewriter;
  const hp_rewrite_log *log;
  bool is_muted;  /* by the true state */
  uint32_t depth; /* of the outer current node */
  hp_log_place at;
} adopted_output;

/* Adopts the output before the place. */
static void adopt_upto(adopted_output *o, const hp_log_place *to) {
  hpar_rewriter *r = o->rewriter;
  report_found(r, o->log, o->at.found, to->found);
  if (!o->is_muted) {
    put_pieces(r, o->log, o->at.piece, to->piece);
    hp_edits_add_counts(&r->edits, &to->counts);
  }
  r->stats.tags += to->tags - o->at.tags;
  r->stats.matches += to->matches - o->at.matches;
  r->stats.misplaced += to->misplaced - o->at.misplaced;
  if (o->depth + to->depth > r->stats.depth) r->stats.depth = o->depth + to->depth;
  o->at = *to;
}

static void adopt_condition(adopted_output *o, const hp_rewrite_condition *c, bool holds) {
  hpar_rewriter *r = o->rewriter;
  if (holds) r->stats.matches += c->matches;
  report_found(r, o->log, o->at.found, c->found + (holds ? c->found_count : 0));
  o->at.found = c->found + c->found_count;
  if (o->is_muted) return;
  put_pieces(r, o->log, o->at.piece, c->piece + (holds ? c->piece_count : 0));
  if (!holds) hp_sink_put(&r->sink, hp_rewriter_at(r, c->start), (size_t)(c->end - c->start));
  if (holds) r->edits.counts.edits += c->edits;
  o->at.piece = c->piece + c->piece_count;
}

static void adopt_note(adopted_output *o, const hp_rewrite_note *note) {
  adopt_upto(o, &note->place);
  hp_rewriter_run_note(o->rewriter, o->log, note);
}

/* Resolves the conditions and the notes of the segment, and passes on its output. */
static void adopt_output(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg, hp_ref outer,
                         uint32_t version, uint32_t depth) {
  const bool is_muted = r->edits.mute_depth != 0;
  const hp_log_place first = {.piece = seg->logged.pieces.first, .found = seg->logged.found.first};
  adopted_output o = {.rewriter = r, .log = log, .is_muted = is_muted, .depth = depth, .at = first};
  uint32_t note = seg->logged.notes.first;
  for (uint32_t i = seg->logged.conditions.first; i < seg->logged.conditions.end; i++) {
    const hp_rewrite_condition *c = &log->conditions.items[i];
    while (note < seg->logged.notes.end && log->notes.items[note].start <= c->start)
      adopt_note(&o, &log->notes.items[note++]);
    adopt_condition(&o, c, condition_holds(r, c, outer, version));
  }
  while (note < seg->logged.notes.end) adopt_note(&o, &log->notes.items[note++]);
  adopt_upto(&o, &seg->last);
  if (!is_muted) r->edits.copied = seg->last.mute_depth ? UINT64_MAX : seg->copied;
}

/* Requires: the assumptions hold, and the version has the true outer frame. */
static void adopt_segment(hpar_rewriter *r, hp_rewrite_log *log, const hp_rewrite_segment *seg, uint32_t version) {
  hp_builder *b = &r->outline.builder;
  hp_scanner *s = &r->scanner;
  const uint32_t depth = open_count(b);
  hp_ref outer = b->stack.top->node;
  hp_rewriter_flush(r, seg->start);
  for (uint32_t i = seg->logged.records.first; i < seg->logged.records.end; i++)
    hp_end_records_adopt(&r->ends, &log->records.items[i], &r->unwind);
  map_entries(r, log, seg, version);
  hp_outline_adopt(&r->outline, &log->outline, &seg->state);
  adopt_output(r, log, seg, outer, version, depth);
  adopt_children(r, log, seg, outer, version);
  r->edits.mute_depth += seg->last.mute_depth;
  for (uint32_t i = seg->logged.uses.first; i < seg->logged.uses.end; i++)
    r->running.states[log->uses.items[i].rule].matches += log->uses.items[i].matches;
  if (seg->assumed.tokens) b->flags.prepared = false;
  const bool is_escaped = r->text.is_escaped;
  r->text = seg->text;
  r->text.content = HP_TEXT_STATE_DATA;
  r->text.is_escaped = is_escaped;
  if (r->rules->unit_rule_count) hp_rewriter_adopt_scopes(r, log, seg);
  s->at = s->begin + (seg->end - s->position);
  hp_edits_mark(&r->edits, seg->copied);
}

/* Runs the first half of the start tag at the merger's position. Returns false if the whole tag
 * must run. */
static bool run_first_half(hpar_rewriter *r, const hp_rewrite_segment *seg) {
  hp_builder *b = &r->outline.builder;
  bool is_row = seg->split.name == HP_ATOM_TR;
  if (is_row && (hp_ignores_lf(b) || current(b)->ns != HPAR_NAMESPACE_HTML)) return false;
  if (!is_row && !can_run_first_half(b)) return false;
  hp_rewriter_end_text(r, seg->start);
  r->token.start = seg->start;
  r->token.end = seg->split.end;
  r->token.tag = (hp_outline_tag){.name = seg->split.name};
  hp_edits_mark(&r->edits, seg->start);
  r->token.is_tag = true;
  r->stats.tags++; /* for a callback that stops here; otherwise the second half counts the tag */
  hp_outline_prepare(&r->outline, seg->split.name);
  r->stats.tags--;
  r->token.is_tag = false;
  return true;
}

/* Rewrites up to `to`, between segments of a chunk. Returns the number of bytes. */
static size_t scan_between(hpar_rewriter *r, size_t to, uint32_t number) {
  hp_rewrite_team *t = r->parallel.team;
  const size_t from = hp_rewrite_offset(r);
  const uint64_t begin = hp_rewrite_team_event_time(t);
  hp_rewriter_scan_until(r, to);
  const size_t end = hp_rewrite_offset(r);
  if (end > from) hp_rewrite_team_note(t, HP_EVENT_ROLL_BACK, 0, number, begin, from, end);
  return end - from;
}

/* Runs the tag whose first half has run. It is complete. A failure drops the edits of both
 * halves. */
static size_t run_second_half(hpar_rewriter *r, uint32_t number) {
  size_t rewritten = 0;
  r->token.is_halved = true;
  do rewritten += scan_between(r, hp_rewrite_offset(r) + 1, number);
  while (hp_scanner_is_in_tag(&r->scanner) && r->progress.phase == HP_PHASE_RUNS);
  r->token.is_halved = false;
  return rewritten;
}

size_t hp_rewriter_adopt(hpar_rewriter *r, hp_rewrite_chunk *chunk, uint32_t number) {
  hp_rewrite_lessons *lessons = &r->parallel.team->learning.lessons;
  hp_rewrite_log *log = &chunk->log;
  hp_scanner *s = &r->scanner;
  size_t rewritten = 0;
  for (uint32_t i = 0; i < log->segments.count && r->progress.phase == HP_PHASE_RUNS; i++) {
    const hp_rewrite_segment *seg = &log->segments.items[i];
    size_t start = (size_t)(seg->start - s->position);
    rewritten += scan_between(r, start, number);
    if (r->progress.phase != HP_PHASE_RUNS || hp_rewrite_offset(r) != start || !is_at_boundary(r)) continue;
    if (!seg->begins_in_text) hp_rewriter_end_text(r, seg->start);
    if (lessons->scopes && (i || log->segments.count == 1)) hp_rewriter_write_scopes(r, lessons->scopes);
    const bool is_halved = seg->split.name && run_first_half(r, seg);
    if (r->rules->needs_frames) hp_matching_outer_bits(&r->matching, r->outline.builder.stack.top->node, truth_of(r));
    learn(r, log, seg, lessons->read);
    uint32_t version;
    const bool fits = check_segment(r, log, seg);
    if (!fits || !find_version(r, log, seg, &version)) {
      if (fits) hp_rewriter_learn_heir(r, lessons);
      lessons->are_used |= fits;
      if (is_halved) rewritten += run_second_half(r, number);
      continue;
    }
    lessons->are_used |= version >= (log->counter.period ? log->counter.period : 1);
    adopt_segment(r, log, seg, version);
    r->parallel.team->counters.adopted_segments++;
  }
  return rewritten + (r->progress.phase == HP_PHASE_RUNS ? scan_between(r, chunk->limit, number) : 0);
}
