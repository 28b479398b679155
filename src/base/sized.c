#include "base/sized.h"

#include <string.h>

/* A larger size means memory that the caller has not initialised. */
enum { MAX_SIZE = 64 << 10 };

static size_t size_of(const void *given) {
  size_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

static void read_fields(void *full, size_t size, const void *given, size_t has) {
  memcpy(full, given, has < size ? has : size);
  if (has < size) memset((char *)full + has, 0, size - has);
}

static void write_fields(void *given, size_t has, const void *full, size_t size) {
  size_t common = has < size ? has : size;
  memcpy((char *)given + sizeof has, (const char *)full + sizeof has, common - sizeof has);
  if (has > size) memset((char *)given + size, 0, has - size);
}

/* Refuses a value in the fields of a newer caller. */
static hpar_status check_unknown(size_t size, const void *given, size_t has, const char *type, hpar_error *error) {
  for (size_t i = size; i < has; i++)
    if (((const char *)given)[i])
      return hp_explain(error, HPAR_ERROR_ARGUMENT,
                        "%s has a value at byte %zu, in a field that this library does not have; accepted: zero", type,
                        i);
  return HPAR_OK;
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
  read_fields(full, size, given, size_of(given));
  return check_unknown(size, given, size_of(given), type, error);
}

hpar_status hp_read_options(void *full, size_t size, const void *given, const char *type, const char *initialiser,
                            hpar_error *const *error) {
  hpar_status status = given ? hp_check_size(given, type, initialiser, NULL) : HPAR_OK;
  if (!given || status != HPAR_OK) return status;
  read_fields(full, size, given, size_of(given));
  hp_explain(*error, HPAR_OK, "%s", "");
  return check_unknown(size, given, size_of(given), type, *error);
}

void hp_write_sized(void *given, const void *full, size_t size) { write_fields(given, size_of(given), full, size); }

/*** arrays ***/

hpar_status hp_check_sized_array(const void *first, size_t count, size_t size, const char *type,
                                 const char *initialiser, hpar_error *error) {
  hpar_status status = count ? hp_check_size(first, type, initialiser, error) : HPAR_OK;
  if (count && status == HPAR_OK && size_of(first) % sizeof(size_t))
    status = hp_explain(error, HPAR_ERROR_ARGUMENT, "%s.size is %zu; accepted: sizeof(%s), as %s sets it", type,
                        size_of(first), type, initialiser);
  size_t i = 0;
  for (; i < count && status == HPAR_OK; i++)
    status = check_unknown(size, (const char *)first + i * size_of(first), size_of(first), type, error);
  if (status != HPAR_OK && error) error->item = i ? i - 1 : 0;
  return status;
}

hp_sized_array hp_sized_array_of(void *first, size_t count) {
  return (hp_sized_array){first, count ? size_of(first) : 0};
}

void hp_read_sized_at(void *full, size_t size, hp_sized_array array, size_t index) {
  read_fields(full, size, hp_sized_at(array, index), array.distance);
  memcpy(full, &array.distance, sizeof array.distance);
}
