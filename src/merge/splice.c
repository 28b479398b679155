#include "merge/splice.h"

#include "base/memory.h"
#include "merge/ark.h"
#include "merge/reconstruct.h"
#include "tree/active_formatting.h"

static void splice_run(hp_builder *b, hp_ref anchor_ref) {
  if (!anchor_ref) return;
  hp_node *anchor = node_at(b, anchor_ref);
  hp_ref into = hp_exact_appropriate_place(b).parent;
  hp_node *parent = node_at(b, into);
  hp_ref first = anchor->first;
  hp_node *node = node_at(b, first);
  if (node->kind == HPAR_NODE_TEXT && parent->last && node_at(b, parent->last)->kind == HPAR_NODE_TEXT) {
    hp_exact_join_text(b, parent->last, node);
    b->node_count--;
    first = node->next;
    node->parent = 0;
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

void hp_splice(hp_builder *b, const hp_log *log, uint32_t segment) {
  const hp_segment *s = &log->segments[segment];
  uint32_t clones = 0, pushed = 0;
  bool reconstructs = hp_must_reconstruct(b, s);
  uint32_t names = hp_names_beyond_ark(b, s);
  b->node_count += s->left.nodes;
  if (reconstructs && hp_run_begins_with_reconstruction(b, s)) {
    hp_exact_reconstruct(b);
    reconstructs = false;
  }
  uint32_t depth = b->stack.depth;
  if (names && !reconstructs) hp_apply_ark(b, node_at(b, s->anchor)->first, s->anchor, names);
  splice_run(b, s->anchor);
  if (reconstructs) clones = hp_reconstruct_in_run(b, log, s, names, &pushed);
  for (uint32_t i = pushed; i < s->open_elements.count; i++) hp_exact_push(b, &log->open[s->open_elements.first + i]);
  if (s->formatting.count)
    hp_active_formatting_splice(b, log->formatting + s->formatting.first, s->formatting.count, depth + clones);
  for (uint32_t i = 0; i < s->templates.count; i++)
    hp_exact_push_template_mode(b, log->template_modes[s->templates.first + i]);
  hp_exact_adopt_state(b, &s->left, s->open_elements.count);
  if (!b->observers.errors) return;
  for (uint32_t i = segment ? s[-1].observed_to.errors : 0; i < s->observed_to.errors; i++)
    hp_errors_add(b->observers.errors, (hp_error_code)log->errors.items[i].code, log->errors.items[i].offset);
}
