#include "merge/merge.h"

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 0

#include "base/memory.h"
#include "speculation/dispositions.h"
#include "tree/active_formatting.h"

#include "tree/context.inc"

/*** Noah's Ark clause ***/

enum { MAX_EQUAL = 3 };

/* Returns the formatting elements (bit i: name i) of which the outer entries and those of the
 * segment may be more than three. Requires: an exact builder, without the segment's entries. */
static uint32_t names_beyond_ark(hp_builder *b, const hp_segment *s) {
  uint32_t names = 0;
  if (!(s->assumes.questions >> HP_ASSUME_NOAHS_ARK & 1) || !b->formatting.count) return 0;
  for (int i = 0; i < HP_FORMATTING_NAMES; i++)
    if (s->assumes.ark[i] && count_listed(b, i) + s->assumes.ark[i] > MAX_EQUAL) names |= 1u << i;
  return names;
}

bool hp_can_apply_ark(const hp_segment *s) { return s->ark_known && s->anchor; }

/* Counts the entries after the last marker that equal the element. `earliest` becomes the index of
 * the first of them. */
static uint32_t count_equal(hp_builder *b, const hp_node *element, uint32_t *earliest) {
  enum { MAX_COMPARED = 32 };
  const hp_formatting own = {.name = element->name, .attributes = element->attributes};
  uint32_t equal = 0, compared = 0;
  for (uint32_t i = b->formatting.count; i > 0 && b->formatting.entries[i - 1].node; i--) {
    const hp_formatting *entry = &b->formatting.entries[i - 1];
    if (compared++ == MAX_COMPARED) return hp_active_formatting_count_equal(b, &own, earliest);
    if (entry->node == HP_FORMATTING_TOMBSTONE || entry->name != element->name) continue;
    if (!hp_same_attributes(b, entry->attributes, element->attributes)) continue;
    equal++;
    *earliest = i - 1;
  }
  return equal;
}

/* Removes outer entries that equal the element until `own` more of them fit into the list. */
static void make_room(hp_builder *b, const hp_node *element, uint32_t own) {
  uint32_t earliest = 0;
  while (count_equal(b, element, &earliest) + own > MAX_EQUAL) hp_active_formatting_remove(b, earliest);
}

/* Applies the clause for the formatting elements with these names, in tree order, from `first` to
 * the end of its ancestor `root`. */
static void apply_ark(hp_builder *b, hp_ref first, hp_ref root, uint32_t names) {
  const hp_node *node = node_at(b, first);
  for (;;) {
    bool is_element = node->kind == HPAR_NODE_ELEMENT;
    int index = is_element && node->ns == HPAR_NAMESPACE_HTML ? hp_formatting_index(node->name) : -1;
    if (index >= 0 && names >> index & 1) {
      uint32_t own = node->flags >> HP_EQUAL_SHIFT & HP_MAX_EQUAL;
      make_room(b, node, own ? own : 1);
    }
    if (is_element && node->first && !hp_begins_list(node->ns, node->name)) {
      node = node_at(b, node->first);
      continue;
    }
    while (!node->next) {
      if (node->parent == root) return;
      node = node_at(b, node->parent);
    }
    node = node_at(b, node->next);
  }
}

/*** formatting ***/

/* A walk over the elements of a run in which a clone may be inserted. */
typedef struct run_walk {
  hp_builder *b;
  hp_ref anchor;
  hp_ref at;   /* the next node; 0: none */
  hp_ref form; /* the outermost form that contains `at`; 0: none */
  /* The open elements of the segment, which the walk pushes when it enters them. NULL: it pushes
   * none. */
  const hp_open_element *open;
  uint32_t open_count, pushed;
} run_walk;

/* Returns whether the insertion of the node, in content, reconstructs formatting elements. */
static bool reconstructs(const hp_builder *b, const hp_node *node) {
  if (node->kind == HPAR_NODE_TEXT) return true;
  if (node->kind != HPAR_NODE_ELEMENT) return false;
  if (node->ns != HPAR_NAMESPACE_HTML) return true;
  const hp_token tag = {.kind = HP_TOKEN_START_TAG, .name = node->name};
  return hp_questions_of(b, &tag) & 1u << HP_ASSUME_FORMATTING_CLEAN;
}

/* Returns whether children of the node may reconstruct formatting elements of the outer context.
 * Text of raw text elements and the parts of tables do not, and cells begin with a marker.
 * Requires: the node itself does not. */
static bool has_content(const hp_node *node) {
  if (node->kind != HPAR_NODE_ELEMENT || !node->first) return false;
  switch (node->name) {
    case HP_ANY(TABLE, TEXTAREA, IFRAME, NOEMBED, NOSCRIPT, NOFRAMES, SCRIPT, STYLE, TITLE): return false;
    default: return true;
  }
}

/* Continues the walk after the node and its descendants. */
static void leave(run_walk *w, hp_ref ref) {
  for (;;) {
    const hp_node *node = node_at(w->b, ref);
    if (ref == w->form) w->form = 0;
    w->at = node->next;
    if (w->at || node->parent == w->anchor) return;
    ref = node->parent;
  }
}

static void enter(run_walk *w, const hp_node *node) {
  if (node->name == HP_ATOM_FORM && !w->form) w->form = w->at;
  if (w->open && w->pushed < w->open_count && w->open[w->pushed].node == w->at)
    hp_exact_push(w->b, &w->open[w->pushed++]);
  w->at = node->first;
}

/* Moves the walk to the next node that reconstructs. Returns false if there is none. */
static bool find_site(run_walk *w) {
  while (w->at) {
    const hp_node *node = node_at(w->b, w->at);
    if (reconstructs(w->b, node)) return true;
    if (has_content(node))
      enter(w, node);
    else
      leave(w, w->at);
  }
  return false;
}

/* Returns whether the first node of the run reconstructs them. */
static bool run_begins_with_reconstruction(const hp_builder *b, const hp_segment *s) {
  return reconstructs(b, node_at(b, node_at(b, s->anchor)->first));
}

bool hp_can_reconstruct(const hp_builder *b, const hp_segment *s) {
  bool marker;
  if (!s->anchor || hp_takes_slowly(b)) return false;
  if (hp_has_selectedcontent(b)) return false;
  if (!hp_is_content_mode(b->mode) || s->assumes.base_mode != HP_IN_BODY) return false;
  if (s->assumes.ns != HPAR_NAMESPACE_HTML || current(b)->ns != HPAR_NAMESPACE_HTML ||
      HP_LIST(find)(b, HP_ATOM_NOBR, &marker))
    return false;
  if (current(b)->name == HP_ATOM_TEMPLATE) return false; /* its contents are not its children */
  /* Then the clones are open before the first node. The run is the same below any parent. */
  if (!s->fostered && run_begins_with_reconstruction(b, s)) return true;
  if (s->misnested) return false;
  const hp_node *anchor = node_at(b, s->anchor);
  run_walk w = {.b = (hp_builder *)b, .anchor = s->anchor, .at = anchor->first};
  while (find_site(&w)) {
    const hp_node *node = node_at(b, w.at);
    if (w.form) return false;
    if (node->parent == s->anchor) return true; /* all later nodes are in the clones */
    leave(&w, node->parent);
  }
  return true;
}

/* Returns the parent of a node in the run. A composed run contains runs of other segments below
 * anchors of their own. */
static hp_ref parent_in_run(const run_walk *w, hp_ref ref) {
  hp_ref parent = node_at(w->b, ref)->parent;
  const hp_node *node = node_at(w->b, parent);
  return parent != w->anchor && node->kind == HP_NODE_ANCHOR ? node->parent : parent;
}

/* Returns whether the last entry of the list is closed. */
static bool is_unclean(const hp_builder *b) { return b->formatting.count && !is_last_clean(b); }

/* Returns whether the run of the segment reconstructs formatting elements here. Then it has an
 * anchor, because hp_can_reconstruct is true. */
static bool must_reconstruct(const hp_builder *b, const hp_segment *s) {
  return s->assumes.questions >> HP_ASSUME_FORMATTING_CLEAN & 1 && is_unclean(b) && hp_is_content_mode(b->mode);
}

/* Reconstructs the formatting elements in the current node, before its child `first`. Moves that
 * child and all later ones into the clones. */
static void reconstruct_before(hp_builder *b, hp_ref first) {
  hp_node *parent = node_at(b, current(b)->node), *from = node_at(b, first);
  hp_ref last = parent->last;
  parent->last = from->previous;
  hp_exact_reconstruct(b);
  hp_ref into = current(b)->node;
  hp_node *clone = node_at(b, into);
  clone->first = first;
  clone->last = last;
  from->previous = 0;
  for (hp_ref ref = first; ref; ref = node_at(b, ref)->next) node_at(b, ref)->parent = into;
}

/* Reconstructs them in the run, which is spliced in. Pushes the first `*pushed` open elements of
 * the segment. Returns the number of clones that stay open above them. Requires:
 * hp_can_reconstruct. Applies Noah's Ark clause for `names` from the first such
 * insertion on. */
static uint32_t reconstruct_in_run(hp_builder *b, const hp_log *log, const hp_segment *s, uint32_t names,
                                   uint32_t *pushed) {
  run_walk w = {.b = b,
                .anchor = s->anchor,
                .at = node_at(b, s->anchor)->first,
                .open = s->open_elements.count ? log->open.items + s->open_elements.first : NULL,
                .open_count = s->open_elements.count};
  uint32_t clones = 0;
  while (!clones && is_unclean(b) && find_site(&w)) {
    hp_ref site = w.at, parent = parent_in_run(&w, site);
    const hp_node *node = node_at(b, parent);
    uint32_t depth = b->stack.depth;
    if (parent == s->anchor || (w.pushed && w.open[w.pushed - 1].node == parent)) {
      reconstruct_before(b, site);
      clones = b->stack.depth - depth;
      if (names) apply_ark(b, site, node_at(b, site)->parent, names);
      continue;
    }
    const hp_open_element closed = {
        .node = parent, .name = node->name, .ns = HPAR_NAMESPACE_HTML, .tag = hp_html_tag(node->name)};
    leave(&w, parent);
    hp_exact_push(b, &closed);
    reconstruct_before(b, site);
    if (names) apply_ark(b, site, node_at(b, site)->parent, names);
    hp_exact_pop_to(b, depth);
  }
  /* Noah's Ark clause has removed all closed entries. */
  if (!clones && names && w.at) apply_ark(b, w.at, s->anchor, names);
  *pushed = w.pushed;
  return clones;
}

/*** adoption ***/

static void adopt_run(hp_builder *b, hp_ref anchor_ref) {
  if (!anchor_ref) return;
  hp_node *anchor = node_at(b, anchor_ref);
  hp_ref into = hp_exact_appropriate_place(b).parent;
  hp_node *parent = node_at(b, into);
  hp_ref first = anchor->first;
  hp_node *node = node_at(b, first);
  if (node->kind == HPAR_NODE_TEXT && parent->last && node_at(b, parent->last)->kind == HPAR_NODE_TEXT) {
    hp_exact_join_text(b, parent->last, node);
    hp_uncount_node(b);
    first = node->next;
    if (!first) return;
    node = node_at(b, first);
  }
  anchor->parent = into;
  node->previous = parent->last;
  if (parent->last)
    node_at(b, parent->last)->next = first;
  else
    parent->first = first;
  parent->last = anchor->last;
}

void hp_adopt_segment(hp_builder *b, const hp_log *log, uint32_t segment) {
  const hp_segment *s = &log->segments.items[segment];
  uint32_t clones = 0, pushed = 0;
  bool reconstructs = must_reconstruct(b, s);
  uint32_t names = names_beyond_ark(b, s);
  hp_count_nodes(b, s->left.nodes);
  if (reconstructs && run_begins_with_reconstruction(b, s)) {
    hp_exact_reconstruct(b);
    reconstructs = false;
  }
  uint32_t depth = b->stack.depth;
  if (names && !reconstructs) apply_ark(b, node_at(b, s->anchor)->first, s->anchor, names);
  adopt_run(b, s->anchor);
  if (reconstructs) clones = reconstruct_in_run(b, log, s, names, &pushed);
  for (uint32_t i = pushed; i < s->open_elements.count; i++)
    hp_exact_push(b, &log->open.items[s->open_elements.first + i]);
  if (s->formatting.count)
    hp_active_formatting_splice(b, log->formatting.items + s->formatting.first, s->formatting.count, depth + clones);
  for (uint32_t i = 0; i < s->templates.count; i++)
    hp_exact_push_template_mode(b, log->template_modes.items[s->templates.first + i]);
  hp_exact_adopt_state(b, &s->left, s->open_elements.count);
  if (!hp_observed_errors(b)) return;
  for (uint32_t i = segment ? s[-1].observed_to.errors : 0; i < s->observed_to.errors; i++)
    hp_errors_add(hp_observed_errors(b), (hp_error_code)log->errors.items[i].code, log->errors.items[i].offset);
}
