#ifndef HPAR_TOKENIZER_H
#define HPAR_TOKENIZER_H

/* The tokenizer without a tree builder, as the tokenizer tests of html5lib-tests use it. Only the
 * caller's choice sets its state. */

#include <hpar/document.h>
#include <hpar/parse.h>
#include <hpar/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpar_token_kind {
  HPAR_TOKEN_EOF = 0,
  HPAR_TOKEN_TEXT, /* a maximal run of characters; with NUL where the standard emits it */
  HPAR_TOKEN_START_TAG,
  HPAR_TOKEN_END_TAG,
  HPAR_TOKEN_COMMENT,
  HPAR_TOKEN_DOCTYPE,
  HPAR_TOKEN_PROCESSING_INSTRUCTION
} hpar_token_kind;

/* A token. All pointers are valid during the callback only. */
typedef struct hpar_token {
  hpar_token_kind kind;
  bool self_closing, force_quirks, has_name, has_public_id, has_system_id;
  hpar_string name; /* of a tag or doctype; target of a processing instruction */
  hpar_string data; /* of text, comment, processing instruction */
  hpar_string public_id, system_id;
  const hpar_attribute *attributes;
  size_t attribute_count;
  uint64_t start, end; /* byte offsets in the input */
} hpar_token;

/* Receives each token in order. The tokenizer stops if it returns false. The callback must return:
 * a longjmp or an exception out of it is forbidden, because the tokenizer would not free its
 * memory. It must not use the parser. */
typedef bool (*hpar_token_callback)(const hpar_token *token, void *context);

/* Tokenizes `length` bytes of UTF-8 and calls `callback` for each token. `bytes` may be NULL if
 * `length` is 0. `state` is the initial state: "Data state", "RCDATA state", "RAWTEXT state",
 * "Script data state", "PLAINTEXT state" or "CDATA section state". NULL is the first.
 * `last_start_tag` decides which end tag is appropriate; NULL: none. The parser keeps
 * the first `max_errors` errors for hpar_parse_error_at. A feed with this parser is abandoned.
 *
 * HPAR_ERROR_ARGUMENT: `parser` or `callback` is NULL, or there is no such state.
 * HPAR_ERROR_TOO_LARGE, HPAR_ERROR_MEMORY. */
HPAR_API hpar_status hpar_tokenize(hpar_parser *parser, const char *state, const char *last_start_tag,
                                   size_t max_errors, const char *bytes, size_t length, hpar_token_callback callback,
                                   void *context);

#ifdef __cplusplus
}
#endif
#endif
