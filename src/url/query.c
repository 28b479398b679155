/* Queries in the encoding of the document. */

#include "text/encoding/encoder.h"
#include "url/url.h"

#include <stdio.h>

/* Reads a character beyond ASCII of valid UTF-8. */
static uint32_t read_character(const char **at) {
  const unsigned char *c = (const unsigned char *)*at;
  unsigned length = c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  uint32_t character = c[0] & (0x7Fu >> length);
  for (unsigned i = 1; i < length; i++) character = character << 6 | (c[i] & 0x3Fu);
  *at += length;
  return character;
}

/* Returns the bytes of a character, or 0. Unlike hp_encode_character, it also takes the similar
 * character of the Encoding Standard's Japanese encoders. */
static size_t encode(const hp_encoder *encoder, uint32_t character, unsigned char code[HP_MAX_CODE]) {
  bool japanese = encoder->encoding->kind == HP_ENCODING_SHIFT_JIS || encoder->encoding->kind == HP_ENCODING_EUC_JP;
  if (japanese && (character == 0xA5 || character == 0x203E)) {
    *code = character == 0xA5 ? 0x5C : 0x7E;
    return 1;
  }
  return hp_encode_character(encoder, japanese && character == 0x2212 ? 0xFF0D : character, code);
}

//§ string-percent-encode-after-encoding
void hp_url_add_query(hp_url *url, const char *bytes, size_t length, uint8_t set) {
  const char *at = bytes, *end = bytes + length;
  hp_encoder encoder;
  while (at < end && !((unsigned char)*at & 0x80)) at++;
  if (at == end || !url->queries || hp_encoder_open(&encoder, url->queries) != HPAR_OK) {
    hp_url_add_encoded(url, bytes, length, set);
    return;
  }
  hp_url_add_encoded(url, bytes, (size_t)(at - bytes), set);
  while (at < end) {
    const char *run = at;
    while (at < end && !((unsigned char)*at & 0x80)) at++;
    hp_url_add_encoded(url, run, (size_t)(at - run), set);
    if (at == end) break;
    uint32_t character = read_character(&at);
    unsigned char code[HP_MAX_CODE];
    char reference[24];
    size_t n = encode(&encoder, character, code);
    if (n)
      hp_url_add_encoded(url, (const char *)code, n, set);
    else
      hp_url_add(url, reference, (size_t)snprintf(reference, sizeof reference, "%%26%%23%u%%3B", (unsigned)character));
  }
}
