/* What a worker assumes of the selectors' state outside its chunk: versions of the outer frame, the
 * frames of its own elements, and the scopes of rules for texts. */

#include "base/memory.h"
#include "rewrite/matching.h"
#include "rewrite/speculation.h"
#include "speculation/dispositions.h"
#include "tokenizer/parts.h"
#include "tree/outline.h"

#include <string.h>

/*** instructions ***/

bool hp_rule_edits_only_attributes(const hp_rule *rule) {
  if (hp_rule_may_retire(rule)) return false;
  for (size_t i = 0; i < rule->given.action_count; i++) {
    hpar_action_kind kind = rule->actions[i].kind;
    if (rule->actions[i].unit != HPAR_UNIT_ELEMENT || kind < HPAR_ACTION_SET_ATTRIBUTE ||
        kind > HPAR_ACTION_PREFIX_ATTRIBUTE)
      return false;
  }
  return true;
}

/* Finds the instructions whose matches the merger can resolve (hp_rewrite_condition), and those
 * that depend on numbers of siblings. Returns true if there are some of the latter. */
static bool find_resolvable(hpar_rewriter *r, hp_bits *resolvable, hp_bits *counting, hp_bits *uncounted) {
  hp_speculation *p = r->parallel.speculation;
  bool counts_any = false;
  const hpar_selectors *set = hp_matcher_set(&r->matching.matcher);
  const size_t bytes = r->matching.matcher.words * sizeof *resolvable;
  memset(resolvable, 0, bytes);
  memset(counting, 0, bytes);
  memset(uncounted, 0, bytes);
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    const hp_instruction *instruction = &set->instructions[i];
    const uint32_t selector = instruction->selector, compound = instruction->compound;
    bool counts = hp_compound_counts(set, counting, compound);
    bool accepts = selector != HP_SELECT_NONE && instruction->combinator == HP_COMBINATOR_NONE;
    if (counts) hp_set_bit(counting, i);
    if (accepts && hp_rule_edits_only_attributes(&r->rules->rules[r->rules->of_selector[selector]]) &&
        (!counts || hp_compound_counts_once(set, counting, compound)))
      hp_set_bit(resolvable, i);
    else if (counts && !hp_compound_counts_first(set, compound))
      hp_set_bit(p->uncounted = uncounted, i);
    counts_any |= counts;
  }
  return counts_any;
}

/*** lessons ***/

static void add_alternative(hp_rewrite_lessons *lessons, const hp_bits *heir, uint32_t words) {
  for (uint32_t i = 0; i < lessons->count; i++)
    if (!memcmp(lessons->alternatives + i * words, heir, words * sizeof *heir)) return;
  if (lessons->total == HP_MAX_LESSONS) return;
  memcpy(lessons->alternatives + lessons->total++ % HP_MAX_ALTERNATIVES * words, heir, words * sizeof *heir);
  if (lessons->count < HP_MAX_ALTERNATIVES) lessons->count++;
}

void hp_rewriter_learn_heir(hpar_rewriter *r, hp_rewrite_lessons *lessons) {
  const uint32_t words = r->matching.matcher.words;
  const hp_bits *heir = hp_frame_of_node(&r->matching, r->outline.builder.stack.top->node)->bits + words;
  add_alternative(lessons, heir, words);
}

/* Hashes of the names of tags before `at`. Different names may have the same hash. Tags before
 * `end` are read when a name needs them. */
typedef struct name_filter {
  const char *at, *end;
  uint64_t bits[64];
} name_filter;

/* Returns a hash of the first bytes of the name of a tag at `at`, in lower case. The name ends
 * before `end`. */
static uint32_t hash_name(const char *at, const char *end) {
  enum { HASHED = 16 };
  uint32_t hash = 2166136261u;
  if (end - at > HASHED) end = at + HASHED;
  for (; at < end && !(hp_class(*at) & HP_BYTE_TAG_STOP); at++) {
    const bool is_upper = (unsigned)(*at - 'A') < 26;
    hash = (hash ^ (unsigned char)(is_upper ? *at | 0x20 : *at)) * 16777619u;
  }
  return (hash ^ hash >> 15) % (64 * 64);
}

/* Returns true if a tag has a name with this hash. */
static bool has_hash(name_filter *filter, uint32_t hash) {
  const uint64_t bit = (uint64_t)1 << (hash % 64);
  while (!(filter->bits[hash / 64] & bit)) {
    filter->at = memchr(filter->at, '<', (size_t)(filter->end - filter->at));
    if (!filter->at) {
      filter->at = filter->end;
      return false;
    }
    const uint32_t found = hash_name(++filter->at, filter->end);
    filter->bits[found / 64] |= (uint64_t)1 << (found % 64);
  }
  return true;
}

/* Returns true if a tag may have the name of the compound, or if the compound has no name. */
static bool may_occur(const hpar_selectors *set, const hp_compound *compound, name_filter *filter) {
  if (compound->name == HP_SELECT_NONE) return true;
  const hp_selector_name *name = &set->names[compound->name];
  return has_hash(filter, hash_name(set->text + name->lower, set->text + name->lower + name->length));
}

void hp_rewriter_guess_heir(const hpar_rewriter *r, const hp_bits *after_heir, hp_rewrite_lessons *lessons) {
  enum { SEARCHED = 16 << 10 };
  const hpar_selectors *set = hp_matcher_set(&r->matching.matcher);
  const uint32_t words = r->matching.matcher.words;
  const hp_scanner *s = &r->scanner;
  hp_bits *first = lessons->alternatives, *all = first + words;
  name_filter filter = {.at = s->begin, .end = s->end - s->begin > SEARCHED ? s->begin + SEARCHED : s->end};
  lessons->count = lessons->total = 0;
  memset(first, 0, HP_MAX_ALTERNATIVES * words * sizeof *first);
  for (uint32_t i = 1; i < set->instructions_count; i++) {
    if (!hp_bit_is_set(after_heir, i) || !may_occur(set, &set->compounds[set->instructions[i - 1].compound], &filter))
      continue;
    if (set->instructions[i - 1].enters) hp_set_bit(first, i);
    hp_set_bit(all, i);
    lessons->count = 3;
  }
}

/*** versions ***/

static bool edit_only_attributes(const hpar_rules *rules) {
  for (uint32_t i = 0; i < rules->count; i++)
    if (!hp_rule_edits_only_attributes(&rules->rules[i])) return false;
  return true;
}

static uint32_t common_multiple(uint32_t a, uint32_t b) {
  uint32_t multiple = a;
  while (multiple % b) multiple += a;
  return multiple;
}

/* Finds the only counter that tests of siblings read. Its remainder has few values. Returns false
 * if there are several counters. */
static bool find_counter(const hpar_selectors *set, hp_unknown_counter *counter) {
  bool is_first = true;
  *counter = (hp_unknown_counter){.period = 1};
  for (uint32_t t = 0; t < set->tests_count; t++) {
    const hp_test *test = &set->tests[t];
    if (!hp_test_counts(test)) continue;
    const bool of_name = test->kind == HP_TEST_NTH_OF_NAME;
    const uint32_t slot = of_name ? test->slot : HP_SELECT_NONE;
    if ((!of_name && test->kind != HP_TEST_NTH_CHILD) || (!is_first && slot != counter->slot)) return false;
    if (test->a < -HP_MAX_VERSIONS || test->a > HP_MAX_VERSIONS || test->b > INT16_MAX) return false;
    is_first = false;
    counter->slot = slot;
    if (test->a) counter->period = common_multiple(counter->period, (uint32_t)(test->a < 0 ? -test->a : test->a));
    if (test->b > 0 && (uint32_t)test->b > counter->min) counter->min = (uint32_t)test->b;
    if (counter->period > HP_MAX_VERSIONS) return false;
  }
  counter->first = counter->period * (counter->min / counter->period + 1);
  return !is_first;
}

/* Writes up to `most` predictions of the outer bits. The heir bits of the first one are those of
 * the merger's current node, and the others have the alternatives that differ from it. Returns
 * their number. */
static uint32_t predict_bits(const hpar_rewriter *r, const hp_bits *after_heir, uint32_t most, hp_bits *bits) {
  const hp_rewrite_chunk *chunk = r->parallel.speculation->chunk;
  const uint32_t words = r->matching.matcher.words;
  const size_t bytes = words * sizeof *bits;
  const hp_bits *alternatives = chunk->sets.prediction + 4 * (size_t)words;
  uint32_t versions = 1;
  memcpy(bits, chunk->sets.prediction, 2 * bytes);
  for (uint32_t i = 0; i < chunk->assumed.alternatives && versions < most; i++) {
    bool is_new = true;
    for (uint32_t v = 0; v < versions && is_new; v++) {
      hp_bits differs = 0;
      for (uint32_t w = 0; w < words; w++)
        differs |= (bits[(2 * v + 1) * words + w] ^ alternatives[i * words + w]) & after_heir[w];
      is_new = differs != 0;
    }
    if (!is_new) continue;
    hp_bits *to = bits + 2 * (size_t)versions++ * words;
    memcpy(to, chunk->sets.prediction, bytes);
    memcpy(to + words, alternatives + i * words, bytes);
  }
  return versions;
}

void hp_speculation_open_versions(hpar_rewriter *r, hp_bits *bits) {
  enum { MOST_WORDS = 4 };
  hp_speculation *p = r->parallel.speculation;
  const size_t words = r->matching.matcher.words;
  hp_bits *near = bits, *heir = near + words, *next = heir + words, *resolvable = next + words;
  hp_bits *counting = resolvable + words, *uncounted = counting + words, *unknown = uncounted + words;
  hp_bits *maybe = unknown + words;
  p->frame.read = maybe + words;
  p->frame.learned_near = p->frame.read + 2 * words;
  p->frame.predicted = p->frame.learned_near + 2 * words;
  p->frame.later = p->frame.predicted + 2 * HP_MAX_VERSIONS * words;
  p->frame.next = p->frame.later + 2 * HP_MAX_VERSIONS * words;
  hp_bits *own_later = p->frame.next + 2 * HP_MAX_VERSIONS * words;
  hp_matching_find_successors(&r->matching, near, heir, next);
  memcpy(p->frame.learned_near, p->chunk->sets.prediction + 2 * words, 2 * words * sizeof *bits);
  bool counts = find_resolvable(r, resolvable, counting, uncounted), has_versions = edit_only_attributes(r->rules);
  hp_unknown_counter counter = {0};
  bool knows_counts = has_versions && p->uncounted && find_counter(hp_matcher_set(&r->matching.matcher), &counter);
  const bool counts_children = knows_counts && counter.slot == HP_SELECT_NONE;
  if (knows_counts)
    p->uncounted = NULL;
  else
    counter.period = 0;
  const uint32_t period = knows_counts ? counter.period : 1;
  /* Versions multiply the time of large sets, which is mostly that of matching. */
  const uint32_t most = has_versions && words <= MOST_WORDS ? HP_MAX_VERSIONS / period : 1;
  const uint32_t predictions = predict_bits(r, heir, most, p->frame.predicted);
  p->versions = period * predictions;
  for (uint32_t v = 0; v < p->versions; v++)
    memcpy(p->frame.later + 2 * v * words, p->frame.predicted + 2 * (v / period) * words, 2 * words * sizeof *bits);
  for (uint32_t v = 0; v < p->versions; v++)
    p->candidate_logs[v] = (hp_candidate_log){.near = p->frame.read,
                                              .heir = p->frame.read + words,
                                              .learned = p->frame.later + 2 * v * words,
                                              .after_near = near,
                                              .after_heir = heir,
                                              .after_next = next,
                                              .resolvable = resolvable,
                                              .counting = counts && !knows_counts ? counting : NULL,
                                              .knows_counts = knows_counts,
                                              .earlier = counts_children ? counter.first + v % period : 0,
                                              .own_later = r->rules->skips_tags ? NULL : own_later + v * words,
                                              .unknown = unknown,
                                              .maybe = maybe};
  hp_matching_use_versions(&r->matching, p->versions, p->candidate_logs, &counter);
  r->matching.matcher.log = &p->candidate_logs[0];
  p->log->versions = p->versions;
  p->log->counter = counter;
}

/*** frames ***/

/* Writes the instructions that follow another one with the combinator. */
static void find_successors(const hp_matching *s, hp_combinator combinator, hp_bits *bits) {
  const hp_matcher *m = &s->matcher;
  hp_bits carry = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits before = hp_matcher_followed_by(m, combinator)[w];
    bits[w] = before << 1 | carry;
    carry = before >> (HP_BITS - 1);
  }
}

void hp_matching_find_successors(const hp_matching *s, hp_bits *near, hp_bits *heir, hp_bits *next) {
  const uint32_t words = s->matcher.words;
  find_successors(s, HP_COMBINATOR_CHILD, near);
  find_successors(s, HP_COMBINATOR_LATER, heir);
  find_successors(s, HP_COMBINATOR_NEXT, next);
  for (uint32_t w = 0; w < words; w++) near[w] |= heir[w] | next[w];
  find_successors(s, HP_COMBINATOR_DESCENDANT, heir);
}

void hp_matching_assume_counter(const hp_matching *s, hp_frame *frame, uint32_t version, bool adds) {
  const hp_unknown_counter *c = &s->counter;
  if (!c->period) return;
  const uint32_t assumed = c->first + version % c->period;
  if (c->slot == HP_SELECT_NONE)
    frame->children += adds ? assumed : -assumed;
  else
    frame->bits[4 * (size_t)s->matcher.words + c->slot] += adds ? assumed : -(hp_bits)assumed;
}

/* Makes the frame of the outer current node in a set of selectors that counts elements. `next` are
 * the instructions after this combinator. */
static uint32_t make_outer_frame(hp_matching *s, const hp_bits *bits, const hp_bits *next) {
  const uint32_t words = s->matcher.words;
  uint32_t index = hp_matching_new_frame(s);
  memset(hp_frame_at(s, index), 0, s->frames.size);
  for (uint32_t v = 0; v < s->versions; v++, bits += 2 * (size_t)words) {
    hp_frame *frame = hp_frame_version(s, index, v);
    hp_bits *to = frame->bits, *later = to + 3 * (size_t)words;
    find_successors(s, HP_COMBINATOR_LATER, later);
    for (uint32_t w = 0; w < words; w++) {
      to[w] = bits[w] & ~next[w] & ~later[w];
      to[words + w] = bits[words + w];
      to[2 * words + w] = bits[w] & next[w];
      later[w] &= bits[w];
    }
    hp_matching_assume_counter(s, frame, v, true);
  }
  return index;
}

/* Makes the frame of children of the outer current node that match nothing: its heir bits. They
 * share a node. */
static void share_child(hp_matching *s, const hp_bits *bits) {
  const uint32_t words = s->matcher.words;
  hp_bits *of_child = hp_next_bits(s), *next = of_child;
  for (uint32_t v = 0; v < s->versions; v++, bits += 2 * (size_t)words, next += 2 * (size_t)words) {
    memset(next, 0, words * sizeof *next);
    memcpy(next + words, bits + words, words * sizeof *next);
  }
  bool has_child;
  const uint32_t frame = hp_matching_frame_with(s, of_child, &has_child);
  const hp_ref shared = hp_outline_share_outer_child(s->outline, frame);
  if (frame) hp_frame_at(s, frame)->element = shared;
}

void hp_matching_begin_segment(hp_matching *s, hp_ref outer, const hp_bits *bits) {
  hp_matching_reset_frames(s);
  s->outer = outer;
  s->holding = 0;
  uint32_t frame;
  bool has_child;
  if (s->rules->skips_tags) {
    frame = hp_matching_frame_with(s, bits, &has_child);
    share_child(s, bits);
  } else {
    frame = make_outer_frame(s, bits, s->matcher.log->after_next);
  }
  hp_node *node = hp_outline_node(s->outline, outer);
  node->next = frame;
}

void hp_matching_copy_bits(const hp_matching *s, uint32_t frame, hp_bits *to) {
  for (uint32_t v = 0; v < s->versions; v++)
    memcpy(to + v * 2 * (size_t)s->matcher.words, hp_frame_version(s, frame, v)->bits, hp_bits_size(s));
}

void hp_matching_outer_bits(const hp_matching *s, hp_ref node, hp_bits *to) {
  const uint32_t words = s->matcher.words, frame = hp_frame_of(s, node);
  for (uint32_t v = 0; v < s->versions; v++, to += 2 * (size_t)words) {
    const hp_bits *bits = hp_frame_version(s, frame, v)->bits;
    for (uint32_t w = 0; w < words; w++) {
      to[w] = bits[w] | bits[2 * words + w] | bits[3 * words + w];
      to[words + w] = bits[words + w];
    }
  }
}

/*** frames that count ***/

const hp_type_counter *hp_matching_next_type(const hp_matching *s, uint32_t frame, const hp_type_counter *last) {
  if (!hp_matcher_set(&s->matcher)->counts_types) return NULL;
  uint32_t index = last ? last->in_frame : s->frames.first_types[frame];
  return index ? &s->types.counters[index] : NULL;
}

uint32_t hp_matching_adopt_frame(hp_matching *s, const hp_frame *from, const hp_bits *heir) {
  const uint32_t words = s->matcher.words;
  uint32_t index = hp_matching_new_frame(s);
  hp_frame *frame = hp_frame_at(s, index);
  memcpy(frame, from, s->version_size);
  frame->element = 0;
  for (uint32_t w = 0; w < words; w++) frame->bits[words + w] |= heir[w];
  return index;
}

void hp_matching_add_children(hp_matching *s, hp_ref node, const hp_frame *seen) {
  const uint32_t words = s->matcher.words;
  hp_frame *frame = hp_frame_at(s, hp_frame_of(s, node));
  const hp_bits *from = seen->bits + 2 * (size_t)words;
  hp_bits *to = frame->bits + 2 * (size_t)words;
  if (!seen->children) return;
  frame->children += seen->children;
  memcpy(to, from, words * sizeof *to);
  for (uint32_t w = words; w < 2 * words; w++) to[w] |= from[w];
  for (uint32_t i = 0; i < hp_matcher_set(&s->matcher)->counters; i++) to[2 * words + i] += from[2 * words + i];
}

uint32_t hp_matching_frame_with(hp_matching *s, const hp_bits *bits, bool *has_child) {
  const uint32_t words = s->matcher.words;
  hp_bits any = 0, child = 0;
  for (uint32_t w = 0; w < 2 * s->versions * words; w++) {
    if (w / words % 2 == 0) child |= bits[w];
    any |= bits[w];
  }
  *has_child = child != 0;
  if (!any) return 0;
  memmove(hp_next_bits(s), bits, s->versions * hp_bits_size(s));
  return hp_matching_share_frame(s, HP_EMPTY_FRAME, hp_next_bits_are_uniform(s) ? 1 : s->versions);
}

/*** scopes ***/

/* Texts, comments and doctypes in the segments of workers. Rules for them have a scope: the
 * document, or the open elements that match. A worker predicts which scopes are open in the outer
 * context. The merger checks the prediction, and runs the callbacks that no worker may run. */

/*** workers: the scopes of the outer context ***/

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
    if (closes) *word = (*word & ~bit) | (p->chunk->sets.scopes[index / HP_BITS] & bit);
    if (local) *word |= bit;
  }
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
  hp_rewrite_note *note = &log->notes.items[log->notes.count];
  *note = (hp_rewrite_note){
      .start = start, .end = end, .place = hp_speculation_place_at(r, start), .scopes = log->note_scopes.count};
  p->joined_piece = log->pieces.count;
  if (r->edits.copied != UINT64_MAX) r->edits.copied = end;
  for (uint32_t i = 0; i < r->rules->unit_rule_count; i++) {
    const uint32_t index = r->rules->unit_rules[i];
    if (!is_local(r, index)) continue;
    *hp_push(&log->note_scopes, &r->unwind) = index;
  }
  note->scope_count = log->note_scopes.count - note->scopes;
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
    note->text = r->text;
    note->raw_name = r->scanner.raw_name;
    note->is_last = is_last;
  }
  hp_rewriter_leave_text(r, end, is_last);
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
  const hp_open_element *top = r->outline.builder.stack.top;
  if (seg->begins_in_text && r->text.is_open && r->running.texts) return false;
  /* Text in an SVG title follows the rules of HTML, and is visible for a worker. */
  if (r->rules->edits_texts && top->ns == HPAR_NAMESPACE_SVG && top->name == HP_ATOM_TITLE) return false;
  for (uint32_t i = 0; i < r->rules->unit_rule_count; i++) {
    const uint32_t index = r->rules->unit_rules[i];
    const hp_rule *rule = &r->rules->rules[index];
    if (hp_running_rules_reach(&r->running, index) == hp_bit_is_set(log->bits.items + seg->scopes, index)) continue;
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
  const uint8_t changed_end = r->text.changed_end;
  r->text = note->text;
  r->text.changed_end = changed_end;
  s->raw_name = note->raw_name;
  if (r->text.content == HP_TEXT_STATE_DATA) r->text.is_escaped = false;
  if (r->running.texts)
    hp_rewriter_edit_text(r, note->end, note->is_last);
  else if (r->text.is_escaped) /* the rules for the text have retired in the segment */
    hp_rewriter_escape_raw_text(r, note->start, note->end, note->text.content);
  s->raw_name = raw_name;
  r->text.is_escaped = false; /* between two tokens of the data state */
}

void hp_rewriter_run_note(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_note *note) {
  hp_edits *e = &r->edits;
  const uint32_t outer_mute_depth = e->mute_depth;
  e->mute_depth += note->place.mute_depth;
  e->copied = e->mute_depth ? UINT64_MAX : note->start;
  for (uint32_t i = note->scopes; i < note->scopes + note->scope_count; i++)
    hp_rewriter_change_scope(r, log->note_scopes.items[i], true);
  deliver(r, note);
  for (uint32_t i = note->scopes; i < note->scopes + note->scope_count; i++)
    hp_rewriter_change_scope(r, log->note_scopes.items[i], false);
  hp_edits_apply(e, &r->sink, r->scanner.begin, r->scanner.position, note->end);
  e->mute_depth = outer_mute_depth;
  hp_scratch_clear(&r->scratch);
}

/* Opens the scopes of the elements that the segment leaves open. */
void hp_rewriter_adopt_scopes(hpar_rewriter *r, const hp_rewrite_log *log, const hp_rewrite_segment *seg) {
  for (uint32_t i = seg->logged.records.first; i < seg->logged.records.end; i++) {
    const hp_end_record *record = &r->ends.items[log->records.items[i].moved_to];
    for (uint32_t k = 0; k < record->scope_depth && record->ending.scopes.count; k++)
      for (uint32_t n = 0; n < record->ending.scopes.count; n++)
        hp_rewriter_change_scope(r, record->ending.scopes.items[n], true);
  }
  hp_rewriter_set_captures(r);
}
