#include "select/walk.h"

#include "base/memory.h"

void hp_walk_open(hp_walk *w, hp_matcher *matcher) {
  *w = (hp_walk){.matcher = matcher, .frame_size = hp_frame_size(matcher)};
}

void hp_walk_close(hp_walk *w) { hp_free(w->frames); }

static hp_frame *frame_at(const hp_walk *w, uint32_t depth) {
  return (hp_frame *)(void *)(w->frames + depth * w->frame_size);
}

hp_frame *hp_walk_innermost(const hp_walk *w) { return frame_at(w, w->depth - 1); }

static bool make_room(hp_walk *w) { return hp_select_grow(&w->frames, &w->capacity, w->depth + 1, w->frame_size); }

static hpar_status open_root(hp_walk *w) {
  if (!make_room(w)) return HPAR_ERROR_MEMORY;
  hp_frame *root = frame_at(w, w->depth++);
  hp_frame_open_root(w->matcher, root);
  if (w->matcher->set->languages) hp_find_ranges(w->matcher, root, w->matcher->language);
  return HPAR_OK;
}

hp_frame *hp_walk_push(hp_walk *w, hp_frame *innermost) {
  if (++w->depth <= w->capacity) return innermost;
  w->depth--;
  if (!make_room(w)) return NULL;
  return frame_at(w, w->depth++ - 1);
}

static hpar_status open_frame(hp_walk *w, const hp_subject *subject) {
  if (!make_room(w)) return HPAR_ERROR_MEMORY;
  hp_frame *parent = hp_walk_innermost(w);
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

hp_ref hp_node_after(const char *base, hp_ref ref, hp_ref top) {
  while (ref != top) {
    const hp_node *node = hp_node_at(base, ref);
    if (node->next) return node->next;
    ref = hp_parent_of(base, node);
  }
  return 0;
}

hp_ref hp_element_after(const hpar_document *document, hp_ref node) {
  const char *base = document->range.base;
  while (node) {
    const hp_node *n = hp_node_at(base, node);
    for (hp_ref next = n->next; next; next = hp_node_at(base, next)->next)
      if (hp_node_at(base, next)->kind == HPAR_NODE_ELEMENT) return next;
    node = hp_parent_of(base, n);
  }
  return 0;
}

bool hp_can_have_children(const hpar_document *document, hp_ref node) {
  uint8_t kind = hp_node_at(document->range.base, node)->kind;
  return kind == HPAR_NODE_DOCUMENT || kind == HPAR_NODE_FRAGMENT || kind == HPAR_NODE_ELEMENT;
}

bool hp_walk_step(hp_walk *w, const hp_subject *subject, hpar_status *status) {
  return hp_matcher_step(w->matcher, hp_walk_innermost(w), subject, status);
}

/* Steps over the siblings before the element where a selector looks at them. */
static hpar_status step_before(hp_walk *w, hp_ref element) {
  const char *base = w->matcher->document->range.base;
  hpar_status status = HPAR_OK;
  if (!w->matcher->set->looks_at_siblings) return HPAR_OK;
  hp_ref first = element;
  while (hp_node_at(base, first)->previous) first = hp_node_at(base, first)->previous;
  for (hp_ref ref = hp_element_from(base, first); ref != element && !status;
       ref = hp_element_from(base, hp_node_at(base, ref)->next)) {
    hp_subject subject = hp_subject_of(base, ref);
    hp_walk_step(w, &subject, &status);
  }
  return status;
}

hpar_status hp_walk_enter(hp_walk *w, hp_ref top) {
  const char *base = w->matcher->document->range.base;
  hp_ref *path = NULL;
  uint32_t length = 0, capacity = 0;
  hpar_status status = open_root(w);
  for (hp_ref ref = top; !status && ref && hp_node_at(base, ref)->kind == HPAR_NODE_ELEMENT;
       ref = hp_parent_of(base, hp_node_at(base, ref))) {
    if (hp_select_grow(&path, &capacity, length + 1, sizeof *path))
      path[length++] = ref;
    else
      status = HPAR_ERROR_MEMORY;
  }
  while (length-- && !status) {
    hp_subject subject = hp_subject_of(base, path[length]);
    status = step_before(w, path[length]);
    if (!status) hp_walk_step(w, &subject, &status);
    if (!status) status = open_frame(w, &subject);
  }
  hp_free(path);
  return status;
}

/* Visits the elements from `ref` on until `end`, or until only `floor` frames are left, the
 * innermost of which is that of `top`. */
static hpar_status visit_from(hp_walk *w, hp_ref top, hp_ref ref, hp_ref end, uint32_t floor, hp_visit visit,
                              void *context) {
  if (hp_walk_is_narrow(w->matcher)) return hp_walk_narrow(w, top, ref, end, floor, visit, context);
  const char *base = w->matcher->document->range.base;
  while (ref && ref != end) {
    hpar_status status = HPAR_OK;
    hp_subject subject = hp_subject_of(base, ref);
    bool accepts = hp_walk_step(w, &subject, &status);
    if (status) return status;
    if ((accepts || w->visits_all) && !visit(context, &subject, accepts)) return HPAR_OK;
    hp_ref below = hp_element_from(base, subject.node->first);
    if (below) {
      if ((status = open_frame(w, &subject))) return status;
      ref = below;
      continue;
    }
    hp_ref next;
    while (!(next = hp_element_from(base, hp_node_at(base, ref)->next)) && w->depth > floor) {
      ref = hp_walk_innermost(w)->element;
      w->depth--;
    }
    ref = next;
  }
  return HPAR_OK;
}

hpar_status hp_walk_below(hp_walk *w, hp_ref top, hp_visit visit, void *context) {
  hp_ref first =
      hp_element_from(w->matcher->document->range.base, hp_node_at(w->matcher->document->range.base, top)->first);
  return visit_from(w, top, first, 0, w->depth, visit, context);
}

hpar_status hp_walk_range(hp_walk *w, hp_ref top, hp_ref first, hp_ref end, hp_visit visit, void *context) {
  const char *base = w->matcher->document->range.base;
  hp_ref parent = hp_parent_of(base, hp_node_at(base, first));
  uint32_t between = 0;
  for (hp_ref ref = parent; ref != top; ref = hp_parent_of(base, hp_node_at(base, ref))) between++;
  hpar_status status = hp_walk_enter(w, parent);
  if (!status) status = step_before(w, first);
  return status ? status : visit_from(w, top, first, end, w->depth - between, visit, context);
}
