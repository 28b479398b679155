#include "programs/crawl/suffixes.h"

#include "base/bytes.h"
#include "programs/crawl/sha256.h"
#include "url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RULE = 1, WILDCARD = 2, EXCEPTION = 4 };

/* Adds a rule by the name that its hosts have in a URL, in ASCII. */
static bool add_rule(hp_suffixes *s, hp_url *url, const char *line, size_t length) {
  unsigned kind = *line == '!' ? EXCEPTION : length > 2 && !memcmp(line, "*.", 2) ? WILDCARD : RULE;
  size_t before = kind == EXCEPTION ? 1 : kind == WILDCARD ? 2 : 0;
  char text[512];
  int written = snprintf(text, sizeof text, "http://%.*s/", (int)(length - before), line + before);
  if (written < 0 || (size_t)written >= sizeof text) return true;
  if (!hp_url_parse(url, text, (size_t)written, NULL)) return !url->failed;
  size_t from = url->scheme_end + 2, count = url->authority_end - from;
  uint32_t entry = hp_tally_table_entry(&s->rules, url->bytes + from, count);
  if (entry == HP_TALLY_NO_ENTRY) return false;
  s->rules.entries[entry].count |= kind;
  return true;
}

hpar_status hp_suffixes_read(hp_suffixes *s, const char *path, char digits[65]) {
  *s = (hp_suffixes){0};
  FILE *file = fopen(path, "re");
  if (!file) return HPAR_ERROR_IO;
  hp_sha256 sha;
  hp_sha256_open(&sha);
  hp_url url = {0};
  char *line = NULL;
  size_t capacity = 0;
  bool fine = true, private_part = false;
  for (ssize_t length; fine && (length = getline(&line, &capacity, file)) >= 0;) {
    hp_sha256_add(&sha, line, (size_t)length);
    while (length && hp_ascii_is_white(line[length - 1])) length--;
    line[length] = 0;
    if (strstr(line, "===BEGIN PRIVATE DOMAINS===")) private_part = true;
    if (!length || private_part || !strncmp(line, "//", 2)) continue;
    fine = add_rule(s, &url, line, (size_t)length);
  }
  hp_sha256_finish(&sha, digits);
  bool read = !ferror(file);
  int error = errno;
  fclose(file);
  free(line);
  hp_url_close(&url);
  errno = error;
  return !fine ? HPAR_ERROR_MEMORY : read ? HPAR_OK : HPAR_ERROR_IO;
}

void hp_suffixes_free(hp_suffixes *s) { hp_tally_table_free(&s->rules); }

/* No top-level domain begins with a digit, so a last label that does is part of an address. */
hpar_string hp_top_level_domain(hpar_string host) {
  const char *end = host.bytes + host.length;
  if (host.length && end[-1] == '.') end--;
  const char *at = end;
  while (at > host.bytes && at[-1] != '.') at--;
  bool is_address = at == end || end[-1] == ']' || hp_ascii_is_digit(*at);
  return (hpar_string){at, is_address ? 0 : (size_t)(end - at)};
}

static unsigned rules_of(const hp_suffixes *s, const char *at, const char *end) {
  return (unsigned)hp_tally_table_count(&s->rules, at, (size_t)(end - at));
}

/* Returns the beginning of the next label, or the end. */
static const char *next_label(const char *at, const char *end) {
  const char *dot = memchr(at, '.', (size_t)(end - at));
  return dot ? dot + 1 : end;
}

hpar_string hp_registered_domain(const hp_suffixes *s, hpar_string host) {
  hpar_string last = hp_top_level_domain(host);
  const char *end = last.bytes + last.length, *before = NULL;
  if (!last.length) return last;
  for (const char *at = host.bytes; at < end; at = next_label(at, end)) {
    const char *next = next_label(at, end);
    unsigned rules = rules_of(s, at, end);
    if (rules & EXCEPTION) return (hpar_string){at, (size_t)(end - at)};
    bool is_suffix = next == end || rules & RULE || rules_of(s, next, end) & WILDCARD;
    if (is_suffix) return before ? (hpar_string){before, (size_t)(end - before)} : (hpar_string){"", 0};
    before = at;
  }
  return (hpar_string){"", 0};
}
