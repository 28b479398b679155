#ifndef TESTS_SUPPORT_ARCHIVE_H
#define TESTS_SUPPORT_ARCHIVE_H

/* Generates web archives, record by record: pages of the small corpus and adversarial documents
 * with many kinds of HTTP heads, charsets and codings. The same seed makes the same archive on
 * every machine, and record n does not depend on the records before it. */

#include "support/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum archive_format { ARCHIVE_PLAIN, ARCHIVE_GZIP, ARCHIVE_ZSTD } archive_format;

/* What is wrong with a record. */
typedef enum archive_damage {
  ARCHIVE_VALID,
  ARCHIVE_LENGTH_SMALL,
  ARCHIVE_LENGTH_LARGE, /* by 10 bytes */
  ARCHIVE_LENGTH_HUGE,
  ARCHIVE_LENGTH_MISSING,
  ARCHIVE_LENGTH_TEXT,
  ARCHIVE_VERSION,
  ARCHIVE_NO_SEPARATOR,
  ARCHIVE_GARBAGE_AFTER,
  ARCHIVE_CUT_HEAD,
  ARCHIVE_CUT_BLOCK,
  ARCHIVE_FLIPPED_BIT, /* of the compressed bytes, or of the head */
  ARCHIVE_HUGE_HEAD,
  ARCHIVE_CODING, /* the content is not valid in its coding */
  ARCHIVE_CHUNKS, /* the chunks are not valid */
  ARCHIVE_BOMB,   /* 8 MB that gzip has compressed to 8 KB; needs zlib */
  ARCHIVE_DAMAGES
} archive_damage;

typedef struct archive_options {
  uint64_t seed;
  archive_format format;
  unsigned damaged_percent; /* of the records */
  bool small;               /* adversarial documents only: about 1 KB a record */
} archive_options;

/* Returns whether the build has the library for the format. */
bool archive_can_write(archive_format format);

/* Appends record `number` (0 is a warcinfo) and returns what is wrong with it. */
archive_damage archive_record(const archive_options *options, uint64_t number, buffer *out);
/* Appends record `number` with this damage. */
void archive_damaged_record(const archive_options *options, uint64_t number, archive_damage damage, buffer *out);

/* Appends one member, or the bytes themselves. */
void archive_pack(archive_format format, const char *bytes, size_t length, buffer *out);

#endif
