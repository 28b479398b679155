#ifndef TESTS_SUPPORT_VALUE_H
#define TESTS_SUPPORT_VALUE_H

/* Parses JSON text into values: enough for files that this project writes. The only escapes in
 * strings are \", \\, \/ and \u of ASCII. The maximum nesting is 64. */

#include <stdbool.h>
#include <stddef.h>

typedef enum value_kind { VALUE_NULL, VALUE_BOOLEAN, VALUE_NUMBER, VALUE_TEXT, VALUE_LIST, VALUE_OBJECT } value_kind;

typedef struct value {
  value_kind kind;
  char *name; /* of a member of an object */
  double number;
  char *text;
  struct value *items; /* of a list or an object */
  size_t count;
} value;

/* Returns NULL if the text is no JSON, or without memory. The caller calls value_free(). */
value *value_read(const char *bytes, size_t length);
void value_free(value *value);

/* Returns NULL if the member does not exist, or `object` is NULL or no object. */
const value *value_member(const value *object, const char *name);
/* Returns the number of a member, or `otherwise` if it does not exist. */
double value_number(const value *object, const char *name, double otherwise);

#endif
