/* The errors of preprocessing the input stream. The tokenizer does not report them, because few
 * callers request errors. */

#include "html/tokenizer/tokenizer.h"
#include "text/scan/scan.h"

//§ preprocessing-the-input-stream
void hp_find_input_errors(const char *bytes, size_t n, hp_errors *errors) {
  if (!errors) return;
  const char *(*scan)(const char *, const char *) = hp_scan()->control;
  for (const char *p = bytes, *end = bytes + n; (p = scan(p, end)) < end; p++) {
    const unsigned char *next = (const unsigned char *)p;
    unsigned char c = *next;
    size_t left = (size_t)(end - p), i = (size_t)(p - bytes);
    if (c < 0x80) {
      hp_errors_add(errors, HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM, i);
    } else if (c == 0xC2) {
      if (left > 1 && next[1] < 0xA0) hp_errors_add(errors, HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM, i);
    } else if (c == 0xEF) {
      if (left > 2 && ((next[1] == 0xB7 && next[2] >= 0x90 && next[2] <= 0xAF) || (next[1] == 0xBF && next[2] >= 0xBE)))
        hp_errors_add(errors, HP_ERROR_NONCHARACTER_IN_INPUT_STREAM, i);
    } else if (c >= 0xF0) {
      if (left > 3 && (next[1] & 0x0F) == 0x0F && next[2] == 0xBF && next[3] >= 0xBE)
        hp_errors_add(errors, HP_ERROR_NONCHARACTER_IN_INPUT_STREAM, i);
    }
  }
}
