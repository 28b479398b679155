#ifndef HP_TEXT_READ_H
#define HP_TEXT_READ_H

/* Whole files, into memory of our own: a mapped file could shrink under the parser. */

#include <hpar/status.h>
#include <stddef.h>

/* Reads `path`, "-" being standard input, to its end. `*bytes`, never NULL, is to be freed with hp_free. Pipes and
 * devices are read like files, and a file that grows or shrinks meanwhile gives what was read of it.
 * HPAR_ERROR_IO with errno, EISDIR for a directory; HPAR_ERROR_TOO_LARGE beyond HPAR_MAX_INPUT bytes. */
hpar_status hp_read_file(const char *path, char **bytes, size_t *length);

/* Standard input in pieces, each as soon as it comes. What `take` answers ends it, unless that is HPAR_OK.
 * HPAR_ERROR_IO with errno; HPAR_ERROR_MEMORY. */
hpar_status hp_read_pieces(hpar_status (*take)(const char *bytes, size_t n, void *context), void *context);

#endif
