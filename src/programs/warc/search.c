#include "programs/warc/search.h"

#include <string.h>

enum { MIN_BEGINNING = 6 }; /* bytes of the beginning at the end of a block that count */

const char hp_warc_signature[HP_WARC_SIGNATURE + 1] = "WARC/";
const char hp_warc_beginning[HP_WARC_BEGINNING + 1] = "\r\n\r\nWARC/1.";

size_t hp_warc_find_beginning(const char *bytes, size_t length, bool continues) {
  const char *at = bytes, *end = bytes + length;
  while (at < end && (at = memchr(at, '\r', (size_t)(end - at)))) {
    size_t left = (size_t)(end - at);
    if (left >= HP_WARC_BEGINNING ? !memcmp(at, hp_warc_beginning, HP_WARC_BEGINNING)
                                  : continues && left >= MIN_BEGINNING && !memcmp(at, hp_warc_beginning, left))
      return (size_t)(at - bytes) + HP_WARC_EMPTY_LINE;
    at++;
  }
  return length;
}

size_t hp_warc_search_line(uint32_t *matched, const char *bytes, size_t length) {
  size_t i = 0;
  while (i < length && *matched <= HP_WARC_SIGNATURE) {
    if (!*matched) {
      const char *line = memchr(bytes + i, '\n', length - i);
      if (!line) return length;
      i = (size_t)(line - bytes) + 1;
      *matched = 1;
      continue;
    }
    char c = bytes[i++];
    *matched = c == hp_warc_signature[*matched - 1] ? *matched + 1 : c == '\n';
  }
  return i;
}

size_t hp_warc_search_beginning(uint32_t *matched, const char *bytes, size_t length) {
  size_t i = 0;
  while (i < length && *matched < HP_WARC_BEGINNING) {
    if (!*matched) {
      const char *line = memchr(bytes + i, '\r', length - i);
      if (!line) return length;
      i = (size_t)(line - bytes);
    }
    char c = bytes[i++];
    if (c == hp_warc_beginning[*matched])
      ++*matched;
    else if (c == '\r') /* "\r\n\r" ends with "\r", and "\r\n\r\n\r" with "\r\n\r" */
      *matched = *matched == HP_WARC_EMPTY_LINE ? 3 : 1;
    else
      *matched = 0;
  }
  return i;
}
