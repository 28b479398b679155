#ifndef HP_BASE_SIZED_H
#define HP_BASE_SIZED_H

/* Structures of the caller that begin with their size. The caller may be older or newer than the
 * library. A new field goes to the end, and not into the padding there: an older structure would
 * have the same size. */

#include "base/call_error.h"
#include "base/target.h"

#include <stddef.h>

/* Copies the caller's structure of type `type` into `full` of `size` bytes. Fields that an older
 * caller lacks become zero. Returns HPAR_ERROR_ARGUMENT if the size is invalid, or if a newer
 * caller sets an unknown field. */
HP_SHARED hpar_status hp_read_sized(void *full, size_t size, const void *given, const char *type,
                                    const char *initialiser, hpar_error *error);

/* Checks the size of a structure that the library will fill. */
HP_SHARED hpar_status hp_check_size(const void *given, const char *type, const char *initialiser, hpar_error *error);

/* Copies the fields of `full`, of `size` bytes, that the caller's structure has, except its size.
 * Sets the additional fields of a newer caller to zero. Requires: hp_check_size. */
HP_SHARED void hp_write_sized(void *given, const void *full, size_t size);

/* Arrays of such structures. The size of the first element is the distance of all elements; the
 * sizes of the others are not read. Requires for all but hp_check_sized_array: that call. */

/* Checks `count` elements as hp_read_sized does, and names the first wrong one. */
hpar_status hp_check_sized_array(const void *first, size_t count, size_t size, const char *type,
                                 const char *initialiser, hpar_error *error);

/* Returns the caller's element. */
void *hp_sized_at(void *first, size_t index);

/* Copies the caller's element into `full`, and the fields that the caller's element has back. */
void hp_read_sized_at(void *full, size_t size, const void *first, size_t index);
void hp_write_sized_at(void *first, size_t index, const void *full, size_t size);

#endif
