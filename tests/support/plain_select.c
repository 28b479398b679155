#include "support/plain_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  int *indices; /* NTH_OF, NTH_LAST_OF: of each element, -1 before it is known; NULL: none is */
} plain_test;

struct plain_selector {
  plain_test tests[MAX_PARTS][3];
  int test_count[MAX_PARTS];
  char combinators[MAX_PARTS]; /* [i]: before part i; [0] for :has() only */
  int parts;
  char *known[MAX_PARTS]; /* of each element: 0 unknown, 1 no, 2 yes; NULL: all unknown */
};

/*** the tree: elements by their numbers ***/

enum { NO_ELEMENT = -1 };

typedef struct plain_element {
  hpar_node node;
  int parent, siblings[2];    /* the previous one, the next one */
  int indices[2], of_type[2]; /* among the siblings, from the beginning and from the end */
} plain_element;

static const hpar_document *document;
static plain_element *elements;
static int element_count, element_capacity;
static int *numbers; /* of the elements, by node */
static size_t number_count;

static void *resize(void *old, size_t bytes) {
  void *made = realloc(old, bytes);
  if (!made) abort();
  return made;
}

static int number_of(hpar_node node) { return node && node < number_count ? numbers[node] : NO_ELEMENT; }

static void take_element(hpar_node node) {
  if (element_count == element_capacity) {
    element_capacity = 2 * element_capacity + 1000;
    elements = resize(elements, (size_t)element_capacity * sizeof *elements);
  }
  if (node >= number_count) {
    size_t count = 2 * (size_t)node;
    numbers = resize(numbers, count * sizeof *numbers);
    while (number_count < count) numbers[number_count++] = NO_ELEMENT;
  }
  numbers[node] = element_count;
  elements[element_count++] = (plain_element){.node = node};
}

static int sibling_of(hpar_node node, bool forward) {
  do {
    node = forward ? hpar_node_next(document, node) : hpar_node_previous(document, node);
  } while (node && hpar_node_kind(document, node) != HPAR_NODE_ELEMENT);
  return number_of(node);
}

static bool same_type(int a, int b) {
  hpar_string x = hpar_node_name(document, elements[a].node), y = hpar_node_name(document, elements[b].node);
  return x.bytes == y.bytes || (x.length == y.length && !memcmp(x.bytes, y.bytes, x.length));
}

/* Finds the indices from one end. The siblings towards that end come first in `order`. */
static void find_indices(int e, int end) {
  int other = elements[e].siblings[end];
  elements[e].indices[end] = other == NO_ELEMENT ? 1 : elements[other].indices[end] + 1;
  while (other != NO_ELEMENT && !same_type(e, other)) other = elements[other].siblings[end];
  elements[e].of_type[end] = other == NO_ELEMENT ? 1 : elements[other].of_type[end] + 1;
}

void plain_open(const hpar_document *of) {
  hpar_node root = hpar_document_root(of);
  document = of;
  element_count = 0;
  for (size_t i = 0; i < number_count; i++) numbers[i] = NO_ELEMENT;
  for (hpar_node node = root; (node = hpar_node_walk(document, root, node));)
    if (hpar_node_kind(document, node) == HPAR_NODE_ELEMENT) take_element(node);
  for (int e = 0; e < element_count; e++) {
    hpar_node node = elements[e].node;
    elements[e].parent = number_of(hpar_node_parent(document, node));
    for (int end = 0; end < 2; end++) elements[e].siblings[end] = sibling_of(node, end);
  }
  for (int e = 0; e < element_count; e++) find_indices(e, 0);
  for (int e = element_count; e--;) find_indices(e, 1);
}

/*** matching ***/

static bool matches_part(plain_selector *s, int part, int element, int scope);

static bool any_argument(const plain_test *test, int element) {
  for (int i = 0; i < test->argument_count; i++)
    if (matches_part(test->arguments[i], test->arguments[i]->parts - 1, element, NO_ELEMENT)) return true;
  return false;
}

/* Returns the number of siblings up to the element that match an argument. */
static int index_of(plain_test *test, int element, int end) {
  size_t bytes = (size_t)element_count * sizeof *test->indices;
  if (!test->indices) memset(test->indices = resize(NULL, bytes), -1, bytes);
  int from = element;
  while (from != NO_ELEMENT && test->indices[from] < 0) from = elements[from].siblings[end];
  int index = from == NO_ELEMENT ? 0 : test->indices[from];
  while (from != element) {
    int next = element;
    if (from == NO_ELEMENT) {
      while (elements[next].siblings[end] != NO_ELEMENT) next = elements[next].siblings[end];
      from = next;
    } else {
      from = elements[from].siblings[!end];
    }
    test->indices[from] = index += any_argument(test, from);
  }
  return index;
}

static bool plain_nth(plain_test *test, int element) {
  int end = test->kind == NTH_LAST || test->kind == NTH_LAST_TYPE || test->kind == NTH_LAST_OF;
  bool of_type = test->kind == NTH_TYPE || test->kind == NTH_LAST_TYPE;
  bool of = test->kind == NTH_OF || test->kind == NTH_LAST_OF;
  if (of && !any_argument(test, element)) return false;
  int index = of        ? index_of(test, element, end)
              : of_type ? elements[element].of_type[end]
                        : elements[element].indices[end];
  int distance = index - test->b;
  return test->a ? distance % test->a == 0 && distance / test->a >= 0 : distance == 0;
}

/* Returns true if an element of the whole tree is in the relation to the element. */
static bool plain_has(const plain_test *test, int element) {
  for (int other = 0; other < element_count; other++)
    for (int i = 0; i < test->argument_count; i++)
      if (matches_part(test->arguments[i], test->arguments[i]->parts - 1, other, element)) return true;
  return false;
}

static bool plain_empty(hpar_node element) {
  for (hpar_node child = hpar_node_first_child(document, element); child; child = hpar_node_next(document, child)) {
    hpar_node_type kind = hpar_node_kind(document, child);
    if (kind == HPAR_NODE_ELEMENT || (kind == HPAR_NODE_TEXT && hpar_node_data(document, child).length)) return false;
  }
  return true;
}

static bool plain_test_holds(plain_test *test, int element) {
  size_t length = strlen(test->name);
  hpar_node node = elements[element].node;
  hpar_string value;
  switch (test->kind) {
    case TYPE:
      value = hpar_node_name(document, node);
      return value.length == length && !memcmp(value.bytes, test->name, length);
    case CLASS: {
      value = hpar_node_attribute_value(document, node, "class");
      for (size_t from = 0, to; from < value.length; from = to + 1) {
        for (to = from; to < value.length && !strchr(" \t\n\f\r", value.bytes[to]);) to++;
        if (to - from == length && !memcmp(value.bytes + from, test->name, length)) return true;
      }
      return false;
    }
    case ID:
      value = hpar_node_attribute_value(document, node, "id");
      return value.bytes && value.length == length && !memcmp(value.bytes, test->name, length);
    case HAS_ATTRIBUTE: return hpar_node_attribute_value(document, node, test->name).bytes;
    case IS: return any_argument(test, element);
    case NOT: return !any_argument(test, element);
    case HAS: return plain_has(test, element);
    case EMPTY: return plain_empty(node);
    default: return plain_nth(test, element);
  }
}

/* Returns whether the combinator before part `part` leads from `element` to an element that matches
 * the previous part. */
static bool plain_reaches(plain_selector *s, int part, int element, int scope) {
  char combinator = s->combinators[part];
  bool up = combinator == ' ' || combinator == '>';
  for (int other = element; (other = up ? elements[other].parent : elements[other].siblings[0]) != NO_ELEMENT;) {
    if (part == 0 ? other == scope : matches_part(s, part - 1, other, scope)) return true;
    if (combinator == '>' || combinator == '+') break;
  }
  return false;
}

static bool find_part(plain_selector *s, int part, int element, int scope) {
  for (int i = 0; i < s->test_count[part]; i++)
    if (!plain_test_holds(&s->tests[part][i], element)) return false;
  return (part == 0 && scope == NO_ELEMENT) || plain_reaches(s, part, element, scope);
}

static bool matches_part(plain_selector *s, int part, int element, int scope) {
  if (scope != NO_ELEMENT) return find_part(s, part, element, scope);
  char **known = &s->known[part];
  if (!*known) memset(*known = resize(NULL, (size_t)element_count), 0, (size_t)element_count);
  if (!(*known)[element]) (*known)[element] = find_part(s, part, element, scope) ? 2 : 1;
  return (*known)[element] == 2;
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

plain_selector *plain_make(random_state *seed, const plain_vocabulary *names, int depth) {
  vocabulary = names;
  return make_selector(seed, depth, false, false, false);
}

void plain_reset(void) {
  for (int i = 0; i < pool_used; i++) {
    for (int part = 0; part < MAX_PARTS; part++) {
      free(pool[i].known[part]);
      for (size_t t = 0; t < sizeof pool[i].tests[part] / sizeof *pool[i].tests[part]; t++)
        free(pool[i].tests[part][t].indices);
    }
    memset(&pool[i], 0, sizeof pool[i]);
  }
  pool_used = 0;
}

void plain_close(void) {
  plain_reset();
  free(elements);
  free(numbers);
  elements = NULL;
  numbers = NULL;
  element_capacity = 0;
  number_count = 0;
}

void plain_print(const plain_selector *s, char *to) { print_selector(s, false, to); }

bool plain_matches(plain_selector *s, hpar_node element) {
  return matches_part(s, s->parts - 1, number_of(element), NO_ELEMENT);
}
