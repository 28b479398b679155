/* Binding selectors to a document: names become atoms, and each instruction is filed under the
 * rarest key of its compound, so that a step looks only at instructions that can match. */

#include "base/ascii.h"
#include "base/memory.h"
#include "select/match.h"

#include <stdlib.h>

static const char *text_at(const hp_matcher *m, uint32_t place) { return m->set->text + place; }

static hp_atom atom_of(const hpar_document *document, const char *name, uint32_t length) {
  hp_atom known = hp_known_atom(name, length, hp_name_key_of(name, length));
  return known ? known : hp_atoms_find(&document->atoms, name, length);
}

/* Returns a hash that ignores ASCII case; 0 is not among them. */
static uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)hp_ascii_lower(bytes[i])) * UINT64_C(0x100000001b3);
  hash ^= hash >> 29;
  return hash | 1;
}

static uint64_t hash_of_atom(hp_atom atom) { return (uint64_t)atom * HP_NAME_K1 | 1; }

static uint32_t find_row(const hp_row_table *table, uint64_t key) {
  if (!table->is_used) return 0;
  for (uint32_t slot = (uint32_t)(key >> 20) & table->mask;; slot = (slot + 1) & table->mask) {
    if (table->keys[slot] == key) return table->rows[slot];
    if (!table->keys[slot]) return 0;
  }
}

static bool open_table(hp_row_table *table, uint32_t keys) {
  uint32_t slots = 16;
  while (slots < 4 * keys) slots *= 2;
  table->keys = hp_allocate_zeroed(slots * sizeof *table->keys);
  table->rows = hp_allocate_zeroed(slots * sizeof *table->rows);
  table->mask = slots - 1;
  return table->keys && table->rows;
}

static void close_table(hp_row_table *table) {
  hp_free(table->keys);
  hp_free(table->rows);
}

static bool add_to_row(hp_matcher *m, uint32_t *row, uint32_t instruction) {
  if (!*row) {
    if (!hp_select_grow(&m->rows, &m->row_capacity, ((size_t)m->row_count + 1) * m->words, sizeof *m->rows))
      return false;
    memset(m->rows + (size_t)m->row_count * m->words, 0, m->words * sizeof *m->rows);
    *row = m->row_count++;
  }
  hp_set_bit(m->rows + (size_t)*row * m->words, instruction);
  return true;
}

static bool file(hp_matcher *m, hp_row_table *table, uint64_t key, uint32_t instruction) {
  table->is_used = true;
  uint32_t slot = (uint32_t)(key >> 20) & table->mask;
  while (table->keys[slot] && table->keys[slot] != key) slot = (slot + 1) & table->mask;
  table->keys[slot] = key;
  return add_to_row(m, &table->rows[slot], instruction);
}

static bool file_under_atom(hp_matcher *m, hp_row_table *table, hp_atom atom, uint32_t instruction) {
  if (!atom) return true;
  if (table == &m->tags && atom < HP_KNOWN_ATOMS) return add_to_row(m, &m->tag_rows[atom], instruction);
  return file(m, table, hash_of_atom(atom), instruction);
}

static bool file_under_name(hp_matcher *m, hp_row_table *table, uint32_t name, uint32_t instruction) {
  hp_bound_name bound = m->names[name];
  return file_under_atom(m, table, bound.exact, instruction) &&
         (bound.lower == bound.exact || file_under_atom(m, table, bound.lower, instruction));
}

/* Files the instruction under an id, else a class, a type, an attribute, or for all elements. */
static bool file_instruction(hp_matcher *m, uint32_t i) {
  const hpar_selectors *set = m->set;
  const hp_compound *compound = &set->compounds[set->instructions[i].compound];
  const hp_test *keys[HP_TEST_ATTRIBUTE + 1] = {NULL};
  for (uint32_t t = compound->first_test; t != HP_SELECT_NONE; t = set->tests[t].next) {
    const hp_test *test = &set->tests[t];
    bool is_key = test->kind == HP_TEST_ID || test->kind == HP_TEST_CLASS ||
                  (test->kind == HP_TEST_ATTRIBUTE && test->ns == HP_NAMESPACE_ABSENT);
    if (is_key && !test->negated) keys[test->kind] = test;
  }
  const hp_test *key = keys[HP_TEST_ID] ? keys[HP_TEST_ID] : keys[HP_TEST_CLASS];
  if (key)
    return file(m, key->kind == HP_TEST_ID ? &m->ids : &m->classes, hash_of(text_at(m, key->value), key->length), i);
  if (compound->name != HP_SELECT_NONE) return file_under_name(m, &m->tags, compound->name, i);
  if (keys[HP_TEST_ATTRIBUTE]) return file_under_name(m, &m->attributes, keys[HP_TEST_ATTRIBUTE]->name, i);
  hp_set_bit(m->universal, i);
  return true;
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
  enum { SETS = 10 };
  hp_bits *bits = hp_allocate_zeroed(SETS * m->words * sizeof *bits);
  if (!bits) return false;
  hp_bits **sets[SETS] = {
      &m->universal,        &m->entries,          &m->accepts,          &m->by_combinator[0], &m->by_combinator[1],
      &m->by_combinator[2], &m->by_combinator[3], &m->by_combinator[4], &m->matched,          &m->active};
  for (size_t i = 0; i < SETS; i++) *sets[i] = bits + i * m->words;
  for (uint32_t i = 0; i < m->set->instructions_count; i++) {
    const hp_instruction *instruction = &m->set->instructions[i];
    hp_set_bit(m->by_combinator[instruction->combinator], i);
    if (instruction->enters) hp_set_bit(m->entries, i);
    if (instruction->selector != HP_SELECT_NONE) hp_set_bit(m->accepts, i);
  }
  return true;
}

hpar_status hp_matcher_open(hp_matcher *m, const hpar_selectors *set, const hpar_document *document, hp_ref scope) {
  memset(m, 0, sizeof *m);
  m->set = set;
  m->document = document;
  m->scope = scope;
  m->is_quirky = document->quirks == HPAR_QUIRKS;
  m->words = (set->instructions_count + HP_BITS - 1) / HP_BITS;
  if (!m->words) m->words = 1;
  if (!bind_names(m) || !open_sets(m)) return HPAR_ERROR_MEMORY;
  hp_row_table *tables[] = {&m->tags, &m->ids, &m->classes, &m->attributes};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (!open_table(tables[i], set->instructions_count)) return HPAR_ERROR_MEMORY;
  if (!hp_select_grow(&m->rows, &m->row_capacity, m->words, sizeof *m->rows)) return HPAR_ERROR_MEMORY;
  memset(m->rows, 0, m->words * sizeof *m->rows);
  m->row_count = 1;
  for (uint32_t i = 0; i < set->instructions_count; i++)
    if (!file_instruction(m, i)) return HPAR_ERROR_MEMORY;
  return HPAR_OK;
}

void hp_matcher_close(hp_matcher *m) {
  hp_free(m->names);
  hp_free(m->rows);
  hp_free(m->universal);
  hp_free(m->types);
  close_table(&m->tags);
  close_table(&m->ids);
  close_table(&m->classes);
  close_table(&m->attributes);
}

/* Adds the row to the candidates. */
static void add_row(const hp_matcher *m, hp_bits *candidates, uint32_t row) {
  if (!row) return;
  const hp_bits *bits = m->rows + (size_t)row * m->words;
  for (uint32_t w = 0; w < m->words; w++) candidates[w] |= bits[w];
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

static void add_classes(const hp_matcher *m, hp_bits *candidates, hpar_string value) {
  for (const char *at = value.bytes, *end = at + value.length; at < end;) {
    while (at < end && is_space(*at)) at++;
    const char *from = at;
    while (at < end && !is_space(*at)) at++;
    if (at > from) add_row(m, candidates, find_row(&m->classes, hash_of(from, (size_t)(at - from))));
  }
}

/* Writes the instructions that the keys of the element allow. */
static void find_candidates(const hp_matcher *m, hp_bits *candidates, const hp_subject *s) {
  for (uint32_t w = 0; w < m->words; w++) candidates[w] = m->universal[w];
  hp_atom name = s->node->name;
  add_row(m, candidates, name < HP_KNOWN_ATOMS ? m->tag_rows[name] : find_row(&m->tags, hash_of_atom(name)));
  if (!s->attributes || !(m->ids.is_used || m->classes.is_used || m->attributes.is_used)) return;
  for (uint32_t i = 0; i < s->attributes->count; i++) {
    const hp_attribute *attribute = &s->attributes->items[i];
    if (attribute->name == HP_CLASS && m->classes.is_used) add_classes(m, candidates, hp_value_of(m, s, attribute));
    if (attribute->name == HP_ID && m->ids.is_used) {
      hpar_string id = hp_value_of(m, s, attribute);
      add_row(m, candidates, find_row(&m->ids, hash_of(id.bytes, id.length)));
    }
    if (m->attributes.is_used) add_row(m, candidates, find_row(&m->attributes, hash_of_atom(attribute->name)));
  }
}

static bool grow_types(hp_matcher *m) {
  uint32_t slots = m->types ? 2 * (m->type_mask + 1) : 256;
  struct hp_type_count *types = hp_allocate_zeroed(slots * sizeof *types);
  if (!types) return false;
  for (uint32_t i = 0; m->types && i <= m->type_mask; i++) {
    if (!m->types[i].key) continue;
    uint32_t slot = (uint32_t)(m->types[i].key * HP_NAME_K1 >> 32) & (slots - 1);
    while (types[slot].key) slot = (slot + 1) & (slots - 1);
    types[slot] = m->types[i];
  }
  hp_free(m->types);
  m->types = types;
  m->type_mask = slots - 1;
  return true;
}

uint32_t hp_matcher_count_type(hp_matcher *m, hp_ref parent, const hp_subject *s) {
  if (!m->types || 2 * m->type_count > m->type_mask)
    if (!grow_types(m)) return 0;
  uint64_t key = (uint64_t)parent << 32 | (uint64_t)s->node->ns << 29 | s->node->name;
  uint32_t slot = (uint32_t)(key * HP_NAME_K1 >> 32) & m->type_mask;
  while (m->types[slot].key && m->types[slot].key != key) slot = (slot + 1) & m->type_mask;
  if (!m->types[slot].key) {
    m->types[slot].key = key;
    m->type_count++;
  }
  return ++m->types[slot].count;
}

void hp_matcher_forget_types(hp_matcher *m) {
  if (m->types) memset(m->types, 0, ((size_t)m->type_mask + 1) * sizeof *m->types);
  m->type_count = 0;
}

size_t hp_frame_size(const hp_matcher *m) {
  return sizeof(hp_frame) + (4 * (size_t)m->words + m->set->counters) * sizeof(hp_bits);
}

void hp_frame_open_root(const hp_matcher *m, hp_frame *frame) { memset(frame, 0, hp_frame_size(m)); }

/* Writes to `to` the successors of the matched instructions that this combinator follows. */
static void add_successors(const hp_matcher *m, hp_combinator combinator, hp_bits *to) {
  hp_bits carry = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    hp_bits bits = m->matched[w] & m->by_combinator[combinator][w];
    to[w] |= bits << 1 | carry;
    carry = bits >> (HP_BITS - 1);
  }
}

/* A first legend child of a disabled fieldset does not disable what it holds.
 * Source: HTML, "Enabling and disabling form controls". */
static bool disables(const hp_frame *parent, const hp_frame *above, const hp_subject *s, bool is_first_legend) {
  if (is_first_legend && above) return above->is_disabled;
  if (parent->is_disabled) return true;
  if (!s->is_html || s->node->name != HP_FIELDSET || !s->attributes) return false;
  for (uint32_t i = 0; i < s->attributes->count; i++)
    if (s->attributes->items[i].name == HP_DISABLED) return true;
  return false;
}

static bool is_legend_of_fieldset(const hp_matcher *m, const hp_frame *parent, const hp_subject *s) {
  if (!s->is_html || s->node->name != HP_LEGEND || !parent->element) return false;
  const hp_node *node = hp_node_at(m->document->range.base, parent->element);
  return node->ns == HPAR_NAMESPACE_HTML && node->name == HP_FIELDSET;
}

void hp_frame_open(const hp_matcher *m, hp_frame *frame, const hp_frame *parent, const hp_frame *above,
                   const hp_subject *s) {
  uint32_t words = m->words;
  frame->element = s->ref;
  frame->children = frame->of_type = 0;
  frame->has_legend = false;
  frame->language = m->set->looks_at_languages ? hp_language_of(m, s, parent->language) : (hp_language){NULL, 0};
  frame->is_disabled = m->set->looks_at_forms &&
                       disables(parent, above, s, is_legend_of_fieldset(m, parent, s) && parent->last_is_first_legend);
  for (uint32_t i = 0; i < 4 * words + m->set->counters; i++) frame->bits[i] = 0;
  hp_bits *child = frame->bits, *heir = child + words;
  for (uint32_t w = 0; w < words; w++) heir[w] = parent->bits[words + w];
  add_successors(m, HP_COMBINATOR_CHILD, child);
  add_successors(m, HP_COMBINATOR_DESCENDANT, heir);
}

/* Tests the candidates in ascending order, so that inner selectors come before their users. */
static hp_bits test_candidates(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  hp_bits accepted = 0;
  for (uint32_t w = 0; w < m->words; w++) {
    m->matched[w] = 0;
    for (hp_bits left = m->active[w]; left; left &= left - 1) {
      uint32_t i = w * HP_BITS + (uint32_t)__builtin_ctzll(left);
      const hp_instruction *instruction = &m->set->instructions[i];
      if (!hp_compound_holds(m, instruction->compound, s, parent)) continue;
      hp_set_bit(m->matched, i);
      if (instruction->slot != HP_SELECT_NONE) parent->bits[4 * m->words + instruction->slot]++;
    }
    accepted |= m->matched[w] & m->accepts[w];
  }
  return accepted;
}

bool hp_matcher_match(hp_matcher *m, hp_frame *parent, const hp_subject *s) {
  uint32_t words = m->words;
  hp_bits *child = parent->bits, *heir = child + words, *next = heir + words, *later = next + words;
  parent->children++;
  if (m->set->looks_at_forms) {
    bool is_legend = is_legend_of_fieldset(m, parent, s);
    parent->last_is_first_legend = is_legend && !parent->has_legend;
    parent->has_legend |= is_legend;
  }
  find_candidates(m, m->active, s);
  hp_bits any = 0;
  for (uint32_t w = 0; w < words; w++) any |= m->active[w] &= m->entries[w] | child[w] | heir[w] | next[w] | later[w];
  hp_bits accepted = 0;
  if (any)
    accepted = test_candidates(m, parent, s);
  else
    for (uint32_t w = 0; w < words; w++) m->matched[w] = 0;
  if (!m->set->looks_at_siblings) return accepted != 0;
  for (uint32_t w = 0; w < words; w++) next[w] = 0;
  if (any) {
    add_successors(m, HP_COMBINATOR_NEXT, next);
    add_successors(m, HP_COMBINATOR_LATER, later);
  }
  return accepted != 0;
}

bool hp_matcher_step(hp_matcher *m, hp_frame *parent, const hp_subject *s, hpar_status *status) {
  if (m->set->counts_types && !(parent->of_type = hp_matcher_count_type(m, parent->element, s)))
    *status = HPAR_ERROR_MEMORY;
  return hp_matcher_match(m, parent, s);
}
