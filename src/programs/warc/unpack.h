#ifndef HP_PROGRAMS_WARC_UNPACK_H
#define HP_PROGRAMS_WARC_UNPACK_H

/* Undoes the compression of an archive that arrives in pieces. The results do not depend on the
 * division into pieces: the decoders read pieces at fixed distances from the first byte of a
 * member.
 *
 * After a damaged member the unpacker searches the next member with contents that begin with
 * "WARC/". */

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hp_unpack_end {
  HP_UNPACK_WHOLE,
  HP_UNPACK_DAMAGED,   /* the compressed bytes are not valid */
  HP_UNPACK_TRUNCATED, /* the file ends within the member */
  HP_UNPACK_GARBAGE    /* these bytes are no member; there was no call of `begin` */
} hp_unpack_end;

/* The functions that take the contents. Each returns false to end the unpacking. A file without
 * compression is one member. */
typedef struct hp_unpack_sink {
  void *context;
  bool (*begin)(void *context, uint64_t offset); /* the offset of the member in the file */
  bool (*contents)(void *context, const char *bytes, size_t length);
  bool (*end)(void *context, hp_unpack_end end, uint64_t offset); /* the offset of the member */
} hp_unpack_sink;

typedef struct hp_unpack hp_unpack;

/* The compression of a file. */
typedef enum hp_unpack_format { HP_UNPACK_DETECT, HP_UNPACK_PLAIN, HP_UNPACK_GZIP, HP_UNPACK_ZSTD } hp_unpack_format;

enum { HP_UNPACK_DETECT_BYTES = 4 };
/* Returns the format of a file that begins with these bytes. */
hp_unpack_format hp_unpack_detect(const char *bytes, size_t length);

/* Returns a sentence that names the library that this build lacks for the format, or NULL. */
const char *hp_unpack_lacks(hp_unpack_format format);

/* Creates an unpacker in `*unpack` for a file, or for the part of a file from `first` on. A part
 * needs the format HP_UNPACK_PLAIN or HP_UNPACK_GZIP. Its first fed byte is the one before `first`,
 * and the unpacker searches its first gzip member. HPAR_ERROR_MEMORY. */
hpar_status hp_unpack_create(hp_unpack **unpack, const hp_unpack_sink *sink, hp_unpack_format format, uint64_t first);
void hp_unpack_destroy(hp_unpack *unpack);

/* Takes bytes of the file. HPAR_ERROR_MEMORY; HPAR_ERROR_UNSUPPORTED: the build lacks the library
 * for the file, which hp_unpack_missing names; HPAR_ERROR_CALLBACK: a function returned false. */
hpar_status hp_unpack_feed(hp_unpack *unpack, const char *bytes, size_t length);
/* Ends the file. Returns the same. */
hpar_status hp_unpack_finish(hp_unpack *unpack);

/* Returns a sentence that names the missing library, or "". */
const char *hp_unpack_missing(const hp_unpack *unpack);
/* Returns whether the file is compressed. Requires: a function of the sink runs, or has run. */
bool hp_unpack_is_packed(const hp_unpack *unpack);

#endif
