/* The frames of a worker, and those that the merger adopts. */

#include "rewrite/frames.h"

#include "tree/outline_state.h"

/* Writes the instructions that follow another one with the combinator. */
static void find_successors(const hp_matching *s, hp_combinator combinator, hp_bits *bits) {
  const hp_matcher *m = &s->matcher;
  hp_bits carry = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits before = m->sets.by_combinator[combinator][w];
    bits[w] = before << 1 | carry;
    carry = before >> (HP_BITS - 1);
  }
}

void hp_matching_find_successors(const hp_matching *s, hp_bits *near, hp_bits *heir, hp_bits *next) {
  const uint32_t words = s->matcher.words;
  find_successors(s, HP_COMBINATOR_CHILD, near);
  find_successors(s, HP_COMBINATOR_LATER, heir);
  find_successors(s, HP_COMBINATOR_NEXT, next);
  for (uint32_t w = 0; w < words; w++) near[w] |= heir[w] | next[w];
  find_successors(s, HP_COMBINATOR_DESCENDANT, heir);
}

/* Drops the counters of all frames. */
static void reset_counters(hp_matching *s) {
  s->types.count = 1;
  s->types.free = s->types.used = 0;
  if (s->types.chain_count) memset(s->types.chains, 0, s->types.chain_count * sizeof *s->types.chains);
}

/* Adds the number of earlier children that a version assumes. */
static void assume_counter(const hp_matching *s, hp_frame *frame, uint32_t version) {
  const hp_unknown_counter *c = &s->counter;
  if (!c->period) return;
  if (c->slot == HP_SELECT_NONE)
    frame->children = c->first + version % c->period;
  else
    frame->bits[4 * (size_t)s->matcher.words + c->slot] = c->first + version % c->period;
}

void hp_matching_forget_counter(const hp_matching *s, hp_frame *frame, uint32_t version) {
  const hp_unknown_counter *c = &s->counter;
  if (!c->period) return;
  if (c->slot == HP_SELECT_NONE)
    frame->children -= c->first + version % c->period;
  else
    frame->bits[4 * (size_t)s->matcher.words + c->slot] -= c->first + version % c->period;
}

/* Makes the frame of the outer current node in a set of selectors that counts elements. `next` are
 * the instructions after this combinator. */
static uint32_t make_outer_frame(hp_matching *s, const hp_bits *bits, const hp_bits *next) {
  const uint32_t words = s->matcher.words;
  uint32_t index = hp_matching_new_frame(s);
  memset(hp_frame_at(s, index), 0, s->frames.size);
  for (uint32_t v = 0; v < s->versions; v++, bits += 2 * (size_t)words) {
    hp_frame *frame = hp_frame_version(s, index, v);
    hp_bits *to = frame->bits, *later = to + 3 * (size_t)words;
    find_successors(s, HP_COMBINATOR_LATER, later);
    for (uint32_t w = 0; w < words; w++) {
      to[w] = bits[w] & ~next[w] & ~later[w];
      to[words + w] = bits[words + w];
      to[2 * words + w] = bits[w] & next[w];
      later[w] &= bits[w];
    }
    assume_counter(s, frame, v);
  }
  return index;
}

/* Makes the frame of children of the outer current node that match nothing: its heir bits. They
 * share a node. */
static void share_child(hp_matching *s, const hp_bits *bits) {
  const uint32_t words = s->matcher.words;
  hp_bits *of_child = hp_next_bits(s), *next = of_child;
  for (uint32_t v = 0; v < s->versions; v++, bits += 2 * (size_t)words, next += 2 * (size_t)words) {
    memset(next, 0, words * sizeof *next);
    memcpy(next + words, bits + words, words * sizeof *next);
  }
  bool has_child;
  const uint32_t frame = hp_matching_frame_with(s, of_child, &has_child);
  const hp_ref shared = hp_outline_share_outer_child(s->outline, frame);
  if (frame) hp_frame_at(s, frame)->element = shared;
}

void hp_matching_begin_segment(hp_matching *s, hp_ref outer, const hp_bits *bits) {
  hp_matching_reset_frames(s);
  reset_counters(s);
  s->outer = outer;
  s->holding = 0;
  uint32_t frame;
  bool has_child;
  if (s->rules->skips_tags) {
    frame = hp_matching_frame_with(s, bits, &has_child);
    share_child(s, bits);
  } else {
    frame = make_outer_frame(s, bits, s->matcher.watch->after_next);
  }
  hp_node *node = hp_outline_node(s->outline, outer);
  node->next = frame;
}

const hp_bits *hp_matching_bits_of(const hp_matching *s, hp_ref node) {
  return hp_frame_at(s, hp_frame_of(s, node))->bits;
}

void hp_matching_copy_bits(const hp_matching *s, uint32_t frame, hp_bits *to) {
  for (uint32_t v = 0; v < s->versions; v++)
    memcpy(to + v * 2 * (size_t)s->matcher.words, hp_frame_version(s, frame, v)->bits, hp_bits_size(s));
}

void hp_matching_outer_bits(const hp_matching *s, hp_ref node, hp_bits *to) {
  const uint32_t words = s->matcher.words, frame = hp_frame_of(s, node);
  for (uint32_t v = 0; v < s->versions; v++, to += 2 * (size_t)words) {
    const hp_bits *bits = hp_frame_version(s, frame, v)->bits;
    for (uint32_t w = 0; w < words; w++) {
      to[w] = bits[w] | bits[2 * words + w] | bits[3 * words + w];
      to[words + w] = bits[words + w];
    }
  }
}

/*** frames that count ***/

const hp_frame *hp_matching_frame_of(const hp_matching *s, hp_ref node) { return hp_frame_at(s, hp_frame_of(s, node)); }

uint32_t hp_matching_index_of(const hp_matching *s, hp_ref node) { return hp_frame_of(s, node); }

const hp_frame *hp_matching_frame(const hp_matching *s, uint32_t frame, uint32_t version) {
  return hp_frame_version(s, frame, version);
}

const hp_type_counter *hp_matching_next_type(const hp_matching *s, uint32_t frame, const hp_type_counter *last) {
  if (!s->matcher.set->counts_types) return NULL;
  uint32_t index = last ? last->in_frame : s->frames.first_types[frame];
  return index ? &s->types.counters[index] : NULL;
}

uint32_t hp_matching_adopt_frame(hp_matching *s, const hp_frame *from, const hp_bits *heir) {
  const uint32_t words = s->matcher.words;
  uint32_t index = hp_matching_new_frame(s);
  hp_frame *frame = hp_frame_at(s, index);
  memcpy(frame, from, s->version_size);
  frame->element = 0;
  for (uint32_t w = 0; w < words; w++) frame->bits[words + w] |= heir[w];
  return index;
}

void hp_matching_add_children(hp_matching *s, hp_ref node, const hp_frame *seen) {
  const uint32_t words = s->matcher.words;
  hp_frame *frame = hp_frame_at(s, hp_frame_of(s, node));
  const hp_bits *from = seen->bits + 2 * (size_t)words;
  hp_bits *to = frame->bits + 2 * (size_t)words;
  if (!seen->children) return;
  frame->children += seen->children;
  memcpy(to, from, words * sizeof *to);
  for (uint32_t w = words; w < 2 * words; w++) to[w] |= from[w];
  for (uint32_t i = 0; i < s->matcher.set->counters; i++) to[2 * words + i] += from[2 * words + i];
}

void hp_matching_add_type(hp_matching *s, uint32_t frame, uint64_t type, uint32_t count) {
  *hp_matching_type_counter(s, frame, type) += count;
}

uint32_t hp_matching_frame_with(hp_matching *s, const hp_bits *bits, bool *has_child) {
  const uint32_t words = s->matcher.words;
  hp_bits any = 0, child = 0;
  for (uint32_t w = 0; w < 2 * s->versions * words; w++) {
    if (w / words % 2 == 0) child |= bits[w];
    any |= bits[w];
  }
  *has_child = child != 0;
  if (!any) return 0;
  memmove(hp_next_bits(s), bits, s->versions * hp_bits_size(s));
  const uint32_t versions = hp_next_bits_are_uniform(s) ? 1 : s->versions;
  uint32_t *known = hp_matching_known_frame(s, versions), frame = *known;
  if (frame && hp_frame_has_next_bits(s, frame, versions)) {
    s->frames.next[frame]++;
    return frame;
  }
  frame = hp_matching_new_frame(s);
  hp_frame_take_next_bits(s, frame, versions);
  *known = frame;
  return frame;
}
