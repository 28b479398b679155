#include "programs/hpar/lines.h"

hpar_status hp_page_lines_open(hp_page_lines *lines, const hp_encoding *encoding, const char *bytes, size_t length) {
  *lines = (hp_page_lines){.at = bytes, .position = {1, 1}};
  hp_line_open(&lines->utf8, bytes, length);
  return encoding->kind == HP_ENCODING_UTF8 ? HPAR_OK : hp_decoder_create(&lines->decoder, encoding);
}

void hp_page_lines_close(hp_page_lines *lines) { hp_decoder_destroy(lines->decoder); }

static void end_line(hp_page_lines *lines) {
  lines->position = (hp_position){lines->position.line + 1, 1};
  lines->after_cr = false;
}

static hpar_status count(const char *text, size_t length, void *context) {
  hp_page_lines *lines = context;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if ((c & 0xC0) == 0x80) continue;
    bool second = lines->after_cr && c == '\n';
    if (lines->after_cr && !second) end_line(lines);
    lines->position.column++;
    if (c == '\n') end_line(lines);
    if (c == '\r') lines->after_cr = true;
  }
  return HPAR_OK;
}

hp_position hp_page_lines_at(hp_page_lines *lines, uint64_t offset) {
  if (!lines->decoder) return hp_line_at(&lines->utf8, offset);
  const char *end = lines->utf8.end, *bytes = lines->utf8.bytes;
  const char *to = offset < (size_t)(end - bytes) ? bytes + offset : end;
  if (to > lines->at) {
    hp_decoder_run(lines->decoder, lines->at, (size_t)(to - lines->at), false, count, lines);
    lines->at = to;
  }
  hp_position position = lines->position;
  if (!lines->after_cr) return position;
  bool big = end - to > 1 && !*to; /* UTF-16BE */
  bool lf = to < end && to[big] == '\n';
  return lf ? position : (hp_position){position.line + 1, 1};
}
