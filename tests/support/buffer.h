#ifndef TESTS_SUPPORT_BUFFER_H
#define TESTS_SUPPORT_BUFFER_H

/* A growing string of bytes for the tests. Running out of memory ends the program. All zero is an empty one. */

#include <stddef.h>

typedef struct buffer {
  char *bytes; /* followed by a NUL once something was added */
  size_t length, capacity;
} buffer;

void buffer_add(buffer *to, const char *bytes, size_t length);
void buffer_text(buffer *to, const char *text);
void buffer_byte(buffer *to, char byte);
void buffer_format(buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3), nonnull));
void buffer_escaped(buffer *to, const char *bytes, size_t length); /* as inside a C string literal */
void buffer_clear(buffer *of);
void buffer_free(buffer *of);

#endif
