#ifndef HPAR_ENCODING_H
#define HPAR_ENCODING_H

/* Encodings by the labels of the Encoding Standard, in any case of letters and with surrounding
 * white space. See parse.h for how a parse finds its encoding. Any number of threads may call these
 * functions at once. */

#include <hpar/node.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the encoding's name in the Encoding Standard, as in "windows-1252" for "latin1". NULL:
 * the label is NULL or names no encoding. The text has static storage. */
HPAR_API const char *hpar_encoding_name(const char *label);

/* Decodes `length` bytes to UTF-8, and writes the text in pieces. `bytes` may be NULL if `length`
 * is 0. A byte order mark of this encoding is left out. Invalid sequences become U+FFFD.
 * HPAR_ERROR_ARGUMENT: an argument is NULL, or the label names no encoding. */
HPAR_API hpar_status hpar_decode(const char *label, const char *bytes, size_t length, hpar_write_callback write,
                                 void *context);

#ifdef __cplusplus
}
#endif
#endif
