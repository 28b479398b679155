/* Matchers: selectors together with a document, and their steps through its elements. */

#include "base/memory.h"
#include "select/match.h"

static const char *text_at(const hp_matcher *m, uint32_t place) { return m->set->text + place; }

/*** binding ***/

/* Names become atoms. Each instruction is filed under the rarest key of its compound, so that a
 * step looks only at instructions that can match. */

static hp_atom atom_of(const hpar_document *document, const char *name, uint32_t length) {
  hp_atom known = hp_known_atom(name, length, hp_name_key_of(name, length));
  return known ? known : hp_atoms_find(&document->atoms, name, length);
}

static bool open_table(hp_row_table *table, uint32_t keys) {
  uint32_t slots = 16;
  while (slots < 4 * keys) slots *= 2;
  table->slots = hp_allocate_zeroed(slots * sizeof *table->slots);
  table->mask = slots - 1;
  return table->slots != NULL;
}

static bool add_to_row(hp_matcher *m, uint32_t *row, uint32_t instruction) {
  if (!*row) {
    if (!hp_reserve(&m->index.rows, &m->index.row_capacity, ((size_t)m->index.row_count + 1) * m->words,
                    sizeof *m->index.rows))
      return false;
    memset(m->index.rows + (size_t)m->index.row_count * m->words, 0, m->words * sizeof *m->index.rows);
    *row = m->index.row_count++;
  }
  hp_set_bit(m->index.rows + (size_t)*row * m->words, instruction);
  return true;
}

/* Requires: an instruction has keys of one kind only in each of its lists, so the number of keys is
 * at most that of instructions and choices. */
static bool file(hp_matcher *m, hp_row_table *table, uint64_t key, uint32_t instruction) {
  if (!table->slots && !open_table(table, m->set->instructions_count + m->set->choices_count)) return false;
  uint32_t slot = hp_row_slot(table, key);
  while (table->slots[slot].key && table->slots[slot].key != key) slot = (slot + 1) & table->mask;
  table->key_count += !table->slots[slot].key;
  table->slots[slot].key = key;
  if (!add_to_row(m, &table->slots[slot].row, instruction)) return false;
  table->only_row = table->slots[slot].row;
  return true;
}

/* Files under an id or a class. Two texts that differ in case only have one hash and two keys. */
static bool file_under_text(hp_matcher *m, hp_row_table *table, const hp_test *test, uint32_t instruction) {
  const char *text = text_at(m, test->value);
  if (table->key_count && (test->length != table->length || memcmp(text, text_at(m, table->text), test->length) != 0))
    table->key_count = 2;
  table->text = test->value;
  table->length = test->length;
  return file(m, table, hp_word_hash(text, test->length), instruction);
}

static bool file_under_atom(hp_matcher *m, hp_row_table *table, hp_atom atom, uint32_t instruction) {
  if (!atom) return true;
  if (table == &m->index.tags && atom < HP_KNOWN_ATOMS) return add_to_row(m, &m->index.tag_rows[atom], instruction);
  table->atom = atom;
  return file(m, table, hp_atom_hash(atom), instruction);
}

static bool file_under_name(hp_matcher *m, hp_row_table *table, uint32_t name, uint32_t instruction) {
  hp_bound_name bound = m->names[name];
  return file_under_atom(m, table, bound.exact, instruction) &&
         (bound.lower == bound.exact || file_under_atom(m, table, bound.lower, instruction));
}

static bool has_key(const hp_matcher *m, const hp_compound *compound);

/* Returns true for :is() whose choices all have keys. */
static bool is_keyed_list(const hp_matcher *m, const hp_test *test) {
  if (test->kind != HP_TEST_LIST || test->negated) return false;
  for (uint32_t i = test->first; i < test->first + test->count; i++) {
    hp_choice choice = m->set->choices[i];
    if (choice.is_complex || !has_key(m, &m->set->compounds[choice.index])) return false;
  }
  return true;
}

static bool is_key(const hp_matcher *m, const hp_test *test) {
  if (test->kind == HP_TEST_ATTRIBUTE) return test->ns == HP_NAMESPACE_ABSENT;
  return test->kind == HP_TEST_ID || test->kind == HP_TEST_CLASS || is_keyed_list(m, test);
}

static bool has_key(const hp_matcher *m, const hp_compound *compound) {
  if (compound->name != HP_SELECT_NONE) return true;
  for (uint32_t t = compound->first_test; t != HP_SELECT_NONE; t = m->set->tests[t].next)
    if (is_key(m, &m->set->tests[t])) return true;
  return false;
}

/* Files the instruction under an id of the compound, else a class, a type, an attribute, the keys
 * of the choices of a list, or for all elements. */
static bool file_compound(hp_matcher *m, const hp_compound *compound, uint32_t instruction) {
  const hp_test *keys[HP_TEST_LIST + 1] = {NULL};
  for (uint32_t t = compound->first_test; t != HP_SELECT_NONE; t = m->set->tests[t].next)
    if (is_key(m, &m->set->tests[t])) keys[m->set->tests[t].kind] = &m->set->tests[t];
  const hp_test *list = keys[HP_TEST_LIST];
  if (keys[HP_TEST_ID]) return file_under_text(m, &m->index.ids, keys[HP_TEST_ID], instruction);
  if (keys[HP_TEST_CLASS]) return file_under_text(m, &m->index.classes, keys[HP_TEST_CLASS], instruction);
  if (compound->name != HP_SELECT_NONE) return file_under_name(m, &m->index.tags, compound->name, instruction);
  if (keys[HP_TEST_ATTRIBUTE])
    return file_under_name(m, &m->index.attributes, keys[HP_TEST_ATTRIBUTE]->name, instruction);
  for (uint32_t i = 0; list && i < list->count; i++)
    if (!file_compound(m, &m->set->compounds[m->set->choices[list->first + i].index], instruction)) return false;
  if (!list) hp_set_bit(m->sets.universal, instruction);
  return true;
}

static bool is_one_name(const hp_matcher *m, uint32_t name) { return m->names[name].exact == m->names[name].lower; }

/* Returns true for a type and for '*', where the name of an element alone decides. */
static bool is_plain_type(const hp_matcher *m, const hp_compound *compound) {
  return compound->ns == HP_NAMESPACE_ANY && compound->first_test == HP_SELECT_NONE &&
         (compound->name == HP_SELECT_NONE || is_one_name(m, compound->name));
}

/* Returns the only test of a compound in any namespace, if it can be its key, or NULL. */
static const hp_test *only_test(const hp_matcher *m, const hp_compound *compound) {
  if (compound->ns != HP_NAMESPACE_ANY || compound->first_test == HP_SELECT_NONE) return NULL;
  const hp_test *test = &m->set->tests[compound->first_test];
  return test->next == HP_SELECT_NONE && is_key(m, test) ? test : NULL;
}

/* Returns true if each candidate for the instruction matches, because its key is its only test. */
static bool is_sure(const hp_matcher *m, const hp_instruction *instruction) {
  const hp_compound *compound = &m->set->compounds[instruction->compound];
  if (instruction->slot != HP_SELECT_NONE) return false;
  if (compound->first_test == HP_SELECT_NONE) return is_plain_type(m, compound);
  const hp_test *test = only_test(m, compound);
  if (!test || compound->name != HP_SELECT_NONE) return false;
  switch (test->kind) {
    case HP_TEST_ID: return m->index.ids.key_count == 1;
    case HP_TEST_CLASS: return m->index.classes.key_count == 1;
    case HP_TEST_ATTRIBUTE: return test->operator== HP_ATTRIBUTE_PRESENT && is_one_name(m, test->name);
    default:
      for (uint32_t i = test->first; i < test->first + test->count; i++)
        if (!is_plain_type(m, &m->set->compounds[m->set->choices[i].index])) return false;
      return true;
  }
}

/* Returns the attribute whose presence alone decides for candidates of the instruction, because its
 * type is its key: `a[href]`. Returns 0 if there is none. */
static hp_atom only_attribute(const hp_matcher *m, const hp_instruction *instruction) {
  const hp_compound *compound = &m->set->compounds[instruction->compound];
  const hp_test *test = only_test(m, compound);
  if (!test || compound->name == HP_SELECT_NONE || !is_one_name(m, compound->name)) return 0;
  if (test->kind != HP_TEST_ATTRIBUTE || test->operator!= HP_ATTRIBUTE_PRESENT || !is_one_name(m, test->name)) return 0;
  return m->names[test->name].exact;
}

static bool bind_names(hp_matcher *m) {
  const hpar_selectors *set = m->set;
  m->names = hp_allocate_zeroed((set->names_count + 1) * sizeof *m->names);
  if (!m->names) return false;
  for (uint32_t i = 0; i < set->names_count; i++) {
    const hp_selector_name *name = &set->names[i];
    m->names[i].exact = atom_of(m->document, text_at(m, name->exact), name->length);
    m->names[i].lower = atom_of(m->document, text_at(m, name->lower), name->length);
  }
  return true;
}

static bool open_sets(hp_matcher *m) {
  hp_instruction_sets *s = &m->sets;
  hp_bits **sets[] = {&s->universal, &s->entries, &s->accepts, &s->sure, &s->by_attribute, &m->matched, &m->active};
  enum { SETS = sizeof sets / sizeof *sets, COMBINATORS = sizeof s->by_combinator / sizeof *s->by_combinator };
  hp_bits *bits = hp_allocate_zeroed((SETS + COMBINATORS) * m->words * sizeof *bits);
  if (!bits) return false;
  for (size_t i = 0; i < SETS; i++) *sets[i] = bits + i * m->words;
  for (size_t i = 0; i < COMBINATORS; i++) s->by_combinator[i] = bits + (SETS + i) * m->words;
  for (uint32_t i = 0; i < m->set->instructions_count; i++) {
    const hp_instruction *instruction = &m->set->instructions[i];
    hp_set_bit(m->sets.by_combinator[instruction->combinator], i);
    if (instruction->enters) hp_set_bit(m->sets.entries, i);
    if (instruction->selector != HP_SELECT_NONE) hp_set_bit(m->sets.accepts, i);
  }
  return true;
}

static bool file_all(hp_matcher *m) {
  const hpar_selectors *set = m->set;
  for (uint32_t i = 0; i < set->instructions_count; i++)
    if (!file_compound(m, &set->compounds[set->instructions[i].compound], i)) return false;
  for (uint32_t i = 0; i < set->instructions_count; i++)
    if (is_sure(m, &set->instructions[i]))
      hp_set_bit(m->sets.sure, i);
    else
      m->sets.only_attribute[i] = only_attribute(m, &set->instructions[i]);
  const hp_row_table *tables[] = {&m->index.ids, &m->index.classes, &m->index.attributes};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (uint32_t slot = 0; tables[i]->slots && slot <= tables[i]->mask; slot++)
      for (uint32_t w = 0; tables[i]->slots[slot].row && w < m->words; w++)
        m->sets.by_attribute[w] |= m->index.rows[(size_t)tables[i]->slots[slot].row * m->words + w];
  for (uint32_t i = 0; i < m->index.row_count * m->words; i++) m->index.rows[i] |= m->sets.universal[i % m->words];
  return true;
}

/* Finds what the set reads of an element. */
static void find_needs(hp_matcher *m) {
  const hpar_selectors *set = m->set;
  m->reads_frames =
      set->counters || set->looks_at_siblings || set->counts_types || set->looks_at_forms || set->languages;
  for (uint32_t i = 0; i < set->instructions_count; i++)
    m->reads_frames |= set->instructions[i].combinator != HP_COMBINATOR_NONE;
  m->index.reads_attributes = m->index.ids.slots || m->index.classes.slots || m->index.attributes.slots;
  if (m->index.ids.key_count + m->index.classes.key_count + m->index.attributes.key_count != 1) return;
  m->index.only_name = m->index.ids.slots       ? HP_ATOM_ID
                       : m->index.classes.slots ? HP_ATOM_CLASS
                                                : m->index.attributes.atom;
  m->index.only_row = m->index.ids.only_row + m->index.classes.only_row + m->index.attributes.only_row;
}

hpar_status hp_matcher_open(hp_matcher *m, const hpar_selectors *set, const hpar_document *document, hp_ref scope) {
  memset(m, 0, sizeof *m);
  m->set = set;
  m->document = document;
  m->base = document->range.base;
  m->scope = scope;
  m->is_quirky = document->quirks == HPAR_QUIRKS;
  m->words = (set->instructions_count + HP_BITS - 1) / HP_BITS;
  if (!m->words) m->words = 1;
  m->index.tag_rows = hp_allocate_zeroed(HP_KNOWN_ATOMS * sizeof *m->index.tag_rows);
  m->sets.only_attribute = hp_allocate_zeroed((set->instructions_count + 1) * sizeof *m->sets.only_attribute);
  if (!m->index.tag_rows || !m->sets.only_attribute || !bind_names(m) || !open_sets(m)) return HPAR_ERROR_MEMORY;
  if (!hp_reserve(&m->index.rows, &m->index.row_capacity, m->words, sizeof *m->index.rows)) return HPAR_ERROR_MEMORY;
  memset(m->index.rows, 0, m->words * sizeof *m->index.rows);
  m->index.row_count = 1;
  if (!file_all(m)) return HPAR_ERROR_MEMORY;
  find_needs(m);
  return HPAR_OK;
}

void hp_matcher_close(hp_matcher *m) {
  hp_free(m->index.tag_rows);
  hp_free(m->sets.only_attribute);
  hp_free(m->names);
  hp_free(m->index.rows);
  hp_free(m->sets.universal);
  hp_free(m->types.slots);
  hp_free(m->index.tags.slots);
  hp_free(m->index.ids.slots);
  hp_free(m->index.classes.slots);
  hp_free(m->index.attributes.slots);
}

/*** steps ***/

/* Candidates, frames, counters, and the instructions that match. */

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
  return hp_value_has_class(m, value, m->index.classes.text, m->index.classes.length);
}

static bool only_id_holds(const hp_matcher *m, hpar_string value) {
  return hp_value_is_id(m, value, m->index.ids.text, m->index.ids.length);
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

void hp_matcher_find_candidates(hp_matcher *m, const hp_subject *s) {
  for (uint32_t w = 0; w < m->words; w++) m->active[w] = m->sets.universal[w];
  add_row(m, m->active, hp_tag_row(m, s->node->name));
  if (s->attributes && m->index.reads_attributes) hp_add_attribute_candidates(m, m->active, s->attributes);
}

/* Returns the slot of the key, or the free one where it belongs. */
static struct hp_type_count *find_type(struct hp_type_count *slots, uint32_t mask, uint64_t key) {
  uint32_t slot = (uint32_t)(key * HP_NAME_K1 >> 32) & mask;
  while (slots[slot].key && slots[slot].key != key) slot = (slot + 1) & mask;
  return &slots[slot];
}

static bool grow_types(hp_matcher *m) {
  uint32_t slots = m->types.slots ? 2 * (m->types.mask + 1) : 256;
  struct hp_type_count *types = hp_allocate_zeroed(slots * sizeof *types);
  if (!types) return false;
  for (uint32_t i = 0; m->types.slots && i <= m->types.mask; i++) {
    const struct hp_type_count *old = &m->types.slots[i];
    if (old->key) *find_type(types, slots - 1, old->key) = *old;
  }
  hp_free(m->types.slots);
  m->types.slots = types;
  m->types.mask = slots - 1;
  return true;
}

uint32_t hp_matcher_count_type(hp_matcher *m, hp_ref parent, const hp_subject *s) {
  if ((!m->types.slots || 2 * m->types.count > m->types.mask) && !grow_types(m)) return 0;
  uint64_t key = (uint64_t)parent << 32 | (uint64_t)s->node->ns << 29 | s->node->name;
  struct hp_type_count *type = find_type(m->types.slots, m->types.mask, key);
  m->types.count += !type->key;
  type->key = key;
  return ++type->count;
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

/* Increments the counter of an instruction that matches. */
static inline void count_match(const hp_matcher *m, hp_frame *parent, const hp_subject *s, uint32_t i) {
  const hp_instruction *instruction = &m->set->instructions[i];
  if (instruction->slot == HP_SELECT_NONE) return;
  uint32_t slot = instruction->slot + (instruction->counts_by_namespace ? hp_namespace_index(s) : 0);
  parent->bits[4 * m->words + slot]++;
}

bool hp_matcher_test(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_bits accepted = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    m->matched[w] = m->active[w] & m->sets.sure[w];
    for (hp_bits left = m->active[w] & ~m->sets.sure[w]; left; left &= left - 1) {
      uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(left);
      const hp_atom only = m->sets.only_attribute[i];
      if (only ? !hp_find_attribute(s->attributes, only)
               : !hp_compound_holds(m, m->set->instructions[i].compound, s, parent))
        continue;
      hp_set_bit(m->matched, i);
      count_match(m, parent, s, i);
    }
    accepted |= hp_accepted(m, w);
  }
  return accepted != 0;
}

static __attribute__((noinline)) void note_candidates(const hp_matcher *m, const hp_frame *parent) {
  hp_candidate_log *log = m->log;
  const uint32_t words = m->words;
  const hp_bits *child = parent->bits, *next = child + 2 * (size_t)words, *later = next + words;
  for (uint32_t w = 0; w < words; w++) {
    hp_bits candidates = m->active[w] & ~m->sets.entries[w], near = candidates & log->after_near[w];
    if (log->heir) log->heir[w] |= candidates & log->after_heir[w];
    if (!log->is_child) {
      log->learned[w] = (log->learned[w] & ~near) | ((child[w] | next[w] | later[w]) & near);
      continue;
    }
    if (log->own_later) near &= ~(log->own_later[w] | (parent->children > 1 + log->earlier ? log->after_next[w] : 0));
    log->unknown[w] = near;
  }
}

/* Does the same for a set of one word that looks at no siblings. The parent has known bits. */
static inline void note_word(hp_candidate_log *log, hp_bits candidates, hp_bits child) {
  const hp_bits near = candidates & *log->after_near;
  if (log->heir) *log->heir |= candidates & *log->after_heir;
  *log->learned = (*log->learned & ~near) | (child & near);
}

/* Keeps the candidates that the frame activates, or that `unknown` has. It may be NULL. Returns
 * whether any is left. */
static inline bool keep_active(hp_matcher *m, const hp_frame *parent, const hp_bits *unknown) {
  const uint32_t words = m->words;
  const hp_bits *bits = parent->bits;
  hp_bits any = 0;
  for (uint32_t w = 0; w < words; w++)
    any |= m->active[w] &= m->sets.entries[w] | bits[w] | bits[words + w] | bits[2 * words + w] | bits[3 * words + w] |
                           (unknown ? unknown[w] : 0);
  return any != 0;
}

/* Tests the active instructions as hp_matcher_test, without counting. Those of `unknown`, and those
 * that depend on the number of earlier children, go to `maybe`. `unknown` may be NULL. Returns the
 * number of instructions in `maybe`. */
static uint32_t test_unknown(hp_matcher *m, const hp_frame *parent, const hp_subject *s, const hp_bits *unknown) {
  hp_bits *maybe = m->log->maybe;
  uint32_t count = 0;
  for (uint32_t w = 0; w < m->words; w++) m->matched[w] = maybe[w] = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    for (hp_bits left = m->active[w]; left; left &= left - 1) {
      uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(left);
      m->log->assumes = !hp_bit_is_set(m->log->resolvable, i);
      hp_tristate holds = hp_bit_is_set(m->sets.sure, i)
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

static bool accepts_any(const hp_matcher *m) {
  for (uint32_t w = 0; w < m->words; w++)
    if (hp_accepted(m, w)) return true;
  return false;
}

/* Makes a condition of the only instruction in `maybe`. Returns false if it can be none. */
static bool make_condition(const hp_matcher *m, const hp_subject *s, const hp_frame *parent, bool reads_bit) {
  hp_candidate_log *log = m->log;
  uint32_t w = 0;
  while (!log->maybe[w]) w++;
  uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(log->maybe[w]);
  if (!hp_bit_is_set(log->resolvable, i) || accepts_any(m)) return false;
  log->reads_bit = reads_bit && hp_bit_is_set(log->unknown, i);
  log->test = 0;
  uint32_t first = m->set->compounds[m->set->instructions[i].compound].first_test;
  bool counts = log->counting && hp_bit_is_set(log->counting, i);
  for (uint32_t t = first; counts && t != HP_SELECT_NONE; t = m->set->tests[t].next) {
    const hp_test *test = &m->set->tests[t];
    if (!hp_test_counts(test)) continue;
    log->test = t + 1;
    log->index = test->kind == HP_TEST_NTH_CHILD     ? parent->children
                 : test->kind == HP_TEST_NTH_OF_TYPE ? parent->of_type
                                                     : hp_counter(m, parent, test->slot + hp_namespace_index(s));
  }
  log->condition = i + 1;
  return true;
}

/* Matches a child of the element with unknown bits. Tests the candidates of all these bits first:
 * most compounds do not hold. */
static __attribute__((noinline)) bool match_unknown(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_candidate_log *log = m->log;
  bool has_unknown = false, has_counting = false;
  for (uint32_t w = 0; w < m->words; w++) {
    has_unknown |= log->unknown[w] != 0;
    has_counting |= log->counting && m->active[w] & log->counting[w];
  }
  keep_active(m, parent, log->unknown);
  if (!has_unknown && !has_counting) return hp_matcher_test(m, parent, s);
  uint32_t count = test_unknown(m, parent, s, log->unknown);
  if (count != 1 || !make_condition(m, s, parent, true)) {
    if (count && has_unknown) {
      for (uint32_t w = 0; w < m->words; w++) log->near[w] |= log->unknown[w];
      hp_matcher_find_candidates(m, s);
      keep_active(m, parent, NULL);
      count = test_unknown(m, parent, s, NULL);
    }
    if (count) log->gives_up = count != 1 || !make_condition(m, s, parent, false);
  }
  for (uint32_t w = 0; w < m->words; w++)
    for (hp_bits left = m->matched[w]; left; left &= left - 1)
      count_match(m, parent, s, w * HP_BITS + (uint32_t)__builtin_ctzll(left));
  /* The counting instruction of the condition's name has matched. */
  if (log->test && log->condition && m->set->tests[log->test - 1].kind == HP_TEST_NTH_OF_NAME) log->index++;
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
  if (m->log && (*m->active & ~*m->sets.entries || m->log->counting)) {
    if (m->log->is_child) {
      note_candidates(m, parent);
      return match_unknown(m, parent, s);
    }
    note_word(m->log, *m->active & ~*m->sets.entries, *parent->bits);
  }
  *m->active &= *m->sets.entries | parent->bits[0] | parent->bits[1];
  if (*m->active & ~*m->sets.sure) return hp_matcher_test(m, parent, s);
  *m->matched = *m->active;
  return *m->matched & *m->sets.accepts;
}

bool hp_matcher_match(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  uint32_t words = m->words;
  hp_bits *next = parent->bits + 2 * (size_t)words, *later = next + words;
  parent->children++;
  if (words == 1 && !m->set->looks_at_forms && !m->set->looks_at_siblings) return match_word(m, parent, s);
  if (m->set->looks_at_forms) {
    bool is_legend = is_legend_of_fieldset(m, parent, s);
    parent->last_is_first_legend = is_legend && !parent->has_legend;
    parent->has_legend |= is_legend;
  }
  hp_matcher_find_candidates(m, s);
  bool accepted = false, is_unknown = m->log && m->log->is_child;
  if (m->log) note_candidates(m, parent);
  bool any = is_unknown || keep_active(m, parent, NULL);
  if (is_unknown)
    accepted = match_unknown(m, parent, s);
  else if (any)
    accepted = hp_matcher_test(m, parent, s);
  else
    memset(m->matched, 0, words * sizeof *m->matched);
  if (!m->set->looks_at_siblings) return accepted;
  for (uint32_t w = 0; w < words; w++) next[w] = 0;
  if (any) {
    add_successors(m, HP_COMBINATOR_NEXT, next);
    add_successors(m, HP_COMBINATOR_LATER, later);
    if (is_unknown) add_successors(m, HP_COMBINATOR_LATER, m->log->own_later);
  }
  return accepted;
}

bool hp_matcher_step(hp_matcher *m, hp_frame *parent, const hp_subject *s, hpar_status *status) {
  if (m->set->counts_types && !(parent->of_type = hp_matcher_count_type(m, parent->element, s)))
    *status = HPAR_ERROR_MEMORY;
  return hp_matcher_match(m, parent, s);
}
