#include "base/call_error.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Replaces each byte that is no part of a well-formed sequence. */
static void keep_well_formed(char *text) {
  const char *end = text + strlen(text);
  while (text < end) {
    int length = hp_utf8_sequence(text, end);
    if (length < 0) memset(text, '?', (size_t)-length);
    text += length < 0 ? -length : length;
  }
}

static hpar_status set(hpar_error *error, hpar_status status, uint64_t offset, const char *format, va_list values) {
  if (!error) return status;
  error->status = status;
  error->offset = offset;
  error->item = SIZE_MAX;
  vsnprintf(error->text, sizeof error->text, format, values);
  keep_well_formed(error->text);
  return status;
}

hpar_status hp_set_error(hpar_error *error, hpar_status status, uint64_t offset, const char *format, ...) {
  va_list values;
  va_start(values, format);
  set(error, status, offset, format, values);
  va_end(values);
  return status;
}

hpar_status hp_explain(hpar_error *error, hpar_status status, const char *format, ...) {
  va_list values;
  va_start(values, format);
  set(error, status, 0, format, values);
  va_end(values);
  return status;
}

hpar_status hp_explain_status(hpar_error *error, hpar_status status) {
  if (!error) return status;
  if (status == HPAR_OK || !error->text[0] || error->status != status)
    return hp_set_error(error, status, 0, "%s", status ? hpar_status_text(status) : "");
  error->status = status;
  return status;
}
