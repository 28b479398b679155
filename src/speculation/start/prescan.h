#ifndef HP_SPECULATION_START_PRESCAN_H
#define HP_SPECULATION_START_PRESCAN_H

/* The prescan reads the text from its beginning. It recognises comments, raw text with the escaped
 * states of scripts, foreign elements and the end of the head. Of tags it reads only names, and a
 * quote before a marker may belong to an attribute. It scans up to the last requested cut, on one
 * thread at a time. It keeps its state every HP_PRESCAN_STEP bytes, so that a request for an
 * earlier place scans at most one step. Outside foreign content and the head it visits only
 * brackets that may begin a marker. */

#include "base/target.h"
#include "speculation/start/known.h"

#include <pthread.h>

enum { HP_PRESCAN_STEP = 4 << 10, HP_PRESCAN_OPEN = 12 };

typedef struct hp_prescan_state {
  uint32_t at;                          /* the scan has reached this offset */
  uint32_t from;                        /* begin of the comment or escape */
  uint32_t looked;                      /* in a script, no "-->" before this place ends it */
  uint32_t no_end_before;               /* no ">" is between the last visited tag and here */
  uint8_t where;                        /* data, comment, raw text */
  uint8_t raw;                          /* index of the raw-text element */
  bool escaped, double_escaped;         /* script data */
  uint8_t head;                         /* before, in or after the head */
  uint8_t depth, open[HP_PRESCAN_OPEN]; /* svg, math and integration points in them */
} hp_prescan_state;

/* All zeros before first use. */
typedef struct hp_prescan {
  pthread_mutex_t lock;
  bool has_lock;
  hp_prescan_state front;
  hp_prescan_state *notes; /* [i]: the first state with at >= i * HP_PRESCAN_STEP */
  uint32_t note_count, note_capacity;
  /* For the predictor lookback: the state at the end of the head at most, and what its searches
   * have found. */
  hp_prescan_state head;
  hp_known_states known;
} hp_prescan;

/* Resets the prescan for another text. */
void hp_prescan_begin(hp_prescan *prescan);
void hp_prescan_close(hp_prescan *prescan);

/* Finds the state at `cut` of a chunk that ends at `limit`, in the available text. Any thread may
 * call it. */
HP_SHARED void hp_prescan_at(hp_prescan *prescan, const hp_request *request, uint32_t cut, uint32_t limit,
                             hp_start_state *state);

/* Returns whether `cut` lies in the head, in the available text. */
bool hp_prescan_is_in_head(hp_prescan *prescan, const hp_request *request, uint32_t cut);

/* Skips the text before `to`, which is a token boundary in the body and not in foreign content. Any
 * thread may call it. */
void hp_prescan_skip(hp_prescan *prescan, uint32_t to);

#endif
