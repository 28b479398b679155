#ifndef HP_REWRITE_FRAMES_H
#define HP_REWRITE_FRAMES_H

/* The frames of matching.h, for matching.c and frames.c. */

#include "rewrite/matching.h"

#include <string.h>

/* Returns a frame in its first version. */
static inline hp_frame *hp_frame_at(const hp_matching *s, uint32_t frame) {
  return (hp_frame *)(void *)(s->frames.bytes + frame * s->frames.size);
}

/* Returns a version of a frame. */
static inline hp_frame *hp_frame_version(const hp_matching *s, uint32_t frame, uint32_t version) {
  hp_frame *first = hp_frame_at(s, frame);
  if (!version || first->is_uniform) return first;
  return (hp_frame *)(void *)((char *)first + version * s->version_size);
}

/* Returns the frame of an open element. */
static inline uint32_t hp_frame_of(const hp_matching *s, hp_ref node) {
  if (!node || node == s->outline->root) return HP_ROOT_FRAME;
  uint32_t frame = hp_outline_node(s->outline, node)->next;
  return frame ? frame : HP_EMPTY_FRAME;
}

/* Returns the instructions that the last step has found in a version. */
static inline hp_bits *hp_matched_in(const hp_matching *s, uint32_t version) {
  return s->bits + (2 + (size_t)version) * s->matcher.words;
}

/* Returns the bits of the next frame: for each version those of child, then those of heir. */
static inline hp_bits *hp_next_bits(const hp_matching *s) { return hp_matched_in(s, s->versions); }

/* Returns the bytes of the child and heir bits of a version. */
static inline size_t hp_bits_size(const hp_matching *s) { return 2 * (size_t)s->matcher.words * sizeof(hp_bits); }

/* Returns true if two sequences of `words` words are equal. They are short. */
static inline bool hp_equal_words(const hp_bits *a, const hp_bits *b, uint32_t words) {
  for (uint32_t w = 0; w < words; w++)
    if (a[w] != b[w]) return false;
  return true;
}

/* Returns true if the frame has the bits of hp_next_bits. Of a uniform frame, `versions` is 1. */
static inline bool hp_frame_has_next_bits(const hp_matching *s, uint32_t frame, uint32_t versions) {
  if (hp_frame_at(s, frame)->is_uniform != (versions == 1)) return false;
  for (uint32_t v = 0; v < versions; v++)
    if (!hp_equal_words(hp_frame_version(s, frame, v)->bits, hp_next_bits(s) + v * 2 * (size_t)s->matcher.words,
                        2 * s->matcher.words))
      return false;
  return true;
}

/* Gives a new frame the bits of hp_next_bits. */
static inline void hp_frame_take_next_bits(const hp_matching *s, uint32_t frame, uint32_t versions) {
  memset(hp_frame_at(s, frame), 0, versions * s->version_size);
  for (uint32_t v = 0; v < versions; v++)
    memcpy(hp_frame_version(s, frame, v)->bits, hp_next_bits(s) + v * 2 * (size_t)s->matcher.words, hp_bits_size(s));
  hp_frame_at(s, frame)->is_uniform = versions == 1;
}

/* Returns true if hp_next_bits has the same bits for all versions. */
static inline bool hp_next_bits_are_uniform(const hp_matching *s) {
  const hp_bits *bits = hp_next_bits(s);
  for (uint32_t v = 1; v < s->versions; v++)
    if (!hp_equal_words(bits, bits + v * 2 * (size_t)s->matcher.words, 2 * s->matcher.words)) return false;
  return true;
}

/* Returns the entry of the last frame in use with the hash of hp_next_bits. */
static inline uint32_t *hp_matching_known_frame(hp_matching *s, uint32_t versions) {
  const hp_bits *bits = hp_next_bits(s);
  uint64_t hash = 0;
  for (uint32_t w = 0; w < 2 * versions * s->matcher.words; w++) hash = (hash ^ bits[w]) * HP_NAME_K1;
  return &s->frames.known[hash >> 61];
}

uint32_t hp_matching_new_frame(hp_matching *matching);
/* Makes the frames that stand for no particular element. */
void hp_matching_reset_frames(hp_matching *matching);
/* Returns the counter of a type, which is new with 0. */
uint32_t *hp_matching_type_counter(hp_matching *matching, uint32_t frame, uint64_t type);

#endif
