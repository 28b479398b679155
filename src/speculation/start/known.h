#ifndef HP_SPECULATION_START_KNOWN_H
#define HP_SPECULATION_START_KNOWN_H

/* What the searches of all threads before cuts have found in a text (lookback.c). A search uses the
 * results of other threads, also those that they find meanwhile. */

#include "speculation/start/predict.h"

#include <pthread.h>
#include <stdatomic.h>

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

/* Forgets all results, for another text. */
void hp_known_begin(hp_known_states *known);
void hp_known_close(hp_known_states *known);

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

#endif
