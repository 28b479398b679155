#include "text/encoding/sniff.h"

#include "base/bytes.h"

#include <string.h>

const char *hp_encoding_source_name(hp_encoding_source source) {
  switch (source) {
    case HP_ENCODING_FROM_BOM: return "bom";
    case HP_ENCODING_FROM_HINT: return "hint";
    case HP_ENCODING_FROM_META: return "meta";
    case HP_ENCODING_FROM_VALID_UTF8: return "valid-utf-8";
    case HP_ENCODING_FROM_FALLBACK: return "fallback";
    case HP_ENCODING_FROM_LATE_META: return "late-meta";
  }
  return "unknown";
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* For a document whose declaration has been read byte by byte. */
static const hp_encoding *as_declared(const hp_encoding *encoding) {
  if (!encoding) return NULL;
  if (encoding->kind == HP_ENCODING_UTF16LE || encoding->kind == HP_ENCODING_UTF16BE) return &hp_utf8;
  return encoding->kind == HP_ENCODING_X_USER_DEFINED ? &hp_windows1252 : encoding;
}

const hp_encoding *hp_encoding_in_content(const char *content, size_t length) {
  static const char word[] = "charset";
  const size_t word_length = sizeof word - 1;
  const char *at = content, *end = content + length;
  for (;;) {
    while ((size_t)(end - at) >= word_length && !hp_ascii_equal(at, word, word_length)) at++;
    if ((size_t)(end - at) < word_length) return NULL;
    at += word_length;
    while (at < end && hp_ascii_is_white(*at)) at++;
    if (at < end && *at == '=') break;
  }
  at++;
  while (at < end && hp_ascii_is_white(*at)) at++;
  if (at == end) return NULL;
  const char *stop;
  if (*at == '"' || *at == '\'') {
    stop = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (!stop) return NULL;
    at++;
  } else {
    for (stop = at; stop < end && !hp_ascii_is_white(*stop) && *stop != ';'; stop++) continue;
  }
  return hp_encoding_for_label(at, (size_t)(stop - at));
}

const hp_encoding *hp_change_encoding(const hp_encoding *now, const hp_encoding *named) {
  if (now->kind == HP_ENCODING_UTF16LE || now->kind == HP_ENCODING_UTF16BE) return now;
  return as_declared(named);
}

/* The bytes that the prescan may see. `at` at the end means that it has run out of them. */
typedef struct scan {
  const char *at, *end;
} scan;

/* A name or value as far as it matters, in lower case: one that is longer than all that are
 * looked for, or not kept as a whole, is not equal to any of them. */
typedef struct word {
  char bytes[HP_SNIFF_BYTES];
  size_t length;
} word;

static void add(word *word, char c) {
  if (word->length < sizeof word->bytes) word->bytes[word->length++] = lower(c);
}

static void add_all(word *word, const char *at, const char *end) {
  while (at < end) add(word, *at++);
}

static bool is(const word *word, const char *text) {
  return word->length == strlen(text) && !memcmp(word->bytes, text, word->length);
}

static void skip_white(scan *s) {
  while (s->at < s->end && hp_ascii_is_white(*s->at)) s->at++;
}

//§ concept-get-attributes-when-sniffing
/* Reads an attribute. `name` and `value` are NULL if the caller only skips it. Returns false if the
 * tag has no more attributes or the bytes end. */
static bool next_attribute(scan *s, word *name, word *value) {
  if (name) name->length = value->length = 0;
  while (s->at < s->end && (hp_ascii_is_white(*s->at) || *s->at == '/')) s->at++;
  if (s->at == s->end || *s->at == '>') return false;
  for (const char *begin = s->at;; s->at++) {
    if (s->at == s->end) return false;
    char c = *s->at;
    if (c == '=' && s->at > begin) break;
    if (hp_ascii_is_white(c)) {
      skip_white(s);
      if (s->at == s->end) return false;
      if (*s->at != '=') return true;
      break;
    }
    if (c == '/' || c == '>') return true;
    if (name) add(name, c);
  }
  s->at++;
  skip_white(s);
  if (s->at == s->end) return false;
  char quote = *s->at;
  if (quote == '"' || quote == '\'') {
    const char *begin = s->at + 1, *stop = memchr(begin, quote, (size_t)(s->end - begin));
    s->at = stop ? stop + 1 : s->end;
    if (value && stop) add_all(value, begin, stop);
    return stop;
  }
  for (; s->at < s->end && !hp_ascii_is_white(*s->at) && *s->at != '>'; s->at++)
    if (value) add(value, *s->at);
  return s->at < s->end;
}

/* Returns the encoding that a meta tag declares. The scan is after "<meta" and a space. */
static const hp_encoding *meta(scan *s) {
  bool pragma = false, needs_pragma = false, charset_seen = false, http_equiv_seen = false, content_seen = false;
  const hp_encoding *encoding = NULL;
  word name, value;
  while (next_attribute(s, &name, &value)) {
    if (is(&name, "http-equiv") && !http_equiv_seen) {
      http_equiv_seen = true;
      pragma = is(&value, "content-type");
    } else if (is(&name, "content") && !content_seen) {
      content_seen = true;
      const hp_encoding *found = hp_encoding_in_content(value.bytes, value.length);
      if (found && !encoding && !charset_seen) {
        encoding = found;
        needs_pragma = true;
      }
    } else if (is(&name, "charset") && !charset_seen) {
      charset_seen = true;
      encoding = hp_encoding_for_label(value.bytes, value.length);
      needs_pragma = false;
    }
  }
  if (s->at == s->end || (needs_pragma && !pragma)) return NULL;
  return as_declared(encoding);
}

static bool starts(const scan *s, const char *text) {
  size_t length = strlen(text);
  return (size_t)(s->end - s->at) >= length && hp_ascii_equal(s->at, text, length);
}

/* To the last byte of the first `text` that begins at `from` or later; to the end without one. */
static void skip_to(scan *s, const char *from, const char *text) {
  size_t length = strlen(text);
  const char *found = from < s->end ? memmem(from, (size_t)(s->end - from), text, length) : NULL;
  s->at = found ? found + length - 1 : s->end;
}

static void skip_tag(scan *s) {
  while (s->at < s->end && !hp_ascii_is_white(*s->at) && *s->at != '>') s->at++;
  while (next_attribute(s, NULL, NULL)) continue;
}

//§ concept-get-xml-encoding-when-sniffing
static const hp_encoding *xml_encoding(const char *bytes, size_t length) {
  static const char word[] = "encoding";
  if (length < 5 || memcmp(bytes, "<?xml", 5) != 0) return NULL;
  const char *end = memchr(bytes, '>', length);
  const char *at = end ? memmem(bytes, (size_t)(end - bytes), word, sizeof word - 1) : NULL;
  if (!at) return NULL;
  at += sizeof word - 1;
  while (at < end && (unsigned char)*at <= ' ') at++;
  if (*at++ != '=') return NULL;
  while (at < end && (unsigned char)*at <= ' ') at++;
  if (at >= end || (*at != '"' && *at != '\'')) return NULL;
  const char *stop = memchr(at + 1, *at, (size_t)(end - at - 1));
  if (!stop) return NULL;
  for (const char *c = ++at; c < stop; c++)
    if ((unsigned char)*c <= ' ') return NULL;
  return as_declared(hp_encoding_for_label(at, (size_t)(stop - at)));
}

//§ prescan-a-byte-stream-to-determine-its-encoding
static const hp_encoding *prescan(const char *bytes, size_t length) {
  scan s = {bytes, bytes + length};
  if (length >= 6 && !memcmp(bytes, "<\0?\0x\0", 6)) return &hp_utf16le;
  if (length >= 6 && !memcmp(bytes, "\0<\0?\0x", 6)) return &hp_utf16be;
  for (; s.at < s.end; s.at += s.at < s.end) {
    s.at = memchr(s.at, '<', (size_t)(s.end - s.at));
    if (!s.at) break;
    if (starts(&s, "<!--")) {
      skip_to(&s, s.at + 2, "-->");
    } else if (starts(&s, "<meta") && s.end - s.at > 5 && (hp_ascii_is_white(s.at[5]) || s.at[5] == '/')) {
      s.at += 5;
      const hp_encoding *found = meta(&s);
      if (found) return found;
    } else if (s.end - s.at > 1 &&
               (hp_ascii_is_letter(s.at[1]) || (s.at[1] == '/' && s.end - s.at > 2 && hp_ascii_is_letter(s.at[2])))) {
      skip_tag(&s);
    } else if (s.end - s.at > 1 && (s.at[1] == '!' || s.at[1] == '/' || s.at[1] == '?')) {
      skip_to(&s, s.at, ">");
    }
  }
  return xml_encoding(bytes, length);
}

hp_sniffed hp_sniff(const char *bytes, size_t length, const hp_encoding *hint, bool scan) {
  if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) return (hp_sniffed){&hp_utf8, HP_ENCODING_FROM_BOM, true};
  if (length >= 2 && !memcmp(bytes, "\xFF\xFE", 2)) return (hp_sniffed){&hp_utf16le, HP_ENCODING_FROM_BOM, true};
  if (length >= 2 && !memcmp(bytes, "\xFE\xFF", 2)) return (hp_sniffed){&hp_utf16be, HP_ENCODING_FROM_BOM, true};
  if (hint) return (hp_sniffed){hint, HP_ENCODING_FROM_HINT, true};
  const hp_encoding *found = scan && length ? prescan(bytes, length < HP_SNIFF_BYTES ? length : HP_SNIFF_BYTES) : NULL;
  return (hp_sniffed){found, HP_ENCODING_FROM_META, false};
}
