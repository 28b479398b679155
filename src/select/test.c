/* The tests of one element. */

#include "base/bytes.h"
#include "select/match.h"

static const char *text_at(const hp_matcher *m, uint32_t place) { return m->set->text + place; }

bool hp_equal_bytes(const char *a, const char *b, size_t length, bool ignore_case) {
  return ignore_case ? hp_ascii_equal(a, b, length) : !memcmp(a, b, length);
}

typedef struct word {
  const char *bytes;
  size_t length;
  bool ignore_case;
} word;

/* Returns true if the word is at `at` and ends there. No word of a value holds white space. */
static bool is_word_at(const char *value, size_t length, size_t at, const word *w) {
  size_t end = at + w->length, i = 0;
  if ((at && !hp_ascii_is_white(value[at - 1])) || (end < length && !hp_ascii_is_white(value[end])) ||
      !hp_equal_bytes(value + at, w->bytes, w->length, w->ignore_case))
    return false;
  while (i < w->length && !hp_ascii_is_white(w->bytes[i])) i++;
  return i == w->length;
}

/* Returns `count` bytes, and zeros after them. Requires: 0 < count < 8. */
static uint64_t load_short(const char *bytes, size_t count) {
  if (count >= 4) {
    return hp_load_32(bytes) | (uint64_t)hp_load_32(bytes + count - 4) << (8 * (count - 4));
  }
  return (uint64_t)(unsigned char)bytes[0] | (uint64_t)(unsigned char)bytes[count / 2] << (8 * (count / 2)) |
         (uint64_t)(unsigned char)bytes[count - 1] << (8 * (count - 1));
}

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* Returns the top bits of the zero bytes, and perhaps of bytes above the first zero byte. */
static uint64_t zero_bytes(uint64_t word) { return (word - ones) & ~word & ones << 7; }

/* Compares the places of eight first bytes at a time with the first byte of the word, and the bytes
 * where the word would end with its last byte. */
bool hp_has_word(const char *value, size_t length, const char *bytes, size_t word_length, bool ignore_case) {
  if (!word_length || word_length > length) return false;
  const word w = {bytes, word_length, ignore_case};
  const char *ends = value + word_length - 1;
  size_t places = length - word_length + 1;
  uint64_t fold = ignore_case ? ones * 0x20 : 0;
  uint64_t first = ones * (unsigned char)*bytes | fold, last = ones * (unsigned char)bytes[word_length - 1] | fold;
  if (places < 8) {
    uint64_t found =
        zero_bytes(((load_short(value, places) | fold) ^ first) | ((load_short(ends, places) | fold) ^ last));
    for (; found; found &= found - 1) {
      size_t at = (size_t)__builtin_ctzll(found) / 8;
      if (at < places && is_word_at(value, length, at, &w)) return true;
    }
    return false;
  }
  for (size_t at = 0;;) {
    uint64_t found = zero_bytes(((hp_load_64(value + at) | fold) ^ first) | ((hp_load_64(ends + at) | fold) ^ last));
    for (; found; found &= found - 1)
      if (is_word_at(value, length, at + (size_t)__builtin_ctzll(found) / 8, &w)) return true;
    if (at + 8 == places) return false;
    at = at + 16 <= places ? at + 8 : places - 8;
  }
}

static bool contains(const char *value, size_t length, const char *part, size_t part_length, bool ignore_case) {
  if (!part_length || part_length > length) return false;
  if (!ignore_case) return memmem(value, length, part, part_length) != NULL;
  for (size_t i = 0; i + part_length <= length; i++)
    if (hp_ascii_equal(value + i, part, part_length)) return true;
  return false;
}

static bool value_holds(const hp_matcher *m, const hp_test *test, hpar_string read, bool ignore_case) {
  const char *value = read.bytes, *wanted = text_at(m, test->value);
  size_t length = read.length, wanted_length = test->length;
  switch ((hp_attribute_operator)test->operator) {
    case HP_ATTRIBUTE_PRESENT: return true;
    case HP_ATTRIBUTE_EQUALS: return length == wanted_length && hp_equal_bytes(value, wanted, length, ignore_case);
    case HP_ATTRIBUTE_WORD:
      for (size_t i = 0; i < wanted_length; i++)
        if (hp_ascii_is_white(wanted[i])) return false;
      return hp_has_word(value, length, wanted, wanted_length, ignore_case);
    case HP_ATTRIBUTE_DASH:
      return length >= wanted_length && hp_equal_bytes(value, wanted, wanted_length, ignore_case) &&
             (length == wanted_length || value[wanted_length] == '-');
    case HP_ATTRIBUTE_PREFIX:
      return wanted_length && length >= wanted_length && hp_equal_bytes(value, wanted, wanted_length, ignore_case);
    case HP_ATTRIBUTE_SUFFIX:
      return wanted_length && length >= wanted_length &&
             hp_equal_bytes(value + length - wanted_length, wanted, wanted_length, ignore_case);
    case HP_ATTRIBUTE_SUBSTRING: return contains(value, length, wanted, wanted_length, ignore_case);
  }
  return false;
}

static bool is_adjusted(hp_atom name) { return name >= HP_ATOM_ADJUSTED_XLINK_ACTUATE && name < HP_KNOWN_ATOMS; }

static hp_namespace_test namespace_of_adjusted(hp_atom name) {
  if (name <= HP_ATOM_ADJUSTED_XLINK_TYPE) return HP_NAMESPACE_IS_XLINK;
  return name <= HP_ATOM_ADJUSTED_XML_SPACE ? HP_NAMESPACE_IS_XML : HP_NAMESPACE_IS_XMLNS;
}

/* Returns true if the attribute has the name of the test, in a namespace of the test. */
static bool is_named(const hp_matcher *m, const hp_test *test, hp_atom name, bool is_html) {
  if (!is_adjusted(name)) {
    hp_bound_name wanted = m->names[test->name];
    return (test->ns == HP_NAMESPACE_ABSENT || test->ns == HP_NAMESPACE_ANY) && name &&
           name == (is_html ? wanted.lower : wanted.exact);
  }
  if (test->ns == HP_NAMESPACE_ABSENT) return false;
  if (test->ns != HP_NAMESPACE_ANY && test->ns != namespace_of_adjusted(name)) return false;
  const hp_known_name *known = &hp_known_names[name];
  const hp_selector_name *wanted = &m->set->names[test->name];
  return known->length == wanted->length && !memcmp(known->bytes, text_at(m, wanted->exact), wanted->length);
}

static bool attribute_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s) {
  if (!s->attributes) return false;
  for (uint32_t i = 0; i < s->attributes->count; i++) {
    const hp_attribute *attribute = &s->attributes->items[i];
    if (!is_named(m, test, attribute->name, s->is_html)) continue;
    bool ignore_case =
        test->letter_case == HP_VALUE_CASE_ASCII || (test->letter_case == HP_VALUE_CASE_HTML && s->is_html);
    if (test->operator== HP_ATTRIBUTE_PRESENT || value_holds(m, test, hp_value_of(m, s, attribute), ignore_case))
      return true;
  }
  return false;
}

static bool is_html_named(const hp_subject *s, hp_atom name) { return s->is_html && s->node->name == name; }

/* SVG 2 makes the SVG element a with href or xlink:href a hyperlink. */
static bool is_link(const hp_subject *s) {
  if (s->node->ns == HPAR_NAMESPACE_SVG && s->node->name == HP_ATOM_A)
    return hp_find_attribute(s->attributes, HP_ATOM_HREF) ||
           hp_find_attribute(s->attributes, HP_ATOM_ADJUSTED_XLINK_HREF);
  if (!s->is_html || (s->node->name != HP_ATOM_A && s->node->name != HP_ATOM_AREA)) return false;
  return hp_find_attribute(s->attributes, HP_ATOM_HREF) != NULL;
}

static bool is_checked(const hp_matcher *m, const hp_subject *s) {
  if (m->checked) return hp_checked_has(m->checked, s->ref);
  if (is_html_named(s, HP_ATOM_OPTION)) return hp_find_attribute(s->attributes, HP_ATOM_SELECTED) != NULL;
  if (!is_html_named(s, HP_ATOM_INPUT) || !hp_find_attribute(s->attributes, HP_ATOM_CHECKED)) return false;
  const hp_attribute *type = hp_find_attribute(s->attributes, HP_ATOM_TYPE);
  const hpar_string value = type ? (hpar_string){type->value, type->length} : (hpar_string){NULL, 0};
  return hp_is_word(value, "radio") || hp_is_word(value, "checkbox");
}

static bool can_be_disabled(const hp_subject *s) {
  if (!s->is_html) return false;
  switch (s->node->name) {
    case HP_ANY(BUTTON, INPUT, SELECT, TEXTAREA, OPTGROUP, OPTION, FIELDSET): return true;
    default: return false;
  }
}

static bool is_disabled(const hp_matcher *m, const hp_subject *s, const hp_frame *parent) {
  if (!can_be_disabled(s)) return false;
  if (hp_find_attribute(s->attributes, HP_ATOM_DISABLED)) return true;
  if (s->node->name == HP_ATOM_OPTGROUP) return false;
  if (s->node->name == HP_ATOM_OPTION) {
    if (!parent || !parent->element) return false;
    hp_subject group = hp_subject_of(m->base, parent->element);
    return is_html_named(&group, HP_ATOM_OPTGROUP) && hp_find_attribute(group.attributes, HP_ATOM_DISABLED);
  }
  return parent && parent->is_disabled;
}

static bool is_empty(const hp_matcher *m, const hp_node *node) {
  const char *base = m->base;
  for (hp_ref child = node->first; child; child = hp_node_at(base, child)->next) {
    const hp_node *n = hp_node_at(base, child);
    if (n->kind == HPAR_NODE_ELEMENT || (n->kind == HPAR_NODE_TEXT && n->text.length)) return false;
  }
  return true;
}

/* Scans the siblings up to the next element, so that all calls of a walk take linear time. */
static bool is_last_child(const hp_matcher *m, const hp_node *node) {
  const char *base = m->base;
  for (hp_ref next = node->next; next; next = hp_node_at(base, next)->next)
    if (hp_node_at(base, next)->kind == HPAR_NODE_ELEMENT) return false;
  return true;
}

/* Tests the children or the next sibling, or the last child. All calls of a walk take linear time,
 * because each node is the child of one element and the next sibling of one element. */
static bool local_holds(const hp_matcher *m, const hp_ahead_test *test, const hp_subject *s) {
  const char *base = m->base;
  if (test->kind != HP_AHEAD_HAS) return is_last_child(m, s->node);
  for (uint32_t i = test->first; i < test->first + test->count; i++) {
    const hp_relative *relative = &m->set->relatives[m->set->starts[i]];
    bool is_child = relative->combinator == HP_COMBINATOR_CHILD;
    for (hp_ref ref = is_child ? s->node->first : s->node->next; ref; ref = hp_node_at(base, ref)->next) {
      if (hp_node_at(base, ref)->kind != HPAR_NODE_ELEMENT) continue;
      hp_subject subject = hp_subject_of(base, ref);
      if (hp_compound_holds(m, relative->compound, &subject, NULL)) return true;
      if (!is_child) break;
    }
  }
  return false;
}

/* Removes the first subtag of a language range or tag, and returns it. After the last one,
 * `tag->bytes` is NULL. */
static hpar_string next_subtag(hpar_string *tag) {
  const char *hyphen = memchr(tag->bytes, '-', tag->length);
  const hpar_string subtag = {tag->bytes, hyphen ? (size_t)(hyphen - tag->bytes) : tag->length};
  *tag = hyphen ? (hpar_string){hyphen + 1, tag->length - subtag.length - 1} : (hpar_string){NULL, 0};
  return subtag;
}

static bool is_wildcard(hpar_string subtag) { return subtag.length == 1 && *subtag.bytes == '*'; }

static bool subtags_match(hpar_string range, hpar_string tag) {
  return range.length == tag.length && hp_ascii_equal(range.bytes, tag.bytes, tag.length);
}

/* Implements the extended filtering of RFC 4647, 3.3.2: de-DE matches de-Latn-DE. By CSS, an empty
 * range matches what has no language, and nothing else does. */
static bool range_holds(const hp_matcher *m, const hp_test *test, hpar_string language) {
  hpar_string range = {text_at(m, test->value), test->length};
  if (!language.length || !range.length) return language.length == range.length;
  hpar_string wanted = next_subtag(&range), found = next_subtag(&language);
  if (!is_wildcard(wanted) && !subtags_match(wanted, found)) return false;
  while (range.bytes) {
    wanted = next_subtag(&range);
    if (is_wildcard(wanted)) continue;
    do {
      if (!language.bytes) return false;
      found = next_subtag(&language);
    } while (!subtags_match(wanted, found) && found.length != 1);
    if (!subtags_match(wanted, found)) return false; /* at a singleton, as x in en-x-GB */
  }
  return true;
}

/* False for :lang(""), whose bit in a frame is inverted: a frame of zeros has no language. */
static bool is_range(const hp_test *test) { return test->length; }

/* Returns the attribute that declares the language, or NULL. */
static const hp_attribute *language_of(const hp_subject *s) {
  const hp_attribute *own = hp_find_attribute(s->attributes, HP_ATOM_ADJUSTED_XML_LANG);
  return own ? own : hp_find_attribute(s->attributes, HP_ATOM_LANG);
}

void hp_find_ranges(const hp_matcher *m, hp_frame *frame, hpar_string language) {
  hp_bits *bits = frame->bits + 4 * m->words + m->set->counters;
  for (uint32_t i = 0; i < m->set->languages; i += HP_BITS) bits[i / HP_BITS] = 0;
  for (uint32_t t = 0; t < m->set->tests_count; t++) {
    const hp_test *test = &m->set->tests[t];
    if (test->kind == HP_TEST_LANG && range_holds(m, test, language) == is_range(test)) hp_set_bit(bits, test->slot);
  }
}

void hp_find_languages(const hp_matcher *m, hp_frame *frame, const hp_frame *parent, const hp_subject *s) {
  const hp_attribute *own = language_of(s);
  hp_bits *bits = frame->bits + 4 * m->words + m->set->counters;
  if (own) {
    hp_find_ranges(m, frame, hp_value_of(m, s, own));
    return;
  }
  for (uint32_t i = 0; i < m->set->languages; i += HP_BITS) bits[i / HP_BITS] = hp_languages(m, parent)[i / HP_BITS];
}

static bool language_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s, const hp_frame *parent) {
  const hp_attribute *own = language_of(s);
  if (own) return range_holds(m, test, hp_value_of(m, s, own));
  return (parent && hp_bit_is_set(hp_languages(m, parent), test->slot)) == is_range(test);
}

static bool id_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s) {
  const hp_attribute *id = hp_find_attribute(s->attributes, HP_ATOM_ID);
  return id && hp_value_is_id(m, hp_value_of(m, s, id), test->value, test->length);
}

static bool class_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s) {
  const hp_attribute *classes = hp_find_attribute(s->attributes, HP_ATOM_CLASS);
  return classes && hp_value_has_class(m, hp_value_of(m, s, classes), test->value, test->length);
}

bool hp_nth_holds(int32_t a, int32_t b, uint32_t index) {
  int64_t distance = (int64_t)index - b;
  if (a == 0) return distance == 0;
  return distance % a == 0 && distance / a >= 0;
}

bool hp_choices_hold(const hp_matcher *m, uint32_t first, uint32_t count, const hp_subject *s, const hp_frame *parent) {
  for (uint32_t i = first; i < first + count; i++) {
    hp_choice choice = m->set->choices[i];
    if (choice.is_complex ? hp_bit_is_set(m->matched, choice.index) : hp_compound_holds(m, choice.index, s, parent))
      return true;
  }
  return false;
}

static bool is_root(const hp_matcher *m, const hp_subject *s) {
  hp_ref above = hp_parent_of(m->base, s->node);
  return above && hp_node_at(m->base, above)->kind == HPAR_NODE_DOCUMENT;
}

/* Without a scoping root, :scope is :root. */
static bool is_scope(const hp_matcher *m, const hp_subject *s) {
  return s->ref == m->scope || (hp_node_at(m->base, m->scope)->kind == HPAR_NODE_DOCUMENT && is_root(m, s));
}

static bool test_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s, const hp_frame *parent) {
  switch ((hp_test_kind)test->kind) {
    case HP_TEST_NEVER: return false;
    case HP_TEST_ID: return id_holds(m, test, s);
    case HP_TEST_CLASS: return class_holds(m, test, s);
    case HP_TEST_ATTRIBUTE: return attribute_holds(m, test, s);
    case HP_TEST_NTH_CHILD: return hp_nth_holds(test->a, test->b, parent->children);
    case HP_TEST_NTH_OF_TYPE: return hp_nth_holds(test->a, test->b, parent->of_type);
    case HP_TEST_NTH_OF_NAME:
      return hp_nth_holds(test->a, test->b, hp_counter(m, parent, test->slot + hp_namespace_index(s)));
    case HP_TEST_NTH_CHILD_OF:
      return hp_bit_is_set(m->matched, test->first) &&
             hp_nth_holds(test->a, test->b, hp_counter(m, parent, test->slot));
    case HP_TEST_ROOT: return is_root(m, s);
    case HP_TEST_SCOPE: return is_scope(m, s);
    case HP_TEST_EMPTY: return is_empty(m, s->node);
    case HP_TEST_LINK: return is_link(s);
    case HP_TEST_ENABLED: return can_be_disabled(s) && !is_disabled(m, s, parent);
    case HP_TEST_DISABLED: return is_disabled(m, s, parent);
    case HP_TEST_CHECKED: return is_checked(m, s);
    case HP_TEST_LANG: return language_holds(m, test, s, parent);
    case HP_TEST_LIST: return hp_choices_hold(m, test->first, test->count, s, parent);
    case HP_TEST_BIT: return hp_bit_is_set(m->matched, test->first);
    case HP_TEST_AHEAD:
      if (m->set->ahead[test->first].is_local) return local_holds(m, &m->set->ahead[test->first], s);
      return m->ahead && hp_bit_is_set(m->ahead, test->first);
  }
  return false;
}

static bool type_holds(const hp_matcher *m, const hp_compound *compound, const hp_subject *s) {
  /* Both types list HTML, SVG and MathML in this order; an element has one of these. */
  if (compound->ns != HP_NAMESPACE_ANY && s->node->ns - HPAR_NAMESPACE_HTML != compound->ns - HP_NAMESPACE_IS_HTML)
    return false;
  if (compound->name == HP_SELECT_NONE) return true;
  hp_bound_name name = m->names[compound->name];
  return s->node->name == (s->is_html ? name.lower : name.exact);
}

bool hp_compound_holds(const hp_matcher *m, uint32_t index, const hp_subject *s, const hp_frame *parent) {
  const hp_compound *compound = &m->set->compounds[index];
  if (!type_holds(m, compound, s)) return false;
  for (uint32_t i = compound->first_test; i != HP_SELECT_NONE; i = m->set->tests[i].next) {
    const hp_test *test = &m->set->tests[i];
    if (test_holds(m, test, s, parent) == test->negated) return false;
  }
  return true;
}

/*** unknown numbers of earlier siblings ***/

/* Returns NO if the number of children is at least `least` and excludes the test. */
static hp_tristate may_count(const hp_test *test, uint32_t least) {
  return test->a <= 0 && (int64_t)least > test->b ? HP_NO : HP_MAYBE;
}

/* The same for all children. Assumes that there are enough earlier ones. */
static hp_tristate may_count_children(const hp_matcher *m, const hp_test *test, uint32_t least) {
  hp_candidate_log *log = m->log;
  hp_tristate holds = may_count(test, least);
  if (holds == HP_NO || test->a > 0 || !log->assumes) return holds;
  uint32_t earlier = (uint32_t)test->b + 1 - least;
  if (earlier > log->min_children) log->min_children = earlier;
  return HP_NO;
}

static hp_tristate bit_may_hold(const hp_matcher *m, uint32_t instruction) {
  if (hp_bit_is_set(m->log->maybe, instruction)) return HP_MAYBE;
  return hp_bit_is_set(m->matched, instruction) ? HP_YES : HP_NO;
}

static hp_tristate choices_may_hold(const hp_matcher *m, const hp_test *test, const hp_subject *s,
                                    const hp_frame *parent) {
  hp_tristate result = HP_NO;
  for (uint32_t i = test->first; i < test->first + test->count; i++) {
    hp_choice choice = m->set->choices[i];
    hp_tristate holds =
        choice.is_complex ? bit_may_hold(m, choice.index) : hp_compound_may_hold(m, choice.index, s, parent);
    if (holds == HP_YES) return HP_YES;
    if (holds == HP_MAYBE) result = HP_MAYBE;
  }
  return result;
}

static hp_tristate tri_of(bool holds) { return holds ? HP_YES : HP_NO; }

/* The same if the numbers of children are known. The counter of a name does not include the element
 * yet. */
static hp_tristate known_count_holds(const hp_matcher *m, const hp_test *test, const hp_subject *s,
                                     const hp_frame *parent) {
  if (test->kind != HP_TEST_NTH_OF_NAME) return tri_of(test_holds(m, test, s, parent));
  return tri_of(hp_nth_holds(test->a, test->b, hp_counter(m, parent, test->slot + hp_namespace_index(s)) + 1));
}

static hp_tristate test_may_hold(const hp_matcher *m, const hp_test *test, const hp_subject *s,
                                 const hp_frame *parent) {
  if (m->log->knows_counts && hp_test_counts(test)) return known_count_holds(m, test, s, parent);
  switch ((hp_test_kind)test->kind) {
    case HP_TEST_NTH_CHILD: return may_count_children(m, test, parent->children);
    case HP_TEST_NTH_OF_TYPE: return may_count(test, parent->of_type);
    case HP_TEST_NTH_OF_NAME: return may_count(test, hp_counter(m, parent, test->slot + hp_namespace_index(s)) + 1);
    case HP_TEST_NTH_CHILD_OF: return bit_may_hold(m, test->first) == HP_NO ? HP_NO : HP_MAYBE;
    case HP_TEST_LIST: return choices_may_hold(m, test, s, parent);
    case HP_TEST_BIT: return bit_may_hold(m, test->first);
    default: return tri_of(test_holds(m, test, s, parent));
  }
}

hp_tristate hp_compound_may_hold(const hp_matcher *m, uint32_t index, const hp_subject *s, const hp_frame *parent) {
  const hp_compound *compound = &m->set->compounds[index];
  hp_tristate result = HP_YES;
  if (!type_holds(m, compound, s)) return HP_NO;
  for (uint32_t i = compound->first_test; i != HP_SELECT_NONE; i = m->set->tests[i].next) {
    const hp_test *test = &m->set->tests[i];
    hp_tristate holds = test_may_hold(m, test, s, parent);
    if (holds == HP_MAYBE)
      result = HP_MAYBE;
    else if ((holds == HP_YES) == test->negated)
      return HP_NO;
  }
  return result;
}

static bool test_counts(const hpar_selectors *set, const hp_bits *counting, const hp_test *test) {
  if (hp_test_counts(test)) return true;
  if (test->kind == HP_TEST_BIT) return hp_bit_is_set(counting, test->first);
  for (uint32_t i = test->first; test->kind == HP_TEST_LIST && i < test->first + test->count; i++) {
    hp_choice choice = set->choices[i];
    if (choice.is_complex ? hp_bit_is_set(counting, choice.index) : hp_compound_counts(set, counting, choice.index))
      return true;
  }
  return false;
}

bool hp_compound_counts(const hpar_selectors *set, const hp_bits *counting, uint32_t compound) {
  for (uint32_t t = set->compounds[compound].first_test; t != HP_SELECT_NONE; t = set->tests[t].next)
    if (test_counts(set, counting, &set->tests[t])) return true;
  return false;
}

bool hp_compound_counts_once(const hpar_selectors *set, const hp_bits *counting, uint32_t compound) {
  uint32_t count = 0;
  for (uint32_t t = set->compounds[compound].first_test; t != HP_SELECT_NONE; t = set->tests[t].next) {
    const hp_test *test = &set->tests[t];
    if (!test_counts(set, counting, test)) continue;
    if (!hp_test_counts(test) || test->kind == HP_TEST_NTH_CHILD_OF) return false;
    count++;
  }
  return count == 1;
}

bool hp_compound_counts_first(const hpar_selectors *set, uint32_t compound) {
  for (uint32_t t = set->compounds[compound].first_test; t != HP_SELECT_NONE; t = set->tests[t].next) {
    const hp_test *test = &set->tests[t];
    if (test->kind == HP_TEST_NTH_CHILD && test->a <= 0 && !test->negated) return true;
  }
  return false;
}
