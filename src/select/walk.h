#ifndef HP_SELECT_WALK_H
#define HP_SELECT_WALK_H

/* Walks the elements below a root in document order, with a frame for each open one. */

#include "select/match.h"

typedef struct hp_walk {
  hp_matcher *matcher;
  char *frames;
  size_t frame_size;
  uint32_t depth, capacity; /* frames in use, frames that there are */
  bool visits_all;          /* the visitor is called for each element, not for each match only */
} hp_walk;

/* Receives an element. Returns false to end the walk. `accepts` is true if a selector of the caller
 * matched. */
typedef bool (*hp_visit)(void *context, const hp_subject *subject, bool accepts);

void hp_walk_open(hp_walk *walk, hp_matcher *matcher);
void hp_walk_close(hp_walk *walk);
/* Goes to `top` without visiting: the frames are those of its open ancestors and its own. */
hpar_status hp_walk_enter(hp_walk *walk, hp_ref top);
/* Visits all elements below `top`, whose frame is the innermost. */
hpar_status hp_walk_below(hp_walk *walk, hp_ref top, hp_visit visit, void *context);
/* Visits the elements below `top` from `first` on, in document order. Ends before `end`; 0: the end
 * of `top`. Requires: the walk has just been opened. */
hpar_status hp_walk_range(hp_walk *walk, hp_ref top, hp_ref first, hp_ref end, hp_visit visit, void *context);

/* Does what hpar_select does on the calling thread alone. */
hpar_status hp_select_alone(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                            hpar_match_callback callback, void *context);

/* Returns the first element from `node` on among it and its later siblings, or 0. */
static inline hp_ref hp_element_from(const char *base, hp_ref node) {
  while (node && hp_node_at(base, node)->kind != HPAR_NODE_ELEMENT) node = hp_node_at(base, node)->next;
  return node;
}

/* Returns the language that the last meta element of the document with http-equiv=content-language
 * declares, or an empty string. */
hpar_string hp_default_language(const hpar_document *document);
/* Returns the node after `node` and its descendants, below `top`, or 0. */
hp_ref hp_node_after(const char *base, hp_ref node, hp_ref top);
/* Returns the first element in document order that is not below `node`, or 0. */
hp_ref hp_element_after(const hpar_document *document, hp_ref node);
/* Returns true for a document, a fragment and an element. */
bool hp_can_have_children(const hpar_document *document, hp_ref node);
/* Reports each selector that the element of the last step matches once, in ascending order. Returns
 * what the callback returned at last. */
hpar_status hp_report_matches(const hp_matcher *matcher, hp_ref element, hpar_match_callback callback, void *context);
/* Returns the document or fragment, or the topmost element, around the node. */
hp_ref hp_root_of(const hpar_document *document, hp_ref node);

/*** checked elements ***/

/* The elements that are `:checked` after a parse. An option and a radio button depend on the others
 * of their select element or group. One walk finds all, in linear time.
 *
 * Source: HTML Standard, "selectedness setting algorithm", "list of options", "radio button group".
 * The form owner of a radio button is the element that its `form` attribute names, or the form
 * around it. */

typedef struct hp_checked {
  hp_ref *slots; /* a hash table of elements; NULL: no selector has the test */
  uint32_t mask, count;
} hp_checked;

/* Finds the elements below `root` if a selector of the set has the test. HPAR_ERROR_MEMORY;
 * hp_checked_close is to be called after any result. */
hpar_status hp_checked_open(hp_checked *checked, const hpar_selectors *set, const hpar_document *document, hp_ref root);
void hp_checked_close(hp_checked *checked);
bool hp_checked_has(const hp_checked *checked, hp_ref element);

#endif
