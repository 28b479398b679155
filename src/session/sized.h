#ifndef HP_SESSION_SIZED_H
#define HP_SESSION_SIZED_H

/* Structures of the caller that begin with their size. The caller may be older or newer than the library. */

#include "session/call_error.h"

#include <stddef.h>

/* Copies the caller's structure, which is `type`, into `full` of `size` bytes. Fields that an older caller does not
 * have are zero. Returns HPAR_ERROR_ARGUMENT if the size is not valid, or a newer caller sets an unknown field. */
hpar_status hp_read_sized(void *full, size_t size, const void *given, const char *type, const char *initialiser,
                          hp_call_error *error);

/* Checks the size of a structure that the library will fill. */
hpar_status hp_check_size(const void *given, const char *type, const char *initialiser, hp_call_error *error);

/* Copies `full` of `size` bytes into the caller's structure, as far as that goes, but not its size. Sets the fields of
 * a newer caller to zero. Requires: hp_check_size. */
void hp_write_sized(void *given, const void *full, size_t size);

#endif
