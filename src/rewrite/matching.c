#include "rewrite/matching.h"

#include "base/memory.h"
#include "base/process.h"

uint32_t hp_matching_new_frame(hp_matching *s) {
  uint32_t frame = s->frames.free;
  if (frame) {
    s->frames.free = s->frames.next[frame];
  } else {
    frame = s->frames.count;
    if (frame >= s->frames.capacity)
      s->frames.bytes =
          hp_grow_tight_bytes(s->frames.bytes, &s->frames.capacity, (size_t)frame + 1, s->frames.size, s->unwind);
    hp_grow_tight(&s->frames.next, &s->frames.next_capacity, (size_t)frame + 1, s->unwind);
    if (hp_matcher_set(&s->matcher)->counts_types)
      hp_grow_tight(&s->frames.first_types, &s->frames.type_capacity, (size_t)frame + 1, s->unwind);
    s->frames.count++;
  }
  s->frames.next[frame] = 0;
  if (hp_matcher_set(&s->matcher)->counts_types) s->frames.first_types[frame] = 0;
  return frame;
}

void hp_matching_reset_frames(hp_matching *s) {
  s->frames.count = s->frames.free = 0;
  memset(s->frames.known, 0, sizeof s->frames.known);
  s->types.count = 1;
  s->types.free = s->types.used = 0;
  if (s->types.chain_count) memset(s->types.chains, 0, s->types.chain_count * sizeof *s->types.chains);
  for (uint32_t i = HP_ROOT_FRAME; i <= HP_EMPTY_FRAME; i++)
    memset(hp_frame_at(s, hp_matching_new_frame(s)), 0, s->frames.size);
  hp_frame_at(s, HP_ROOT_FRAME)->is_uniform = hp_frame_at(s, HP_EMPTY_FRAME)->is_uniform = true;
  hp_frame_at(s, HP_EMPTY_FRAME)->element = s->outline->plain;
}

/* Sets the size of frames, all of which are free. */
static void set_versions(hp_matching *s, uint32_t versions) {
  const uint32_t words = s->matcher.words;
  const size_t bytes = s->frames.capacity * s->frames.size;
  hp_grow_tight(&s->bits, &s->bits_capacity, (2 + 3 * (size_t)versions) * words, s->unwind);
  s->versions = versions;
  s->matcher.active = s->bits;
  hp_matcher_move_accepting(&s->matcher, s->bits + words);
  s->matcher.matched = hp_matched_in(s, 0);
  s->version_size = hp_frame_size(&s->matcher);
  s->frames.size = versions * s->version_size;
  s->frames.capacity = (uint32_t)(bytes / s->frames.size);
}

void hp_matching_use_versions(hp_matching *s, uint32_t versions, hp_candidate_log *candidate_logs,
                              const hp_unknown_counter *counter) {
  set_versions(s, versions);
  s->candidate_logs = candidate_logs;
  s->counter = *counter;
}

void hp_matching_open(hp_matching *s, const hpar_rules *rules, hp_outline *outline, hp_unwind *unwind) {
  s->rules = rules;
  s->outline = outline;
  s->unwind = unwind;
  s->matcher = rules->matcher;
  set_versions(s, 1);
  memcpy(hp_matcher_accepting(&s->matcher), hp_matcher_accepting(&rules->matcher), s->matcher.words * sizeof *s->bits);
  s->matcher.types.slots = NULL;
  s->matcher.log = NULL;
  s->matcher.document = NULL;
  s->candidate_logs = NULL;
  s->counter = (hp_unknown_counter){0};
  s->holding = 0;
  s->outer = 0;
  s->types.chain_count = 0;
  hp_matching_reset_frames(s);
}

void hp_matching_close(hp_matching *s) {
  hp_free(s->bits);
  hp_free(s->frames.bytes);
  hp_free(s->frames.next);
  hp_free(s->frames.first_types);
  hp_free(s->types.counters);
  hp_free(s->types.chains);
  memset(s, 0, sizeof *s);
}

/*** counters of types ***/

static uint32_t *chain_of(const hp_matching *s, uint32_t frame, uint64_t type) {
  return &s->types.chains[hp_hash_mix(type * HP_NAME_K1 + frame) & (s->types.chain_count - 1)];
}

/* Doubles the number of chains. */
static void grow_chains(hp_matching *s) {
  enum { MIN_CHAINS = 64 };
  uint32_t count = s->types.chain_count ? 2 * s->types.chain_count : MIN_CHAINS;
  hp_grow(&s->types.chains, &s->types.chain_capacity, count, s->unwind);
  s->types.chain_count = count;
  memset(s->types.chains, 0, count * sizeof *s->types.chains);
  for (uint32_t frame = 0; frame < s->frames.count; frame++) {
    for (uint32_t i = s->frames.first_types[frame]; i; i = s->types.counters[i].in_frame) {
      uint32_t *chain = chain_of(s, frame, s->types.counters[i].type);
      s->types.counters[i].next = *chain;
      *chain = i;
    }
  }
}

/* Returns the index of the counter in a chain, or 0. */
static uint32_t find_counter(const hp_matching *s, uint32_t chain, uint32_t frame, uint64_t type) {
  uint32_t i = chain;
  while (i && (s->types.counters[i].frame != frame || s->types.counters[i].type != type)) i = s->types.counters[i].next;
  return i;
}

uint32_t *hp_matching_type_counter(hp_matching *s, uint32_t frame, uint64_t type) {
  if (s->types.used >= s->types.chain_count) grow_chains(s);
  uint32_t *chain = chain_of(s, frame, type);
  uint32_t index = find_counter(s, *chain, frame, type);
  if (index) return &s->types.counters[index].count;
  index = s->types.free;
  if (index) {
    s->types.free = s->types.counters[index].next;
  } else {
    hp_grow(&s->types.counters, &s->types.capacity, (size_t)s->types.count + 1, s->unwind);
    index = s->types.count++;
  }
  s->types.counters[index] = (hp_type_counter){type, frame, 0, *chain, s->frames.first_types[frame]};
  *chain = s->frames.first_types[frame] = index;
  s->types.used++;
  return &s->types.counters[index].count;
}

uint32_t hp_matching_type_count(const hp_matching *s, hp_ref node, uint64_t type) {
  if (!s->types.chain_count) return 0;
  const uint32_t frame = hp_frame_of(s, node);
  const uint32_t index = find_counter(s, *chain_of(s, frame, type), frame, type);
  return index ? s->types.counters[index].count : 0;
}

static void free_counters(hp_matching *s, uint32_t frame) {
  for (uint32_t i = s->frames.first_types[frame], next; i; i = next) {
    uint32_t *link = chain_of(s, frame, s->types.counters[i].type);
    while (*link != i) link = &s->types.counters[*link].next;
    *link = s->types.counters[i].next;
    next = s->types.counters[i].in_frame;
    s->types.counters[i].next = s->types.free;
    s->types.free = i;
    s->types.used--;
  }
  s->frames.first_types[frame] = 0;
}

void hp_matching_free_frame(hp_matching *s, hp_ref node) {
  uint32_t frame = hp_outline_node(s->outline, node)->next;
  if (s->rules->skips_tags && hp_frame_at(s, frame)->element == node) hp_frame_at(s, frame)->element = 0;
  if (s->frames.next[frame]) {
    s->frames.next[frame]--;
    return;
  }
  if (hp_matcher_set(&s->matcher)->counts_types) free_counters(s, frame);
  for (uint32_t i = 0; i < HP_KNOWN_FRAMES; i++)
    if (s->frames.known[i] == frame) s->frames.known[i] = 0;
  s->frames.next[frame] = s->frames.free;
  s->frames.free = frame;
}

/*** matching ***/

/* Matches the element in one version of its parent's frame. */
static bool match_in(hp_matching *s, hp_frame *parent, const hp_subject *subject, uint32_t of_type) {
  if (hp_matcher_set(&s->matcher)->counts_types) parent->of_type = of_type;
  return hp_matcher_match(&s->matcher, parent, subject);
}

static bool accepts_none(const hp_matching *s, const hp_bits *matched) {
  for (uint32_t w = 0; w < s->matcher.words; w++)
    if (matched[w] & hp_matcher_accepting(&s->matcher)[w]) return false;
  return true;
}

static bool accept_the_same(const hp_matching *s, const hp_bits *a, const hp_bits *b) {
  for (uint32_t w = 0; w < s->matcher.words; w++)
    if ((a[w] ^ b[w]) & hp_matcher_accepting(&s->matcher)[w]) return false;
  return true;
}

/* Returns true if the element matches in all versions. Sets `holding` if it matches the same rules
 * in some of them. Gives up if the versions differ in another way. */
static bool compare_versions(hp_matching *s) {
  hp_candidate_log *first = &s->candidate_logs[0];
  const hp_bits *shown = NULL;
  uint32_t holding = 0;
  bool fits = true;
  for (uint32_t v = 0; v < s->versions; v++) {
    const hp_candidate_log *log = &s->candidate_logs[v];
    hp_bits *matched = hp_matched_in(s, v);
    fits &=
        !log->gives_up && log->condition == first->condition && (!log->condition || log->reads_bit == first->reads_bit);
    if (accepts_none(s, matched)) continue;
    if (shown) fits &= accept_the_same(s, shown, matched);
    if (!shown) s->matcher.matched = matched;
    shown = s->matcher.matched;
    holding |= UINT32_C(1) << v;
  }
  const bool is_certain = !holding || holding == (UINT32_C(1) << s->versions) - 1;
  if (!is_certain) s->holding = holding;
  first->gives_up = !fits || (!is_certain && first->condition);
  return holding && is_certain && fits;
}

/* Matches the element in all versions. */
static bool match_versions(hp_matching *s, uint32_t parent, const hp_subject *subject, uint32_t of_type) {
  const bool is_child = s->candidate_logs[0].is_child;
  for (uint32_t v = 0; v < s->versions; v++) {
    hp_candidate_log *log = s->matcher.log = &s->candidate_logs[v];
    s->matcher.matched = hp_matched_in(s, v);
    log->is_child = is_child;
    log->condition = 0;
    log->gives_up = false;
    match_in(s, hp_frame_version(s, parent, v), subject, of_type);
  }
  s->matcher.log = &s->candidate_logs[0];
  s->matcher.matched = hp_matched_in(s, 0);
  /* The counters of a name have versions in the namespace of HTML only. */
  if (is_child && !subject->is_html && s->counter.period && s->counter.slot != HP_SELECT_NONE)
    s->candidate_logs[0].gives_up = true;
  return compare_versions(s);
}

/* Returns true if the last step matched nothing, and the parent's frame has nothing for
 * descendants. */
static inline bool is_frame_empty(const hp_matching *s, uint32_t parent, uint32_t versions) {
  const uint32_t words = s->matcher.words;
  for (uint32_t v = 0; v < versions; v++) {
    const hp_bits *heir = hp_frame_version(s, parent, v)->bits + words, *matched = hp_matched_in(s, v);
    for (uint32_t w = 0; w < words; w++)
      if (matched[w] | heir[w]) return false;
  }
  return true;
}

/* Writes the bits of the frame of the element that the last step was about. Returns false if all
 * are zero. */
static inline bool make_bits(hp_matching *s, uint32_t parent, uint32_t versions) {
  const hp_matcher *m = &s->matcher;
  static const hp_combinator combinators[] = {HP_COMBINATOR_CHILD, HP_COMBINATOR_DESCENDANT};
  hp_bits *made = hp_next_bits(s), any = 0;
  for (uint32_t v = 0; v < versions; v++, made += 2 * (size_t)m->words) {
    const hp_bits *heir = hp_frame_version(s, parent, v)->bits + m->words, *matched = hp_matched_in(s, v);
    hp_bits carry[2] = {0, 0};
    for (uint32_t w = 0; w < m->words; w++) {
      for (uint32_t i = 0; i < 2; i++) {
        hp_bits followed = matched[w] & hp_matcher_followed_by(m, combinators[i])[w];
        any |= made[i * m->words + w] = followed << 1 | carry[i] | (i ? heir[w] : 0);
        carry[i] = followed >> (HP_BITS - 1);
      }
    }
  }
  return any != 0;
}

/* Gives the element a frame, which has child bits or not. */
static inline void use_frame(hp_matching *s, uint32_t index, hp_ref ref, bool has_child) {
  hp_frame *frame = hp_frame_at(s, index);
  hp_node *node = hp_outline_node(s->outline, ref);
  node->next = index;
  node->last = has_child ? 0 : ref;
  if (frame->element && hp_outline_may_share(s->outline, frame->element))
    hp_outline_set_twin(s->outline, frame->element);
  else
    frame->element = ref;
}

/* Gives the element its frame. Elements with equal frames share it. */
static inline __attribute__((always_inline)) void set_frame(hp_matching *s, uint32_t parent, hp_ref ref,
                                                            uint32_t versions) {
  const uint32_t index = hp_matching_share_frame(s, parent, versions);
  bool has_child = false;
  for (uint32_t v = 0; v < versions; v++)
    for (uint32_t w = 0; w < s->matcher.words; w++)
      if (hp_frame_version(s, index, v)->bits[w]) has_child = true;
  use_frame(s, index, ref, has_child);
}

/* Returns true if the last step was about the first version of a uniform frame. */
static inline bool is_step_uniform(const hp_matching *s, uint32_t parent) {
  return s->versions == 1 || (hp_frame_at(s, parent)->is_uniform && !s->candidate_logs[0].is_child);
}

/* Returns true if the element matched nothing, and its frame is that of its parent. */
static bool inherits_frame(const hp_matching *s, uint32_t parent) {
  if (parent <= HP_EMPTY_FRAME) return false;
  for (uint32_t v = 0; v < s->versions; v++) {
    const hp_bits *child = hp_frame_version(s, parent, v)->bits, *matched = hp_matched_in(s, v);
    for (uint32_t w = 0; w < s->matcher.words; w++)
      if (matched[w] | child[w]) return false;
  }
  return true;
}

static __attribute__((noinline)) void set_all_versions(hp_matching *s, uint32_t parent, hp_ref ref) {
  if (inherits_frame(s, parent)) {
    s->frames.next[parent]++;
    use_frame(s, parent, ref, false);
    return;
  }
  if (is_frame_empty(s, parent, s->versions) || !make_bits(s, parent, s->versions)) return;
  set_frame(s, parent, ref, hp_next_bits_are_uniform(s) ? 1 : s->versions);
}

static inline void set_versions_of(hp_matching *s, uint32_t parent, hp_ref ref) {
  if (!is_step_uniform(s, parent))
    set_all_versions(s, parent, ref);
  else if (!is_frame_empty(s, parent, 1) && make_bits(s, parent, 1))
    set_frame(s, parent, ref, 1);
}

/* Opens a version of a frame that counts children. */
static void open_version(hp_matching *s, uint32_t frame, uint32_t parent, uint32_t above, uint32_t version,
                         const hp_subject *subject) {
  hp_frame *to = (hp_frame *)(void *)((char *)hp_frame_at(s, frame) + version * s->version_size);
  s->matcher.matched = hp_matched_in(s, version);
  hp_frame_open(&s->matcher, to, hp_frame_version(s, parent, version),
                parent ? hp_frame_version(s, above, version) : NULL, subject);
}

/* Returns true if the versions of a new frame are equal. */
static bool is_new_frame_uniform(const hp_matching *s, uint32_t frame) {
  for (uint32_t v = 1; v < s->versions; v++)
    if (memcmp(hp_frame_at(s, frame)->bits, hp_frame_version(s, frame, v)->bits, hp_bits_size(s)) != 0) return false;
  return true;
}

/* Opens all versions of a frame that counts children. */
static __attribute__((noinline)) void open_versions(hp_matching *s, uint32_t frame, uint32_t parent, uint32_t above,
                                                    const hp_subject *subject) {
  hp_bits *const matched = s->matcher.matched;
  const uint32_t versions = is_step_uniform(s, parent) ? 1 : s->versions;
  for (uint32_t v = 0; v < versions; v++) open_version(s, frame, parent, above, v, subject);
  s->matcher.matched = matched;
  hp_frame_at(s, frame)->is_uniform = false;
  hp_frame_at(s, frame)->is_uniform = versions == 1 || is_new_frame_uniform(s, frame);
}

/* Makes a frame that counts children. */
static void open_frame(hp_matching *s, uint32_t parent, const hp_outline_insertion *insertion,
                       const hp_subject *subject) {
  const uint32_t frame = hp_matching_new_frame(s);
  const uint32_t above = hp_frame_of(s, hp_outline_node(s->outline, insertion->parent)->parent);
  hp_node *node = hp_outline_node(s->outline, insertion->node);
  if (s->versions == 1)
    hp_frame_open(&s->matcher, hp_frame_at(s, frame), hp_frame_at(s, parent), parent ? hp_frame_at(s, above) : NULL,
                  subject);
  else
    open_versions(s, frame, parent, above, subject);
  node->next = frame;
  node->last = 0;
}

/* Prepares the candidate log of a worker for an element. */
static void reset_candidate_log(hp_matching *s, hp_ref parent) {
  s->matcher.log->is_child = s->outer && parent == s->outer;
  s->matcher.log->condition = 0;
  s->matcher.log->gives_up = false;
  s->matcher.matched = hp_matched_in(s, 0);
  s->holding = 0;
}

bool hp_matching_insert(hp_matching *s, const hp_outline_insertion *insertion, const hp_attributes *attributes) {
  uint32_t parent = s->rules->needs_frames ? hp_frame_of(s, insertion->parent) : 0;
  const hp_node *node = hp_outline_node(s->outline, insertion->node);
  const hp_subject subject = {node, insertion->node, node->ns == HPAR_NAMESPACE_HTML, attributes};
  const bool counts = hp_matcher_set(&s->matcher)->counts_types;
  const uint64_t type = hp_matching_type_of(node->ns, node->name);
  uint32_t of_type = counts ? ++*hp_matching_type_counter(s, parent, type) : 0;
  s->matcher.base = (const char *)s->outline->slots;
  if (s->matcher.log) reset_candidate_log(s, insertion->parent);
  bool accepts = is_step_uniform(s, parent) ? match_in(s, hp_frame_at(s, parent), &subject, of_type)
                                            : match_versions(s, parent, &subject, of_type);
  if (!s->rules->needs_frames || !insertion->is_open) return accepts;
  if (s->rules->skips_tags)
    set_versions_of(s, parent, insertion->node);
  else
    open_frame(s, parent, insertion, &subject);
  return accepts;
}

uint32_t hp_matching_remember(const hp_matching *s, const hp_outline_insertion *insertion, hp_bytes *frame) {
  const hp_node *node = hp_outline_node(s->outline, insertion->node);
  const uint32_t parent = s->rules->needs_frames ? hp_frame_of(s, insertion->parent) : HP_ROOT_FRAME;
  frame->length = 0;
  memcpy(hp_bytes_extend(frame, s->version_size, s->unwind), hp_frame_at(s, parent), s->version_size);
  if (!hp_matcher_set(&s->matcher)->counts_types) return 0;
  return 1 + hp_matching_type_count(s, insertion->parent, hp_matching_type_of(node->ns, node->name));
}

bool hp_matching_match_again(hp_matching *s, hp_atom name, hp_frame *frame, uint32_t of_type,
                             const hp_attributes *attributes) {
  const hp_node node = {.kind = HPAR_NODE_ELEMENT, .ns = HPAR_NAMESPACE_HTML, .name = name};
  const hp_subject subject = {&node, 0, true, attributes};
  s->matcher.base = (const char *)s->outline->slots;
  s->matcher.matched = hp_matched_in(s, 0);
  return match_in(s, frame, &subject, of_type);
}

void hp_matching_retire(hp_matching *s, uint32_t rule) {
  const hpar_selectors *set = hp_matcher_set(&s->matcher);
  for (uint32_t i = 0; i < set->instructions_count; i++) {
    uint32_t selector = set->instructions[i].selector;
    if (selector != HP_SELECT_NONE && s->rules->of_selector[selector] == rule)
      hp_matcher_accepting(&s->matcher)[i / HP_BITS] &= ~((hp_bits)1 << (i % HP_BITS));
  }
}

size_t hp_matching_memory(const hp_matching *s) {
  return s->frames.capacity * s->frames.size + (s->frames.next_capacity + s->frames.type_capacity) * sizeof(uint32_t) +
         s->types.capacity * sizeof *s->types.counters + s->bits_capacity * sizeof *s->bits +
         s->types.chain_capacity * sizeof *s->types.chains;
}
