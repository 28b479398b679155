#include "select/ahead.h"

#include "base/memory.h"
#include "select/walk.h"

/* The reverse walk. Index `count` stands for the root. */
typedef struct reverse {
  hp_matcher *matcher;
  uint32_t count, capacity, parent_capacity, matched_capacity;
  hp_ref *elements;
  uint32_t *parents;
  hp_bits *matched; /* of the walk in document order */
  uint32_t words;   /* of a set of relative compounds */
  hp_bits *child, *descendant, *next, *later;
  uint32_t *children; /* element children that came, from the end */
  uint32_t *counters; /* of "of S" */
  hp_bits *reached, *found, *by_combinator[5];
  uint32_t open; /* the innermost element of the walk in document order */
  bool out_of_memory;
} reverse;

static bool collect(void *context, const hp_subject *subject, bool accepts) {
  reverse *r = context;
  (void)accepts;
  uint32_t words = r->matcher->words;
  const char *base = r->matcher->document->range.base;
  if (!hp_select_grow(&r->elements, &r->capacity, r->count + 1, sizeof *r->elements) ||
      !hp_select_grow(&r->parents, &r->parent_capacity, r->count + 1, sizeof *r->parents) ||
      !hp_select_grow(&r->matched, &r->matched_capacity, ((size_t)r->count + 1) * words, sizeof *r->matched)) {
    r->out_of_memory = true;
    return false;
  }
  hp_ref parent = hp_parent_of(base, subject->node);
  while (r->open != UINT32_MAX && r->elements[r->open] != parent) r->open = r->parents[r->open];
  r->elements[r->count] = subject->ref;
  r->parents[r->count] = r->open;
  memcpy(r->matched + (size_t)r->count * words, r->matcher->matched, words * sizeof *r->matched);
  r->open = r->count++;
  return true;
}

static hpar_status walk_forward(reverse *r, hp_ref root) {
  hp_walk walk;
  hp_walk_open(&walk, r->matcher);
  walk.visits_all = true;
  r->open = UINT32_MAX;
  hpar_status status = hp_walk_enter(&walk, root);
  if (!status) status = hp_walk_below(&walk, root, collect, r);
  hp_walk_close(&walk);
  hp_matcher_forget_types(r->matcher);
  return r->out_of_memory ? HPAR_ERROR_MEMORY : status;
}

static bool allocate(reverse *r) {
  size_t sets = ((size_t)r->count + 1) * r->words;
  r->child = hp_allocate_zeroed((4 * sets + 7 * r->words) * sizeof *r->child);
  r->children = hp_allocate_zeroed(((size_t)r->count + 1) * sizeof *r->children);
  r->counters =
      hp_allocate_zeroed(((size_t)r->count + 1) * (r->matcher->set->ahead_counters + 1) * sizeof *r->counters);
  if (!r->child || !r->children || !r->counters) return false;
  r->descendant = r->child + sets;
  r->next = r->descendant + sets;
  r->later = r->next + sets;
  r->reached = r->later + sets;
  r->found = r->reached + r->words;
  for (uint32_t c = 0; c < 5; c++) r->by_combinator[c] = r->found + (1 + c) * r->words;
  for (uint32_t i = 0; i < r->matcher->set->relatives_count; i++)
    hp_set_bit(r->by_combinator[r->matcher->set->relatives[i].combinator], i);
  return true;
}

static bool ahead_holds(reverse *r, const hp_ahead_test *test, uint32_t parent, uint32_t of_type,
                        const hp_subject *subject) {
  hp_matcher *m = r->matcher;
  switch ((hp_ahead_kind)test->kind) {
    case HP_AHEAD_HAS:
      for (uint32_t i = test->first; i < test->first + test->count; i++)
        if (hp_bit_is_set(r->reached, m->set->starts[i])) return true;
      return false;
    case HP_AHEAD_NTH_LAST_CHILD: return hp_nth_holds(test->a, test->b, r->children[parent]);
    case HP_AHEAD_NTH_LAST_OF_TYPE: return hp_nth_holds(test->a, test->b, of_type);
    case HP_AHEAD_NTH_LAST_OF: {
      if (!hp_choices_hold(m, test->first, test->count, subject, NULL)) return false;
      uint32_t *counter = &r->counters[(size_t)parent * (m->set->ahead_counters + 1) + test->slot];
      return hp_nth_holds(test->a, test->b, ++*counter);
    }
  }
  return false;
}

/* Computes T(., e) and hands it to the parent. */
static void find_relatives(reverse *r, uint32_t index, uint32_t parent, const hp_subject *subject) {
  const hpar_selectors *set = r->matcher->set;
  uint32_t words = r->words;
  memset(r->found, 0, words * sizeof *r->found);
  for (uint32_t i = 0; i < set->relatives_count; i++) {
    const hp_relative *relative = &set->relatives[i];
    if (!relative->is_last && !hp_bit_is_set(r->reached, i + 1)) continue;
    if (hp_compound_holds(r->matcher, relative->compound, subject, NULL)) hp_set_bit(r->found, i);
  }
  for (uint32_t w = 0; w < words; w++) {
    size_t own = (size_t)index * words + w, outer = (size_t)parent * words + w;
    hp_bits found = r->found[w];
    r->child[outer] |= found;
    r->descendant[outer] |= found | r->descendant[own];
    r->next[outer] = found;
    r->later[outer] |= found;
  }
}

static hpar_status walk_back(reverse *r, hp_ahead *ahead) {
  hp_matcher *m = r->matcher;
  const hpar_selectors *set = m->set;
  const char *base = m->document->range.base;
  hp_bits *scratch = m->matched;
  bool counts_types = false;
  for (uint32_t t = 0; t < set->ahead_count; t++) counts_types |= set->ahead[t].kind == HP_AHEAD_NTH_LAST_OF_TYPE;
  hpar_status status = HPAR_OK;
  for (uint32_t i = r->count; i-- && !status;) {
    uint32_t parent = r->parents[i] == UINT32_MAX ? r->count : r->parents[i], of_type = 0;
    hp_subject subject = hp_subject_of(base, r->elements[i]);
    hp_bits *tests = ahead->tests + (size_t)i * ahead->words;
    m->matched = r->matched + (size_t)i * m->words;
    m->ahead = tests;
    r->children[parent]++;
    if (counts_types && !(of_type = hp_matcher_count_type(m, parent == r->count ? 0 : r->elements[parent], &subject)))
      status = HPAR_ERROR_MEMORY;
    for (uint32_t w = 0; w < r->words; w++) {
      size_t own = (size_t)i * r->words + w, outer = (size_t)parent * r->words + w;
      r->reached[w] = (r->child[own] & r->by_combinator[HP_COMBINATOR_CHILD][w]) |
                      (r->descendant[own] & r->by_combinator[HP_COMBINATOR_DESCENDANT][w]) |
                      (r->next[outer] & r->by_combinator[HP_COMBINATOR_NEXT][w]) |
                      (r->later[outer] & r->by_combinator[HP_COMBINATOR_LATER][w]);
    }
    for (uint32_t t = 0; t < set->ahead_count; t++)
      if (ahead_holds(r, &set->ahead[t], parent, of_type, &subject)) hp_set_bit(tests, t);
    find_relatives(r, i, parent, &subject);
  }
  m->matched = scratch;
  m->ahead = NULL;
  hp_matcher_forget_types(m);
  return status;
}

hpar_status hp_ahead_open(hp_ahead *ahead, hp_matcher *matcher, hp_ref root) {
  reverse r = {.matcher = matcher, .words = (matcher->set->relatives_count + HP_BITS) / HP_BITS};
  ahead->words = (matcher->set->ahead_count + HP_BITS - 1) / HP_BITS;
  ahead->tests = NULL;
  hpar_status status = walk_forward(&r, root);
  ahead->count = r.count;
  if (!status) {
    ahead->tests = hp_allocate_zeroed(((size_t)r.count + 1) * ahead->words * sizeof *ahead->tests);
    status = ahead->tests && allocate(&r) ? walk_back(&r, ahead) : HPAR_ERROR_MEMORY;
  }
  hp_free(r.elements);
  hp_free(r.parents);
  hp_free(r.matched);
  hp_free(r.child);
  hp_free(r.children);
  hp_free(r.counters);
  return status;
}

void hp_ahead_close(hp_ahead *ahead) { hp_free(ahead->tests); }
