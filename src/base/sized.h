#ifndef HP_BASE_SIZED_H
#define HP_BASE_SIZED_H

/* Structures of the caller that begin with their size. The caller may be older or newer than the
 * library. A new field goes to the end, and leaves no padding before it or behind it: programs do
 * not initialise padding, so that an older library would find a value there, and a newer field in
 * it would leave the size as it is. tests/layouts.py checks the ends. */

#include "base/call_error.h"
#include "base/target.h"

#include <stddef.h>

/* Copies the caller's structure of type `type` into `full` of `size` bytes. Fields that an older
 * caller lacks become zero. Returns HPAR_ERROR_ARGUMENT if the size is invalid, or if a newer
 * caller sets an unknown field. */
HP_SHARED hpar_status hp_read_sized(void *full, size_t size, const void *given, const char *type,
                                    const char *initialiser, hpar_error *error);

/* Reads options that have a field `error`, which is a field of `full`, too. Empties the caller's
 * error, and explains a failure there. `given` may be NULL, for the defaults in `full`. The call
 * ends with hp_explain_status. */
hpar_status hp_read_options(void *full, size_t size, const void *given, const char *type, const char *initialiser,
                            hpar_error *const *error);

/* Checks the size of a structure that the library will fill. */
HP_SHARED hpar_status hp_check_size(const void *given, const char *type, const char *initialiser, hpar_error *error);

/* Copies the fields of `full`, of `size` bytes, that the caller's structure has, except its size.
 * Sets the additional fields of a newer caller to zero. Requires: hp_check_size. */
HP_SHARED void hp_write_sized(void *given, const void *full, size_t size);

/* Arrays of such structures. The size of the first element is the distance of all elements, and the
 * size of each. Those of the others are not read. A call reads it once, at its beginning, because a
 * callback may overwrite an element. */

/* Checks `count` elements as hp_read_sized does. `error->item` becomes the number of the first
 * wrong one. */
hpar_status hp_check_sized_array(const void *first, size_t count, size_t size, const char *type,
                                 const char *initialiser, hpar_error *error);

typedef struct hp_sized_array {
  char *first;
  size_t distance;
} hp_sized_array;

/* Returns the array. Requires: hp_check_sized_array, if `count` is not 0. */
hp_sized_array hp_sized_array_of(void *first, size_t count);

/* Returns the caller's element. */
static inline void *hp_sized_at(hp_sized_array array, size_t index) { return array.first + index * array.distance; }

/* Copies the caller's element into `full`, except its size, which becomes that of the array. */
void hp_read_sized_at(void *full, size_t size, hp_sized_array array, size_t index);

#endif
