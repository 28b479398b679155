#ifndef TESTS_SUPPORT_BUFFER_H
#define TESTS_SUPPORT_BUFFER_H

/* A growing string of bytes for the tests. A function without memory ends the program. A zeroed
 * buffer is empty. */

#include <stddef.h>

typedef struct buffer {
  char *bytes; /* a NUL follows after the first addition */
  size_t length, capacity;
} buffer;

void buffer_add(buffer *to, const char *bytes, size_t length);
void buffer_text(buffer *to, const char *text);
void buffer_byte(buffer *to, char byte);
void buffer_format(buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3), nonnull));
/* Appends the bytes as in a C string literal. */
void buffer_escaped(buffer *to, const char *bytes, size_t length);
void buffer_clear(buffer *of);
void buffer_free(buffer *of);

#endif
