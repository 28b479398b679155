#ifndef HP_PROGRAMS_HPAR_LINES_H
#define HP_PROGRAMS_HPAR_LINES_H

/* Lines and columns in a page of any encoding. */

#include "text/encoding/encoding.h"
#include "text/position.h"

#include <stdbool.h>

typedef struct hp_page_lines {
  hp_line_finder utf8;
  hp_decoder *decoder; /* NULL: the bytes are UTF-8, and the next members unused */
  const char *at;
  hp_position position;
  bool after_cr; /* the line has ended, unless an LF comes */
} hp_page_lines;

/* Requires: `bytes` stays until hp_page_lines_close. Returns the status of hp_decoder_create. */
hpar_status hp_page_lines_open(hp_page_lines *lines, const hp_encoding *encoding, const char *bytes, size_t length);
void hp_page_lines_close(hp_page_lines *lines);

/* Returns the position of the character at `offset`. Requires: `offset` is not below that of the
 * last call. */
hp_position hp_page_lines_at(hp_page_lines *lines, uint64_t offset);

#endif
