#ifndef HP_SELECT_CSS_H
#define HP_SELECT_CSS_H

/* Reads the tokens of selectors: white space, identifiers with escapes, strings, An+B.
 * Source: CSS Syntax Level 3, https://drafts.csswg.org/css-syntax/. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hp_css {
  const char *at, *end, *begin;
} hp_css;

/* Skips comments, which separate nothing. */
void hp_css_skip_comments(hp_css *css);

/* Skips white space and comments. Returns true if it skipped white space. */
bool hp_css_skip_space(hp_css *css);

/* Returns true if an identifier begins at the reader. */
bool hp_css_at_identifier(const hp_css *css);

/* Reads an identifier, or the name after '#' if `is_hash`, which may begin with a digit. Writes
 * the unescaped bytes to `to`, which holds three times the bytes left. Returns the
 * length, or -1. */
ptrdiff_t hp_css_identifier(hp_css *css, bool is_hash, char *to);

/* Reads a quoted string. Writes as the identifier does. Returns the length, or -1 if it is not
 * closed. */
ptrdiff_t hp_css_string(hp_css *css, char *to);

/* Reads "odd", "even" or An+B. Returns false if none is at the reader. */
bool hp_css_nth(hp_css *css, int32_t *a, int32_t *b);

#endif
