#include "url/url.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"

#include <stdio.h>
#include <string.h>

#define C HP_ENCODE_CONTROL
#define F HP_ENCODE_FRAGMENT
#define Q (HP_ENCODE_QUERY | HP_ENCODE_SPECIAL_QUERY)
#define P HP_ENCODE_PATH
#define U HP_ENCODE_USERINFO
#define ALL (C | F | Q | P | U)

const uint8_t hp_url_encoded[256] = {
    [0x00 ... 0x1F] = ALL,
    [0x7F ... 0xFF] = ALL,
    [' '] = F | Q | P | U,
    ['"'] = F | Q | P | U,
    ['#'] = Q | P | U,
    ['<'] = F | Q | P | U,
    ['>'] = F | Q | P | U,
    ['\''] = HP_ENCODE_SPECIAL_QUERY,
    ['?'] = P | U,
    ['^'] = P | U,
    ['`'] = F | P | U,
    ['{'] = P | U,
    ['}'] = P | U,
    ['/'] = U,
    [':'] = U,
    [';'] = U,
    ['='] = U,
    ['@'] = U,
    ['['] = U,
    ['\\'] = U,
    [']'] = U,
    ['|'] = U,
};

#undef C
#undef F
#undef Q
#undef P
#undef U
#undef ALL

static const struct {
  const char *name;
  uint8_t length;
  uint16_t port; /* the default; 0: none */
} schemes[] = {
    [HP_SCHEME_OTHER] = {"", 0, 0},    [HP_SCHEME_HTTP] = {"http", 4, 80}, [HP_SCHEME_HTTPS] = {"https", 5, 443},
    [HP_SCHEME_WS] = {"ws", 2, 80},    [HP_SCHEME_WSS] = {"wss", 3, 443},  [HP_SCHEME_FTP] = {"ftp", 3, 21},
    [HP_SCHEME_FILE] = {"file", 4, 0},
};

/* The rest of the input. */
typedef struct source {
  const char *at, *end;
} source;

char *hp_url_reserve(hp_url *url, size_t more) {
  if (url->failed) return NULL;
  if (more > url->capacity - url->length) {
    size_t capacity = (url->length + more) * 2 + 64;
    char *grown = hp_reallocate(url->bytes, capacity);
    if (!grown) {
      url->failed = true;
      return NULL;
    }
    url->bytes = grown;
    url->capacity = capacity;
  }
  return url->bytes + url->length;
}

void hp_url_add(hp_url *url, const char *bytes, size_t length) {
  char *to = hp_url_reserve(url, length);
  if (!to || !length) return;
  memcpy(to, bytes, length);
  url->length += length;
}

void hp_url_add_encoded(hp_url *url, const char *bytes, size_t length, uint8_t set) {
  static const char digits[] = "0123456789ABCDEF";
  char *to = hp_url_reserve(url, length * 3);
  if (!to) return;
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (hp_url_encoded[byte] & set) {
      *to++ = '%';
      *to++ = digits[byte >> 4];
      *to++ = digits[byte & 15];
    } else {
      *to++ = (char)byte;
    }
  }
  url->length = (size_t)(to - url->bytes);
}

static void add_byte(hp_url *url, char byte) { hp_url_add(url, &byte, 1); }

static bool is_slash(const hp_url *url, char c) { return c == '/' || (c == '\\' && url->scheme); }

//§ windows-drive-letter
static bool is_drive(const char *at, size_t length) {
  return length == 2 && hp_ascii_is_letter(at[0]) && (at[1] == ':' || at[1] == '|');
}

static bool ends_segment(char c) { return c == '/' || c == '\\' || c == '?' || c == '#'; }

//§ start-with-a-windows-drive-letter
static bool starts_with_drive(source in) {
  return in.end - in.at >= 2 && is_drive(in.at, 2) && (in.end - in.at == 2 || ends_segment(in.at[2]));
}

/*** path, query and fragment ***/

static bool is_dot(const char **at, const char *end) {
  if (*at < end && **at == '.') {
    ++*at;
    return true;
  }
  if (end - *at < 3 || (*at)[0] != '%' || (*at)[1] != '2' || hp_ascii_lower((*at)[2]) != 'e') return false;
  *at += 3;
  return true;
}

/* Returns 1 for ".", 2 for "..", each also with %2e, and else 0. */
static int count_dots(const char *at, const char *end) {
  if (at == end || (*at != '.' && *at != '%')) return 0;
  int dots = 0;
  while (dots < 3 && is_dot(&at, end)) dots++;
  return at == end && dots < 3 ? dots : 0;
}

//§ shorten-a-urls-path
static void shorten_path(hp_url *url) {
  size_t length = url->length - url->path;
  if (url->scheme == HP_SCHEME_FILE && length == 3 && is_drive(url->bytes + url->path + 1, 2)) return;
  while (url->length > url->path && url->bytes[--url->length] != '/') {
  }
}

/* Appends the segments up to the query, the fragment or the end. */
//§ path-state
static void add_path(hp_url *url, source *in) {
  for (;;) {
    const char *end = in->at;
    while (end < in->end && !is_slash(url, *end) && *end != '?' && *end != '#') end++;
    bool more = end < in->end && is_slash(url, *end);
    int dots = count_dots(in->at, end);
    if (dots) {
      if (dots == 2) shorten_path(url);
      if (!more) add_byte(url, '/');
    } else {
      bool drive =
          url->scheme == HP_SCHEME_FILE && url->length == url->path && is_drive(in->at, (size_t)(end - in->at));
      add_byte(url, '/');
      hp_url_add_encoded(url, in->at, (size_t)(end - in->at), HP_ENCODE_PATH);
      if (drive && !url->failed) url->bytes[url->length - 1] = ':';
    }
    in->at = end + more;
    if (!more) return;
  }
}

//§ path-start-state
static void begin_path(hp_url *url, source *in) {
  bool slash = in->at < in->end && is_slash(url, *in->at);
  if (!slash && !url->scheme && (in->at == in->end || *in->at == '?' || *in->at == '#')) return;
  in->at += slash;
  add_path(url, in);
}

/* Appends the path from the current position, then the rest. A path without a host must not begin
 * with two slashes. */
static void guard_path(hp_url *url) {
  if (url->has_host || url->failed || url->length - url->path < 2 || memcmp(url->bytes + url->path, "//", 2) != 0)
    return;
  char *to = hp_url_reserve(url, 2);
  if (!to) return;
  memmove(url->bytes + url->path + 2, url->bytes + url->path, url->length - url->path);
  memcpy(url->bytes + url->path, "/.", 2);
  url->path += 2;
  url->length += 2;
}

static void add_query_and_fragment(hp_url *url, source *in) {
  url->query = url->length;
  if (in->at < in->end && *in->at == '?') {
    const char *end = memchr(in->at, '#', (size_t)(in->end - in->at));
    if (!end) end = in->end;
    add_byte(url, '?');
    const uint8_t set = url->scheme ? HP_ENCODE_SPECIAL_QUERY : HP_ENCODE_QUERY;
    if (url->scheme && url->scheme != HP_SCHEME_WS && url->scheme != HP_SCHEME_WSS)
      hp_url_add_query(url, in->at + 1, (size_t)(end - in->at) - 1, set);
    else
      hp_url_add_encoded(url, in->at + 1, (size_t)(end - in->at) - 1, set);
    in->at = end;
  }
  url->fragment = url->length;
  if (in->at < in->end) { /* at the # */
    add_byte(url, '#');
    hp_url_add_encoded(url, in->at + 1, (size_t)(in->end - in->at) - 1, HP_ENCODE_FRAGMENT);
  }
}

static bool finish(hp_url *url, source *in) {
  guard_path(url);
  add_query_and_fragment(url, in);
  return !url->failed;
}

static bool add_new_path(hp_url *url, source *in) {
  url->authority_end = url->path = url->length;
  begin_path(url, in);
  return finish(url, in);
}

/*** authority ***/

static void add_credentials(hp_url *url, const char *at, const char *end) {
  const char *colon = memchr(at, ':', (size_t)(end - at)), *password = colon ? colon + 1 : end;
  if (!colon) colon = end;
  if (colon == at && password == end) return;
  hp_url_add_encoded(url, at, (size_t)(colon - at), HP_ENCODE_USERINFO);
  if (password < end) {
    add_byte(url, ':');
    hp_url_add_encoded(url, password, (size_t)(end - password), HP_ENCODE_USERINFO);
  }
  add_byte(url, '@');
}

//§ port-state
static bool add_port(hp_url *url, const char *at, const char *end) {
  unsigned port = 0;
  if (at == end) return true;
  for (const char *digit = at; digit < end; digit++) {
    if (!hp_ascii_is_digit(*digit)) return false;
    port = port * 10 + (unsigned)(*digit - '0');
    if (port > 65535) return false;
  }
  if (url->scheme && port == schemes[url->scheme].port) return true;
  char text[8];
  size_t n = sizeof text;
  do text[--n] = (char)('0' + port % 10);
  while (port /= 10);
  add_byte(url, ':');
  hp_url_add(url, text + n, sizeof text - n);
  return true;
}

/* Takes what follows "//": user, host, port, path, query and fragment. */
//§ authority-state
static bool take_authority(hp_url *url, source *in) {
  const char *end = in->at, *user = NULL, *colon = NULL;
  while (end < in->end && !is_slash(url, *end) && *end != '?' && *end != '#') {
    if (*end == '@') user = end;
    end++;
  }
  hp_url_add(url, "//", 2);
  if (user) add_credentials(url, in->at, user);
  const char *host = user ? user + 1 : in->at;
  bool bracket = false;
  for (const char *at = host; at < end && !colon; at++) {
    if (*at == '[') bracket = true;
    if (*at == ']') bracket = false;
    if (*at == ':' && !bracket) colon = at;
  }
  const char *host_end = colon ? colon : end;
  if (host == host_end && (url->scheme || user || colon)) return false;
  if (!hp_url_add_host(url, host, (size_t)(host_end - host), url->scheme)) return false;
  url->has_host = true;
  if (colon && !add_port(url, colon + 1, end)) return false;
  in->at = end;
  return add_new_path(url, in);
}

/*** relative URLs ***/

/* Begins with the scheme, and with the base's authority and path as far as `end`. */
static void copy_base(hp_url *url, const hp_url *base, size_t end) {
  hp_url_add(url, base->bytes, end);
  url->scheme = base->scheme;
  url->scheme_end = base->scheme_end;
  url->authority_end = base->authority_end;
  url->path = base->path < end ? base->path : end;
  url->has_host = base->has_host;
  url->opaque = base->opaque;
}

/* Drops the "/." before a path that began with two slashes: guard_path puts it back where the new
 * path needs it. */
static void drop_guard(hp_url *url) {
  if (url->failed || url->path == url->authority_end) return;
  memmove(url->bytes + url->authority_end, url->bytes + url->path, url->length - url->path);
  url->length -= url->path - url->authority_end;
  url->path = url->authority_end;
}

/* Takes a query, a fragment or nothing after the base's path; or else segments in the place of its
 * last one. */
static bool continue_base(hp_url *url, source *in, const hp_url *base) {
  bool keeps_query = in->at == in->end || *in->at == '#';
  copy_base(url, base, keeps_query ? base->fragment : base->query);
  if (keeps_query) {
    url->query = base->query;
    url->fragment = url->length;
    if (in->at < in->end) {
      add_byte(url, '#');
      hp_url_add_encoded(url, in->at + 1, (size_t)(in->end - in->at) - 1, HP_ENCODE_FRAGMENT);
    }
    return !url->failed;
  }
  if (*in->at != '?') {
    drop_guard(url);
    if (url->scheme == HP_SCHEME_FILE && starts_with_drive(*in))
      url->length = url->path;
    else
      shorten_path(url);
    add_path(url, in);
    return finish(url, in);
  }
  add_query_and_fragment(url, in);
  return !url->failed;
}

//§ relative-state
static bool take_relative(hp_url *url, source *in, const hp_url *base) {
  url->scheme = base->scheme;
  if (in->at == in->end || !is_slash(url, *in->at)) return continue_base(url, in, base);
  if (in->end - in->at > 1 && is_slash(url, in->at[1])) {
    copy_base(url, base, base->scheme_end);
    url->has_host = false;
    in->at += 2;
    while (url->scheme && in->at < in->end && is_slash(url, *in->at)) in->at++;
    return take_authority(url, in);
  }
  copy_base(url, base, base->authority_end);
  return add_new_path(url, in);
}

//§ file-host-state
static bool take_file_host(hp_url *url, source *in) {
  const char *end = in->at;
  while (end < in->end && !ends_segment(*end)) end++;
  size_t length = (size_t)(end - in->at);
  hp_url_add(url, "//", 2);
  url->has_host = true;
  if (!is_drive(in->at, length)) {
    size_t before = url->length;
    if (length && !hp_url_add_host(url, in->at, length, true)) return false;
    if (!url->failed && url->length - before == 9 && !memcmp(url->bytes + before, "localhost", 9)) url->length = before;
    in->at = end;
  }
  return add_new_path(url, in);
}

//§ file-state
static bool take_file(hp_url *url, source *in, const hp_url *base) {
  bool by_base = base && base->scheme == HP_SCHEME_FILE;
  if (in->at == in->end || !is_slash(url, *in->at)) {
    if (by_base) {
      url->length = 0;
      return continue_base(url, in, base);
    }
    hp_url_add(url, "//", 2);
    url->has_host = true;
    return add_new_path(url, in);
  }
  if (in->end - in->at > 1 && is_slash(url, in->at[1])) {
    in->at += 2;
    return take_file_host(url, in);
  }
  source rest = {in->at + 1, in->end};
  if (!by_base) {
    hp_url_add(url, "//", 2);
    url->has_host = true;
    return add_new_path(url, in);
  }
  url->length = 0;
  bool drive = base->query - base->path >= 3 && is_drive(base->bytes + base->path + 1, 2) &&
               (base->query - base->path == 3 || base->bytes[base->path + 3] == '/');
  copy_base(url, base, base->authority_end);
  url->path = url->length;
  if (drive && !starts_with_drive(rest)) hp_url_add(url, base->bytes + base->path, 3);
  in->at++;
  add_path(url, in);
  return finish(url, in);
}

/*** absolute URLs ***/

//§ cannot-be-a-base-url-path-state
static bool take_opaque_path(hp_url *url, source *in) {
  const char *end = in->at;
  while (end < in->end && *end != '?' && *end != '#') end++;
  url->authority_end = url->path = url->length;
  url->opaque = true;
  size_t length = (size_t)(end - in->at);
  bool space = end < in->end && length && end[-1] == ' ';
  hp_url_add_encoded(url, in->at, length - space, HP_ENCODE_CONTROL);
  if (space) hp_url_add(url, "%20", 3);
  in->at = end;
  add_query_and_fragment(url, in);
  return !url->failed;
}

static hp_scheme known_scheme(const char *name, size_t length) {
  for (hp_scheme i = HP_SCHEME_HTTP; i <= HP_SCHEME_FILE; i++)
    if (schemes[i].length == length && !memcmp(schemes[i].name, name, length)) return i;
  return HP_SCHEME_OTHER;
}

/* Takes what follows the scheme, which has been appended. */
static bool take_after_scheme(hp_url *url, source *in, const hp_url *base) {
  if (url->scheme == HP_SCHEME_FILE) return take_file(url, in, base);
  size_t slashes = 0;
  while (slashes < 2 && slashes < (size_t)(in->end - in->at) && in->at[slashes] == '/') slashes++;
  if (url->scheme) {
    if (slashes < 2 && base && base->scheme == url->scheme) {
      url->length = 0;
      return take_relative(url, in, base);
    }
    while (in->at < in->end && is_slash(url, *in->at)) in->at++;
    return take_authority(url, in);
  }
  if (slashes == 2) {
    in->at += 2;
    return take_authority(url, in);
  }
  return slashes ? add_new_path(url, in) : take_opaque_path(url, in);
}

static const char *scheme_end(const source *in) {
  const char *at = in->at;
  if (at == in->end || !hp_ascii_is_letter(*at)) return NULL;
  while (at < in->end && (hp_ascii_is_letter(*at) || hp_ascii_is_digit(*at) || *at == '+' || *at == '-' || *at == '.'))
    at++;
  return at < in->end && *at == ':' ? at : NULL;
}

//§ concept-basic-url-parser
static bool parse(hp_url *url, source in, const hp_url *base) {
  const char *colon = scheme_end(&in);
  if (colon) {
    char *to = hp_url_reserve(url, (size_t)(colon - in.at) + 1);
    if (!to) return false;
    while (in.at <= colon) *to++ = hp_ascii_lower(*in.at++);
    url->length = url->scheme_end = (size_t)(to - url->bytes);
    url->scheme = known_scheme(url->bytes, url->length - 1);
    return take_after_scheme(url, &in, base);
  }
  if (!base) return false;
  if (base->opaque) return in.at < in.end && *in.at == '#' && continue_base(url, &in, base);
  if (base->scheme != HP_SCHEME_FILE) return take_relative(url, &in, base);
  copy_base(url, base, base->scheme_end);
  url->has_host = false;
  return take_file(url, &in, base);
}

/* Copies the input without tabs and line feeds. */
static bool parse_cleaned(hp_url *url, source in, const hp_url *base) {
  char *clean = hp_allocate((size_t)(in.end - in.at)), *to = clean;
  if (!clean) {
    url->failed = true;
    return false;
  }
  for (; in.at < in.end; in.at++)
    if (*in.at != '\t' && *in.at != '\n' && *in.at != '\r') *to++ = *in.at;
  bool fine = parse(url, (source){clean, to}, base);
  hp_free(clean);
  return fine;
}

bool hp_url_parse(hp_url *url, const char *input, size_t length, const hp_url *base) {
  *url = (hp_url){.bytes = url->bytes, .capacity = url->capacity, .queries = url->queries};
  source in = {input, input + length};
  while (in.at < in.end && (unsigned char)*in.at <= ' ') in.at++;
  while (in.at < in.end && (unsigned char)in.end[-1] <= ' ') in.end--;
  bool dirty = false;
  for (const char *at = in.at; at < in.end; at++) dirty |= *at == '\t' || *at == '\n' || *at == '\r';
  return dirty ? parse_cleaned(url, in, base) : parse(url, in, base);
}

void hp_url_close(hp_url *url) {
  hp_free(url->bytes);
  *url = (hp_url){0};
}

/*** queries in the encoding of the document ***/

/* Reads a character beyond ASCII of valid UTF-8. */
static uint32_t read_character(const char **at) {
  const unsigned char *c = (const unsigned char *)*at;
  unsigned length = c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  uint32_t character = c[0] & (0x7Fu >> length);
  for (unsigned i = 1; i < length; i++) character = character << 6 | (c[i] & 0x3Fu);
  *at += length;
  return character;
}

/* Returns the bytes of a character, or 0. Unlike hp_encode_character, it also takes the similar
 * character of the Encoding Standard's Japanese encoders. */
static size_t encode(const hp_encoder *encoder, uint32_t character, unsigned char code[HP_MAX_CODE]) {
  bool japanese = encoder->encoding->kind == HP_ENCODING_SHIFT_JIS || encoder->encoding->kind == HP_ENCODING_EUC_JP;
  if (japanese && (character == 0xA5 || character == 0x203E)) {
    *code = character == 0xA5 ? 0x5C : 0x7E;
    return 1;
  }
  return hp_encode_character(encoder, japanese && character == 0x2212 ? 0xFF0D : character, code);
}

//§ string-percent-encode-after-encoding
void hp_url_add_query(hp_url *url, const char *bytes, size_t length, uint8_t set) {
  const char *at = bytes, *end = bytes + length;
  hp_encoder encoder;
  while (at < end && !((unsigned char)*at & 0x80)) at++;
  if (at == end || !url->queries || hp_encoder_open(&encoder, url->queries) != HPAR_OK) {
    hp_url_add_encoded(url, bytes, length, set);
    return;
  }
  hp_url_add_encoded(url, bytes, (size_t)(at - bytes), set);
  while (at < end) {
    const char *run = at;
    while (at < end && !((unsigned char)*at & 0x80)) at++;
    hp_url_add_encoded(url, run, (size_t)(at - run), set);
    if (at == end) break;
    uint32_t character = read_character(&at);
    unsigned char code[HP_MAX_CODE];
    char reference[24];
    size_t n = encode(&encoder, character, code);
    if (n)
      hp_url_add_encoded(url, (const char *)code, n, set);
    else
      hp_url_add(url, reference, (size_t)snprintf(reference, sizeof reference, "%%26%%23%u%%3B", (unsigned)character));
  }
}
