#ifndef HP_REWRITE_SCAN_H
#define HP_REWRITE_SCAN_H

/* The tag scanner: finds tags, comments, doctypes and texts in bytes of any ASCII-compatible
 * encoding. It can stop after any byte. It reads the name of each tag, and skips the other bytes of
 * the tag. The attributes of a complete tag are read later, if a rule needs them.
 *
 * The owner gives the scanner a window of the input. The scanner returns events until it needs more
 * input. The owner then moves the window. The new window begins at hp_scanner_retained or before.
 * Positions are offsets in the input and have 64 bits. */

#include "base/atom.h"
#include "dom/node.h"
#include "rewrite/edits.h"
#include "text/encoding/encoding.h"
#include "text/scan/scan.h"
#include "tokenizer/tokenizer.h"

typedef enum hp_scan_event {
  HP_SCAN_NEEDS_INPUT, /* the window has no further event; at the end of the input: none follows */
  HP_SCAN_TEXT,        /* [from, to): bytes of a text */
  HP_SCAN_MARKER,      /* [from, to): bytes of a text that are no characters: "</>", CDATA's ends */
  HP_SCAN_NAME,        /* [from, to): the name of a tag that begins at token_start */
  HP_SCAN_TAG,         /* a tag ends at `to`; if it is captured, it begins at `from` */
  HP_SCAN_COMMENT,     /* a comment or another declaration, likewise; data_from, data_to */
  HP_SCAN_DOCTYPE      /* likewise */
} hp_scan_event;

typedef enum hp_scan_state {
  HP_SCAN_IN_TEXT,
  HP_SCAN_IN_SECTION, /* CDATA */
  HP_SCAN_IN_NAME,
  HP_SCAN_IN_TAG,
  HP_SCAN_IN_COMMENT,
  HP_SCAN_IN_DECLARATION, /* ends at the first ">": processing instruction, bogus comment */
  HP_SCAN_IN_DOCTYPE
} hp_scan_state;

/* The comment or declaration at the place. */
typedef struct hp_scanned_comment {
  uint8_t length;     /* bytes of data, up to 3 */
  char tail[3];       /* the last of them */
  uint8_t kind;       /* bytes before the data: 4 of "<!--", 9 of a doctype, else 1 or 2 */
  const char *closer; /* what an incomplete comment at the end lacks; NULL: none */
} hp_scanned_comment;

/* Which tokens the window keeps. */
typedef struct hp_scan_captures {
  bool token; /* this one: the owner may set it after HP_SCAN_NAME */
  bool comments, doctypes;
} hp_scan_captures;

/* The places of an event: see hp_scan_event. */
typedef struct hp_scan_places {
  const char *from, *to, *data_from, *data_to;
} hp_scan_places;

typedef struct hp_scanner {
  const char *begin, *at, *end; /* the window, and the place in it */
  uint64_t position;            /* of `begin` in the input */
  bool last;                    /* the window ends with the input */
  uint8_t state, tag_state;     /* hp_scan_state; of scan.c */
  uint8_t script, dashes;       /* of a script's text */
  unsigned char lead;           /* of two bytes in a CDATA section; 0: none */
  bool is_end_tag, self_closing;
  bool ends_raw_text; /* the current end tag, at its "<" */
  hp_scan_captures captures;
  hp_scanned_comment comment;
  uint64_t token_start;
  hp_text_state content;              /* of the text; the owner sets it after a tag */
  hp_atom raw_name;                   /* of raw text; HP_NO_ATOM: it has no end tag */
  hp_scan_places event;               /* the last one */
  const hp_encoding *wide;            /* the second byte of its characters may be "]"; or NULL */
  bool (*takes_cdata)(void *context); /* "<![CDATA[" begins a section here */
  void *cdata_context;
  const hp_scan_kernels *kernels;
} hp_scanner;

void hp_scanner_open(hp_scanner *scanner);
/* Sets the content of the text that begins here. */
void hp_scanner_set_content(hp_scanner *scanner, hp_text_state content, hp_atom raw_name);
hp_scan_event hp_scanner_next(hp_scanner *scanner);

static inline uint64_t hp_scanner_position(const hp_scanner *s, const char *at) {
  return s->position + (uint64_t)(at - s->begin);
}
/* Returns true in a token that the next window must have from its beginning. */
bool hp_scanner_keeps_token(const hp_scanner *scanner);
/* Returns the position from which the next window must have the input. */
uint64_t hp_scanner_retained(const hp_scanner *scanner);

/* Returns true inside a tag, which no token follows if the input ends. */
bool hp_scanner_is_in_tag(const hp_scanner *scanner);
static inline bool hp_scanner_is_in_section(const hp_scanner *s) { return s->state == HP_SCAN_IN_SECTION; }
/* Returns true in the data state. */
static inline bool hp_scanner_is_in_data(const hp_scanner *s) {
  return s->state == HP_SCAN_IN_TEXT && s->content == HP_TEXT_STATE_DATA;
}

/* Returns a scanner that looks ahead from `at` in the window, as if there was no markup before. */
hp_scanner hp_scanner_look_ahead(const hp_scanner *scanner, const char *at);
/* Returns true if a tag, a comment or a doctype begins at `at` in the window, whatever the open
 * elements are. Requires: the data state. */
bool hp_scanner_begins_markup(const hp_scanner *scanner, const char *at);

/* Begins the start tag that follows, whose name has `length` bytes. Returns false if the tag is not
 * complete, and changes nothing then. hp_scanner_finish_tag ends the tag. Requires: the data
 * state. */
bool hp_scanner_begin_tag(hp_scanner *scanner, uint32_t length);
void hp_scanner_finish_tag(hp_scanner *scanner);

/*** attributes ***/

/* The attributes of a tag as places in its bytes. Selectors and callbacks read them. Edits change
 * only the bytes that they must. */

/* All places are offsets from the "<" of the tag. */
typedef struct hp_span {
  uint32_t name, name_end;
  uint32_t value, value_end; /* without quotes; both 0 if there is no "=" */
  uint32_t end;              /* of the attribute, with its quotes */
  char quote;                /* 0: none */
  uint8_t name_bit;          /* of hp_attribute_bit, or HP_ODD_NAME_BIT */
  bool is_short;             /* the name has at most 16 bytes, no controls, the first in ASCII */
  bool has_value : 1;
  bool is_duplicate : 1; /* the standard drops it */
} hp_span;

typedef struct hp_spans {
  const char *tag;             /* its "<" */
  const hp_encoding *encoding; /* of names; NULL: the page has declared none so far */
  hp_span *items;
  uint32_t count, capacity;
  uint32_t name_end; /* of the tag's name */
  uint64_t names;    /* bits of hp_attribute_bit of the attributes that are read */
  const char *at, *end, *readable;
} hp_spans;

/* The bit of all names with NUL or bytes beyond ASCII, which must be decoded to be compared. Other
 * names may have it, too. */
enum { HP_ODD_NAME_BIT = 63 };

/* Returns the number of the bit of an attribute's name. The case of the name has no effect. */
static inline uint8_t hp_attribute_bit(const char *name, size_t length) {
  return ((((unsigned char)*name | 0x20u) * 5 + length) & 63);
}

/* Begins to read, in `encoding`, the attributes of the complete tag [tag, end), whose name ends at
 * `name_end`. The bytes before `readable` may be read. */
void hp_spans_begin(hp_spans *spans, const char *tag, const char *end, uint32_t name_end, const char *readable,
                    const hp_encoding *encoding);
/* Reads one more attribute, or all. Returns false at the end of the tag. */
bool hp_spans_next(hp_spans *spans, hp_scratch *scratch);
/* Reads the attributes that are not read. */
void hp_spans_complete(hp_spans *spans, hp_scratch *scratch);

/* Returns the first attribute of this name in lower case among those that are read, or NULL. */
hp_span *hp_spans_find(const hp_spans *spans, const char *name, size_t length, hp_scratch *scratch);

/* Returns for each attribute the index of the first one with its name, in linear time. */
uint32_t *hp_spans_find_first(const hp_spans *spans, hp_scratch *scratch);

/* Returns the name in lower case, with U+FFFD for NUL. */
hp_name hp_span_name(const hp_spans *spans, const hp_span *span, hp_scratch *scratch);
/* Returns the value in UTF-8, with character references replaced and newlines normalised. NULL as
 * `encoding`: the page has declared none so far. Then a value or name is UTF-8 if it can be, and
 * else windows-1252, in which the parser reads a page that is not valid UTF-8. */
hp_name hp_span_value(const hp_spans *spans, const hp_span *span, const hp_encoding *encoding, hp_scratch *scratch);

/* Returns text in UTF-8, decoded as if a delimiter followed. `references`: replaces character
 * references, as in an attribute or not. */
typedef enum hp_references { HP_REFERENCES_NONE, HP_REFERENCES_TEXT, HP_REFERENCES_ATTRIBUTE } hp_references;
hp_name hp_decode_span(const char *from, size_t length, hp_references references, const hp_encoding *encoding,
                       hp_scratch *scratch);

/* Returns a copy in lower case, with U+FFFD for NUL; or the bytes themselves. */
hp_name hp_lower_name(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch);

#endif
