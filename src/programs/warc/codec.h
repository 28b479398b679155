#ifndef HP_PROGRAMS_WARC_CODEC_H
#define HP_PROGRAMS_WARC_CODEC_H

/* The compressions of archives: gzip by zlib, and by libdeflate where a whole member is in memory;
 * Zstandard by libzstd. A member is a gzip member or a Zstandard frame. */

#include "programs/warc/octets.h"

#include <stdint.h>

typedef enum hp_decoded {
  HP_DECODED_MORE,    /* all input is used, or the output is full */
  HP_DECODED_END,     /* the member ends after the used input */
  HP_DECODED_DAMAGED, /* the input is not valid, or a checksum differs */
  HP_DECODED_MEMORY
} hp_decoded;

typedef struct hp_codec hp_codec;

/* The functions of one compression. */
typedef struct hp_codec_kind {
  size_t start_bytes; /* that is_start reads */
  size_t trial_bytes; /* in which a member has its first output */
  char first;         /* the first byte of a member */
  bool (*is_start)(const char *bytes);
  hp_codec *(*create)(void); /* NULL: no memory */
  void (*destroy)(hp_codec *codec);
  bool (*reset)(hp_codec *codec); /* before the first byte of a member; false: no memory */
  /* Decodes input from *in up to `in_end` to *out up to `out_end`, and moves both. */
  hp_decoded (*decode)(hp_codec *codec, const char **in, const char *in_end, char **out, char *out_end);
  /* Decodes the member at `in` if all of it is there. Returns its length, or 0 if the caller has to
   * call decode. NULL: there is no such function. */
  size_t (*whole)(hp_codec *codec, const char *in, size_t length, hp_octets *out);
  /* Takes the dictionary of an archive. NULL: there is none. */
  hp_decoded (*take_dictionary)(hp_codec *codec, const char *bytes, size_t length);
} hp_codec_kind;

/* NULL: the build lacks the library. */
extern const hp_codec_kind *const hp_codec_gzip, *const hp_codec_zstd;

#endif
