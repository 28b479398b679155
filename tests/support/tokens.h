#ifndef TESTS_SUPPORT_TOKENS_H
#define TESTS_SUPPORT_TOKENS_H

/* The tokenizer's output as text, one line for a token or error, so that tests compare and print
 * strings:
 *
 *   text "a\n"           white text "\n"      nul text "\0"
 *   start "a" "b"="c" /  end "a"              comment "x"
 *   pi "target" "data"   doctype "html" - "system" quirks
 *   error 1:2 eof-in-tag
 *
 * Attributes are sorted by name. Errors follow the tokens, sorted by position and code. */

#include "support/buffer.h"
#include "tokenizer/tokenizer.h"

typedef struct tokens {
  hp_range range;
  hp_atoms atoms;
  hp_interner interner;
  hp_arena nodes, bytes;
  hp_errors errors;
  hp_unwind unwind;
  hp_tokenizer tokenizer;
  bool foreign;   /* whether the adjusted current node is foreign, for the tokenizer */
  bool flags;     /* show the flags of text */
  bool no_errors; /* tokenize without a sink */
  /* switch to the content of title, textarea, style, script, plaintext after their start tags */
  bool follow;
  uint64_t calls; /* of hp_next_token in the last run */
} tokens;

void tokens_open(tokens *tokens);
void tokens_close(tokens *tokens);

/* Tokenizes `input` and puts the result into `out`. At first only `split` bytes are available. */
void tokens_run(tokens *tokens, hp_text_state content, const char *last_start_tag, const char *input, size_t n,
                size_t split, buffer *out);

/* Writes the parts of lines, for tests that build the expected text. */
typedef struct token_attribute {
  const char *name, *value;
  size_t name_length, value_length;
} token_attribute;

typedef struct token_error {
  unsigned line, column; /* from 1, in UTF-16 code units, after newlines are normalised */
  const char *code;
} token_error;

void tokens_put_string(buffer *out, const char *bytes, size_t n);
void tokens_put_attributes(buffer *out, token_attribute *attributes, size_t n); /* sorts them */
void tokens_put_errors(buffer *out, token_error *errors, size_t n);             /* sorts them */

#endif
