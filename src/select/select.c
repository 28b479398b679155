#include "base/call.h"
#include "base/memory.h"
#include "select/ahead.h"
#include "select/checked.h"
#include "select/parse.h"
#include "select/walk.h"

#include <string.h>

bool hp_select_grow(void *items, uint32_t *capacity, size_t need, size_t item_size) {
  if (need <= *capacity) return true;
  size_t room = *capacity ? 2 * (size_t)*capacity : 16;
  if (room < need) room = need;
  if (room > UINT32_MAX || room > SIZE_MAX / item_size) return false;
  void *old, *made;
  memcpy(&old, items, sizeof old);
  if (!(made = hp_reallocate(old, room * item_size))) return false;
  memcpy(items, &made, sizeof made);
  *capacity = (uint32_t)room;
  return true;
}

void hp_selector_take_back(hpar_selectors *set, const hpar_selectors *before) {
  set->text_count = before->text_count;
  set->names_count = before->names_count;
  set->tests_count = before->tests_count;
  set->compounds_count = before->compounds_count;
  set->instructions_count = before->instructions_count;
  set->choices_count = before->choices_count;
  set->ahead_count = before->ahead_count;
  set->relatives_count = before->relatives_count;
  set->starts_count = before->starts_count;
  set->counters = before->counters;
  set->ahead_counters = before->ahead_counters;
  set->counts_types = before->counts_types;
  set->looks_at_siblings = before->looks_at_siblings;
  set->languages = before->languages;
  set->looks_at_forms = before->looks_at_forms;
}

hpar_status hpar_selectors_create(hpar_selectors **selectors) {
  if (!selectors) return HPAR_ERROR_ARGUMENT;
  hpar_selectors *made = hp_allocate_zeroed(sizeof *made);
  *selectors = made;
  if (!made) return HPAR_ERROR_MEMORY;
  return HPAR_OK;
}

static void free_selectors(hpar_selectors *s) {
  hp_free(s->text);
  hp_free(s->names);
  hp_free(s->tests);
  hp_free(s->compounds);
  hp_free(s->instructions);
  hp_free(s->choices);
  hp_free(s->ahead);
  hp_free(s->relatives);
  hp_free(s->starts);
  hp_free(s);
}

void hpar_selectors_destroy(hpar_selectors *s) {
  if (s && hp_destroy_use(&s->use)) free_selectors(s);
}

void hp_selectors_begin_use(const hpar_selectors *set, const hpar_document *document) {
  hp_begin_use(&set->use);
  hp_begin_use(&document->use);
}

hpar_status hp_selectors_end_use(const hpar_selectors *set, const hpar_document *document, hpar_status status) {
  hp_document_end_use(document);
  if (hp_end_use(&set->use)) free_selectors((hpar_selectors *)(uintptr_t)set);
  return status;
}

uint32_t hpar_selectors_count(const hpar_selectors *selectors) { return selectors ? selectors->selectors : 0; }

hpar_status hp_selectors_add(hpar_selectors *set, const char *text, size_t length, bool for_stream, hpar_error *error) {
  hp_set_error(error, HPAR_OK, 0, "%s", "");
  if (!set) return hp_explain(error, HPAR_ERROR_ARGUMENT, "selectors is NULL");
  if (!text && length) return hp_explain(error, HPAR_ERROR_ARGUMENT, "text is NULL and length is %zu", length);
  if (hp_is_in_use(&set->use)) return hp_explain(error, HPAR_ERROR_ARGUMENT, "selectors is in use");
  hpar_selectors before = *set;
  hp_selector_parser parser = {.set = set,
                               .css = {text, text + length, text},
                               .status = HPAR_OK,
                               .selector = set->selectors,
                               .for_stream = for_stream};
  if (hp_selector_parse(&parser)) {
    set->selectors++;
    return HPAR_OK;
  }
  hp_selector_take_back(set, &before);
  if (parser.status) return hp_explain(error, parser.status, "%s", hpar_status_text(parser.status));
  return hp_set_error(error, HPAR_ERROR_ARGUMENT, parser.offset, "%s", parser.reason);
}

hpar_status hpar_selectors_add(hpar_selectors *set, const char *text, size_t length, hpar_error *error) {
  return hp_selectors_add(set, text, length, false, error);
}

/* A selection under way. */
typedef struct selection {
  hp_matcher matcher;
  hp_checked checked;
  hp_ahead ahead;
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
    status = hp_ahead_open(&s->ahead, &s->matcher, hp_root_of(document, top));
    s->matcher.ahead = s->ahead.tests;
  }
  return status;
}

static void close_selection(selection *s) {
  hp_ahead_close(&s->ahead);
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

static bool report(selection *s, hp_ref element) {
  s->status = hp_report_matches(&s->matcher, element, s->callback, s->context);
  return s->status == HPAR_OK;
}

static bool visit(void *context, const hp_subject *subject, bool accepts) {
  selection *s = context;
  return !accepts || report(s, subject->ref);
}

/* Visits the elements of the whole tree, so that their numbers find their look-ahead tests. */
static bool visit_numbered(void *context, const hp_subject *subject, bool accepts) {
  selection *s = context;
  s->matcher.ahead = s->ahead.tests + (size_t)++s->index * s->ahead.words;
  if (subject->ref == s->after) return false;
  bool is_reported = s->is_inside && accepts;
  if (subject->ref == s->top) s->is_inside = true;
  return !is_reported || report(s, subject->ref);
}

static hpar_status select_below(const hpar_selectors *set, const hpar_document *document, hp_ref top, hp_ref scope,
                                hpar_match_callback callback, void *context) {
  if (!top || !hp_can_have_children(document, top)) return HPAR_OK;
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
  if (!status) status = hp_walk_below(&walk, from, walks_back ? visit_numbered : visit, &s);
  if (!status) status = hp_end_of_walk(s.status);
  hp_walk_close(&walk);
  close_selection(&s);
  return status;
}

hpar_status hp_select_alone(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                            hpar_match_callback callback, void *context) {
  hp_selectors_begin_use(set, document);
  return hp_selectors_end_use(set, document, select_below(set, document, top, top, callback, context));
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
    if (hp_selectors_walk_back(set)) {
      status = select_below(set, document, hp_root_of(document, element), element, note_match, &m);
    } else {
      selection s;
      hp_walk walk;
      status = open_selection(&s, set, document, element, element);
      s.callback = note_match;
      s.context = &m;
      hp_walk_open(&walk, &s.matcher);
      if (!status) status = hp_walk_enter(&walk, element);
      if (!status) report(&s, element);
      hp_walk_close(&walk);
      close_selection(&s);
    }
  }
  if (!status) *matches = m.matches;
  return status;
}
