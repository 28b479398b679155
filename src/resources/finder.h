#ifndef HP_RESOURCES_FINDER_H
#define HP_RESOURCES_FINDER_H

/* Resources during a parse. A builder shows the start tags that may have resources to its finder. A
 * worker's finder puts them into the chunk's log as sightings and reports their resources as FOUND.
 * The finder of the exact builder reports CONFIRMED: what its builder sees, and the sightings of
 * the segments that the merger splices in. It reports CANCELLED for the found sightings of a chunk
 * that the parse did not confirm. In order, the exact finder also reports FOUND.
 *
 * A finder reports the resources of a tag when it sees the next tag, or when the chunk ends: then
 * the element has a parent, and a style element has its text. */

#include "resources/describe.h"
#include "text/input.h"
#include "tree/builder.h"

#include <hpar/resources.h>
#include <pthread.h>

/* What the exact builder has passed, for one worker. The exact builder may confirm tags of a chunk
 * whose worker still runs: it parses on past the next cut if the worker before has read a raw text
 * up to there. The worker reports FOUND under the lock, so that none follows a CONFIRMED. */
typedef struct hp_finder_gate {
  pthread_mutex_t lock;
  uint32_t passed; /* the worker reports no tag that begins before this offset */
} hp_finder_gate;

void hp_finder_gate_open(hp_finder_gate *gate);
void hp_finder_gate_close(hp_finder_gate *gate);
/* Returns when the worker reports none of these tags any more. */
void hp_finder_gate_pass(hp_finder_gate *gate, uint32_t passed);

/* Passes all gates of the workers. */
typedef void (*hp_finder_pass)(void *context, uint32_t passed);

typedef struct hp_sighting {
  uint32_t start; /* offset of the tag in the text */
  hp_ref element;
  union {
    hp_ref attributes;   /* the block of the element; 0: none */
    uint32_t url_length; /* with `url` */
  };
  hp_ref unsure;       /* a template of its own around the tag may be a shadow root; 0: none */
  bool is_inert : 1;   /* in a template of the finder's own builder that is no shadow root */
  bool is_held : 1;    /* its resources wait for hp_finder_deliver */
  bool is_written : 1; /* a script has written the tag. `start` is the place in the text */
  bool has_type : 1;   /* with `url`: its type is HP_USUAL_SCRIPT_TYPE */
  bool is_cut : 1;     /* the exact builder passed the tag while its resources were reported */
  uint8_t kind, flags; /* with `url`: of its resource */
  /* Number of its resources that are reported as FOUND: the last ones, or with is_cut the first. */
  uint32_t found;
  union {
    uint64_t hash;   /* exact, if the parse runs scripts: of its confirmed resources */
    uint64_t offset; /* worker, if `url` is not NULL: in the caller's bytes */
  };
  /* Worker: an img or a script has one resource with this URL and no other string, except the usual
   * type. The merger confirms it without the element. NULL: the element is anything else. */
  const char *url;
} hp_sighting;

/* The resources that stay confirmed although their tag is found again, by their hashes. */
typedef HP_ARRAY(uint64_t) hp_kept_resources; /* ascending */

typedef HP_ARRAY(hp_sighting) hp_sightings;

void hp_sightings_free(hp_sightings *sightings);

/* The input of a fed parse for its workers. The calling thread publishes the input before it hands
 * them more text. */
typedef struct hp_published_input {
  pthread_mutex_t lock;
  hp_input_copy copy;
} hp_published_input;

void hp_published_input_open(hp_published_input *published);
void hp_published_input_close(hp_published_input *published);
/* Requires: a stream that is shared makes the input (hp_stream_share). */
void hp_publish_input(hp_published_input *published, const hp_input *input);

/* Receives the resources of one parse. */
typedef struct hp_resource_report {
  hpar_resource_event_callback callback; /* NULL: nothing is reported */
  void *context;
  const hpar_document *document;
  const hp_input *input;         /* only the calling thread reads it while it grows */
  hp_published_input *published; /* for the workers; NULL: the input does not grow */
  bool in_order;                 /* the exact finder delivers what the workers find */
  bool runs_scripts;             /* a script may change elements whose resources are confirmed */
} hp_resource_report;

typedef struct hp_finder {
  hp_tag_listener listener;         /* first: the builder passes it */
  const hp_resource_report *report; /* `own_report` */
  hp_resource_report own_report;    /* a copy: other threads write to memory near the original */
  hp_builder *builder;
  hp_input_cursor cursor;       /* at the last offset that was converted */
  hp_input_cursor found_cursor; /* exact: the same, of hp_finder_deliver */
  unsigned thread;
  hp_input_copy input; /* worker: of the published input, if it grows */
  bool is_exact;
  bool is_direct;          /* a complete element is reported at once, and without a comparison */
  hp_sightings *sightings; /* worker: of the chunk's log; exact: `own` */
  uint32_t reported;       /* the sightings before this one have been reported */
  /* worker: the offset after the last found tag. FOUND comes in ascending order */
  uint32_t found_to;
  hp_sightings own;
  hp_kept_resources kept; /* exact */
  /* Exact: the sightings of the chunk that is being merged, NULL between chunks. Those before
   * `expected_at` are confirmed, cancelled, or were not found. */
  const hp_sightings *expected;
  uint32_t expected_at;
  hp_finder_gate *gate; /* worker: unless it holds what it finds */
  hp_finder_pass pass;  /* exact: for tags from `own_to` on; NULL: no worker reports tags */
  void *pass_context;
  /* exact: no worker that may still run has a chunk that begins before this */
  uint32_t own_to;
  hp_resource_values values; /* of the current img or script; between them, all strings are none */
} hp_finder;

/* Makes the finder of an exact builder ready for a parse, or of a worker. `builder` need not be
 * open yet. */
void hp_finder_open(hp_finder *finder, const hp_resource_report *report, hp_builder *builder, unsigned thread,
                    bool is_exact);
void hp_finder_close(hp_finder *finder);

/* Gives a worker's finder its gate. */
void hp_finder_set_gate(hp_finder *finder, hp_finder_gate *gate);
/* Begins a chunk of a worker: sightings go to `sightings`, which is emptied. */
void hp_finder_begin_log(hp_finder *finder, hp_sightings *sightings);
/* Removes the sightings of a log from the number `count` on. Cancels the found ones. */
void hp_finder_cut_log(hp_finder *finder, uint32_t count);
/* Reports the last sighting, unless it is a style element whose text is not complete. */
void hp_finder_flush(hp_finder *finder);
/* Ends a segment of a worker. A style element that is open then has no FOUND, because text of a
 * later segment may belong to it. Requires: the builder has the stack of the segment. */
void hp_finder_end_segment(hp_finder *finder);

/* Returns true if sightings wait for the next tag, or for the end. */
static inline bool hp_finder_waits(const hp_finder *finder) { return finder->reported < finder->sightings->count; }
/* Reports all sightings: the input has ended. */
void hp_finder_finish(hp_finder *finder);

/*** of the exact builder ***/

/* Workers may report tags from now on. Passes their gates up to the last confirmed tag. */
void hp_finder_share(hp_finder *finder, hp_finder_pass pass, void *context);
/* No worker that may still run has a chunk that begins before this offset. */
static inline void hp_finder_own(hp_finder *finder, uint32_t to) { finder->own_to = to; }

/* Reports the last sighting, as hp_finder_flush does. Returns true if no sighting waits: then what
 * the workers have found after the finder's position may be delivered in order. */
bool hp_finder_is_settled(hp_finder *finder);
/* Reports the held sightings of a finished chunk as FOUND by the thread, except those of tags that
 * begin before `passed`. */
void hp_finder_deliver(hp_finder *finder, hp_sightings *found, uint32_t passed, unsigned thread);

/* Returns true if an open template element makes the resources at this place inert. */
bool hp_finder_is_inert(const hp_finder *finder);
void hp_finder_begin_chunk(hp_finder *finder, const hp_sightings *found);
/* Confirms the sightings [from, to) of the chunk, whose segment was spliced in. `is_inert`: at the
 * beginning of that segment. */
void hp_finder_confirm(hp_finder *finder, uint32_t from, uint32_t to, bool is_inert);
/* Cancels the found sightings of the chunk that are not confirmed. Does nothing between chunks. */
void hp_finder_end_chunk(hp_finder *finder);
/* Cancels all confirmed resources, because the parse begins again. */
void hp_finder_restart(hp_finder *finder);

#endif
