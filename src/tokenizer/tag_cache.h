#ifndef HP_TOKENIZER_TAG_CACHE_H
#define HP_TOKENIZER_TAG_CACHE_H

/* Start tags with the same bytes after their names have the same attributes. A cache finds such an
 * earlier tag, and the new element shares its block. Each tokenizer has a cache. It has none with
 * an exact limit of memory, and before it has read HP_UNCACHED_BYTES. */

#include "tokenizer/probe.h"

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
  const char *stop = start + 13 + probe_tag_end(start + 13);
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
