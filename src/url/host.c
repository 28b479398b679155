/* Hosts of URLs: names, IPv4 and IPv6 addresses, and the opaque hosts of other schemes. */

#include "base/bytes.h"
#include "text/scan/scan.h"
#include "url/url.h"

#include <stdio.h>
#include <string.h>

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
  hp_url_add(url, text, (size_t)length);
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
  hp_url_add(url, "[", 1);
  for (int i = 0; i < 8; i++) {
    if (i == longest) {
      hp_url_add(url, i ? ":" : "::", i ? 1 : 2);
      i += zeros - 1;
      continue;
    }
    char text[8];
    int length = snprintf(text, sizeof text, i < 7 ? "%x:" : "%x", pieces[i]);
    hp_url_add(url, text, (size_t)length);
  }
  hp_url_add(url, "]", 1);
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
  hp_url_add(url, name, length);
  return true;
}

//§ concept-host-parser
bool hp_url_add_host(hp_url *url, const char *at, size_t length, bool special) {
  if (length && at[0] == '[') {
    uint16_t pieces[8];
    if (at[length - 1] != ']' || !read_ipv6(at + 1, at + length - 1, pieces)) return false;
    add_ipv6(url, pieces);
    return true;
  }
  if (!special) {
    for (size_t i = 0; i < length; i++)
      if (is_forbidden(at[i], false)) return false;
    hp_url_add_encoded(url, at, length, HP_ENCODE_CONTROL);
    return true;
  }
  char name[MAX_NAME];
  if (length > MAX_NAME) return false;
  length = decode_name(at, length, name);
  if (!length || hp_scan()->invalid_utf8(name, name + length) != name + length) return false;
  if (is_internationalised(name, length)) {
    char ascii[MAX_ASCII_NAME];
    size_t used;
    hp_idn_result result = hp_idn_to_ascii(name, length, ascii, sizeof ascii, &used);
    if (result != HP_IDN_MISSING) return result == HP_IDN_CONVERTED && add_name(url, ascii, used);
  }
  return add_name(url, name, length);
}

#if HPAR_IDN
#include <dlfcn.h>
#include <pthread.h>
#include <unicode/uidna.h>
#include <unicode/uvernum.h>

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

//§ concept-domain-to-ascii
hp_idn_result hp_idn_to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
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

hp_idn_result hp_idn_to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
  (void)name, (void)length, (void)to, (void)capacity, (void)used;
  return HP_IDN_MISSING;
}

#endif
