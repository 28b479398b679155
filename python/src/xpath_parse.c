/* From the text of an XPath expression to its program, in one pass. An operand is in the code before
 * its consumer is known, so the parser improves the end of the code when the consumer follows. */

#include "xpath.h"

#include "base/bytes.h"

/*** tokens ***/

typedef enum token_kind {
  END,
  NUMBER,
  LITERAL,
  VARIABLE,
  NAME,        /* with a prefix or without */
  PREFIX_STAR, /* "svg:*" */
  STAR,
  FUNCTION, /* a name before a parenthesis */
  AXIS,     /* a name before "::", which belongs to the token */
  OPEN,
  CLOSE,
  OPEN_BRACKET,
  CLOSE_BRACKET,
  DOT,
  DOTS,
  AT,
  COMMA,
  SLASH,
  SLASHES,
  UNION,
  MINUS, /* of the operators of binary() */
  PLUS,
  MULTIPLY,
  DIVIDE,
  MODULO,
  EQUAL,
  NOT_EQUAL,
  LESS,
  LESS_EQUAL,
  GREATER,
  GREATER_EQUAL,
  AND,
  OR
} token_kind;

typedef struct token {
  token_kind kind;
  const char *at;
  hpar_string prefix, name; /* a literal has its text as the name */
} token;

typedef struct parser {
  hp_xpath_program *program;
  hp_xpath_failure *failure;
  hp_unwind unwind;
  const char *at, *end;
  token token;
  bool after_operand; /* a name or * is an operator now */
  uint32_t routine, depth;
} parser;

static _Noreturn void fail_at(parser *p, const char *place, const char *text) {
  p->failure->text = text;
  p->failure->place = (size_t)(place - p->program->text);
  hp_unwind_now(&p->unwind, HPAR_ERROR_ARGUMENT);
}

static _Noreturn void fail(parser *p, const char *text) { fail_at(p, p->token.at, text); }

static bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *skip_white(const parser *p, const char *at) {
  while (at < p->end && is_white(*at)) at++;
  return at;
}

static uint32_t character_at(const char *at, const char *end, unsigned *length) {
  const unsigned char *c = (const unsigned char *)at;
  size_t left = (size_t)(end - at);
  *length = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  if (*length > left) return 0;
  switch (*length) {
    case 1: return c[0];
    case 2: return (c[0] & 0x1Fu) << 6 | (c[1] & 0x3Fu);
    case 3: return (c[0] & 0xFu) << 12 | (c[1] & 0x3Fu) << 6 | (c[2] & 0x3Fu);
    default: return (c[0] & 7u) << 18 | (c[1] & 0x3Fu) << 12 | (c[2] & 0x3Fu) << 6 | (c[3] & 0x3Fu);
  }
}

/* NameStartChar of XML 1.0, without the colon. */
static bool begins_name(uint32_t c) {
  if (c < 0x80) return hp_ascii_is_letter((char)c) || c == '_';
  return (c >= 0xC0 && c != 0xD7 && c != 0xF7 && c <= 0x2FF) || (c >= 0x370 && c <= 0x1FFF && c != 0x37E) ||
         c == 0x200C || c == 0x200D || (c >= 0x2070 && c <= 0x218F) || (c >= 0x2C00 && c <= 0x2FEF) ||
         (c >= 0x3001 && c <= 0xD7FF) || (c >= 0xF900 && c <= 0xFDCF) || (c >= 0xFDF0 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0xEFFFF);
}

static bool continues_name(uint32_t c) {
  return begins_name(c) || (c < 0x80 && hp_ascii_is_digit((char)c)) || c == '-' || c == '.' || c == 0xB7 ||
         (c >= 0x300 && c <= 0x36F) || c == 0x203F || c == 0x2040;
}

/* Returns the name at `at`, which is empty if there is none. */
static hpar_string name_at(const parser *p, const char *at) {
  const char *start = at;
  unsigned length;
  while (at < p->end) {
    uint32_t c = character_at(at, p->end, &length);
    if (!(at == start ? begins_name(c) : continues_name(c))) break;
    at += length;
  }
  return (hpar_string){start, (size_t)(at - start)};
}

static bool equals(hpar_string s, const char *text) {
  return s.length == strlen(text) && !memcmp(s.bytes, text, s.length);
}

static bool follows(const parser *p, const char *text) {
  size_t length = strlen(text);
  return (size_t)(p->end - p->at) >= length && !memcmp(p->at, text, length);
}

/* Reads a name with its prefix. */
static void read_qualified(parser *p) {
  token *t = &p->token;
  t->name = name_at(p, p->at);
  if (!t->name.length) fail(p, "expected a name");
  p->at += t->name.length;
  if (p->at == p->end || *p->at != ':' || follows(p, "::")) return;
  t->prefix = t->name;
  t->name = name_at(p, p->at + 1);
  p->at += 1 + t->name.length;
}

static void read_name(parser *p) {
  static const struct {
    const char *name;
    token_kind kind;
  } operators[] = {{"and", AND}, {"or", OR}, {"div", DIVIDE}, {"mod", MODULO}};
  token *t = &p->token;
  if (p->after_operand) {
    t->name = name_at(p, p->at);
    for (unsigned i = 0; i < sizeof operators / sizeof *operators; i++)
      if (equals(t->name, operators[i].name)) {
        p->at += t->name.length;
        t->kind = operators[i].kind;
        return;
      }
    fail(p, "expected an operator");
  }
  read_qualified(p);
  if (!t->name.length) {
    if (p->at == p->end || *p->at != '*') fail_at(p, p->at, "expected a name after the prefix");
    p->at++;
    t->kind = PREFIX_STAR;
    return;
  }
  t->kind = NAME;
  const char *next = skip_white(p, p->at);
  if (next < p->end && *next == '(') {
    t->kind = FUNCTION;
  } else if (p->end - next > 1 && next[0] == ':' && next[1] == ':') {
    t->kind = AXIS;
    p->at = next + 2;
  }
}

static void read_number(parser *p) {
  p->token.kind = NUMBER;
  p->token.name.bytes = p->at;
  while (p->at < p->end && hp_ascii_is_digit(*p->at)) p->at++;
  if (p->at < p->end && *p->at == '.')
    for (p->at++; p->at < p->end && hp_ascii_is_digit(*p->at);) p->at++;
  p->token.name.length = (size_t)(p->at - p->token.name.bytes);
}

static void read_literal(parser *p) {
  const char *close = memchr(p->at + 1, *p->at, (size_t)(p->end - p->at - 1));
  if (!close) fail(p, "the string has no end");
  p->token.kind = LITERAL;
  p->token.name = (hpar_string){p->at + 1, (size_t)(close - p->at - 1)};
  p->at = close + 1;
}

static void read_mark(parser *p) {
  static const struct {
    const char *text;
    token_kind kind;
  } marks[] = {{"//", SLASHES},       {"..", DOTS}, {"!=", NOT_EQUAL}, {"<=", LESS_EQUAL},
               {">=", GREATER_EQUAL}, {"/", SLASH}, {".", DOT},        {"@", AT},
               {",", COMMA},          {"(", OPEN},  {")", CLOSE},      {"[", OPEN_BRACKET},
               {"]", CLOSE_BRACKET},  {"|", UNION}, {"+", PLUS},       {"-", MINUS},
               {"=", EQUAL},          {"<", LESS},  {">", GREATER}};
  for (unsigned i = 0; i < sizeof marks / sizeof *marks; i++)
    if (follows(p, marks[i].text)) {
      p->token.kind = marks[i].kind;
      p->at += strlen(marks[i].text);
      return;
    }
  fail(p, "unexpected character");
}

static bool ends_operand(token_kind kind) {
  return (kind >= NUMBER && kind <= STAR) || kind == CLOSE || kind == CLOSE_BRACKET || kind == DOT || kind == DOTS;
}

static void advance(parser *p) {
  p->at = skip_white(p, p->at);
  p->token = (token){.kind = END, .at = p->at};
  if (p->at < p->end) {
    char c = *p->at;
    bool digit_follows = p->end - p->at > 1 && hp_ascii_is_digit(p->at[1]);
    unsigned length;
    if (c == '*') {
      p->at++;
      p->token.kind = p->after_operand ? MULTIPLY : STAR;
    } else if (hp_ascii_is_digit(c) || (c == '.' && digit_follows)) {
      read_number(p);
    } else if (c == '"' || c == '\'') {
      read_literal(p);
    } else if (c == '$') {
      p->at++;
      read_qualified(p);
      if (!p->token.name.length) fail(p, "expected the name of a variable");
      p->token.kind = VARIABLE;
    } else if (begins_name(character_at(p->at, p->end, &length))) {
      read_name(p);
    } else {
      read_mark(p);
    }
  }
  p->after_operand = ends_operand(p->token.kind);
}

static bool accept(parser *p, token_kind kind) {
  bool found = p->token.kind == kind;
  if (found) advance(p);
  return found;
}

static void expect(parser *p, token_kind kind, const char *text) {
  if (!accept(p, kind)) fail(p, text);
}

/*** code ***/

#define ADD(p, list, item)                                                                                         \
  do {                                                                                                             \
    hp_grow(&(p)->program->list##s, &(p)->program->list##_capacity, (p)->program->list##_count + 1, &(p)->unwind); \
    (p)->program->list##s[(p)->program->list##_count++] = (item);                                                  \
  } while (0)

static hp_xpath_routine *routine(const parser *p) { return &p->program->routines[p->routine]; }

static uint32_t here(const parser *p) { return routine(p)->count; }

static void emit_at(parser *p, const char *place, hp_xpath_operation op, uint32_t a, uint32_t b) {
  hp_xpath_routine *r = routine(p);
  hp_grow(&r->code, &r->capacity, r->count + 1, &p->unwind);
  r->code[r->count++] = (hp_xpath_instruction){op, a, b, (uint32_t)(place - p->program->text)};
}

static void emit(parser *p, hp_xpath_operation op, uint32_t a) { emit_at(p, p->token.at, op, a, 0); }

/* Begins a routine. Returns the one before it. */
static uint32_t begin_routine(parser *p) {
  uint32_t before = p->routine;
  hp_grow(&p->program->routines, &p->program->routine_capacity, p->program->routine_count + 1, &p->unwind);
  p->routine = p->program->routine_count++;
  *routine(p) = (hp_xpath_routine){.code = NULL};
  return before;
}

static void enter(parser *p) {
  if (++p->depth > HP_XPATH_DEPTH) fail(p, "the expression nests too deeply");
}

/* Returns the last step of the path that begins at `begin`, if the code ends with one. */
static hp_xpath_step *last_step(const parser *p, uint32_t begin) {
  const hp_xpath_routine *r = routine(p);
  if (r->count <= begin || r->code[r->count - 1].op != HP_OP_STEP) return NULL;
  return &p->program->steps[r->code[r->count - 1].a];
}

/* Returns whether the operand from `begin` on is an attribute of the context node. */
static bool is_own_attribute(const parser *p, uint32_t begin) {
  const hp_xpath_routine *r = routine(p);
  const hp_xpath_step *step = last_step(p, begin);
  return step && r->count == begin + 2 && r->code[begin].op == HP_OP_CONTEXT && step->axis == HP_AXIS_ATTRIBUTE &&
         !step->count;
}

/* Replaces the attribute from `begin` on by one instruction. */
static void use_attribute(parser *p, uint32_t begin, hp_xpath_operation op, uint32_t literal) {
  hp_xpath_routine *r = routine(p);
  uint32_t test = last_step(p, begin)->test;
  r->count = begin;
  emit_at(p, p->token.at, op, test, literal);
}

/* Converts the operand from `begin` on. */
static void convert(parser *p, uint32_t begin, hp_xpath_type from, hp_xpath_type to) {
  static const hp_xpath_operation operations[] = {[HP_XPATH_STRING_VALUE] = HP_OP_TO_STRING,
                                                  [HP_XPATH_NUMBER] = HP_OP_TO_NUMBER,
                                                  [HP_XPATH_BOOLEAN] = HP_OP_TO_BOOLEAN};
  if (from == to || to == HP_XPATH_ANY) return;
  if (to == HP_XPATH_SET) {
    if (from != HP_XPATH_ANY) fail(p, "expected a node-set before this place");
    emit(p, HP_OP_CHECK_SET, 0);
    return;
  }
  if (from == HP_XPATH_SET && to != HP_XPATH_NUMBER && is_own_attribute(p, begin)) {
    use_attribute(p, begin, to == HP_XPATH_BOOLEAN ? HP_OP_HAS_ATTRIBUTE : HP_OP_ATTRIBUTE_STRING, 0);
    return;
  }
  hp_xpath_step *step = from == HP_XPATH_SET ? last_step(p, begin) : NULL;
  if (step) step->wanted = to == HP_XPATH_BOOLEAN ? HP_WANT_ANY : HP_WANT_FIRST;
  emit(p, operations[to], 0);
}

/*** expressions ***/

static hp_xpath_type parse_expression(parser *p);

/* Parses predicates into `step`. */
static void parse_predicates(parser *p, hp_xpath_step *step) {
  uint32_t first = 0, last = 0;
  step->positional = UINT32_MAX;
  while (p->token.kind == OPEN_BRACKET) {
    enter(p);
    advance(p);
    uint32_t before = begin_routine(p), own = p->routine;
    hp_xpath_type type = parse_expression(p);
    bool is_place = type == HP_XPATH_NUMBER || type == HP_XPATH_ANY;
    if (!is_place) convert(p, 0, type, HP_XPATH_BOOLEAN);
    routine(p)->type = is_place ? type : HP_XPATH_BOOLEAN;
    if ((is_place || routine(p)->positional) && step->positional == UINT32_MAX) step->positional = step->count;
    p->routine = before;
    expect(p, CLOSE_BRACKET, "expected ] after the predicate");
    p->depth--;
    if (last) p->program->routines[last].next = own;
    if (!first) first = own;
    last = own;
    step->count++;
  }
  step->predicates = p->program->predicate_count;
  if (step->positional > step->count) step->positional = step->count;
  for (uint32_t r = first; r; r = p->program->routines[r].next) ADD(p, predicate, r);
}

static hpar_namespace namespace_of(parser *p, hpar_string prefix) {
  static const struct {
    const char *prefix;
    hpar_namespace ns;
  } known[] = {{"html", HPAR_NAMESPACE_HTML},     {"svg", HPAR_NAMESPACE_SVG},     {"math", HPAR_NAMESPACE_MATHML},
               {"mathml", HPAR_NAMESPACE_MATHML}, {"xlink", HPAR_NAMESPACE_XLINK}, {"xml", HPAR_NAMESPACE_XML}};
  if (!prefix.length) return HPAR_NAMESPACE_NONE;
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
    if (equals(prefix, known[i].prefix)) return known[i].ns;
  fail(p, "unknown prefix");
}

static hp_xpath_test parse_kind_test(parser *p) {
  static const struct {
    const char *name;
    hp_xpath_kind kind;
  } kinds[] = {{"node", HP_TEST_NODE},
               {"text", HP_TEST_TEXT},
               {"comment", HP_TEST_COMMENT},
               {"processing-instruction", HP_TEST_INSTRUCTION}};
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (p->token.prefix.length || !equals(p->token.name, kinds[i].name)) continue;
    hp_xpath_test test = {.kind = kinds[i].kind};
    advance(p);
    advance(p);
    if (test.kind == HP_TEST_INSTRUCTION && p->token.kind == LITERAL) {
      test.name = p->token.name;
      advance(p);
    }
    expect(p, CLOSE, "expected )");
    return test;
  }
  fail(p, "expected a node test");
}

static hp_xpath_test parse_test(parser *p) {
  hp_xpath_test test = {.kind = HP_TEST_NAME};
  switch (p->token.kind) {
    case FUNCTION: return parse_kind_test(p);
    case NAME: test.name = p->token.name; break;
    case STAR:
    case PREFIX_STAR: test.kind = HP_TEST_ANY_NAME; break;
    default: fail(p, "expected a step");
  }
  test.ns = namespace_of(p, p->token.prefix);
  advance(p);
  return test;
}

static hp_xpath_axis parse_axis(parser *p) {
  static const char *const names[HP_AXES] = {
      "ancestor",  "ancestor-or-self",  "attribute", "child",     "descendant",        "descendant-or-self",
      "following", "following-sibling", "parent",    "preceding", "preceding-sibling", "self"};
  if (accept(p, AT)) return HP_AXIS_ATTRIBUTE;
  if (p->token.kind != AXIS) return HP_AXIS_CHILD;
  unsigned axis = 0;
  while (axis < HP_AXES && (p->token.prefix.length || !equals(p->token.name, names[axis]))) axis++;
  if (axis == HP_AXES) fail(p, equals(p->token.name, "namespace") ? "HTML has no namespace axis" : "unknown axis");
  advance(p);
  return (hp_xpath_axis)axis;
}

static void add_step(parser *p, hp_xpath_step step, hp_xpath_test test) {
  step.test = p->program->test_count;
  ADD(p, test, test);
  emit(p, HP_OP_STEP, p->program->step_count);
  ADD(p, step, step);
}

/* Joins the step with the "//" before it, where that has the same nodes. Returns false if the code
 * needs the step itself. */
static bool join(parser *p, uint32_t begin, hp_xpath_step step, hp_xpath_test test) {
  hp_xpath_step *before = last_step(p, begin);
  if (!before || before->axis != HP_AXIS_DESCENDANT_OR_SELF || before->count) return false;
  hp_xpath_test *all = &p->program->tests[before->test];
  if (all->kind != HP_TEST_NODE) return false;
  const bool is_plain = step.positional == step.count;
  if (step.axis == HP_AXIS_ATTRIBUTE) all->kind = HP_TEST_ANY_NAME;
  if (step.axis == HP_AXIS_CHILD && !is_plain) all->kind = HP_TEST_PARENT;
  switch (step.axis) {
    case HP_AXIS_CHILD:
    case HP_AXIS_DESCENDANT: step.axis = HP_AXIS_DESCENDANT; break;
    case HP_AXIS_SELF:
    case HP_AXIS_DESCENDANT_OR_SELF: step.axis = HP_AXIS_DESCENDANT_OR_SELF; break;
    default: return false;
  }
  if (!is_plain) return false;
  step.test = before->test;
  *before = step;
  *all = test;
  return true;
}

/* Parses a step of the path that begins at `begin`. */
static void parse_step(parser *p, uint32_t begin) {
  hp_xpath_step step = {.axis = HP_AXIS_SELF};
  hp_xpath_test test = {.kind = HP_TEST_NODE};
  if (accept(p, DOT)) return;
  if (accept(p, DOTS)) {
    step.axis = HP_AXIS_PARENT;
  } else {
    step.axis = parse_axis(p);
    test = parse_test(p);
    parse_predicates(p, &step);
  }
  if (!join(p, begin, step, test)) add_step(p, step, test);
}

static void parse_steps(parser *p, uint32_t begin) {
  for (;;) {
    parse_step(p, begin);
    if (p->token.kind == SLASHES)
      add_step(p, (hp_xpath_step){.axis = HP_AXIS_DESCENDANT_OR_SELF}, (hp_xpath_test){.kind = HP_TEST_NODE});
    else if (p->token.kind != SLASH)
      return;
    advance(p);
  }
}

static bool begins_step(token_kind kind) {
  return kind == NAME || kind == PREFIX_STAR || kind == STAR || kind == FUNCTION || kind == AXIS || kind == DOT ||
         kind == DOTS || kind == AT;
}

static hp_xpath_type type_of_argument(char c) {
  return c == 's'   ? HP_XPATH_STRING_VALUE
         : c == 'n' ? HP_XPATH_NUMBER
         : c == 'b' ? HP_XPATH_BOOLEAN
         : c == 'e' ? HP_XPATH_SET
                    : HP_XPATH_ANY;
}

/* Parses the arguments of the function. Returns their number. */
static unsigned parse_arguments(parser *p, const hp_xpath_function *f) {
  unsigned count = 0;
  const char *type = f->types;
  while (p->token.kind != CLOSE) {
    if (count) expect(p, COMMA, "expected , or )");
    if (count == f->most) fail(p, "too many arguments");
    uint32_t begin = here(p);
    convert(p, begin, parse_expression(p), type_of_argument(*type));
    if (type[0] && type[1]) type++;
    count++;
  }
  return count;
}

/* Functions that are instructions, or nothing at all. */
static void emit_call(parser *p, const char *place, const hp_xpath_function *f, unsigned count) {
  hp_xpath_routine *r = routine(p);
  if (f->call)
    emit_at(p, place, HP_OP_CALL, (uint32_t)(f - hp_xpath_functions), count);
  else if (!strcmp(f->name, "not"))
    emit_at(p, place, HP_OP_NOT, 0, 0);
  else if (!strcmp(f->name, "true") || !strcmp(f->name, "false"))
    emit_at(p, place, HP_OP_BOOLEAN, *f->name == 't', 0);
  else if (!strcmp(f->name, "position") || !strcmp(f->name, "last")) {
    emit_at(p, place, *f->name == 'p' ? HP_OP_POSITION : HP_OP_LAST, 0, 0);
    r->positional = true;
  }
}

static hp_xpath_type parse_function(parser *p) {
  const token name = p->token;
  const hp_xpath_function *f = hp_xpath_functions;
  while (f->name && (name.prefix.length || !equals(name.name, f->name))) f++;
  if (!f->name) fail(p, "unknown function");
  enter(p);
  advance(p);
  advance(p);
  unsigned count = parse_arguments(p, f);
  /* Some functions without an argument use the context node. */
  if (!count && !f->least && f->most) {
    uint32_t begin = here(p);
    emit(p, HP_OP_CONTEXT, 0);
    convert(p, begin, HP_XPATH_SET, type_of_argument(*f->types));
    count = 1;
  }
  if (count < f->least) fail(p, "too few arguments");
  expect(p, CLOSE, "expected , or )");
  p->depth--;
  emit_call(p, name.at, f, count);
  return f->result;
}

static uint32_t literal(parser *p, hpar_string text) {
  ADD(p, literal, text);
  return p->program->literal_count - 1;
}

static uint32_t variable(parser *p, const token *t) {
  hpar_string name = t->name;
  if (t->prefix.length) fail(p, "the name of a variable has no prefix");
  for (uint32_t i = 0; i < p->program->variable_count; i++) {
    hpar_string known = p->program->variables[i];
    if (known.length == name.length && !memcmp(known.bytes, name.bytes, name.length)) return i;
  }
  ADD(p, variable, name);
  return p->program->variable_count - 1;
}

static hp_xpath_type parse_primary(parser *p) {
  const token t = p->token;
  switch (t.kind) {
    case NUMBER:
      emit(p, HP_OP_NUMBER, p->program->number_count);
      ADD(p, number, hp_xpath_number(t.name.bytes, t.name.length));
      advance(p);
      return HP_XPATH_NUMBER;
    case LITERAL:
      emit(p, HP_OP_LITERAL, literal(p, t.name));
      advance(p);
      return HP_XPATH_STRING_VALUE;
    case VARIABLE:
      emit(p, HP_OP_VARIABLE, variable(p, &t));
      advance(p);
      return HP_XPATH_ANY;
    case FUNCTION: return parse_function(p);
    default: break;
  }
  enter(p);
  advance(p);
  hp_xpath_type type = parse_expression(p);
  expect(p, CLOSE, "expected )");
  p->depth--;
  return type;
}

static bool is_kind_test(const token *t) {
  return !t->prefix.length && (equals(t->name, "node") || equals(t->name, "text") || equals(t->name, "comment") ||
                               equals(t->name, "processing-instruction"));
}

/* A primary expression with predicates and steps. */
static hp_xpath_type parse_filter(parser *p) {
  uint32_t begin = here(p);
  hp_xpath_type type = parse_primary(p);
  if (p->token.kind == OPEN_BRACKET) {
    convert(p, begin, type, HP_XPATH_SET);
    hp_xpath_step step = {.axis = HP_AXIS_SELF};
    parse_predicates(p, &step);
    emit(p, HP_OP_FILTER, p->program->step_count);
    ADD(p, step, step);
    type = HP_XPATH_SET;
  }
  if (p->token.kind != SLASH && p->token.kind != SLASHES) return type;
  convert(p, begin, type, HP_XPATH_SET);
  uint32_t steps = here(p); /* "//" does not join a step of the primary expression */
  if (p->token.kind == SLASHES)
    add_step(p, (hp_xpath_step){.axis = HP_AXIS_DESCENDANT_OR_SELF}, (hp_xpath_test){.kind = HP_TEST_NODE});
  advance(p);
  parse_steps(p, steps);
  return HP_XPATH_SET;
}

static hp_xpath_type parse_path(parser *p) {
  uint32_t begin = here(p);
  switch (p->token.kind) {
    case NUMBER:
    case LITERAL:
    case VARIABLE:
    case OPEN: return parse_filter(p);
    case FUNCTION:
      if (!is_kind_test(&p->token)) return parse_filter(p);
      break;
    case SLASH:
      emit(p, HP_OP_ROOT, 0);
      advance(p);
      if (begins_step(p->token.kind)) parse_steps(p, begin);
      return HP_XPATH_SET;
    case SLASHES:
      emit(p, HP_OP_ROOT, 0);
      add_step(p, (hp_xpath_step){.axis = HP_AXIS_DESCENDANT_OR_SELF}, (hp_xpath_test){.kind = HP_TEST_NODE});
      advance(p);
      parse_steps(p, begin);
      return HP_XPATH_SET;
    default:
      if (!begins_step(p->token.kind))
        fail(p, p->token.kind == END ? "the expression ends too early" : "expected an operand");
  }
  emit(p, HP_OP_CONTEXT, 0);
  parse_steps(p, begin);
  return HP_XPATH_SET;
}

static hp_xpath_type parse_union(parser *p) {
  uint32_t begin = here(p), count = 1;
  hp_xpath_type type = parse_path(p);
  if (p->token.kind != UNION) return type;
  convert(p, begin, type, HP_XPATH_SET);
  while (accept(p, UNION)) {
    begin = here(p);
    convert(p, begin, parse_path(p), HP_XPATH_SET);
    count++;
  }
  emit(p, HP_OP_UNION, count);
  return HP_XPATH_SET;
}

static hp_xpath_type parse_unary(parser *p) {
  uint32_t begin = here(p);
  bool any = false, negative = false;
  while (accept(p, MINUS)) any = true, negative = !negative;
  hp_xpath_type type = parse_union(p);
  if (!any) return type;
  convert(p, begin, type, HP_XPATH_NUMBER);
  if (negative) emit(p, HP_OP_NEGATE, 0);
  return HP_XPATH_NUMBER;
}

/* How closely binary operators bind, and their instructions. */
static const struct {
  unsigned level;
  hp_xpath_operation op;
} binary[] = {[OR] = {1, HP_OP_OR},
              [AND] = {2, HP_OP_AND},
              [EQUAL] = {3, HP_OP_EQUAL},
              [NOT_EQUAL] = {3, HP_OP_NOT_EQUAL},
              [LESS] = {4, HP_OP_LESS},
              [LESS_EQUAL] = {4, HP_OP_LESS_EQUAL},
              [GREATER] = {4, HP_OP_GREATER},
              [GREATER_EQUAL] = {4, HP_OP_GREATER_EQUAL},
              [PLUS] = {5, HP_OP_ADD},
              [MINUS] = {5, HP_OP_SUBTRACT},
              [MULTIPLY] = {6, HP_OP_MULTIPLY},
              [DIVIDE] = {6, HP_OP_DIVIDE},
              [MODULO] = {6, HP_OP_MODULO}};

static hp_xpath_type parse_binary(parser *p, unsigned level);

static void parse_logic(parser *p, uint32_t begin, hp_xpath_type left, token_kind kind) {
  convert(p, begin, left, HP_XPATH_BOOLEAN);
  uint32_t jump = here(p);
  emit(p, binary[kind].op, 0);
  advance(p);
  uint32_t right = here(p);
  convert(p, right, parse_binary(p, binary[kind].level + 1), HP_XPATH_BOOLEAN);
  routine(p)->code[jump].a = here(p);
}

/* Compares an attribute of the context node with a literal in one instruction, if that is all. */
static bool compare_attribute(parser *p, uint32_t left, uint32_t right) {
  hp_xpath_routine *r = routine(p);
  if (r->count != right + 1 || r->code[right].op != HP_OP_LITERAL) return false;
  uint32_t text = r->code[right].a;
  r->count = right;
  if (is_own_attribute(p, left)) {
    use_attribute(p, left, HP_OP_ATTRIBUTE_EQUALS, text);
    return true;
  }
  r->count = right + 1;
  return false;
}

static hp_xpath_type parse_comparison(parser *p, uint32_t left, token_kind kind) {
  const char *place = p->token.at;
  advance(p);
  uint32_t right = here(p);
  parse_binary(p, binary[kind].level + 1);
  if (kind != EQUAL || !compare_attribute(p, left, right)) emit_at(p, place, binary[kind].op, 0, 0);
  return HP_XPATH_BOOLEAN;
}

/* Parses operators that bind at least as closely as `level`. */
static hp_xpath_type parse_binary(parser *p, unsigned level) {
  uint32_t begin = here(p);
  hp_xpath_type type = parse_unary(p);
  while (p->token.kind >= MINUS && binary[p->token.kind].level >= level) {
    const token_kind kind = p->token.kind;
    if (kind == AND || kind == OR) {
      parse_logic(p, begin, type, kind);
      type = HP_XPATH_BOOLEAN;
    } else if (binary[kind].level <= 4) {
      type = parse_comparison(p, begin, kind);
    } else {
      convert(p, begin, type, HP_XPATH_NUMBER);
      advance(p);
      uint32_t right = here(p);
      convert(p, right, parse_binary(p, binary[kind].level + 1), HP_XPATH_NUMBER);
      emit(p, binary[kind].op, 0);
      type = HP_XPATH_NUMBER;
    }
  }
  return type;
}

static hp_xpath_type parse_expression(parser *p) { return parse_binary(p, 1); }

/*** programs ***/

static hpar_status parse_whole(void *argument) {
  parser *p = argument;
  begin_routine(p);
  advance(p);
  hp_xpath_type type = parse_expression(p);
  routine(p)->type = type;
  if (p->token.kind != END) fail(p, "expected the end of the expression");
  return HPAR_OK;
}

hp_xpath_program *hp_xpath_compile(const char *bytes, size_t length, hp_xpath_failure *failure) {
  *failure = (hp_xpath_failure){.status = HPAR_ERROR_MEMORY};
  hp_xpath_program *program = hp_allocate_zeroed(sizeof *program);
  if (!program) return NULL;
  if (length > HP_XPATH_EXPRESSION) {
    *failure = (hp_xpath_failure){HPAR_ERROR_ARGUMENT, "the expression is too long", 0};
  } else if ((program->text = hp_allocate(length + 1))) {
    memcpy(program->text, bytes, length);
    program->text[length] = 0;
    program->length = length;
    parser p = {.program = program, .failure = failure, .at = program->text, .end = program->text + length};
    failure->status = hp_try(&p.unwind, parse_whole, &p);
    if (!failure->status) return program;
  }
  hp_xpath_destroy(program);
  return NULL;
}

void hp_xpath_destroy(hp_xpath_program *program) {
  if (!program) return;
  for (uint32_t i = 0; i < program->routine_count; i++) hp_free(program->routines[i].code);
  hp_free(program->routines);
  hp_free(program->steps);
  hp_free(program->tests);
  hp_free(program->predicates);
  hp_free(program->numbers);
  hp_free(program->literals);
  hp_free(program->variables);
  hp_free(program->text);
  hp_free(program);
}
