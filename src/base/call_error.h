#ifndef HP_BASE_CALL_ERROR_H
#define HP_BASE_CALL_ERROR_H

/* The reason for a failed call, which hpar_parser_error returns. Empty after a success. */

#include <hpar/node.h>

typedef struct hp_call_error {
  char bytes[512];
} hp_call_error;

/* Writes the text, cut off at the end of the array, unless `text` is NULL. Returns `status`. */
hpar_status hp_explain(hp_call_error *text, hpar_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the status's own sentence unless there is a text already; empties the text of a success.
 * Returns `status`. */
hpar_status hp_explain_status(hp_call_error *text, hpar_status status);

#endif
