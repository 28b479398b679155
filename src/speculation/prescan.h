#ifndef HP_SPECULATION_PRESCAN_H
#define HP_SPECULATION_PRESCAN_H

/* The prescan reads the text from its beginning to the end of the head. It recognises comments, and
 * raw text with the escaped states of scripts. Of tags it reads only names, and a quote before a
 * marker may belong to an attribute. A predictor of a study lets the scan go on to the end of the
 * text. It then visits only brackets that may begin a marker, outside foreign content. */

#include "base/target.h"
#include "speculation/strategy.h"

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

/*** the scan ***/

enum { HP_MARKUP_DATA, HP_MARKUP_COMMENT, HP_MARKUP_RAW_TEXT };
enum { HP_MARKUP_BEFORE_HEAD, HP_MARKUP_IN_HEAD, HP_MARKUP_AFTER_HEAD };

typedef struct hp_prescan_state { // value
  uint32_t at;                    /* the scan has reached this offset */
  uint32_t from;                  /* begin of the comment */
  uint32_t looked;                /* in a script, no "-->" before this place ends it */
  uint32_t no_end_before;         /* no ">" is between the last visited tag and here */
  uint8_t where;                  /* data, comment, raw text */
  uint8_t raw;                    /* index of the raw-text element */
  bool escaped, double_escaped;   /* script data */
  uint8_t head;                   /* before, in or after the head */
  bool is_foreign;                /* `foreign` wants to see all tags */
} hp_prescan_state;

typedef struct hp_markup_scan { // value
  hp_prescan_state *s;
  const char *text, *end; /* of the available text */
  const char *target;
  bool scripting;
  bool only_head; /* stops at the end of the head */
  bool only_text; /* stops at the end of the comment or raw text */
  /* Sees the names of tags in data. Returns true if the tag cannot begin raw text. NULL: none. */
  bool (*foreign)(struct hp_markup_scan *scan, const char *at, const char *name, bool closer);
} hp_markup_scan;

HP_SHARED void hp_markup_scan_go_on(hp_markup_scan *scan);
/* Returns the ">" of the tag at `at`, or NULL. Tags ascend, and the search visits each byte
 * once. */
HP_SHARED const char *hp_markup_tag_end(hp_markup_scan *scan, const char *at);

/*** what the threads share about a text ***/

/* All zeros before first use. */
typedef struct hp_prescan { // value
  pthread_mutex_t lock;
  bool has_lock;
  uint64_t texts; /* number of calls of hp_prescan_begin */
  /* For the predictor lookback: the state at the end of the head at most, and what its searches
   * have found. */
  hp_prescan_state head;
  hp_known_states known;
  /* Of another predictor, which uses it under the lock; NULL: none. */
  void *of_predictor;
  void (*free_of_predictor)(void *memory);
} hp_prescan;

void hp_prescan_begin(hp_prescan *prescan);
void hp_prescan_close(hp_prescan *prescan);

/* Returns whether `cut` lies in the head, in the available text. */
bool hp_prescan_is_in_head(hp_prescan *prescan, const hp_request *request, uint32_t cut);

#endif
