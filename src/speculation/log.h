#ifndef HP_SPECULATION_LOG_H
#define HP_SPECULATION_LOG_H

/* What a worker hands to the merger: the chunk as a sequence of segments.
 *
 * A segment begins at a token boundary with nothing of the worker's own open. It holds a run of siblings that
 * hang from its anchor, what was still open when it ended (the end-missing path), the formatting entries, markers
 * and template modes of its own, and every assumption about BASE that its tokens relied on. Most end with a token
 * that is replayed on the true state; after it, all that the worker had open belongs to BASE, so that the
 * next segment begins with empty hands. Nothing here is a guess but the assumptions, and the merger checks all
 * of a segment's before it touches the tree. */

#include "html/tree/builder.h"

#include <hpar/inspect.h>

enum {
  HP_SCOPE_SELECT = 1,
  HP_SCOPE_BUTTON = 2,
  HP_SCOPE_NOBR = 4,
  HP_SCOPE_RUBY = 8,
  HP_TOP_HEADING = 1,
  HP_TOP_OPTION = 2,
  HP_TOP_OPTGROUP = 4
};

typedef enum hp_segment_end {
  HP_ENDS_CLEAN, /* a checkpoint, or the end of the chunk */
  HP_ENDS_DEFER, /* a token for the merger */
  HP_ENDS_SPLIT, /* a token whose first half is for the merger; it begins the next segment */
  HP_ENDS_HAZARD /* given up: nothing of it is of use */
} hp_segment_end;

typedef struct hp_segment {
  uint32_t start, end;              /* offsets; of a replayed token, `end` is where it begins */
  hp_ref anchor;                    /* 0: there is no run */
  uint32_t modes;                   /* bit m: under insertion mode m the tokens do the same */
  uint32_t questions;               /* bit q: assumption q was relied on */
  uint8_t in_scope;                 /* HP_SCOPE_ bits: names that BASE is assumed not to have in scope */
  uint8_t top;                      /* HP_TOP_ bits: what BASE's top is assumed not to be */
  uint16_t formatting_names;        /* bit i: no formatting element i in BASE's list */
  uint8_t ark[HP_FORMATTING_NAMES]; /* the most entries of formatting element i that were ours at once */
  uint8_t base_mode, ns;            /* predicted; content modes stand as in body */
  uint8_t ends;                     /* hp_segment_end */
  uint8_t hazard;                   /* hpar_hazard: why it was given up */
  uint8_t mode;                     /* the worker's mode at the end, */
  bool mode_is_base;                /* unless it is BASE's own */
  bool frameset_not_ok, form_written;
  /* Of a composed one that ends clean: the next token's first half was done, but the segment that has the token does
   * not hold. That one stays in its chunk's log, so that nothing to its left is taken up again. */
  bool prepared;
  hp_ref form;
  uint32_t open, open_count; /* in the log's arrays */
  uint32_t formatting, formatting_count;
  uint32_t template_modes, template_count;
  uint32_t errors_end;
  uint32_t token;
  hp_atom raw_name; /* its token belongs to the raw text of this element, which a replayed tag has begun; or 0 */
  uint32_t tokens;  /* counted in the run, the replayed one not among them */
  uint64_t nodes;
} hp_segment;

typedef struct hp_log {
  hp_segment *segments;
  uint32_t segment_count, segment_capacity;
  hp_open_element *open;
  uint32_t open_count, open_capacity;
  hp_formatting *formatting;
  uint32_t formatting_count, formatting_capacity;
  uint8_t *template_modes;
  uint32_t template_count, template_capacity;
  hp_token *tokens;
  uint32_t token_count, token_capacity;
  hp_errors errors;
} hp_log;

void hp_log_clear(hp_log *log);
void hp_log_cut(hp_log *log, uint32_t segments); /* leaves the first so many, and what belongs to them */
void hp_log_free(hp_log *log);

#endif
