#ifndef HP_TREE_SHADOW_STATE_H
#define HP_TREE_SHADOW_STATE_H

/* The elements that a speculative shadow leaves open at the end of a segment. The shadow with the
 * true state adopts them.
 *
 * A speculative shadow has an outer context of unknown elements below its own stack
 * (tree/context.h). The node of stack[0] stands for the current node of the outer context. Its
 * value `next` belongs to the owner. */

#include "tree/shadow.h"

/* An open element, or a closed element in the list of formatting elements. */
typedef struct hp_shadow_entry {
  hp_open_element element; /* name, ns, tag. hp_shadow_adopt sets `node` */
  uint32_t parent;         /* index of the entry + 1; 0: the outer current node */
  uint16_t flags;
  uint32_t previous, next; /* values of the owner */
  bool last;               /* children that the owner ignores share the node */
} hp_shadow_entry;

/* An entry of the list of formatting elements. */
typedef struct hp_saved_formatting {
  uint32_t entry; /* index of the entry + 1 in its state; 0: a marker */
  uint32_t fingerprint[3];
} hp_saved_formatting;

/* Saved states, each after the other. */
typedef struct hp_shadow_log {
  hp_shadow_entry *entries;
  hp_saved_formatting *formatting;
  uint8_t *template_modes;
  uint32_t entry_count, entry_capacity, formatting_count, formatting_capacity, template_count, template_capacity;
} hp_shadow_log;

typedef struct hp_shadow_state {
  uint32_t entries, entry_count, open_count; /* the open elements come first */
  uint32_t formatting, formatting_count;
  uint32_t template_modes, template_count;
  uint8_t mode;
  bool mode_is_base, frameset_not_ok, form_written;
  uint32_t form; /* index of the entry + 1; 0: none; UINT32_MAX: an element that is not open */
} hp_shadow_state;

void hp_shadow_log_clear(hp_shadow_log *log);
void hp_shadow_log_free(hp_shadow_log *log);

/* Makes the shadow speculative, with this outer context. hp_shadow_begin_segment must follow. */
void hp_shadow_speculate(hp_shadow *shadow, void *outer);
/* Drops all own elements without events, and begins a segment on an outer context in this mode and
 * namespace. */
void hp_shadow_begin_segment(hp_shadow *shadow, uint8_t mode, uint8_t ns);
/* Children of the outer current node that the owner ignores share a node with this value `next`,
 * for the rest of the segment. Returns the node. */
hp_ref hp_shadow_share_outer_child(hp_shadow *shadow, uint32_t next);
/* Saves the own elements. Returns false if another shadow cannot adopt them. */
bool hp_shadow_save(hp_shadow *shadow, uint8_t base_mode, hp_shadow_log *log, hp_shadow_state *state);

/* Pushes the elements of the state, whose names and owner values are those of this shadow. */
void hp_shadow_adopt(hp_shadow *shadow, hp_shadow_log *log, const hp_shadow_state *state);
/* Runs the steps of a start tag of this name that precede its insertion. The tag then omits them.
 * Requires: the tag belongs to the body, or is a tr. */
void hp_shadow_prepare(hp_shadow *shadow, hp_atom name);

#endif
