#include "resources/css_imports.h"

#include "base/ascii.h"

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

/* Returns the position after the string that begins at `at` with a quote, and sets its contents. */
static const char *read_string(const char *at, const char *end, hpar_string *contents) {
  char quote = *at++;
  const char *begin = at;
  while (at < end && *at != quote && *at != '\n') at += *at == '\\' && end - at >= 2 ? 2 : 1;
  *contents = (hpar_string){begin, (size_t)(at - begin)};
  return at < end && *at == quote ? at + 1 : at;
}

/* Returns the position after `url(...)`, and sets the URL. */
static const char *read_url(const char *at, const char *end, hpar_string *url) {
  at += 4;
  while (at < end && hp_ascii_is_white(*at)) at++;
  if (at < end && (*at == '"' || *at == '\'')) {
    at = read_string(at, end, url);
  } else {
    const char *begin = at;
    while (at < end && *at != ')' && !hp_ascii_is_white(*at)) at += *at == '\\' && end - at >= 2 ? 2 : 1;
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

static bool begins_with(const char *at, const char *end, const char *text) {
  size_t length = strlen(text);
  return (size_t)(end - at) >= length && hp_ascii_equal(at, text, length);
}

static bool is_name_byte(char c) {
  return (unsigned char)(hp_ascii_lower(c) - 'a') < 26 || hp_ascii_is_digit(c) || c == '-' || c == '_' || c == '\\' ||
         (unsigned char)c >= 0x80;
}

/* Returns true if the at-rule at `at` has this name, with its "@". */
static bool is_rule(const char *at, const char *end, const char *name) {
  size_t length = strlen(name);
  return begins_with(at, end, name) && ((size_t)(end - at) == length || !is_name_byte(at[length]));
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
    bool imports = is_rule(at, end, "@import");
    if (!imports && !is_rule(at, end, "@charset") && !is_rule(at, end, "@layer")) return false;
    if (imports) at = skip_blank(at + strlen("@import"), end);
    import->url = (hpar_string){NULL, 0};
    if (imports && begins_with(at, end, "url("))
      at = read_url(at, end, &import->url);
    else if (imports && at < end && (*at == '"' || *at == '\''))
      at = read_string(at, end, &import->url);
    const char *stop = find_rule_end(at, end);
    if (stop < end && *stop == '{') return false;
    import->rest = trim(at, stop);
    at = stop < end ? stop + 1 : end;
    *position = (size_t)(at - sheet.bytes);
    if (import->url.bytes && import->url.length) return true;
  }
}
