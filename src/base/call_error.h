#ifndef HP_BASE_CALL_ERROR_H
#define HP_BASE_CALL_ERROR_H

/* The error of a call, for callers and for hpar_parser_error. The text is always valid UTF-8,
 * although the names in it may be any bytes, and although the end of the array cuts it off. */

#include "base/target.h"

#include <hpar/node.h>
#include <stddef.h>

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

#endif
