#ifndef HP_PROGRAMS_WARC_CODING_H
#define HP_PROGRAMS_WARC_CODING_H

/* The content codings of HTTP: one call decodes a whole body. */

#include "programs/warc/octets.h"

typedef enum hp_coding_result {
  HP_CODING_FINE = 0,
  HP_CODING_DAMAGED, /* `out` has the bytes before the damage */
  HP_CODING_TOO_LARGE,
  HP_CODING_UNSUPPORTED, /* the build lacks the library, or the coding has no name here */
  HP_CODING_MEMORY
} hp_coding_result;

/* Decodes `in` by the coding with this name: gzip, x-gzip, deflate, br, identity. Appends at most
 * `limit` bytes to the empty `out`. */
hp_coding_result hp_coding_decode(const char *name, size_t name_length, const char *in, size_t length, size_t limit,
                                  hp_octets *out);

#endif
