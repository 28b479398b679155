#ifndef HP_TEXT_ENCODING_ENCODING_H
#define HP_TEXT_ENCODING_ENCODING_H

/* The encodings of the Encoding Standard, by their labels. Each has one hp_encoding, so code
 * compares addresses. */

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hp_encoding_kind {
  HP_ENCODING_UTF8,
  HP_ENCODING_UTF16LE,
  HP_ENCODING_UTF16BE,
  HP_ENCODING_SINGLE_BYTE,
  HP_ENCODING_GB18030, /* and GBK, which is decoded the same */
  HP_ENCODING_BIG5,
  HP_ENCODING_EUC_JP,
  HP_ENCODING_ISO_2022_JP,
  HP_ENCODING_SHIFT_JIS,
  HP_ENCODING_EUC_KR,
  HP_ENCODING_REPLACEMENT,
  HP_ENCODING_X_USER_DEFINED
} hp_encoding_kind;

typedef struct hp_encoding {
  const char *name; /* as the Encoding Standard writes it */
  hp_encoding_kind kind;
} hp_encoding;

extern const hp_encoding hp_utf8, hp_utf16le, hp_utf16be, hp_windows1252;

//§ concept-encoding-get, of the Encoding Standard: NULL where the label names none
const hp_encoding *hp_encoding_for_label(const char *label, size_t length);

/* Returns true if every byte below 80 means itself after another such byte. */
bool hp_encoding_keeps_ascii(const hp_encoding *encoding);
/* Returns true if "]" is the second byte of some character. */
bool hp_encoding_has_bracket_trails(const hp_encoding *encoding);
/* Returns true if the byte is the first of two or more in an encoding that has them, whether or not
 * the two have a character. A second byte below 80 stays ASCII if they have none. */
bool hp_encoding_is_lead(const hp_encoding *encoding, unsigned char byte);
/* Returns the bytes of the character at `at`, or of one that the encoding lacks; 0: bytes past
 * `end` decide. Requires: an encoding with two or more bytes for some characters, and not UTF-8. */
size_t hp_encoding_length_at(const hp_encoding *encoding, const char *at, const char *end);
/* Returns true if the lead and a "]" have a character. */
bool hp_encoding_takes_bracket(const hp_encoding *encoding, unsigned char lead);

/*** finds the encoding of a byte stream from its first bytes and its transport ***/

typedef enum hp_encoding_source {
  HP_ENCODING_FROM_BOM,
  HP_ENCODING_FROM_HINT,
  HP_ENCODING_FROM_META,       /* the prescan's */
  HP_ENCODING_FROM_VALID_UTF8, /* undeclared; all bytes are valid UTF-8 */
  HP_ENCODING_FROM_FALLBACK,   /* undeclared and not valid UTF-8: windows-1252 */
  HP_ENCODING_FROM_LATE_META   /* a meta that the tree builder found, and that differs */
} hp_encoding_source;

/* "bom", "hint", "meta", "valid-utf-8", "fallback", "late-meta" */
const char *hp_encoding_source_name(hp_encoding_source source);

/* If `certain` is true, no meta element changes the encoding. */
typedef struct hp_sniffed {    // value
  const hp_encoding *encoding; /* NULL: undeclared, UTF-8 or windows-1252 */
  hp_encoding_source source;
  bool certain;
} hp_sniffed;

enum { HP_SNIFF_BYTES = 1024 };

//§ determining-the-character-encoding
/* Requires: `bytes` are the first HP_SNIFF_BYTES, or all if there are fewer; it reads no more.
 * `hint` is that of the transport, or NULL. Without `prescan`, as for a fragment, it skips the
 * search for a meta. */
hp_sniffed hp_sniff(const char *bytes, size_t length, const hp_encoding *hint, bool prescan);

//§ algorithm-for-extracting-a-character-encoding-from-a-meta-element
const hp_encoding *hp_encoding_in_content(const char *content, size_t length);

//§ changing-the-encoding-while-parsing
/* What a tentative `now` becomes when a meta element names `named`: `now` itself if the text
 * need not be decoded again on that account. */
const hp_encoding *hp_change_encoding(const hp_encoding *now, const hp_encoding *named);

/* Decodes bytes of any encoding to UTF-8, piece by piece. An invalid sequence becomes U+FFFD by
 * the rules of the Encoding Standard. The decoder drops a byte order mark of its own encoding
 * (UTF-8, UTF-16). The text does not depend on the pieces. */

typedef struct hp_decoder hp_decoder;

/* Receives a piece of text that is not empty and has whole characters. The text is valid during
 * the call. A status other than HPAR_OK stops the decoder, which returns it. */
typedef hpar_status (*hp_decoder_sink)(const char *text, size_t length, void *context);

/* HPAR_ERROR_MEMORY. */
hpar_status hp_decoder_create(hp_decoder **decoder, const hp_encoding *encoding);
void hp_decoder_destroy(hp_decoder *decoder); /* NULL is allowed */

/* Decodes `n` bytes. The decoder does not need them after the call. With `last`, an incomplete
 * sequence becomes U+FFFD, and the decoder is ready for new input; `n` may be 0. If the sink
 * fails, the caller must destroy the decoder. */
hpar_status hp_decoder_run(hp_decoder *decoder, const char *bytes, size_t n, bool last, hp_decoder_sink sink,
                           void *context);

#endif
