#ifndef HP_TOKENIZER_TOKEN_H
#define HP_TOKENIZER_TOKEN_H

#include "base/arena.h"
#include "base/atom.h"
#include "dom/node.h"

/* hpar_token_kind of the study has the same values. */
typedef enum hp_token_kind {
  HP_TOKEN_EOF,
  HP_TOKEN_TEXT,
  HP_TOKEN_START_TAG,
  HP_TOKEN_END_TAG,
  HP_TOKEN_COMMENT,
  HP_TOKEN_DOCTYPE,
  HP_TOKEN_PROCESSING_INSTRUCTION,
  HP_TOKEN_NEED_MORE = 100 /* the input ends inside a token, and more may come */
} hp_token_kind;

enum {
  HP_TOKEN_SELF_CLOSING = 1,
  HP_TOKEN_FORCE_QUIRKS = 2,
  HP_TEXT_WHITE = 4, /* only tab, LF, FF, CR (as LF), space */
  HP_TEXT_NUL = 8    /* contains U+0000 */
};

/* Text is always a maximal run: the next token is never text. Fields that a kind does not use are
 * not set. */
typedef struct hp_token { // value
  uint8_t kind;           /* hp_token_kind */
  uint8_t flags;
  uint8_t content, notes; /* of a token that another thread read: study/pipelined/packed.h */
  hp_atom name;           /* tag; target of a processing instruction */
  hp_ref attributes;      /* hp_attributes, duplicates removed; 0: none */
  uint32_t length;
  union {
    const char *data; /* text, comment, instruction: newlines, references replaced */
    const hp_doctype *doctype;
  };
  uint32_t start, end; /* offsets in the input; end is where the next token begins */
} hp_token;

_Static_assert(sizeof(void *) > 8 || sizeof(hp_token) <= 32, "two tokens to a cache line");

#endif
