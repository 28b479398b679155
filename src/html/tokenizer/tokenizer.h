#ifndef HP_HTML_TOKENIZER_TOKENIZER_H
#define HP_HTML_TOKENIZER_TOKENIZER_H

/* The tokenizer: valid UTF-8 in, tokens out, one a call. A token that the available input does not complete is
 * taken up again from its first byte when more has come, so no state is kept inside a token; the caller
 * offers more only after the input beyond `at` has grown by half, which keeps the whole linear. */

#include "base/arena.h"
#include "base/atom.h"
#include "base/error.h"
#include "html/tokenizer/token.h"

#include <stdbool.h>

typedef enum hp_content {
  HP_CONTENT_DATA,
  HP_CONTENT_RCDATA,
  HP_CONTENT_RAWTEXT,
  HP_CONTENT_SCRIPT_DATA,
  HP_CONTENT_PLAINTEXT,
  HP_CONTENT_CDATA_SECTION
} hp_content;

typedef struct hp_tokenizer {
  const char *base; /* the input; never moves, and is borrowed by nodes */
  const char *at, *end;
  bool last;               /* `end` is the end of the input, not only of what has come */
  hp_content content;      /* set by the tree builder after a start tag; back to data after the end tag */
  hp_atom last_start_tag;  /* decides which end tag is appropriate */
  const char *searched;    /* no appropriate end tag begins before it in an incomplete run of raw text; NULL: unknown */
  hp_arena *nodes, *bytes; /* attribute blocks and doctypes; rewritten strings */
  hp_interner *interner;
  hp_errors *errors; /* NULL: nobody asks */
  /* Is the adjusted current node foreign? Asked at "<![CDATA[" only. NULL: no. While `pending_text` is set, text
   * stands before the section that is not emitted yet: "no" ends that text, and the question is asked again. */
  bool (*foreign)(void *context);
  void *context;
  bool pending_text;
  uint32_t *seen; /* by atom: serial of the tag that had this attribute */
  uint32_t seen_capacity, serial;
  const struct hp_scan_kernels *scan;
  struct hp_short_name *names; /* atoms of names up to 16 bytes that were met, */
  uint64_t names_generation;   /* of the interner's atoms */
  uint32_t error_count;        /* errors->count and ->seen at the start of the token, to go back to */
  uint64_t errors_seen;
} hp_tokenizer;

/* Ready to be pointed at an input. Memory from an earlier use is kept; before the first all fields are zero.
 * Unwinds through the interner when memory is short. */
void hp_tokenizer_open(hp_tokenizer *tokenizer, hp_arena *nodes, hp_arena *bytes, hp_interner *interner);
void hp_tokenizer_close(hp_tokenizer *tokenizer);

/* The next token, or HP_TOKEN_NEED_MORE with nothing consumed. After EOF, EOF again. */
int hp_next_token(hp_tokenizer *tokenizer, hp_token *token);

/* Adds the errors of preprocessing: controls and noncharacters. They are not found by the tokenizer; sort after. */
void hp_find_input_errors(const char *bytes, size_t n, hp_errors *errors);

#endif
