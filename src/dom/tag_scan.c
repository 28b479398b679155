#include "dom/tag_scan.h"

#include "base/bytes.h"

#include <string.h>

static bool ends_name(char c) { return hp_ascii_is_white(c) || c == '/' || c == '>'; }

static const char *skip_white(const char *at, const char *end) {
  while (at < end && hp_ascii_is_white(*at)) at++;
  return at;
}

hp_tag_scan hp_tag_scan_open(const char *tag, const char *end) {
  const char *at = tag + 1;
  while (at < end && !ends_name(*at)) at++;
  return (hp_tag_scan){.at = at, .end = end};
}

/* Scans the value if an equals sign follows. */
static void take_value(hp_tag_scan *s) {
  const char *at = skip_white(s->at, s->end);
  s->value = s->value_end = s->name_end;
  if (at == s->end || *at != '=') return;
  at = skip_white(at + 1, s->end);
  s->value = s->value_end = at;
  if (at == s->end || *at == '>') {
    s->at = at;
  } else if (*at == '"' || *at == '\'') {
    const char *quote = memchr(at + 1, *at, (size_t)(s->end - at - 1));
    s->value = at + 1;
    s->value_end = quote ? quote : s->end;
    s->at = quote ? quote + 1 : s->end;
  } else {
    while (at < s->end && !hp_ascii_is_white(*at) && *at != '>') at++;
    s->at = s->value_end = at;
  }
}

bool hp_tag_scan_next(hp_tag_scan *s) {
  while (s->at < s->end && (hp_ascii_is_white(*s->at) || *s->at == '/')) s->at++;
  if (s->at == s->end || *s->at == '>') return false;
  s->name = s->at++; /* an equals sign may begin a name */
  while (s->at < s->end && !ends_name(*s->at) && *s->at != '=') s->at++;
  s->name_end = s->at;
  take_value(s);
  return true;
}

/* Returns the position after `name` in the source, or NULL if the source has another name. Ignores
 * case, because some SVG attributes have capital letters in the tree. NUL in the source is U+FFFD
 * in the tree. */
static const char *match(const char *at, const char *end, hpar_string name) {
  for (size_t i = 0; i < name.length; i++, at++) {
    if (at == end) return NULL;
    if (!*at && name.length - i >= 3 && !memcmp(name.bytes + i, "\xEF\xBF\xBD", 3))
      i += 2;
    else if (hp_ascii_lower(*at) != hp_ascii_lower(name.bytes[i]))
      return NULL;
  }
  return at;
}

bool hp_tag_scan_is(const hp_tag_scan *s, const hpar_attribute *attribute) {
  const char *at = s->name;
  if (attribute->prefix.length) {
    at = match(at, s->name_end, attribute->prefix);
    if (!at || at == s->name_end || *at++ != ':') return false;
  }
  at = match(at, s->name_end, attribute->local_name);
  return at == s->name_end;
}
