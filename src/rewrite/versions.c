/* The instructions of the rules by the way in which a worker treats them. The hypotheses about the
 * outer current node under which it matches elements. */

#include "base/memory.h"
#include "rewrite/speculation.h"
#include "tokenizer/states.h"

#include <string.h>

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
  const hpar_selectors *set = r->matching.matcher.set;
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
  const hp_bits *heir = hp_matching_bits_of(&r->matching, r->outline.builder.stack.top->node) + words;
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

/* Begins to read the tags at the beginning of the window. */
static void open_filter(const hpar_rewriter *r, name_filter *filter) {
  enum { SEARCHED = 16 << 10 };
  const hp_scanner *s = &r->scanner;
  *filter = (name_filter){.at = s->begin, .end = s->end - s->begin > SEARCHED ? s->begin + SEARCHED : s->end};
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
  const hpar_selectors *set = r->matching.matcher.set;
  const uint32_t words = r->matching.matcher.words;
  hp_bits *first = lessons->alternatives, *all = first + words;
  name_filter filter;
  open_filter(r, &filter);
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
static uint32_t predict_bits(const hpar_rewriter *r, const hp_rewrite_chunk *chunk, const hp_bits *after_heir,
                             uint32_t most, hp_bits *bits) {
  const uint32_t words = r->matching.matcher.words;
  const size_t bytes = words * sizeof *bits;
  const hp_bits *alternatives = chunk->prediction + 4 * (size_t)words;
  uint32_t versions = 1;
  memcpy(bits, chunk->prediction, 2 * bytes);
  for (uint32_t i = 0; i < chunk->alternatives && versions < most; i++) {
    bool is_new = true;
    for (uint32_t v = 0; v < versions && is_new; v++) {
      hp_bits differs = 0;
      for (uint32_t w = 0; w < words; w++)
        differs |= (bits[(2 * v + 1) * words + w] ^ alternatives[i * words + w]) & after_heir[w];
      is_new = differs != 0;
    }
    if (!is_new) continue;
    hp_bits *to = bits + 2 * (size_t)versions++ * words;
    memcpy(to, chunk->prediction, bytes);
    memcpy(to + words, alternatives + i * words, bytes);
  }
  return versions;
}

void hp_speculation_open_versions(hpar_rewriter *r, const hp_rewrite_chunk *chunk) {
  enum { SETS = 12, SETS_OF_VERSION = 7, MOST_WORDS = 4 };
  hp_speculation *p = r->parallel.speculation;
  const size_t words = r->matching.matcher.words;
  hp_grow(&p->frame.memory, &p->frame.capacity, (SETS + SETS_OF_VERSION * HP_MAX_VERSIONS) * words, &r->unwind);
  hp_bits *bits = p->frame.memory;
  hp_bits *near = bits, *heir = near + words, *next = heir + words, *resolvable = next + words;
  hp_bits *counting = resolvable + words, *uncounted = counting + words, *unknown = uncounted + words;
  hp_bits *maybe = unknown + words;
  p->frame.read = maybe + words;
  p->frame.learned_near = p->frame.read + 2 * words;
  p->frame.predicted = bits + SETS * words;
  p->frame.later = p->frame.predicted + 2 * HP_MAX_VERSIONS * words;
  p->frame.next = p->frame.later + 2 * HP_MAX_VERSIONS * words;
  hp_bits *own_later = p->frame.next + 2 * HP_MAX_VERSIONS * words;
  hp_matching_find_successors(&r->matching, near, heir, next);
  memcpy(p->frame.learned_near, chunk->prediction + 2 * words, 2 * words * sizeof *bits);
  bool counts = find_resolvable(r, resolvable, counting, uncounted), has_versions = edit_only_attributes(r->rules);
  hp_unknown_counter counter = {0};
  bool knows_counts = has_versions && p->uncounted && find_counter(r->matching.matcher.set, &counter);
  const bool counts_children = knows_counts && counter.slot == HP_SELECT_NONE;
  if (knows_counts)
    p->uncounted = NULL;
  else
    counter.period = 0;
  const uint32_t period = knows_counts ? counter.period : 1;
  /* Versions multiply the time of large sets, which is mostly that of matching. */
  const uint32_t most = has_versions && words <= MOST_WORDS ? HP_MAX_VERSIONS / period : 1;
  const uint32_t predictions = predict_bits(r, chunk, heir, most, p->frame.predicted);
  p->versions = period * predictions;
  for (uint32_t v = 0; v < p->versions; v++)
    memcpy(p->frame.later + 2 * v * words, p->frame.predicted + 2 * (v / period) * words, 2 * words * sizeof *bits);
  for (uint32_t v = 0; v < p->versions; v++)
    p->watches[v] = (hp_candidate_watch){.near = p->frame.read,
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
  hp_matching_use_versions(&r->matching, p->versions, p->watches, &counter);
  r->matching.matcher.watch = &p->watches[0];
  p->log->versions = p->versions;
  p->log->counter = counter;
}
