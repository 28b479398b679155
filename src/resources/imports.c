#include "resources/imports.h"

#include "base/bytes.h"
#include "text/encoding/decoder.h"

#include <string.h>

/* Writes a character in UTF-8, or the replacement character for a number that is none. */
static char *put_character(char *to, uint32_t c) {
  return hp_put_code_point(to, (c & ~UINT32_C(0x7FF)) == 0xD800 || c > 0x10FFFF ? 0xFFFD : c);
}

/*** CSS ***/

/* Returns the position after the comment that begins at `at`, or NULL if it does not end. */
static const char *after_comment(const char *at, const char *end) {
  const char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
  return close ? close + 2 : NULL;
}

/* Returns the position after white space, comments, and the brackets of HTML comments. */
static const char *css_skip_blank(const char *at, const char *end) {
  for (;;) {
    while (at < end && hp_ascii_is_white(*at)) at++;
    if (end - at >= 2 && !memcmp(at, "/*", 2)) {
      const char *close = after_comment(at, end);
      at = close ? close : end;
    } else if (end - at >= 4 && !memcmp(at, "<!--", 4)) {
      at += 4;
    } else if (end - at >= 3 && !memcmp(at, "-->", 3)) {
      at += 3;
    } else {
      return at;
    }
  }
}

/* Reads the character at `at`, which may be escaped, and returns the position after it. Sets
 * `*number` to the code point of an escape by number, and to 0 for all others. */
//§ consume-escaped-code-point, of CSS Syntax
static const char *read_escape(const char *at, const char *end, uint32_t *number) {
  *number = 0;
  if (*at != '\\' || end - at < 2) return at + 1;
  const char *digit = ++at;
  while (at < end && at - digit < 6 && hp_hex_value(*at) >= 0) *number = *number * 16 + (uint32_t)hp_hex_value(*at++);
  if (at == digit) return at + 1;
  if (!*number || *number > 0x10FFFF || (*number & ~UINT32_C(0x7FF)) == 0xD800) *number = 0xFFFD;
  if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') return at + 2;
  return at < end && hp_ascii_is_white(*at) ? at + 1 : at;
}

/* Returns the position after the string that begins at `at` with a quote, and sets its contents. */
static const char *css_read_string(const char *at, const char *end, hpar_string *contents) {
  char quote = *at++;
  const char *begin = at;
  uint32_t number;
  while (at < end && *at != quote && *at != '\n') at = read_escape(at, end, &number);
  *contents = (hpar_string){begin, (size_t)(at - begin)};
  return at < end && *at == quote ? at + 1 : at;
}

/* Reads the URL of url(, which may be a string, from `at` on. Returns the position after it. Sets
 * `*quote` to its quote; 0: none. */
static const char *read_url_contents(const char *at, const char *end, hpar_string *url, char *quote) {
  while (at < end && hp_ascii_is_white(*at)) at++;
  *quote = at < end && (*at == '"' || *at == '\'') ? *at : 0;
  if (*quote) return css_read_string(at, end, url);
  const char *begin = at;
  uint32_t number;
  while (at < end && *at != ')' && !hp_ascii_is_white(*at)) at = read_escape(at, end, &number);
  *url = (hpar_string){begin, (size_t)(at - begin)};
  return at;
}

/* Returns the position after the URL and the ")" at `at`, and sets the URL. */
static const char *read_url(const char *at, const char *end, hpar_string *url) {
  char quote;
  at = read_url_contents(at, end, url, &quote);
  while (at < end && *at != ')') at++;
  return at < end ? at + 1 : end;
}

/* Returns the position of the semicolon or the block that ends a rule, or the end. */
static const char *find_rule_end(const char *at, const char *end) {
  hpar_string skipped;
  while (at < end && *at != ';' && *at != '{') {
    const char *next = css_skip_blank(at, end);
    if (next == at) next = *at == '"' || *at == '\'' ? css_read_string(at, end, &skipped) : at + 1;
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

/* Removes the escapes of a URL, unless there is no space for the text. */
static hpar_string css_unescape(hpar_string url, char *text) {
  if (!text || !url.length || !memchr(url.bytes, '\\', url.length)) return url;
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

/* Returns true for a byte of a name in CSS and in JavaScript. */
static bool is_word_byte(char c) {
  return hp_ascii_is_letter(c) || hp_ascii_is_digit(c) || c == '_' || c == '\\' || (unsigned char)c >= 0x80;
}

static bool is_name_byte(char c) { return is_word_byte(c) || c == '-'; }

/* Returns the position after the at-rule's name, which is `name`, or NULL. */
static const char *skip_rule(const char *at, const char *end, const char *name) {
  if (at == end || *at != '@') return NULL;
  const char *after = skip_name(at + 1, end, name);
  return after && (after == end || !is_name_byte(*after)) ? after : NULL;
}

static hpar_string trim(const char *at, const char *end) {
  at = css_skip_blank(at, end);
  while (end > at && hp_ascii_is_white(end[-1])) end--;
  return (hpar_string){at, (size_t)(end - at)};
}

bool hp_next_css_import(hpar_string sheet, size_t *position, hp_css_import *import) {
  const char *at = sheet.bytes + *position, *end = sheet.bytes + sheet.length;
  for (;;) {
    at = css_skip_blank(at, end);
    const char *rule = skip_rule(at, end, "import"), *function;
    if (!rule && !skip_rule(at, end, "charset") && !skip_rule(at, end, "layer")) return false;
    if (rule) at = css_skip_blank(rule, end);
    import->url = (hpar_string){NULL, 0};
    if (rule && (function = skip_name(at, end, "url(")))
      at = read_url(function, end, &import->url);
    else if (rule && at < end && (*at == '"' || *at == '\''))
      at = css_read_string(at, end, &import->url);
    const char *stop = find_rule_end(at, end);
    if (stop < end && *stop == '{') return false;
    import->rest = trim(at, stop);
    at = stop < end ? stop + 1 : end;
    *position = (size_t)(at - sheet.bytes);
    if (import->url.bytes && import->url.length) {
      import->url = css_unescape(import->url, import->url.length > HP_CSS_MAX_ESCAPED ? NULL : import->text);
      return true;
    }
  }
}

/*** the URLs of CSS ***/

/* What is open at the end of a part: nothing, a comment, a string with this quote, or url( without
 * quotes. */
enum { IN_NOTHING, IN_COMMENT, IN_URL = '(' };

/* Goes on in what the last part left open. Returns false if it does not end. */
static bool leave_css_token(const char **at, const char *end, uint8_t inside) {
  uint32_t number;
  const char *p = *at;
  if (inside == IN_COMMENT) {
    while (p < end && (*p != '/' || p == *at || p[-1] != '*')) p++;
  } else {
    const char stop = inside == IN_URL ? ')' : (char)inside;
    while (p < end && *p != stop && (inside == IN_URL || *p != '\n')) p = read_escape(p, end, &number);
  }
  *at = p < end ? p + 1 : end;
  return p < end;
}

/* Reads the URL of url( from `at` on. Returns the position after the ")", or NULL if it does not
 * end in the part: then `*inside` is what is open. */
static const char *read_css_url(hpar_string part, const char *at, bool is_last, hp_css_url *url, uint8_t *inside) {
  const char *end = part.bytes + part.length;
  hpar_string contents;
  uint32_t number;
  at = read_url_contents(at, end, &contents, &url->quote);
  *inside = (uint8_t)url->quote;
  if (url->quote && at == end && !is_last && (!contents.length || at[-1] != url->quote)) return NULL;
  while (at < end && hp_ascii_is_white(*at)) at++;
  *inside = IN_URL;
  if (at == end && !is_last) return NULL;
  url->from = (size_t)(contents.bytes - part.bytes);
  url->to = url->from + contents.length;
  url->url = at == end || *at == ')' ? css_unescape(contents, url->text) : (hpar_string){NULL, 0};
  while (at < end && *at != ')') at = read_escape(at, end, &number); /* a bad URL */
  return at < end ? at + 1 : is_last ? end : NULL;
}

/* Reads a string. Returns as read_css_url. */
static const char *read_css_string_token(hpar_string part, const char *at, const hp_css_place *place, bool is_url,
                                         hp_css_url *url, uint8_t *inside) {
  const char *end = part.bytes + part.length;
  hpar_string contents;
  url->quote = *at;
  *inside = (uint8_t)*at;
  const char *next = css_read_string(at, end, &contents);
  const bool is_open = contents.bytes + contents.length == end;
  if (is_open && !place->is_last) return NULL;
  url->from = (size_t)(contents.bytes - part.bytes);
  url->to = url->from + contents.length;
  if (is_url && (is_open || part.bytes[url->to] == url->quote)) url->url = css_unescape(contents, url->text);
  return next;
}

/* Returns the position after the token at `at`, and the URL in it. NULL: the part ends in it. */
static const char *read_css_token(hpar_string part, const char *at, hp_css_place *place, hp_css_url *url,
                                  uint8_t *inside) {
  const char *end = part.bytes + part.length, *next;
  const bool after_rule = place->after_rule;
  url->url = (hpar_string){NULL, 0};
  if (hp_ascii_is_white(*at)) return at + 1;
  if (*at == '/' && end - at > 1 && at[1] == '*') {
    *inside = IN_COMMENT;
    return after_comment(at, end);
  }
  place->after_rule = false;
  if (*at == '"' || *at == '\'') return read_css_string_token(part, at, place, after_rule, url, inside);
  if (*at == '@') {
    place->after_rule = skip_rule(at, end, "import") != NULL;
    place->is_name = skip_rule(at, end, "namespace") != NULL;
    at++;
  } else if (!is_name_byte(*at)) {
    if (*at == ';' || *at == '{' || *at == '}') place->is_name = false;
    return at + 1;
  } else if ((next = skip_name(at, end, "url(")) != NULL) {
    next = read_css_url(part, next, place->is_last, url, inside);
    if (place->is_name) url->url = (hpar_string){NULL, 0};
    return next;
  }
  while (at < end && is_name_byte(*at)) {
    uint32_t number;
    at = read_escape(at, end, &number);
  }
  return at;
}

bool hp_next_css_url(hpar_string part, hp_css_place *place, hp_css_url *url) {
  const char *at = part.bytes + place->at, *end = part.bytes + part.length;
  if (at < end && place->inside && leave_css_token(&at, end, place->inside)) place->inside = IN_NOTHING;
  while (at < end && !place->inside) {
    uint8_t inside = IN_NOTHING;
    const char *next = read_css_token(part, at, place, url, &inside);
    if (!next) place->inside = inside;
    at = next ? next : end;
    if (!next || !url->url.length) continue;
    place->at = (size_t)(at - part.bytes);
    return true;
  }
  place->at = part.length;
  return false;
}

/* Moves a cut in front of the escape, or of the end of a comment, that it divides. */
static size_t move_cut(const char *part, size_t cut) {
  enum { MAX_ESCAPE = 9 };
  size_t at = cut;
  uint32_t number;
  if (!cut) return 0;
  if (part[cut - 1] == '*') { /* after "/", it may begin a comment as well */
    at -= cut > 1 && part[cut - 2] == '/' ? 2 : 1;
    return at ? at : cut;
  }
  while (at && cut - at < MAX_ESCAPE && part[at - 1] != '\\') at--;
  if (!at || part[at - 1] != '\\') return cut;
  size_t run = --at;
  while (run && part[run - 1] == '\\') run--;
  const bool begins_escape = (at - run) % 2 == 0;
  return at && begins_escape && read_escape(part + at, part + cut, &number) == part + cut ? at : cut;
}

size_t hp_css_boundary(hpar_string part, const hp_css_place *from, size_t limit) {
  hp_css_place place = *from;
  hp_css_url url = {.text = NULL};
  const char *at = part.bytes, *end = part.bytes + part.length, *last = NULL;
  if (place.inside && leave_css_token(&at, end, place.inside)) place.inside = IN_NOTHING;
  while (at && at < end && !place.inside) {
    uint8_t inside;
    const bool ends_name = !is_name_byte(*at);
    if (ends_name && at > part.bytes && at <= part.bytes + limit && !place.after_rule) last = at;
    if (at > part.bytes + limit) break;
    at = read_css_token(part, at, &place, &url, &inside);
  }
  return last ? (size_t)(last - part.bytes) : move_cut(part.bytes, limit);
}

/*** JavaScript ***/

static bool is_identifier(char c) { return is_word_byte(c) || c == '$'; }

/* Returns the position after white space and comments. */
static const char *js_skip_blank(const char *at, const char *end) {
  for (;;) {
    while (at < end && (hp_ascii_is_white(*at) || *at == '\v')) at++;
    if (end - at < 2 || *at != '/') return at;
    if (at[1] == '/') {
      const char *line = memchr(at, '\n', (size_t)(end - at));
      at = line ? line : end;
    } else if (at[1] == '*') {
      const char *close = after_comment(at, end);
      at = close ? close : end;
    } else {
      return at;
    }
  }
}

/* Returns the position after the string that begins at `at` with a quote, and sets its contents. */
static const char *js_read_string(const char *at, const char *end, hpar_string *contents) {
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

/* Reads up to `most` hexadecimal digits. A larger number than any character stays one. */
static const char *read_hex(const char *at, const char *end, size_t most, uint32_t *number) {
  for (*number = 0; most && at < end && hp_hex_value(*at) >= 0; most--) {
    *number = *number * 16 + (uint32_t)hp_hex_value(*at++);
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
static hpar_string js_unescape(hpar_string s, char text[HP_JS_MAX_ESCAPED]) {
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
  for (bool is_first = true; (at = js_skip_blank(at, end)) < end; is_first = false) {
    if (*at == '"' || *at == '\'') {
      bool is_specifier = is_first || after_from;
      if (!is_specifier && !in_braces) return at;
      at = js_read_string(at, end, is_specifier ? specifier : &skipped);
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
  const char *after = at + word.length, *next = js_skip_blank(after, end);
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
  while (!import->specifier.bytes && (at = js_skip_blank(at, end)) < end) {
    if (is_identifier(*at)) {
      at = read_statement(at, end, p, &import->specifier);
    } else if (*at == '"' || *at == '\'') {
      p->previous = *at;
      at = js_read_string(at, end, &skipped);
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
  import->specifier = js_unescape(import->specifier, import->text);
  return true;
}
