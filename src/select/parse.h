#ifndef HP_SELECT_PARSE_H
#define HP_SELECT_PARSE_H

#include "select/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*** tokens ***/

/* Reads the tokens of selectors: white space, identifiers with escapes, strings, An+B.
 * Source: CSS Syntax Level 3, https://drafts.csswg.org/css-syntax/. */

typedef struct hp_css {
  const char *at, *end, *begin;
} hp_css;

/* Skips white space and comments. Returns true if it skipped white space. */
bool hp_css_skip_space(hp_css *css);

/* Returns true if an identifier begins at the reader. */
bool hp_css_at_identifier(const hp_css *css);

/* Reads a quoted string. Writes as the identifier does. Returns the length, or -1 if it is not
 * closed. */
ptrdiff_t hp_css_string(hp_css *css, char *to);

/* Reads "odd", "even" or An+B. Returns false if none is at the reader. */
bool hp_css_nth(hp_css *css, int32_t *a, int32_t *b);

/*** selectors ***/

/* Translates the text of one selector list to instructions that accept `selector`. */

typedef struct hp_selector_parser {
  hpar_selectors *set;
  hp_css css;
  hpar_status status;   /* out of memory */
  const char *reason;   /* the first error, or NULL */
  size_t offset;        /* of the error */
  uint32_t selector;    /* that the outermost chains accept */
  unsigned nesting;     /* of parentheses */
  unsigned ahead_depth; /* inside the arguments of look-ahead tests */
  bool inside_has;
  bool for_stream; /* tests that need what follows a start tag are refused */
  bool is_refused; /* by a limit of this library: a forgiving list does not forgive it */
} hp_selector_parser;

/* Appends the whole text. Returns false on an error; the caller then takes the set back. */
bool hp_selector_parse(hp_selector_parser *parser);

/* Appends one selector to the set, as hpar_selectors_add does. */
/* Begins and ends a call that runs a callback. A callback may destroy both. Returns `status`. */
void hp_selectors_begin_use(const hpar_selectors *set, const hpar_document *document);
hpar_status hp_selectors_end_use(const hpar_selectors *set, const hpar_document *document, hpar_status status);

hpar_status hp_selectors_add(hpar_selectors *set, const char *text, size_t length, bool for_stream, hpar_error *error);

/* Removes what was appended since `before`, a copy of the set. */
void hp_selector_take_back(hpar_selectors *set, const hpar_selectors *before);

/* What parse.c and pseudo.c share. */
bool hp_selector_fail(hp_selector_parser *parser, const char *at, const char *reason);
bool hp_selector_refuse(hp_selector_parser *parser, const char *at, const char *reason);
bool hp_selector_out_of_memory(hp_selector_parser *parser);
/* Reads one compound. Returns its index, or HP_SELECT_NONE. */
uint32_t hp_selector_compound(hp_selector_parser *parser);
/* Reads a complex selector whose chain accepts `selector`. `choice` receives the compound alone
 * where the chain has one element and `may_be_plain`. */
bool hp_selector_complex(hp_selector_parser *parser, uint32_t selector, hp_choice *choice);
/* Appends a test to the compound. Returns NULL when memory is short. */
hp_test *hp_selector_add_test(hp_selector_parser *parser, uint32_t compound, hp_test_kind kind);
/* Reads what follows ':' and appends the tests of a pseudo-class. */
bool hp_selector_pseudo(hp_selector_parser *parser, uint32_t compound);
/* Reads a combinator; HP_COMBINATOR_NONE at the end, ',' or ')'. */
hp_combinator hp_selector_combinator(hp_selector_parser *parser);
/* Reads an identifier to the set's text. Returns its length, or -1. `*place` receives its place. */
ptrdiff_t hp_selector_identifier(hp_selector_parser *parser, bool is_hash, uint32_t *place);
/* Makes an instruction of a compound on which nothing follows. Returns its index, or
 * HP_SELECT_NONE. */
uint32_t hp_selector_instruction(hp_selector_parser *parser, uint32_t compound, uint32_t selector);

#endif
