#ifndef TESTS_SUPPORT_PLAIN_SELECT_H
#define TESTS_SUPPORT_PLAIN_SELECT_H

/* Generated selectors, and a matcher that follows the definitions from right to left. It shares no
 * code with the library's matcher. */

#include "support/random.h"

#include <hpar/hpar.h>

/* The names that generated selectors draw. */
typedef struct plain_vocabulary {
  const char *const *types, *const *classes, *const *ids, *const *attributes;
  size_t type_count, class_count, id_count, attribute_count;
  bool has; /* generates :has(), which the plain matcher tests in quadratic time */
} plain_vocabulary;

typedef struct plain_selector plain_selector;

enum { PLAIN_TEXT = 60000 }; /* enough bytes for the text of any generated selector */

/* Reads the tree that plain_matches is about. It stays until plain_open or plain_close. */
void plain_open(const hpar_document *document);

/* Makes a selector with lists nested up to `depth` levels. It lives until plain_reset, and it is
 * about one tree. */
plain_selector *plain_make(random_state *seed, const plain_vocabulary *vocabulary, int depth);
void plain_reset(void);
void plain_close(void);

/* Appends the selector as text. */
void plain_print(const plain_selector *selector, char *to);

/* Returns true if the element matches the selector. */
bool plain_matches(plain_selector *selector, hpar_node element);

#endif
