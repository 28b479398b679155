#include "select/parse.h"

#include "base/bytes.h"

#include <string.h>

/*** tokens ***/

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) { return hp_ascii_is_letter(c) || c == '_' || (unsigned char)c >= 0x80 || !c; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '-'; }

static int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Skips comments, which separate nothing. */
static void css_skip_comments(hp_css *css) {
  while (css->end - css->at >= 2 && css->at[0] == '/' && css->at[1] == '*') {
    const char *close = memmem(css->at + 2, (size_t)(css->end - css->at) - 2, "*/", 2);
    css->at = close ? close + 2 : css->end;
  }
}

bool hp_css_skip_space(hp_css *css) {
  bool found = false;
  for (;;) {
    css_skip_comments(css);
    if (css->at == css->end || !hp_ascii_is_white(*css->at)) return found;
    css->at++;
    found = true;
  }
}

/* Requires at < end. A backslash at the end of the text is an escape, too. */
static bool is_escape(const char *at, const char *end) { return *at == '\\' && (end - at == 1 || at[1] != '\n'); }

bool hp_css_at_identifier(const hp_css *css) {
  const char *at = css->at;
  if (at < css->end && *at == '-') at++;
  if (at == css->end) return false;
  return is_name_start(*at) || (at > css->at && *at == '-') || is_escape(at, css->end);
}

static char *put_code_point(char *to, uint32_t code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* Reads what follows a backslash. */
static char *put_escape(hp_css *css, char *to) {
  int digit = css->at < css->end ? hex_value(*css->at) : -1;
  if (digit < 0) {
    if (css->at == css->end) return put_code_point(to, 0);
    *to++ = *css->at++;
    return to;
  }
  uint32_t code = 0;
  for (int i = 0; i < 6 && css->at < css->end && (digit = hex_value(*css->at)) >= 0; i++, css->at++)
    code = code * 16 + (uint32_t)digit;
  if (css->end - css->at >= 2 && css->at[0] == '\r' && css->at[1] == '\n') css->at++;
  if (css->at < css->end && hp_ascii_is_white(*css->at)) css->at++;
  return put_code_point(to, code);
}

/* Reads an identifier, or the name after '#' if `is_hash`, which may begin with a digit. Writes
 * the unescaped bytes to `to`, which holds three times the bytes left. Returns the
 * length, or -1. */
static ptrdiff_t css_identifier(hp_css *css, bool is_hash, char *to) {
  if (!is_hash && !hp_css_at_identifier(css)) return -1;
  const char *from = to;
  while (css->at < css->end) {
    if (is_name(*css->at)) {
      if (*css->at) {
        *to++ = *css->at++;
      } else {
        to = put_code_point(to, 0);
        css->at++;
      }
    } else if (is_escape(css->at, css->end)) {
      css->at++;
      to = put_escape(css, to);
    } else {
      break;
    }
  }
  return to == from ? -1 : to - from;
}

ptrdiff_t hp_css_string(hp_css *css, char *to) {
  const char *from = to;
  char quote = *css->at++;
  for (; css->at < css->end && *css->at != quote;) {
    if (*css->at == '\n') return -1;
    if (*css->at != '\\') {
      *to++ = *css->at++;
    } else if (++css->at < css->end && *css->at == '\n') {
      css->at++;
    } else if (css->at < css->end) {
      to = put_escape(css, to);
    }
  }
  if (css->at < css->end) css->at++; /* the end of the text closes a string, too */
  return to - from;
}

static bool take_word(hp_css *css, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(css->end - css->at) < length) return false;
  for (size_t i = 0; i < length; i++)
    if ((hp_ascii_is_letter(css->at[i]) ? css->at[i] | 0x20 : css->at[i]) != word[i]) return false;
  if (css->at + length < css->end && is_name(css->at[length])) return false;
  css->at += length;
  return true;
}

static bool take_number(hp_css *css, int32_t *number) {
  if (css->at == css->end || !is_digit(*css->at)) return false;
  int64_t value = 0;
  for (; css->at < css->end && is_digit(*css->at); css->at++)
    if (value < INT32_MAX) value = value * 10 + (*css->at - '0');
  *number = value > INT32_MAX ? INT32_MAX : (int32_t)value;
  return true;
}

static int take_sign(hp_css *css) {
  if (css->at == css->end || (*css->at != '+' && *css->at != '-')) return 0;
  return *css->at++ == '-' ? -1 : 1;
}

bool hp_css_nth(hp_css *css, int32_t *a, int32_t *b) {
  if (take_word(css, "odd")) return *a = 2, *b = 1, true;
  if (take_word(css, "even")) return *a = 2, *b = 0, true;
  int sign = take_sign(css);
  int32_t number = 1;
  bool has_number = take_number(css, &number);
  if (css->at == css->end || (*css->at | 0x20) != 'n') {
    *a = 0;
    *b = sign < 0 ? -number : number;
    return has_number;
  }
  css->at++;
  *a = sign < 0 ? -number : number;
  *b = 0;
  hp_css rest = *css;
  hp_css_skip_space(&rest);
  sign = take_sign(&rest);
  if (!sign) return css->at == css->end || !is_name(*css->at);
  hp_css_skip_space(&rest);
  if (!take_number(&rest, &number)) return false;
  *b = sign < 0 ? -number : number;
  *css = rest;
  return true;
}

/*** selectors ***/

bool hp_selector_fail(hp_selector_parser *p, const char *at, const char *reason) {
  if (!p->reason && p->status == HPAR_OK) {
    p->reason = reason;
    p->offset = (size_t)(at - p->css.begin);
  }
  return false;
}

bool hp_selector_refuse(hp_selector_parser *p, const char *at, const char *reason) {
  p->is_refused = true;
  return hp_selector_fail(p, at, reason);
}

bool hp_selector_out_of_memory(hp_selector_parser *p) {
  p->status = HPAR_ERROR_MEMORY;
  return false;
}

/* Returns free space at the end of the set's text for the rest of the selector. */
static char *text_room(hp_selector_parser *p) {
  hpar_selectors *set = p->set;
  size_t need = set->text_count + 3 * (size_t)(p->css.end - p->css.at) + 4;
  if (need > UINT32_MAX || !hp_select_grow(&set->text, &set->text_capacity, need, 1)) {
    hp_selector_out_of_memory(p);
    return NULL;
  }
  return set->text + set->text_count;
}

ptrdiff_t hp_selector_identifier(hp_selector_parser *p, bool is_hash, uint32_t *place) {
  char *room = text_room(p);
  if (!room) return -1;
  ptrdiff_t length = css_identifier(&p->css, is_hash, room);
  *place = p->set->text_count;
  if (length > 0) p->set->text_count += (uint32_t)length;
  return length;
}

/* Returns the index of the name at `place`, and appends its lower-case form. */
static uint32_t add_name(hp_selector_parser *p, uint32_t place, uint32_t length) {
  hpar_selectors *set = p->set;
  if (!hp_select_grow(&set->text, &set->text_capacity, (size_t)set->text_count + length, 1)) {
    hp_selector_out_of_memory(p);
    return HP_SELECT_NONE;
  }
  uint32_t lower = set->text_count;
  for (uint32_t i = 0; i < length; i++) set->text[lower + i] = hp_ascii_lower(set->text[place + i]);
  set->text_count += length;
  hp_selector_name *name = HP_SELECT_PUSH(set, names);
  if (!name) {
    hp_selector_out_of_memory(p);
    return HP_SELECT_NONE;
  }
  *name = (hp_selector_name){place, lower, length};
  return set->names_count - 1;
}

hp_test *hp_selector_add_test(hp_selector_parser *p, uint32_t compound, hp_test_kind kind) {
  hpar_selectors *set = p->set;
  hp_test *test = HP_SELECT_PUSH(set, tests);
  if (!test) {
    hp_selector_out_of_memory(p);
    return NULL;
  }
  *test = (hp_test){.kind = (uint8_t)kind, .next = HP_SELECT_NONE, .first = HP_SELECT_NONE};
  uint32_t *link = &set->compounds[compound].first_test;
  while (*link != HP_SELECT_NONE) link = &set->tests[*link].next;
  *link = set->tests_count - 1;
  return test;
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

/* Reads `name`, `prefix|name`, `*|name`, `|name`; `*` for the name only if `may_be_any`. Returns
 * false without an error if none begins here. */
static bool read_qualified_name(hp_selector_parser *p, bool is_attribute, uint8_t *ns, uint32_t *name) {
  const char *begin = p->css.at;
  uint32_t place = 0;
  ptrdiff_t length = 0;
  bool star = false;
  *name = HP_SELECT_NONE;
  *ns = is_attribute ? HP_NAMESPACE_ABSENT : HP_NAMESPACE_ANY;
  if (hp_css_at_identifier(&p->css)) {
    length = hp_selector_identifier(p, false, &place);
    if (length < 0) return false;
  } else if (p->css.at < p->css.end && *p->css.at == '*') {
    star = true;
    p->css.at++;
  }
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
        return hp_selector_fail(p, begin,
                                "this namespace prefix is not declared; html, svg, math, xlink, xml and xmlns are");
    }
    star = false;
    length = 0;
    if (hp_css_at_identifier(&p->css)) {
      length = hp_selector_identifier(p, false, &place);
      if (length < 0) return false;
    } else if (p->css.at < p->css.end && *p->css.at == '*') {
      star = true;
      p->css.at++;
    } else {
      return hp_selector_fail(p, p->css.at, "a name must follow '|'");
    }
  }
  if (star) return is_attribute ? hp_selector_fail(p, begin, "an attribute needs a name, not '*'") : true;
  if (!length) return false;
  *name = add_name(p, place, (uint32_t)length);
  return *name != HP_SELECT_NONE;
}

static bool read_operator(hp_selector_parser *p, uint8_t *operator) {
  static const struct {
    char sign;
    hp_attribute_operator operator;
  } signs[] = {{'~', HP_ATTRIBUTE_WORD},
               {'|', HP_ATTRIBUTE_DASH},
               {'^', HP_ATTRIBUTE_PREFIX},
               {'$', HP_ATTRIBUTE_SUFFIX},
               {'*', HP_ATTRIBUTE_SUBSTRING}};
  *operator= HP_ATTRIBUTE_EQUALS;
  if (*p->css.at != '=') {
    size_t i = 0;
    while (i < sizeof signs / sizeof *signs && signs[i].sign != *p->css.at) i++;
    if (i == sizeof signs / sizeof *signs || p->css.end - p->css.at < 2 || p->css.at[1] != '=')
      return hp_selector_fail(p, p->css.at, "one of ] = ~= |= ^= $= *= must follow an attribute's name");
    *operator=(uint8_t) signs[i].operator;
    p->css.at++;
  }
  p->css.at++;
  return true;
}

/* Reads the value of an attribute test, and the letter after it. */
static bool read_value(hp_selector_parser *p, hp_test *test) {
  ptrdiff_t length;
  hp_css_skip_space(&p->css);
  const char *begin = p->css.at;
  if (begin < p->css.end && (*begin == '"' || *begin == '\'')) {
    char *room = text_room(p);
    if (!room) return false;
    length = hp_css_string(&p->css, room);
    if (length < 0) return hp_selector_fail(p, begin, "this string is not closed");
    test->value = p->set->text_count;
    p->set->text_count += (uint32_t)length;
  } else {
    length = hp_selector_identifier(p, false, &test->value);
    if (length < 0) return hp_selector_fail(p, begin, "a value must be an identifier or a string in quotes");
  }
  test->length = (uint32_t)length;
  hp_css_skip_space(&p->css);
  if (p->css.at < p->css.end && *p->css.at != ']') {
    char letter = hp_ascii_lower(*p->css.at);
    if (letter != 'i' && letter != 's')
      return hp_selector_fail(p, p->css.at, "only 'i' or 's' may be between a value and ']'");
    test->letter_case = letter == 'i' ? HP_VALUE_CASE_ASCII : HP_VALUE_CASE_EXACT;
    p->css.at++;
    hp_css_skip_space(&p->css);
  }
  return true;
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

static bool read_attribute(hp_selector_parser *p, uint32_t compound) {
  hp_test made = {.kind = HP_TEST_ATTRIBUTE, .letter_case = HP_VALUE_CASE_EXACT};
  p->css.at++;
  hp_css_skip_space(&p->css);
  const char *begin = p->css.at;
  if (!read_qualified_name(p, true, &made.ns, &made.name))
    return hp_selector_fail(p, begin, "an attribute's name must follow '['");
  const hp_selector_name *name = &p->set->names[made.name];
  if (ignores_case(p->set->text + name->lower, name->length)) made.letter_case = HP_VALUE_CASE_HTML;
  hp_css_skip_space(&p->css);
  if (p->css.at < p->css.end && *p->css.at != ']' && (!read_operator(p, &made.operator) || !read_value(p, &made)))
    return false;
  if (p->css.at < p->css.end && *p->css.at++ != ']') return hp_selector_fail(p, p->css.at - 1, "']' is missing");
  hp_test *test = hp_selector_add_test(p, compound, HP_TEST_ATTRIBUTE);
  if (!test) return false;
  made.next = test->next;
  made.first = test->first;
  *test = made;
  return true;
}

static bool read_hash_or_class(hp_selector_parser *p, uint32_t compound) {
  const char *begin = p->css.at;
  bool is_hash = *p->css.at++ == '#';
  uint32_t place;
  /* An id selector is a hash token whose value is an identifier. */
  ptrdiff_t length = hp_css_at_identifier(&p->css) ? hp_selector_identifier(p, false, &place) : -1;
  if (length < 0)
    return hp_selector_fail(p, begin, is_hash ? "an identifier must follow '#'" : "an identifier must follow '.'");
  hp_test *test = hp_selector_add_test(p, compound, is_hash ? HP_TEST_ID : HP_TEST_CLASS);
  if (!test) return false;
  test->value = place;
  test->length = (uint32_t)length;
  return true;
}

uint32_t hp_selector_compound(hp_selector_parser *p) {
  hpar_selectors *set = p->set;
  const char *begin = p->css.at;
  hp_compound *made = HP_SELECT_PUSH(set, compounds);
  if (!made) return hp_selector_out_of_memory(p), HP_SELECT_NONE;
  uint32_t compound = set->compounds_count - 1;
  uint8_t ns = HP_NAMESPACE_ANY;
  uint32_t name = HP_SELECT_NONE;
  *made = (hp_compound){.name = HP_SELECT_NONE, .first_test = HP_SELECT_NONE};
  bool found = read_qualified_name(p, false, &ns, &name);
  set->compounds[compound].name = name;
  set->compounds[compound].ns = ns;
  while (p->status == HPAR_OK && !p->reason && p->css.at < p->css.end) {
    bool read;
    css_skip_comments(&p->css);
    if (p->css.at == p->css.end) break;
    switch (*p->css.at) {
      case '#':
      case '.': read = read_hash_or_class(p, compound); break;
      case '[': read = read_attribute(p, compound); break;
      case ':': read = hp_selector_pseudo(p, compound); break;
      case '&': read = hp_selector_fail(p, p->css.at, "'&' has a meaning in style sheets only"); break;
      default:
        if (found) return compound;
        hp_selector_fail(p, begin, "a selector must begin here");
        return HP_SELECT_NONE;
    }
    if (!read) return HP_SELECT_NONE;
    found = true;
  }
  if (p->status != HPAR_OK || p->reason) return HP_SELECT_NONE;
  if (!found) return hp_selector_fail(p, begin, "a selector must begin here"), HP_SELECT_NONE;
  return compound;
}

hp_combinator hp_selector_combinator(hp_selector_parser *p) {
  bool space = hp_css_skip_space(&p->css);
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
  hp_css_skip_space(&p->css);
  return combinator;
}

uint32_t hp_selector_instruction(hp_selector_parser *p, uint32_t compound, uint32_t selector) {
  hp_instruction *made = HP_SELECT_PUSH(p->set, instructions);
  if (!made) return hp_selector_out_of_memory(p), HP_SELECT_NONE;
  *made = (hp_instruction){.compound = compound, .selector = selector, .slot = HP_SELECT_NONE, .enters = true};
  return p->set->instructions_count - 1;
}

/* A chain is pushed as a whole, after its compounds, since these may push chains of their own. */
bool hp_selector_complex(hp_selector_parser *p, uint32_t selector, hp_choice *choice) {
  enum { MAX_COMPOUNDS = 256 };
  uint32_t compounds[MAX_COMPOUNDS];
  uint8_t combinators[MAX_COMPOUNDS];
  uint32_t count = 0;
  uint32_t ahead_before = p->set->ahead_count;
  for (;;) {
    const char *begin = p->css.at;
    if (count == MAX_COMPOUNDS) return hp_selector_refuse(p, begin, "a selector may have 256 compounds at most");
    compounds[count] = hp_selector_compound(p);
    if (compounds[count] == HP_SELECT_NONE) return false;
    hp_combinator combinator = hp_selector_combinator(p);
    combinators[count++] = (uint8_t)combinator;
    if (combinator == HP_COMBINATOR_NONE) break;
  }
  if (count == 1 && choice) {
    *choice = (hp_choice){false, compounds[0]};
    return true;
  }
  if (choice && p->ahead_depth && p->set->ahead_count != ahead_before)
    return hp_selector_refuse(p, p->css.at,
                              "a look-ahead test may hold a selector with combinators only without look-ahead");
  for (uint32_t i = 0; i < count; i++) {
    bool is_last = i + 1 == count;
    uint32_t made = hp_selector_instruction(p, compounds[i], is_last ? selector : HP_SELECT_NONE);
    if (made == HP_SELECT_NONE) return false;
    p->set->instructions[made].combinator = combinators[i];
    p->set->instructions[made].enters = i == 0;
    p->set->looks_at_siblings |= combinators[i] == HP_COMBINATOR_NEXT || combinators[i] == HP_COMBINATOR_LATER;
  }
  if (choice) *choice = (hp_choice){true, p->set->instructions_count - 1};
  return true;
}

bool hp_selector_parse(hp_selector_parser *p) {
  for (;;) {
    hp_css_skip_space(&p->css);
    if (!hp_selector_complex(p, p->selector, NULL)) return false;
    if (p->css.at == p->css.end) return true;
    if (*p->css.at != ',') return hp_selector_fail(p, p->css.at, "no parenthesis is open here");
    p->css.at++;
  }
}
