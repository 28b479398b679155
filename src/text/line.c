/* The kernels find line ends. Only the line of the offset has its characters counted. */

#include "text/line.h"
#include "base/bytes.h"
#include "text/scan/scan.h"

#include <string.h>

void hp_line_open(hp_line_finder *finder, const char *bytes, size_t length) {
  if (!length) bytes = "";
  const char *end = bytes + length, *at = bytes; // NOLINT: "" only where length is 0
  if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) at += 3;
  *finder = (hp_line_finder){bytes, at, end, hp_scan()->byte(at, end, '\n'), hp_scan()->byte(at, end, '\r'), {1, 1}};
}

/* The beginning of the next line, or NULL. */
static const char *next_line(const hp_line_finder *finder) {
  if (finder->lf == finder->end && finder->cr == finder->end) return NULL;
  if (finder->lf < finder->cr) return finder->lf + 1;
  return finder->cr + 1 < finder->end && finder->cr[1] == '\n' ? finder->cr + 2 : finder->cr + 1;
}

/* Goes on to the line of the offset. Returns the byte there. */
static const char *find_line(hp_line_finder *finder, uint64_t offset) {
  size_t length = (size_t)(finder->end - finder->bytes);
  if (offset > length) offset = length;
  const char *target = finder->bytes + offset;
  if (target < finder->at) hp_line_open(finder, finder->bytes, length);
  for (const char *next; (next = next_line(finder)) && next <= target;) {
    finder->position = (hp_position){finder->position.line + 1, 1};
    finder->at = next;
    if (finder->lf < next) finder->lf = hp_scan()->byte(next, finder->end, '\n');
    if (finder->cr < next) finder->cr = hp_scan()->byte(next, finder->end, '\r');
  }
  return target;
}

hp_position hp_line_at(hp_line_finder *finder, uint64_t offset) {
  const char *target = find_line(finder, offset);
  while (finder->at < target) {
    int bytes = hp_utf8_sequence(finder->at, finder->end);
    if (bytes < 0) bytes = -bytes;
    if (target - finder->at < bytes) break;
    finder->at += bytes;
    finder->position.column++;
  }
  return finder->position;
}

hp_position hp_line_of_byte(hp_line_finder *finder, uint64_t offset) {
  const char *target = find_line(finder, offset);
  const char *line = finder->position.line == 1 ? finder->bytes : finder->at;
  return (hp_position){finder->position.line, (uint64_t)(target - line) + 1};
}
