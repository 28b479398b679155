#ifndef HP_REWRITE_MATCHING_H
#define HP_REWRITE_MATCHING_H

/* Matching selectors while elements are inserted: the compiled selectors of src/select run from
 * left to right. If a selector has a combinator or counts elements, open elements have a frame
 * (select/match.h). Unless a selector counts elements, elements with equal frames have one frame in
 * common. That of all elements whose frame would be empty is HP_EMPTY_FRAME. `element` of another
 * frame is an open element with this frame, whose node others may share, or 0. */

#include "rewrite/edits.h"
#include "rewrite/rules.h"
#include "tree/outline.h"

#include <string.h>

/* A counter of the children of one parent with one type. */
typedef struct hp_type_counter {
  uint64_t type;
  uint32_t frame, count;
  uint32_t next, in_frame; /* in the hash chain; in the list of the frame; 0: none */
} hp_type_counter;

enum { HP_ROOT_FRAME, HP_EMPTY_FRAME, HP_KNOWN_FRAMES = 8 };

/* A counter of the children of the outer current node whose value before a segment is unknown, but
 * for its remainder. In version `v` the counter begins at `first` + `v` % `period`. */
typedef struct hp_unknown_counter {
  uint32_t first; /* a multiple of `period` */
  uint32_t period;
  uint32_t min;  /* the true number is at least this one */
  uint32_t slot; /* of a counter in the frame; HP_SELECT_NONE: the number of children */
} hp_unknown_counter;

/* Each frame has all versions. */
typedef struct hp_frame_pool {
  char *bytes;
  size_t size;           /* of a frame */
  uint32_t *next;        /* of a free frame: the next one; of others: nodes that use it, less 1 */
  uint32_t *first_types; /* by frame: the first type counter */
  uint32_t count, capacity, next_capacity, type_capacity, free;
  uint32_t known[HP_KNOWN_FRAMES]; /* by hash: the last frame in use, or 0 */
} hp_frame_pool;

typedef struct hp_type_counters {
  hp_type_counter *counters; /* index 0 is unused */
  uint32_t count, capacity, free;
  uint32_t used;
  uint32_t *chains;
  uint32_t chain_count, chain_capacity; /* a power of two, or 0 */
} hp_type_counters;

typedef struct hp_matching {
  const hpar_rules *rules;
  hp_outline *outline;
  hp_matcher matcher; /* a copy with its own scratch sets */
  /* active and accepts; by version: matched; by version: the next frame's child and heir */
  hp_bits *bits;
  uint32_t bits_capacity;
  uint32_t versions; /* a worker matches under several hypotheses; otherwise 1 */
  hp_frame_pool frames;
  hp_type_counters types;
  uint32_t holding;                 /* versions in which the last element matches; 0: all or none */
  hp_ref outer;                     /* of a worker: the outer current node; 0: none */
  size_t version_size;              /* of one version of a frame */
  hp_unknown_counter counter;       /* period 0: the versions differ in their bits only */
  hp_candidate_log *candidate_logs; /* by version; NULL unless there are several */
  hp_unwind *unwind;
} hp_matching;

void hp_matching_open(hp_matching *matching, const hpar_rules *rules, hp_outline *outline, hp_unwind *unwind);
void hp_matching_close(hp_matching *matching);

/* Finds the instructions that match an element, in matching->matcher.matched. Returns true if one
 * accepts. Opens a frame for an element that was pushed, in its node's `next`. 0 there is the empty
 * frame. */
bool hp_matching_insert(hp_matching *matching, const hp_outline_insertion *insertion, const hp_attributes *attributes);
/* Writes what hp_matching_match_again needs of an html or body element, before its insertion.
 * Returns its number among the children with its type; 0: not counted. */
uint32_t hp_matching_remember(const hp_matching *matching, const hp_outline_insertion *insertion, hp_bytes *frame);
/* Finds the instructions that match this element with other attributes. Changes `frame` only. */
bool hp_matching_match_again(hp_matching *matching, hp_atom name, hp_frame *frame, uint32_t of_type,
                             const hp_attributes *attributes);
/* The node does not use its frame any more. */
void hp_matching_free_frame(hp_matching *matching, hp_ref node);
/* No element matches this selector any longer. */
void hp_matching_retire(hp_matching *matching, uint32_t rule);

/* A worker matches each element in `versions` frames. All that follows for one frame of it then
 * holds for a sequence of such frames. `candidate_logs` has one for each version. */
void hp_matching_use_versions(hp_matching *matching, uint32_t versions, hp_candidate_log *candidate_logs,
                              const hp_unknown_counter *counter);
/* Drops all frames. The outer current node has the frame with these near and heir bits (select/
 * match.h), and no children so far. `bits` has them for each version. */
void hp_matching_begin_segment(hp_matching *matching, hp_ref outer, const hp_bits *bits);
/* Finds the instructions that near bits, heir bits and next bits activate. */
void hp_matching_find_successors(const hp_matching *matching, hp_bits *near, hp_bits *heir, hp_bits *next);
/* Writes the child and heir bits of a frame in all versions. */
void hp_matching_copy_bits(const hp_matching *matching, uint32_t frame, hp_bits *bits);
/* Writes the near and heir bits of an open element in all versions. */
void hp_matching_outer_bits(const hp_matching *matching, hp_ref node, hp_bits *bits);

/* Requires, as the next functions: selectors count elements (hpar_rules.skips_tags is false). */
static inline uint64_t hp_matching_type_of(uint8_t ns, hp_atom name) { return (uint64_t)ns << 32 | name; }
/* Returns the counter after `last` of a frame, or the first one for NULL; NULL: there is none. */
const hp_type_counter *hp_matching_next_type(const hp_matching *matching, uint32_t frame, const hp_type_counter *last);
/* Returns the number of children with the type. */
uint32_t hp_matching_type_count(const hp_matching *matching, hp_ref node, uint64_t type);
/* Adds or subtracts the number of earlier children that a version assumes. */
void hp_matching_assume_counter(const hp_matching *matching, hp_frame *frame, uint32_t version, bool adds);
/* Returns a copy of a version of another rewriter's frame, with more heir bits. */
uint32_t hp_matching_adopt_frame(hp_matching *matching, const hp_frame *from, const hp_bits *heir);
/* Adds the children that another rewriter has seen. The later bits of `seen` are those of these
 * children. */
void hp_matching_add_children(hp_matching *matching, hp_ref node, const hp_frame *seen);

/* Returns a frame with these child and heir bits, for one more node; 0: all bits are zero. */
uint32_t hp_matching_frame_with(hp_matching *matching, const hp_bits *bits, bool *has_child);

/* Returns true if a tag of this name needs its attributes, or its bytes, for matching. */
static inline bool hp_matching_reads_tag(const hp_matching *s, hp_atom name) {
  const hp_matcher *m = &s->matcher;
  if (s->rules->needs_attributes || s->rules->has_universal || s->rules->needs_every_tag) return true;
  if (name < HP_KNOWN_ATOMS)
    return hp_matcher_has_tag(m, name) || name == HP_ATOM_IMAGE || hp_svg_tag_name(name) != name;
  return m->index.tags.slots;
}

size_t hp_matching_memory(const hp_matching *matching);

/*** frames ***/

/* Returns a frame in its first version. It is valid until the next insertion, as those below. */
static inline hp_frame *hp_frame_at(const hp_matching *s, uint32_t frame) {
  return (hp_frame *)(void *)(s->frames.bytes + frame * s->frames.size);
}

/* Returns a version of a frame. */
static inline hp_frame *hp_frame_version(const hp_matching *s, uint32_t frame, uint32_t version) {
  hp_frame *first = hp_frame_at(s, frame);
  if (!version || first->is_uniform) return first;
  return (hp_frame *)(void *)((char *)first + version * s->version_size);
}

/* Returns the index of the frame of an open element. */
static inline uint32_t hp_frame_of(const hp_matching *s, hp_ref node) {
  if (!node || node == s->outline->root) return HP_ROOT_FRAME;
  uint32_t frame = hp_outline_node(s->outline, node)->next;
  return frame ? frame : HP_EMPTY_FRAME;
}
static inline hp_frame *hp_frame_of_node(const hp_matching *s, hp_ref node) {
  return hp_frame_at(s, hp_frame_of(s, node));
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

/* Returns a frame with the bits of hp_next_bits, for one more node. Its parent may have it. */
static inline uint32_t hp_matching_share_frame(hp_matching *s, uint32_t parent, uint32_t versions) {
  if (parent > HP_EMPTY_FRAME && hp_frame_has_next_bits(s, parent, versions)) {
    s->frames.next[parent]++;
    return parent;
  }
  uint32_t *known = hp_matching_known_frame(s, versions);
  if (*known && hp_frame_has_next_bits(s, *known, versions)) {
    s->frames.next[*known]++;
    return *known;
  }
  *known = hp_matching_new_frame(s);
  hp_frame_take_next_bits(s, *known, versions);
  return *known;
}

/* Makes the frames that stand for no particular element. */
void hp_matching_reset_frames(hp_matching *matching);
/* Returns the counter of a type, which is new with 0. */
uint32_t *hp_matching_type_counter(hp_matching *matching, uint32_t frame, uint64_t type);

#endif
