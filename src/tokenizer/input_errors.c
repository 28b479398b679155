/* The errors of preprocessing the input stream. The tokenizer does not report them, because few
 * callers request errors. */

#include "text/scan/scan.h"
#include "tokenizer/tokenizer.h"

/* Returns the error of the character at `p`, where the scanner has stopped. */
static hp_error_code error_at(const unsigned char *p, size_t left) {
  unsigned char c = *p;
  if (c < 0x80) return HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM;
  if (c == 0xC2 && left > 1 && p[1] < 0xA0) return HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM;
  if (c == 0xEF && left > 2 && ((p[1] == 0xB7 && p[2] >= 0x90 && p[2] <= 0xAF) || (p[1] == 0xBF && p[2] >= 0xBE)))
    return HP_ERROR_NONCHARACTER_IN_INPUT_STREAM;
  if (c >= 0xF0 && left > 3 && (p[1] & 0x0F) == 0x0F && p[2] == 0xBF && p[3] >= 0xBE)
    return HP_ERROR_NONCHARACTER_IN_INPUT_STREAM;
  return HP_ERROR_CODES;
}

//§ preprocessing-the-input-stream
void hp_find_input_errors(const char *bytes, size_t n, hp_errors *errors) {
  if (!errors) return;
  const char *(*scan)(const char *, const char *) = hp_scan()->control;
  uint64_t found = 0;
  for (const char *p = bytes, *end = bytes + n; (p = scan(p, end)) < end; p++) {
    hp_error_code code = error_at((const unsigned char *)p, (size_t)(end - p));
    if (code == HP_ERROR_CODES) continue;
    if (found++ < errors->limit)
      hp_errors_add(errors, code, (size_t)(p - bytes));
    else
      errors->seen++;
  }
}
