#ifndef HP_BASE_SIZED_H
#define HP_BASE_SIZED_H

/* Structures of the caller that begin with their size. The caller may be older or newer than the
 * library. */

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

#endif
