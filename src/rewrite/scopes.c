/* Texts, comments and doctypes in the segments of workers. Rules for them have a scope: the
 * document, or the open elements that match. A worker predicts which scopes are open in the outer
 * context. The merger checks the prediction, and runs the callbacks that no worker may run. */

#include "base/memory.h"
#include "rewrite/speculation.h"
#include "speculation/dispositions.h"

#include <string.h>

/*** workers: the scopes of the outer context ***/

/* Counts the rules with open scopes. Elements of earlier segments have none. */
void hp_speculation_begin_scopes(hpar_rewriter *r) {
  hp_running_rules_set_scopes(&r->running, r->rules, r->parallel.speculation->scopes);
  hp_rewriter_set_captures(r);
}

/* Returns true if elements of the segment have the rule's scope. */
static bool is_local(const hpar_rewriter *r, uint32_t rule) {
  return r->running.states[rule].open > hp_bit_is_set(r->parallel.speculation->scopes, rule);
}

void hp_speculation_predict_scopes(hpar_rewriter *r, const hp_token *token) {
  hp_speculation *p = r->parallel.speculation;
  const hpar_rules *rules = r->rules;
  /* The merger may close outer elements at a tag that the outline has read. */
  const bool closes = r->token.is_tag && !(token && token->kind == HP_TOKEN_TEXT);
  const bool keeps_local = !closes || (token && token->kind == HP_TOKEN_START_TAG);
  for (uint32_t i = 0; i < rules->unit_rule_count; i++) {
    const uint32_t index = rules->unit_rules[i];
    const hp_bits bit = (hp_bits)1 << (index % HP_BITS);
    const bool local = keeps_local && is_local(r, index);
    hp_bits *word = &p->scopes[index / HP_BITS];
    if (closes) *word = (*word & ~bit) | (p->later_scopes[index / HP_BITS] & bit);
    if (local) *word |= bit;
  }
}

void hp_speculation_save_scopes(hpar_rewriter *r) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  const uint32_t words = hp_scope_words(r->rules);
  p->now.scopes = log->bit_count;
  hp_grow(&log->bits, &log->bit_capacity, (size_t)log->bit_count + words, &r->unwind);
  if (words) memcpy(log->bits + log->bit_count, p->scopes, words * sizeof *log->bits);
  log->bit_count += words;
}

/*** workers: notes ***/

typedef enum leaving { RUNS, LEAVES, GIVES_UP } leaving;

/* Returns whether the worker leaves a text, a comment or a doctype to the merger. The merger runs
 * all rules of such a unit. A pure callback there could end its rule, whose matches in the segment
 * the merger would adopt: the segment is unusable. */
static leaving choose(const hpar_rewriter *r, hpar_unit unit) {
  const hpar_rules *rules = r->rules;
  bool leaves = false, is_pure = false;
  for (uint32_t i = 0; i < rules->unit_rule_count; i++) {
    const uint32_t index = rules->unit_rules[i];
    const hp_rule *rule = &rules->rules[index];
    const bool edits = unit == HPAR_UNIT_TEXT      ? rule->edits_text
                       : unit == HPAR_UNIT_COMMENT ? rule->edits_comments
                                                   : rule->edits_doctype;
    if (!edits || !r->running.states[index].open || !hp_rule_calls_units(rule)) continue;
    if (rule->given.pure)
      is_pure = true;
    else
      leaves = true;
  }
  return !leaves ? RUNS : is_pure ? GIVES_UP : LEAVES;
}

/* Adds a note for the input in [start, end). The output before it is in the log. */
static hp_rewrite_note *add_note(hpar_rewriter *r, uint64_t start, uint64_t end) {
  hp_speculation *p = r->parallel.speculation;
  hp_rewrite_log *log = p->log;
  hp_grow(&log->notes.items, &log->notes.capacity, (size_t)log->notes.count + 1, &r->unwind);
  hp_speculation_apply_edits(r, start);
  p->joined_piece = log->output.piece_count;
  if (r->edits.copied != UINT64_MAX) r->edits.copied = end;
  hp_rewrite_note *note = &log->notes.items[log->notes.count];
  *note = (hp_rewrite_note){.start = start,
                            .end = end,
                            .piece = log->output.piece_count,
                            .found = log->matches.found_count,
                            .scopes = log->notes.scope_count,
                            .mute_depth = r->edits.mute_depth,
                            .depth = r->stats.depth,
                            .tags = r->stats.tags,
                            .matches = r->stats.matches,
                            .misplaced = r->stats.misplaced,
                            .counts = hp_edits_take_counts(&r->edits)};
  for (uint32_t i = 0; i < r->rules->unit_rule_count; i++) {
    const uint32_t index = r->rules->unit_rules[i];
    if (!is_local(r, index)) continue;
    hp_grow(&log->notes.scopes, &log->notes.scope_capacity, (size_t)log->notes.scope_count + 1, &r->unwind);
    log->notes.scopes[log->notes.scope_count++] = index;
  }
  note->scope_count = log->notes.scope_count - note->scopes;
  log->notes.count++;
  hp_edits_mark(&r->edits, end);
  return note;
}

bool hp_speculation_leaves_text(hpar_rewriter *r, uint64_t end, bool is_last) {
  if (!r->parallel.speculation->seeks) {
    const leaving found = choose(r, HPAR_UNIT_TEXT);
    if (found == RUNS) return false;
    if (found == GIVES_UP) hp_speculation_give_up(r);
    hp_rewrite_note *note = add_note(r, r->text.start, end);
    note->content = r->text.content;
    note->raw_name = r->scanner.raw_name;
    note->escapes = r->text.is_escaped;
    note->is_first = r->text.is_first;
    note->is_last = is_last;
  }
  r->text.start = end;
  r->text.is_first = false;
  return true;
}

bool hp_speculation_leaves_comment(hpar_rewriter *r, const hp_comment_place *place) {
  const leaving found = choose(r, HPAR_UNIT_COMMENT);
  if (found == RUNS) return false;
  if (found == GIVES_UP) hp_speculation_give_up(r);
  hp_rewrite_note *note = add_note(r, place->start, place->end);
  note->is_comment = true;
  note->comment = *place;
  return true;
}

bool hp_speculation_leaves_doctype(hpar_rewriter *r) {
  r->parallel.speculation->now.has_doctypes = true;
  if (choose(r, HPAR_UNIT_DOCTYPE) == RUNS) return false;
  hp_speculation_give_up(r); /* a doctype after the first tag is rare */
  return true;
}

/*** the merger ***/

void hp_rewriter_write_scopes(const hpar_rewriter *r, hp_bits *to) {
  memset(to, 0, hp_scope_words(r->rules) * sizeof *to);
  for (uint32_t i = 0; i < r->rules->unit_rule_count; i++) {
    const uint32_t index = r->rules->unit_rules[i];
    if (hp_running_rules_reach(&r->running, index)) hp_set_bit(to, index);
  }
}

/* Returns true if the scopes that matter to the segment are open as the worker predicted. */
bool hp_rewriter_check_scopes(const hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg) {
  if (seg->begins_in_text && r->text.is_open && r->running.texts) return false;
  for (uint32_t i = 0; i < r->rules->unit_rule_count; i++) {
    const uint32_t index = r->rules->unit_rules[i];
    const hp_rule *rule = &r->rules->rules[index];
    if (hp_running_rules_reach(&r->running, index) == hp_bit_is_set(log->bits + seg->scopes, index)) continue;
    if (rule->edits_text || (rule->edits_comments && seg->has_comments) || (rule->edits_doctype && seg->has_doctypes))
      return false;
  }
  return true;
}

static void deliver(hpar_rewriter *r, const hp_rewrite_note *note) {
  hp_scanner *s = &r->scanner;
  if (note->is_comment) {
    r->token.start = note->start;
    r->token.end = note->end;
    hp_edits_mark(&r->edits, note->start);
    if (r->running.comments) hp_rewriter_deliver_comment(r, &note->comment);
    return;
  }
  const hp_atom raw_name = s->raw_name;
  r->text.start = note->start;
  r->text.content = note->content;
  r->text.is_first = note->is_first;
  s->raw_name = note->raw_name;
  r->text.is_escaped = note->escapes;
  if (r->running.texts) hp_rewriter_deliver_text(r, note->end, note->is_last);
  s->raw_name = raw_name;
  r->text.is_escaped = false; /* between two tokens of the data state */
}

void hp_rewriter_run_note(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_note *note) {
  hp_edits *e = &r->edits;
  const uint32_t outer_mute_depth = e->mute_depth;
  e->mute_depth += note->mute_depth;
  e->copied = e->mute_depth ? UINT64_MAX : note->start;
  for (uint32_t i = note->scopes; i < note->scopes + note->scope_count; i++)
    hp_rewriter_change_scope(r, log->notes.scopes[i], true);
  deliver(r, note);
  for (uint32_t i = note->scopes; i < note->scopes + note->scope_count; i++)
    hp_rewriter_change_scope(r, log->notes.scopes[i], false);
  hp_edits_apply(e, &r->sink, r->scanner.begin, r->scanner.position, note->end);
  e->mute_depth = outer_mute_depth;
  hp_scratch_clear(&r->scratch);
}

/* Opens the scopes of the elements that the segment leaves open. */
void hp_rewriter_adopt_scopes(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg) {
  for (uint32_t i = seg->logged.records.first; i < seg->logged.records.first + seg->logged.records.count; i++) {
    const hp_end_record *record = &r->ends.items[log->records[i].moved_to];
    for (uint32_t k = 0; k < record->scope_depth && record->scopes.count; k++)
      for (uint32_t n = 0; n < record->scopes.count; n++) hp_rewriter_change_scope(r, record->scopes.items[n], true);
  }
  hp_rewriter_set_captures(r);
}
