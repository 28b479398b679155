/* Pseudo-classes. */

#include "base/bytes.h"
#include "select/parse.h"

#include <string.h>

enum { MAX_NESTING = 32 };

typedef enum pseudo_kind {
  PSEUDO_TEST,  /* a test without arguments */
  PSEUDO_NTH,   /* An+B in parentheses */
  PSEUDO_INDEX, /* a fixed An+B */
  PSEUDO_ONLY,  /* a fixed An+B from both ends */
  PSEUDO_LIST,  /* a selector list */
  PSEUDO_HAS,
  PSEUDO_LANG,
  PSEUDO_NEVER /* a state that a document without a user does not have */
} pseudo_kind;

enum { OF_TYPE = 1, FROM_END = 2, NEGATED = 4, FORGIVING = 8 };

typedef struct pseudo {
  const char *name;
  pseudo_kind kind;
  hp_test_kind test;
  unsigned flags;
  const char *not_in_stream; /* why a stream cannot have it; NULL: it can */
} pseudo;

static const pseudo pseudos[] = {
    {"root", PSEUDO_TEST, HP_TEST_ROOT, 0, NULL},
    {"scope", PSEUDO_TEST, HP_TEST_SCOPE, 0, NULL},
    {"empty", PSEUDO_TEST, HP_TEST_EMPTY, 0, ":empty needs what follows the start tag"},
    {"link", PSEUDO_TEST, HP_TEST_LINK, 0, NULL},
    {"any-link", PSEUDO_TEST, HP_TEST_LINK, 0, NULL},
    {"enabled", PSEUDO_TEST, HP_TEST_ENABLED, 0, NULL},
    {"disabled", PSEUDO_TEST, HP_TEST_DISABLED, 0, NULL},
    {"checked", PSEUDO_TEST, HP_TEST_CHECKED, 0, NULL},
    {"first-child", PSEUDO_INDEX, HP_TEST_NTH_CHILD, 0, NULL},
    {"last-child", PSEUDO_INDEX, HP_TEST_AHEAD, FROM_END, ":last-child needs what follows the start tag"},
    {"only-child", PSEUDO_ONLY, HP_TEST_NTH_CHILD, 0, ":only-child needs what follows the start tag"},
    {"first-of-type", PSEUDO_INDEX, HP_TEST_NTH_OF_TYPE, OF_TYPE, NULL},
    {"last-of-type", PSEUDO_INDEX, HP_TEST_AHEAD, OF_TYPE | FROM_END, ":last-of-type needs what follows the start tag"},
    {"only-of-type", PSEUDO_ONLY, HP_TEST_NTH_OF_TYPE, OF_TYPE, ":only-of-type needs what follows the start tag"},
    {"nth-child", PSEUDO_NTH, HP_TEST_NTH_CHILD, 0, NULL},
    {"nth-of-type", PSEUDO_NTH, HP_TEST_NTH_OF_TYPE, OF_TYPE, NULL},
    {"nth-last-child", PSEUDO_NTH, HP_TEST_AHEAD, FROM_END, ":nth-last-child() needs what follows the start tag"},
    {"nth-last-of-type", PSEUDO_NTH, HP_TEST_AHEAD, OF_TYPE | FROM_END,
     ":nth-last-of-type() needs what follows the start tag"},
    {"is", PSEUDO_LIST, HP_TEST_LIST, FORGIVING, NULL},
    {"where", PSEUDO_LIST, HP_TEST_LIST, FORGIVING, NULL},
    {"matches", PSEUDO_LIST, HP_TEST_LIST, FORGIVING, NULL},
    {"not", PSEUDO_LIST, HP_TEST_LIST, NEGATED, NULL},
    {"has", PSEUDO_HAS, HP_TEST_AHEAD, 0, ":has() needs what follows the start tag"},
    {"lang", PSEUDO_LANG, HP_TEST_LANG, 0, NULL},
    {"hover", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"active", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"focus", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"focus-within", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"focus-visible", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"visited", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
    {"target", PSEUDO_NEVER, HP_TEST_NEVER, 0, NULL},
};

static const pseudo *find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof pseudos / sizeof *pseudos; i++) {
    if (strlen(pseudos[i].name) != length) continue;
    size_t k = 0;
    while (k < length && hp_ascii_lower(name[k]) == pseudos[i].name[k]) k++;
    if (k == length) return &pseudos[i];
  }
  return NULL;
}

/* Makes `test` the answer of an instruction, where it is inside a look-ahead test: a reverse
 * walk cannot count from the left. */
static bool answer_by_instruction(hp_selector_parser *p, uint32_t compound, const hp_test *test) {
  hp_compound *made = HP_SELECT_PUSH(p->set, compounds);
  if (!made) return hp_selector_out_of_memory(p);
  *made = (hp_compound){.name = HP_SELECT_NONE, .first_test = HP_SELECT_NONE};
  uint32_t inner = p->set->compounds_count - 1;
  hp_test *copy = hp_selector_add_test(p, inner, (hp_test_kind)test->kind);
  if (!copy) return false;
  uint32_t next = copy->next;
  *copy = *test;
  copy->next = next;
  uint32_t instruction = hp_selector_instruction(p, inner, HP_SELECT_NONE);
  if (instruction == HP_SELECT_NONE) return false;
  hp_test *bit = hp_selector_add_test(p, compound, HP_TEST_BIT);
  if (!bit) return false;
  bit->first = instruction;
  return true;
}

static bool add_walk_test(hp_selector_parser *p, uint32_t compound, hp_test test) {
  if (test.kind != HP_TEST_LANG) p->set->looks_at_siblings = true;
  if (p->ahead_depth) return answer_by_instruction(p, compound, &test);
  hp_test *made = hp_selector_add_test(p, compound, (hp_test_kind)test.kind);
  if (!made) return false;
  test.next = made->next;
  *made = test;
  return true;
}

static bool is_flat(const hpar_selectors *set, const hp_compound *compound);

/* Returns true if the test reads the element alone, its children and its next sibling. */
static bool is_flat_test(const hpar_selectors *set, const hp_test *test) {
  switch ((hp_test_kind)test->kind) {
    case HP_TEST_NEVER:
    case HP_TEST_ID:
    case HP_TEST_CLASS:
    case HP_TEST_ATTRIBUTE:
    case HP_TEST_ROOT:
    case HP_TEST_SCOPE:
    case HP_TEST_EMPTY:
    case HP_TEST_LINK:
    case HP_TEST_CHECKED: return true;
    case HP_TEST_AHEAD: return set->ahead[test->first].is_local;
    case HP_TEST_LIST:
      for (uint32_t i = test->first; i < test->first + test->count; i++)
        if (set->choices[i].is_complex || !is_flat(set, &set->compounds[set->choices[i].index])) return false;
      return true;
    default: return false;
  }
}

static bool is_flat(const hpar_selectors *set, const hp_compound *compound) {
  for (uint32_t t = compound->first_test; t != HP_SELECT_NONE; t = set->tests[t].next)
    if (!is_flat_test(set, &set->tests[t])) return false;
  return true;
}

static bool is_local(const hpar_selectors *set, const hp_ahead_test *test) {
  if (test->kind == HP_AHEAD_NTH_LAST_CHILD) return test->a == 0 && test->b == 1;
  if (test->kind != HP_AHEAD_HAS) return false;
  for (uint32_t i = test->first; i < test->first + test->count; i++) {
    const hp_relative *relative = &set->relatives[set->starts[i]];
    if (!relative->is_last || !is_flat(set, &set->compounds[relative->compound])) return false;
    if (relative->combinator != HP_COMBINATOR_CHILD && relative->combinator != HP_COMBINATOR_NEXT) return false;
  }
  return true;
}

static bool add_ahead(hp_selector_parser *p, uint32_t compound, hp_ahead_test test) {
  hp_ahead_test *made = HP_SELECT_PUSH(p->set, ahead);
  if (!made) return hp_selector_out_of_memory(p);
  *made = test;
  made->is_local = is_local(p->set, &test);
  hp_test *use = hp_selector_add_test(p, compound, HP_TEST_AHEAD);
  if (!use) return false;
  use->first = p->set->ahead_count - 1;
  return true;
}

static bool at(const hp_selector_parser *p, char c) { return p->css.at < p->css.end && *p->css.at == c; }

/* Returns true at a ")" or at the end of the text, which closes all (CSS Syntax, "Consume a
 * simple block"). */
static bool at_close(const hp_selector_parser *p) { return p->css.at == p->css.end || *p->css.at == ')'; }

static bool close_parenthesis(hp_selector_parser *p) {
  hp_css_skip_space(&p->css);
  if (p->css.at == p->css.end) return true;
  if (!at(p, ')')) return hp_selector_fail(p, p->css.at, "')' is missing");
  p->css.at++;
  return true;
}

/* Skips to the next ',' or ')' of this level, or to the end of the text. */
static void skip_argument(hp_css *css) {
  unsigned depth = 0;
  for (; css->at < css->end; css->at++) {
    char c = *css->at;
    if (c == '"' || c == '\'') {
      for (css->at++; css->at < css->end && *css->at != c; css->at++)
        if (*css->at == '\\') css->at++;
      if (css->at >= css->end) break;
    } else if (c == '\\') {
      css->at++;
    } else if (c == '(' || c == '[') {
      depth++;
    } else if (!depth && (c == ',' || c == ')')) {
      return;
    } else if (c == ')' || c == ']') {
      depth -= depth > 0;
    }
  }
  css->at = css->end;
}

/* Reads the choices of a list up to ')'. With `forgiving`, a choice that is no selector is
 * dropped. */
static bool read_choices(hp_selector_parser *p, bool forgiving, uint32_t *first, uint32_t *count) {
  enum { MAX_CHOICES = 256 };
  hp_choice choices[MAX_CHOICES];
  uint32_t n = 0;
  hp_css_skip_space(&p->css);
  for (bool more = !(forgiving && at_close(p)); more;) {
    hp_css_skip_space(&p->css);
    if (n == MAX_CHOICES) return hp_selector_refuse(p, p->css.at, "a list may have 256 choices at most");
    hpar_selectors before = *p->set;
    hp_css begin = p->css;
    if (hp_selector_complex(p, HP_SELECT_NONE, &choices[n])) {
      n++;
    } else {
      if (!forgiving || p->status != HPAR_OK || p->is_refused) return false;
      hp_selector_take_back(p->set, &before);
      p->reason = NULL;
      p->css = begin;
      skip_argument(&p->css);
    }
    hp_css_skip_space(&p->css);
    more = at(p, ',');
    if (more) p->css.at++;
  }
  *first = p->set->choices_count;
  *count = n;
  for (uint32_t i = 0; i < n; i++) {
    hp_choice *made = HP_SELECT_PUSH(p->set, choices);
    if (!made) return hp_selector_out_of_memory(p);
    *made = choices[i];
  }
  return true;
}

static bool read_list(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  uint32_t first, count;
  if (!read_choices(p, pseudo->flags & FORGIVING, &first, &count)) return false;
  hp_test *test = hp_selector_add_test(p, compound, HP_TEST_LIST);
  if (!test) return false;
  test->first = first;
  test->count = count;
  test->negated = pseudo->flags & NEGATED;
  return close_parenthesis(p);
}

/* Makes the instruction that counts the siblings that match one of the choices. */
static bool count_choices(hp_selector_parser *p, uint32_t first, uint32_t count, hp_test *nth) {
  hp_compound *made = HP_SELECT_PUSH(p->set, compounds);
  if (!made) return hp_selector_out_of_memory(p);
  *made = (hp_compound){.name = HP_SELECT_NONE, .first_test = HP_SELECT_NONE};
  uint32_t counting = p->set->compounds_count - 1;
  hp_test *list = hp_selector_add_test(p, counting, HP_TEST_LIST);
  if (!list) return false;
  list->first = first;
  list->count = count;
  nth->first = hp_selector_instruction(p, counting, HP_SELECT_NONE);
  if (nth->first == HP_SELECT_NONE) return false;
  nth->slot = p->set->counters++;
  p->set->instructions[nth->first].slot = nth->slot;
  nth->kind = HP_TEST_NTH_CHILD_OF;
  return true;
}

/* Makes the instruction that counts the siblings with the name of the compound. Without a name, the
 * walk counts all types. */
static bool count_type(hp_selector_parser *p, uint32_t compound, hp_test *nth) {
  uint32_t name = p->set->compounds[compound].name;
  if (name == HP_SELECT_NONE) {
    p->set->counts_types = true;
    return true;
  }
  hp_compound *made = HP_SELECT_PUSH(p->set, compounds);
  if (!made) return hp_selector_out_of_memory(p);
  *made = (hp_compound){.name = name, .first_test = HP_SELECT_NONE};
  uint32_t counting = hp_selector_instruction(p, p->set->compounds_count - 1, HP_SELECT_NONE);
  if (counting == HP_SELECT_NONE) return false;
  nth->kind = HP_TEST_NTH_OF_NAME;
  nth->slot = p->set->counters;
  p->set->counters += HP_ELEMENT_NAMESPACES;
  p->set->instructions[counting].slot = nth->slot;
  p->set->instructions[counting].counts_by_namespace = true;
  return true;
}

static bool takes_of(hp_selector_parser *p) {
  hp_css ahead = p->css;
  if (ahead.end - ahead.at < 3 || hp_ascii_lower(ahead.at[0]) != 'o' || hp_ascii_lower(ahead.at[1]) != 'f')
    return false;
  ahead.at += 2;
  if (hp_css_at_identifier(&ahead) && !hp_css_skip_space(&ahead)) return false;
  p->css = ahead;
  return true;
}

static bool read_nth(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  int32_t a, b;
  uint32_t first = 0, count = 0;
  bool of = false;
  hp_css_skip_space(&p->css);
  if (!hp_css_nth(&p->css, &a, &b)) return hp_selector_fail(p, p->css.at, "odd, even or An+B must be here");
  hp_css_skip_space(&p->css);
  if (!at_close(p) && !(pseudo->flags & OF_TYPE) && takes_of(p)) {
    uint32_t ahead_before = p->set->ahead_count;
    of = true;
    if (pseudo->flags & FROM_END) p->ahead_depth++;
    bool read = read_choices(p, false, &first, &count);
    if (pseudo->flags & FROM_END) p->ahead_depth--;
    if (!read) return false;
    if (!(pseudo->flags & FROM_END) && p->ahead_depth && p->set->ahead_count != ahead_before)
      return hp_selector_refuse(p, p->css.at, "a look-ahead test may hold :nth-child(of S) only without look-ahead");
  }
  if (!close_parenthesis(p)) return false;
  if (pseudo->flags & FROM_END) {
    hp_ahead_test test = {.kind = pseudo->flags & OF_TYPE ? HP_AHEAD_NTH_LAST_OF_TYPE : HP_AHEAD_NTH_LAST_CHILD,
                          .a = a,
                          .b = b,
                          .first = first,
                          .count = count};
    if (of) {
      test.kind = HP_AHEAD_NTH_LAST_OF;
      test.slot = p->set->ahead_counters++;
    }
    return add_ahead(p, compound, test);
  }
  hp_test test = {.kind = (uint8_t)pseudo->test, .a = a, .b = b, .next = HP_SELECT_NONE, .first = HP_SELECT_NONE};
  if ((pseudo->flags & OF_TYPE) && !count_type(p, compound, &test)) return false;
  if (of && !count_choices(p, first, count, &test)) return false;
  return add_walk_test(p, compound, test);
}

static bool add_index(hp_selector_parser *p, uint32_t compound, bool of_type, bool from_end) {
  if (from_end)
    return add_ahead(
        p, compound,
        (hp_ahead_test){.kind = of_type ? HP_AHEAD_NTH_LAST_OF_TYPE : HP_AHEAD_NTH_LAST_CHILD, .a = 0, .b = 1});
  hp_test test = {.kind = (uint8_t)(of_type ? HP_TEST_NTH_OF_TYPE : HP_TEST_NTH_CHILD),
                  .a = 0,
                  .b = 1,
                  .next = HP_SELECT_NONE,
                  .first = HP_SELECT_NONE};
  return (!of_type || count_type(p, compound, &test)) && add_walk_test(p, compound, test);
}

/* Reads one relative selector of :has(). */
static bool read_relative(hp_selector_parser *p, uint32_t *start) {
  enum { MAX_RELATIVE = 64 };
  hp_relative steps[MAX_RELATIVE];
  uint32_t n = 0;
  hp_css_skip_space(&p->css);
  hp_combinator combinator = hp_selector_combinator(p);
  if (combinator == HP_COMBINATOR_NONE) combinator = HP_COMBINATOR_DESCENDANT;
  do {
    if (n == MAX_RELATIVE) return hp_selector_refuse(p, p->css.at, ":has() may hold 64 compounds a selector at most");
    uint32_t compound = hp_selector_compound(p);
    if (compound == HP_SELECT_NONE) return false;
    steps[n++] = (hp_relative){compound, (uint8_t)combinator, false};
    combinator = hp_selector_combinator(p);
  } while (combinator != HP_COMBINATOR_NONE);
  steps[n - 1].is_last = true;
  *start = p->set->relatives_count;
  for (uint32_t i = 0; i < n; i++) {
    hp_relative *made = HP_SELECT_PUSH(p->set, relatives);
    if (!made) return hp_selector_out_of_memory(p);
    *made = steps[i];
  }
  return true;
}

static bool read_has(hp_selector_parser *p, uint32_t compound, const char *begin) {
  enum { MAX_RELATIVES = 64 };
  uint32_t starts[MAX_RELATIVES], n = 0;
  if (p->inside_has) return hp_selector_fail(p, begin, ":has() must not be inside :has()");
  p->inside_has = true;
  p->ahead_depth++;
  bool read = true;
  for (bool more = true; read && more;) {
    if (n == MAX_RELATIVES) return hp_selector_refuse(p, p->css.at, ":has() may hold 64 selectors at most");
    read = read_relative(p, &starts[n]);
    n++;
    more = read && at(p, ',');
    if (more) p->css.at++;
  }
  p->ahead_depth--;
  p->inside_has = false;
  if (!read) return false;
  uint32_t first = p->set->starts_count;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *made = HP_SELECT_PUSH(p->set, starts);
    if (!made) return hp_selector_out_of_memory(p);
    *made = starts[i];
  }
  return close_parenthesis(p) &&
         add_ahead(p, compound, (hp_ahead_test){.kind = HP_AHEAD_HAS, .first = first, .count = n});
}

/* Reads the language ranges of :lang(): one test whose choices are compounds of one range each. */
static bool read_lang(hp_selector_parser *p, uint32_t compound) {
  enum { MAX_RANGES = 32 };
  hp_choice choices[MAX_RANGES];
  uint32_t n = 0;
  do {
    hp_test test = {.kind = HP_TEST_LANG, .next = HP_SELECT_NONE, .first = HP_SELECT_NONE};
    hp_css_skip_space(&p->css);
    const char *begin = p->css.at;
    if (n == MAX_RANGES) return hp_selector_refuse(p, begin, ":lang() may hold 32 ranges at most");
    bool is_string = at(p, '"') || at(p, '\'');
    if (is_string) {
      uint32_t room = p->set->text_count;
      if (!hp_select_grow(&p->set->text, &p->set->text_capacity, room + 3 * (size_t)(p->css.end - begin), 1))
        return hp_selector_out_of_memory(p);
      ptrdiff_t length = hp_css_string(&p->css, p->set->text + room);
      if (length < 0) return hp_selector_fail(p, begin, "this string is not closed");
      test.value = room;
      test.length = (uint32_t)length;
      p->set->text_count += (uint32_t)length;
    } else {
      ptrdiff_t length = hp_selector_identifier(p, false, &test.value);
      if (length < 0) return hp_selector_fail(p, begin, "a language must be here");
      test.length = (uint32_t)length;
    }
    hp_compound *made = HP_SELECT_PUSH(p->set, compounds);
    if (!made) return hp_selector_out_of_memory(p);
    *made = (hp_compound){.name = HP_SELECT_NONE, .first_test = HP_SELECT_NONE};
    uint32_t one = p->set->compounds_count - 1;
    test.slot = p->set->languages++;
    if (!add_walk_test(p, one, test)) return false;
    choices[n++] = (hp_choice){false, one};
    hp_css_skip_space(&p->css);
  } while (at(p, ',') && p->css.at++);
  uint32_t first = p->set->choices_count;
  for (uint32_t i = 0; i < n; i++) {
    hp_choice *made = HP_SELECT_PUSH(p->set, choices);
    if (!made) return hp_selector_out_of_memory(p);
    *made = choices[i];
  }
  hp_test *list = hp_selector_add_test(p, compound, HP_TEST_LIST);
  if (!list) return false;
  list->first = first;
  list->count = n;
  return close_parenthesis(p);
}

static bool read_arguments(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo, const char *begin) {
  switch (pseudo->kind) {
    case PSEUDO_NTH: return read_nth(p, compound, pseudo);
    case PSEUDO_LIST: return read_list(p, compound, pseudo);
    case PSEUDO_HAS: return read_has(p, compound, begin);
    case PSEUDO_LANG: return read_lang(p, compound);
    default: return hp_selector_fail(p, begin, "this pseudo-class takes no argument");
  }
}

static bool add_plain(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  bool of_type = pseudo->flags & OF_TYPE;
  switch (pseudo->kind) {
    case PSEUDO_INDEX: return add_index(p, compound, of_type, pseudo->flags & FROM_END);
    case PSEUDO_ONLY: return add_index(p, compound, of_type, false) && add_index(p, compound, of_type, true);
    default: break;
  }
  hp_test test = {.kind = (uint8_t)pseudo->test, .next = HP_SELECT_NONE, .first = HP_SELECT_NONE};
  if (pseudo->test == HP_TEST_ENABLED || pseudo->test == HP_TEST_DISABLED) {
    p->set->looks_at_forms = true;
    return add_walk_test(p, compound, test);
  }
  /* Without a scoping root, :scope is :root. */
  bool is_scope = pseudo->test == HP_TEST_SCOPE && p->for_stream;
  return hp_selector_add_test(p, compound, is_scope ? HP_TEST_ROOT : pseudo->test) != NULL;
}

bool hp_selector_pseudo(hp_selector_parser *p, uint32_t compound) {
  const char *begin = p->css.at++;
  if (at(p, ':')) return hp_selector_fail(p, begin, "a pseudo-element is no element of the tree");
  uint32_t place, kept = p->set->text_count;
  ptrdiff_t length = hp_selector_identifier(p, false, &place);
  if (length < 0) return hp_selector_fail(p, begin, "a pseudo-class must follow ':'");
  const pseudo *pseudo = find(p->set->text + place, (size_t)length);
  p->set->text_count = kept;
  if (!pseudo) return hp_selector_fail(p, begin, "this pseudo-class is unknown");
  if (p->for_stream && pseudo->not_in_stream) return hp_selector_refuse(p, begin, pseudo->not_in_stream);
  bool takes_arguments = pseudo->kind == PSEUDO_NTH || pseudo->kind == PSEUDO_LIST || pseudo->kind == PSEUDO_HAS ||
                         pseudo->kind == PSEUDO_LANG;
  if (at(p, '(') != takes_arguments)
    return hp_selector_fail(p, begin,
                            takes_arguments ? "this pseudo-class takes an argument in parentheses"
                                            : "this pseudo-class takes no argument");
  if (!takes_arguments) return add_plain(p, compound, pseudo);
  if (p->nesting == MAX_NESTING)
    return hp_selector_refuse(p, begin, "parentheses may be nested 32 levels deep at most");
  p->css.at++;
  p->nesting++;
  bool read = read_arguments(p, compound, pseudo, begin);
  p->nesting--;
  return read;
}
