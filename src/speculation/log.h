#ifndef HP_SPECULATION_LOG_H
#define HP_SPECULATION_LOG_H

/* The log of a chunk: a sequence of segments that a worker makes and the merger reads.
 *
 * A segment begins at a token boundary at which the worker has no open element. It has a run of
 * siblings below its splice anchor, the elements that are open at its end, its own formatting
 * entries, markers and template modes, and every assumption about the outer context that its tokens
 * relied on. Most segments end with a deferred token, which the merger builds on the true state.
 * The worker's open elements then belong to the outer context of the next segment. Only the
 * assumptions may be wrong. The merger checks all of them before it changes the tree. */

#include "resources/finder.h"
#include "tree/builder.h"

/* The names of which a segment assumes that the outer scope has none, by their bits. */
enum { HP_SCOPED_NAMES = 5 };
static inline hp_atom hp_scoped_name(int bit) {
  static const hp_atom names[HP_SCOPED_NAMES] = {HP_ATOM_SELECT, HP_ATOM_BUTTON, HP_ATOM_NOBR, HP_ATOM_OPTION,
                                                 HP_ATOM_OPTGROUP};
  return names[bit];
}

enum { HP_TOP_HEADING = 1, HP_TOP_OPTION = 2, HP_TOP_OPTGROUP = 4 };

/* Why a segment is unusable. */
typedef enum hp_hazard {
  HP_HAZARD_NONE,
  HP_HAZARD_UNENDED_TEXT,  /* raw text that begins in the chunk has no end tag */
  HP_HAZARD_INPUT_TO_COME, /* raw text that begins in the chunk continues past the fed input */
  /* a token that should have been deferred reads the outer context. No test has found such a
   * token */
  HP_HAZARD_UNFORESEEN,
  HP_HAZARDS
} hp_hazard;

typedef enum hp_segment_end {
  HP_ENDS_CLEAN, /* a checkpoint, or the end of the chunk */
  HP_ENDS_DEFER, /* a token that the merger builds */
  HP_ENDS_SPLIT, /* a token whose first half the merger runs; it begins the next segment */
  HP_ENDS_HAZARD /* unusable */
} hp_segment_end;

/* A part of one of the log's arrays. */
typedef struct hp_log_range { // value
  uint32_t first, count;
} hp_log_range;

typedef struct hp_segment_assumptions { // value
  uint32_t modes;                       /* bit m: the tokens do the same in insertion mode m */
  uint32_t questions;                   /* bit q: the segment relies on assumption q */
  uint8_t in_scope;                     /* bit i: hp_scoped_name(i) is not in the outer scope */
  uint8_t top;                          /* HP_TOP_ bits: kinds that the outer current node is not */
  uint16_t formatting_names;            /* bit i: no formatting element i in the outer list */
  uint8_t ark[HP_FORMATTING_NAMES];     /* largest number of own entries of formatting element i */
  uint8_t base_mode, ns;                /* predicted; HP_IN_BODY for all content modes */
} hp_segment_assumptions;

typedef struct hp_segment { // value
  uint32_t start, end;      /* offsets; `end` is the begin of a deferred token */
  hp_ref anchor;            /* 0: no run */
  hp_segment_assumptions assumes;
  uint8_t ends;   /* hp_segment_end */
  uint8_t hazard; /* hp_hazard */
  /* The last open element is at the begin of its raw text, which the merger tokenizes. */
  bool begins_raw_text;
  /* Some element is not where its tags are: see hp_speculative_state. */
  bool misnested;
  bool fostered; /* some node precedes an older sibling */
  /* Noah's Ark clause can read the flags of the elements of the run: see merge/merge.h. */
  bool ark_known;
  /* The composer has run the first half of the next token, but the assumptions of the segment with
   * that token do not hold. That segment stays in the log of its chunk. */
  bool prepared;
  bool form_may_be_open; /* at the begin: see hp_outer_context */
  hp_segment_state left;
  hp_log_range open_elements, formatting, templates;
  struct {
    uint32_t errors, sightings;
  } observed_to; /* the ends of the segment's parts of these lists */
  uint32_t token;
  hp_atom raw_name; /* element whose raw text contains the token; 0: none */
  uint32_t tokens;  /* in the run, without the deferred one */
} hp_segment;

typedef struct hp_log { // value
  HP_ARRAY(hp_segment) segments;
  HP_ARRAY(hp_open_element) open;
  HP_ARRAY(hp_formatting) formatting;
  HP_ARRAY(uint8_t) template_modes;
  HP_ARRAY(hp_token) tokens;
  hp_errors errors;
  hp_sightings sightings;
} hp_log;

/* Empties the log. Keeps its memory. */
void hp_log_clear(hp_log *log);
void hp_log_free(hp_log *log);

#endif
