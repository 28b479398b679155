#include "url/url.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/decoder.h"
#include "text/scan/scan.h"

#include <stdio.h>
#include <string.h>
#if HPAR_IDN
#include <dlfcn.h>
#include <pthread.h>
#include <unicode/uidna.h>
#include <unicode/uvernum.h>
#endif

/* The percent-encode sets. */
enum {
  ENCODE_CONTROL = 1,
  ENCODE_FRAGMENT = 2,
  ENCODE_QUERY = 4,
  ENCODE_SPECIAL_QUERY = 8,
  ENCODE_PATH = 16,
  ENCODE_USERINFO = 32
};

#define C ENCODE_CONTROL
#define F ENCODE_FRAGMENT
#define Q (ENCODE_QUERY | ENCODE_SPECIAL_QUERY)
#define P ENCODE_PATH
#define U ENCODE_USERINFO
#define ALL (C | F | Q | P | U)

static const uint8_t encoded[256] = {
    [0x00 ... 0x1F] = ALL,
    [0x7F ... 0xFF] = ALL,
    [' '] = F | Q | P | U,
    ['"'] = F | Q | P | U,
    ['#'] = Q | P | U,
    ['<'] = F | Q | P | U,
    ['>'] = F | Q | P | U,
    ['\''] = ENCODE_SPECIAL_QUERY,
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

static void add_bytes(hp_url *url, const char *bytes, size_t length) {
  char *to = hp_url_reserve(url, length);
  if (!to || !length) return;
  memcpy(to, bytes, length);
  url->length += length;
}

/* Appends the bytes, those of the set as %XX. */
static void add_encoded(hp_url *url, const char *bytes, size_t length, uint8_t set) {
  static const char digits[] = "0123456789ABCDEF";
  char *to = hp_url_reserve(url, length * 3);
  if (!to) return;
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (encoded[byte] & set) {
      *to++ = '%';
      *to++ = digits[byte >> 4];
      *to++ = digits[byte & 15];
    } else {
      *to++ = (char)byte;
    }
  }
  url->length = (size_t)(to - url->bytes);
}

static void add_byte(hp_url *url, char byte) { add_bytes(url, &byte, 1); }

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

/*** queries in the encoding of the document ***/

/* Reads a character beyond ASCII of valid UTF-8. Other bytes give some character. */
static uint32_t read_character(const char **at, const char *end) {
  const unsigned char *c = (const unsigned char *)*at;
  ptrdiff_t length = c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  uint32_t character = c[0] & (0x7Fu >> length);
  if (length > end - *at) length = end - *at;
  for (ptrdiff_t i = 1; i < length; i++) character = character << 6 | (c[i] & 0x3Fu);
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

/* Appends a query in the encoding of queries, as add_encoded does. */
//§ string-percent-encode-after-encoding
static void add_query(hp_url *url, const char *bytes, size_t length, uint8_t set) {
  const char *at = bytes, *end = bytes + length;
  hp_encoder encoder;
  while (at < end && !((unsigned char)*at & 0x80)) at++;
  if (at == end || !url->queries || hp_encoder_open(&encoder, url->queries) != HPAR_OK) {
    add_encoded(url, bytes, length, set);
    return;
  }
  add_encoded(url, bytes, (size_t)(at - bytes), set);
  while (at < end) {
    const char *run = at;
    while (at < end && !((unsigned char)*at & 0x80)) at++;
    add_encoded(url, run, (size_t)(at - run), set);
    if (at == end) break;
    uint32_t character = read_character(&at, end);
    unsigned char code[HP_MAX_CODE];
    char reference[24];
    size_t n = encode(&encoder, character, code);
    if (n)
      add_encoded(url, (const char *)code, n, set);
    else
      add_bytes(url, reference, (size_t)snprintf(reference, sizeof reference, "%%26%%23%u%%3B", (unsigned)character));
  }
}

/*** hosts ***/

/* Internationalised host names in ASCII, by ICU. ICU is loaded when the first such name comes,
 * because to link it would double the time that a small program takes to start. */

typedef enum hp_idn_result {
  HP_IDN_CONVERTED,
  HP_IDN_INVALID,
  HP_IDN_MISSING /* this build or this machine lacks ICU, or memory is short */
} hp_idn_result;

#if HPAR_IDN

/* The file name of the library, and the names of its functions, have the version of the headers. */
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static struct {
  pthread_once_t once;
  UIDNA *(*open)(uint32_t, UErrorCode *);
  int32_t (*to_ascii)(const UIDNA *, const char *, int32_t, char *, int32_t, UIDNAInfo *, UErrorCode *);
  UIDNA *names; /* NULL: ICU is missing. Threads share it */
} icu = {.once = PTHREAD_ONCE_INIT};

static void load_icu(void) {
  void *library = dlopen("libicuuc.so." TEXT(U_ICU_VERSION_MAJOR_NUM), RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  *(void **)&icu.open = dlsym(library, TEXT(uidna_openUTS46));
  *(void **)&icu.to_ascii = dlsym(library, TEXT(uidna_nameToASCII_UTF8));
  UErrorCode error = U_ZERO_ERROR;
  uint32_t checks = UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII;
  UIDNA *opened = icu.open && icu.to_ascii ? icu.open(checks, &error) : NULL;
  icu.names = U_SUCCESS(error) ? opened : NULL;
}

/* Writes the name, in UTF-8, in ASCII to `to`, and its length to `*used`. */
//§ concept-domain-to-ascii
static hp_idn_result to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
  /* The standard allows these in URLs: beStrict is false. */
  enum {
    ALLOWED = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
              UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4
  };
  pthread_once(&icu.once, load_icu);
  if (!icu.names) return HP_IDN_MISSING;
  UErrorCode error = U_ZERO_ERROR;
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  int32_t written = icu.to_ascii(icu.names, name, (int32_t)length, to, (int32_t)capacity, &info, &error);
  if (error == U_MEMORY_ALLOCATION_ERROR) return HP_IDN_MISSING;
  if (U_FAILURE(error) || info.errors & ~(uint32_t)ALLOWED || written <= 0) return HP_IDN_INVALID;
  *used = (size_t)written;
  return HP_IDN_CONVERTED;
}

#else

static hp_idn_result to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
  (void)name, (void)length, (void)to, (void)capacity, (void)used;
  return HP_IDN_MISSING;
}

#endif

/* Hosts of URLs: names, IPv4 and IPv6 addresses, and the opaque hosts of other schemes. */

enum { MAX_NAME = 4096, MAX_ASCII_NAME = 6 * MAX_NAME };

/* Reads an IPv4 number: decimal, octal after 0, hexadecimal after 0x. Returns false if it is not a
 * number. A value above 32 bits is 2 to the 32. */
//§ ipv4-number-parser
static bool read_number(const char *at, const char *end, uint64_t *value) {
  unsigned radix = 10;
  if (at == end) return false;
  if (end - at >= 2 && at[0] == '0') {
    bool hexadecimal = hp_ascii_lower(at[1]) == 'x';
    radix = hexadecimal ? 16 : 8;
    at += hexadecimal ? 2 : 1;
  }
  *value = 0;
  for (; at < end; at++) {
    int digit = hp_hex_value(*at);
    if (digit < 0 || (unsigned)digit >= radix) return false;
    *value = *value * radix + (unsigned)digit;
    if (*value > UINT64_C(1) << 32) *value = UINT64_C(1) << 32;
  }
  return true;
}

//§ ends-in-a-number-checker
static bool ends_in_number(const char *at, const char *end) {
  if (at < end && end[-1] == '.') end--;
  const char *last = end;
  while (last > at && last[-1] != '.') last--;
  if (last == end) return false;
  const char *digit = last;
  while (digit < end && hp_ascii_is_digit(*digit)) digit++;
  uint64_t value;
  return digit == end || read_number(last, end, &value);
}

//§ concept-ipv4-parser
static bool add_ipv4(hp_url *url, const char *at, const char *end) {
  uint64_t parts[4], address = 0;
  int count = 0;
  if (end > at && end[-1] == '.') end--;
  for (;;) {
    const char *dot = memchr(at, '.', (size_t)(end - at));
    if (count == 4 || !read_number(at, dot ? dot : end, &parts[count++])) return false;
    if (!dot) break;
    at = dot + 1;
  }
  for (int i = 0; i + 1 < count; i++) {
    if (parts[i] > 255) return false;
    address |= parts[i] << (8 * (3 - i));
  }
  if (parts[count - 1] >= UINT64_C(1) << (8 * (5 - count))) return false;
  address += parts[count - 1];
  char text[24];
  int length = snprintf(text, sizeof text, "%u.%u.%u.%u", (unsigned)(address >> 24 & 255),
                        (unsigned)(address >> 16 & 255), (unsigned)(address >> 8 & 255), (unsigned)(address & 255));
  add_bytes(url, text, (size_t)length);
  return true;
}

/* Reads the IPv4 address that ends an IPv6 address into two pieces. */
static bool read_ending_ipv4(const char *at, const char *end, uint16_t pieces[2]) {
  for (int i = 0; i < 4; i++) {
    if (i && (at == end || *at++ != '.')) return false;
    if (at == end || !hp_ascii_is_digit(*at)) return false;
    unsigned value = 0;
    const char *begin = at;
    for (; at < end && hp_ascii_is_digit(*at); at++) {
      if (at > begin && value == 0) return false;
      value = value * 10 + (unsigned)(*at - '0');
      if (value > 255) return false;
    }
    pieces[i / 2] = (uint16_t)((unsigned)pieces[i / 2] << 8 | value);
  }
  return at == end;
}

//§ concept-ipv6-parser
static bool read_ipv6(const char *at, const char *end, uint16_t pieces[8]) {
  int count = 0, compress = -1;
  memset(pieces, 0, 8 * sizeof *pieces);
  if (at < end && *at == ':') {
    if (end - at < 2 || at[1] != ':') return false;
    at += 2;
    compress = ++count;
  }
  while (at < end) {
    if (count == 8) return false;
    if (*at == ':') {
      if (compress >= 0) return false;
      at++;
      compress = ++count;
      continue;
    }
    const char *begin = at;
    unsigned value = 0;
    for (; at < end && at - begin < 4 && hp_hex_value(*at) >= 0; at++) value = value * 16 + (unsigned)hp_hex_value(*at);
    if (at < end && *at == '.') {
      if (at == begin || count > 6 || !read_ending_ipv4(begin, end, &pieces[count])) return false;
      count += 2;
      break;
    }
    if (at < end) {
      if (*at++ != ':' || at == end) return false;
    }
    pieces[count++] = (uint16_t)value;
  }
  if (compress < 0) return count == 8;
  for (int from = count - 1, to = 7; from >= compress && to > from; from--, to--) {
    pieces[to] = pieces[from];
    pieces[from] = 0;
  }
  return true;
}

//§ concept-ipv6-serializer
static void add_ipv6(hp_url *url, const uint16_t pieces[8]) {
  int longest = -1, zeros = 1;
  for (int i = 0; i < 8; i++) {
    int length = 0;
    while (i + length < 8 && !pieces[i + length]) length++;
    if (length > zeros) {
      longest = i;
      zeros = length;
    }
    i += length;
  }
  add_bytes(url, "[", 1);
  for (int i = 0; i < 8; i++) {
    if (i == longest) {
      add_bytes(url, i ? ":" : "::", i ? 1 : 2);
      i += zeros - 1;
      continue;
    }
    char text[8];
    int length = snprintf(text, sizeof text, i < 7 ? "%x:" : "%x", pieces[i]);
    add_bytes(url, text, (size_t)length);
  }
  add_bytes(url, "]", 1);
}

/* Controls are forbidden in host names, and so are these. */
//§ forbidden-host-code-point
static bool is_forbidden(char c, bool special) {
  if (!c || strchr("\t\n\r #/:<>?@[\\]^|", c)) return true;
  return special && ((unsigned char)c < 0x20 || c == '%' || c == 0x7F);
}

/* Decodes %XX and lowers ASCII letters. Returns the length. */
static size_t decode_name(const char *at, size_t length, char *to) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    if (at[i] == '%' && length - i > 2 && hp_hex_value(at[i + 1]) >= 0 && hp_hex_value(at[i + 2]) >= 0) {
      to[n++] = hp_ascii_lower((char)(hp_hex_value(at[i + 1]) * 16 + hp_hex_value(at[i + 2])));
      i += 2;
    } else {
      to[n++] = hp_ascii_lower(at[i]);
    }
  }
  return n;
}

/* Returns true if the name has characters beyond ASCII, or a label in Punycode. */
static bool is_internationalised(const char *name, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)name[i] >= 0x80) return true;
    if ((!i || name[i - 1] == '.') && length - i >= 4 && !memcmp(name + i, "xn--", 4)) return true;
  }
  return false;
}

static bool add_name(hp_url *url, const char *name, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (is_forbidden(name[i], true)) return false;
  if (ends_in_number(name, name + length)) return add_ipv4(url, name, name + length);
  add_bytes(url, name, length);
  return true;
}

/* Appends the serialised host. Returns false if it is not valid. */
//§ concept-host-parser
static bool add_host(hp_url *url, const char *at, size_t length, bool special) {
  if (length && at[0] == '[') {
    uint16_t pieces[8];
    if (at[length - 1] != ']' || !read_ipv6(at + 1, at + length - 1, pieces)) return false;
    add_ipv6(url, pieces);
    return true;
  }
  if (!special) {
    for (size_t i = 0; i < length; i++)
      if (is_forbidden(at[i], false)) return false;
    add_encoded(url, at, length, ENCODE_CONTROL);
    return true;
  }
  char name[MAX_NAME];
  if (length > MAX_NAME) return false;
  length = decode_name(at, length, name);
  if (!length || hp_scan()->invalid_utf8(name, name + length) != name + length) return false;
  if (is_internationalised(name, length)) {
    char ascii[MAX_ASCII_NAME];
    size_t used;
    hp_idn_result result = to_ascii(name, length, ascii, sizeof ascii, &used);
    if (result != HP_IDN_MISSING) return result == HP_IDN_CONVERTED && add_name(url, ascii, used);
  }
  return add_name(url, name, length);
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
      add_encoded(url, in->at, (size_t)(end - in->at), ENCODE_PATH);
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
    const uint8_t set = url->scheme ? ENCODE_SPECIAL_QUERY : ENCODE_QUERY;
    if (url->scheme && url->scheme != HP_SCHEME_WS && url->scheme != HP_SCHEME_WSS)
      add_query(url, in->at + 1, (size_t)(end - in->at) - 1, set);
    else
      add_encoded(url, in->at + 1, (size_t)(end - in->at) - 1, set);
    in->at = end;
  }
  url->fragment = url->length;
  if (in->at < in->end) { /* at the # */
    add_byte(url, '#');
    add_encoded(url, in->at + 1, (size_t)(in->end - in->at) - 1, ENCODE_FRAGMENT);
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
  add_encoded(url, at, (size_t)(colon - at), ENCODE_USERINFO);
  if (password < end) {
    add_byte(url, ':');
    add_encoded(url, password, (size_t)(end - password), ENCODE_USERINFO);
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
  add_bytes(url, text + n, sizeof text - n);
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
  add_bytes(url, "//", 2);
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
  if (!add_host(url, host, (size_t)(host_end - host), url->scheme)) return false;
  url->has_host = true;
  if (colon && !add_port(url, colon + 1, end)) return false;
  in->at = end;
  return add_new_path(url, in);
}

/*** relative URLs ***/

/* Begins with the scheme, and with the base's authority and path as far as `end`. */
static void copy_base(hp_url *url, const hp_url *base, size_t end) {
  add_bytes(url, base->bytes, end);
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
      add_encoded(url, in->at + 1, (size_t)(in->end - in->at) - 1, ENCODE_FRAGMENT);
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
  add_bytes(url, "//", 2);
  url->has_host = true;
  if (!is_drive(in->at, length)) {
    size_t before = url->length;
    if (length && !add_host(url, in->at, length, true)) return false;
    if (!url->failed && url->length - before == 9 && !memcmp(url->bytes + before, "localhost", 9)) url->length = before;
    in->at = end;
  }
  return add_new_path(url, in);
}

//§ file-state
static bool take_file(hp_url *url, source *in, const hp_url *base) {
  bool by_base = base && base->scheme == HP_SCHEME_FILE, slash = in->at < in->end && is_slash(url, *in->at);
  if (slash && in->end - in->at > 1 && is_slash(url, in->at[1])) {
    in->at += 2;
    return take_file_host(url, in);
  }
  if (!by_base) {
    add_bytes(url, "//", 2);
    url->has_host = true;
    return add_new_path(url, in);
  }
  url->length = 0;
  if (!slash) return continue_base(url, in, base);
  source rest = {in->at + 1, in->end};
  bool drive = base->query - base->path >= 3 && is_drive(base->bytes + base->path + 1, 2) &&
               (base->query - base->path == 3 || base->bytes[base->path + 3] == '/');
  copy_base(url, base, base->authority_end);
  url->path = url->length;
  if (drive && !starts_with_drive(rest)) add_bytes(url, base->bytes + base->path, 3);
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
  add_encoded(url, in->at, length - space, ENCODE_CONTROL);
  if (space) add_bytes(url, "%20", 3);
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
static bool parse_input(hp_url *url, source in, const hp_url *base) {
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
  bool fine = parse_input(url, (source){clean, to}, base);
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
  return dirty ? parse_cleaned(url, in, base) : parse_input(url, in, base);
}

void hp_url_close(hp_url *url) {
  hp_free(url->bytes);
  *url = (hp_url){0};
}
