#ifndef HP_SPECULATION_START_VALUE_H
#define HP_SPECULATION_START_VALUE_H

/* Markup in attribute values, whose quotes are escaped as `&quot;`. */

#include <stdbool.h>

/* Returns whether the quotes nearest to the cut are escaped, as in an attribute's value. */
bool hp_is_in_value(const char *text, const char *cut, const char *end);
/* Returns whether the tag at the cut has an attribute with escaped quotes around its value. */
bool hp_has_escaped_attribute(const char *cut, const char *end);

#endif
