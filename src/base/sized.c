#include "base/sized.h"

#include <string.h>

/* A larger size means memory that the caller has not initialised. */
enum { MAX_SIZE = 64 << 10 };

static size_t size_of(const void *given) {
  size_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

hpar_status hp_check_size(const void *given, const char *type, const char *initialiser, hpar_error *error) {
  size_t size = size_of(given);
  if (size >= sizeof size && size <= MAX_SIZE) return HPAR_OK;
  return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s.size is %zu; accepted: sizeof(%s), as %s sets it", type, size, type,
                    initialiser);
}

hpar_status hp_read_sized(void *full, size_t size, const void *given, const char *type, const char *initialiser,
                          hpar_error *error) {
  hpar_status status = hp_check_size(given, type, initialiser, error);
  if (status != HPAR_OK) return status;
  size_t has = size_of(given);
  memcpy(full, given, has < size ? has : size);
  if (has < size) memset((char *)full + has, 0, size - has);
  for (size_t i = size; i < has; i++)
    if (((const char *)given)[i])
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "%s has a value at byte %zu, in a field that this library does not have; accepted: zero", type,
                        i);
  return HPAR_OK;
}

void hp_write_sized(void *given, const void *full, size_t size) {
  size_t has = size_of(given), common = has < size ? has : size;
  memcpy((char *)given + sizeof has, (const char *)full + sizeof has, common - sizeof has);
  if (has > size) memset((char *)given + size, 0, has - size);
}
