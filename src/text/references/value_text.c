#include "text/references/value_text.h"

#include "base/bytes.h"
#include "text/references/character_reference.h"
#include "text/references/frequent.h"

/* The loops find the '&' of a block first. Their places do not depend on the references before
 * them, so the processor reads several references at once. While a loop is in a block, it reads up
 * to REACH bytes from the beginning of the block. */
enum { BLOCK = 64, REACH = BLOCK + 16 };

static bool is_alphanumeric(char c) { return (unsigned char)((c | 0x20) - 'a') < 26 || (unsigned char)(c - '0') < 10; }

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i load_16(const char *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }

static inline __m128i is_between(__m128i bytes, char first, char last) {
  __m128i from_first = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(from_first, _mm_set1_epi8((char)(last - first))), from_first);
}

/* Returns a bit for each '&' of a block. */
static inline uint64_t find_ampersands(const char *at) {
  uint64_t found = 0;
  for (unsigned i = 0; i < BLOCK; i += 16)
    found |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(load_16(at + i), _mm_set1_epi8('&'))) << i;
  return found;
}

/* Returns how many of the 16 bytes at `at` precede the first that is no letter and no digit. */
static inline unsigned probe_name(const char *at) {
  __m128i bytes = load_16(at), lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
  __m128i found = _mm_or_si128(is_between(lower, 'a', 'z'), is_between(bytes, '0', '9'));
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(found));
}

#else

static inline uint64_t find_ampersands(const char *at) {
  const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7F;
  uint64_t found = 0;
  for (unsigned i = 0; i < BLOCK; i += 8) {
    uint64_t bytes = hp_load_64(at + i) ^ '&' * ones;
    uint64_t is_equal = ~(((bytes & low) + low) | bytes | low); /* the highest bit of each byte */
    found |= ((is_equal >> 7) * UINT64_C(0x0102040810204080) >> 56) << i;
  }
  return found;
}

static inline unsigned probe_name(const char *at) {
  unsigned n = 0;
  while (n < 16 && is_alphanumeric(at[n])) n++;
  return n;
}

#endif

/* Returns a bit for each '&' of the block at `base` that is before `end`. */
static inline uint64_t ampersands_of(const char *base, const char *end) {
  uint64_t found = find_ampersands(base);
  return end - base < BLOCK ? found & ((UINT64_C(1) << (end - base)) - 1) : found;
}

/* Reads the reference at `at`. The first `n` letters and digits of its name are known. */
//§ character-reference-state
static hp_reference read_reference(const char *at, size_t n, const char *end) {
  const char *name = at + 1, *stop = name + n;
  if (name < end && *name == '#') return hp_read_reference(at, end, true, at, NULL);
  //§ named-character-reference-state
  while (stop < end && is_alphanumeric(*stop)) stop++;
  char next = stop < end ? *stop : 0;
  if (stop == name || next == '=') return (hp_reference){.end = stop};
  return hp_read_named_reference(name, (size_t)(stop - name), next == ';');
}

/* Returns true if a reference begins at `at`. Requires: 17 bytes are readable. */
static inline bool is_reference(const char *at, const char *end) {
  if (hp_find_frequent_reference(at + 1)) return true;
  unsigned n = probe_name(at + 1);
  if (n && at[n + 1] == '=') return false;
  return read_reference(at, n, end).length > 0;
}

const char *hp_find_value_reference(const char *at, const char *end, const char *limit) {
  for (; at < end && limit - at >= REACH; at += BLOCK)
    for (uint64_t found = ampersands_of(at, end); found; found &= found - 1) {
      const char *ampersand = at + __builtin_ctzll(found);
      if (is_reference(ampersand, end)) return ampersand;
    }
  for (; at < end && (at = memchr(at, '&', (size_t)(end - at))); at++)
    if (read_reference(at, 0, end).length) return at;
  return end;
}

/* A place in a value, and in its copy. */
typedef struct place {
  const char *at;
  char *to;
} place;

/* Copies up to `upto`, and up to 15 bytes more. */
static inline place copy_upto(place p, const char *upto) {
  for (ptrdiff_t i = 0; i < upto - p.at; i += 16) memcpy(p.to + i, p.at + i, 16);
  return (place){upto, p.to + (upto - p.at)};
}

/* Decodes a reference. A '&' that begins none remains, and the next copy includes it. */
static inline place decode_reference(place p, const char *end) {
  const hp_frequent_reference *frequent = hp_find_frequent_reference(p.at + 1);
  if (frequent) {
    memcpy(p.to, frequent->value, sizeof frequent->value);
    return (place){p.at + 1 + frequent->length, p.to + frequent->value_length};
  }
  hp_reference reference = read_reference(p.at, 0, end);
  if (!reference.length) return p;
  memcpy(p.to, reference.bytes, sizeof reference.bytes);
  return (place){reference.end, p.to + reference.length};
}

/* Decodes as long as REACH bytes are readable. */
static inline place decode_blocks(place p, const char *end, const char *limit) {
  for (const char *base = p.at; base < end && limit - base >= REACH; base += BLOCK) {
    for (uint64_t found = ampersands_of(base, end); found; found &= found - 1)
      p = decode_reference(copy_upto(p, base + __builtin_ctzll(found)), end);
    const char *upto = end - base < BLOCK ? end : base + BLOCK;
    if (p.at < upto) p = copy_upto(p, upto);
  }
  return p;
}

char *hp_decode_value_text(char *to, const char *from, const char *first, const char *end, const char *limit) {
  memcpy(to, from, (size_t)(first - from));
  place p = decode_blocks((place){first, to + (first - from)}, end, limit);
  if (p.at == end) return p.to;

  /* Decodes the rest in memory where more bytes are readable. */
  char rest[2 * REACH];
  size_t length = (size_t)(end - p.at);
  memset(rest, '"', sizeof rest);
  memcpy(rest, p.at, length);
  return decode_blocks((place){rest, p.to}, rest + length, rest + sizeof rest).to;
}
