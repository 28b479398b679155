#include "select/match.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <string.h>

/*** frames ***/

void hp_walk_open(hp_walk *w, hp_matcher *matcher) {
  *w = (hp_walk){.matcher = matcher, .frame_size = hp_frame_size(matcher)};
}

void hp_walk_close(hp_walk *w) { hp_free(w->frames); }

static hp_frame *frame_at(const hp_walk *w, uint32_t depth) {
  return (hp_frame *)(void *)(w->frames + depth * w->frame_size);
}

static hp_frame *innermost_frame(const hp_walk *w) { return frame_at(w, w->depth - 1); }

static bool make_room(hp_walk *w) { return hp_reserve(&w->frames, &w->capacity, w->depth + 1, w->frame_size); }

/* Makes space for a frame after the innermost one. Returns that one, which may have moved, or NULL
 * without memory. */
static hp_frame *push_frame(hp_walk *w, hp_frame *innermost) {
  if (++w->depth <= w->capacity) return innermost;
  w->depth--;
  if (!make_room(w)) return NULL;
  return frame_at(w, w->depth++ - 1);
}

/*** narrow walks ***/

/* Walks for sets of at most 64 instructions, whose sets of instructions are one word.
 *
 * The *flat* walk is for sets without combinators and without tests of siblings. It has no frames:
 * an element matches by its name, its attributes and its children. The *framed* walk has a frame
 * for each open element that has child elements. */

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Returns true if the set fits the narrow walks. */
static bool is_narrow(const hp_matcher *m) {
  return m->words == 1 && !m->set->counts_types && !m->set->looks_at_forms && !m->set->languages;
}

/* What a set reads of attributes to find candidates. */
typedef enum reading { READ_NO_ATTRIBUTES, READ_ONE_NAME, READ_ATTRIBUTES } reading;

static reading reading_of(const hp_matcher *m) {
  if (!m->index.reads_attributes) return READ_NO_ATTRIBUTES;
  return m->index.only_name ? READ_ONE_NAME : READ_ATTRIBUTES;
}

static ALWAYS_INLINE void add_candidates(const hp_matcher *m, const hp_node *node, hp_bits *candidates, reading reads) {
  const hp_attributes *attributes = hp_at(m->base, node->attributes);
  if (reads == READ_ONE_NAME) {
    const hp_attribute *item = hp_find_attribute(attributes, m->index.only_name);
    if (item && (m->index.attributes.slots || hp_only_value_holds(m, attributes, item)))
      *candidates |= m->index.rows[m->index.only_row];
  } else {
    hp_add_attribute_candidates(m, candidates, attributes);
  }
}

static ALWAYS_INLINE hp_bits find_matches(hp_matcher *m, const hp_node *node, hp_ref ref, hp_bits enabled,
                                          hp_frame *parent, reading reads) {
  hp_bits candidates = m->index.rows[hp_tag_row(m, node->name)];
  if (reads && (enabled & *m->sets.by_attribute) && node->attributes) add_candidates(m, node, &candidates, reads);
  candidates &= enabled;
  hp_bits matched = candidates & *m->sets.sure;
  if (candidates == matched) return matched;
  hp_subject subject = hp_subject_of(m->base, ref);
  *m->active = candidates;
  hp_matcher_test(m, parent, &subject);
  return *m->matched;
}

static bool call(hp_matcher *m, hp_visit visit, void *context, hp_ref ref, hp_bits matched) {
  hp_subject subject = hp_subject_of(m->base, ref);
  *m->matched = matched;
  return visit(context, &subject, (matched & *m->sets.accepts) != 0);
}

/* Ends a walk when another thread sets a value. */
typedef struct limit {
  const _Atomic uint32_t *value;
  hp_ref at; /* the next element; 0: none */
} limit;

/* Returns whether the walk ends before the element. Without a limit, it costs nothing. */
static ALWAYS_INLINE bool is_past(limit *l, hp_ref ref) {
  if (!l || __builtin_expect(!atomic_load_explicit(l->value, memory_order_relaxed), 1)) return false;
  l->at = ref;
  return true;
}

static ALWAYS_INLINE void visit_flat(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, limit *l, hp_visit visit,
                                     void *context, reading reads) {
  hp_matcher *m = w->matcher;
  const char *base = m->base;
  const hp_bits wanted = *m->sets.entries, accepts = *m->sets.accepts;
  while (ref != end && ref) {
    const hp_node *node = hp_node_at(base, ref);
    hp_ref next = node->next;
    if (node->kind == HPAR_NODE_ELEMENT) {
      if (is_past(l, ref)) return;
      hp_bits matched = find_matches(m, node, ref, wanted, NULL, reads);
      if (((matched & accepts) || w->visits_all) && !call(m, visit, context, ref, matched)) return;
      if (node->first) {
        if (next) __builtin_prefetch(hp_node_at(base, next));
        ref = node->first;
        continue;
      }
    }
    ref = next ? next : hp_node_after(base, ref, top);
  }
}

static hp_bits successors(const hp_matcher *m, hp_bits matched, hp_combinator combinator) {
  return (matched & *m->sets.by_combinator[combinator]) << 1;
}

/* Opens the frame of an element with the matches of the last step. */
static ALWAYS_INLINE hp_frame *open_narrow_frame(hp_walk *w, hp_frame *parent, hp_ref ref, const hp_node *node,
                                                 hp_bits matched) {
  const hp_matcher *m = w->matcher;
  parent = push_frame(w, parent);
  if (!parent) return NULL;
  hp_frame *frame = (hp_frame *)(void *)((char *)parent + w->frame_size);
  frame->element = ref;
  frame->next = node->next;
  frame->children = frame->of_type = 0;
  frame->bits[0] = successors(m, matched, HP_COMBINATOR_CHILD);
  frame->bits[1] = parent->bits[1] | successors(m, matched, HP_COMBINATOR_DESCENDANT);
  for (uint32_t i = 2; i < 4 + m->set->counters; i++) frame->bits[i] = 0;
  return frame;
}

static ALWAYS_INLINE hpar_status visit_framed(hp_walk *w, hp_ref ref, hp_ref end, limit *l, hp_visit visit,
                                              void *context, reading reads) {
  hp_matcher *m = w->matcher;
  const char *base = m->base;
  const hp_bits entries = *m->sets.entries, accepts = *m->sets.accepts;
  hp_frame *parent = innermost_frame(w);
  while (ref && ref != end) {
    const hp_node *node = hp_node_at(base, ref);
    hp_ref next = node->next;
    if (node->kind == HPAR_NODE_ELEMENT) {
      if (is_past(l, ref)) return HPAR_OK;
      parent->children++;
      hp_bits *bits = parent->bits;
      hp_bits matched = find_matches(m, node, ref, entries | bits[0] | bits[1] | bits[2] | bits[3], parent, reads);
      bits[2] = successors(m, matched, HP_COMBINATOR_NEXT);
      bits[3] |= successors(m, matched, HP_COMBINATOR_LATER);
      if (((matched & accepts) || w->visits_all) && !call(m, visit, context, ref, matched)) return HPAR_OK;
      hp_ref below = hp_element_from(base, node->first);
      if (below) {
        if (!(parent = open_narrow_frame(w, parent, ref, node, matched))) return HPAR_ERROR_MEMORY;
        ref = below;
        continue;
      }
    }
    while (!next && w->depth > w->floor) {
      next = parent->next;
      parent = (hp_frame *)(void *)((char *)parent - w->frame_size);
      w->depth--;
    }
    ref = next;
  }
  return HPAR_OK;
}

static ALWAYS_INLINE hpar_status walk_narrowly(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, limit *l, hp_visit visit,
                                               void *context) {
  reading reads = reading_of(w->matcher);
  if (w->matcher->reads_frames) {
    if (reads == READ_NO_ATTRIBUTES) return visit_framed(w, ref, end, l, visit, context, READ_NO_ATTRIBUTES);
    return visit_framed(w, ref, end, l, visit, context, READ_ATTRIBUTES);
  }
  switch (reads) {
    case READ_NO_ATTRIBUTES: visit_flat(w, top, ref, end, l, visit, context, READ_NO_ATTRIBUTES); break;
    case READ_ONE_NAME: visit_flat(w, top, ref, end, l, visit, context, READ_ONE_NAME); break;
    case READ_ATTRIBUTES: visit_flat(w, top, ref, end, l, visit, context, READ_ATTRIBUTES); break;
  }
  return HPAR_OK;
}

/* Returns the instructions by which later siblings look at an element: those before a combinator
 * for siblings, and those that others test. */
static hp_bits seen_by_siblings(const hp_matcher *m) {
  if (m->set->choices_count || m->set->counters) return ~(hp_bits)0;
  return *m->sets.by_combinator[HP_COMBINATOR_NEXT] | *m->sets.by_combinator[HP_COMBINATOR_LATER];
}

/* Does what visit_framed does with an element, as far as its later siblings look at it. */
static void skip_narrowly(hp_walk *w, hp_ref ref) {
  hp_matcher *m = w->matcher;
  hp_frame *parent = innermost_frame(w);
  hp_bits *bits = parent->bits;
  parent->children++;
  const hp_bits enabled = (*m->sets.entries | bits[0] | bits[1] | bits[2] | bits[3]) & seen_by_siblings(m);
  const hp_bits matched = find_matches(m, hp_node_at(m->base, ref), ref, enabled, parent, reading_of(m));
  bits[2] = successors(m, matched, HP_COMBINATOR_NEXT);
  bits[3] |= successors(m, matched, HP_COMBINATOR_LATER);
}

/*** walks ***/

static hpar_status open_root(hp_walk *w) {
  if (!make_room(w)) return HPAR_ERROR_MEMORY;
  hp_frame *root = frame_at(w, w->depth++);
  hp_frame_open_root(w->matcher, root);
  if (w->matcher->set->languages) hp_find_ranges(w->matcher, root, w->matcher->language);
  return HPAR_OK;
}

static hpar_status open_frame(hp_walk *w, const hp_subject *subject) {
  if (!make_room(w)) return HPAR_ERROR_MEMORY;
  hp_frame *parent = innermost_frame(w);
  const hp_frame *above = w->depth > 1 ? frame_at(w, w->depth - 2) : NULL;
  hp_frame_open(w->matcher, frame_at(w, w->depth), parent, above, subject);
  frame_at(w, w->depth)->next = subject->node->next;
  w->depth++;
  return HPAR_OK;
}

hp_ref hp_root_of(const hpar_document *document, hp_ref node) {
  const char *base = document->range.base;
  for (hp_ref parent; (parent = hp_parent_of(base, hp_node_at(base, node)));) node = parent;
  return node;
}

hp_ref hp_element_after(const hpar_document *document, hp_ref node) {
  const char *base = document->range.base;
  do {
    node = hp_node_after(base, node, 0);
  } while (node && hp_node_at(base, node)->kind != HPAR_NODE_ELEMENT);
  return node;
}

hpar_status hp_walk_skip(hp_walk *w, hp_ref element) {
  hpar_status status = HPAR_OK;
  if (!w->matcher->set->looks_at_siblings) return HPAR_OK;
  if (is_narrow(w->matcher)) {
    skip_narrowly(w, element);
  } else {
    hp_subject subject = hp_subject_of(w->matcher->document->range.base, element);
    hp_matcher_step(w->matcher, innermost_frame(w), &subject, &status);
  }
  return status;
}

hpar_status hp_walk_go_below(hp_walk *w, hp_ref element) {
  hpar_status status = HPAR_OK;
  hp_subject subject = hp_subject_of(w->matcher->document->range.base, element);
  hp_matcher_step(w->matcher, innermost_frame(w), &subject, &status);
  return status ? status : open_frame(w, &subject);
}

bool hp_walk_copy(hp_walk *w, const hp_walk *from) {
  if (!hp_reserve(&w->frames, &w->capacity, from->depth, w->frame_size)) return false;
  memcpy(w->frames, from->frames, from->depth * w->frame_size);
  w->depth = from->depth;
  w->floor = from->floor;
  return true;
}

/* Steps over the siblings before the element where a selector looks at them. */
static hpar_status step_before(hp_walk *w, hp_ref element) {
  const char *base = w->matcher->document->range.base;
  hpar_status status = HPAR_OK;
  if (!w->matcher->set->looks_at_siblings) return HPAR_OK;
  hp_ref first = element;
  while (hp_node_at(base, first)->previous) first = hp_node_at(base, first)->previous;
  for (hp_ref ref = hp_element_from(base, first); ref != element && !status;
       ref = hp_element_from(base, hp_node_at(base, ref)->next))
    status = hp_walk_skip(w, ref);
  return status;
}

hpar_status hp_walk_enter(hp_walk *w, hp_ref top) {
  const char *base = w->matcher->document->range.base;
  hp_ref *path = NULL;
  uint32_t length = 0, capacity = 0;
  hpar_status status = open_root(w);
  for (hp_ref ref = top; !status && ref && hp_node_at(base, ref)->kind == HPAR_NODE_ELEMENT;
       ref = hp_parent_of(base, hp_node_at(base, ref))) {
    if (hp_reserve(&path, &capacity, length + 1, sizeof *path))
      path[length++] = ref;
    else
      status = HPAR_ERROR_MEMORY;
  }
  while (length-- && !status) {
    status = step_before(w, path[length]);
    if (!status) status = hp_walk_go_below(w, path[length]);
  }
  hp_free(path);
  w->floor = w->depth;
  return status;
}

static ALWAYS_INLINE hpar_status walk_by(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, limit *l, hp_visit visit,
                                         void *context) {
  if (is_narrow(w->matcher)) return walk_narrowly(w, top, ref, end, l, visit, context);
  const char *base = w->matcher->document->range.base;
  while (ref && ref != end) {
    if (is_past(l, ref)) return HPAR_OK;
    hpar_status status = HPAR_OK;
    hp_subject subject = hp_subject_of(base, ref);
    bool accepts = hp_matcher_step(w->matcher, innermost_frame(w), &subject, &status);
    if (status) return status;
    if ((accepts || w->visits_all) && !visit(context, &subject, accepts)) return HPAR_OK;
    hp_ref below = hp_element_from(base, subject.node->first);
    if (below) {
      if ((status = open_frame(w, &subject))) return status;
      ref = below;
      continue;
    }
    hp_ref next;
    while (!(next = hp_element_from(base, hp_node_at(base, ref)->next)) && w->depth > w->floor) {
      ref = innermost_frame(w)->element;
      w->depth--;
    }
    ref = next;
  }
  return HPAR_OK;
}

hpar_status hp_walk_on(hp_walk *w, hp_ref top, hp_ref at, hp_ref end, hp_visit visit, void *context) {
  return walk_by(w, top, at, end, NULL, visit, context);
}

hpar_status hp_walk_until(hp_walk *w, hp_ref top, hp_ref *at, const _Atomic uint32_t *value, hp_visit visit,
                          void *context) {
  limit l = {.value = value};
  const hpar_status status = walk_by(w, top, *at, 0, &l, visit, context);
  *at = l.at;
  return status;
}

hpar_status hp_walk_below(hp_walk *w, hp_ref top, hp_visit visit, void *context) {
  const char *base = w->matcher->document->range.base;
  return hp_walk_on(w, top, hp_element_from(base, hp_node_at(base, top)->first), 0, visit, context);
}

hpar_status hp_walk_start(hp_walk *w, hp_ref top, hp_ref first) {
  const char *base = w->matcher->document->range.base;
  hp_ref parent = hp_parent_of(base, hp_node_at(base, first));
  uint32_t between = 0;
  for (hp_ref ref = parent; ref != top; ref = hp_parent_of(base, hp_node_at(base, ref))) between++;
  hpar_status status = hp_walk_enter(w, parent);
  w->floor = w->depth - between;
  return status ? status : step_before(w, first);
}

/*** the default language ***/

/* Sets `*language` if the element is a meta element that declares the default language.
 * Source: HTML, "Content language state (http-equiv="content-language")". */
static void read_pragma(const hpar_document *document, const hp_subject *s, hpar_string *language) {
  static const char pragma[] = "content-language";
  const hp_attribute *http = hp_find_attribute(s->attributes, HP_ATOM_HTTP_EQUIV),
                     *content = hp_find_attribute(s->attributes, HP_ATOM_CONTENT);
  if (!http || !content) return;
  hpar_string name = hp_attribute_value(document, s->attributes, http);
  hpar_string value = hp_attribute_value(document, s->attributes, content);
  if (name.length != sizeof pragma - 1 || !hp_ascii_equal(name.bytes, pragma, name.length)) return;
  if (!value.length || memchr(value.bytes, ',', value.length)) return;
  size_t from = 0, to;
  while (from < value.length && hp_ascii_is_white(value.bytes[from])) from++;
  for (to = from; to < value.length && !hp_ascii_is_white(value.bytes[to]);) to++;
  if (to > from) *language = (hpar_string){value.bytes + from, to - from};
}

hpar_string hp_default_language(const hpar_document *document) {
  const char *base = document->range.base;
  hpar_string language = {NULL, 0};
  for (hp_ref ref = hp_node_at(base, document->root)->first; ref;) {
    const hp_node *node = hp_node_at(base, ref);
    bool is_element = node->kind == HPAR_NODE_ELEMENT;
    if (is_element && node->name == HP_ATOM_META && node->ns == HPAR_NAMESPACE_HTML) {
      hp_subject subject = hp_subject_of(base, ref);
      read_pragma(document, &subject, &language);
    }
    ref = is_element && node->first ? node->first : hp_node_after(base, ref, document->root);
  }
  return language;
}
