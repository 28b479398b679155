#ifndef HP_REWRITE_ENCODE_H
#define HP_REWRITE_ENCODE_H

/* Inserted text, as the page's encoding and the place require. */

#include "rewrite/scratch.h"
#include "text/encoding/encoding.h"

#include <stdbool.h>

typedef enum hp_place_kind {
  HP_PLACE_TEXT,          /* "<", ">", "&" become references */
  HP_PLACE_HTML,          /* as given */
  HP_PLACE_RCDATA,        /* "<" becomes a reference */
  HP_PLACE_DOUBLE_QUOTED, /* values: the quote becomes a reference, and "&" if it begins one */
  HP_PLACE_SINGLE_QUOTED,
  HP_PLACE_RAW /* a name, a comment, raw text: references have no meaning */
} hp_place_kind;

/* Appends the UTF-8 text. Characters that the encoding lacks become numeric references, and those
 * beyond ASCII if `encoding` is NULL: it is uncertain. Returns false, without a change, if they
 * cannot at this place. */
bool hp_encode(hp_bytes *to, const char *text, size_t length, hp_place_kind place, const hp_encoding *encoding,
               hp_unwind *unwind);

#endif
