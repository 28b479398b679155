#include "select/css.h"

#include "base/bytes.h"

#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) { return hp_ascii_is_letter(c) || c == '_' || (unsigned char)c >= 0x80 || !c; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '-'; }

static int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void hp_css_skip_comments(hp_css *css) {
  while (css->end - css->at >= 2 && css->at[0] == '/' && css->at[1] == '*') {
    const char *close = memmem(css->at + 2, (size_t)(css->end - css->at) - 2, "*/", 2);
    css->at = close ? close + 2 : css->end;
  }
}

bool hp_css_skip_space(hp_css *css) {
  bool found = false;
  for (;;) {
    hp_css_skip_comments(css);
    if (css->at == css->end || !hp_ascii_is_white(*css->at)) return found;
    css->at++;
    found = true;
  }
}

/* Requires at < end. A backslash at the end of the text is an escape, too. */
static bool is_escape(const char *at, const char *end) { return *at == '\\' && (end - at == 1 || at[1] != '\n'); }

bool hp_css_at_identifier(const hp_css *css) {
  const char *at = css->at;
  if (at < css->end && *at == '-') at++;
  if (at == css->end) return false;
  return is_name_start(*at) || (at > css->at && *at == '-') || is_escape(at, css->end);
}

static char *put_code_point(char *to, uint32_t code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *to++ = (char)(0xE0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  } else {
    *to++ = (char)(0xF0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
    *to++ = (char)(0x80 | (code & 0x3F));
  }
  return to;
}

/* Reads what follows a backslash. */
static char *put_escape(hp_css *css, char *to) {
  int digit = css->at < css->end ? hex_value(*css->at) : -1;
  if (digit < 0) {
    if (css->at == css->end) return put_code_point(to, 0);
    *to++ = *css->at++;
    return to;
  }
  uint32_t code = 0;
  for (int i = 0; i < 6 && css->at < css->end && (digit = hex_value(*css->at)) >= 0; i++, css->at++)
    code = code * 16 + (uint32_t)digit;
  if (css->end - css->at >= 2 && css->at[0] == '\r' && css->at[1] == '\n') css->at++;
  if (css->at < css->end && hp_ascii_is_white(*css->at)) css->at++;
  return put_code_point(to, code);
}

ptrdiff_t hp_css_identifier(hp_css *css, bool is_hash, char *to) {
  if (!is_hash && !hp_css_at_identifier(css)) return -1;
  const char *from = to;
  while (css->at < css->end) {
    if (is_name(*css->at)) {
      if (*css->at) {
        *to++ = *css->at++;
      } else {
        to = put_code_point(to, 0);
        css->at++;
      }
    } else if (is_escape(css->at, css->end)) {
      css->at++;
      to = put_escape(css, to);
    } else {
      break;
    }
  }
  return to == from ? -1 : to - from;
}

ptrdiff_t hp_css_string(hp_css *css, char *to) {
  const char *from = to;
  char quote = *css->at++;
  for (; css->at < css->end && *css->at != quote;) {
    if (*css->at == '\n') return -1;
    if (*css->at != '\\') {
      *to++ = *css->at++;
    } else if (++css->at < css->end && *css->at == '\n') {
      css->at++;
    } else if (css->at < css->end) {
      to = put_escape(css, to);
    }
  }
  if (css->at < css->end) css->at++; /* the end of the text closes a string, too */
  return to - from;
}

static bool take_word(hp_css *css, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(css->end - css->at) < length) return false;
  for (size_t i = 0; i < length; i++)
    if ((hp_ascii_is_letter(css->at[i]) ? css->at[i] | 0x20 : css->at[i]) != word[i]) return false;
  if (css->at + length < css->end && is_name(css->at[length])) return false;
  css->at += length;
  return true;
}

static bool take_number(hp_css *css, int32_t *number) {
  if (css->at == css->end || !is_digit(*css->at)) return false;
  int64_t value = 0;
  for (; css->at < css->end && is_digit(*css->at); css->at++)
    if (value < INT32_MAX) value = value * 10 + (*css->at - '0');
  *number = value > INT32_MAX ? INT32_MAX : (int32_t)value;
  return true;
}

static int take_sign(hp_css *css) {
  if (css->at == css->end || (*css->at != '+' && *css->at != '-')) return 0;
  return *css->at++ == '-' ? -1 : 1;
}

bool hp_css_nth(hp_css *css, int32_t *a, int32_t *b) {
  if (take_word(css, "odd")) return *a = 2, *b = 1, true;
  if (take_word(css, "even")) return *a = 2, *b = 0, true;
  int sign = take_sign(css);
  int32_t number = 1;
  bool has_number = take_number(css, &number);
  if (css->at == css->end || (*css->at | 0x20) != 'n') {
    *a = 0;
    *b = sign < 0 ? -number : number;
    return has_number;
  }
  css->at++;
  *a = sign < 0 ? -number : number;
  *b = 0;
  hp_css rest = *css;
  hp_css_skip_space(&rest);
  sign = take_sign(&rest);
  if (!sign) return css->at == css->end || !is_name(*css->at);
  hp_css_skip_space(&rest);
  if (!take_number(&rest, &number)) return false;
  *b = sign < 0 ? -number : number;
  *css = rest;
  return true;
}
