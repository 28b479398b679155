#ifndef HP_SELECT_PROGRAM_H
#define HP_SELECT_PROGRAM_H

/* Compiled selectors. A complex selector is a chain of instructions, one per compound.
 * Instruction i matches an element if the element is active for i and its compound holds. A
 * match makes instruction i + 1 active for the elements that the combinator after i names. Sets
 * of instructions are bit sets, so one step per element evaluates all selectors together.
 *
 * Invariants:
 *   - The instructions of a chain have consecutive numbers.
 *   - A selector inside :is(), :where(), :not() or "of S" has lower numbers than its user, so a
 *     step in ascending order has the inner result first.
 *   - Tests that need what follows a start tag are *look-ahead* tests. They have numbers of their
 *     own, inner before outer. select.c computes them in reverse document order.
 *
 * Source: Selectors Level 4, https://drafts.csswg.org/selectors/. */

#include "base/call.h"
#include "base/memory.h"

#include <hpar/node.h>
#include <hpar/select.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP_SELECT_NONE UINT32_MAX

enum { HP_ELEMENT_NAMESPACES = HPAR_NAMESPACE_MATHML - HPAR_NAMESPACE_HTML + 1 };

typedef enum hp_combinator {
  HP_COMBINATOR_NONE, /* the chain ends */
  HP_COMBINATOR_DESCENDANT,
  HP_COMBINATOR_CHILD,
  HP_COMBINATOR_NEXT,
  HP_COMBINATOR_LATER
} hp_combinator;

typedef enum hp_test_kind {
  HP_TEST_NEVER,
  HP_TEST_ID,
  HP_TEST_CLASS,
  HP_TEST_ATTRIBUTE,
  HP_TEST_NTH_CHILD,    /* a, b */
  HP_TEST_NTH_OF_TYPE,  /* a, b */
  HP_TEST_NTH_OF_NAME,  /* a, b, slot: the compound has a name */
  HP_TEST_NTH_CHILD_OF, /* a, b, slot: `first` is the counting instruction */
  HP_TEST_ROOT,
  HP_TEST_SCOPE,
  HP_TEST_EMPTY, /* looks at the children: for trees only */
  HP_TEST_LINK,
  HP_TEST_ENABLED,
  HP_TEST_DISABLED,
  HP_TEST_CHECKED,
  HP_TEST_LANG,
  HP_TEST_LIST,  /* one of `count` choices, from `first` */
  HP_TEST_BIT,   /* instruction `first` matched this element */
  HP_TEST_AHEAD, /* look-ahead test `first` */
} hp_test_kind;

typedef enum hp_attribute_operator {
  HP_ATTRIBUTE_PRESENT,
  HP_ATTRIBUTE_EQUALS,
  HP_ATTRIBUTE_WORD,
  HP_ATTRIBUTE_DASH,
  HP_ATTRIBUTE_PREFIX,
  HP_ATTRIBUTE_SUFFIX,
  HP_ATTRIBUTE_SUBSTRING
} hp_attribute_operator;

typedef enum hp_value_case {
  HP_VALUE_CASE_EXACT,
  HP_VALUE_CASE_HTML, /* ASCII case-insensitive on HTML elements */
  HP_VALUE_CASE_ASCII
} hp_value_case;

typedef enum hp_namespace_test {
  HP_NAMESPACE_ANY,
  HP_NAMESPACE_ABSENT,
  HP_NAMESPACE_IS_HTML,
  HP_NAMESPACE_IS_SVG,
  HP_NAMESPACE_IS_MATHML,
  HP_NAMESPACE_IS_XLINK,
  HP_NAMESPACE_IS_XML,
  HP_NAMESPACE_IS_XMLNS
} hp_namespace_test;

typedef struct hp_test { // value
  uint8_t kind;          /* hp_test_kind */
  uint8_t operator;      /* hp_attribute_operator */
  uint8_t letter_case;   /* hp_value_case */
  uint8_t ns;            /* hp_namespace_test, of an attribute */
  bool negated;
  uint32_t next; /* the next test of the compound, or HP_SELECT_NONE */
  uint32_t name; /* of an attribute: an index of `names` */
  uint32_t first, count;
  int32_t a, b;
  uint32_t slot;          /* of a counter; HP_TEST_LANG: its number among those tests */
  uint32_t value, length; /* of a name or value: a place in `text` */
} hp_test;

typedef struct hp_compound { // value
  uint32_t name;             /* an index of `names`; HP_SELECT_NONE: any */
  uint8_t ns;                /* hp_namespace_test */
  uint32_t first_test;       /* or HP_SELECT_NONE */
} hp_compound;

typedef struct hp_instruction { // value
  uint32_t compound;
  uint8_t combinator;       /* to the next instruction; HP_COMBINATOR_NONE: it accepts */
  uint32_t selector;        /* what it accepts for the caller; HP_SELECT_NONE: an inner selector */
  uint32_t slot;            /* of the counter that a match increments, or HP_SELECT_NONE */
  bool enters;              /* the first of its chain */
  bool counts_by_namespace; /* `slot` is the first of HP_ELEMENT_NAMESPACES counters */
} hp_instruction;

/* One choice of a list: a compound, or an instruction that accepts a complex selector. */
typedef struct hp_choice {
  bool is_complex;
  uint32_t index;
} hp_choice;

typedef enum hp_ahead_kind {
  HP_AHEAD_HAS,              /* `first`, `count`: relative selectors in `relatives` */
  HP_AHEAD_NTH_LAST_CHILD,   /* a, b */
  HP_AHEAD_NTH_LAST_OF_TYPE, /* a, b */
  HP_AHEAD_NTH_LAST_OF       /* a, b; `first`, `count`: choices; slot */
} hp_ahead_kind;

typedef struct hp_ahead_test { // value
  uint8_t kind;
  bool is_local; /* :last-child, :has(> A), :has(+ A): the walk tests them at the element itself */
  int32_t a, b;
  uint32_t first, count, slot;
} hp_ahead_test;

/* A compound of a relative selector, and how its element relates to that of the compound before. */
typedef struct hp_relative { // value
  uint32_t compound;
  uint8_t combinator;
  bool is_last;
} hp_relative;

/* A name as written and in lower case: HTML elements match the latter, others the former. */
typedef struct hp_selector_name { // value
  uint32_t exact, lower, length;  /* places in `text` */
} hp_selector_name;

/* The arrays to which the parser appends. */
#define HP_SELECT_ARRAYS(ARRAY)       \
  ARRAY(char, text)                   \
  ARRAY(hp_selector_name, names)      \
  ARRAY(hp_test, tests)               \
  ARRAY(hp_compound, compounds)       \
  ARRAY(hp_instruction, instructions) \
  ARRAY(hp_choice, choices)           \
  ARRAY(hp_ahead_test, ahead)         \
  ARRAY(hp_relative, relatives)       \
  ARRAY(uint32_t, starts) /* of relative selectors: indices of `relatives` */
#define HP_SELECT_ARRAY(type, name) \
  type *name;                       \
  uint32_t name##_count, name##_capacity;

/* What the parser appends to, in one place so that a failed selector can be taken back. */
typedef struct hpar_selectors { // value
  hp_in_use use;
  HP_SELECT_ARRAYS(HP_SELECT_ARRAY)
  uint32_t selectors;      /* added so far */
  uint32_t counters;       /* slots of :nth-child(of S) */
  uint32_t languages;      /* tests of a language range */
  uint32_t ahead_counters; /* slots of :nth-last-child(of S) */
  bool counts_types, looks_at_siblings, looks_at_forms;
} hpar_selectors;

/* Returns true if a test of the set needs the walk in reverse document order. */
static inline bool hp_selectors_walk_back(const hpar_selectors *set) {
  for (uint32_t i = 0; i < set->ahead_count; i++)
    if (!set->ahead[i].is_local) return true;
  return false;
}

/* Begins and ends a call that runs a callback. A callback may destroy both. Returns `status`. */
void hp_selectors_begin_use(const hpar_selectors *set, const hpar_document *document);
hpar_status hp_selectors_end_use(const hpar_selectors *set, const hpar_document *document, hpar_status status);

/* Appends one selector to the set, as hpar_selectors_add does. */
hpar_status hp_selectors_add(hpar_selectors *set, const char *text, size_t length, bool for_stream, hpar_error *error);

/* Copies the set, which may then change or be destroyed, to zeros. HPAR_ERROR_MEMORY;
 * hp_selectors_close is to be called after any result. */
hpar_status hp_selectors_copy(hpar_selectors *copy, const hpar_selectors *set);
/* Frees what the set has, but not the set. */
void hp_selectors_close(hpar_selectors *set);

#endif
