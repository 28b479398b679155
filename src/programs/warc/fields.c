/* The fields of the head of a record. */

#include "programs/warc/fields.h"

#include "base/bytes.h"
#include "programs/warc/warc.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static hpar_string trimmed(const char *from, const char *to) {
  while (from < to && is_blank(*from)) from++;
  while (to > from && is_blank(to[-1])) to--;
  return (hpar_string){from, (size_t)(to - from)};
}

/* Returns the next field at or after *at, and moves *at after it. The name is empty at the end. */
static hpar_string next_field(const char **at, const char *end, hpar_string *value) {
  while (*at < end) {
    const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
    for (; stop && stop + 1 < end && (stop[1] == ' ' || stop[1] == '\t');)
      stop = memchr(stop + 1, '\n', (size_t)(end - stop - 1));
    if (!stop) stop = end;
    *at = stop < end ? stop + 1 : end;
    const char *colon = memchr(line, ':', (size_t)(stop - line));
    if (!colon) continue;
    hpar_string name = trimmed(line, colon);
    if (!name.length || memchr(name.bytes, '\n', name.length)) continue;
    *value = trimmed(colon + 1, stop);
    return name;
  }
  return (hpar_string){"", 0};
}

static const char *after_first_line(hpar_string head) {
  const char *line = head.length ? memchr(head.bytes, '\n', head.length) : NULL;
  return line ? line + 1 : head.bytes + head.length;
}

/* Returns whether a value has no NUL, and no CR outside line breaks. Neither RFC 9110 nor the WARC
 * standard allows them. */
static bool is_valid(hpar_string value) {
  const char *at = value.bytes, *end = at + value.length;
  if (memchr(at, 0, value.length)) return false;
  while ((at = memchr(at, '\r', (size_t)(end - at))))
    if (++at == end || *at != '\n') return false;
  return true;
}

hpar_string hp_warc_next_field(hpar_string head, const char **at, hpar_string *value) {
  hpar_string name;
  if (!*at) *at = after_first_line(head);
  while ((name = next_field(at, head.bytes + head.length, value)).length)
    if (is_valid(*value)) break;
  return name;
}

hpar_string hp_warc_field(hpar_string head, const char *name) {
  size_t length = strlen(name);
  hpar_string value, found;
  for (const char *at = NULL; (found = hp_warc_next_field(head, &at, &value)).length;)
    if (found.length == length && hp_ascii_equal(found.bytes, name, length)) return value;
  return (hpar_string){NULL, 0};
}

bool hp_warc_length(hpar_string head, uint64_t *length) {
  static const char name[] = "content-length";
  bool found = false;
  hpar_string value, field;
  const char *end = head.bytes + head.length, *at = after_first_line(head);
  while ((field = next_field(&at, end, &value)).length) {
    if (field.length != sizeof name - 1 || !hp_ascii_equal(field.bytes, name, sizeof name - 1)) continue;
    uint64_t number = 0;
    for (size_t i = 0; i < value.length; i++) {
      if (!hp_ascii_is_digit(value.bytes[i]) || number > UINT64_MAX / 20) return false;
      number = number * 10 + (uint64_t)(value.bytes[i] - '0');
    }
    if (!value.length || (found && number != *length)) return false;
    found = true;
    *length = number;
  }
  return found;
}

bool hp_warc_is_joined(hpar_string head) {
  static const char name[] = "warc-type";
  unsigned types = 0;
  hpar_string value, field;
  const char *end = head.bytes + head.length, *at = after_first_line(head);
  while ((field = next_field(&at, end, &value)).length)
    types += field.length == sizeof name - 1 && hp_ascii_equal(field.bytes, name, sizeof name - 1);
  return types > 1;
}

hpar_string hp_warc_uri(hpar_string head) {
  hpar_string uri = hp_warc_field(head, "WARC-Target-URI");
  if (uri.length > 1 && uri.bytes[0] == '<' && uri.bytes[uri.length - 1] == '>')
    return (hpar_string){uri.bytes + 1, uri.length - 2};
  return uri;
}
