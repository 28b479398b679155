/* Steps of a path: from a set of nodes to another one. A step visits each node once where its
 * predicates allow that, however often the nodes of the first set contain each other. */

#include "xpath.h"

#include "dom/value.h"

#include <stdlib.h>

/* Receives the nodes of a step. */
typedef struct collector {
  hp_xpath_evaluation *e;
  const hp_xpath_step *step;
  const hp_xpath_test *test;
  hp_atom name;
  uint32_t plain; /* predicates that it applies */
  size_t limit;
  hp_xpath_set *to;
} collector;

static inline const hp_node *node_at(const hp_xpath_evaluation *e, hp_ref ref) { return hp_node_at(e->base, ref); }

static hp_ref parent_of(const hp_xpath_evaluation *e, hp_ref ref) { return hp_parent_of(e->base, node_at(e, ref)); }

static inline hp_ref first_child(const hp_node *n) { return hp_can_have_children(n) ? n->first : 0; }

hp_ref hp_xpath_root_of(const hp_xpath_evaluation *e, hp_ref node) {
  for (hp_ref parent; (parent = parent_of(e, node));) node = parent;
  return node;
}

/*** tests ***/

static inline bool passes(const hp_xpath_test *test, hp_atom name, const hp_node *n) {
  switch (test->kind) {
    case HP_TEST_NODE: return n->kind != HPAR_NODE_DOCTYPE;
    case HP_TEST_PARENT: return hp_can_have_children(n) && n->first;
    case HP_TEST_TEXT: return n->kind == HPAR_NODE_TEXT;
    case HP_TEST_COMMENT: return n->kind == HPAR_NODE_COMMENT;
    case HP_TEST_INSTRUCTION:
      return n->kind == HPAR_NODE_PROCESSING_INSTRUCTION && (!test->name.bytes || n->target == name);
    case HP_TEST_ANY_NAME: return n->kind == HPAR_NODE_ELEMENT && (!test->ns || n->ns == test->ns);
    default: return n->kind == HPAR_NODE_ELEMENT && n->name == name && (!test->ns || n->ns == test->ns);
  }
}

static bool passes_attribute(const hp_xpath_test *test, hp_atom name, hp_atom attribute) {
  if (attribute == HP_ATOM_ADJUSTED_XMLNS || attribute == HP_ATOM_ADJUSTED_XMLNS_XLINK) return false;
  if (test->kind == HP_TEST_NODE) return true;
  if (test->ns && test->ns < HPAR_NAMESPACE_XLINK) return false;
  if (test->kind == HP_TEST_NAME) return attribute == name;
  if (test->kind != HP_TEST_ANY_NAME) return false;
  if (test->ns == HPAR_NAMESPACE_XLINK)
    return attribute >= HP_ATOM_ADJUSTED_XLINK_ACTUATE && attribute <= HP_ATOM_ADJUSTED_XLINK_TYPE;
  if (test->ns == HPAR_NAMESPACE_XML)
    return attribute > HP_ATOM_ADJUSTED_XLINK_TYPE && attribute <= HP_ATOM_ADJUSTED_XML_SPACE;
  return !test->ns;
}

static const hp_attributes *attributes_of(const hp_xpath_evaluation *e, hp_ref ref) {
  const hp_node *n = node_at(e, ref);
  return n->kind == HPAR_NODE_ELEMENT && n->attributes ? hp_at(e->base, n->attributes) : NULL;
}

const hp_attribute *hp_xpath_find_attribute(const hp_xpath_evaluation *e, hp_xpath_item item, uint32_t test) {
  const hp_attributes *block = hp_xpath_attribute(item) ? NULL : attributes_of(e, hp_xpath_node(item));
  if (!block) return NULL;
  for (uint32_t i = 0; i < block->count; i++)
    if (passes_attribute(&e->program->tests[test], e->atoms[test], block->items[i].name)) return &block->items[i];
  return NULL;
}

/*** collecting ***/

/* Returns whether the predicates from index `first` to `end`, which do not depend on the position, hold. */
static inline bool all_hold(const collector *c, uint32_t first, uint32_t end, hp_xpath_item item) {
  const uint32_t *predicates = c->e->program->predicates + c->step->predicates;
  for (uint32_t i = first; i < end; i++)
    if (!hp_xpath_holds(c->e, predicates[i], item, 1, 1)) return false;
  return true;
}

/* Takes a node that has passed the test. Returns false if the step needs no more. */
static inline bool keep(collector *c, hp_xpath_item item) {
  if (!all_hold(c, 0, c->plain, item)) return true;
  hp_xpath_add(c->e, c->to, item);
  return c->to->count != c->limit;
}

static inline bool take(collector *c, hp_ref ref) {
  return !passes(c->test, c->name, node_at(c->e, ref)) || keep(c, ref);
}

/*** walks from one node, in the order of the axis; false: the step needs no more ***/

static bool walk_attributes(collector *c, hp_ref element) {
  const hp_attributes *block = attributes_of(c->e, element);
  for (uint32_t i = 0; block && i < block->count; i++)
    if (passes_attribute(c->test, c->name, block->items[i].name) && !keep(c, element | (hp_xpath_item)(i + 1) << 32))
      return false;
  return true;
}

static bool walk_children(collector *c, hp_ref parent) {
  for (hp_ref ref = first_child(node_at(c->e, parent)); ref; ref = node_at(c->e, ref)->next)
    if (!take(c, ref)) return false;
  return true;
}

/* The next siblings of open elements. An entry that the ring has lost is found by the parents. */
enum { RING = 64 };

/* A walk through subtrees, which notes whether a node that it keeps lies inside the one before it. */
typedef struct descent {
  hp_ref next[RING];
  uint32_t top, count;
  uint32_t floor; /* the last node that it kept is open while `top` stays there */
  uint32_t low;   /* the least `top` since then */
  bool nested;
} descent;

static inline hp_ref pop_sibling(collector *c, descent *d, hp_ref ref, hp_ref top) {
  if (!d->count) {
    d->low = 0;
    return hp_node_after(c->e->base, ref, top);
  }
  d->count--;
  ref = d->next[--d->top % RING];
  if (d->top < d->low) d->low = d->top;
  return ref;
}

static inline void push_sibling(descent *d, const char *base, hp_ref next) {
  d->next[d->top++ % RING] = next;
  d->count += d->count < RING;
  __builtin_prefetch(hp_node_at(base, next));
}

static inline bool keep_below(collector *c, descent *d, const hp_node *n, hp_ref ref) {
  const size_t count = c->to->count;
  if (!keep(c, ref)) return false;
  if (c->to->count == count) return true;
  d->nested |= d->low >= d->floor;
  d->floor = first_child(n) ? d->top + (n->next != 0) : UINT32_MAX;
  d->low = UINT32_MAX - 1;
  return true;
}

/* Takes the nodes below `top`. `*covered` counts the nodes of `from`, from that index on, that the
 * walk meets. `test` has the kind of the collector's test, as a constant. */
static inline __attribute__((always_inline)) bool
walk_kind(collector *c, descent *d, hp_ref top, const hp_xpath_set *from, size_t *covered, const hp_xpath_test *test) {
  const char *base = c->e->base;
  const hp_atom name = c->name;
  hp_xpath_item met = *covered < from->count ? from->items[*covered] : 0;
  hp_ref ref = first_child(hp_node_at(base, top));
  while (ref) {
    const hp_node *n = hp_node_at(base, ref);
    const hp_ref next = n->next;
    if (ref == met) met = ++*covered < from->count ? from->items[*covered] : 0;
    if (passes(test, name, n) && !keep_below(c, d, n, ref)) return false;
    if (hp_can_have_children(n) && n->first) {
      if (next) push_sibling(d, base, next);
      ref = n->first;
    } else {
      ref = next ? next : pop_sibling(c, d, ref, top);
    }
  }
  return true;
}

static bool walk_below(collector *c, descent *d, hp_ref top, const hp_xpath_set *from, size_t *covered) {
  const hp_xpath_test name = {.kind = HP_TEST_NAME}, any = {.kind = HP_TEST_ANY_NAME};
  const hp_xpath_test text = {.kind = HP_TEST_TEXT}, parent = {.kind = HP_TEST_PARENT};
  d->top = d->count = 0;
  if (c->test->kind == HP_TEST_NAME && !c->test->ns) return walk_kind(c, d, top, from, covered, &name);
  if (c->test->kind == HP_TEST_ANY_NAME && !c->test->ns) return walk_kind(c, d, top, from, covered, &any);
  if (c->test->kind == HP_TEST_TEXT) return walk_kind(c, d, top, from, covered, &text);
  if (c->test->kind == HP_TEST_PARENT) return walk_kind(c, d, top, from, covered, &parent);
  return walk_kind(c, d, top, from, covered, c->test);
}

/* Requires: the nodes are in document order. A node in the subtree of another one adds nothing. */
static bool walk_descendants(collector *c, const hp_xpath_set *from, bool with_self) {
  descent d = {.floor = UINT32_MAX};
  bool more = true;
  for (size_t i = 0; more && i < from->count;) {
    const hp_ref top = hp_xpath_node(from->items[i++]);
    const hp_node *n = node_at(c->e, top);
    hp_xpath_work(c->e);
    d.low = 0;
    if (with_self && passes(c->test, c->name, n)) {
      more = keep_below(c, &d, n, top);
      d.floor = 0;
    }
    more = more && walk_below(c, &d, top, from, &i);
  }
  c->to->disjoint = !d.nested;
  return more;
}

static bool walk_ancestors(collector *c, hp_ref ref) {
  while ((ref = parent_of(c->e, ref)))
    if (!take(c, ref)) return false;
  return true;
}

static bool walk_siblings(collector *c, hp_ref ref, bool forwards) {
  for (;;) {
    const hp_node *n = node_at(c->e, ref);
    ref = forwards ? n->next : n->previous;
    if (!ref) return true;
    if (!take(c, ref)) return false;
  }
}

/* `inside`: begins with the descendants. */
static bool walk_following(collector *c, hp_ref ref, bool inside) {
  const char *base = c->e->base;
  ref = inside ? hp_next_in_tree(base, ref, 0) : hp_node_after(base, ref, 0);
  for (; ref; ref = hp_next_in_tree(base, ref, 0))
    if (!take(c, ref)) return false;
  return true;
}

static hp_ref deepest_last(const hp_xpath_evaluation *e, hp_ref ref) {
  for (const hp_node *n = node_at(e, ref); hp_can_have_children(n) && n->last; n = node_at(e, ref)) ref = n->last;
  return ref;
}

/* The nodes before `ref` but its ancestors, backwards. */
static bool walk_preceding(collector *c, hp_ref ref) {
  for (hp_ref ancestor = ref; ancestor; ancestor = parent_of(c->e, ancestor))
    for (hp_ref sibling = node_at(c->e, ancestor)->previous; sibling; sibling = node_at(c->e, sibling)->previous) {
      hp_ref at = deepest_last(c->e, sibling);
      for (;;) {
        if (!take(c, at)) return false;
        if (at == sibling) break;
        hp_ref previous = node_at(c->e, at)->previous;
        at = previous ? deepest_last(c->e, previous) : parent_of(c->e, at);
      }
    }
  return true;
}

static bool takes_self(const collector *c, hp_xpath_item item) {
  if (!hp_xpath_attribute(item)) return passes(c->test, c->name, node_at(c->e, hp_xpath_node(item)));
  return c->test->kind == HP_TEST_NODE; /* names are those of elements on these axes */
}

static bool walk_self(collector *c, hp_xpath_item item) { return !takes_self(c, item) || keep(c, item); }

static bool walk(collector *c, hp_xpath_item item) {
  const hp_ref ref = hp_xpath_node(item);
  const bool is_attribute = hp_xpath_attribute(item) != 0;
  hp_xpath_work(c->e);
  switch (c->step->axis) {
    case HP_AXIS_ANCESTOR_OR_SELF:
      if (!walk_self(c, item)) return false; /* fall through */
    case HP_AXIS_ANCESTOR: return (!is_attribute || take(c, ref)) && walk_ancestors(c, ref);
    case HP_AXIS_ATTRIBUTE: return is_attribute || walk_attributes(c, ref);
    case HP_AXIS_CHILD: return is_attribute || walk_children(c, ref);
    case HP_AXIS_DESCENDANT_OR_SELF:
      if (is_attribute) return walk_self(c, item); /* fall through */
    case HP_AXIS_DESCENDANT:
      return is_attribute || walk_descendants(c, &(hp_xpath_set){.items = &item, .count = 1},
                                              c->step->axis == HP_AXIS_DESCENDANT_OR_SELF);
    case HP_AXIS_FOLLOWING: return walk_following(c, ref, is_attribute);
    case HP_AXIS_FOLLOWING_SIBLING: return is_attribute || walk_siblings(c, ref, true);
    case HP_AXIS_PARENT: {
      hp_ref parent = is_attribute ? ref : parent_of(c->e, ref);
      return !parent || take(c, parent);
    }
    case HP_AXIS_PRECEDING: return walk_preceding(c, ref);
    case HP_AXIS_PRECEDING_SIBLING: return is_attribute || walk_siblings(c, ref, false);
    default: return walk_self(c, item);
  }
}

static bool is_reverse(hp_xpath_axis axis) {
  return axis == HP_AXIS_ANCESTOR || axis == HP_AXIS_ANCESTOR_OR_SELF || axis == HP_AXIS_PRECEDING ||
         axis == HP_AXIS_PRECEDING_SIBLING;
}

static void reverse(hp_xpath_set *set) {
  for (size_t i = 0, j = set->count; i + 1 < j; i++) {
    hp_xpath_item item = set->items[i];
    set->items[i] = set->items[--j];
    set->items[j] = item;
  }
}

/*** predicates that depend on the position ***/

/* The positions `first` to `last`, counted from the end of the group with `from_end`. */
typedef struct places {
  size_t first, last;
  bool from_end;
} places;

static places exact_place(double number, bool from_end) {
  const bool fits = number >= 1 && number < UINT32_MAX && number == (double)(size_t)number;
  return fits ? (places){(size_t)number, (size_t)number, from_end} : (places){1, 0, false};
}

/* Returns the positions for which position() compares with the number. */
static places compared_places(hp_xpath_operation op, double number) {
  const bool is_whole = number == (double)(size_t)number;
  const size_t below = (size_t)number;
  switch (op) {
    case HP_OP_EQUAL: return exact_place(number, false);
    case HP_OP_LESS: return (places){1, is_whole && below ? below - 1 : below, false};
    case HP_OP_LESS_EQUAL: return (places){1, below, false};
    case HP_OP_GREATER: return (places){below + 1, SIZE_MAX, false};
    default: return (places){is_whole && below ? below : below + 1, SIZE_MAX, false};
  }
}

/* Returns whether the predicate wants fixed positions, whatever the nodes: [3], [last()], [last() - 1],
 * [position() < 3] and the like. */
static bool read_places(const hp_xpath_evaluation *e, uint32_t routine, places *p) {
  const hp_xpath_routine *r = &e->program->routines[routine];
  const hp_xpath_instruction *i = r->code;
  const bool is_pair = r->count == 3 && i[1].op == HP_OP_NUMBER;
  const double number = r->count == 1 && i->op == HP_OP_NUMBER ? e->program->numbers[i->a]
                        : is_pair                              ? e->program->numbers[i[1].a]
                                                               : 0;
  if (r->count == 1 && i->op == HP_OP_NUMBER) {
    *p = exact_place(number, false);
  } else if (r->count == 1
                 ? i->op == HP_OP_LAST
                 : r->count == 3 && i->op == HP_OP_POSITION && i[1].op == HP_OP_LAST && i[2].op == HP_OP_EQUAL) {
    *p = (places){1, 1, true};
  } else if (is_pair && i->op == HP_OP_LAST && i[2].op == HP_OP_SUBTRACT) {
    *p = exact_place(number + 1, true);
  } else if (is_pair && i->op == HP_OP_POSITION &&
             (i[2].op == HP_OP_EQUAL || (i[2].op >= HP_OP_LESS && i[2].op <= HP_OP_GREATER_EQUAL)) && number >= 0 &&
             number < UINT32_MAX) {
    *p = compared_places(i[2].op, number);
  } else {
    return false;
  }
  return true;
}

/* A group of nodes from `begin` to `end`. */
typedef struct range {
  size_t begin, end;
} range;

static range take_places(range group, places p) {
  const size_t count = group.end - group.begin;
  const size_t last = p.last < count ? p.last : count, first = p.first - 1 < last ? p.first - 1 : last;
  if (p.from_end) return (range){group.end - last, group.end - first};
  return (range){group.begin + first, group.begin + last};
}

/* Applies the predicates from index `first` on, each to what the one before it has left. */
static void filter_from(hp_xpath_evaluation *e, const hp_xpath_step *step, uint32_t first, hp_xpath_set *set) {
  for (uint32_t p = first; p < step->count; p++) {
    const uint32_t routine = e->program->predicates[step->predicates + p];
    const size_t count = set->count;
    places wanted;
    size_t kept = 0;
    if (read_places(e, routine, &wanted)) {
      const range r = take_places((range){0, count}, wanted);
      for (size_t i = r.begin; i < r.end; i++) set->items[kept++] = set->items[i];
    } else {
      for (size_t i = 0; i < count; i++) {
        hp_xpath_item item = set->items[i];
        if (hp_xpath_holds(e, routine, item, i + 1, count)) set->items[kept++] = item;
      }
    }
    set->count = kept;
  }
}

void hp_xpath_filter(hp_xpath_evaluation *e, const hp_xpath_step *step, hp_xpath_set *set) {
  if (step->positional < step->count) hp_xpath_sort(e, set);
  filter_from(e, step, 0, set);
}

/* Appends what the predicates leave of the nodes from each node of the set. */
static void step_by_groups(collector *c, const hp_xpath_set *from) {
  hp_xpath_evaluation *e = c->e;
  hp_xpath_set *to = c->to, group = hp_xpath_new_set(e);
  places wanted = {1, SIZE_MAX, false};
  read_places(e, e->program->predicates[c->step->predicates + c->plain], &wanted);
  c->to = &group;
  c->limit = wanted.from_end || wanted.last == SIZE_MAX ? 0 : wanted.last; /* the nodes after these are not needed */
  for (size_t i = 0; wanted.last && i < from->count; i++) {
    group.count = 0;
    walk(c, from->items[i]);
    filter_from(e, c->step, c->plain, &group);
    if (is_reverse(c->step->axis)) reverse(&group);
    for (size_t k = 0; k < group.count; k++) hp_xpath_add(e, to, group.items[k]);
    if (c->step->wanted == HP_WANT_ANY && to->count) break;
  }
  hp_xpath_drop_set(e, &group);
}

/*** steps from many nodes ***/

/* A set of nodes by hashing. */
typedef struct marks {
  hp_ref *slots;
  size_t mask, count;
} marks;

/* Returns false if the set had the node. */
static bool mark(hp_xpath_evaluation *e, marks *m, hp_ref ref) {
  if (2 * (m->count + 1) > m->mask) {
    marks grown = {.mask = m->mask ? 2 * m->mask + 1 : 63};
    grown.slots = hp_xpath_take(e, (grown.mask + 1) * sizeof *grown.slots);
    memset(grown.slots, 0, (grown.mask + 1) * sizeof *grown.slots);
    for (size_t i = 0; m->slots && i <= m->mask; i++)
      if (m->slots[i]) mark(e, &grown, m->slots[i]);
    if (m->slots) hp_xpath_drop(m->slots);
    *m = grown;
  }
  size_t slot = ref * UINT64_C(0x9E3779B97F4A7C15) >> 20 & m->mask;
  for (; m->slots[slot]; slot = (slot + 1) & m->mask)
    if (m->slots[slot] == ref) return false;
  m->slots[slot] = ref;
  m->count++;
  return true;
}

static void drop_marks(marks *m) {
  if (m->slots) hp_xpath_drop(m->slots);
}

/* The ancestors of later nodes end where those of earlier ones begin. */
static void step_up(collector *c, const hp_xpath_set *from) {
  marks seen = {.slots = NULL};
  const bool with_self = c->step->axis == HP_AXIS_ANCESTOR_OR_SELF;
  for (size_t i = 0; i < from->count; i++) {
    const hp_xpath_item item = from->items[i];
    hp_ref ref = hp_xpath_node(item);
    hp_xpath_work(c->e);
    if (hp_xpath_attribute(item)) {
      if (with_self && !walk_self(c, item)) break;
    } else if (!with_self) {
      ref = parent_of(c->e, ref);
    }
    while (ref && mark(c->e, &seen, ref)) {
      if (!take(c, ref)) goto full;
      ref = parent_of(c->e, ref);
    }
  }
full:
  drop_marks(&seen);
}

/* The siblings after the first of several siblings, or before the last. */
static void step_aside(collector *c, const hp_xpath_set *from, bool forwards) {
  marks seen = {.slots = NULL};
  for (size_t i = 0; i < from->count; i++) {
    const hp_xpath_item item = from->items[forwards ? i : from->count - 1 - i];
    hp_ref ref = hp_xpath_node(item), parent = hp_xpath_attribute(item) ? 0 : parent_of(c->e, ref);
    hp_xpath_work(c->e);
    if (parent && mark(c->e, &seen, parent) && !walk_siblings(c, ref, forwards)) break;
  }
  drop_marks(&seen);
}

static bool is_below(const hp_xpath_evaluation *e, hp_ref ref, hp_ref top) {
  while (ref && ref != top) ref = parent_of(e, ref);
  return ref != 0;
}

/* Those of the node whose subtree ends first. */
static void step_after(collector *c, const hp_xpath_set *from) {
  hp_xpath_item first = from->items[0];
  for (size_t i = 1; i < from->count && !hp_xpath_attribute(first); i++) {
    const hp_xpath_item item = from->items[i];
    if (!is_below(c->e, hp_xpath_node(item), hp_xpath_node(first))) break;
    first = item;
  }
  walk(c, first);
}

static void step_plainly(collector *c, const hp_xpath_set *from) {
  for (size_t i = 0; i < from->count && walk(c, from->items[i]);) i++;
}

static void step_to_parents(collector *c, const hp_xpath_set *from) {
  hp_ref last = 0;
  for (size_t i = 0; i < from->count; i++) {
    const hp_xpath_item item = from->items[i];
    const hp_ref ref = hp_xpath_node(item), parent = hp_xpath_attribute(item) ? ref : parent_of(c->e, ref);
    hp_xpath_work(c->e);
    if (parent && parent != last && !take(c, parent)) return;
    last = parent;
  }
}

static bool has_attributes(const hp_xpath_set *set) {
  for (size_t i = 0; i < set->count; i++)
    if (hp_xpath_attribute(set->items[i])) return true;
  return false;
}

/* Takes the step from several nodes. The predicates do not depend on the position. */
static void step_from_many(collector *c, hp_xpath_set *from) {
  hp_xpath_set *to = c->to;
  const hp_xpath_axis axis = c->step->axis;
  const bool sorted = from->sorted, unique = from->unique;
  switch (axis) {
    case HP_AXIS_SELF:
      step_plainly(c, from);
      to->sorted = sorted;
      to->unique = unique;
      to->disjoint = from->disjoint;
      return;
    case HP_AXIS_ATTRIBUTE:
      step_plainly(c, from);
      to->sorted = sorted;
      to->disjoint = true;
      to->unique = unique;
      return;
    case HP_AXIS_CHILD:
      step_plainly(c, from);
      to->sorted = to->disjoint = sorted && from->disjoint;
      to->unique = unique;
      return;
    case HP_AXIS_PARENT: step_to_parents(c, from); return;
    default: break;
  }
  hp_xpath_sort(c->e, from);
  switch (axis) {
    case HP_AXIS_DESCENDANT:
    case HP_AXIS_DESCENDANT_OR_SELF:
      if (has_attributes(from)) {
        step_plainly(c, from);
        return;
      }
      walk_descendants(c, from, axis == HP_AXIS_DESCENDANT_OR_SELF);
      to->sorted = to->unique = true;
      return;
    case HP_AXIS_ANCESTOR:
    case HP_AXIS_ANCESTOR_OR_SELF:
      step_up(c, from);
      to->unique = true;
      return;
    case HP_AXIS_FOLLOWING_SIBLING:
    case HP_AXIS_PRECEDING_SIBLING:
      step_aside(c, from, axis == HP_AXIS_FOLLOWING_SIBLING);
      to->unique = true;
      return;
    case HP_AXIS_FOLLOWING:
      step_after(c, from);
      to->sorted = to->unique = true;
      return;
    default:
      walk(c, from->items[from->count - 1]);
      reverse(to);
      to->sorted = to->unique = true;
  }
}

static void step_from_one(collector *c, hp_xpath_item item) {
  if (c->step->wanted == HP_WANT_FIRST && !is_reverse(c->step->axis)) c->limit = 1;
  walk(c, item);
  if (is_reverse(c->step->axis)) reverse(c->to);
  c->to->sorted = c->to->unique = true;
  c->to->disjoint = c->to->disjoint || c->step->axis == HP_AXIS_CHILD || c->step->axis == HP_AXIS_ATTRIBUTE ||
                    c->step->axis == HP_AXIS_FOLLOWING_SIBLING || c->step->axis == HP_AXIS_PRECEDING_SIBLING ||
                    c->to->count < 2;
}

/*** positions on long axes ***/

/* From many nodes, the groups of an axis overlap, so that their nodes would be quadratically many. But
 * each group is a range of the nodes that any group has. */

enum { MANY = 16 };

static bool is_marked(const marks *m, hp_ref ref) {
  size_t slot = ref * UINT64_C(0x9E3779B97F4A7C15) >> 20 & m->mask;
  for (; m->slots && m->slots[slot]; slot = (slot + 1) & m->mask)
    if (m->slots[slot] == ref) return true;
  return false;
}

/* Collects the siblings of the nodes, and sets the range of each. Returns the number of ranges. */
static size_t find_siblings(collector *c, const hp_xpath_set *from, range *ranges) {
  const bool forwards = c->step->axis == HP_AXIS_FOLLOWING_SIBLING;
  marks members = {.slots = NULL}, parents = {.slots = NULL};
  size_t count = 0;
  for (size_t i = 0; i < from->count; i++)
    if (!hp_xpath_attribute(from->items[i])) mark(c->e, &members, hp_xpath_node(from->items[i]));
  for (size_t i = 0; i < from->count; i++) {
    const hp_ref parent = hp_xpath_attribute(from->items[i]) ? 0 : parent_of(c->e, hp_xpath_node(from->items[i]));
    if (!parent || !mark(c->e, &parents, parent)) continue;
    const size_t begin = c->to->count, first = count;
    for (hp_ref ref = first_child(node_at(c->e, parent)); ref; ref = node_at(c->e, ref)->next) {
      const bool is_member = is_marked(&members, ref);
      hp_xpath_work(c->e);
      if (is_member && !forwards) ranges[count++] = (range){begin, c->to->count};
      take(c, ref);
      if (is_member && forwards) ranges[count++].begin = c->to->count;
    }
    for (size_t k = first; forwards && k < count; k++) ranges[k].end = c->to->count;
  }
  drop_marks(&members);
  drop_marks(&parents);
  return count;
}

/* The same for the axis `following`. Requires: the nodes are in document order, without attributes. */
static size_t find_following(collector *c, const hp_xpath_set *from, range *ranges) {
  hp_xpath_evaluation *e = c->e;
  step_after(c, from);
  for (size_t i = 0; i < from->count; i++) {
    const hp_ref after = hp_node_after(e->base, hp_xpath_node(from->items[i]), 0);
    const uint32_t number = after ? hp_xpath_number_of(e, after) : 0;
    range r = {after ? 0 : c->to->count, c->to->count};
    while (r.begin < r.end) {
      const size_t middle = r.begin + (r.end - r.begin) / 2;
      if (hp_xpath_number_of(e, hp_xpath_node(c->to->items[middle])) < number)
        r.begin = middle + 1;
      else
        r.end = middle;
    }
    ranges[i] = (range){r.begin, c->to->count};
    hp_xpath_work(e);
  }
  return from->count;
}

static int compare_ranges(const void *a, const void *b) {
  const size_t left = ((const range *)a)->begin, right = ((const range *)b)->begin;
  return (left > right) - (left < right);
}

/* Returns whether the step only wants fixed positions from many nodes, on an axis with such ranges. */
static bool has_ranges(const collector *c, const hp_xpath_set *from, places *wanted) {
  const hp_xpath_axis axis = c->step->axis;
  const uint32_t *predicates = c->e->program->predicates + c->step->predicates;
  if (from->count < MANY || !read_places(c->e, predicates[c->plain], wanted)) return false;
  for (uint32_t i = c->plain + 1; i < c->step->count; i++) {
    const hp_xpath_routine *r = &c->e->program->routines[predicates[i]];
    if (r->positional || r->type != HP_XPATH_BOOLEAN) return false;
  }
  if (axis == HP_AXIS_FOLLOWING) return !c->e->program->variable_count && !has_attributes(from);
  return axis == HP_AXIS_FOLLOWING_SIBLING || axis == HP_AXIS_PRECEDING_SIBLING;
}

static void step_by_ranges(collector *c, hp_xpath_set *from, places wanted) {
  hp_xpath_evaluation *e = c->e;
  hp_xpath_set *to = c->to, found = hp_xpath_new_set(e);
  range *ranges = hp_xpath_take(e, from->count * sizeof *ranges);
  hp_xpath_sort(e, from);
  c->to = &found;
  c->limit = 0;
  const size_t count =
      c->step->axis == HP_AXIS_FOLLOWING ? find_following(c, from, ranges) : find_siblings(c, from, ranges);
  if (is_reverse(c->step->axis)) wanted.from_end = !wanted.from_end;
  for (size_t i = 0; i < count; i++) ranges[i] = take_places(ranges[i], wanted);
  qsort(ranges, count, sizeof *ranges, compare_ranges);
  size_t covered = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = ranges[i].begin > covered ? ranges[i].begin : covered; k < ranges[i].end; k++)
      if (all_hold(c, c->plain + 1, c->step->count, found.items[k])) hp_xpath_add(e, to, found.items[k]);
    if (ranges[i].end > covered) covered = ranges[i].end;
  }
  hp_xpath_drop(ranges);
  hp_xpath_drop_set(e, &found);
}

hp_xpath_set hp_xpath_step_from(hp_xpath_evaluation *e, const hp_xpath_step *step, hp_xpath_set *from) {
  hp_xpath_set to = hp_xpath_new_set(e);
  if (!from->unique) hp_xpath_sort(e, from);
  if (from->count) {
    collector c = {.e = e,
                   .step = step,
                   .test = &e->program->tests[step->test],
                   .name = e->atoms[step->test],
                   .plain = step->positional,
                   .limit = step->wanted == HP_WANT_ANY,
                   .to = &to};
    places wanted;
    if (step->positional < step->count) {
      if (has_ranges(&c, from, &wanted))
        step_by_ranges(&c, from, wanted);
      else
        step_by_groups(&c, from);
      to.sorted = to.unique = from->count == 1;
      to.disjoint = to.count < 2;
    } else if (from->count == 1) {
      step_from_one(&c, from->items[0]);
    } else {
      step_from_many(&c, from);
    }
  }
  hp_xpath_drop_set(e, from);
  return to;
}
