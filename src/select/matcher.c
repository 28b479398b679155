/* Steps through elements: candidates, frames, counters, and the instructions that match. */

#include "base/memory.h"
#include "select/match.h"

static const char *text_at(const hp_matcher *m, uint32_t place) { return m->set->text + place; }

static uint32_t find_row(const hp_row_table *table, uint64_t key) {
  for (uint32_t slot = hp_row_slot(table, key);; slot = (slot + 1) & table->mask) {
    if (table->slots[slot].key == key) return table->slots[slot].row;
    if (!table->slots[slot].key) return 0;
  }
}

uint32_t hp_unknown_tag_row(const hp_matcher *m, hp_atom name) {
  return m->index.tags.slots ? find_row(&m->index.tags, hp_atom_hash(name)) : 0;
}

static inline void add_row(const hp_matcher *m, hp_bits *candidates, uint32_t row) {
  if (!row) return;
  const hp_bits *bits = m->index.rows + (size_t)row * m->words;
  for (uint32_t w = 0; w < m->words; w++) candidates[w] |= bits[w];
}

static bool only_class_holds(const hp_matcher *m, hpar_string value) {
  const hp_row_table *table = &m->index.classes;
  return hp_has_word(value.bytes, value.length, text_at(m, table->text), table->length, m->is_quirky);
}

static bool only_id_holds(const hp_matcher *m, hpar_string value) {
  const hp_row_table *table = &m->index.ids;
  return value.length == table->length &&
         hp_equal_bytes(value.bytes, text_at(m, table->text), value.length, m->is_quirky);
}

bool hp_only_value_holds(const hp_matcher *m, const hp_attributes *attributes, const hp_attribute *item) {
  hpar_string value = hp_attribute_value(m->document, attributes, item);
  return m->index.ids.slots ? only_id_holds(m, value) : only_class_holds(m, value);
}

static void add_classes(const hp_matcher *m, hp_bits *candidates, hpar_string value) {
  const hp_row_table *table = &m->index.classes;
  if (table->key_count == 1) {
    if (only_class_holds(m, value)) add_row(m, candidates, table->only_row);
    return;
  }
  for (const char *at = value.bytes, *end = at + value.length; at < end;) {
    while (at < end && hp_ascii_is_white(*at)) at++;
    const char *from = at;
    while (at < end && !hp_ascii_is_white(*at)) at++;
    if (at > from) add_row(m, candidates, find_row(table, hp_word_hash(from, (size_t)(at - from))));
  }
}

static void add_id(const hp_matcher *m, hp_bits *candidates, hpar_string value) {
  const hp_row_table *table = &m->index.ids;
  if (table->key_count != 1)
    add_row(m, candidates, find_row(table, hp_word_hash(value.bytes, value.length)));
  else if (only_id_holds(m, value))
    add_row(m, candidates, table->only_row);
}

void hp_add_attribute_candidates(const hp_matcher *m, hp_bits *candidates, const hp_attributes *attributes) {
  const hp_row_table *table = &m->index.attributes;
  for (uint32_t i = 0; i < attributes->count; i++) {
    const hp_attribute *item = &attributes->items[i];
    if (item->name == HP_ATOM_CLASS && m->index.classes.slots)
      add_classes(m, candidates, hp_attribute_value(m->document, attributes, item));
    if (item->name == HP_ATOM_ID && m->index.ids.slots)
      add_id(m, candidates, hp_attribute_value(m->document, attributes, item));
    if (!table->slots) continue;
    if (table->key_count != 1)
      add_row(m, candidates, find_row(table, hp_atom_hash(item->name)));
    else if (item->name == table->atom)
      add_row(m, candidates, table->only_row);
  }
}

/* Writes the instructions that the keys of the element allow. */
static void find_candidates(const hp_matcher *m, hp_bits *candidates, const hp_subject *s) {
  for (uint32_t w = 0; w < m->words; w++) candidates[w] = m->sets.universal[w];
  add_row(m, candidates, hp_tag_row(m, s->node->name));
  if (s->attributes && m->index.reads_attributes) hp_add_attribute_candidates(m, candidates, s->attributes);
}

void hp_matcher_find_candidates(hp_matcher *m, const hp_subject *s) { find_candidates(m, m->active, s); }

static bool grow_types(hp_matcher *m) {
  uint32_t slots = m->types.slots ? 2 * (m->types.mask + 1) : 256;
  struct hp_type_count *types = hp_allocate_zeroed(slots * sizeof *types);
  if (!types) return false;
  for (uint32_t i = 0; m->types.slots && i <= m->types.mask; i++) {
    if (!m->types.slots[i].key) continue;
    uint32_t slot = (uint32_t)(m->types.slots[i].key * HP_NAME_K1 >> 32) & (slots - 1);
    while (types[slot].key) slot = (slot + 1) & (slots - 1);
    types[slot] = m->types.slots[i];
  }
  hp_free(m->types.slots);
  m->types.slots = types;
  m->types.mask = slots - 1;
  return true;
}

uint32_t hp_matcher_count_type(hp_matcher *m, hp_ref parent, const hp_subject *s) {
  if (!m->types.slots || 2 * m->types.count > m->types.mask)
    if (!grow_types(m)) return 0;
  uint64_t key = (uint64_t)parent << 32 | (uint64_t)s->node->ns << 29 | s->node->name;
  uint32_t slot = (uint32_t)(key * HP_NAME_K1 >> 32) & m->types.mask;
  while (m->types.slots[slot].key && m->types.slots[slot].key != key) slot = (slot + 1) & m->types.mask;
  if (!m->types.slots[slot].key) {
    m->types.slots[slot].key = key;
    m->types.count++;
  }
  return ++m->types.slots[slot].count;
}

void hp_matcher_forget_types(hp_matcher *m) {
  if (m->types.slots) memset(m->types.slots, 0, ((size_t)m->types.mask + 1) * sizeof *m->types.slots);
  m->types.count = 0;
}

size_t hp_frame_size(const hp_matcher *m) {
  size_t languages = (m->set->languages + HP_BITS - 1) / HP_BITS;
  return sizeof(hp_frame) + (4 * (size_t)m->words + m->set->counters + languages) * sizeof(hp_bits);
}

void hp_frame_open_root(const hp_matcher *m, hp_frame *frame) { memset(frame, 0, hp_frame_size(m)); }

/* Writes to `to` the successors of the matched instructions that this combinator follows. */
static void add_successors(const hp_matcher *m, hp_combinator combinator, hp_bits *to) {
  hp_bits carry = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits bits = m->matched[w] & m->sets.by_combinator[combinator][w];
    to[w] |= bits << 1 | carry;
    carry = bits >> (HP_BITS - 1);
  }
}

/* A first legend child of a disabled fieldset does not disable what it holds.
 * Source: HTML, "Enabling and disabling form controls". */
static bool disables(const hp_frame *parent, const hp_frame *above, const hp_subject *s, bool is_first_legend) {
  if (is_first_legend && above) return above->is_disabled;
  if (parent->is_disabled) return true;
  if (!s->is_html || s->node->name != HP_ATOM_FIELDSET) return false;
  return hp_find_attribute(s->attributes, HP_ATOM_DISABLED) != NULL;
}

static bool is_legend_of_fieldset(const hp_matcher *m, const hp_frame *parent, const hp_subject *s) {
  if (!s->is_html || s->node->name != HP_ATOM_LEGEND || !parent->element) return false;
  const hp_node *node = hp_node_at(m->base, parent->element);
  return node->ns == HPAR_NAMESPACE_HTML && node->name == HP_ATOM_FIELDSET;
}

void hp_frame_open(const hp_matcher *m, hp_frame *frame, const hp_frame *parent, const hp_frame *above,
                   const hp_subject *s) {
  uint32_t words = m->words;
  frame->element = s->ref;
  frame->children = frame->of_type = 0;
  frame->has_legend = false;
  if (m->set->languages) hp_find_languages(m, frame, parent, s);
  frame->is_disabled = m->set->looks_at_forms &&
                       disables(parent, above, s, is_legend_of_fieldset(m, parent, s) && parent->last_is_first_legend);
  for (uint32_t i = 0; i < 4 * words + m->set->counters; i++) frame->bits[i] = 0;
  hp_bits *child = frame->bits, *heir = child + words;
  for (uint32_t w = 0; w < words; w++) heir[w] = parent->bits[words + w];
  add_successors(m, HP_COMBINATOR_CHILD, child);
  add_successors(m, HP_COMBINATOR_DESCENDANT, heir);
}

bool hp_matcher_test(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_bits accepted = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    m->matched[w] = m->active[w] & m->sets.sure[w];
    for (hp_bits left = m->active[w] & ~m->sets.sure[w]; left; left &= left - 1) {
      uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(left);
      const hp_instruction *instruction = &m->set->instructions[i];
      const hp_atom only = m->sets.only_attribute[i];
      if (only ? !hp_find_attribute(s->attributes, only) : !hp_compound_holds(m, instruction->compound, s, parent))
        continue;
      hp_set_bit(m->matched, i);
      if (instruction->slot == HP_SELECT_NONE) continue;
      uint32_t slot = instruction->slot + (instruction->counts_by_namespace ? hp_namespace_index(s) : 0);
      parent->bits[4 * m->words + slot]++;
    }
    accepted |= hp_accepted(m, w);
  }
  return accepted != 0;
}

static __attribute__((noinline)) void note_candidates(const hp_matcher *m, const hp_frame *parent) {
  hp_candidate_watch *watch = m->watch;
  const uint32_t words = m->words;
  const hp_bits *child = parent->bits, *next = child + 2 * (size_t)words, *later = next + words;
  for (uint32_t w = 0; w < words; w++) {
    hp_bits candidates = m->active[w] & ~m->sets.entries[w], near = candidates & watch->after_near[w];
    if (watch->heir) watch->heir[w] |= candidates & watch->after_heir[w];
    if (!watch->is_child) {
      watch->learned[w] = (watch->learned[w] & ~near) | ((child[w] | next[w] | later[w]) & near);
      continue;
    }
    if (watch->own_later)
      near &= ~(watch->own_later[w] | (parent->children > 1 + watch->earlier ? watch->after_next[w] : 0));
    watch->unknown[w] = near;
  }
}

/* Does the same for a set of one word that looks at no siblings. The parent has known bits. */
static inline void note_word(hp_candidate_watch *watch, hp_bits candidates, hp_bits child) {
  const hp_bits near = candidates & *watch->after_near;
  if (watch->heir) *watch->heir |= candidates & *watch->after_heir;
  *watch->learned = (*watch->learned & ~near) | (child & near);
}

/* Keeps the candidates that the frame activates, or that `unknown` has. It may be NULL. */
static void keep_active(hp_matcher *m, const hp_frame *parent, const hp_bits *unknown) {
  const uint32_t words = m->words;
  const hp_bits *bits = parent->bits;
  for (uint32_t w = 0; w < words; w++)
    m->active[w] &= m->sets.entries[w] | bits[w] | bits[words + w] | bits[2 * words + w] | bits[3 * words + w] |
                    (unknown ? unknown[w] : 0);
}

/* Tests the active instructions as hp_matcher_test, without counting. Those of `unknown`, and those
 * that depend on the number of earlier children, go to `maybe`. `unknown` may be NULL. Returns the
 * number of instructions in `maybe`. */
static uint32_t test_unknown(hp_matcher *m, const hp_frame *parent, const hp_subject *s, const hp_bits *unknown) {
  hp_bits *maybe = m->watch->maybe;
  uint32_t count = 0;
  for (uint32_t w = 0; w < m->words; w++) m->matched[w] = maybe[w] = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    for (hp_bits left = m->active[w]; left; left &= left - 1) {
      uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(left);
      m->watch->assumes = !hp_bit_is_set(m->watch->resolvable, i);
      hp_tri holds = hp_bit_is_set(m->sets.sure, i)
                         ? HP_YES
                         : hp_compound_may_hold(m, m->set->instructions[i].compound, s, parent);
      if (holds == HP_NO) continue;
      bool is_certain = holds == HP_YES && !(unknown && hp_bit_is_set(unknown, i));
      hp_set_bit(is_certain ? m->matched : maybe, i);
      count += !is_certain;
    }
  }
  return count;
}

/* Increments the counters of the instructions that match. */
static void count_matched(const hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  for (uint32_t w = 0; w < m->words; w++) {
    for (hp_bits left = m->matched[w]; left; left &= left - 1) {
      const hp_instruction *instruction = &m->set->instructions[w * HP_BITS + (uint32_t)__builtin_ctzll(left)];
      if (instruction->slot == HP_SELECT_NONE) continue;
      uint32_t slot = instruction->slot + (instruction->counts_by_namespace ? hp_namespace_index(s) : 0);
      parent->bits[4 * m->words + slot]++;
    }
  }
}

static bool accepts_any(const hp_matcher *m) {
  for (uint32_t w = 0; w < m->words; w++)
    if (hp_accepted(m, w)) return true;
  return false;
}

/* Makes a condition of the only instruction in `maybe`. Returns false if it can be none. */
static bool make_condition(const hp_matcher *m, const hp_subject *s, const hp_frame *parent, bool reads_bit) {
  hp_candidate_watch *watch = m->watch;
  uint32_t w = 0;
  while (!watch->maybe[w]) w++;
  uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(watch->maybe[w]);
  if (!hp_bit_is_set(watch->resolvable, i) || accepts_any(m)) return false;
  watch->reads_bit = reads_bit && hp_bit_is_set(watch->unknown, i);
  watch->test = 0;
  uint32_t first = m->set->compounds[m->set->instructions[i].compound].first_test;
  bool counts = watch->counting && hp_bit_is_set(watch->counting, i);
  for (uint32_t t = first; counts && t != HP_SELECT_NONE; t = m->set->tests[t].next) {
    const hp_test *test = &m->set->tests[t];
    if (!hp_test_counts(test)) continue;
    watch->test = t + 1;
    watch->index = test->kind == HP_TEST_NTH_CHILD     ? parent->children
                   : test->kind == HP_TEST_NTH_OF_TYPE ? parent->of_type
                                                       : hp_counter(m, parent, test->slot + hp_namespace_index(s));
  }
  watch->condition = i + 1;
  return true;
}

/* Matches a child of the element with unknown bits. Tests the candidates of all these bits first:
 * most compounds do not hold. */
static __attribute__((noinline)) bool match_unknown(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_candidate_watch *watch = m->watch;
  bool has_unknown = false, has_counting = false;
  for (uint32_t w = 0; w < m->words; w++) {
    has_unknown |= watch->unknown[w] != 0;
    has_counting |= watch->counting && m->active[w] & watch->counting[w];
  }
  keep_active(m, parent, watch->unknown);
  if (!has_unknown && !has_counting) return hp_matcher_test(m, parent, s);
  uint32_t count = test_unknown(m, parent, s, watch->unknown);
  if (count != 1 || !make_condition(m, s, parent, true)) {
    if (count && has_unknown) {
      for (uint32_t w = 0; w < m->words; w++) watch->near[w] |= watch->unknown[w];
      find_candidates(m, m->active, s);
      keep_active(m, parent, NULL);
      count = test_unknown(m, parent, s, NULL);
    }
    if (count) watch->gives_up = count != 1 || !make_condition(m, s, parent, false);
  }
  count_matched(m, parent, s);
  /* The counting instruction of the condition's name has matched. */
  if (watch->test && watch->condition && m->set->tests[watch->test - 1].kind == HP_TEST_NTH_OF_NAME) watch->index++;
  return accepts_any(m);
}

/* Does the same as hp_matcher_match for a set of one word that looks at neither siblings nor forms.
 * Most sets of rules are small. */
static bool match_word(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_bits candidates = *m->sets.universal;
  uint32_t row = hp_tag_row(m, s->node->name);
  if (row) candidates |= m->index.rows[row];
  *m->active = candidates;
  if (s->attributes && m->index.reads_attributes) hp_add_attribute_candidates(m, m->active, s->attributes);
  if (m->watch && (*m->active & ~*m->sets.entries || m->watch->counting)) {
    if (m->watch->is_child) {
      note_candidates(m, parent);
      return match_unknown(m, parent, s);
    }
    note_word(m->watch, *m->active & ~*m->sets.entries, *parent->bits);
  }
  *m->active &= *m->sets.entries | parent->bits[0] | parent->bits[1];
  if (*m->active & ~*m->sets.sure) return hp_matcher_test(m, parent, s);
  *m->matched = *m->active;
  return *m->matched & *m->sets.accepts;
}

bool hp_matcher_match(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  uint32_t words = m->words;
  hp_bits *child = parent->bits, *heir = child + words, *next = heir + words, *later = next + words;
  parent->children++;
  if (words == 1 && !m->set->looks_at_forms && !m->set->looks_at_siblings) return match_word(m, parent, s);
  if (m->set->looks_at_forms) {
    bool is_legend = is_legend_of_fieldset(m, parent, s);
    parent->last_is_first_legend = is_legend && !parent->has_legend;
    parent->has_legend |= is_legend;
  }
  find_candidates(m, m->active, s);
  hp_bits any = 0;
  bool accepted = false, is_unknown = m->watch && m->watch->is_child;
  if (m->watch) note_candidates(m, parent);
  if (is_unknown) {
    any = 1;
    accepted = match_unknown(m, parent, s);
  } else {
    for (uint32_t w = 0; w < words; w++)
      any |= m->active[w] &= m->sets.entries[w] | child[w] | heir[w] | next[w] | later[w];
    if (any)
      accepted = hp_matcher_test(m, parent, s);
    else
      for (uint32_t w = 0; w < words; w++) m->matched[w] = 0;
  }
  if (!m->set->looks_at_siblings) return accepted;
  for (uint32_t w = 0; w < words; w++) next[w] = 0;
  if (any) {
    add_successors(m, HP_COMBINATOR_NEXT, next);
    add_successors(m, HP_COMBINATOR_LATER, later);
    if (is_unknown) add_successors(m, HP_COMBINATOR_LATER, m->watch->own_later);
  }
  return accepted;
}

bool hp_matcher_step(hp_matcher *m, hp_frame *parent, const hp_subject *s, hpar_status *status) {
  if (m->set->counts_types && !(parent->of_type = hp_matcher_count_type(m, parent->element, s)))
    *status = HPAR_ERROR_MEMORY;
  return hp_matcher_match(m, parent, s);
}
