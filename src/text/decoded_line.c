#include "text/decoded_line.h"

hpar_status hp_decoded_line_open(hp_decoded_line_finder *finder, const hp_encoding *encoding, const char *bytes,
                                 size_t length) {
  *finder = (hp_decoded_line_finder){.bytes = bytes, .at = bytes, .end = bytes + length, .position = {1, 1}};
  return hp_decoder_create(&finder->decoder, encoding);
}

void hp_decoded_line_close(hp_decoded_line_finder *finder) { hp_decoder_destroy(finder->decoder); }

static void end_line(hp_decoded_line_finder *finder) {
  finder->position = (hp_position){finder->position.line + 1, 1};
  finder->after_cr = false;
}

static hpar_status count(const char *text, size_t length, void *context) {
  hp_decoded_line_finder *finder = context;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if ((c & 0xC0) == 0x80) continue;
    bool second = finder->after_cr && c == '\n';
    if (finder->after_cr && !second) end_line(finder);
    finder->position.column++;
    if (c == '\n') end_line(finder);
    if (c == '\r') finder->after_cr = true;
  }
  return HPAR_OK;
}

hp_position hp_decoded_line_at(hp_decoded_line_finder *finder, uint64_t offset) {
  size_t length = (size_t)(finder->end - finder->bytes);
  const char *to = finder->bytes + (offset < length ? offset : length);
  if (to > finder->at) hp_decoder_run(finder->decoder, finder->at, (size_t)(to - finder->at), false, count, finder);
  if (to > finder->at) finder->at = to;
  hp_position position = finder->position;
  if (!finder->after_cr) return position;
  bool big = finder->end - to > 1 && !*to; /* UTF-16BE */
  bool lf = to < finder->end && to[big] == '\n';
  return lf ? position : (hp_position){position.line + 1, 1};
}
