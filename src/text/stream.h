#ifndef HP_TEXT_STREAM_H
#define HP_TEXT_STREAM_H

/* Sniffs and decodes bytes that come piece by piece and are gone after each call. The text is
 * valid UTF-8 without a BOM in a buffer that does not move. Offsets are those of
 * hp_input_decode. */

#include "text/encoding/encoding.h"
#include "text/input.h"

#include <stdbool.h>

enum { HP_FORMER_ARRAYS = 32 }; /* each is twice as large as the one before */

typedef struct hp_stream {
  hp_input *input; /* bytes, length, bom and repairs are kept up to date */
  hp_buffer *text;
  hp_buffer *source; /* all bytes so far with `keep`, and before `begun` */
  const hp_encoding *hint;
  bool prescan;
  bool offsets; /* hp_input_offset is needed, also before the end */
  /* Other threads convert offsets by copies of `input`, so that its repairs and checkpoints stay
   * where they are until the stream is closed. The caller sets it before the first bytes. */
  bool is_shared;
  bool begun; /* `sniffed` is set; its encoding NULL: UTF-8 so far */
  bool keep;
  bool replaced; /* there is some U+FFFD for invalid UTF-8 */
  /* The bytes are not UTF-8, and nothing determines another encoding. */
  bool needs_fallback;
  hp_sniffed sniffed;
  hp_decoder *decoder; /* NULL: UTF-8 */
  uint64_t total;      /* bytes so far */

  uint64_t taken; /* of UTF-8, and with `offsets`: bytes that have become text, or the BOM */
  char held[4];   /* the beginning of a sequence that has not come as a whole */
  unsigned held_count;
  /* U+FFFD alike at the end of the text, of which there may be more: their repairs are not
   * written yet. */
  size_t run_offset, run_count;
  uint64_t run_source;
  int run_bytes;
  size_t repaired;                /* offset in the text of the last repair */
  size_t capacity;                /* of the repairs, or of the checkpoints: there are never both */
  void *former[HP_FORMER_ARRAYS]; /* smaller arrays than the current one */
  unsigned former_count;
} hp_stream;

/* `input` and `text` are empty. HPAR_ERROR_MEMORY. */
hpar_status hp_stream_open(hp_stream *stream, hp_input *input, hp_buffer *text, hp_buffer *source,
                           const hp_encoding *hint, bool prescan, bool offsets);
void hp_stream_close(hp_stream *stream); /* input and buffers stay; again is allowed */

/* With `last` an incomplete sequence is invalid, and the offsets are complete.
 * HPAR_ERROR_TOO_LARGE, HPAR_ERROR_MEMORY. Requires: `needs_fallback` is
 * false. If the call sets it, the caller continues with hp_stream_again. */
hpar_status hp_stream_add(hp_stream *stream, const char *bytes, size_t n, bool last);

/* All bytes so far once more, in another encoding: recall them, empty `input` and `text`, and
 * begin again. */
hpar_status hp_stream_recall(hp_stream *stream);
hpar_status hp_stream_again(hp_stream *stream, hp_sniffed sniffed, bool last);

/* Returns whether more bytes, which do not become text, continue it as valid UTF-8. `last`: as
 * above. Requires: the text is UTF-8 without a U+FFFD for invalid bytes. */
bool hp_stream_check(hp_stream *stream, const char *bytes, size_t n, bool last);
/* Completes the offsets if no call had `last`. HPAR_ERROR_MEMORY. */
hpar_status hp_stream_end_map(hp_stream *stream);

/* Makes the current encoding final, which may have the name of a late meta element; NULL: none.
 * Returns true if nothing has declared an encoding. */
bool hp_stream_keep_encoding(hp_stream *stream, const hp_encoding *declared);
/* Lets other threads convert offsets by copies of `input`. Requires: no byte has come. */
static inline void hp_stream_share(hp_stream *stream, bool is_shared) { stream->is_shared = is_shared; }
/* Returns true if the text so far may be parsed: its encoding is known, or it is UTF-8 so far. */
static inline bool hp_stream_is_readable(const hp_stream *stream) { return stream->begun && !stream->needs_fallback; }
/* Returns true if the bytes are not UTF-8, and nothing determines another encoding. */
static inline bool hp_stream_needs_fallback(const hp_stream *stream) { return stream->needs_fallback; }
/* Returns the bytes' encoding and its source. Without an encoding, they are UTF-8 so far. */
static inline const hp_sniffed *hp_stream_sniffed(const hp_stream *stream) { return &stream->sniffed; }
/* Returns true if there is some U+FFFD for invalid UTF-8. */
static inline bool hp_stream_has_replaced(const hp_stream *stream) { return stream->replaced; }
/* Notes that bytes for which hp_stream_check is false follow the text. `is_utf8`: a late meta
 * element has declared UTF-8, so that they change no encoding. */
static inline void hp_stream_note_invalid(hp_stream *stream, bool is_utf8) {
  stream->held_count = 0; /* of these bytes */
  stream->replaced = true;
  stream->needs_fallback = !is_utf8;
}
/* Sets the encoding of bytes that nothing has declared, and that are all valid. */
static inline void hp_stream_set_utf8(hp_stream *stream) {
  stream->sniffed = (hp_sniffed){&hp_utf8, HP_ENCODING_FROM_VALID_UTF8, true};
}
/* Returns the encoding so far. */
static inline const hp_encoding *hp_stream_encoding(const hp_stream *stream) {
  return stream->sniffed.encoding ? stream->sniffed.encoding : &hp_utf8;
}

/* Returns the offset in the text up to which hp_input_offset is final. */
size_t hp_stream_mapped(const hp_stream *stream);

#endif
