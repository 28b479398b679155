#ifndef TESTS_SUPPORT_VALUE_H
#define TESTS_SUPPORT_VALUE_H

/* JSON text to values: enough for files that this project writes. Strings have no escapes but \", \\, \/ and \u of
 * ASCII; nesting is at most 64 deep. */

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

/* NULL if it is no JSON, or without memory; value_free() it. */
value *value_read(const char *bytes, size_t length);
void value_free(value *value);

/* NULL if there is none, or `object` is NULL or none. */
const value *value_member(const value *object, const char *name);
/* `otherwise` where there is no such number. */
double value_number(const value *object, const char *name, double otherwise);

#endif
