#ifndef HP_DOM_VALID_NAME_H
#define HP_DOM_VALID_NAME_H

/* The names that the DOM accepts for new elements and attributes: "valid element local name" and
 * "valid attribute local name" of the DOM Standard. With any other name, the HTML of a tree could
 * have other elements and attributes. */

#include <stdbool.h>
#include <stddef.h>

bool hp_is_element_name(const char *name, size_t length);
/* Also accepts "=" as the first character, because a tag may have such an attribute. */
bool hp_is_attribute_name(const char *name, size_t length);

#endif
