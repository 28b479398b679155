#ifndef HP_SPECULATION_PRESCAN_H
#define HP_SPECULATION_PRESCAN_H

/* The prescan reads the text from its beginning. It recognises comments, raw text with the escaped
 * states of scripts, foreign elements and the end of the head. Of tags it reads only names, and a
 * quote before a marker may belong to an attribute. It scans up to the last requested cut, on one
 * thread at a time. It keeps its state every HP_PRESCAN_STEP bytes, so that a request for an
 * earlier place scans at most one step. Outside foreign content and the head it visits only
 * brackets that may begin a marker. */

#include "base/target.h"
#include "speculation/start.h"

#include <pthread.h>
#include <stdatomic.h>

/*** known states ***/

/* What the searches of all threads before cuts have found in a text (lookback.c). A search uses the
 * results of other threads, also those that they find meanwhile. */

enum { HP_KNOWN_STATES = 64 };
enum { HP_OPENER_BLOCK = 16 << 10, HP_OPENER_BLOCKS = 1 << 10 };
enum { HP_COMMENT_BLOCK = 4 << 10, HP_COMMENT_BLOCKS = 4 << 10 };

/* The state at any cut in (from, to]. */
typedef struct hp_known_state {
  uint32_t from, to; /* to = 0: no state */
  hp_start_state state;
} hp_known_state;

/* All zeros before first use. */
typedef struct hp_known_states {
  pthread_mutex_t lock;
  bool has_lock;
  /* The last results, and the last one that was a long comment or raw text. Result i is in
   * found[i % HP_KNOWN_STATES]. */
  hp_known_state found[HP_KNOWN_STATES], long_text;
  _Atomic uint32_t count;
  uint64_t scanned_bytes; /* by all searches */
  /* Bit i: no opener, or no "<!-", begins in block i of the text. */
  _Atomic uint64_t has_no_opener[HP_OPENER_BLOCKS / 64];
  _Atomic uint64_t has_no_comment[HP_COMMENT_BLOCKS / 64];
} hp_known_states;

/* The known state that a search uses. Zeros before the first call of hp_known_read. */
typedef struct hp_used_state {
  uint32_t seen; /* results */
  uint32_t to;   /* the last place at or before the cut where the state is known; 0: none */
  hp_start_state state;
} hp_used_state;

/* Reads the results since the last call. Any thread may call it. */
void hp_known_read(hp_known_states *known, uint32_t cut, hp_used_state *used);
/* Reads the last result that was a long comment or raw text. Sets the number of bytes that all
 * searches have scanned. Returns whether there is such a result. Any thread may call it. */
bool hp_known_read_long_text(hp_known_states *known, uint32_t cut, hp_used_state *used, uint64_t *scanned_bytes);
/* Adds a result, unless its place `to` is 0. Counts the bytes that its search has scanned. Any
 * thread may call it. */
void hp_known_add(hp_known_states *known, const hp_known_state *found, bool is_long_text, size_t scanned_bytes);

static inline bool hp_known_bit(const _Atomic uint64_t *bits, size_t i) {
  return atomic_load_explicit(&bits[i / 64], memory_order_relaxed) >> i % 64 & 1;
}

static inline void hp_known_set_bit(_Atomic uint64_t *bits, size_t i) {
  atomic_fetch_or_explicit(&bits[i / 64], UINT64_C(1) << i % 64, memory_order_relaxed);
}

/*** prescan ***/

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
