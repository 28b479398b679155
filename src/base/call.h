#ifndef HP_BASE_CALL_H
#define HP_BASE_CALL_H

/* What every public function shares: its error, sized structures, and objects in use. */

#include "base/target.h"

#include <hpar/node.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The error of a call, for callers and for hpar_parser_error. The text is always valid UTF-8,
 * although the names in it may be any bytes, and although the end of the array cuts it off. */

/* Sets all fields of `error`, unless it is NULL. Returns `status`. */
hpar_status hp_set_error(hpar_error *error, hpar_status status, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same without an offset. */
HP_SHARED hpar_status hp_explain(hpar_error *error, hpar_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends a call: sets the status, and the status's own sentence unless there is a text for it.
 * Empties the text of a success. Returns `status`. `error` may be NULL. Otherwise it has been set
 * since the beginning of the call. */
hpar_status hp_explain_status(hpar_error *error, hpar_status status);

/* Returns the result of a walk whose callback has returned `status` at last. */
static inline hpar_status hp_end_of_walk(hpar_status status) { return status == HPAR_STOP ? HPAR_OK : status; }

/* Structures of the caller that begin with their size. The caller may be older or newer than the
 * library. A new field goes to the end, and leaves no padding before it or behind it: programs do
 * not initialise padding, so that an older library would find a value there, and a newer field in
 * it would leave the size as it is. tests/layouts.py checks the ends. */

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

/* Keeps an object alive while calls use it. A callback of such a call may destroy the object: it is
 * then freed when the last call that uses it returns. Each public function that runs a callback, or
 * calls `write`, uses its objects in this way. */

enum { HP_IN_USE_READING = 1 << 15, HP_IN_USE_DESTROYED = 1 << 30 };

/* The number of calls, HP_IN_USE_READING for each that reads, and HP_IN_USE_DESTROYED. */
typedef struct hp_in_use {
  _Atomic uint32_t calls;
} hp_in_use;

static inline bool hp_is_in_use(const hp_in_use *use) {
  return atomic_load_explicit(&use->calls, memory_order_relaxed) != 0;
}

static inline bool hp_is_destroyed(const hp_in_use *use) {
  return atomic_load_explicit(&use->calls, memory_order_relaxed) & HP_IN_USE_DESTROYED;
}

/* Begins a call that may run beside others. A call that only reads the object counts, too: for it
 * the object is constant, although its memory is not. */
static inline void hp_begin_use(const hp_in_use *use) {
  atomic_fetch_add_explicit(&((hp_in_use *)(uintptr_t)use)->calls, 1, memory_order_relaxed);
}

/* The same for a call in whose callbacks the object must not change. hp_end_reading ends it. */
static inline void hp_begin_reading(const hp_in_use *use) {
  atomic_fetch_add_explicit(&((hp_in_use *)(uintptr_t)use)->calls, HP_IN_USE_READING, memory_order_relaxed);
}

static inline bool hp_is_being_read(const hp_in_use *use) {
  return atomic_load_explicit(&use->calls, memory_order_relaxed) % HP_IN_USE_DESTROYED >= HP_IN_USE_READING;
}

/* Begins a call that changes the object. Returns false if another call uses it. */
static inline bool hp_begin_sole_use(hp_in_use *use) {
  uint32_t none = 0;
  return atomic_compare_exchange_strong_explicit(&use->calls, &none, 1, memory_order_relaxed, memory_order_relaxed);
}

/* Returns true if the object was destroyed in the meantime, and no other call uses it: then the
 * caller frees it. Release and acquire order the reads of all calls before that. */
static inline bool hp_end_counted(const hp_in_use *use, uint32_t calls) {
  hp_in_use *own = (hp_in_use *)(uintptr_t)use;
  return atomic_fetch_sub_explicit(&own->calls, calls, memory_order_acq_rel) == (HP_IN_USE_DESTROYED | calls);
}
static inline bool hp_end_use(const hp_in_use *use) { return hp_end_counted(use, 1); }
static inline bool hp_end_reading(const hp_in_use *use) { return hp_end_counted(use, HP_IN_USE_READING); }

/* Returns true if the caller may free the object now. Otherwise the last call frees it. */
static inline bool hp_destroy_use(hp_in_use *use) {
  return atomic_fetch_or_explicit(&use->calls, HP_IN_USE_DESTROYED, memory_order_acq_rel) == 0;
}

#endif
