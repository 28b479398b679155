#ifndef HP_PROGRAMS_WARC_WARC_H
#define HP_PROGRAMS_WARC_WARC_H

/* Reads web archives: WARC 0.17 to 1.1, plain, by gzip member or by Zstandard frame. The reader
 * takes the bytes of a file in pieces of any size, and reports each record once. The reports do not
 * depend on the division into pieces.
 *
 * A damaged record is a report with a problem. The reader then continues with the next record that
 * it finds, so damage is never fatal. If a length is too large and another record begins in the
 * block, the reader goes back to it. A reader keeps one block, up to its limit, 64 KB of a head and
 * 2 MB of input. */

#include "programs/warc/unpack.h"

#include <hpar/node.h>

typedef enum hp_warc_problem {
  HP_WARC_FINE = 0,
  HP_WARC_TRUNCATED, /* the file, or the member, ends before the record */
  HP_WARC_LENGTH,    /* other bytes than a record follow: Content-Length is wrong */
  HP_WARC_TOO_LARGE, /* the block is above the limit */
  HP_WARC_HEAD,      /* the head has no valid Content-Length, two types, or more than 64 KB */
  HP_WARC_GARBAGE,   /* these bytes are no record */
  HP_WARC_PACKED,    /* the compressed bytes are damaged */
  HP_WARC_PROBLEMS
} hp_warc_problem;

/* Returns a stable lower-case name. */
const char *hp_warc_problem_name(hp_warc_problem problem);

/* A record, valid during the callback. With a problem, `block` may be incomplete or empty, and for
 * HP_WARC_HEAD, HP_WARC_GARBAGE and HP_WARC_PACKED the texts may be empty. */
typedef struct hp_warc_record {
  hp_warc_problem problem;
  uint64_t index;  /* of the report: 0, 1, ... */
  uint64_t offset; /* in the file: of the member for compressed files */
  uint64_t inner;  /* in the contents of that member; 0 for other files */
  uint64_t content_length;
  hpar_string head; /* with the version line */
  hpar_string block;
  hpar_string type, uri, date, content_type, truncated; /* fields of the head */
} hp_warc_record;

/* Returns false to end the reading. */
typedef bool (*hp_warc_callback)(void *context, const hp_warc_record *record);

typedef struct hp_warc_options {
  uint64_t max_block; /* bytes; 0: 1 GB */
  /* A part of a file: records that begin in [first, last); see hp_unpack_create. `last` 0: to the
   * end of the file. */
  hp_unpack_format format;
  uint64_t first, last;
  uint64_t size; /* of the whole file; 0: unknown */
} hp_warc_options;

typedef struct hp_warc_reader hp_warc_reader;

hpar_status hp_warc_create(hp_warc_reader **reader, const hp_warc_options *options, hp_warc_callback callback,
                           void *context);
void hp_warc_destroy(hp_warc_reader *reader);

/* Take the bytes of the file, and its end. HPAR_ERROR_MEMORY; HPAR_ERROR_UNSUPPORTED: see
 * hp_warc_missing; HPAR_ERROR_CALLBACK: the callback returned false, or the part of the file has
 * ended. */
hpar_status hp_warc_feed(hp_warc_reader *reader, const char *bytes, size_t length);
hpar_status hp_warc_finish(hp_warc_reader *reader);
const char *hp_warc_missing(const hp_warc_reader *reader);

/* Returns the value of the first field of a head with this name, without white space around it.
 * `bytes` is NULL if there is no such field. A folded value is returned with its line breaks. A
 * value with NUL, or with CR outside a line break, does not count. */
hpar_string hp_warc_field(hpar_string head, const char *name);

#endif
