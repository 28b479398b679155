#ifndef HPAR_ENCODING_H
#define HPAR_ENCODING_H

/* Encodings by the labels of the Encoding Standard: case and surrounding white space do not matter. How a parse finds
 * its encoding stands in parse.h. All of this may be called from any number of threads at once. */

#include <hpar/serialize.h>
#include <hpar/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The encoding's name in the Encoding Standard, "windows-1252" for "latin1"; NULL where the label names none. Static
 * storage. */
HPAR_API const char *hpar_encoding_name(const char *label);

/* Decodes `length` bytes (NULL if there are none) to UTF-8, piece by piece into `write`, which may stop it. A byte
 * order mark of this very encoding is left out; what cannot be decoded becomes U+FFFD. HPAR_ERROR_ARGUMENT for a label
 * that is none; HPAR_ERROR_UNSUPPORTED where the system's iconv lacks the encoding. */
HPAR_API hpar_status hpar_decode(const char *label, const char *bytes, size_t length, hpar_write write, void *context);

#ifdef __cplusplus
}
#endif
#endif
