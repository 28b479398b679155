#include "base/call.h"
#include "base/memory.h"
#include "select/match.h"
#include "select/program.h"

#include <string.h>

/*** look-ahead tests ***/

/* Answers the look-ahead tests of all elements below a root: one walk in document order finds
 * the matches of inner selectors, one in reverse order the rest. Both are linear.
 *
 * For a relative selector of :has() with compounds c(0) ... c(n-1), T(r, x) means that x holds
 * c(r) and that the rest of the selector is found from x. R(r, e) is true if an element x with
 * T(r, x) relates to e by the combinator before c(r). In reverse document order the descendants
 * and later siblings of e come before e, so R(., e) is known when T(., e) is computed. */

typedef struct ahead_tests {
  uint32_t words;   /* of a set of look-ahead tests */
  hp_bits *holding; /* a set per element below the root, in document order */
} ahead_tests;

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
  if (!hp_reserve(&r->elements, &r->capacity, r->count + 1, sizeof *r->elements) ||
      !hp_reserve(&r->parents, &r->parent_capacity, r->count + 1, sizeof *r->parents) ||
      !hp_reserve(&r->matched, &r->matched_capacity, ((size_t)r->count + 1) * words, sizeof *r->matched)) {
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

static hpar_status walk_back(reverse *r, ahead_tests *ahead) {
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
    hp_bits *tests = ahead->holding + (size_t)i * ahead->words;
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

/* HPAR_ERROR_MEMORY; close_ahead is to be called after any result. */
static hpar_status open_ahead(ahead_tests *ahead, hp_matcher *matcher, hp_ref root) {
  reverse r = {.matcher = matcher, .words = (matcher->set->relatives_count + HP_BITS) / HP_BITS};
  ahead->words = (matcher->set->ahead_count + HP_BITS - 1) / HP_BITS;
  ahead->holding = NULL;
  hpar_status status = walk_forward(&r, root);
  if (!status) {
    ahead->holding = hp_allocate_zeroed(((size_t)r.count + 1) * ahead->words * sizeof *ahead->holding);
    status = ahead->holding && allocate(&r) ? walk_back(&r, ahead) : HPAR_ERROR_MEMORY;
  }
  hp_free(r.elements);
  hp_free(r.parents);
  hp_free(r.matched);
  hp_free(r.child);
  hp_free(r.children);
  hp_free(r.counters);
  return status;
}

static void close_ahead(ahead_tests *ahead) { hp_free(ahead->holding); }

/*** selection ***/

hpar_status hpar_selectors_create(hpar_selectors **selectors) {
  if (!selectors) return HPAR_ERROR_ARGUMENT;
  hpar_selectors *made = hp_allocate_zeroed(sizeof *made);
  *selectors = made;
  if (!made) return HPAR_ERROR_MEMORY;
  return HPAR_OK;
}

void hp_selectors_close(hpar_selectors *s) {
#define FREE(type, name) hp_free(s->name);
  HP_SELECT_ARRAYS(FREE)
#undef FREE
}

/* Returns NULL if memory is short, or there are no bytes. */
static void *copy_bytes(const void *bytes, size_t length) {
  void *copy = length ? hp_allocate(length) : NULL;
  return copy ? memcpy(copy, bytes, length) : NULL;
}

hpar_status hp_selectors_copy(hpar_selectors *copy, const hpar_selectors *s) {
  const size_t after_use = offsetof(hpar_selectors, text); /* other calls may change the use */
  bool has_all = true;
  memcpy((char *)copy + after_use, (const char *)s + after_use, sizeof *s - after_use);
#define COPY(type, name)                                                                         \
  copy->name = copy_bytes(s->name, (copy->name##_capacity = s->name##_count) * sizeof *s->name); \
  has_all &= copy->name || !s->name##_count;
  HP_SELECT_ARRAYS(COPY)
#undef COPY
  return has_all ? HPAR_OK : HPAR_ERROR_MEMORY;
}

static void free_selectors(hpar_selectors *s) {
  hp_selectors_close(s);
  hp_free(s);
}

void hpar_selectors_destroy(hpar_selectors *s) {
  if (s && hp_destroy_use(&s->use)) free_selectors(s);
}

void hp_selectors_begin_use(const hpar_selectors *set, const hpar_document *document) {
  hp_begin_use(&set->use);
  hp_begin_reading(&document->use);
}

hpar_status hp_selectors_end_use(const hpar_selectors *set, const hpar_document *document, hpar_status status) {
  hp_document_end_reading(document);
  if (hp_end_use(&set->use)) free_selectors((hpar_selectors *)(uintptr_t)set);
  return status;
}

uint32_t hpar_selectors_count(const hpar_selectors *selectors) { return selectors ? selectors->selectors : 0; }

/* A selection under way. */
typedef struct selection {
  hp_matcher matcher;
  hp_checked checked;
  ahead_tests ahead;
  uint32_t index;    /* of the element, where look-ahead tests are used */
  hp_ref top, after; /* where they are used: only elements between these are reported */
  bool is_inside;
  hpar_match_callback callback;
  void *context;
  hpar_status status; /* what it has returned */
} selection;

static hpar_status open_selection(selection *s, const hpar_selectors *set, const hpar_document *document, hp_ref top,
                                  hp_ref scope) {
  memset(s, 0, sizeof *s);
  s->top = top;
  hpar_status status = hp_matcher_open(&s->matcher, set, document, scope);
  if (set->languages) s->matcher.language = hp_default_language(document);
  if (!status) status = hp_checked_open(&s->checked, set, document, hp_root_of(document, top));
  if (s->checked.slots) s->matcher.checked = &s->checked;
  if (!status && hp_selectors_walk_back(set)) {
    status = open_ahead(&s->ahead, &s->matcher, hp_root_of(document, top));
    s->matcher.ahead = s->ahead.holding;
  }
  return status;
}

static void close_selection(selection *s) {
  close_ahead(&s->ahead);
  hp_checked_close(&s->checked);
  hp_matcher_close(&s->matcher);
}

hpar_status hp_report_matches(const hp_matcher *m, hp_ref element, hpar_match_callback callback, void *context) {
  uint32_t last = HP_SELECT_NONE;
  for (uint32_t w = 0; w < m->words; w++) {
    for (hp_bits left = hp_accepted(m, w); left; left &= left - 1) {
      uint32_t selector = hp_selector_of(m, w * HP_BITS + (uint32_t)__builtin_ctzll(left));
      if (selector == last) continue;
      last = selector;
      hpar_status status = callback(element, selector, context);
      if (status != HPAR_OK) return status;
    }
  }
  return HPAR_OK;
}

static bool report_subject(selection *s, hp_ref element) {
  s->status = hp_report_matches(&s->matcher, element, s->callback, s->context);
  return s->status == HPAR_OK;
}

static bool visit(void *context, const hp_subject *subject, bool accepts) {
  selection *s = context;
  return !accepts || report_subject(s, subject->ref);
}

/* Visits the elements of the whole tree, so that their numbers find their look-ahead tests. */
static bool visit_numbered(void *context, const hp_subject *subject, bool accepts) {
  selection *s = context;
  s->matcher.ahead = s->ahead.holding + (size_t)++s->index * s->ahead.words;
  if (subject->ref == s->after) return false;
  bool is_reported = s->is_inside && accepts;
  if (subject->ref == s->top) s->is_inside = true;
  return !is_reported || report_subject(s, subject->ref);
}

/* Selects below `top`, or `top` alone if no test needs the walk in reverse order. */
static hpar_status select_in(const hpar_selectors *set, const hpar_document *document, hp_ref top, hp_ref scope,
                             bool only_top, hpar_match_callback callback, void *context) {
  if (!top || !hp_can_have_children(hp_node_at(document->range.base, top))) return HPAR_OK;
  selection s;
  hp_walk walk;
  hpar_status status = open_selection(&s, set, document, top, scope);
  bool walks_back = hp_selectors_walk_back(set);
  hp_ref from = walks_back ? hp_root_of(document, top) : top;
  s.after = hp_element_after(document, top);
  s.is_inside = top == from;
  s.callback = callback;
  s.context = context;
  hp_walk_open(&walk, &s.matcher);
  walk.visits_all = walks_back;
  if (!status) status = hp_walk_enter(&walk, from);
  if (!status && only_top)
    report_subject(&s, top);
  else if (!status)
    status = hp_walk_below(&walk, from, walks_back ? visit_numbered : visit, &s);
  if (!status) status = hp_end_of_walk(s.status);
  hp_walk_close(&walk);
  close_selection(&s);
  return status;
}

hpar_status hp_select_alone(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                            hpar_match_callback callback, void *context) {
  hp_selectors_begin_use(set, document);
  return hp_selectors_end_use(set, document, select_in(set, document, top, top, false, callback, context));
}

typedef struct matching {
  hpar_node element;
  uint32_t selector;
  bool matches;
} matching;

static hpar_status note_match(hpar_node element, uint32_t selector, void *context) {
  matching *m = context;
  m->matches |= element == m->element && (m->selector == HPAR_ANY_SELECTOR || selector == m->selector);
  return !m->matches ? HPAR_OK : HPAR_STOP;
}

hpar_status hpar_matches(const hpar_selectors *set, const hpar_document *document, hpar_node element, uint32_t selector,
                         bool *matches) {
  if (!set || !document || !matches) return HPAR_ERROR_ARGUMENT;
  if (selector != HPAR_ANY_SELECTOR && selector >= set->selectors) return HPAR_ERROR_ARGUMENT;
  matching m = {element, selector, false};
  hpar_status status = HPAR_OK;
  if (element && hp_node_at(document->range.base, element)->kind == HPAR_NODE_ELEMENT) {
    const bool walks_back = hp_selectors_walk_back(set);
    const hp_ref top = walks_back ? hp_root_of(document, element) : element;
    status = select_in(set, document, top, element, !walks_back, note_match, &m);
  }
  if (!status) *matches = m.matches;
  return status;
}
