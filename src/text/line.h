#ifndef HP_TEXT_LINE_H
#define HP_TEXT_LINE_H

/* From byte offsets to lines and columns, in one pass over the bytes for any number of ascending offsets. */

#include <stddef.h>
#include <stdint.h>

/* Both from 1. CR, LF and CR LF each end a line, of which they are the last characters. Columns are counted in code
 * points; an invalid UTF-8 sequence is as many as there are U+FFFD in its place, and a BOM is none. */
typedef struct hp_position {
  uint64_t line, column;
} hp_position;

/* `at` begins the character that was asked for last, which stands at `position`. `lf` and `cr` are the first of
 * their kind from `at` on, or `end`. */
typedef struct hp_line_finder {
  const char *bytes, *at, *end, *lf, *cr;
  hp_position position;
} hp_line_finder;

/* `bytes` are the caller's, as they were before decoding, and must stay. */
void hp_line_open(hp_line_finder *finder, const char *bytes, size_t length);

/* The position of the character that has the byte at `offset`; the end of the input from its length on. An offset
 * below the one asked for last is found too, from the beginning. */
hp_position hp_line_at(hp_line_finder *finder, uint64_t offset);

#endif
