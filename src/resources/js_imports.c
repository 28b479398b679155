#include "resources/imports.h"

#include "base/bytes.h"

#include <string.h>

static bool is_identifier(char c) {
  return (unsigned char)(hp_ascii_lower(c) - 'a') < 26 || hp_ascii_is_digit(c) || c == '$' || c == '_' || c == '\\' ||
         (unsigned char)c >= 0x80;
}

/* Returns the position after white space and comments. */
static const char *skip_blank(const char *at, const char *end) {
  for (;;) {
    while (at < end && (hp_ascii_is_white(*at) || *at == '\v')) at++;
    if (end - at < 2 || *at != '/') return at;
    if (at[1] == '/') {
      const char *line = memchr(at, '\n', (size_t)(end - at));
      at = line ? line : end;
    } else if (at[1] == '*') {
      const char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
      at = close ? close + 2 : end;
    } else {
      return at;
    }
  }
}

/* Returns the position after the string that begins at `at` with a quote, and sets its contents. */
static const char *read_string(const char *at, const char *end, hpar_string *contents) {
  char quote = *at++;
  const char *begin = at;
  while (at < end && *at != quote && *at != '\n') at += *at == '\\' && end - at > 1 ? 2 : 1;
  *contents = (hpar_string){begin, (size_t)(at - begin)};
  return at < end ? at + 1 : end;
}

/* Returns the position after the regular expression at `at`, or the end of its line. */
static const char *skip_pattern(const char *at, const char *end) {
  bool in_class = false;
  for (at++; at < end && *at != '\n'; at++) {
    if (*at == '\\' && end - at > 1)
      at++;
    else if (*at == '[')
      in_class = true;
    else if (*at == ']')
      in_class = false;
    else if (*at == '/' && !in_class)
      return at + 1;
  }
  return at;
}

static hpar_string read_word(const char *at, const char *end) {
  const char *begin = at;
  while (at < end && is_identifier(*at)) at++;
  return (hpar_string){begin, (size_t)(at - begin)};
}

static bool is(hpar_string word, const char *text) {
  return word.length == strlen(text) && !memcmp(word.bytes, text, word.length);
}

/* Returns true if an expression follows the word. */
static bool is_operator(hpar_string word) {
  static const char *const words[] = {"await", "case",   "delete", "do",     "else", "in",    "instanceof", "new",
                                      "of",    "return", "throw",  "typeof", "void", "yield", "default"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is(word, words[i])) return true;
  return false;
}

/*** escapes ***/

static char *put_character(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  if ((c & ~UINT32_C(0x7FF)) == 0xD800 || c > 0x10FFFF) c = 0xFFFD;
  unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to++ = (char)((0xF80u >> more) | c >> (6 * more));
  while (more--) *to++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
  return to;
}

static int hex_value(char c) {
  if (hp_ascii_is_digit(c)) return c - '0';
  char lower = hp_ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Reads up to `most` hexadecimal digits. A larger number than any character stays one. */
static const char *read_hex(const char *at, const char *end, size_t most, uint32_t *number) {
  for (*number = 0; most && at < end && hex_value(*at) >= 0; most--) {
    *number = *number * 16 + (uint32_t)hex_value(*at++);
    if (*number > 0x10FFFF) *number = 0x110000;
  }
  return at;
}

/* Reads the number after "\u". */
static const char *read_unicode(const char *at, const char *end, uint32_t *number) {
  uint32_t low;
  if (at < end && *at == '{') {
    at = read_hex(at + 1, end, SIZE_MAX, number);
    return at < end && *at == '}' ? at + 1 : at;
  }
  at = read_hex(at, end, 4, number);
  if ((*number & ~UINT32_C(0x3FF)) != 0xD800 || end - at < 6 || at[0] != '\\' || at[1] != 'u') return at;
  const char *after = read_hex(at + 2, end, 4, &low);
  if ((low & ~UINT32_C(0x3FF)) != 0xDC00) return at;
  *number = 0x10000 + ((*number & 0x3FF) << 10) + (low & 0x3FF);
  return after;
}

/* Removes the escapes of a specifier. */
static hpar_string unescape(hpar_string s, char text[HP_JS_MAX_ESCAPED]) {
  if (s.length > HP_JS_MAX_ESCAPED || !memchr(s.bytes, '\\', s.length)) return s;
  static const char letters[] = "bfnrtv0", values[] = "\b\f\n\r\t\v";
  char *to = text;
  for (const char *at = s.bytes, *end = at + s.length; at < end;) {
    uint32_t number;
    if (*at != '\\' || end - at < 2) {
      *to++ = *at++;
      continue;
    }
    char c = at[1];
    const char *letter = c ? strchr(letters, c) : NULL;
    at += 2;
    if (c == 'x' || c == 'u') {
      at = c == 'x' ? read_hex(at, end, 2, &number) : read_unicode(at, end, &number);
      to = put_character(to, number);
    } else if (letter) {
      *to++ = values[letter - letters];
    } else if (c != '\n') {
      *to++ = c;
    }
  }
  return (hpar_string){text, (size_t)(to - text)};
}

/*** imports ***/

/* Reads what follows `import`, or `export` and then "*" or "{", up to the specifier. Returns the
 * position after it, or where something else begins. */
static const char *read_clause(const char *at, const char *end, hpar_string *specifier) {
  bool in_braces = false, after_from = false;
  hpar_string skipped;
  for (bool is_first = true; (at = skip_blank(at, end)) < end; is_first = false) {
    if (*at == '"' || *at == '\'') {
      bool is_specifier = is_first || after_from;
      if (!is_specifier && !in_braces) return at;
      at = read_string(at, end, is_specifier ? specifier : &skipped);
      if (is_specifier) return at;
      continue;
    }
    hpar_string word = read_word(at, end);
    after_from = !in_braces && is(word, "from");
    if (word.length) {
      at += word.length;
      continue;
    }
    if (*at != ',' && *at != '*' && *at != (in_braces ? '}' : '{')) return at;
    if (*at == '{' || *at == '}') in_braces = !in_braces;
    at++;
  }
  return at;
}

/* Returns the position in or after a template from `at` on: after "${", or after its end. */
static const char *skip_template(const char *at, const char *end, hp_js_place *p) {
  for (; at < end && *at != '`'; at++) {
    if (*at == '\\' && end - at > 1) {
      at++;
    } else if (*at == '$' && end - at > 1 && at[1] == '{') {
      if (p->template_count == HP_JS_MAX_TEMPLATES) return end;
      p->templates[p->template_count++] = p->depth++;
      p->previous = '{';
      return at + 2;
    }
  }
  p->previous = '`';
  return at < end ? at + 1 : end;
}

static const char *skip_punctuator(const char *at, const char *end, hp_js_place *p) {
  char c = *at;
  /* What is before "++" or "--" decides on a "/" after it. */
  if ((c == '+' || c == '-') && end - at > 1 && at[1] == c) return at + 2;
  p->previous = c;
  p->expects_operand = false;
  if (c == '(' || c == '[' || c == '{') p->depth++;
  if ((c == ')' || c == ']' || c == '}') && p->depth) {
    p->depth--;
    if (c == '}' && p->template_count && p->templates[p->template_count - 1] == p->depth) {
      p->template_count--;
      return skip_template(at + 1, end, p);
    }
  }
  return at + 1;
}

/* Returns true if "/" begins a regular expression here. */
static bool begins_pattern(const hp_js_place *p) {
  if (p->expects_operand || !p->previous) return true;
  return !is_identifier(p->previous) && !memchr(")]'\"`", p->previous, 5);
}

/* Returns the position after a word, or after the clause of an import with its specifier. */
static const char *read_statement(const char *at, const char *end, hp_js_place *p, hpar_string *specifier) {
  hpar_string word = read_word(at, end);
  if (hp_ascii_is_digit(*at)) { /* with its point, after which no member follows */
    p->previous = '0';
    p->expects_operand = false;
    return at + word.length + (at + word.length < end && at[word.length] == '.');
  }
  bool is_member = p->previous == '.', is_import = is(word, "import");
  p->previous = word.bytes[word.length - 1];
  p->expects_operand = !is_member && is_operator(word);
  const char *after = at + word.length, *next = skip_blank(after, end);
  if (p->depth || is_member || next == end) return after;
  if (is_import ? *next != '(' && *next != '.' : is(word, "export") && (*next == '*' || *next == '{')) {
    after = read_clause(next, end, specifier);
    p->previous = ';';
  }
  return after;
}

bool hp_next_js_import(hpar_string module, hp_js_place *p, hp_js_import *import) {
  const char *at = module.bytes + p->at, *end = module.bytes + module.length;
  hpar_string skipped;
  import->specifier = (hpar_string){NULL, 0};
  while (!import->specifier.bytes && (at = skip_blank(at, end)) < end) {
    if (is_identifier(*at)) {
      at = read_statement(at, end, p, &import->specifier);
    } else if (*at == '"' || *at == '\'') {
      p->previous = *at;
      at = read_string(at, end, &skipped);
      p->expects_operand = false;
    } else if (*at == '`') {
      at = skip_template(at + 1, end, p);
      p->expects_operand = false;
    } else if (*at == '/' && begins_pattern(p)) {
      at = skip_pattern(at, end);
      p->previous = ')'; /* a division may follow */
      p->expects_operand = false;
    } else {
      at = skip_punctuator(at, end, p);
    }
  }
  p->at = (size_t)(at - module.bytes);
  if (!import->specifier.bytes) return false;
  import->specifier = unescape(import->specifier, import->text);
  return true;
}
