#include "rewrite/matching.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vector.h"

static inline hp_frame *frame_at(const hp_matching *s, uint32_t frame) {
  return (hp_frame *)(void *)(s->frames + frame * s->frame_size);
}

static uint32_t new_frame(hp_matching *s) {
  uint32_t frame = s->free_frame;
  if (frame) {
    s->free_frame = s->frame_next[frame];
  } else {
    frame = s->frame_count;
    if (frame >= s->frame_capacity)
      s->frames = hp_grow_tight_bytes(s->frames, &s->frame_capacity, (size_t)frame + 1, s->frame_size, s->unwind);
    hp_grow_tight(&s->frame_next, &s->next_capacity, (size_t)frame + 1, s->unwind);
    if (s->matcher.set->counts_types) hp_grow_tight(&s->first_types, &s->type_capacity, (size_t)frame + 1, s->unwind);
    s->frame_count++;
  }
  s->frame_next[frame] = 0;
  if (s->matcher.set->counts_types) s->first_types[frame] = 0;
  return frame;
}

/* Makes the frames that stand for no particular element. */
static void reset_frames(hp_matching *s) {
  s->frame_count = s->free_frame = 0;
  memset(s->known, 0, sizeof s->known);
  for (uint32_t i = HP_ROOT_FRAME; i <= HP_EMPTY_FRAME; i++) hp_frame_open_root(&s->matcher, frame_at(s, new_frame(s)));
  frame_at(s, HP_EMPTY_FRAME)->element = s->shadow->plain;
}

void hp_matching_open(hp_matching *s, const hpar_rules *rules, hp_shadow *shadow, hp_unwind *unwind) {
  hp_bits *bits = s->bits;
  s->rules = rules;
  s->shadow = shadow;
  s->unwind = unwind;
  uint32_t words = rules->matcher.words;
  hp_grow_tight(&s->bits, &s->bits_capacity, 5 * (size_t)words, unwind);
  bits = s->bits;
  s->matcher = rules->matcher;
  s->matcher.matched = bits;
  s->matcher.active = bits + words;
  s->matcher.accepts = bits + 2 * (size_t)words;
  memcpy(s->matcher.accepts, rules->matcher.accepts, words * sizeof *bits);
  s->matcher.types = NULL;
  s->matcher.watch = NULL;
  s->matcher.document = NULL;
  size_t size = hp_frame_size(&s->matcher);
  s->outer = 0;
  if (size != s->frame_size) {
    hp_free(s->frames);
    s->frames = NULL;
    s->frame_capacity = 0;
  }
  s->frame_size = size;
  s->counter_count = 1;
  s->free_counter = 0;
  s->counters_used = s->chain_count = 0;
  reset_frames(s);
}

void hp_matching_close(hp_matching *s) {
  hp_free(s->bits);
  hp_free(s->frames);
  hp_free(s->frame_next);
  hp_free(s->first_types);
  hp_free(s->counters);
  hp_free(s->chains);
  memset(s, 0, sizeof *s);
}

/*** counters of types ***/

static uint32_t *chain_of(hp_matching *s, uint32_t frame, uint64_t type) {
  return &s->chains[hp_hash_mix(type * HP_NAME_K1 + frame) & (s->chain_count - 1)];
}

/* Doubles the number of chains. */
static void grow_chains(hp_matching *s) {
  enum { MIN_CHAINS = 64 };
  uint32_t count = s->chain_count ? 2 * s->chain_count : MIN_CHAINS;
  hp_grow(&s->chains, &s->chain_capacity, count, s->unwind);
  s->chain_count = count;
  memset(s->chains, 0, count * sizeof *s->chains);
  for (uint32_t frame = 0; frame < s->frame_count; frame++) {
    for (uint32_t i = s->first_types[frame]; i; i = s->counters[i].in_frame) {
      uint32_t *chain = chain_of(s, frame, s->counters[i].type);
      s->counters[i].next = *chain;
      *chain = i;
    }
  }
}

/* Returns the counter of a type, which is new with 0. */
static uint32_t *count_type_of(hp_matching *s, uint32_t frame, uint64_t type) {
  if (s->counters_used >= s->chain_count) grow_chains(s);
  uint32_t *chain = chain_of(s, frame, type);
  for (uint32_t i = *chain; i; i = s->counters[i].next)
    if (s->counters[i].frame == frame && s->counters[i].type == type) return &s->counters[i].count;
  uint32_t index = s->free_counter;
  if (index) {
    s->free_counter = s->counters[index].next;
  } else {
    hp_grow(&s->counters, &s->counter_capacity, (size_t)s->counter_count + 1, s->unwind);
    index = s->counter_count++;
  }
  s->counters[index] = (hp_type_counter){type, frame, 0, *chain, s->first_types[frame]};
  *chain = s->first_types[frame] = index;
  s->counters_used++;
  return &s->counters[index].count;
}

static uint32_t count_type(hp_matching *s, uint32_t frame, const hp_node *node) {
  return ++*count_type_of(s, frame, hp_matching_type_of(node->ns, node->name));
}

static void free_counters(hp_matching *s, uint32_t frame) {
  for (uint32_t i = s->first_types[frame], next; i; i = next) {
    uint32_t *link = chain_of(s, frame, s->counters[i].type);
    while (*link != i) link = &s->counters[*link].next;
    *link = s->counters[i].next;
    next = s->counters[i].in_frame;
    s->counters[i].next = s->free_counter;
    s->free_counter = i;
    s->counters_used--;
  }
  s->first_types[frame] = 0;
}

void hp_matching_free_frame(hp_matching *s, hp_ref node) {
  uint32_t frame = hp_shadow_node(s->shadow, node)->next;
  if (s->rules->skips_tags && frame_at(s, frame)->element == node) frame_at(s, frame)->element = 0;
  if (s->frame_next[frame]) {
    s->frame_next[frame]--;
    return;
  }
  if (s->matcher.set->counts_types) free_counters(s, frame);
  for (uint32_t i = 0; i < HP_KNOWN_FRAMES; i++)
    if (s->known[i] == frame) s->known[i] = 0;
  s->frame_next[frame] = s->free_frame;
  s->free_frame = frame;
}

/*** matching ***/

static inline uint32_t frame_of(const hp_matching *s, hp_ref node) {
  if (!node || node == s->shadow->root) return HP_ROOT_FRAME;
  uint32_t frame = hp_shadow_node(s->shadow, node)->next;
  return frame ? frame : HP_EMPTY_FRAME;
}

/* The state of a parent between its last child before a table and the table. */
static bool match_in(hp_matching *s, uint32_t frame, const hp_shadow_insertion *insertion,
                     const hp_attributes *attributes) {
  const hp_node *node = hp_shadow_node(s->shadow, insertion->node);
  hp_subject subject = {node, insertion->node, node->ns == HPAR_NAMESPACE_HTML, attributes};
  hp_frame *parent = frame_at(s, frame);
  s->matcher.base = (const char *)s->shadow->slots;
  if (s->matcher.set->counts_types) parent->of_type = count_type(s, frame, node);
  return hp_matcher_match(&s->matcher, parent, &subject);
}

/* Returns the bits of the next frame: those of child, then those of heir. */
static hp_bits *next_bits(const hp_matching *s) { return s->bits + 3 * (size_t)s->matcher.words; }

/* Returns true if the last step matched nothing, and the parent's frame has nothing for
 * descendants. */
static bool is_frame_empty(const hp_matching *s, uint32_t parent) {
  const hp_matcher *m = &s->matcher;
  const hp_bits *heir = frame_at(s, parent)->bits + m->words;
  for (uint32_t w = 0; w < m->words; w++)
    if (m->matched[w] | heir[w]) return false;
  return true;
}

/* Writes the bits of the frame of the element that the last step was about. Returns false if all
 * are zero. */
static bool make_bits(hp_matching *s, uint32_t parent) {
  const hp_matcher *m = &s->matcher;
  const hp_bits *heir = frame_at(s, parent)->bits + m->words;
  hp_bits *made = next_bits(s), carry[2] = {0, 0}, any = 0;
  static const hp_combinator combinators[] = {HP_COMBINATOR_CHILD, HP_COMBINATOR_DESCENDANT};
  for (uint32_t w = 0; w < m->words; w++) {
    for (uint32_t i = 0; i < 2; i++) {
      hp_bits followed = m->matched[w] & m->by_combinator[combinators[i]][w];
      any |= made[i * m->words + w] = followed << 1 | carry[i] | (i ? heir[w] : 0);
      carry[i] = followed >> (HP_BITS - 1);
    }
  }
  return any != 0;
}

static bool has_bits(const hp_matching *s, uint32_t frame) {
  return !memcmp(frame_at(s, frame)->bits, next_bits(s), 2 * (size_t)s->matcher.words * sizeof(hp_bits));
}

static uint32_t *known_frame(hp_matching *s) {
  uint64_t hash = 0;
  for (uint32_t w = 0; w < 2 * s->matcher.words; w++) hash = (hash ^ next_bits(s)[w]) * HP_NAME_K1;
  return &s->known[hash >> 61];
}

/* Returns a frame with the bits. */
static uint32_t find_frame(hp_matching *s, uint32_t parent) {
  if (parent > HP_EMPTY_FRAME && has_bits(s, parent)) return parent;
  uint32_t *known = known_frame(s);
  if (*known && has_bits(s, *known)) return *known;
  return 0;
}

/* Gives the element its frame. Elements with equal frames share it. */
static void set_frame(hp_matching *s, uint32_t parent, hp_ref ref) {
  if (is_frame_empty(s, parent) || !make_bits(s, parent)) return;
  const uint32_t words = s->matcher.words;
  uint32_t found = find_frame(s, parent), index = found ? found : new_frame(s);
  hp_frame *frame = frame_at(s, index);
  if (found) {
    s->frame_next[index]++;
  } else {
    memset(frame, 0, s->frame_size);
    memcpy(frame->bits, next_bits(s), 2 * (size_t)words * sizeof(hp_bits));
    *known_frame(s) = index;
  }
  hp_node *node = hp_shadow_node(s->shadow, ref);
  node->next = index;
  node->last = true;
  for (uint32_t w = 0; w < words; w++)
    if (frame->bits[w]) node->last = false;
  if (frame->element && hp_shadow_may_share(s->shadow, frame->element))
    s->shadow->twin = frame->element;
  else
    frame->element = ref;
}

/* Makes a frame that counts children. */
static void open_frame(hp_matching *s, uint32_t parent, const hp_shadow_insertion *insertion,
                       const hp_attributes *attributes) {
  uint32_t frame = new_frame(s);
  hp_node *node = hp_shadow_node(s->shadow, insertion->node);
  hp_subject subject = {node, insertion->node, node->ns == HPAR_NAMESPACE_HTML, attributes};
  uint32_t above = frame_of(s, hp_shadow_node(s->shadow, insertion->parent)->parent);
  hp_frame_open(&s->matcher, frame_at(s, frame), frame_at(s, parent), parent ? frame_at(s, above) : NULL, &subject);
  node->next = frame;
  node->last = false;
}

bool hp_matching_insert(hp_matching *s, const hp_shadow_insertion *insertion, const hp_attributes *attributes) {
  uint32_t parent = s->rules->needs_frames ? frame_of(s, insertion->parent) : 0;
  if (s->matcher.watch) {
    s->matcher.watch->is_child = s->outer && insertion->parent == s->outer;
    s->matcher.watch->condition = 0;
    s->matcher.watch->gives_up = false;
  }
  bool accepts = match_in(s, parent, insertion, attributes);
  if (!s->rules->needs_frames || !insertion->is_open) return accepts;
  if (s->rules->skips_tags)
    set_frame(s, parent, insertion->node);
  else
    open_frame(s, parent, insertion, attributes);
  return accepts;
}

/*** frames of other rewriters ***/

/* Writes the instructions that follow another one with the combinator. */
static void find_successors(const hp_matching *s, hp_combinator combinator, hp_bits *bits) {
  const hp_matcher *m = &s->matcher;
  hp_bits carry = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits before = m->by_combinator[combinator][w];
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
  s->counter_count = 1;
  s->free_counter = s->counters_used = 0;
  if (s->chain_count) memset(s->chains, 0, s->chain_count * sizeof *s->chains);
}

/* Makes the frame of the outer current node in a set of selectors that counts elements. `next` and
 * `later` are the instructions after these combinators. */
static uint32_t make_outer_frame(hp_matching *s, const hp_bits *bits, const hp_bits *next) {
  const uint32_t words = s->matcher.words;
  uint32_t index = new_frame(s);
  hp_frame *frame = frame_at(s, index);
  memset(frame, 0, s->frame_size);
  hp_bits *to = frame->bits, *later = to + 3 * (size_t)words;
  find_successors(s, HP_COMBINATOR_LATER, later);
  for (uint32_t w = 0; w < words; w++) {
    to[w] = bits[w] & ~next[w] & ~later[w];
    to[words + w] = bits[words + w];
    to[2 * words + w] = bits[w] & next[w];
    later[w] &= bits[w];
  }
  return index;
}

void hp_matching_begin_segment(hp_matching *s, hp_ref outer, const hp_bits *bits) {
  reset_frames(s);
  reset_counters(s);
  s->outer = outer;
  uint32_t frame;
  bool has_child = true;
  if (s->rules->skips_tags)
    frame = hp_matching_frame_with(s, bits, &has_child);
  else
    frame = make_outer_frame(s, bits, s->matcher.watch->after_next);
  hp_node *node = hp_shadow_node(s->shadow, outer);
  node->next = frame;
  node->last = !has_child;
}

const hp_bits *hp_matching_bits_of(const hp_matching *s, hp_ref node) { return frame_at(s, frame_of(s, node))->bits; }

void hp_matching_outer_bits(const hp_matching *s, hp_ref node, hp_bits *to) {
  const uint32_t words = s->matcher.words;
  const hp_bits *bits = hp_matching_bits_of(s, node);
  for (uint32_t w = 0; w < words; w++) {
    to[w] = bits[w] | bits[2 * words + w] | bits[3 * words + w];
    to[words + w] = bits[words + w];
  }
}

/*** frames that count ***/

const hp_frame *hp_matching_frame_of(const hp_matching *s, hp_ref node) { return frame_at(s, frame_of(s, node)); }

uint32_t hp_matching_index_of(const hp_matching *s, hp_ref node) { return frame_of(s, node); }

const hp_frame *hp_matching_frame(const hp_matching *s, uint32_t frame) { return frame_at(s, frame); }

const hp_type_counter *hp_matching_next_type(const hp_matching *s, uint32_t frame, const hp_type_counter *last) {
  if (!s->matcher.set->counts_types) return NULL;
  uint32_t index = last ? last->in_frame : s->first_types[frame];
  return index ? &s->counters[index] : NULL;
}

uint32_t hp_matching_type_count(const hp_matching *s, hp_ref node, uint64_t type) {
  const uint32_t frame = frame_of(s, node);
  for (const hp_type_counter *c = NULL; (c = hp_matching_next_type(s, frame, c));)
    if (c->type == type) return c->count;
  return 0;
}

uint32_t hp_matching_adopt_frame(hp_matching *s, const hp_frame *from, const hp_bits *heir) {
  const uint32_t words = s->matcher.words;
  uint32_t index = new_frame(s);
  hp_frame *frame = frame_at(s, index);
  memcpy(frame, from, s->frame_size);
  frame->element = 0;
  for (uint32_t w = 0; w < words; w++) frame->bits[words + w] |= heir[w];
  return index;
}

void hp_matching_add_children(hp_matching *s, hp_ref node, const hp_frame *seen) {
  const uint32_t words = s->matcher.words;
  hp_frame *frame = frame_at(s, frame_of(s, node));
  const hp_bits *from = seen->bits + 2 * (size_t)words;
  hp_bits *to = frame->bits + 2 * (size_t)words;
  if (!seen->children) return;
  frame->children += seen->children;
  memcpy(to, from, words * sizeof *to);
  for (uint32_t w = words; w < 2 * words; w++) to[w] |= from[w];
  for (uint32_t i = 0; i < s->matcher.set->counters; i++) to[2 * words + i] += from[2 * words + i];
}

void hp_matching_add_type(hp_matching *s, uint32_t frame, uint64_t type, uint32_t count) {
  *count_type_of(s, frame, type) += count;
}

uint32_t hp_matching_frame_with(hp_matching *s, const hp_bits *bits, bool *has_child) {
  const uint32_t words = s->matcher.words;
  hp_bits any = 0, child = 0;
  for (uint32_t w = 0; w < words; w++) {
    child |= bits[w];
    any |= bits[w] | bits[words + w];
  }
  *has_child = child != 0;
  if (!any) return 0;
  memcpy(next_bits(s), bits, 2 * (size_t)words * sizeof *bits);
  uint32_t *known = known_frame(s), frame = *known;
  if (frame && has_bits(s, frame)) {
    s->frame_next[frame]++;
    return frame;
  }
  frame = new_frame(s);
  memset(frame_at(s, frame), 0, s->frame_size);
  memcpy(frame_at(s, frame)->bits, next_bits(s), 2 * (size_t)words * sizeof *bits);
  *known = frame;
  return frame;
}

void hp_matching_retire(hp_matching *s, uint32_t rule) {
  const hpar_selectors *set = s->matcher.set;
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    uint32_t selector = set->instructions[i].selector;
    if (selector != HP_SELECT_NONE && s->rules->of_selector[selector] == rule)
      s->matcher.accepts[i / HP_BITS] &= ~((hp_bits)1 << (i % HP_BITS));
  }
}

size_t hp_matching_memory(const hp_matching *s) {
  return s->frame_capacity * s->frame_size + (s->next_capacity + s->type_capacity) * sizeof(uint32_t) +
         s->counter_capacity * sizeof *s->counters + s->bits_capacity * sizeof *s->bits +
         s->chain_capacity * sizeof *s->chains;
}
