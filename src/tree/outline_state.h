#ifndef HP_TREE_OUTLINE_STATE_H
#define HP_TREE_OUTLINE_STATE_H

/* The elements that a speculative outline leaves open at the end of a segment. The outline with the
 * true state adopts them.
 *
 * A speculative outline has an outer context of unknown elements below its own stack
 * (tree/context.h). The node of entry 0 stands for the current node of the outer context. Its
 * value `next` belongs to the owner. */

#include "tree/outline.h"

/* An open element, or a closed element in the list of formatting elements. */
typedef struct hp_outline_entry { // value
  hp_open_element element;        /* name, ns, tag. hp_outline_adopt sets `node` */
  uint32_t parent;                /* index of the entry + 1; 0: the outer current node */
  uint16_t flags;
  uint32_t previous, next; /* values of the owner */
  bool last;               /* children that the owner ignores share the node */
} hp_outline_entry;

/* An entry of the list of formatting elements. */
typedef struct hp_saved_formatting {
  uint32_t entry; /* index of the entry + 1 in its state; 0: a marker */
  uint32_t fingerprint[3];
} hp_saved_formatting;

/* Saved states, each after the other. */
typedef struct hp_outline_log { // value
  hp_outline_entry *entries;
  hp_saved_formatting *formatting;
  uint8_t *template_modes;
  uint32_t entry_count, entry_capacity, formatting_count, formatting_capacity, template_count, template_capacity;
} hp_outline_log;

typedef struct hp_outline_state {            // value
  uint32_t entries, entry_count, open_count; /* the open elements come first */
  uint32_t formatting, formatting_count;
  uint32_t template_modes, template_count;
  uint8_t mode;
  bool mode_is_base, frameset_not_ok, form_written;
  uint32_t form; /* index of the entry + 1; 0: none; UINT32_MAX: an element that is not open */
} hp_outline_state;

void hp_outline_log_clear(hp_outline_log *log);
void hp_outline_log_free(hp_outline_log *log);

/* Makes the outline speculative. hp_outline_begin_segment must follow. Requires: the builder has an
 * outer context. */
void hp_outline_speculate(hp_outline *outline);
/* Drops all own elements without events, and begins a segment on an outer context in this mode and
 * namespace. */
void hp_outline_begin_segment(hp_outline *outline, uint8_t mode, uint8_t ns);
/* Children of the outer current node that the owner ignores share a node with this value `next`,
 * for the rest of the segment. Returns the node. */
hp_ref hp_outline_share_outer_child(hp_outline *outline, uint32_t next);
/* Saves the own elements. Returns false if another outline cannot adopt them. */
bool hp_outline_save(hp_outline *outline, uint8_t base_mode, hp_outline_log *log, hp_outline_state *state);

/* Pushes the elements of the state, whose names and owner values are those of this outline. */
void hp_outline_adopt(hp_outline *outline, hp_outline_log *log, const hp_outline_state *state);
/* Runs the steps of a start tag of this name that precede its insertion. The tag then omits them.
 * Requires: the tag belongs to the body, or is a tr. */
void hp_outline_prepare(hp_outline *outline, hp_atom name);

#endif
