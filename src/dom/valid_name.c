#include "dom/valid_name.h"

#include "base/ascii.h"

#include <string.h>

/* Returns true if no byte ends a name in a tag: white space, NUL, "/" and ">". */
static bool stays_in_tag(const char *name, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (hp_ascii_is_white(name[i]) || !name[i] || name[i] == '/' || name[i] == '>') return false;
  return true;
}

static bool begins_other_name(char c) { return c == ':' || c == '_' || (unsigned char)c >= 0x80; }

bool hp_is_element_name(const char *name, size_t length) {
  if (!length) return false;
  if (hp_ascii_is_letter(*name)) return stays_in_tag(name, length);
  if (!begins_other_name(*name)) return false;
  for (size_t i = 1; i < length; i++) {
    bool digit = name[i] >= '0' && name[i] <= '9';
    if (!hp_ascii_is_letter(name[i]) && !digit && !begins_other_name(name[i]) && name[i] != '-' && name[i] != '.')
      return false;
  }
  return true;
}

bool hp_is_attribute_name(const char *name, size_t length) {
  return length && stays_in_tag(name, length) && !memchr(name + 1, '=', length - 1);
}
