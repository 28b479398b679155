#ifndef HP_SPECULATION_START_PRESCAN_H
#define HP_SPECULATION_START_PRESCAN_H

/* A scan from the beginning of the text that knows comments, raw text with the escaped states of scripts, foreign
 * elements, and where the head ends; nothing else of tags but their names, and of attributes that a quote right before
 * a marker may be theirs. It goes as far as somebody asks, one thread at a time, and leaves a note at every so many
 * bytes, so that a question about an earlier place costs one step. Outside foreign content and the head only the few
 * brackets that may begin a marker are looked at, which is why it is fast. */

#include "speculation/start/predict.h"

#include <pthread.h>

enum { HP_PRESCAN_STEP = 4 << 10, HP_PRESCAN_OPEN = 12 };

typedef struct hp_prescan_state {
  uint32_t at;                          /* everything before has been seen */
  uint32_t from;                        /* of the comment, or of a script's escape: no earlier "-->" ends it */
  uint32_t looked;                      /* nor one before this place does, in a script */
  uint32_t no_end_before;               /* no ">" stands from the last tag that was looked at to here */
  uint8_t where;                        /* data, comment, raw text */
  uint8_t raw;                          /* hp_atom is too wide: index of the raw-text element */
  bool escaped, double_escaped;         /* script data */
  uint8_t head;                         /* before it, in it, after it */
  uint8_t depth, open[HP_PRESCAN_OPEN]; /* foreign elements: svg, math, and integration points in them */
} hp_prescan_state;

/* All zeros before first use. */
typedef struct hp_prescan {
  pthread_mutex_t lock;
  bool has_lock;
  hp_prescan_state front;
  hp_prescan_state *notes; /* [i]: the first state with at >= i * HP_PRESCAN_STEP */
  uint32_t note_count, note_capacity;
  /* For the predictor lookback: the head, no farther than it goes; what was found last, which is the state at any cut
   * in (from, to]; how many bytes were gone over for all that. */
  hp_prescan_state head;
  struct {
    uint32_t from, to;
    hp_start_state state;
  } found;
  uint64_t looked_at;
} hp_prescan;

void hp_prescan_begin(hp_prescan *prescan); /* for another text */
void hp_prescan_close(hp_prescan *prescan);

/* The state at `cut` of a chunk that ends at `limit`, as far as the text has come. Any thread. */
void hp_prescan_at(hp_prescan *prescan, const hp_request *task, uint32_t cut, uint32_t limit, hp_start_state *state);

/* Does the head, as far as the text has come, reach to `cut`? */
bool hp_prescan_is_in_head(hp_prescan *prescan, const hp_request *task, uint32_t cut);

/* A worker has come to a token boundary in the body, with nothing foreign around it: what lies before that need not be
 * scanned. Any thread. */
void hp_prescan_skip(hp_prescan *prescan, uint32_t to);

#endif
