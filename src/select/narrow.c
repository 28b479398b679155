/* Walks for sets of at most 64 instructions, whose sets of instructions are one word.
 *
 * The *flat* walk is for sets without combinators and without tests of siblings. It has no frames:
 * an element matches by its name, its attributes and its children. The *framed* walk has a frame
 * for each open element that has child elements. */

#include "select/walk.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

bool hp_walk_is_narrow(const hp_matcher *m) {
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

/* The next siblings of open elements. An entry that the ring has lost is found by the parents. */
enum { RING = 64 };

typedef struct ring {
  hp_ref next[RING];
  uint32_t top, count;
} ring;

static ALWAYS_INLINE void push(ring *r, hp_ref next) {
  r->next[r->top++ % RING] = next;
  r->count += r->count < RING;
}

static ALWAYS_INLINE void visit_flat(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, hp_visit visit, void *context,
                                     reading reads) {
  hp_matcher *m = w->matcher;
  const char *base = m->base;
  const hp_bits wanted = *m->sets.entries, accepts = *m->sets.accepts;
  ring open = {.top = 0};
  while (ref != end && ref) {
    const hp_node *node = hp_node_at(base, ref);
    hp_ref next = node->next;
    if (node->kind == HPAR_NODE_ELEMENT) {
      hp_bits matched = find_matches(m, node, ref, wanted, NULL, reads);
      if (((matched & accepts) || w->visits_all) && !call(m, visit, context, ref, matched)) return;
      if (node->first) {
        if (next) {
          push(&open, next);
          __builtin_prefetch(hp_node_at(base, next));
        }
        ref = node->first;
        continue;
      }
    }
    if (next) {
      ref = next;
    } else if (open.count) {
      open.count--;
      ref = open.next[--open.top % RING];
    } else {
      ref = hp_node_after(base, ref, top);
    }
  }
}

static hp_bits successors(const hp_matcher *m, hp_bits matched, hp_combinator combinator) {
  return (matched & *m->sets.by_combinator[combinator]) << 1;
}

/* Opens the frame of an element with the matches of the last step. */
static ALWAYS_INLINE hp_frame *open_frame(hp_walk *w, hp_frame *parent, hp_ref ref, const hp_node *node,
                                          hp_bits matched) {
  const hp_matcher *m = w->matcher;
  parent = hp_walk_push(w, parent);
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

static ALWAYS_INLINE hpar_status visit_framed(hp_walk *w, hp_ref ref, hp_ref end, uint32_t floor, hp_visit visit,
                                              void *context, reading reads) {
  hp_matcher *m = w->matcher;
  const char *base = m->base;
  const hp_bits entries = *m->sets.entries, accepts = *m->sets.accepts;
  hp_frame *parent = hp_walk_innermost(w);
  while (ref && ref != end) {
    const hp_node *node = hp_node_at(base, ref);
    hp_ref next = node->next;
    if (node->kind == HPAR_NODE_ELEMENT) {
      parent->children++;
      hp_bits *bits = parent->bits;
      hp_bits matched = find_matches(m, node, ref, entries | bits[0] | bits[1] | bits[2] | bits[3], parent, reads);
      bits[2] = successors(m, matched, HP_COMBINATOR_NEXT);
      bits[3] |= successors(m, matched, HP_COMBINATOR_LATER);
      if (((matched & accepts) || w->visits_all) && !call(m, visit, context, ref, matched)) return HPAR_OK;
      hp_ref below = hp_element_from(base, node->first);
      if (below) {
        if (!(parent = open_frame(w, parent, ref, node, matched))) return HPAR_ERROR_MEMORY;
        ref = below;
        continue;
      }
    }
    while (!next && w->depth > floor) {
      next = parent->next;
      parent = (hp_frame *)(void *)((char *)parent - w->frame_size);
      w->depth--;
    }
    ref = next;
  }
  return HPAR_OK;
}

hpar_status hp_walk_narrow(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, uint32_t floor, hp_visit visit,
                           void *context) {
  reading reads = reading_of(w->matcher);
  if (w->matcher->reads_frames) {
    if (reads == READ_NO_ATTRIBUTES) return visit_framed(w, ref, end, floor, visit, context, READ_NO_ATTRIBUTES);
    return visit_framed(w, ref, end, floor, visit, context, READ_ATTRIBUTES);
  }
  switch (reads) {
    case READ_NO_ATTRIBUTES: visit_flat(w, top, ref, end, visit, context, READ_NO_ATTRIBUTES); break;
    case READ_ONE_NAME: visit_flat(w, top, ref, end, visit, context, READ_ONE_NAME); break;
    case READ_ATTRIBUTES: visit_flat(w, top, ref, end, visit, context, READ_ATTRIBUTES); break;
  }
  return HPAR_OK;
}
