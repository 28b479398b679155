#include "text/encoding/decode.h"

#include <hpar/parse.h>
#include <string.h>

const char *hpar_encoding_name(const char *label) {
  const hp_encoding *encoding = label ? hp_encoding_for_label(label, strlen(label)) : NULL;
  return encoding ? encoding->name : NULL;
}

hpar_status hpar_decode(const char *label, const char *bytes, size_t length, hpar_write_callback write, void *context) {
  const hp_encoding *encoding = label ? hp_encoding_for_label(label, strlen(label)) : NULL;
  if (!encoding || !write || (!bytes && length)) return HPAR_ERROR_ARGUMENT;
  hp_decoder *decoder;
  hpar_status status = hp_decoder_create(&decoder, encoding);
  if (status != HPAR_OK) return status;
  status = hp_decoder_run(decoder, bytes, length, true, write, context);
  hp_decoder_destroy(decoder);
  return status;
}
