#include "base/call_error.h"

#include <stdarg.h>
#include <stdio.h>

hpar_status hp_explain(hp_call_error *text, hpar_status status, const char *format, ...) {
  if (!text) return status;
  va_list values;
  va_start(values, format);
  vsnprintf(text->bytes, sizeof text->bytes, format, values);
  va_end(values);
  return status;
}

hpar_status hp_explain_status(hp_call_error *text, hpar_status status) {
  if (status == HPAR_OK)
    text->bytes[0] = 0;
  else if (!text->bytes[0])
    snprintf(text->bytes, sizeof text->bytes, "%s", hpar_status_text(status));
  return status;
}
