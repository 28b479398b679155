#include "url/url.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Classes of characters in a path, a query or a fragment. Those of class 0 need the parser. */
enum { PLAIN = 1, SLASH, QUERY, FRAGMENT, COLON, PERCENT };

static const uint8_t classes[256] = {
    ['a' ... 'z'] = PLAIN, ['A' ... 'Z'] = PLAIN, ['0' ... '9'] = PLAIN, ['-'] = PLAIN, ['.'] = PLAIN,   ['_'] = PLAIN,
    ['~'] = PLAIN,         ['!'] = PLAIN,         ['$'] = PLAIN,         ['&'] = PLAIN, ['('] = PLAIN,   [')'] = PLAIN,
    ['*'] = PLAIN,         ['+'] = PLAIN,         [','] = PLAIN,         [';'] = PLAIN, ['='] = PLAIN,   ['@'] = PLAIN,
    ['/'] = SLASH,         ['?'] = QUERY,         ['#'] = FRAGMENT,      [':'] = COLON, ['%'] = PERCENT,
};

#if defined(__SSE2__)
static inline __m128i in_range(__m128i bytes, char first, char last) {
  __m128i at = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(at, _mm_set1_epi8((char)(last - first))), at);
}

static inline __m128i is_byte(__m128i bytes, char byte) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)); }

/* Returns the bytes of a block that are not letters, digits or one of ()*+,-./:;=&_ and, in a path,
 * also "." and "%" after a slash. `carry` is whether a slash precedes the block. */
static inline unsigned find_other(const char *at, bool path, unsigned carry, unsigned *slashes) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
  __m128i plain = _mm_or_si128(in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z'), in_range(bytes, '(', ';'));
  plain = _mm_or_si128(plain, _mm_or_si128(is_byte(bytes, '='), is_byte(bytes, '&')));
  plain = _mm_or_si128(plain, is_byte(bytes, '_'));
  unsigned other = ~(unsigned)_mm_movemask_epi8(plain) & 0xFFFF;
  *slashes = path ? (unsigned)_mm_movemask_epi8(is_byte(bytes, '/')) : 0;
  unsigned dots = (unsigned)_mm_movemask_epi8(is_byte(bytes, '.'));
  return other | ((*slashes << 1 | carry) & (dots | (other & (unsigned)_mm_movemask_epi8(is_byte(bytes, '%')))));
}

/* Returns the first byte that may need a closer look: all bytes before it are plain. Requires: a
 * slash, a query or a fragment precedes `at`, and `low` to `end` is the whole URL. */
static inline const char *skip_plain(const char *low, const char *at, const char *end, bool path) {
  unsigned carry = 0, slashes, other;
  for (; end - at >= 16; at += 16) {
    other = find_other(at, path, carry, &slashes);
    if (other) {
      at += __builtin_ctz(other);
      return at - (path && at > low && at[-1] == '/' && (*at == '.' || *at == '%'));
    }
    carry = slashes >> 15;
  }
  if (at == end || end - low < 16) return at;
  unsigned passed = 16 - (unsigned)(end - at);
  other = find_other(end - 16, path, 0, &slashes) >> passed;
  if (!other) return end;
  at += __builtin_ctz(other);
  return at - (path && at > low && at[-1] == '/' && (*at == '.' || *at == '%'));
}
#else
static inline const char *skip_plain(const char *low, const char *at, const char *end, bool path) {
  (void)low, (void)end, (void)path;
  return at;
}
#endif

/* Returns whether the rest of a query or a fragment is plain. */
static bool is_plain_rest(const char *low, const char *at, const char *end) {
  for (at = skip_plain(low, at, end, false); at < end; at = skip_plain(low, at + 1, end, false))
    if (!classes[(unsigned char)*at] || classes[(unsigned char)*at] == FRAGMENT) return false;
  return true;
}

static bool is_plain_query(const char *low, const char *at, const char *end) {
  const char *fragment = memchr(at, '#', (size_t)(end - at));
  return is_plain_rest(low, at, fragment ? fragment : end) && (!fragment || is_plain_rest(low, fragment + 1, end));
}

/* Returns whether a path with its query and fragment is plain. A colon in the first segment is not,
 * unless `slash` has come before. */
static bool is_plain_path(const char *low, const char *at, const char *end, bool slash) {
  if (at < end && (*at == '.' || *at == '%')) return false;
  for (;; at++) {
    if (slash) at = skip_plain(low, at, end, true);
    if (at >= end) return true;
    switch (classes[(unsigned char)*at]) {
      case PLAIN:
      case PERCENT: break;
      case SLASH:
        slash = true;
        if (end - at > 1 && (at[1] == '.' || at[1] == '%')) return false;
        break;
      case COLON:
        if (!slash) return false;
        break;
      case QUERY: return is_plain_query(low, at + 1, end);
      case FRAGMENT: return is_plain_rest(low, at + 1, end);
      default: return false;
    }
  }
}

/* Returns true if a label may be Punycode, which has to be valid. */
static bool may_be_punycode(const char *at, const char *end) {
  while ((at = memchr(at, '-', (size_t)(end - at))))
    if (++at < end && *at == '-') return true;
  return false;
}

/* The characters of hosts and schemes, as bits. */
enum { HOST = 1, SCHEME = 2, REMOVED = 4, MAX_HOST = 200 };

static const uint8_t parts[256] = {
    ['a' ... 'z'] = HOST | SCHEME,
    ['A' ... 'Z'] = SCHEME,
    ['0' ... '9'] = HOST | SCHEME,
    ['-'] = HOST | SCHEME,
    ['.'] = HOST | SCHEME,
    ['+'] = SCHEME,
    ['\t'] = REMOVED,
    ['\n'] = REMOVED,
    ['\r'] = REMOVED,
};

/* Returns the first byte that no host name in lower case has. */
static inline const char *skip_host(const char *at, const char *end) {
#if defined(__SSE2__)
  for (; end - at >= 16; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i other = _mm_andnot_si128(is_byte(bytes, '/'), in_range(bytes, '-', '9'));
    unsigned host = (unsigned)_mm_movemask_epi8(_mm_or_si128(other, in_range(bytes, 'a', 'z')));
    if (host != 0xFFFF) return at + __builtin_ctz(~host);
  }
#endif
  while (at < end && parts[(unsigned char)*at] & HOST) at++;
  return at;
}

/* Returns the end of a host name in lower case whose last label begins with a letter, or NULL. The
 * end of the input, a path, a query or a fragment follows. */
static const char *host_end(const char *begin, const char *end) {
  const char *at = skip_host(begin, end), *label;
  if (at == begin || at - begin > MAX_HOST || (at < end && *at != '/' && *at != '?' && *at != '#')) return NULL;
  for (label = at; label > begin && label[-1] != '.'; label--) continue;
  return label < at && *label >= 'a' && !may_be_punycode(begin, at) ? at : NULL;
}

static bool is_plain_authority(const char *at, const char *end) {
  const char *path = host_end(at, end);
  return path && path < end && *path == '/' && is_plain_path(at, path + 1, end, true) &&
         (path + 1 == end || path[1] != '/');
}

/* Returns whether all bytes are printable ASCII other than space, "#" and "?". */
static bool is_plain_opaque(const char *at, const char *end) {
  bool bad = false;
  for (; at < end; at++) bad |= *at <= ' ' || *at == 0x7F || *at == '#' || *at == '?';
  return !bad;
}

void hp_plain_base_open(hp_plain_base *plain, const hp_url *base) {
  bool known = base->length && base->scheme && base->scheme != HP_SCHEME_FILE;
  *plain = (hp_plain_base){known ? base : NULL, 0};
  if (!known) return;
  plain->folder = base->query;
  while (base->bytes[plain->folder - 1] != '/') plain->folder--;
}

/* Drops "./" and "../" from the beginning of a relative path, and their folders from `*folder`. */
static const char *enter_folder(const hp_plain_base *plain, const char *at, const char *end, size_t *folder) {
  *folder = plain->folder;
  while (end - at > 2 && at[0] == '.') {
    bool up = at[1] == '.';
    if (at[1 + up] != '/') break;
    at += 2 + up;
    if (up && *folder > plain->base->path + 1) do
        --*folder;
      while (plain->base->bytes[*folder - 1] != '/');
  }
  return at;
}

static bool join(hp_url *url, const hp_url *base, size_t prefix, const char *input, size_t length,
                 hpar_string *result) {
  url->length = 0;
  char *to = hp_url_reserve(url, prefix + length);
  if (!to) return false;
  memcpy(to, base->bytes, prefix);
  memcpy(to + prefix, input, length);
  *result = (hpar_string){to, prefix + length};
  return true;
}

static bool begins(const char *at, const char *end, const char *text, size_t length) {
  return (size_t)(end - at) > length && !memcmp(at, text, length);
}

bool hp_plain_resolve(const hp_plain_base *plain, hp_url *url, const char *input, size_t length, hpar_string *result) {
  const char *end = input + length;
  const hp_url *base = plain->base;
  if (!length) return false;
  if ((begins(input, end, "https://", 8) && is_plain_authority(input + 8, end)) ||
      (begins(input, end, "http://", 7) && is_plain_authority(input + 7, end)) ||
      (begins(input, end, "data:", 5) && input[5] != '/' && is_plain_opaque(input + 5, end))) {
    *result = (hpar_string){input, length};
    return true;
  }
  if (!base) return false;
  switch (*input) {
    case '#': return is_plain_rest(input, input + 1, end) && join(url, base, base->fragment, input, length, result);
    case '?': return is_plain_query(input, input + 1, end) && join(url, base, base->query, input, length, result);
    case '/':
      if (length > 1 && input[1] == '/')
        return is_plain_authority(input + 2, end) && join(url, base, base->scheme_end, input, length, result);
      return is_plain_path(input, input + 1, end, true) && join(url, base, base->authority_end, input, length, result);
    default: {
      size_t folder;
      const char *rest = enter_folder(plain, input, end, &folder);
      return is_plain_path(input, rest, end, rest != input) &&
             join(url, base, folder, rest, (size_t)(end - rest), result);
    }
  }
}

/*** origins ***/

static hp_origin own_origin(bool secure, const char *host, const char *end) {
  const char *stop = host_end(host, end);
  if (!stop) return (hp_origin){.kind = HP_ORIGIN_UNKNOWN};
  return (hp_origin){HP_ORIGIN_OWN, secure, {host, (size_t)(stop - host)}};
}

/* Returns whether a slash or a removed character follows: two slashes begin a host. */
static bool may_begin_host(const char *at, const char *end) {
  return at < end && (*at == '/' || *at == '\\' || parts[(unsigned char)*at] & REMOVED);
}

hp_origin hp_plain_origin(const hp_plain_base *plain, const char *input, size_t length) {
  static const hp_origin unknown = {.kind = HP_ORIGIN_UNKNOWN}, of_base = {.kind = HP_ORIGIN_BASE};
  const char *at = input, *end = input + length;
  const hp_url *base = plain->base;
  if (begins(at, end, "http", 4)) {
    bool secure = at[4] == 's';
    if (begins(at + 4 + secure, end, "://", 3)) return own_origin(secure, at + 7 + secure, end);
  }
  if (!base) return unknown;
  if (at == end || *at == '#' || *at == '?') return of_base;
  if (*at == '/') {
    if (at + 1 < end && at[1] == '/' && (base->scheme == HP_SCHEME_HTTP || base->scheme == HP_SCHEME_HTTPS))
      return own_origin(base->scheme == HP_SCHEME_HTTPS, at + 2, end);
    return may_begin_host(at + 1, end) ? unknown : of_base;
  }
  if (*at <= ' ' || *at == '\\') return unknown; /* white space is removed; also beyond ASCII */
  while (at < end && parts[(unsigned char)*at] & SCHEME) at++;
  return at < end && (*at == ':' || parts[(unsigned char)*at] & REMOVED) ? unknown : of_base;
}
