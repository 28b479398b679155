#ifndef HP_REWRITE_ENDS_H
#define HP_REWRITE_ENDS_H

/* Records of open elements: what is to happen where they end. */

#include "rewrite/scratch.h"

#include <hpar/rewrite.h>
#include <stdbool.h>

typedef struct hp_end_call {
  hpar_element_end_callback callback;
  void *context;
  uint32_t rule; /* to retire; UINT32_MAX: none */
} hp_end_call;

typedef struct hp_end_calls {
  hp_end_call *items;
  uint32_t count, capacity;
} hp_end_calls;

typedef struct hp_rule_list {
  uint32_t *items;
  uint32_t count, capacity;
} hp_rule_list;

typedef enum hp_muting { HP_MUTES_NOTHING, HP_MUTES_CONTENT, HP_MUTES_ELEMENT } hp_muting;

/* What is to happen at the end of an open element. A node has the index of its record in
 * `previous`. Clones of a formatting element share its record. */
typedef struct hp_end_record {
  uint32_t users; /* nodes; 0: the record is free */
  uint32_t next_free;
  uint32_t scope_depth; /* open nodes whose texts and comments `scopes` receive */
  hp_bytes append, after, rename;
  hp_end_calls ends;
  hp_rule_list scopes; /* rules for the text and the comments inside */
  uint8_t muting;
  bool renames, unwraps, has_tag, has_ended;
  bool is_inert;     /* it has ended, and clones of the element need no edit */
  uint32_t moved_to; /* index + 1 in the log of a worker; 0: none */
} hp_end_record;

typedef struct hp_end_records {
  hp_end_record *items; /* index 0 is unused */
  uint32_t count, capacity;
  uint32_t free;             /* the first free record, or 0 */
  uint32_t open;             /* in use, and not inert */
  uint32_t unmute_after_tag; /* removed elements that the current tag ends */
  hp_bytes after_tag;        /* goes after the current end tag */
} hp_end_records;

void hp_end_record_close(hp_end_record *record);

/* Empties the list, and frees what records have. */
void hp_end_records_reset(hp_end_records *records);
/* Empties the list. The records keep their buffers. */
void hp_end_records_forget(hp_end_records *records);
void hp_end_records_close(hp_end_records *records);
/* Returns the index of a free record, which may have buffers. */
uint32_t hp_end_records_add(hp_end_records *records, hp_unwind *unwind);
/* Moves a record of a log to the list, and leaves its index there. */
void hp_end_records_adopt(hp_end_records *records, hp_end_record *from, hp_unwind *unwind);
/* A node gives up its record. */
void hp_end_records_release(hp_end_records *records, uint32_t index);

static inline size_t hp_end_records_memory(const hp_end_records *s) {
  return s->capacity * sizeof *s->items + s->after_tag.capacity;
}

#endif
