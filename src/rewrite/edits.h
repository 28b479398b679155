#ifndef HP_REWRITE_EDITS_H
#define HP_REWRITE_EDITS_H

/* Edits as data: an ascending list of places in the input, each with inserted text and dropped
 * bytes. The pieces of input between the edits are the output's other bytes. */

#include "base/memory.h"
#include "text/encoding/encoding.h"

#include <hpar/node.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*** memory ***/

/* Memory for the time of one token, and strings that grow. Failure unwinds. */

typedef struct hp_scratch {
  struct hp_scratch_block *first; /* the newest */
  char *at, *end;
  char *begin;  /* of the only block, if it is small; NULL: there are other blocks, or none */
  size_t bytes; /* of all blocks */
  hp_unwind *unwind;
} hp_scratch;

/* Returns uninitialised memory, aligned to 8. Requires: bytes > 0. */
void *hp_scratch_take(hp_scratch *scratch, size_t bytes);
/* Gives back the last `bytes` bytes of the last allocation of `taken` bytes. */
void hp_scratch_shrink(hp_scratch *scratch, void *memory, size_t taken, size_t used);
/* The rare case of hp_scratch_clear. */
void hp_scratch_free_blocks(hp_scratch *scratch);
/* Frees everything; keeps one block if it is small. */
static inline void hp_scratch_clear(hp_scratch *s) {
  if (s->at == s->begin) return;
  if (s->begin)
    s->at = s->begin;
  else
    hp_scratch_free_blocks(s);
}
void hp_scratch_close(hp_scratch *scratch);
/* Returns a copy of the bytes, which has an address if there are none. */
static inline char *hp_scratch_copy(hp_scratch *scratch, const char *bytes, size_t length) {
  char *copy = hp_scratch_take(scratch, length + 1);
  if (length) memcpy(copy, bytes, length);
  return copy;
}

/* A growing string of bytes. */
typedef struct hp_bytes {
  char *data;
  uint32_t length, capacity;
} hp_bytes;

/* Appends space for `length` bytes and returns it. */
char *hp_bytes_extend(hp_bytes *bytes, size_t length, hp_unwind *unwind);
void hp_bytes_append(hp_bytes *bytes, const char *from, size_t length, hp_unwind *unwind);
void hp_bytes_free(hp_bytes *bytes);

/*** edits ***/

typedef struct hp_edit {
  /* Input in [position, resume) is dropped. UINT64_MAX: input up to the next edit. */
  uint64_t position, resume;
  uint32_t length; /* of the inserted text; the texts follow each other */
} hp_edit;

enum { HP_SINK_BYTES = 256 };

/* Output, in pieces of HP_SINK_BYTES or more. */
typedef struct hp_sink {
  hpar_write_callback write; /* NULL: none */
  void *context;
  uint64_t written;
  hpar_status status; /* of the first write that failed */
  uint16_t length;
  bool has_no_mark; /* the first bytes are no byte order mark, also if edits bring them there */
  char *buffer;     /* of HP_SINK_BYTES; NULL until a piece is shorter */
} hp_sink;

/* What a sequence of edits adds to the counters of another one that precedes it. */
typedef struct hp_edit_counts {
  uint64_t edits;                      /* insertions at one place count once */
  uint64_t first_insertion;            /* where the first edit inserts; UINT64_MAX: it drops */
  uint64_t last_position, last_resume; /* of the last edit, also if it was applied */
} hp_edit_counts;

typedef struct hp_edits {
  hp_edit *items;
  uint32_t count, capacity;
  uint32_t complete, complete_text; /* edits before `safe`, and the length of their texts */
  uint32_t mute_depth;              /* removed elements and contents that are open */
  hp_bytes text;
  uint64_t copied; /* input before it is in the output, or dropped */
  uint64_t safe;   /* the input and the edits before it are complete */
  hp_edit_counts counts;
} hp_edits;

/* Returns the length of the byte order mark that the bytes begin; 0: there is none. */
size_t hp_find_mark(const char *bytes, size_t length);

/* Keeps the buffer of an earlier use. Requires: all fields are zero before the first use. */
void hp_sink_open(hp_sink *sink, hpar_write_callback write, void *context);
void hp_sink_close(hp_sink *sink);
/* Without memory for the buffer, pieces are shorter. */
void hp_sink_put(hp_sink *sink, const char *bytes, size_t length);
/* Writes the bytes, except one or two at the beginning that more may make a byte order mark. */
void hp_sink_flush(hp_sink *sink);
void hp_sink_end(hp_sink *sink);

/* Returns the counters since the last call, and resets them. */
hp_edit_counts hp_edits_take_counts(hp_edits *edits);
void hp_edits_add_counts(hp_edits *edits, const hp_edit_counts *counts);

/* Empties the list: the input from `position` on has no edit. */
void hp_edits_open(hp_edits *edits, uint64_t position);
void hp_edits_close(hp_edits *edits);

/* The edits before `position` are complete: a later insertion does not extend them, and a failure
 * drops only those that follow. Bytes of a tag that no rule can edit may be in the output before
 * the tag ends. */
static inline void hp_edits_mark(hp_edits *e, uint64_t position) {
  e->safe = e->copied != UINT64_MAX && e->copied > position ? e->copied : position;
  e->complete = e->count;
  e->complete_text = e->text.length;
}
void hp_edits_drop_incomplete(hp_edits *edits);

/* Inserts text at a position, which is not before that of the last edit. */
void hp_edits_insert(hp_edits *edits, uint64_t position, const char *text, size_t length, hp_unwind *unwind);
/* Drops input. */
void hp_edits_drop(hp_edits *edits, uint64_t from, uint64_t to, hp_unwind *unwind);
/* Drops the input from `position` on, up to the position of hp_edits_unmute. Pairs of the calls may
 * be nested: the outermost one counts. No edit may be between its two calls. */
void hp_edits_mute(hp_edits *edits, uint64_t position, hp_unwind *unwind);
void hp_edits_unmute(hp_edits *edits, uint64_t position, hp_unwind *unwind);

/* Writes the output for the input before `upto`. `window` begins at `start` in the input and holds
 * everything from edits->copied on. */
void hp_edits_apply(hp_edits *edits, hp_sink *sink, const char *window, uint64_t start, uint64_t upto);

/*** encoding ***/

/* Where inserted text goes. */
typedef enum hp_place_kind {
  HP_PLACE_TEXT,          /* "<", ">", "&" become references */
  HP_PLACE_HTML,          /* as given */
  HP_PLACE_RCDATA,        /* "<" becomes a reference */
  HP_PLACE_DOUBLE_QUOTED, /* values: the quote and CR become references, and "&" if it begins one */
  HP_PLACE_SINGLE_QUOTED,
  HP_PLACE_RAW /* a name, a comment, raw text: references have no meaning */
} hp_place_kind;

/* Appends the UTF-8 text. Characters that the encoding lacks become numeric references, and those
 * beyond ASCII if `encoding` is NULL: it is uncertain. Returns false, without a change, if they
 * cannot at this place. */
bool hp_encode(hp_bytes *to, const char *text, size_t length, hp_place_kind place, const hp_encoding *encoding,
               hp_unwind *unwind);

#endif
