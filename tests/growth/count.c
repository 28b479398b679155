#include "growth/count.h"

#include <malloc.h>
#include <stddef.h>
#include <string.h>

uint64_t count_work;

/* The compiler calls it in each basic block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { count_work++; }

enum { BYTES_OF_A_BLOCK = 16 };

static void count_bytes(size_t bytes) { count_work += 1 + bytes / BYTES_OF_A_BLOCK; }

/* The linker puts __wrap_NAME in the place of NAME, which __real_NAME then calls. */
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
void *__real_memchr(const void *in, int byte, size_t bytes);
void *__wrap_memchr(const void *in, int byte, size_t bytes);
void *__real_memrchr(const void *in, int byte, size_t bytes);
void *__wrap_memrchr(const void *in, int byte, size_t bytes);
void *__real_memmem(const void *in, size_t length, const void *what, size_t bytes);
void *__wrap_memmem(const void *in, size_t length, const void *what, size_t bytes);
size_t __real_strlen(const char *of);
size_t __wrap_strlen(const char *of);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
  count_bytes(bytes);
  return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes) {
  if (to != from) count_bytes(bytes);
  return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes) {
  count_bytes(bytes);
  return __real_memset(to, byte, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *left = a, *right = b;
  size_t same = 0;
  while (same < bytes && left[same] == right[same]) same++;
  count_bytes(same);
  return same < bytes ? left[same] - right[same] : 0;
}

void *__wrap_memchr(const void *in, int byte, size_t bytes) {
  const char *found = __real_memchr(in, byte, bytes);
  count_bytes(found ? (size_t)(found - (const char *)in) : bytes);
  return (void *)(uintptr_t)found;
}

void *__wrap_memrchr(const void *in, int byte, size_t bytes) {
  const char *found = __real_memrchr(in, byte, bytes);
  count_bytes(found ? bytes - (size_t)(found - (const char *)in) : bytes);
  return (void *)(uintptr_t)found;
}

void *__wrap_memmem(const void *in, size_t length, const void *what, size_t bytes) {
  const char *found = __real_memmem(in, length, what, bytes);
  count_bytes(found ? (size_t)(found - (const char *)in) : length);
  return (void *)(uintptr_t)found;
}

size_t __wrap_strlen(const char *of) {
  size_t length = __real_strlen(of);
  count_bytes(length);
  return length;
}

/* A block that moves is copied. */
void *__wrap_realloc(void *old, size_t bytes) {
  size_t copied = old ? malloc_usable_size(old) : 0;
  uintptr_t place = (uintptr_t)old;
  void *new = __real_realloc(old, bytes);
  if (place != (uintptr_t) new) count_bytes(copied < bytes ? copied : bytes);
  return new;
}

void *__wrap_calloc(size_t count, size_t bytes) {
  count_bytes(count * bytes);
  return __real_calloc(count, bytes);
}
