#include "study/indexed.h"

#include "base/memory.h"
#include "study/driven.h"
#include "study/state.h"
#include "text/scan/scan.h"

#include <stdatomic.h>
#include <string.h>
#if defined __SSE2__
#include <immintrin.h>
#endif

enum { BLOCK = 64, BLOCKS_PER_STEP = 64, NO_CLASS = -1 };
enum { LESS, GREATER, DOUBLE_QUOTE, SINGLE_QUOTE, AMPERSAND, NUL_OR_CR, CLASSES };

/* Bit i of a word: byte i of the block is of this class. */
typedef struct hp_index_block {
  uint64_t of[CLASSES];
} block;

/*** making the index ***/

/* Each of these functions indexes the BLOCK bytes at `text`. */

#if defined __SSE2__
static inline uint64_t places_sse2(const __m128i *parts, char byte) {
  const __m128i wanted = _mm_set1_epi8(byte);
  uint64_t places = 0;
  for (int i = 3; i >= 0; i--) places = places << 16 | (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(parts[i], wanted));
  return places;
}

static inline void index_sse2(const char *text, block *to) {
  __m128i parts[4];
  memcpy(parts, text, sizeof parts);
  to->of[LESS] = places_sse2(parts, '<');
  to->of[GREATER] = places_sse2(parts, '>');
  to->of[DOUBLE_QUOTE] = places_sse2(parts, '"');
  to->of[SINGLE_QUOTE] = places_sse2(parts, '\'');
  to->of[AMPERSAND] = places_sse2(parts, '&');
  to->of[NUL_OR_CR] = places_sse2(parts, 0) | places_sse2(parts, '\r');
}

#define HP_AVX2 __attribute__((target("avx2")))
HP_AVX2 static inline uint64_t places_avx2(__m256i low, __m256i high, char byte) {
  const __m256i wanted = _mm256_set1_epi8(byte);
  uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
  return (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)) << 32 | first;
}

HP_AVX2 static inline void index_avx2(const char *text, block *to) {
  __m256i low, high;
  memcpy(&low, text, sizeof low);
  memcpy(&high, text + sizeof low, sizeof high);
  to->of[LESS] = places_avx2(low, high, '<');
  to->of[GREATER] = places_avx2(low, high, '>');
  to->of[DOUBLE_QUOTE] = places_avx2(low, high, '"');
  to->of[SINGLE_QUOTE] = places_avx2(low, high, '\'');
  to->of[AMPERSAND] = places_avx2(low, high, '&');
  to->of[NUL_OR_CR] = places_avx2(low, high, 0) | places_avx2(low, high, '\r');
}
#else
static inline void index_plainly(const char *text, block *to) {
  memset(to, 0, sizeof *to);
  for (int i = 0; i < BLOCK; i++) {
    uint64_t bit = UINT64_C(1) << i;
    switch (text[i]) {
      case '<': to->of[LESS] |= bit; break;
      case '>': to->of[GREATER] |= bit; break;
      case '"': to->of[DOUBLE_QUOTE] |= bit; break;
      case '\'': to->of[SINGLE_QUOTE] |= bit; break;
      case '&': to->of[AMPERSAND] |= bit; break;
      case '\r':
      case 0: to->of[NUL_OR_CR] |= bit; break;
      default: break;
    }
  }
}
#endif

#define INDEX_RANGE(name, attribute)                                                  \
  attribute static void name##_range(const char *text, block *blocks, size_t count) { \
    for (size_t i = 0; i < count; i++) name(text + i * BLOCK, &blocks[i]);            \
  }
#if defined __SSE2__
INDEX_RANGE(index_sse2, )
INDEX_RANGE(index_avx2, HP_AVX2)
#else
INDEX_RANGE(index_plainly, )
#endif

/* Indexes `count` whole blocks. */
static void index_blocks(const char *text, block *blocks, size_t count) {
#if defined __SSE2__
  if (__builtin_cpu_supports("avx2"))
    index_avx2_range(text, blocks, count);
  else
    index_sse2_range(text, blocks, count);
#else
  index_plainly_range(text, blocks, count);
#endif
}

/*** reading it ***/

/* What the calling thread searches in. */
typedef struct reader {
  const char *text;
  size_t length;
  const block *blocks;
  _Atomic size_t ready; /* bytes that are indexed; release by the indexing thread */
  size_t seen;          /* an earlier value of it */
  const hp_scan_kernels *plain;
} reader;

/* The kernels have no context. A thread has one parse of these drivers at a time, except in a
 * script's callback, and that parse ends before the callback returns. */
static _Thread_local reader *current;

static inline uint64_t places(const block *b, int first, int second, int third) {
  uint64_t all = b->of[first];
  if (second != NO_CLASS) all |= b->of[second];
  if (third != NO_CLASS) all |= b->of[third];
  return all;
}

/* Returns the first byte of the classes in [at, end), or `end`. Returns NULL and sets `*at` to
 * where the index ends if none is before that. */
static inline const char *find(const char **at, const char *end, int first, int second, int third) {
  reader *r = current;
  uintptr_t from = (uintptr_t)*at - (uintptr_t)r->text, to = (uintptr_t)end - (uintptr_t)r->text;
  if (from >= r->length) return NULL; /* text that a script has written */
  if (to > r->seen) r->seen = atomic_load_explicit(&r->ready, memory_order_acquire);
  size_t limit = to < r->seen ? to : r->seen;
  if (from < limit) {
    size_t i = from / BLOCK;
    uint64_t found = places(&r->blocks[i], first, second, third) & UINT64_MAX << from % BLOCK;
    while (!found && ++i * BLOCK < limit) found = places(&r->blocks[i], first, second, third);
    size_t place = i * BLOCK + (found ? (size_t)__builtin_ctzll(found) : 0);
    if (found && place < limit) return r->text + place;
    *at = r->text + limit;
  }
  return limit == to ? end : NULL;
}

static const char *find_text(const char *at, const char *end) {
  const char *found = find(&at, end, LESS, AMPERSAND, NUL_OR_CR);
  return found ? found : current->plain->text(at, end);
}

static const char *find_raw(const char *at, const char *end) {
  const char *found = find(&at, end, LESS, NUL_OR_CR, NO_CLASS);
  return found ? found : current->plain->raw(at, end);
}

static const char *find_quoted(const char *at, const char *end, char quote) {
  const char *found = quote == '"' ? find(&at, end, DOUBLE_QUOTE, AMPERSAND, NUL_OR_CR)
                                   : find(&at, end, SINGLE_QUOTE, AMPERSAND, NUL_OR_CR);
  return found ? found : current->plain->quoted(at, end, quote);
}

static const char *find_quote(const char *at, const char *end, char quote) {
  const char *found = quote == '"' ? find(&at, end, DOUBLE_QUOTE, NUL_OR_CR, NO_CLASS)
                                   : find(&at, end, SINGLE_QUOTE, NUL_OR_CR, NO_CLASS);
  return found ? found : current->plain->quote(at, end, quote);
}

static const char *find_byte(const char *at, const char *end, char byte) {
  const char *found = NULL;
  if (byte == '<') found = find(&at, end, LESS, NO_CLASS, NO_CLASS);
  if (byte == '>') found = find(&at, end, GREATER, NO_CLASS, NO_CLASS);
  return found ? found : current->plain->byte(at, end, byte);
}

/*** the drivers ***/

typedef struct indexed {
  reader reader;
  block *blocks; /* of the reader */
  size_t count;
} indexed;

/* Indexes all bytes, and shows the progress. */
static void make_index(void *context, unsigned thread) {
  indexed *x = context;
  if (thread > 1) return;
  const char *text = x->reader.text;
  size_t whole = x->reader.length / BLOCK, rest = x->reader.length % BLOCK;
  for (size_t i = 0, n; i < whole; i += n) {
    n = whole - i < BLOCKS_PER_STEP ? whole - i : BLOCKS_PER_STEP;
    index_blocks(text + i * BLOCK, x->blocks + i, n);
    atomic_store_explicit(&x->reader.ready, (i + n) * BLOCK, memory_order_release);
  }
  if (!rest) return;
  char last[BLOCK] = {0};
  memcpy(last, text + whole * BLOCK, rest); /* the zeros lie after the text */
  index_blocks(last, x->blocks + whole, 1);
  atomic_store_explicit(&x->reader.ready, x->reader.length, memory_order_release);
}

/* Returns memory of the session for the index; NULL: there is none. */
static block *room_for(hp_session *session, size_t count) {
  hp_study_state *state = hp_study_state_of(session);
  if (!state) return NULL;
  if (state->index_capacity < count) {
    hp_free(state->index);
    state->index = hp_allocate(count * sizeof *state->index);
    state->index_capacity = state->index ? count : 0;
  }
  return state->index;
}

static void fail(hp_driven *d) { hp_unwind_now(&d->session->engine.unwind, HPAR_ERROR_MEMORY); }

static void drive(hp_driven *d, bool ahead) {
  hpar_driven_parse *parse = &d->shown;
  hp_tokenizer *t = &d->session->engine.tokenizer;
  indexed x = {.reader = {.text = parse->text, .length = parse->length, .plain = t->scan},
               .count = parse->length / BLOCK + 1};
  hp_scan_kernels kernels = *t->scan;
  kernels.text = find_text;
  kernels.raw = find_raw;
  kernels.quoted = find_quoted;
  kernels.quote = find_quote;
  kernels.byte = find_byte;
  x.reader.blocks = x.blocks = room_for(d->session, x.count);
  if (!x.blocks) {
    hp_drive_step(d, fail);
    return;
  }
  if (ahead && parse->threads > 1)
    parse->start(parse, make_index, &x);
  else
    make_index(&x, 1);
  reader *outer = current;
  current = &x.reader;
  t->scan = &kernels;
  parse->advance(parse, SIZE_MAX);
  t->scan = x.reader.plain;
  current = outer;
  parse->join(parse);
}

static void drive_indexed(hpar_driven_parse *parse, void *context) {
  (void)context;
  drive((hp_driven *)parse, false);
}

static void drive_ahead(hpar_driven_parse *parse, void *context) {
  (void)context;
  drive((hp_driven *)parse, true);
}

const hpar_driver hp_indexed_driver = {HPAR_DRIVER_INIT, .name = "indexed", .drive = drive_indexed,
                                       .summary = "indexes <, >, quotes, & first; then the builder reads the index"};
const hpar_driver hp_index_ahead_driver = {HPAR_DRIVER_INIT, .name = "index-ahead", .threads = 2, .drive = drive_ahead,
                                           .summary = "the same, with a second thread that indexes ahead"};
