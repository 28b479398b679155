#ifndef HPAR_PYTHON_XPATH_H
#define HPAR_PYTHON_XPATH_H

/* XPath 1.0 on the nodes of a document, without Python.
 *
 * An expression becomes a program of routines. The main one has the whole expression, and each
 * predicate has one of its own. A routine is in postfix notation, so long chains of operators need
 * no recursion. Only predicates, parentheses and arguments nest, HP_XPATH_DEPTH deep at most.
 *
 * Names match as in lxml.html: a name without a prefix is a local name in any namespace, but an
 * attribute without a prefix has no namespace. */

#include "base/memory.h"
#include "dom/node.h"

enum {
  HP_XPATH_DEPTH = 100,
  HP_XPATH_EXPRESSION = 1 << 20, /* bytes of an expression */
  HP_XPATH_STRING = 1 << 28      /* bytes of a string that an expression makes */
};

/*** values ***/

/* HP_XPATH_ANY: a variable, whose type is known when the program runs. */
typedef enum hp_xpath_type {
  HP_XPATH_SET,
  HP_XPATH_STRING_VALUE,
  HP_XPATH_NUMBER,
  HP_XPATH_BOOLEAN,
  HP_XPATH_ANY
} hp_xpath_type;

/* A node, or the attribute with an index: the index and 1 are the upper 32 bits. */
typedef uint64_t hp_xpath_item;

static inline hp_ref hp_xpath_node(hp_xpath_item item) { return (hp_ref)item; }
static inline uint32_t hp_xpath_attribute(hp_xpath_item item) { return (uint32_t)(item >> 32); }

// value
typedef struct hp_xpath_set {
  hp_xpath_item *items;
  size_t count, capacity;
  bool sorted; /* in document order, and unique */
  bool unique;
  bool disjoint; /* no item contains another one */
} hp_xpath_set;

// value
typedef struct hp_xpath_value {
  hp_xpath_type type;
  union {
    hp_xpath_set set;
    hpar_string string;
    double number;
    bool truth;
  };
  void *memory; /* of the string, or NULL */
} hp_xpath_value;

/*** programs ***/

typedef enum hp_xpath_axis {
  HP_AXIS_ANCESTOR,
  HP_AXIS_ANCESTOR_OR_SELF,
  HP_AXIS_ATTRIBUTE,
  HP_AXIS_CHILD,
  HP_AXIS_DESCENDANT,
  HP_AXIS_DESCENDANT_OR_SELF,
  HP_AXIS_FOLLOWING,
  HP_AXIS_FOLLOWING_SIBLING,
  HP_AXIS_PARENT,
  HP_AXIS_PRECEDING,
  HP_AXIS_PRECEDING_SIBLING,
  HP_AXIS_SELF,
  HP_AXES
} hp_xpath_axis;

typedef enum hp_xpath_kind {
  HP_TEST_NODE,
  HP_TEST_PARENT, /* what can have children */
  HP_TEST_TEXT,
  HP_TEST_COMMENT,
  HP_TEST_INSTRUCTION,
  HP_TEST_ANY_NAME, /* an element, or on its axis an attribute */
  HP_TEST_NAME
} hp_xpath_kind;

/* `ns`: HPAR_NAMESPACE_NONE if the test has no prefix. `name` of an instruction: NULL if any. */
// value
typedef struct hp_xpath_test {
  hp_xpath_kind kind;
  hpar_namespace ns;
  hpar_string name;
} hp_xpath_test;

/* What the program needs of the last step of a path. */
typedef enum hp_xpath_wanted { HP_WANT_ALL, HP_WANT_FIRST, HP_WANT_ANY } hp_xpath_wanted;

/* A step, or the predicates of another node-set. Those from `positional` on depend on the position. */
// value
typedef struct hp_xpath_step {
  hp_xpath_axis axis;
  hp_xpath_wanted wanted;
  uint32_t test;
  uint32_t predicates, count, positional; /* of hp_xpath_program.predicates */
} hp_xpath_step;

typedef enum hp_xpath_operation {
  HP_OP_NUMBER,  /* a: of numbers */
  HP_OP_LITERAL, /* a: of literals */
  HP_OP_BOOLEAN, /* a: the truth */
  HP_OP_VARIABLE,
  HP_OP_CONTEXT,
  HP_OP_ROOT,
  HP_OP_POSITION,
  HP_OP_LAST,
  HP_OP_STEP,   /* a: of steps */
  HP_OP_FILTER, /* a: of steps */
  HP_OP_CHECK_SET,
  HP_OP_UNION, /* a: how many sets */
  HP_OP_TO_STRING,
  HP_OP_TO_NUMBER,
  HP_OP_TO_BOOLEAN,
  HP_OP_NOT,
  HP_OP_NEGATE,
  HP_OP_ADD,
  HP_OP_SUBTRACT,
  HP_OP_MULTIPLY,
  HP_OP_DIVIDE,
  HP_OP_MODULO,
  HP_OP_EQUAL,
  HP_OP_NOT_EQUAL,
  HP_OP_LESS,
  HP_OP_LESS_EQUAL,
  HP_OP_GREATER,
  HP_OP_GREATER_EQUAL,
  HP_OP_AND,              /* a: where the right operand ends */
  HP_OP_OR,               /* a: the same */
  HP_OP_CALL,             /* a: of hp_xpath_functions, b: how many arguments */
  HP_OP_ATTRIBUTE_STRING, /* a: of tests */
  HP_OP_HAS_ATTRIBUTE,
  HP_OP_ATTRIBUTE_EQUALS /* a: of tests, b: of literals */
} hp_xpath_operation;

// value
typedef struct hp_xpath_instruction {
  hp_xpath_operation op;
  uint32_t a, b, place;
} hp_xpath_instruction;

// value
typedef struct hp_xpath_routine {
  hp_xpath_instruction *code;
  uint32_t count, capacity;
  hp_xpath_type type;
  bool positional;
  uint32_t next; /* of the same step; 0: the last */
} hp_xpath_routine;

// value
typedef struct hp_xpath_program {
  char *text; /* names and literals are parts of it */
  size_t length;
  hp_xpath_routine *routines;
  hp_xpath_step *steps;
  hp_xpath_test *tests;
  uint32_t *predicates; /* routines */
  double *numbers;
  hpar_string *literals, *variables;
  uint32_t routine_count, routine_capacity, step_count, step_capacity, test_count, test_capacity, predicate_count,
      predicate_capacity, number_count, number_capacity, literal_count, literal_capacity, variable_count,
      variable_capacity;
} hp_xpath_program;

typedef struct hp_xpath_evaluation hp_xpath_evaluation;

/* Takes `count` arguments from the stack and puts the result there. */
// value
typedef struct hp_xpath_function {
  const char *name;
  unsigned least, most;
  const char *types; /* of arguments: s, n, b, set 'e', any '.'; the last one repeats */
  hp_xpath_type result;
  void (*call)(hp_xpath_evaluation *e, unsigned count);
} hp_xpath_function;
extern const hp_xpath_function hp_xpath_functions[];

// value
typedef struct hp_xpath_failure {
  hpar_status status;
  const char *text; /* NULL: that of the status */
  size_t place;     /* in bytes of the expression */
} hp_xpath_failure;

/* Returns NULL with a failure for a wrong expression, or without memory. */
hp_xpath_program *hp_xpath_compile(const char *bytes, size_t length, hp_xpath_failure *failure);
void hp_xpath_destroy(hp_xpath_program *program);

/*** evaluation ***/

/* The places of nodes in document order. Trees get their numbers one after the other, each when the
 * first of its nodes needs one. */
// value
typedef struct hp_xpath_order {
  uint32_t *numbers; /* by node; 0: none yet */
  size_t size;
  uint32_t count;
} hp_xpath_order;
void hp_xpath_free_order(hp_xpath_order *order);

// value
typedef struct hp_xpath_call {
  const hpar_document *document;
  hpar_node context;
  const hp_xpath_value *variables; /* in the order of the program's */
  hp_xpath_order *order;           /* of an earlier call, or empty; the call may fill it */
  bool (*interrupted)(void *argument);
  void *argument;
  hp_xpath_value result; /* hp_xpath_free_value frees it */
  hp_xpath_failure failure;
} hp_xpath_call;
hpar_status hp_xpath_run(const hp_xpath_program *program, hp_xpath_call *call);
void hp_xpath_free_value(hp_xpath_value *value);

/* Memory of an evaluation, which it owns until it ends. */
typedef struct hp_xpath_block {
  struct hp_xpath_block *next, **link;
} hp_xpath_block;

enum { HP_XPATH_SPARE = 16 };

struct hp_xpath_evaluation {
  hp_unwind unwind;
  const hp_xpath_program *program;
  hp_xpath_call *call;
  const hpar_document *document;
  const char *base;
  hp_ref root;    /* of the context node of the call; 0: not known yet */
  hp_atom *atoms; /* of the program's tests in this document */
  hp_xpath_order *order;
  hp_xpath_value *stack;
  uint32_t count, capacity;
  hp_xpath_block *blocks;
  hp_xpath_set spare[HP_XPATH_SPARE]; /* without items */
  unsigned spare_count;
  hp_xpath_item context;
  size_t position, size;
  uint64_t work;
  int64_t checked_at; /* in nanoseconds */
  hp_xpath_set ids;   /* elements with an id, sorted by it; made by the first call of id() */
  bool has_ids;
};

/* Unwinds. `text` is static. */
_Noreturn void hp_xpath_fail(hp_xpath_evaluation *e, hpar_status status, const char *text);
void *hp_xpath_take(hp_xpath_evaluation *e, size_t bytes);
void *hp_xpath_retake(hp_xpath_evaluation *e, void *old, size_t bytes);
void hp_xpath_drop(void *memory);

hp_xpath_set hp_xpath_new_set(hp_xpath_evaluation *e);
void hp_xpath_drop_set(hp_xpath_evaluation *e, hp_xpath_set *set);
void hp_xpath_add_slowly(hp_xpath_evaluation *e, hp_xpath_set *set);
static inline void hp_xpath_add(hp_xpath_evaluation *e, hp_xpath_set *set, hp_xpath_item item) {
  if (set->count == set->capacity) hp_xpath_add_slowly(e, set);
  set->items[set->count++] = item;
}
/* Sorts the set and removes duplicates. */
void hp_xpath_sort(hp_xpath_evaluation *e, hp_xpath_set *set);
/* Returns the number of the node in the order of its tree. */
uint32_t hp_xpath_number_of(hp_xpath_evaluation *e, hp_ref node);
/* Counts a piece of work, and unwinds if the call is interrupted. */
void hp_xpath_check(hp_xpath_evaluation *e);
static inline void hp_xpath_work(hp_xpath_evaluation *e) {
  if (!(++e->work & 0xFF)) hp_xpath_check(e);
}

/*** xpath_run.c ***/

void hp_xpath_grow_stack(hp_xpath_evaluation *e);

/* The functions write and read single members, because a copy of a value that has just been written
 * in parts makes the processor wait. */
static inline hp_xpath_value *hp_xpath_push_slot(hp_xpath_evaluation *e, hp_xpath_type type) {
  if (e->count == e->capacity) hp_xpath_grow_stack(e);
  hp_xpath_value *v = &e->stack[e->count++];
  v->type = type;
  v->memory = NULL;
  return v;
}

static inline void hp_xpath_push(hp_xpath_evaluation *e, hp_xpath_value value) {
  *hp_xpath_push_slot(e, value.type) = value;
}

static inline void hp_xpath_push_string(hp_xpath_evaluation *e, hpar_string string, void *memory) {
  hp_xpath_value *v = hp_xpath_push_slot(e, HP_XPATH_STRING_VALUE);
  v->string.bytes = string.bytes;
  v->string.length = string.length;
  v->memory = memory;
}

static inline void hp_xpath_push_number(hp_xpath_evaluation *e, double number) {
  hp_xpath_push_slot(e, HP_XPATH_NUMBER)->number = number;
}

static inline void hp_xpath_push_truth(hp_xpath_evaluation *e, bool truth) {
  hp_xpath_push_slot(e, HP_XPATH_BOOLEAN)->truth = truth;
}

static inline hp_xpath_value hp_xpath_pop(hp_xpath_evaluation *e) { return e->stack[--e->count]; }

/* Returns whether the predicate holds for the item. */
bool hp_xpath_holds(hp_xpath_evaluation *e, uint32_t routine, hp_xpath_item item, size_t position, size_t size);

/*** xpath_axes.c ***/

/* Returns the nodes of the step from each node of the set, which it drops. */
hp_xpath_set hp_xpath_step_from(hp_xpath_evaluation *e, const hp_xpath_step *step, hp_xpath_set *from);
/* Drops nodes for which the predicates do not hold. */
void hp_xpath_filter(hp_xpath_evaluation *e, const hp_xpath_step *step, hp_xpath_set *set);
/* Returns the attribute of the item that passes the test and comes first, or NULL. */
const hp_attribute *hp_xpath_find_attribute(const hp_xpath_evaluation *e, hp_xpath_item item, uint32_t test);
hp_ref hp_xpath_root_of(const hp_xpath_evaluation *e, hp_ref node);

/*** xpath_values.c ***/

/* Sets `*memory` to what the string needs, or NULL. */
hpar_string hp_xpath_string_of(hp_xpath_evaluation *e, hp_xpath_item item, void **memory);
hpar_string hp_xpath_attribute_value(const hpar_document *document, hp_xpath_item item);
void hp_xpath_to_string(hp_xpath_evaluation *e);
void hp_xpath_to_number(hp_xpath_evaluation *e);
void hp_xpath_to_boolean(hp_xpath_evaluation *e);
void hp_xpath_drop_value(hp_xpath_evaluation *e, hp_xpath_value *value);
bool hp_xpath_compare(hp_xpath_evaluation *e, hp_xpath_operation op, hp_xpath_value *left, hp_xpath_value *right);
double hp_xpath_number(const char *bytes, size_t length);
double hp_xpath_item_number(hp_xpath_evaluation *e, hp_xpath_item item);
/* The number as a string. Returns its length. */
enum { HP_XPATH_DIGITS = 400 };
size_t hp_xpath_format(double number, char buffer[HP_XPATH_DIGITS]);

#endif
