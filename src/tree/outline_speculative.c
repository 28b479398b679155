/* The speculative outline builder: an outer context is below its own stack. */

#include "base/vector.h"
#include "tree/outline_state.h"

#include "text/scan/scan.h"
#include "tree/context.h"
#include "tree/no_nodes.h"
#include "tree/parts.inc"

#include "tree/outline_formatting.inc"

#include "tree/outline_nodes.inc"

#include "tree/outline_fused.inc"

#include "tree/outline_tokens.inc"

void hp_outline_speculate(hp_outline *s, void *outer) {
  s->parts = &parts;
  s->builder.outer = outer;
}

void hp_outline_begin_segment(hp_outline *s, uint8_t mode, uint8_t ns) {
  hp_builder *b = &s->builder;
  clear_stack(b);
  shorten_links(b);
  hp_outline_list_clear(b);
  reset_slots(s);
  uint32_t slot = add_slot(s, SLOT_NODE);
  s->slots[slot].node = (hp_node){.kind = HPAR_NODE_ELEMENT, .ns = ns};
  b->stack[0] = (hp_open_element){.node = ref_of_slot(slot), .ns = ns};
  s->content = HP_CONTENT_DATA;
  b->mode = mode;
  b->template_count = 0;
  b->foster_parenting = b->ignore_lf = b->prepared = false;
  b->frameset_ok = true;
  b->form = 0;
  b->form_known = false;
  b->assumed = 0;
  b->misnested = b->fostered = false;
  hp_forget_assumed_names(b);
  b->foreign_base = ns != HPAR_NAMESPACE_HTML;
}

hp_ref hp_outline_share_outer_child(hp_outline *s, uint32_t next) {
  hp_ref shared = s->plain;
  if (next) {
    const uint32_t slot = add_slot(s, SLOT_NODE);
    shared = ref_of_slot(slot);
    s->slots[slot].node = (hp_node){.kind = HPAR_NODE_ELEMENT, .next = next, .last = shared};
  }
  hp_outline_node(s, s->builder.stack[0].node)->last = shared;
  return shared;
}

/*** the state at the end of a segment ***/

void hp_outline_log_clear(hp_outline_log *log) { log->entry_count = log->formatting_count = log->template_count = 0; }

void hp_outline_log_free(hp_outline_log *log) {
  hp_free(log->entries);
  hp_free(log->formatting);
  hp_free(log->template_modes);
  *log = (hp_outline_log){0};
}

static hp_outline_entry *add_entry(hp_outline *s, hp_outline_log *log, hp_outline_state *state, hp_ref ref) {
  const hp_node *node = hp_outline_node(s, ref);
  hp_grow(&log->entries, &log->entry_capacity, (size_t)log->entry_count + 1, s->builder.unwind);
  hp_outline_entry *e = &log->entries[log->entry_count++];
  *e = (hp_outline_entry){.flags = node->flags, .previous = node->previous, .next = node->next};
  state->entry_count++;
  return e;
}

/* Returns the index + 1 of the open element with this node below `index`, or 0. */
static uint32_t find_open(const hp_builder *b, hp_ref node, uint32_t index) {
  while (--index > 0 && b->stack[index].node != node) continue;
  return index;
}

/* Saves the open elements. The place of a table is that of foster-parented elements. */
static bool save_stack(hp_outline *s, hp_outline_log *log, hp_outline_state *state) {
  const hp_builder *b = &s->builder;
  for (uint32_t i = 1; i <= b->depth; i++) {
    const hp_open_element *open = &b->stack[i];
    hp_outline_entry *e = add_entry(s, log, state, open->node);
    e->element = *open;
    if (open->name != HP_TABLE || open->ns != HPAR_NAMESPACE_HTML) continue;
    hp_ref parent = hp_outline_node(s, open->node)->parent;
    e->parent = find_open(b, parent, i);
    if (!e->parent && parent != b->stack[0].node) return false;
  }
  state->open_count = b->depth;
  return true;
}

static void save_formatting(hp_outline *s, hp_outline_log *log, hp_outline_state *state) {
  hp_builder *b = &s->builder;
  hp_grow(&log->formatting, &log->formatting_capacity, (size_t)log->formatting_count + b->formatting_count, b->unwind);
  for (uint32_t i = 0; i < b->formatting_count; i++) {
    const hp_outline_listed *listed = &b->outline_list[i];
    hp_saved_formatting saved = {.entry = listed->element >> 1};
    memcpy(saved.fingerprint, listed->fingerprint, sizeof saved.fingerprint);
    if (hp_is_closed(listed)) {
      hp_atom name = hp_formatting_name(hp_listed_name(listed));
      add_entry(s, log, state, listed->element)->element = (hp_open_element){.name = name, .ns = HPAR_NAMESPACE_HTML};
      saved.entry = state->entry_count;
    }
    log->formatting[log->formatting_count++] = saved;
    state->formatting_count++;
  }
}

bool hp_outline_save(hp_outline *s, uint8_t base_mode, hp_outline_log *log, hp_outline_state *state) {
  hp_builder *b = &s->builder;
  hp_stack_close_gaps(b);
  hp_outline_list_close_all_gaps(b);
  *state = (hp_outline_state){.entries = log->entry_count,
                              .formatting = log->formatting_count,
                              .template_modes = log->template_count,
                              .template_count = b->template_count,
                              .mode = b->mode,
                              .mode_is_base = b->mode == base_mode && !b->last[HP_TEMPLATE],
                              .frameset_not_ok = !b->frameset_ok,
                              .form_written = b->form_known};
  if (!save_stack(s, log, state)) return false;
  save_formatting(s, log, state);
  hp_grow(&log->template_modes, &log->template_capacity, (size_t)log->template_count + b->template_count, b->unwind);
  if (b->template_count) memcpy(log->template_modes + log->template_count, b->template_modes, b->template_count);
  log->template_count += b->template_count;
  if (!b->form_known || !b->form) return true;
  state->form = find_open(b, b->form, b->depth + 1);
  if (!state->form) state->form = UINT32_MAX;
  return true;
}
