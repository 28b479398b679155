/* Several threads rewrite one window: whether to use them, and the order of the steps. */

#include "rewrite/parallel.h"

#include "base/memory.h"
#include "rewrite/team.h"

/* Rewrites the first tokens, up to the first one that leaves the initial mode. */
static void leave_initial_mode(hpar_rewriter *r) {
  for (size_t at = SIZE_MAX;
       r->outline.builder.mode == HP_INITIAL && r->progress.phase == HP_PHASE_RUNS && hp_rewrite_offset(r) != at;) {
    at = hp_rewrite_offset(r);
    hp_rewriter_scan_until(r, at + 1);
  }
}

/* Rewrites the first elements. Many pages open there the scopes of all that follows. If no thread
 * runs yet, the first output leaves before the threads start. */
static void rewrite_beginning(hpar_rewriter *r) {
  enum { BEGINNING = 8 << 10, LONG = 32 << 10 };
  const hp_rewrite_team *t = r->parallel.team;
  const bool is_divided = t && (t->division.cuts || t->division.chunk_size || t->division.is_inline);
  const bool has_use = r->rules->has_scopes || !t || !t->active;
  if (!has_use || is_divided || (size_t)(r->scanner.end - r->scanner.at) < LONG) return;
  hp_rewriter_scan_until(r, hp_rewrite_offset(r) + BEGINNING);
  if (r->progress.phase != HP_PHASE_RUNS || (r->text.is_open && r->running.texts)) return;
  const bool is_between = hp_scanner_is_in_data(&r->scanner);
  const uint64_t position = is_between ? hp_scanner_position(&r->scanner, r->scanner.at) : r->edits.safe;
  if (!is_between && r->edits.count > r->edits.complete) return; /* of the token that is open */
  hp_rewriter_flush(r, position);
}

void hp_rewriter_scan_parallel(hpar_rewriter *r) {
  leave_initial_mode(r);
  if (r->progress.phase == HP_PHASE_RUNS) rewrite_beginning(r);
  if (r->progress.phase == HP_PHASE_RUNS && r->outline.builder.mode != HP_INITIAL && hp_rewrite_team_begin(r)) {
    hp_rewrite_team *t = r->parallel.team;
    hpar_status status = hp_rewrite_team_run(t);
    r->window.limit = NULL;
    r->matching.matcher.log = NULL;
    t->counters.chunks += t->chunks.number;
    t->counters.skipped_chunks += t->chunks.skipped;
    if (r->parallel.trace) r->parallel.trace->report(r->parallel.trace);
    if (status != HPAR_OK) hp_unwind_now(&r->unwind, status);
  }
  if (r->progress.phase == HP_PHASE_RUNS && r->sink.status == HPAR_OK) hp_rewriter_scan(r);
}

/* Threads that a fork has lost may have left their logs in the middle of a change. The memory of
 * such a team leaks. */
void hp_rewriter_await_stragglers(hpar_rewriter *r) {
  if (r->parallel.team && !hp_crew_await(&r->parallel.team->crew)) r->parallel.team = NULL;
}

/*** whether to use the team ***/

/* Returns true if the end of a rule may divide later texts into pieces: the rule takes whole texts,
 * and another rule takes pieces. Workers do not know where the merger ends a rule. */
static bool may_change_pieces(const hpar_rules *rules) {
  bool ends_whole = false, takes_pieces = false;
  for (uint32_t i = 0; i < rules->unit_rule_count; i++) {
    const hp_rule *rule = &rules->rules[rules->unit_rules[i]];
    if (!rule->edits_text) continue;
    takes_pieces |= rule->given.text_pieces;
    ends_whole |= !rule->given.text_pieces && hp_rule_calls_units(rule) && !rule->given.pure;
  }
  return ends_whole && takes_pieces;
}

/* Returns true if workers can apply the rules, or leave elements to the merger. */
static bool fits_rules(const hpar_rules *rules) {
  if (rules->selectors->languages || rules->selectors->looks_at_forms || rules->reads_implied || rules->run_count)
    return false;
  return !may_change_pieces(rules);
}

bool hp_rewriter_is_parallel(const hpar_rewriter *r, size_t length) {
  enum { BREAK_EVEN = 256 << 10, TWO_CHUNKS = 64 << 10 };
  const hpar_rewrite_options *o = &r->options;
  const hp_rewrite_division *division = r->parallel.team ? &r->parallel.team->division : NULL;
  bool is_divided = division && (division->cuts || division->chunk_size);
  if (length < TWO_CHUNKS && !is_divided) return false;
  if (o->mode == HPAR_MODE_SEQUENTIAL || (o->mode == HPAR_MODE_AUTO && (o->threads < 2 || length < BREAK_EVEN)))
    return false;
  if (o->max_depth || o->max_memory || o->max_time_ns || o->fragment || o->filter || o->suspends || r->encoding.decoder)
    return false;
  return r->progress.phase == HP_PHASE_RUNS && fits_rules(r->rules);
}

hpar_status hp_rewriter_run_on(hpar_rewriter *r, hpar_run_callback run, void *context) {
  if (run && r->options.mode != HPAR_MODE_SEQUENTIAL && !hp_rewrite_team_of(r)) return HPAR_ERROR_MEMORY;
  if (!r->parallel.team) return HPAR_OK;
  r->parallel.team->executor.run = run;
  r->parallel.team->executor.context = context;
  return HPAR_OK;
}

hpar_status hp_rewriter_divide(hpar_rewriter *r, const hp_rewrite_division *division) {
  hp_rewrite_team *t = hp_rewrite_team_of(r);
  if (t) t->division = *division;
  return t ? HPAR_OK : HPAR_ERROR_MEMORY;
}

hp_rewrite_counters hp_rewriter_counters(const hpar_rewriter *r) {
  return r->parallel.team ? r->parallel.team->counters : (hp_rewrite_counters){0};
}
