#include "resources/imports.h"

#include "base/bytes.h"

#include <string.h>

/* Returns the position after white space, comments, and the brackets of HTML comments. */
static const char *skip_blank(const char *at, const char *end) {
  for (;;) {
    while (at < end && hp_ascii_is_white(*at)) at++;
    if (end - at >= 2 && !memcmp(at, "/*", 2)) {
      at += 2;
      while (at < end && (*at != '*' || end - at < 2 || at[1] != '/')) at++;
      at = end - at >= 2 ? at + 2 : end;
    } else if (end - at >= 4 && !memcmp(at, "<!--", 4)) {
      at += 4;
    } else if (end - at >= 3 && !memcmp(at, "-->", 3)) {
      at += 3;
    } else {
      return at;
    }
  }
}

static int hex_value(char c) {
  if (hp_ascii_is_digit(c)) return c - '0';
  char lower = hp_ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Reads the character at `at`, which may be escaped, and returns the position after it. Sets
 * `*number` to the code point of an escape by number, and to 0 for all others. */
//§ consume-escaped-code-point, of CSS Syntax
static const char *read_escape(const char *at, const char *end, uint32_t *number) {
  *number = 0;
  if (*at != '\\' || end - at < 2) return at + 1;
  const char *digit = ++at;
  while (at < end && at - digit < 6 && hex_value(*at) >= 0) *number = *number * 16 + (uint32_t)hex_value(*at++);
  if (at == digit) return at + 1;
  if (!*number || *number > 0x10FFFF || (*number & ~UINT32_C(0x7FF)) == 0xD800) *number = 0xFFFD;
  if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') return at + 2;
  return at < end && hp_ascii_is_white(*at) ? at + 1 : at;
}

/* Returns the position after the string that begins at `at` with a quote, and sets its contents. */
static const char *read_string(const char *at, const char *end, hpar_string *contents) {
  char quote = *at++;
  const char *begin = at;
  uint32_t number;
  while (at < end && *at != quote && *at != '\n') at = read_escape(at, end, &number);
  *contents = (hpar_string){begin, (size_t)(at - begin)};
  return at < end && *at == quote ? at + 1 : at;
}

/* Returns the position after the URL and the ")" at `at`, and sets the URL. */
static const char *read_url(const char *at, const char *end, hpar_string *url) {
  while (at < end && hp_ascii_is_white(*at)) at++;
  if (at < end && (*at == '"' || *at == '\'')) {
    at = read_string(at, end, url);
  } else {
    const char *begin = at;
    uint32_t number;
    while (at < end && *at != ')' && !hp_ascii_is_white(*at)) at = read_escape(at, end, &number);
    *url = (hpar_string){begin, (size_t)(at - begin)};
  }
  while (at < end && *at != ')') at++;
  return at < end ? at + 1 : end;
}

/* Returns the position of the semicolon or the block that ends a rule, or the end. */
static const char *find_rule_end(const char *at, const char *end) {
  hpar_string skipped;
  while (at < end && *at != ';' && *at != '{') {
    const char *next = skip_blank(at, end);
    if (next == at) next = *at == '"' || *at == '\'' ? read_string(at, end, &skipped) : at + 1;
    at = next;
  }
  return at;
}

/* Returns the position after `name`, whose letters may be escaped in the sheet, or NULL. */
static const char *skip_name(const char *at, const char *end, const char *name) {
  for (; *name; name++) {
    if (at == end) return NULL;
    uint32_t number;
    const char *next = read_escape(at, end, &number);
    char c = number ? (number < 0x80 ? (char)number : 0) : next[-1];
    if (hp_ascii_lower(c) != *name) return NULL;
    at = next;
  }
  return at;
}

static char *put_character(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to++ = (char)((0xF80u >> more) | c >> (6 * more));
  while (more--) *to++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
  return to;
}

/* Removes the escapes of a URL. */
static hpar_string unescape(hpar_string url, char text[HP_CSS_TEXT]) {
  if (url.length > HP_CSS_MAX_ESCAPED || !url.length || !memchr(url.bytes, '\\', url.length)) return url;
  char *to = text;
  for (const char *at = url.bytes, *end = at + url.length; at < end;) {
    uint32_t number;
    bool escaped = *at == '\\' && end - at >= 2;
    at = read_escape(at, end, &number);
    if (number)
      to = put_character(to, number);
    else if (!escaped || at[-1] != '\n') /* a string goes on in the next line */
      *to++ = at[-1];
  }
  return (hpar_string){text, (size_t)(to - text)};
}

static bool is_name_byte(char c) {
  return (unsigned char)(hp_ascii_lower(c) - 'a') < 26 || hp_ascii_is_digit(c) || c == '-' || c == '_' || c == '\\' ||
         (unsigned char)c >= 0x80;
}

/* Returns the position after the at-rule's name, which is `name`, or NULL. */
static const char *skip_rule(const char *at, const char *end, const char *name) {
  if (at == end || *at != '@') return NULL;
  const char *after = skip_name(at + 1, end, name);
  return after && (after == end || !is_name_byte(*after)) ? after : NULL;
}

static hpar_string trim(const char *at, const char *end) {
  at = skip_blank(at, end);
  while (end > at && hp_ascii_is_white(end[-1])) end--;
  return (hpar_string){at, (size_t)(end - at)};
}

bool hp_next_css_import(hpar_string sheet, size_t *position, hp_css_import *import) {
  const char *at = sheet.bytes + *position, *end = sheet.bytes + sheet.length;
  for (;;) {
    at = skip_blank(at, end);
    const char *rule = skip_rule(at, end, "import"), *function;
    if (!rule && !skip_rule(at, end, "charset") && !skip_rule(at, end, "layer")) return false;
    if (rule) at = skip_blank(rule, end);
    import->url = (hpar_string){NULL, 0};
    if (rule && (function = skip_name(at, end, "url(")))
      at = read_url(function, end, &import->url);
    else if (rule && at < end && (*at == '"' || *at == '\''))
      at = read_string(at, end, &import->url);
    const char *stop = find_rule_end(at, end);
    if (stop < end && *stop == '{') return false;
    import->rest = trim(at, stop);
    at = stop < end ? stop + 1 : end;
    *position = (size_t)(at - sheet.bytes);
    if (import->url.bytes && import->url.length) {
      import->url = unescape(import->url, import->text);
      return true;
    }
  }
}
