#include "text/references/references.h"

#include "base/atom.h"
#include "base/bytes.h"
#include "text/references/entities.inc"

#include <string.h>

/* The code points of 0x80 to 0x9F in windows-1252. 0: the byte is its own code point. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static bool is_alphanumeric(char c) { return hp_ascii_is_letter(c) || hp_ascii_is_digit(c); }

static const hp_entity *find(const char *name, size_t length) {
  hp_name_key key = hp_name_key_of(name, length);
  uint64_t slot = (((key.low * HP_ENTITY_K1) ^ (key.high * HP_ENTITY_K2)) + length) >> HP_ENTITY_SHIFT;
  for (;; slot = (slot + 1) & (HP_ENTITY_SLOTS - 1)) {
    unsigned index = hp_entity_slots[slot];
    if (!index) return NULL;
    const hp_entity *entity = &hp_entities[index];
    if (entity->length == length && !memcmp(hp_entity_names + entity->name, name, length)) return entity;
  }
}

static void report_reference_error(hp_errors *errors, hp_error_code code, const char *at, const char *base) {
  if (errors) hp_errors_add(errors, code, (size_t)(at - base));
}

static hp_reference literal(const char *end) {
  hp_reference reference;
  reference.end = end;
  reference.length = 0;
  return reference;
}

//§ numeric-character-reference-state
static hp_reference numeric(const char *p, const char *end, const char *base, hp_errors *errors) {
  uint32_t code = 0;
  const char *digits;
  p++;
  if (p < end && (*p | 0x20) == 'x') {
    //§ hexadecimal-character-reference-start-state
    digits = ++p;
    //§ hexadecimal-character-reference-state
    for (; p < end && hp_hex_value(*p) >= 0; p++)
      if (code < 0x110000) code = code << 4 | (unsigned)hp_hex_value(*p);
  } else {
    //§ decimal-character-reference-start-state
    digits = p;
    //§ decimal-character-reference-state
    for (; p < end && hp_ascii_is_digit(*p); p++)
      if (code < 0x110000) code = code * 10 + (unsigned char)(*p - '0');
  }
  if (p == digits) {
    report_reference_error(errors, HP_ERROR_ABSENCE_OF_DIGITS, p, base);
    return literal(p);
  }
  if (p < end && *p == ';')
    p++;
  else
    report_reference_error(errors, HP_ERROR_MISSING_SEMICOLON_AFTER_CHARACTER_REFERENCE, p, base);
  //§ numeric-character-reference-end-state
  if (code == 0) {
    report_reference_error(errors, HP_ERROR_NULL_CHARACTER_REFERENCE, p, base);
    code = 0xFFFD;
  } else if (code > 0x10FFFF) {
    report_reference_error(errors, HP_ERROR_CHARACTER_REFERENCE_OUTSIDE_UNICODE_RANGE, p, base);
    code = 0xFFFD;
  } else if (code >= 0xD800 && code < 0xE000) {
    report_reference_error(errors, HP_ERROR_SURROGATE_CHARACTER_REFERENCE, p, base);
    code = 0xFFFD;
  } else if ((code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF)) {
    report_reference_error(errors, HP_ERROR_NONCHARACTER_CHARACTER_REFERENCE, p, base);
  } else if ((code < 0x20 && code != '\t' && code != '\n' && code != '\f') || (code >= 0x7F && code < 0xA0)) {
    report_reference_error(errors, HP_ERROR_CONTROL_CHARACTER_REFERENCE, p, base);
    if (code >= 0x80 && windows_1252[code - 0x80]) code = windows_1252[code - 0x80];
  }
  hp_reference reference;
  reference.end = p;
  reference.length = (unsigned)(hp_put_code_point(reference.bytes, code) - reference.bytes);
  return reference;
}

//§ character-reference-state
hp_reference hp_read_reference(const char *at, const char *end, bool in_attribute, const char *base,
                               hp_errors *errors) {
  const char *name = at + 1;
  if (end - name >= 8) {
    const hp_frequent_reference *frequent = hp_find_frequent_reference(name);
    if (frequent) {
      hp_reference reference = {.end = name + frequent->length, .length = frequent->value_length};
      memcpy(reference.bytes, frequent->value, sizeof frequent->value);
      return reference;
    }
  }
  if (name == end) return literal(name);
  if (*name == '#') return numeric(name, end, base, errors);
  if (!is_alphanumeric(*name)) return literal(name);

  //§ named-character-reference-state
  size_t room = (size_t)(end - name), length = 1;
  if (room > HP_LONGEST_ENTITY + 1) room = HP_LONGEST_ENTITY + 1;
  while (length < room && is_alphanumeric(name[length])) length++;
  const hp_entity *entity = NULL;
  hp_reference reference;
  if (length < room && name[length] == ';' && (entity = find(name, length))) {
    reference.end = name + length + 1;
  } else {
    size_t known = length < HP_LONGEST_LEGACY ? length : HP_LONGEST_LEGACY;
    for (; known >= HP_SHORTEST_LEGACY; known--)
      if ((entity = find(name, known)) && entity->legacy) break;
    if (known < HP_SHORTEST_LEGACY) {
      //§ ambiguous-ampersand-state
      name += length;
      if (errors) {
        while (name < end && is_alphanumeric(*name)) name++;
        if (name < end && *name == ';')
          report_reference_error(errors, HP_ERROR_UNKNOWN_NAMED_CHARACTER_REFERENCE, name, base);
      }
      return literal(name);
    }
    reference.end = name + known;
    if (in_attribute && reference.end < end && (*reference.end == '=' || is_alphanumeric(*reference.end)))
      return literal(reference.end);
    report_reference_error(errors, HP_ERROR_MISSING_SEMICOLON_AFTER_CHARACTER_REFERENCE, reference.end, base);
  }
  reference.length = entity->value_length;
  memcpy(reference.bytes, entity->value, sizeof entity->value);
  return reference;
}

/* Looks up a name of letters and digits. Without a semicolon after it, the name must be valid
 * alone. */
static hp_reference read_named(const char *name, size_t length, bool semicolon) {
  const hp_entity *entity = semicolon || length <= HP_LONGEST_LEGACY ? find(name, length) : NULL;
  if (!entity || !(semicolon || entity->legacy)) return literal(name + length);
  hp_reference reference = {.end = name + length + semicolon, .length = entity->value_length};
  memcpy(reference.bytes, entity->value, sizeof entity->value);
  return reference;
}

bool hp_reference_may_continue(const char *at, const char *end) {
  if (at == end) return true;
  if (*at == '#') {
    bool hexadecimal = ++at < end && (*at | 0x20) == 'x';
    if (hexadecimal) at++;
    while (at < end && (hexadecimal ? hp_hex_value(*at) >= 0 : hp_ascii_is_digit(*at))) at++;
    return at == end;
  }
  size_t length = (size_t)(end - at);
  if (length > HP_LONGEST_ENTITY) return false;
  for (unsigned i = 1; i <= HP_ENTITIES; i++)
    if (hp_entities[i].length >= length && !memcmp(hp_entity_names + hp_entities[i].name, at, length)) return true;
  return false;
}

#define WORD(a, b, c, d, e) \
  ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32)
#define SLOT(a, b) HP_FREQUENT_SLOT((unsigned)(a) | (unsigned)(b) << 8)
#define REFERENCE(a, b, c, d, e, length, value) \
  [SLOT(a, b)] = {WORD(a, b, c, d, e) << (64 - 8 * (length)), value, length, sizeof(value) - 1, 64 - 8 * (length)}

/* The compiler warns if two references have the same slot. */
const hp_frequent_reference hp_frequent_references[16] = {
    REFERENCE('l', 't', ';', 0, 0, 3, "<"),
    REFERENCE('g', 't', ';', 0, 0, 3, ">"),
    REFERENCE('a', 'm', 'p', ';', 0, 4, "&"),
    REFERENCE('#', '3', '9', ';', 0, 4, "'"),
    REFERENCE('q', 'u', 'o', 't', ';', 5, "\""),
    REFERENCE('a', 'p', 'o', 's', ';', 5, "'"),
    REFERENCE('n', 'b', 's', 'p', ';', 5, "\xC2\xA0"),
    REFERENCE('#', 'x', '2', '7', ';', 5, "'"),
    REFERENCE('#', '0', '3', '9', ';', 5, "'"),
};

/* The loops find the '&' of a block first. Their places do not depend on the references before
 * them, so the processor reads several references at once. While a loop is in a block, it reads up
 * to REACH bytes from the beginning of the block. */
enum { BLOCK = 64, REACH = BLOCK + 16 };

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
  return read_named(name, (size_t)(stop - name), next == ';');
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
