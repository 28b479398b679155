#include "support/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(buffer *to, size_t more) {
  if (to->capacity - to->length > more) return;
  size_t capacity = to->capacity ? to->capacity : 256;
  while (capacity - to->length <= more) capacity *= 2;
  char *bytes = realloc(to->bytes, capacity);
  if (!bytes) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  to->bytes = bytes;
  to->capacity = capacity;
}

void buffer_add(buffer *to, const char *bytes, size_t length) {
  reserve(to, length);
  if (length) memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  to->bytes[to->length] = 0;
}

void buffer_text(buffer *to, const char *text) { buffer_add(to, text, strlen(text)); }

void buffer_byte(buffer *to, char byte) { buffer_add(to, &byte, 1); }

void buffer_format(buffer *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (length < 0) return;
  reserve(to, (size_t)length);
  va_start(list, format);
  vsnprintf(to->bytes + to->length, (size_t)length + 1, format, list);
  va_end(list);
  to->length += (size_t)length;
}

void buffer_escaped(buffer *to, const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == '\n')
      buffer_text(to, "\\n");
    else if (c == '\r')
      buffer_text(to, "\\r");
    else if (c == '\t')
      buffer_text(to, "\\t");
    else if (c == '"' || c == '\\')
      buffer_format(to, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f)
      buffer_format(to, "\\%03o", c);
    else
      buffer_byte(to, (char)c);
  }
}

void buffer_clear(buffer *of) { of->length = 0; }

void buffer_free(buffer *of) {
  free(of->bytes);
  *of = (buffer){0};
}
