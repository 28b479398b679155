#ifndef HP_TOKENIZER_PARTS_H
#define HP_TOKENIZER_PARTS_H

/* The declarations that the files of this module share: byte classes, strings that are rewritten
 * only if necessary, and the transitions between groups of states. */

#include "base/bytes.h"
#include "dom/value.h"
#include "text/references/references.h"
#include "text/scan/scan.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

enum {
  HP_BYTE_WHITE = 1,      /* tab, LF, FF, CR, space */
  HP_BYTE_TAG_STOP = 2,   /* ends a tag name: white space, '/', '>' */
  HP_BYTE_NAME_STOP = 4,  /* ends an attribute name: these and '=' */
  HP_BYTE_VALUE_STOP = 8, /* special in an unquoted value: white space, '>', '&', NUL, and errors */
  HP_BYTE_ODD_NAME = 16,  /* name is not a plain span: upper case, NUL; errors: '"', '\'', '<' */
  HP_BYTE_ALPHA = 32,
  HP_BYTE_DIGIT = 64
};

extern const uint8_t hp_byte_class[256];

static inline unsigned hp_class(char c) { return hp_byte_class[(unsigned char)c]; }

__attribute__((cold)) void hp_token_error(hp_tokenizer *tokenizer, hp_error_code code, const char *at);
static inline void hp_error_at(hp_tokenizer *tokenizer, hp_error_code code, const char *at) {
  if (__builtin_expect(tokenizer->errors.list != NULL, 0)) hp_token_error(tokenizer, code, at);
}

/* A string made of spans of the input and of replacements. Nothing is copied before the first
 * replacement that has something before it; until then the string is a span.
 *
 *   string = [start, at) + [from, wherever the reader is) */
typedef struct hp_span_builder {
  hp_arena *arena;
  const char *from;
  char *start, *at, *limit; /* start NULL: nothing is copied yet */
} hp_span_builder;

void hp_span_put(hp_span_builder *span, const char *bytes, size_t n);

/* Appends [from, upto) to the string and leaves out [upto, resume). */
static inline void hp_span_skip(hp_span_builder *span, const char *upto, const char *resume) {
  if (upto > span->from) hp_span_put(span, span->from, (size_t)(upto - span->from));
  span->from = resume;
}

static inline bool hp_span_empty(const hp_span_builder *span, const char *upto) {
  return span->at == span->start && upto == span->from;
}

/* Returns a string that was copied, and releases the rest of its memory. */
const char *hp_span_end_copy(hp_span_builder *span, const char *upto, uint32_t *length);

/* Returns the finished string. */
static inline const char *hp_span_end(hp_span_builder *span, const char *upto, uint32_t *length) {
  if (span->start) return hp_span_end_copy(span, upto, length);
  *length = (uint32_t)(upto - span->from);
  return span->from;
}

/* Releases the memory allocated since the arena was equal to `mark`, unless the arena uses another
 * slab now. */
void hp_arena_return(hp_arena *arena, const hp_arena *mark);

/* Returns [from, upto) with normalised newlines, and with U+FFFD and an error for each NUL. */
const char *hp_plain_data(hp_tokenizer *tokenizer, const char *from, const char *upto, uint32_t *length);

/* Normalises the newline that begins with the CR at `at`, or reports an error for the NUL at `at`
 * and appends U+FFFD. Returns where the input continues. */
const char *hp_span_replace(hp_span_builder *span, hp_tokenizer *tokenizer, const char *at, const char *end);
/* Decodes the character reference at `at`. Returns where the input continues. */
static inline const char *hp_span_reference(hp_span_builder *span, hp_tokenizer *t, const char *at, bool in_attribute) {
  hp_reference reference = hp_read_reference(at, t->end, in_attribute, t->base, t->errors.list);
  if (reference.length) {
    hp_span_skip(span, at, reference.end);
    hp_span_put(span, reference.bytes, reference.length);
  }
  return reference.end;
}

/* Each function reads the token that begins at `at`. Each returns its kind or HP_TOKEN_NEED_MORE,
 * or HP_TOKEN_EOF if the end of the input swallows the token. */
/* "<!" */
int hp_read_markup_declaration(hp_tokenizer *tokenizer, hp_token *token, const char *at);
/* "<?" */
int hp_read_processing_instruction(hp_tokenizer *tokenizer, hp_token *token, const char *at);
int hp_read_bogus_comment(hp_tokenizer *tokenizer, hp_token *token, const char *at, const char *data);

/* Reads text of any content. Returns HP_TOKEN_EOF if there is no text before the markup at *at.
 * The text up to `clean` is plain text of the data state. */
int hp_read_text(hp_tokenizer *tokenizer, hp_token *token, const char **at, const char *clean);

/* Returns true if `at` has "</", the name of the last start tag, and a byte that can follow it. */
bool hp_is_appropriate_end_tag(const hp_tokenizer *tokenizer, const char *at);

static inline uint32_t hp_offset(const hp_tokenizer *tokenizer, const char *at) {
  return (uint32_t)(at - tokenizer->base);
}

/* Completes a token that ends before `end`, where the next token begins. */
static inline int hp_emit(hp_tokenizer *tokenizer, hp_token *token, int kind, unsigned flags, const char *start,
                          const char *end) {
  token->kind = (uint8_t)kind;
  token->flags = (uint8_t)flags;
  token->start = hp_offset(tokenizer, start);
  token->end = hp_offset(tokenizer, end);
  tokenizer->at = end;
  return kind;
}

static inline int hp_emit_end_of_input(hp_tokenizer *t, hp_token *token) {
  return hp_emit(t, token, HP_TOKEN_EOF, 0, t->end, t->end);
}

static inline int hp_emit_data(hp_tokenizer *tokenizer, hp_token *token, int kind, unsigned flags, const char *data,
                               uint32_t length, const char *start, const char *end) {
  token->data = data;
  token->length = length;
  return hp_emit(tokenizer, token, kind, flags, start, end);
}

/* Each function returns how many of the 16 bytes at `at` precede the first byte of a set, or 16 if
 * none is in the set. Requires: 16 bytes are readable. Most names and many values end within 16
 * bytes and need no kernel call. */

/* The number of bytes that fast paths may read without a check for the end: white space, a name of
 * 15 bytes, "=", a quote, and HP_PROBES times 16 bytes of value. */
enum { HP_PROBES = 3, HP_FAST_REACH = 18 + 16 * HP_PROBES + 6 };

/* Some bytes of a block of 64 bytes, as bits. */
typedef struct hp_quote_block {
  uint64_t quotes; /* '"' */
  uint64_t odd;    /* '&' and controls */
} hp_quote_block;

enum { HP_QUOTE_BLOCK = 64 };
_Static_assert((int)HP_QUOTE_BLOCK < (int)HP_FAST_REACH, "fast paths may read a block");

#if defined(__SSE2__)
#include <emmintrin.h>

static inline unsigned first_of(__m128i found) {
  return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(found) | 0x10000);
}
static inline __m128i sixteen(const char *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }
static inline __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

static inline __m128i at_most(__m128i bytes, char last) {
  return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(last)), bytes);
}

static inline __m128i between(__m128i bytes, char first, char last) {
  return at_most(_mm_sub_epi8(bytes, _mm_set1_epi8(first)), (char)(last - first));
}

/* White space, controls and '>', which end all names. */
static inline __m128i name_ends(__m128i bytes) { return _mm_or_si128(at_most(bytes, ' '), equal(bytes, '>')); }

/* The set: the ends of a tag name, and other controls. */
static inline unsigned probe_tag_name(const char *at) {
  __m128i bytes = sixteen(at);
  return first_of(_mm_or_si128(name_ends(bytes), equal(bytes, '/')));
}

/* The set: the ends of an attribute name except '/', and other controls. */
static inline unsigned probe_attribute_name(const char *at) {
  __m128i bytes = sixteen(at);
  return first_of(_mm_or_si128(name_ends(bytes), equal(bytes, '=')));
}

/* The set: the ends of an attribute name, and other controls. */
static inline unsigned probe_attribute_end(const char *at) {
  __m128i bytes = sixteen(at);
  return first_of(_mm_or_si128(name_ends(bytes), _mm_or_si128(equal(bytes, '/'), equal(bytes, '='))));
}

/* The set: the special bytes of an unquoted value, and other controls. */
static inline unsigned probe_unquoted(const char *at) {
  __m128i bytes = sixteen(at), low = at_most(bytes, ' ');
  return first_of(_mm_or_si128(_mm_or_si128(_mm_or_si128(low, between(bytes, '<', '>')), between(bytes, '&', '\'')),
                               _mm_or_si128(equal(bytes, '"'), equal(bytes, '`'))));
}

static inline unsigned probe_byte(const char *at, char byte) { return first_of(equal(sixteen(at), byte)); }

static inline unsigned probe_quoted(const char *at, char quote) {
  __m128i bytes = sixteen(at);
  return first_of(_mm_or_si128(_mm_or_si128(equal(bytes, quote), equal(bytes, '&')),
                               _mm_or_si128(equal(bytes, '\r'), equal(bytes, 0))));
}

/* Returns the number of equal bytes before the first different byte, or 16. */
static inline unsigned probe_difference(const char *left, const char *right) {
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen(left), sixteen(right))));
}

/* Returns the quotation marks of a block. Their places do not depend on the attributes before
 * them, so the processor reads several attributes at once. */
static inline hp_quote_block probe_quotes(const char *at) {
  hp_quote_block block = {0, 0};
  for (unsigned i = 0; i < HP_QUOTE_BLOCK; i += 16) {
    __m128i bytes = sixteen(at + i);
    block.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(equal(bytes, '"')) << i;
    block.odd |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(at_most(bytes, 0x1F), equal(bytes, '&'))) << i;
  }
  return block;
}

/* The set: space, LF and tab, the common white space. */
static inline unsigned probe_white(const char *at) {
  __m128i bytes = sixteen(at);
  __m128i white = _mm_or_si128(_mm_or_si128(equal(bytes, ' '), equal(bytes, '\n')), equal(bytes, '\t'));
  return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(white));
}

#else

static inline unsigned probe_tag_name(const char *at) {
  unsigned n = 0;
  while (n < 16 && (unsigned char)at[n] > ' ' && !(hp_class(at[n]) & HP_BYTE_TAG_STOP)) n++;
  return n;
}

static inline unsigned probe_attribute_name(const char *at) {
  unsigned n = 0;
  while (n < 16 && (unsigned char)at[n] > ' ' && !(hp_class(at[n]) & HP_BYTE_NAME_STOP)) n++;
  return n;
}

static inline unsigned probe_attribute_end(const char *at) { return probe_attribute_name(at); }

static inline unsigned probe_unquoted(const char *at) {
  unsigned n = 0;
  while (n < 16 && !(hp_class(at[n]) & HP_BYTE_VALUE_STOP)) n++;
  return n;
}

static inline unsigned probe_byte(const char *at, char byte) {
  unsigned n = 0;
  while (n < 16 && at[n] != byte) n++;
  return n;
}

static inline unsigned probe_quoted(const char *at, char quote) {
  unsigned n = 0;
  while (n < 16 && at[n] != quote && at[n] != '&' && at[n] != '\r' && at[n]) n++;
  return n;
}

static inline unsigned probe_white(const char *at) {
  unsigned n = 0;
  while (n < 16 && (at[n] == ' ' || at[n] == '\n' || at[n] == '\t')) n++;
  return n;
}

/* Finds nothing: without vectors, probes find the end of each value. */
static inline hp_quote_block probe_quotes(const char *at) { return (void)at, (hp_quote_block){0, 0}; }

static inline unsigned probe_difference(const char *left, const char *right) {
  unsigned n = 0;
  if (!memcmp(left, right, 16)) return 16;
  while (left[n] == right[n]) n++;
  return n;
}

#endif

static inline unsigned probe_text(const char *at) { return probe_quoted(at, '<'); }

/* Attribute values that are not plain spans: character references, CR, NUL, unquoted values. A
 * value whose references are its only special bytes stays a span, and its first reader decodes it
 * (dom/value.h). */

/* The attributes of a tag while the tokenizer reads it. They are at the end of the nodes' arena,
 * which is updated when the tag is complete. At the end of a slab they move to another one.
 *
 * items <= item <= limit; attributes == nodes->at unless the arena allocated them elsewhere. */
typedef struct hp_tag_state {
  hp_attributes *attributes;
  hp_attribute *item;
  const char *limit;
  uint32_t serial, deferred; /* deferred: as in hp_attributes */
  hp_atom name;
  uint8_t flags; /* HP_TOKEN_SELF_CLOSING */
} hp_tag_state;

/* Returns the bit of the next attribute in hp_attributes.deferred, or 0 if it has none. */
static inline uint32_t hp_next_value_bit(const hp_tag_state *tag) {
  ptrdiff_t index = tag->item - tag->attributes->items;
  return index < HP_MAX_DEFERRED ? UINT32_C(1) << index : 0;
}

/* Reads the quoted value of the next attribute, which begins at `value`. Its first special byte is
 * at `stop`. Returns the address of the quote, or the end of the input. */
const char *hp_read_special_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, const char *stop, char quote,
                                  hp_attribute *attribute);

/* Reads the unquoted value of the next attribute. Returns its end. */
const char *hp_read_unquoted_value(hp_tokenizer *t, hp_tag_state *tag, const char *value, hp_attribute *attribute);

/* Start tags with the same bytes after their names have the same attributes. A cache finds such an
 * earlier tag, and the new element shares its block. Each tokenizer has a cache. It has none with
 * an exact limit of memory, and before it has read HP_UNCACHED_BYTES. */

/* The bytes of a tag after its name, up to and including '>'. */
typedef struct hp_cached_tag {
  uint64_t key; /* some of the bytes */
  uint32_t offset;
  hp_ref attributes;
  uint16_t length, flags;
  uint32_t generation; /* of the tokenizer's input */
} hp_cached_tag;

enum { HP_CACHED_TAGS = 256, HP_UNCACHED_BYTES = 4096 };

/* Prepares the cache for an input. */
void hp_tag_cache_open(hp_tokenizer *tokenizer);
/* Allocates the cache. Without memory, the tokenizer has none. */
__attribute__((cold)) void hp_tag_cache_make(hp_tokenizer *tokenizer);

/* Allocates the cache if the tokenizer has read enough bytes. */
static inline void hp_tag_cache_need(hp_tokenizer *tokenizer) {
  if ((size_t)(tokenizer->at - tokenizer->base) >= tokenizer->tags.from) hp_tag_cache_make(tokenizer);
}

/* Returns true for `href` and `id`, whose values are mostly different: 9% of such tags on pages
 * repeat an earlier tag, and 59% of the others. `at` is before the name of an attribute. */
static inline bool hp_is_unique_attribute(const char *at) { return (at[1] | 1) == 'i'; }

/* Compares whole blocks. The last block may differ after the first `length` bytes. Requires: a
 * block is readable after both. */
static inline bool hp_same_tag(const char *left, const char *right, unsigned length) {
  for (; length > 16; left += 16, right += 16, length -= 16)
    if (probe_difference(left, right) != 16) return false;
  return probe_difference(left, right) >= length;
}

/* Reads the attributes as hp_read_attributes does, or finds them in the cache. `start` is the
 * beginning of the name. Requires: no errors are requested, HP_FAST_REACH bytes follow the tag's
 * '<', and hp_reads_values is false for the name. */
static HP_INLINE hp_tag_end hp_share_attributes(hp_tokenizer *t, hp_atom name, const char *start, const char *at) {
  if (!t->tags.cached || hp_is_unique_attribute(at)) return hp_read_attributes(t, name, start, at, 0);
  /* Most names are before byte 13. The end of the tag, or of 16 bytes more, varies most. The search
   * for it does not depend on the length of the name. */
  const char *stop = start + 13 + probe_byte(start + 13, '>');
  uint64_t key;
  memcpy(&key, stop - 8, sizeof key);
  hp_cached_tag *tag = &t->tags.cached[key * HP_NAME_K1 >> 56];
  if (tag->key == key && tag->generation == t->tags.generation && t->end - at >= tag->length + 16 &&
      hp_same_tag(at, t->base + tag->offset, tag->length))
    return (hp_tag_end){at + tag->length, tag->attributes, tag->flags};
  hp_tag_end end = hp_read_attributes(t, name, start, at, HP_SHARED_BLOCK);
  if (end.attributes && end.at - at <= UINT16_MAX)
    *tag = (hp_cached_tag){key,
                           (uint32_t)(at - t->base),
                           end.attributes,
                           (uint16_t)(end.at - at),
                           (uint16_t)end.flags,
                           t->tags.generation};
  return end;
}

#endif
