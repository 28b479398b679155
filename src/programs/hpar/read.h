#ifndef HP_PROGRAMS_HPAR_READ_H
#define HP_PROGRAMS_HPAR_READ_H

/* Reads files into memory. The program does not map files, because a mapped file can shrink
 * during a parse. */

#include <hpar/node.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `path` to its end, standard input for "-". `*bytes` is never NULL after HPAR_OK; the
 * caller frees it with free. `limit`, unless it is 0, is a number of bytes: of a longer file the
 * function reads this number and one more, so that the parser sees that input follows. Pipes and
 * devices are read like files. If another process changes the file meanwhile, the result is what
 * the reads returned. Returns HPAR_ERROR_IO with errno (EISDIR for a folder), HPAR_ERROR_MEMORY,
 * or HPAR_ERROR_TOO_LARGE for more than HPAR_MAX_INPUT bytes. */
hpar_status hp_read_file(const char *path, uint64_t limit, char **bytes, size_t *length);

/* Reads `path`, standard input for "-", and passes each piece to `take` when it arrives, until
 * `take` returns a status other than HPAR_OK. Returns that status, HPAR_ERROR_IO with errno (EISDIR
 * for a folder), or HPAR_ERROR_MEMORY. */
hpar_status hp_read_pieces(const char *path, hpar_status (*take)(const char *bytes, size_t n, void *context),
                           void *context);

#endif
