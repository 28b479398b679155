#ifndef HP_REWRITE_ATTRIBUTES_H
#define HP_REWRITE_ATTRIBUTES_H

/* The attributes of a tag as places in its bytes. Selectors and callbacks read them. Edits change
 * only the bytes that they must. */

#include "dom/node.h"
#include "rewrite/edits.h"
#include "text/encoding/encoding.h"

/* All places are offsets from the "<" of the tag. */
typedef struct hp_span {
  uint32_t name, name_end;
  uint32_t value, value_end; /* without quotes; both 0 if there is no "=" */
  uint32_t end;              /* of the attribute, with its quotes */
  char quote;                /* 0: none */
  uint8_t name_bit;          /* of hp_attribute_bit */
  bool is_short;             /* the name has at most 16 bytes, without controls */
  bool has_value : 1;
  bool is_duplicate : 1; /* the standard drops it */
} hp_span;

typedef struct hp_spans {
  const char *tag; /* its "<" */
  hp_span *items;
  uint32_t count, capacity;
  uint32_t name_end; /* of the tag's name */
  uint32_t close;    /* of "/>" or ">", at the end of the tag; valid after hp_spans_complete */
  uint64_t names;    /* bits of hp_attribute_bit of the attributes that are read */
  const char *at, *end, *readable;
} hp_spans;

/* Returns the number of the bit of an attribute's name. The case of the name has no effect. */
static inline uint8_t hp_attribute_bit(const char *name, size_t length) {
  return ((((unsigned char)*name | 0x20u) * 5 + length) & 63);
}

/* Begins to read the attributes of the complete tag [tag, end), whose name ends at `name_end`. The
 * bytes before `readable` may be read. */
void hp_spans_begin(hp_spans *spans, const char *tag, const char *end, uint32_t name_end, const char *readable);
/* Reads one more attribute, or all. Returns false at the end of the tag. */
bool hp_spans_next(hp_spans *spans, hp_scratch *scratch);
/* Reads the attributes that are not read. */
void hp_spans_complete(hp_spans *spans, hp_scratch *scratch);

/* Returns the first attribute of this name in lower case among those that are read, or NULL. */
hp_span *hp_spans_find(const hp_spans *spans, const char *name, size_t length);

/* Returns for each attribute the index of the first one with its name, in linear time. */
uint32_t *hp_spans_find_first(const hp_spans *spans, hp_scratch *scratch);

/* Returns the name in lower case, with U+FFFD for NUL. */
hp_name hp_span_name(const hp_spans *spans, const hp_span *span, hp_scratch *scratch);
/* Returns the value in UTF-8, with character references replaced and newlines normalised. NULL as
 * `encoding`: the page has declared none so far. Then the value is UTF-8 if it can be, and else
 * windows-1252, in which the parser reads a page that is not valid UTF-8. */
hp_name hp_span_value(const hp_spans *spans, const hp_span *span, const hp_encoding *encoding, hp_scratch *scratch);

/* Returns text in UTF-8. `references`: replaces character references, as in an attribute or not. */
typedef enum hp_references { HP_REFERENCES_NONE, HP_REFERENCES_TEXT, HP_REFERENCES_ATTRIBUTE } hp_references;
hp_name hp_decode_span(const char *from, size_t length, hp_references references, const hp_encoding *encoding,
                       hp_scratch *scratch);

/* Returns a copy in lower case, with U+FFFD for NUL; or the bytes themselves. */
hp_name hp_lower_name(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch);

#endif
