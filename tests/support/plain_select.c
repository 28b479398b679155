#include "support/plain_select.h"

#include <stdio.h>
#include <string.h>

static const hpar_document *document;

enum { MAX_PARTS = 4, MAX_ARGUMENTS = 2 };

typedef struct plain_test {
  enum {
    TYPE,
    CLASS,
    ID,
    HAS_ATTRIBUTE,
    NTH,
    NTH_LAST,
    NTH_TYPE,
    NTH_LAST_TYPE,
    NTH_OF,
    NTH_LAST_OF,
    IS,
    NOT,
    HAS,
    EMPTY
  } kind;
  char name[32];
  int a, b;
  plain_selector *arguments[MAX_ARGUMENTS];
  int argument_count;
} plain_test;

struct plain_selector {
  plain_test tests[MAX_PARTS][3];
  int test_count[MAX_PARTS];
  char combinators[MAX_PARTS]; /* [i]: before part i; [0] for :has() only */
  int parts;
};

static hpar_node element_parent(hpar_node element) {
  hpar_node parent = hpar_node_parent(document, element);
  return parent && hpar_node_kind(document, parent) == HPAR_NODE_ELEMENT ? parent : HPAR_NO_NODE;
}

static hpar_node sibling(hpar_node element, bool forward) {
  do {
    element = forward ? hpar_node_next(document, element) : hpar_node_previous(document, element);
  } while (element && hpar_node_kind(document, element) != HPAR_NODE_ELEMENT);
  return element;
}

static bool matches_part(const plain_selector *s, int part, hpar_node element, hpar_node scope);

static bool same_type(hpar_node a, hpar_node b) {
  hpar_string x = hpar_node_name(document, a), y = hpar_node_name(document, b);
  return x.length == y.length && !memcmp(x.bytes, y.bytes, x.length);
}

static bool any_argument(const plain_test *test, hpar_node element) {
  for (int i = 0; i < test->argument_count; i++)
    if (matches_part(test->arguments[i], test->arguments[i]->parts - 1, element, HPAR_NO_NODE)) return true;
  return false;
}

static bool plain_nth(const plain_test *test, hpar_node element) {
  bool forward = test->kind == NTH_LAST || test->kind == NTH_LAST_TYPE || test->kind == NTH_LAST_OF;
  bool of_type = test->kind == NTH_TYPE || test->kind == NTH_LAST_TYPE;
  bool of = test->kind == NTH_OF || test->kind == NTH_LAST_OF;
  if (of && !any_argument(test, element)) return false;
  int index = 1;
  for (hpar_node other = element; (other = sibling(other, forward));)
    index += of_type ? same_type(other, element) : of ? any_argument(test, other) : 1;
  int distance = index - test->b;
  return test->a ? distance % test->a == 0 && distance / test->a >= 0 : distance == 0;
}

static bool plain_has(const plain_test *test, hpar_node element) {
  hpar_node root = hpar_document_root(document);
  for (hpar_node other = root; (other = hpar_node_walk(document, root, other));) {
    if (hpar_node_kind(document, other) != HPAR_NODE_ELEMENT) continue;
    for (int i = 0; i < test->argument_count; i++)
      if (matches_part(test->arguments[i], test->arguments[i]->parts - 1, other, element)) return true;
  }
  return false;
}

static bool plain_empty(hpar_node element) {
  for (hpar_node child = hpar_node_first_child(document, element); child; child = hpar_node_next(document, child)) {
    hpar_node_type kind = hpar_node_kind(document, child);
    if (kind == HPAR_NODE_ELEMENT || (kind == HPAR_NODE_TEXT && hpar_node_data(document, child).length)) return false;
  }
  return true;
}

static bool plain_test_holds(const plain_test *test, hpar_node element) {
  size_t length = strlen(test->name);
  hpar_string value;
  switch (test->kind) {
    case TYPE:
      value = hpar_node_name(document, element);
      return value.length == length && !memcmp(value.bytes, test->name, length);
    case CLASS: {
      value = hpar_node_attribute_value(document, element, "class");
      for (size_t from = 0, to; from < value.length; from = to + 1) {
        for (to = from; to < value.length && !strchr(" \t\n\f\r", value.bytes[to]);) to++;
        if (to - from == length && !memcmp(value.bytes + from, test->name, length)) return true;
      }
      return false;
    }
    case ID:
      value = hpar_node_attribute_value(document, element, "id");
      return value.bytes && value.length == length && !memcmp(value.bytes, test->name, length);
    case HAS_ATTRIBUTE: return hpar_node_attribute_value(document, element, test->name).bytes;
    case IS: return any_argument(test, element);
    case NOT: return !any_argument(test, element);
    case HAS: return plain_has(test, element);
    case EMPTY: return plain_empty(element);
    default: return plain_nth(test, element);
  }
}

/* Returns whether the combinator before part `part` leads from `element` to an element that matches
 * the previous part. */
static bool plain_reaches(const plain_selector *s, int part, hpar_node element, hpar_node scope) {
  char combinator = s->combinators[part];
  bool up = combinator == ' ' || combinator == '>';
  for (hpar_node other = element; (other = up ? element_parent(other) : sibling(other, false));) {
    if (part == 0 ? other == scope : matches_part(s, part - 1, other, scope)) return true;
    if (combinator == '>' || combinator == '+') break;
  }
  return false;
}

static bool matches_part(const plain_selector *s, int part, hpar_node element, hpar_node scope) {
  for (int i = 0; i < s->test_count[part]; i++)
    if (!plain_test_holds(&s->tests[part][i], element)) return false;
  return (part == 0 && !scope) || plain_reaches(s, part, element, scope);
}

static plain_selector pool[4000];
static int pool_used;
static const plain_vocabulary *vocabulary;

static plain_selector *make_selector(random_state *seed, int depth, bool relative, bool inside_has, bool plain);

static const char *make_name(random_state *seed, unsigned kind) {
  const plain_vocabulary *v = vocabulary;
  switch (kind) {
    case TYPE: return v->types[random_below(seed, v->type_count)];
    case ID: return v->ids[random_below(seed, v->id_count)];
    case HAS_ATTRIBUTE: return v->attributes[random_below(seed, v->attribute_count)];
    default: return v->classes[random_below(seed, v->class_count)];
  }
}

static void make_test(random_state *seed, plain_test *test, int depth, bool inside_has, bool plain, bool first) {
  memset(test, 0, sizeof *test);
  size_t roll = random_below(seed, depth > 0 ? 16 : 9);
  static const unsigned kinds[] = {TYPE,     TYPE,  CLASS,    CLASS,         ID,     HAS_ATTRIBUTE, NTH,
                                   NTH_LAST, EMPTY, NTH_TYPE, NTH_LAST_TYPE, NTH_OF, NTH_LAST_OF,   IS,
                                   NOT,      HAS};
  test->kind = kinds[roll];
  if (test->kind == TYPE && !first) test->kind = CLASS;
  if ((test->kind == HAS && inside_has) || (test->kind == NTH_OF && plain)) test->kind = NOT;
  if (test->kind == HAS && !vocabulary->has) test->kind = NOT;
  snprintf(test->name, sizeof test->name, "%s", make_name(seed, test->kind));
  test->a = (int)random_below(seed, 7) - 3;
  test->b = (int)random_below(seed, 7) - 2;
  bool takes =
      test->kind == NTH_OF || test->kind == NTH_LAST_OF || test->kind == IS || test->kind == NOT || test->kind == HAS;
  if (!takes) return;
  test->argument_count = 1 + (int)random_below(seed, MAX_ARGUMENTS);
  bool ahead = test->kind == HAS || test->kind == NTH_LAST_OF;
  for (int i = 0; i < test->argument_count; i++)
    test->arguments[i] =
        make_selector(seed, depth - 1, test->kind == HAS, inside_has || test->kind == HAS, ahead || plain);
}

/* `plain`: omits the combination that the compiler rejects, look-ahead in a complex selector in
 * look-ahead. */
static plain_selector *make_selector(random_state *seed, int depth, bool relative, bool inside_has, bool plain) {
  plain_selector *s = &pool[pool_used++];
  memset(s, 0, sizeof *s);
  s->parts = 1 + (int)random_below(seed, plain && !relative ? 1 : 3);
  for (int part = 0; part < s->parts; part++) {
    s->combinators[part] = " >+~"[random_below(seed, 4)];
    s->test_count[part] = 1 + (int)random_below(seed, 2);
    for (int i = 0; i < s->test_count[part]; i++)
      make_test(seed, &s->tests[part][i], depth, inside_has || relative, plain, i == 0);
  }
  return s;
}

static void print_selector(const plain_selector *s, bool relative, char *to);

static void print_test(const plain_test *test, char *to) {
  static const char *const names[] = {"",
                                      ".",
                                      "#",
                                      "",
                                      ":nth-child(",
                                      ":nth-last-child(",
                                      ":nth-of-type(",
                                      ":nth-last-of-type(",
                                      ":nth-child(",
                                      ":nth-last-child(",
                                      ":is(",
                                      ":not(",
                                      ":has(",
                                      ":empty"};
  to += strlen(to);
  to += sprintf(to, "%s", names[test->kind]);
  if (test->kind == HAS_ATTRIBUTE) to += sprintf(to, "[%s]", test->name);
  if (test->kind <= ID) to += sprintf(to, "%s", test->name);
  if (test->kind < NTH || test->kind == EMPTY) return;
  bool counts = test->kind <= NTH_LAST_OF;
  if (counts) to += sprintf(to, "%dn%+d", test->a, test->b);
  if (test->kind == NTH_OF || test->kind == NTH_LAST_OF) to += sprintf(to, " of ");
  for (int i = 0; i < test->argument_count; i++) {
    if (i) strcat(to, ", ");
    print_selector(test->arguments[i], test->kind == HAS, to);
  }
  strcat(to, ")");
}

static void print_selector(const plain_selector *s, bool relative, char *to) {
  for (int part = 0; part < s->parts; part++) {
    to += strlen(to);
    if (part || relative) to += sprintf(to, " %c ", s->combinators[part]);
    for (int i = 0; i < s->test_count[part]; i++) print_test(&s->tests[part][i], to);
  }
}

const plain_selector *plain_make(random_state *seed, const plain_vocabulary *names, int depth) {
  vocabulary = names;
  return make_selector(seed, depth, false, false, false);
}

void plain_reset(void) { pool_used = 0; }

void plain_print(const plain_selector *s, char *to) { print_selector(s, false, to); }

bool plain_matches(const hpar_document *in, const plain_selector *s, hpar_node element) {
  document = in;
  return matches_part(s, s->parts - 1, element, HPAR_NO_NODE);
}
