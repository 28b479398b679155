#include "base/call.h"

#include "base/bytes.h"

#include <hpar/node.h>
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

const char *hpar_status_text(hpar_status status) {
  switch (status) {
    case HPAR_OK: return "no error";
    case HPAR_ERROR_MEMORY: return "out of memory";
    case HPAR_ERROR_ARGUMENT: return "an argument is outside its range";
    case HPAR_ERROR_IO: return "reading or writing failed";
    case HPAR_ERROR_TOO_LARGE: return "the input is longer than 4 GB";
    case HPAR_ERROR_UNSUPPORTED: return "this build was made without that part";
    case HPAR_ERROR_CALLBACK: return "a callback failed";
    case HPAR_STOP: return "a callback ended the call";
    case HPAR_RETIRE: return "a callback retired a rule";
    case HPAR_SUSPEND: return "a callback waits for its answer";
    case HPAR_LIMIT_DEPTH: return "the limit of open elements was reached";
    case HPAR_LIMIT_NODES: return "the limit of nodes was reached";
    case HPAR_LIMIT_MEMORY: return "the limit of memory was reached";
    case HPAR_LIMIT_ATTRIBUTES: return "the limit of attributes of an element was reached";
    case HPAR_LIMIT_TIME: return "the limit of time was reached";
    case HPAR_LIMIT_INPUT: return "the limit of input was reached";
  }
  return "unknown status";
}

const char *hpar_version(void) { return HPAR_VERSION; }

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
