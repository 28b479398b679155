#include "select/program.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"

#include <string.h>

/*** tokens ***/

/* Reads the tokens of selectors: white space, identifiers with escapes, strings, An+B.
 * Source: CSS Syntax Level 3, https://drafts.csswg.org/css-syntax/. */

typedef struct hp_css {
  const char *at, *end, *begin;
} hp_css;

static bool is_name_start(char c) { return hp_ascii_is_letter(c) || c == '_' || (unsigned char)c >= 0x80 || !c; }
static bool is_name(char c) { return is_name_start(c) || hp_ascii_is_digit(c) || c == '-'; }

/* Skips comments, which separate nothing. */
static void css_skip_comments(hp_css *css) {
  while (css->end - css->at >= 2 && css->at[0] == '/' && css->at[1] == '*') {
    const char *close = memmem(css->at + 2, (size_t)(css->end - css->at) - 2, "*/", 2);
    css->at = close ? close + 2 : css->end;
  }
}

/* Skips white space and comments. Returns true if it skipped white space. */
static bool css_skip_space(hp_css *css) {
  bool found = false;
  for (;;) {
    css_skip_comments(css);
    if (css->at == css->end || !hp_ascii_is_white(*css->at)) return found;
    css->at++;
    found = true;
  }
}

static bool is_newline(char c) { return c == '\n' || c == '\f' || c == '\r'; }

/* Requires at < end. A backslash at the end of the text is an escape, too. */
static bool is_escape(const char *at, const char *end) { return *at == '\\' && (end - at == 1 || !is_newline(at[1])); }

/* Returns the character after the one at `at`; CR LF is one. Requires at < end. */
static const char *after_character(const char *at, const char *end) {
  return at + (end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? 2 : 1);
}

/* Returns true if an identifier begins at the reader. */
static bool css_at_identifier(const hp_css *css) {
  const char *at = css->at;
  if (at < css->end && *at == '-') at++;
  if (at == css->end) return false;
  return is_name_start(*at) || (at > css->at && *at == '-') || is_escape(at, css->end);
}

static char *put_code_point(char *to, uint32_t code) {
  bool is_none = code == 0 || code > 0x10FFFF || (code & ~UINT32_C(0x7FF)) == 0xD800;
  return hp_put_code_point(to, is_none ? 0xFFFD : code);
}

/* Reads what follows a backslash. */
static char *put_escape(hp_css *css, char *to) {
  int digit = css->at < css->end ? hp_hex_value(*css->at) : -1;
  if (digit < 0) {
    if (css->at == css->end) return put_code_point(to, 0);
    *to++ = *css->at++;
    return to;
  }
  uint32_t code = 0;
  for (int i = 0; i < 6 && css->at < css->end && (digit = hp_hex_value(*css->at)) >= 0; i++, css->at++)
    code = code * 16 + (uint32_t)digit;
  if (css->at < css->end && hp_ascii_is_white(*css->at)) css->at = after_character(css->at, css->end);
  return put_code_point(to, code);
}

/* Reads an identifier. Writes the unescaped bytes to `to`, which holds three times the bytes left.
 * Returns the length, or -1. */
static ptrdiff_t css_identifier(hp_css *css, char *to) {
  if (!css_at_identifier(css)) return -1;
  const char *from = to;
  while (css->at < css->end) {
    if (!*css->at) {
      to = put_code_point(to, 0);
      css->at++;
    } else if (is_name(*css->at)) {
      *to++ = *css->at++;
    } else if (is_escape(css->at, css->end)) {
      css->at++;
      to = put_escape(css, to);
    } else {
      break;
    }
  }
  return to == from ? -1 : to - from;
}

/* Reads a quoted string. Writes as the identifier does. Returns the length, or -1 if it is not
 * closed. */
static ptrdiff_t css_string(hp_css *css, char *to) {
  const char *from = to;
  char quote = *css->at++;
  for (; css->at < css->end && *css->at != quote;) {
    if (is_newline(*css->at)) return -1;
    if (*css->at != '\\') {
      *to++ = *css->at++;
    } else if (++css->at < css->end && is_newline(*css->at)) {
      css->at = after_character(css->at, css->end);
    } else if (css->at < css->end) {
      to = put_escape(css, to);
    }
  }
  if (css->at < css->end) css->at++; /* the end of the text closes a string, too */
  return to - from;
}

static bool take_word(hp_css *css, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(css->end - css->at) < length || !hp_ascii_equal(css->at, word, length)) return false;
  if (css->at + length < css->end && is_name(css->at[length])) return false;
  css->at += length;
  return true;
}

static bool take_number(hp_css *css, int32_t *number) {
  if (css->at == css->end || !hp_ascii_is_digit(*css->at)) return false;
  int64_t value = 0;
  for (; css->at < css->end && hp_ascii_is_digit(*css->at); css->at++)
    if (value < INT32_MAX) value = value * 10 + (*css->at - '0');
  *number = value > INT32_MAX ? INT32_MAX : (int32_t)value;
  return true;
}

static int take_sign(hp_css *css) {
  if (css->at == css->end || (*css->at != '+' && *css->at != '-')) return 0;
  return *css->at++ == '-' ? -1 : 1;
}

/* Reads "odd", "even" or An+B. Returns false if none is at the reader. A number with an identifier
 * right behind it is a dimension. */
static bool css_nth(hp_css *css, int32_t *a, int32_t *b) {
  if (take_word(css, "odd")) return *a = 2, *b = 1, true;
  if (take_word(css, "even")) return *a = 2, *b = 0, true;
  int sign = take_sign(css);
  int32_t number = 1;
  bool has_number = take_number(css, &number);
  if (css->at == css->end || (*css->at | 0x20) != 'n') {
    *a = 0;
    *b = sign < 0 ? -number : number;
    return has_number && !css_at_identifier(css);
  }
  css->at++;
  *a = sign < 0 ? -number : number;
  *b = 0;
  hp_css rest = *css;
  css_skip_space(&rest);
  sign = take_sign(&rest);
  if (!sign) return css->at == css->end || !is_name(*css->at);
  css_skip_space(&rest);
  if (!take_number(&rest, &number)) return false;
  *b = sign < 0 ? -number : number;
  *css = rest;
  return !css_at_identifier(css);
}

/*** selectors ***/

/* Translates the text of one selector list to instructions that accept a selector. */

typedef struct hp_selector_parser {
  hpar_selectors *set;
  hp_css css;
  hp_unwind unwind;
  const char *reason;   /* of an error */
  size_t offset;        /* of the error */
  unsigned nesting;     /* of parentheses */
  unsigned ahead_depth; /* inside the arguments of look-ahead tests */
  bool inside_has;
  bool for_stream; /* tests that need what follows a start tag are refused */
  bool is_refused; /* by a limit of this library: a forgiving list does not forgive it */
} hp_selector_parser;

/* Any error ends the innermost hp_try: a forgiving list goes on after it. */
static _Noreturn void selector_fail(hp_selector_parser *p, const char *at, const char *reason) {
  p->reason = reason;
  p->offset = (size_t)(at - p->css.begin);
  hp_unwind_now(&p->unwind, HPAR_ERROR_ARGUMENT);
}

static _Noreturn void selector_refuse(hp_selector_parser *p, const char *at, const char *reason) {
  p->is_refused = true;
  selector_fail(p, at, reason);
}

static void reserve(hp_selector_parser *p, void *items, uint32_t *capacity, size_t need, size_t item_size) {
  if (!hp_reserve(items, capacity, need, item_size)) hp_unwind_now(&p->unwind, HPAR_ERROR_MEMORY);
}

#define PUSH(p, name)                                                                            \
  (reserve((p), &(p)->set->name, &(p)->set->name##_capacity, (size_t)(p)->set->name##_count + 1, \
           sizeof *(p)->set->name),                                                              \
   &(p)->set->name[(p)->set->name##_count++])

static bool at(const hp_selector_parser *p, char c) { return p->css.at < p->css.end && *p->css.at == c; }

/* Returns free space at the end of the set's text for the rest of the selector. */
static char *text_room(hp_selector_parser *p) {
  hpar_selectors *set = p->set;
  reserve(p, &set->text, &set->text_capacity, set->text_count + 3 * (size_t)(p->css.end - p->css.at) + 4, 1);
  return set->text + set->text_count;
}

/* Reads an identifier to the set's text. Returns its length, or -1. `*place` receives its place. */
static ptrdiff_t selector_identifier(hp_selector_parser *p, uint32_t *place) {
  ptrdiff_t length = css_identifier(&p->css, text_room(p));
  *place = p->set->text_count;
  if (length > 0) p->set->text_count += (uint32_t)length;
  return length;
}

/* Reads an identifier or a string in quotes. `reason`: why there is no identifier. */
static void read_text(hp_selector_parser *p, hp_test *test, const char *reason) {
  const char *begin = p->css.at;
  const bool is_string = at(p, '"') || at(p, '\'');
  ptrdiff_t length = is_string ? css_string(&p->css, text_room(p)) : css_identifier(&p->css, text_room(p));
  if (length < 0) selector_fail(p, begin, is_string ? "this string is not closed" : reason);
  test->value = p->set->text_count;
  test->length = (uint32_t)length;
  p->set->text_count += (uint32_t)length;
}

/* Returns the index of the name at `place`, and appends its lower-case form. */
static uint32_t add_name(hp_selector_parser *p, uint32_t place, uint32_t length) {
  hpar_selectors *set = p->set;
  reserve(p, &set->text, &set->text_capacity, (size_t)set->text_count + length, 1);
  uint32_t lower = set->text_count;
  for (uint32_t i = 0; i < length; i++) set->text[lower + i] = hp_ascii_lower(set->text[place + i]);
  set->text_count += length;
  *PUSH(p, names) = (hp_selector_name){place, lower, length};
  return set->names_count - 1;
}

/* Appends a compound without tests. Returns its index. */
static uint32_t add_compound(hp_selector_parser *p, uint32_t name) {
  *PUSH(p, compounds) = (hp_compound){.name = name, .first_test = HP_SELECT_NONE};
  return p->set->compounds_count - 1;
}

/* Appends a test to the compound. */
static void add_test(hp_selector_parser *p, uint32_t compound, hp_test test) {
  hpar_selectors *set = p->set;
  test.next = HP_SELECT_NONE;
  *PUSH(p, tests) = test;
  uint32_t *link = &set->compounds[compound].first_test;
  while (*link != HP_SELECT_NONE) link = &set->tests[*link].next;
  *link = set->tests_count - 1;
}

/* Returns the namespace that a prefix stands for, or HP_NAMESPACE_ABSENT if it stands for none. */
static hp_namespace_test namespace_of(const char *prefix, size_t length, bool is_attribute) {
  static const struct {
    const char *prefix;
    hp_namespace_test ns;
    bool is_attribute;
  } known[] = {{"html", HP_NAMESPACE_IS_HTML, false},   {"svg", HP_NAMESPACE_IS_SVG, false},
               {"math", HP_NAMESPACE_IS_MATHML, false}, {"xlink", HP_NAMESPACE_IS_XLINK, true},
               {"xml", HP_NAMESPACE_IS_XML, true},      {"xmlns", HP_NAMESPACE_IS_XMLNS, true}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].is_attribute == is_attribute && strlen(known[i].prefix) == length &&
        !memcmp(known[i].prefix, prefix, length))
      return known[i].ns;
  return HP_NAMESPACE_ABSENT;
}

/* Reads a name, whose length is 0 if there is none, or `*`. */
static void read_name_or_star(hp_selector_parser *p, uint32_t *place, ptrdiff_t *length, bool *star) {
  *star = at(p, '*');
  p->css.at += *star;
  *length = *star || !css_at_identifier(&p->css) ? 0 : selector_identifier(p, place);
}

/* Reads `name`, `prefix|name`, `*|name`, `|name`; an attribute's name is not `*`.
 * Returns false if none begins here. */
static bool read_qualified_name(hp_selector_parser *p, bool is_attribute, uint8_t *ns, uint32_t *name) {
  const char *begin = p->css.at;
  uint32_t place = 0;
  ptrdiff_t length;
  bool star;
  *name = HP_SELECT_NONE;
  *ns = is_attribute ? HP_NAMESPACE_ABSENT : HP_NAMESPACE_ANY;
  read_name_or_star(p, &place, &length, &star);
  const char *bar = p->css.at;
  bool has_prefix = bar < p->css.end && *bar == '|' && !(bar + 1 < p->css.end && (bar[1] == '=' || bar[1] == '|'));
  if (has_prefix) {
    p->css.at++;
    *ns = HP_NAMESPACE_ABSENT;
    if (star) {
      *ns = HP_NAMESPACE_ANY;
    } else if (length) {
      *ns = (uint8_t)namespace_of(p->set->text + place, (size_t)length, is_attribute);
      if (*ns == HP_NAMESPACE_ABSENT)
        selector_fail(p, begin, "this namespace prefix is not declared; html, svg, math, xlink, xml and xmlns are");
    }
    read_name_or_star(p, &place, &length, &star);
    if (!star && !length) selector_fail(p, p->css.at, "a name must follow '|'");
  }
  if (star && is_attribute) selector_fail(p, begin, "an attribute needs a name, not '*'");
  if (length) *name = add_name(p, place, (uint32_t)length);
  return star || length;
}

static hp_attribute_operator read_operator(hp_selector_parser *p) {
  static const char signs[] = "~|^$*"; /* HP_ATTRIBUTE_WORD and those after it */
  const char *sign = *p->css.at ? strchr(signs, *p->css.at) : NULL;
  if (sign && p->css.end - p->css.at >= 2 && p->css.at[1] == '=') {
    p->css.at += 2;
    return HP_ATTRIBUTE_WORD + (hp_attribute_operator)(sign - signs);
  }
  if (*p->css.at != '=') selector_fail(p, p->css.at, "one of ] = ~= |= ^= $= *= must follow an attribute's name");
  p->css.at++;
  return HP_ATTRIBUTE_EQUALS;
}

/* Reads the value of an attribute test, and the letter after it. */
static void read_value(hp_selector_parser *p, hp_test *test) {
  css_skip_space(&p->css);
  read_text(p, test, "a value must be an identifier or a string in quotes");
  css_skip_space(&p->css);
  if (p->css.at == p->css.end || *p->css.at == ']') return;
  char letter = hp_ascii_lower(*p->css.at);
  if (letter != 'i' && letter != 's') selector_fail(p, p->css.at, "only 'i' or 's' may be between a value and ']'");
  test->letter_case = letter == 'i' ? HP_VALUE_CASE_ASCII : HP_VALUE_CASE_EXACT;
  p->css.at++;
  css_skip_space(&p->css);
}

/* Returns true for the attributes whose values selectors compare without case on HTML elements.
 * Source: HTML, "Case-sensitivity of selectors". */
static bool ignores_case(const char *name, size_t length) {
  static const char names[] =
      " accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir "
      "direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref "
      "noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype "
      "vlink ";
  for (const char *at = names; (at = strchr(at, ' ')) && *++at;)
    if (!strncmp(at, name, length) && at[length] == ' ') return true;
  return false;
}

static void read_attribute(hp_selector_parser *p, uint32_t compound) {
  hp_test made = {.kind = HP_TEST_ATTRIBUTE, .letter_case = HP_VALUE_CASE_EXACT};
  p->css.at++;
  css_skip_space(&p->css);
  if (!read_qualified_name(p, true, &made.ns, &made.name))
    selector_fail(p, p->css.at, "an attribute's name must follow '['");
  const hp_selector_name *name = &p->set->names[made.name];
  if (ignores_case(p->set->text + name->lower, name->length)) made.letter_case = HP_VALUE_CASE_HTML;
  css_skip_space(&p->css);
  if (p->css.at < p->css.end && *p->css.at != ']') {
    made.operator=(uint8_t) read_operator(p);
    read_value(p, &made);
  }
  if (p->css.at < p->css.end && *p->css.at++ != ']') selector_fail(p, p->css.at - 1, "']' is missing");
  add_test(p, compound, made);
}

static void read_hash_or_class(hp_selector_parser *p, uint32_t compound) {
  const char *begin = p->css.at;
  bool is_hash = *p->css.at++ == '#';
  uint32_t place;
  /* An id selector is a hash token whose value is an identifier. */
  ptrdiff_t length = selector_identifier(p, &place);
  if (length < 0) selector_fail(p, begin, is_hash ? "an identifier must follow '#'" : "an identifier must follow '.'");
  add_test(p, compound,
           (hp_test){.kind = is_hash ? HP_TEST_ID : HP_TEST_CLASS, .value = place, .length = (uint32_t)length});
}

static void selector_pseudo(hp_selector_parser *p, uint32_t compound);

/* Reads one compound. Returns its index. */
static uint32_t selector_compound(hp_selector_parser *p) {
  hpar_selectors *set = p->set;
  const char *begin = p->css.at;
  const uint32_t compound = add_compound(p, HP_SELECT_NONE);
  uint8_t ns;
  uint32_t name;
  bool found = read_qualified_name(p, false, &ns, &name);
  set->compounds[compound].name = name;
  set->compounds[compound].ns = ns;
  for (;; found = true) {
    css_skip_comments(&p->css);
    switch (p->css.at < p->css.end ? *p->css.at : ',') {
      case '#':
      case '.': read_hash_or_class(p, compound); break;
      case '[': read_attribute(p, compound); break;
      case ':': selector_pseudo(p, compound); break;
      case '&': selector_fail(p, p->css.at, "'&' has a meaning in style sheets only");
      default:
        if (!found) selector_fail(p, begin, "a selector must begin here");
        return compound;
    }
  }
}

/* Reads a combinator; HP_COMBINATOR_NONE at the end, ',' or ')'. */
static hp_combinator selector_combinator(hp_selector_parser *p) {
  bool space = css_skip_space(&p->css);
  hp_combinator combinator = space ? HP_COMBINATOR_DESCENDANT : HP_COMBINATOR_NONE;
  if (p->css.at == p->css.end) return HP_COMBINATOR_NONE;
  switch (*p->css.at) {
    case ',':
    case ')': return HP_COMBINATOR_NONE;
    case '>': combinator = HP_COMBINATOR_CHILD; break;
    case '+': combinator = HP_COMBINATOR_NEXT; break;
    case '~': combinator = HP_COMBINATOR_LATER; break;
    default: return combinator;
  }
  p->css.at++;
  css_skip_space(&p->css);
  return combinator;
}

/* Makes an instruction of a compound on which nothing follows. Returns its index. */
static uint32_t selector_instruction(hp_selector_parser *p, uint32_t compound, uint32_t selector) {
  *PUSH(p, instructions) =
      (hp_instruction){.compound = compound, .selector = selector, .slot = HP_SELECT_NONE, .enters = true};
  return p->set->instructions_count - 1;
}

/* Reads a complex selector whose chain accepts `selector`. `choice` receives the compound alone
 * where the chain has one element. A chain is pushed as a whole, after its compounds, since these
 * may push chains of their own. */
static void selector_complex(hp_selector_parser *p, uint32_t selector, hp_choice *choice) {
  enum { MAX_COMPOUNDS = 256 };
  uint32_t compounds[MAX_COMPOUNDS];
  hp_combinator combinators[MAX_COMPOUNDS];
  uint32_t count = 0;
  uint32_t ahead_before = p->set->ahead_count;
  do {
    if (count == MAX_COMPOUNDS) selector_refuse(p, p->css.at, "a selector may have 256 compounds at most");
    compounds[count] = selector_compound(p);
    combinators[count] = selector_combinator(p);
  } while (combinators[count++] != HP_COMBINATOR_NONE);
  if (count == 1 && choice) {
    *choice = (hp_choice){false, compounds[0]};
    return;
  }
  if (choice && p->ahead_depth && p->set->ahead_count != ahead_before)
    selector_refuse(p, p->css.at, "a look-ahead test may hold a selector with combinators only without look-ahead");
  for (uint32_t i = 0; i < count; i++) {
    bool is_last = i + 1 == count;
    uint32_t made = selector_instruction(p, compounds[i], is_last ? selector : HP_SELECT_NONE);
    p->set->instructions[made].combinator = (uint8_t)combinators[i];
    p->set->instructions[made].enters = i == 0;
    p->set->looks_at_siblings |= combinators[i] == HP_COMBINATOR_NEXT || combinators[i] == HP_COMBINATOR_LATER;
  }
  if (choice) *choice = (hp_choice){true, p->set->instructions_count - 1};
}

/* Appends the whole text. */
static hpar_status parse_list(void *parser) {
  hp_selector_parser *p = parser;
  for (;; p->css.at++) {
    css_skip_space(&p->css);
    selector_complex(p, p->set->selectors, NULL);
    if (p->css.at == p->css.end) return HPAR_OK;
    if (*p->css.at == ')') selector_fail(p, p->css.at, "no parenthesis is open here");
    if (*p->css.at != ',') selector_fail(p, p->css.at, "a combinator or a comma must be here");
  }
}

/* Removes what was appended since `before`, a copy of the set. */
static void take_back(hpar_selectors *set, const hpar_selectors *before) {
  const hpar_selectors longer = *set;
  *set = *before;
#define KEEP_MEMORY(type, name) set->name = longer.name, set->name##_capacity = longer.name##_capacity;
  HP_SELECT_ARRAYS(KEEP_MEMORY)
#undef KEEP_MEMORY
}

hpar_status hp_selectors_add(hpar_selectors *set, const char *text, size_t length, bool for_stream, hpar_error *error) {
  hp_set_error(error, HPAR_OK, 0, "%s", "");
  if (!set) return hp_explain(error, HPAR_ERROR_ARGUMENT, "selectors is NULL");
  if (!text && length) return hp_explain(error, HPAR_ERROR_ARGUMENT, "text is NULL and length is %zu", length);
  if (hp_is_in_use(&set->use)) return hp_explain(error, HPAR_ERROR_ARGUMENT, "selectors is in use");
  hpar_selectors before = *set;
  hp_selector_parser parser = {.set = set, .css = {text, text + length, text}, .for_stream = for_stream};
  hpar_status status = hp_try(&parser.unwind, parse_list, &parser);
  if (status == HPAR_OK) {
    set->selectors++;
    return HPAR_OK;
  }
  take_back(set, &before);
  if (status == HPAR_ERROR_MEMORY) return hp_explain(error, status, "%s", hpar_status_text(status));
  return hp_set_error(error, status, parser.offset, "%s", parser.reason);
}

hpar_status hpar_selectors_add(hpar_selectors *set, const char *text, size_t length, hpar_error *error) {
  return hp_selectors_add(set, text, length, false, error);
}

/*** pseudo-classes ***/

enum { MAX_NESTING = 32 };

typedef enum pseudo_kind {
  PSEUDO_TEST,  /* a test without arguments */
  PSEUDO_NTH,   /* An+B in parentheses */
  PSEUDO_INDEX, /* a fixed An+B */
  PSEUDO_ONLY,  /* a fixed An+B from both ends */
  PSEUDO_LIST,  /* a selector list */
  PSEUDO_HAS,
  PSEUDO_LANG
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
    /* states that a document without a user does not have */
    {"hover", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"active", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"focus", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"focus-within", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"focus-visible", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"visited", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
    {"target", PSEUDO_TEST, HP_TEST_NEVER, 0, NULL},
};

static const pseudo *find(hpar_string name) {
  for (size_t i = 0; i < sizeof pseudos / sizeof *pseudos; i++)
    if (hp_is_word(name, pseudos[i].name)) return &pseudos[i];
  return NULL;
}

/* Appends a test that depends on what is before the element. A reverse walk cannot tell that, so
 * that inside a look-ahead test an instruction answers it. */
static void add_walk_test(hp_selector_parser *p, uint32_t compound, hp_test test) {
  if (test.kind != HP_TEST_LANG) p->set->looks_at_siblings = true;
  if (p->ahead_depth) {
    const uint32_t inner = add_compound(p, HP_SELECT_NONE);
    add_test(p, inner, test);
    test = (hp_test){.kind = HP_TEST_BIT, .first = selector_instruction(p, inner, HP_SELECT_NONE)};
  }
  add_test(p, compound, test);
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

static void add_ahead(hp_selector_parser *p, uint32_t compound, hp_ahead_test test) {
  test.is_local = is_local(p->set, &test);
  *PUSH(p, ahead) = test;
  add_test(p, compound, (hp_test){.kind = HP_TEST_AHEAD, .first = p->set->ahead_count - 1});
}

/* Returns true at a ")" or at the end of the text, which closes all (CSS Syntax, "Consume a
 * simple block"). */
static bool at_close(const hp_selector_parser *p) { return p->css.at == p->css.end || *p->css.at == ')'; }

static void close_parenthesis(hp_selector_parser *p) {
  css_skip_space(&p->css);
  if (!at_close(p)) selector_fail(p, p->css.at, "')' is missing");
  p->css.at += p->css.at < p->css.end;
}

/* Skips a string, whose end may be a newline or the end of the text. */
static void css_skip_string(hp_css *css) {
  const char quote = *css->at++;
  while (css->at < css->end && *css->at != quote && !is_newline(*css->at)) {
    if (*css->at == '\\' && css->at + 1 < css->end) css->at++;
    css->at = after_character(css->at, css->end);
  }
  css->at += css->at < css->end;
}

/* Skips to the next ',' or ')' outside of blocks, or to the end of the text. */
static void skip_argument(hp_selector_parser *p) {
  hp_css *css = &p->css;
  char *closing = text_room(p); /* of each open block */
  size_t depth = 0;
  while (css_skip_space(css), css->at < css->end) {
    const char c = *css->at;
    if (!depth && (c == ',' || c == ')')) return;
    if (c == '"' || c == '\'') {
      css_skip_string(css);
      continue;
    }
    if (depth && c == closing[depth - 1]) depth--;
    if (c == '(' || c == '[' || c == '{') closing[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    css->at += c == '\\' && css->end - css->at >= 2 ? 2 : 1;
  }
}

/* Appends the choices of a list, whose lists inside are complete. Returns the index of the first
 * one. */
static uint32_t add_choices(hp_selector_parser *p, const hp_choice *choices, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) *PUSH(p, choices) = choices[i];
  return p->set->choices_count - count;
}

typedef struct one_choice {
  hp_selector_parser *parser;
  hp_choice *choice;
} one_choice;

static hpar_status read_choice(void *argument) {
  const one_choice *one = argument;
  hp_selector_parser *p = one->parser;
  selector_complex(p, HP_SELECT_NONE, one->choice);
  if (!at_close(p) && !at(p, ',')) selector_fail(p, p->css.at, "')' is missing");
  return HPAR_OK;
}

/* Reads a choice. If it is no selector, skips it and returns false. */
static bool try_choice(hp_selector_parser *p, hp_choice *choice) {
  const hp_selector_parser before = *p;
  const hpar_selectors set = *p->set;
  hpar_status status = hp_try(&p->unwind, read_choice, &(one_choice){p, choice});
  if (status == HPAR_OK) return true;
  if (status == HPAR_ERROR_MEMORY || p->is_refused) hp_unwind_now(&p->unwind, status);
  *p = before;
  take_back(p->set, &set);
  skip_argument(p);
  return false;
}

/* Reads the choices of a list up to ')'. With `forgiving`, a choice that is no selector is
 * dropped. */
static void read_choices(hp_selector_parser *p, bool forgiving, uint32_t *first, uint32_t *count) {
  enum { MAX_CHOICES = 256 };
  hp_choice choices[MAX_CHOICES];
  uint32_t n = 0;
  css_skip_space(&p->css);
  for (bool more = !(forgiving && at_close(p)); more;) {
    css_skip_space(&p->css);
    if (n == MAX_CHOICES) selector_refuse(p, p->css.at, "a list may have 256 choices at most");
    if (!forgiving)
      selector_complex(p, HP_SELECT_NONE, &choices[n++]);
    else
      n += try_choice(p, &choices[n]);
    css_skip_space(&p->css);
    more = at(p, ',');
    p->css.at += more;
  }
  *count = n;
  *first = add_choices(p, choices, n);
}

static void read_list(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  hp_test test = {.kind = HP_TEST_LIST, .negated = pseudo->flags & NEGATED};
  read_choices(p, pseudo->flags & FORGIVING, &test.first, &test.count);
  add_test(p, compound, test);
}

/* Makes the instruction that counts the siblings that match one of the choices. */
static void count_choices(hp_selector_parser *p, uint32_t first, uint32_t count, hp_test *nth) {
  const uint32_t counting = add_compound(p, HP_SELECT_NONE);
  add_test(p, counting, (hp_test){.kind = HP_TEST_LIST, .first = first, .count = count});
  nth->first = selector_instruction(p, counting, HP_SELECT_NONE);
  nth->slot = p->set->counters++;
  p->set->instructions[nth->first].slot = nth->slot;
  nth->kind = HP_TEST_NTH_CHILD_OF;
}

/* Makes the instruction that counts the siblings with the name of the compound. Without a name, the
 * walk counts all types. */
static void count_type(hp_selector_parser *p, uint32_t compound, hp_test *nth) {
  uint32_t name = p->set->compounds[compound].name;
  if (name == HP_SELECT_NONE) {
    p->set->counts_types = true;
    return;
  }
  const uint32_t counting = selector_instruction(p, add_compound(p, name), HP_SELECT_NONE);
  nth->kind = HP_TEST_NTH_OF_NAME;
  nth->slot = p->set->counters;
  p->set->counters += HP_ELEMENT_NAMESPACES;
  p->set->instructions[counting].slot = nth->slot;
  p->set->instructions[counting].counts_by_namespace = true;
}

static bool takes_of(hp_selector_parser *p) {
  hp_css ahead = p->css;
  if (ahead.end - ahead.at < 3 || hp_ascii_lower(ahead.at[0]) != 'o' || hp_ascii_lower(ahead.at[1]) != 'f')
    return false;
  ahead.at += 2;
  if (css_at_identifier(&ahead) && !css_skip_space(&ahead)) return false;
  p->css = ahead;
  return true;
}

/* An+B among all siblings, those of one type, or those that match a choice. */
typedef struct nth {
  int32_t a, b;
  bool of_type, from_end, of_choices;
  uint32_t first, count; /* of the choices */
} nth;

static void add_nth(hp_selector_parser *p, uint32_t compound, const nth *n) {
  if (n->from_end) {
    hp_ahead_test test = {.kind = n->of_choices ? HP_AHEAD_NTH_LAST_OF
                                  : n->of_type  ? HP_AHEAD_NTH_LAST_OF_TYPE
                                                : HP_AHEAD_NTH_LAST_CHILD,
                          .a = n->a,
                          .b = n->b,
                          .first = n->first,
                          .count = n->count};
    if (n->of_choices) test.slot = p->set->ahead_counters++;
    add_ahead(p, compound, test);
    return;
  }
  hp_test test = {.kind = n->of_type ? HP_TEST_NTH_OF_TYPE : HP_TEST_NTH_CHILD, .a = n->a, .b = n->b};
  if (n->of_type) count_type(p, compound, &test);
  if (n->of_choices) count_choices(p, n->first, n->count, &test);
  add_walk_test(p, compound, test);
}

static void read_nth(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  nth n = {.of_type = pseudo->flags & OF_TYPE, .from_end = pseudo->flags & FROM_END};
  css_skip_space(&p->css);
  if (!css_nth(&p->css, &n.a, &n.b)) selector_fail(p, p->css.at, "odd, even or An+B must be here");
  css_skip_space(&p->css);
  if (!at_close(p) && !n.of_type && takes_of(p)) {
    uint32_t ahead_before = p->set->ahead_count;
    n.of_choices = true;
    p->ahead_depth += n.from_end;
    read_choices(p, false, &n.first, &n.count);
    p->ahead_depth -= n.from_end;
    if (!n.from_end && p->ahead_depth && p->set->ahead_count != ahead_before)
      selector_refuse(p, p->css.at, "a look-ahead test may hold :nth-child(of S) only without look-ahead");
  }
  add_nth(p, compound, &n);
}

/* The first or the last one. */
static void add_index(hp_selector_parser *p, uint32_t compound, bool of_type, bool from_end) {
  add_nth(p, compound, &(nth){.b = 1, .of_type = of_type, .from_end = from_end});
}

/* Reads one relative selector of :has(). No compound in it has any. */
static void read_relative(hp_selector_parser *p) {
  enum { MAX_RELATIVE = 64 };
  const uint32_t first = p->set->relatives_count;
  css_skip_space(&p->css);
  hp_combinator combinator = selector_combinator(p);
  if (combinator == HP_COMBINATOR_NONE) combinator = HP_COMBINATOR_DESCENDANT;
  do {
    if (p->set->relatives_count - first == MAX_RELATIVE)
      selector_refuse(p, p->css.at, ":has() may hold 64 compounds a selector at most");
    uint32_t compound = selector_compound(p);
    *PUSH(p, relatives) = (hp_relative){compound, (uint8_t)combinator, false};
    combinator = selector_combinator(p);
  } while (combinator != HP_COMBINATOR_NONE);
  p->set->relatives[p->set->relatives_count - 1].is_last = true;
}

static void read_has(hp_selector_parser *p, uint32_t compound, const char *begin) {
  enum { MAX_RELATIVES = 64 };
  const uint32_t first = p->set->starts_count;
  if (p->inside_has) selector_fail(p, begin, ":has() must not be inside :has()");
  p->inside_has = true;
  p->ahead_depth++;
  for (bool more = true; more; p->css.at += more) {
    if (p->set->starts_count - first == MAX_RELATIVES)
      selector_refuse(p, p->css.at, ":has() may hold 64 selectors at most");
    *PUSH(p, starts) = p->set->relatives_count;
    read_relative(p);
    more = at(p, ',');
  }
  p->ahead_depth--;
  p->inside_has = false;
  add_ahead(p, compound, (hp_ahead_test){.kind = HP_AHEAD_HAS, .first = first, .count = p->set->starts_count - first});
}

/* Reads the language ranges of :lang(): one test whose choices are compounds of one range each. */
static void read_lang(hp_selector_parser *p, uint32_t compound) {
  enum { MAX_RANGES = 32 };
  hp_choice choices[MAX_RANGES];
  uint32_t n = 0;
  do {
    hp_test test = {.kind = HP_TEST_LANG, .slot = p->set->languages};
    css_skip_space(&p->css);
    if (n == MAX_RANGES) selector_refuse(p, p->css.at, ":lang() may hold 32 ranges at most");
    read_text(p, &test, "a language must be here");
    choices[n] = (hp_choice){false, add_compound(p, HP_SELECT_NONE)};
    add_walk_test(p, choices[n++].index, test);
    p->set->languages++;
    css_skip_space(&p->css);
  } while (at(p, ',') && p->css.at++);
  add_test(p, compound, (hp_test){.kind = HP_TEST_LIST, .first = add_choices(p, choices, n), .count = n});
}

static void add_plain(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo) {
  hp_test test = {.kind = (uint8_t)pseudo->test};
  if (pseudo->test == HP_TEST_ENABLED || pseudo->test == HP_TEST_DISABLED) {
    p->set->looks_at_forms = true;
    add_walk_test(p, compound, test);
    return;
  }
  /* Without a scoping root, :scope is :root. */
  if (pseudo->test == HP_TEST_SCOPE && p->for_stream) test.kind = HP_TEST_ROOT;
  add_test(p, compound, test);
}

/* Appends the tests of a pseudo-class, and reads its arguments up to ')'. */
static void read_pseudo(hp_selector_parser *p, uint32_t compound, const pseudo *pseudo, const char *begin) {
  bool of_type = pseudo->flags & OF_TYPE;
  switch (pseudo->kind) {
    case PSEUDO_NTH: read_nth(p, compound, pseudo); break;
    case PSEUDO_LIST: read_list(p, compound, pseudo); break;
    case PSEUDO_HAS: read_has(p, compound, begin); break;
    case PSEUDO_LANG: read_lang(p, compound); break;
    case PSEUDO_INDEX: add_index(p, compound, of_type, pseudo->flags & FROM_END); break;
    case PSEUDO_ONLY:
      add_index(p, compound, of_type, false);
      add_index(p, compound, of_type, true);
      break;
    default: add_plain(p, compound, pseudo);
  }
}

/* Reads what follows ':' and appends the tests of a pseudo-class. */
static void selector_pseudo(hp_selector_parser *p, uint32_t compound) {
  const char *begin = p->css.at++;
  if (at(p, ':')) selector_fail(p, begin, "a pseudo-element is no element of the tree");
  uint32_t place, kept = p->set->text_count;
  ptrdiff_t length = selector_identifier(p, &place);
  if (length < 0) selector_fail(p, begin, "a pseudo-class must follow ':'");
  const pseudo *pseudo = find((hpar_string){p->set->text + place, (size_t)length});
  p->set->text_count = kept;
  if (!pseudo) selector_fail(p, begin, "this pseudo-class is unknown");
  if (p->for_stream && pseudo->not_in_stream) selector_refuse(p, begin, pseudo->not_in_stream);
  bool takes_arguments = pseudo->kind == PSEUDO_NTH || pseudo->kind == PSEUDO_LIST || pseudo->kind == PSEUDO_HAS ||
                         pseudo->kind == PSEUDO_LANG;
  if (at(p, '(') != takes_arguments)
    selector_fail(p, begin,
                  takes_arguments ? "this pseudo-class takes an argument in parentheses"
                                  : "this pseudo-class takes no argument");
  if (takes_arguments && p->nesting == MAX_NESTING)
    selector_refuse(p, begin, "parentheses may be nested 32 levels deep at most");
  p->css.at += takes_arguments;
  p->nesting += takes_arguments;
  read_pseudo(p, compound, pseudo, begin);
  p->nesting -= takes_arguments;
  if (takes_arguments) close_parenthesis(p);
}
