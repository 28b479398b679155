#ifndef HP_TOKENIZER_STATES_H
#define HP_TOKENIZER_STATES_H

/* The declarations that the files of this module share: byte classes, strings that are rewritten
 * only if necessary, and the transitions between groups of states. */

#include "base/bytes.h"
#include "text/references/character_reference.h"
#include "text/scan/scan.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

enum {
  HP_BYTE_WHITE = 1,      /* tab, LF, FF, CR, space */
  HP_BYTE_TAG_STOP = 2,   /* ends a tag name: white space, '/', '>' */
  HP_BYTE_NAME_STOP = 4,  /* ends an attribute name: these and '=' */
  HP_BYTE_VALUE_STOP = 8, /* special in an unquoted value: white space, '>', '&', NUL, and errors */
  HP_BYTE_ODD_NAME = 16,  /* name is not a plain span: upper case, NUL; errors: '"', '\'', '<' */
  HP_BYTE_ALPHA = 32,
  HP_BYTE_DIGIT = 64
};

extern const uint8_t hp_byte_class[256];

static inline unsigned hp_class(char c) { return hp_byte_class[(unsigned char)c]; }

__attribute__((cold)) void hp_token_error(hp_tokenizer *tokenizer, hp_error_code code, const char *at);
static inline void hp_error_at(hp_tokenizer *tokenizer, hp_error_code code, const char *at) {
  if (__builtin_expect(tokenizer->errors.list != NULL, 0)) hp_token_error(tokenizer, code, at);
}

/* A string made of spans of the input and of replacements. Nothing is copied before the first
 * replacement that has something before it; until then the string is a span.
 *
 *   string = [start, at) + [from, wherever the reader is) */
typedef struct hp_span_builder {
  hp_arena *arena;
  const char *from;
  char *start, *at, *limit; /* start NULL: nothing is copied yet */
} hp_span_builder;

void hp_span_put(hp_span_builder *span, const char *bytes, size_t n);

/* Appends [from, upto) to the string and leaves out [upto, resume). */
static inline void hp_span_skip(hp_span_builder *span, const char *upto, const char *resume) {
  if (upto > span->from) hp_span_put(span, span->from, (size_t)(upto - span->from));
  span->from = resume;
}

static inline bool hp_span_empty(const hp_span_builder *span, const char *upto) {
  return span->at == span->start && upto == span->from;
}

/* Returns a string that was copied, and releases the rest of its memory. */
const char *hp_span_end_copy(hp_span_builder *span, const char *upto, uint32_t *length);

/* Returns the finished string. */
static inline const char *hp_span_end(hp_span_builder *span, const char *upto, uint32_t *length) {
  if (span->start) return hp_span_end_copy(span, upto, length);
  *length = (uint32_t)(upto - span->from);
  return span->from;
}

/* Releases the memory allocated since the arena was equal to `mark`, unless the arena uses another
 * slab now. */
void hp_arena_return(hp_arena *arena, const hp_arena *mark);

/* Returns [from, upto) with normalised newlines, and with U+FFFD and an error for each NUL. */
const char *hp_plain_data(hp_tokenizer *tokenizer, const char *from, const char *upto, uint32_t *length);

/* Normalises the newline that begins with the CR at `at`. Returns where the input continues. */
const char *hp_span_newline(hp_span_builder *span, const char *at, const char *end);
/* Reports an error for the NUL at `at` and appends U+FFFD. Returns where the input continues. */
const char *hp_span_nul(hp_span_builder *span, hp_tokenizer *tokenizer, const char *at);

/* Each function reads the token that begins at `at`. Each returns its kind or HP_TOKEN_NEED_MORE,
 * or HP_TOKEN_EOF if the end of the input swallows the token. */
/* "<!" */
int hp_read_markup_declaration(hp_tokenizer *tokenizer, hp_token *token, const char *at);
/* "<?" */
int hp_read_processing_instruction(hp_tokenizer *tokenizer, hp_token *token, const char *at);
int hp_read_bogus_comment(hp_tokenizer *tokenizer, hp_token *token, const char *at, const char *data);

/* Reads text of any content. Returns HP_TOKEN_EOF if there is no text before the markup at *at.
 * The text up to `clean` is plain text of the data state. */
int hp_read_text(hp_tokenizer *tokenizer, hp_token *token, const char **at, const char *clean);

/* Returns true if `at` has "</", the name of the last start tag, and a byte that can follow it. */
bool hp_is_appropriate_end_tag(const hp_tokenizer *tokenizer, const char *at);

static inline uint32_t hp_offset(const hp_tokenizer *tokenizer, const char *at) {
  return (uint32_t)(at - tokenizer->base);
}

/* Completes a token that ends before `end`, where the next token begins. */
static inline int hp_emit(hp_tokenizer *tokenizer, hp_token *token, int kind, unsigned flags, const char *start,
                          const char *end) {
  token->kind = (uint8_t)kind;
  token->flags = (uint8_t)flags;
  token->start = hp_offset(tokenizer, start);
  token->end = hp_offset(tokenizer, end);
  tokenizer->at = end;
  return kind;
}

static inline int hp_emit_data(hp_tokenizer *tokenizer, hp_token *token, int kind, unsigned flags, const char *data,
                               uint32_t length, const char *start, const char *end) {
  token->data = data;
  token->length = length;
  return hp_emit(tokenizer, token, kind, flags, start, end);
}

#endif
