/* Binds selectors to a document. Names become atoms. Each instruction is filed under the rarest key
 * of its compound, so that a step looks only at instructions that can match. */

#include "base/memory.h"
#include "select/match.h"

static const char *text_at(const hp_matcher *m, uint32_t place) { return m->set->text + place; }

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
  if (test->negated) return false;
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

/* Returns true if each candidate for the instruction matches, because its key is its only test. */
static bool is_sure(const hp_matcher *m, const hp_instruction *instruction) {
  const hp_compound *compound = &m->set->compounds[instruction->compound];
  if (instruction->slot != HP_SELECT_NONE) return false;
  if (compound->first_test == HP_SELECT_NONE) return is_plain_type(m, compound);
  const hp_test *test = &m->set->tests[compound->first_test];
  if (compound->name != HP_SELECT_NONE || compound->ns != HP_NAMESPACE_ANY || test->next != HP_SELECT_NONE ||
      !is_key(m, test))
    return false;
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
  if (compound->ns != HP_NAMESPACE_ANY || compound->name == HP_SELECT_NONE || !is_one_name(m, compound->name)) return 0;
  if (compound->first_test == HP_SELECT_NONE) return 0;
  const hp_test *test = &m->set->tests[compound->first_test];
  bool is_only = test->next == HP_SELECT_NONE && test->kind == HP_TEST_ATTRIBUTE && is_key(m, test);
  if (!is_only || test->operator!= HP_ATTRIBUTE_PRESENT || !is_one_name(m, test->name)) return 0;
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
  enum { SETS = 12 };
  hp_bits *bits = hp_allocate_zeroed(SETS * m->words * sizeof *bits);
  if (!bits) return false;
  hp_bits **sets[SETS] = {&m->sets.universal,
                          &m->sets.entries,
                          &m->sets.accepts,
                          &m->sets.by_combinator[0],
                          &m->sets.by_combinator[1],
                          &m->sets.by_combinator[2],
                          &m->sets.by_combinator[3],
                          &m->sets.by_combinator[4],
                          &m->matched,
                          &m->active,
                          &m->sets.sure,
                          &m->sets.by_attribute};
  for (size_t i = 0; i < SETS; i++) *sets[i] = bits + i * m->words;
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
