#include "base/error.h"

#include "base/memory.h"

#include <string.h>

const char *hp_error_text(hp_error_code code) {
  static const char *const texts[] = {
#define X(name, text) text,
      HP_ERRORS(X)
#undef X
  };
  return (size_t)code < sizeof texts / sizeof *texts ? texts[code] : "";
}

void hp_errors_add(hp_errors *errors, hp_error_code code, size_t offset) {
  errors->seen++;
  if ((errors->count >= errors->limit && offset >= errors->greatest) || errors->count == UINT32_MAX) return;
  hp_grow(&errors->items, &errors->capacity, (size_t)errors->count + 1, errors->unwind);
  errors->items[errors->count++] = (hp_error){(uint32_t)offset, (uint32_t)code};
  if (errors->greatest < offset) errors->greatest = (uint32_t)offset;
}

/* Merges neighbouring sorted runs until one run remains. A list of few runs takes few passes. */
static void sort(hp_errors *errors) {
  size_t count = errors->count, sorted = 1;
  while (sorted < count && errors->items[sorted - 1].offset <= errors->items[sorted].offset) sorted++;
  if (sorted >= count) return;
  hp_error *from = errors->items, *spare = hp_allocate(count * sizeof *spare), *to = spare;
  if (!spare) hp_unwind_now(errors->unwind, HPAR_ERROR_MEMORY);
  for (size_t runs = 2; runs > 1;) {
    runs = 0;
    for (size_t start = 0; start < count; runs++) {
      size_t middle = start + 1, end;
      while (middle < count && from[middle - 1].offset <= from[middle].offset) middle++;
      for (end = middle; end < count && (end == middle || from[end - 1].offset <= from[end].offset);) end++;
      for (size_t left = start, right = middle; start < end; start++) {
        if (left < middle && (right == end || from[left].offset <= from[right].offset))
          to[start] = from[left++];
        else
          to[start] = from[right++];
      }
    }
    hp_error *swap = from;
    from = to;
    to = swap;
  }
  if (from != errors->items) memcpy(errors->items, from, count * sizeof *from);
  hp_free(spare);
}

void hp_errors_finish(hp_errors *errors) {
  sort(errors);
  if (errors->count > errors->limit) errors->count = (uint32_t)errors->limit;
}
