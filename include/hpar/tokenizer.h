#ifndef HPAR_TOKENIZER_H
#define HPAR_TOKENIZER_H

/* The tokenizer alone, without a tree builder behind it: what the tokenizer tests of html5lib-tests
 * describe. Nothing switches its state but the caller's choice of the initial one. */

#include <hpar/document.h>
#include <hpar/parse.h>
#include <hpar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpar_token_kind {
  HPAR_TOKEN_EOF = 0,
  HPAR_TOKEN_TEXT, /* a maximal run of characters; NUL stands for itself where the standard emits it */
  HPAR_TOKEN_START_TAG,
  HPAR_TOKEN_END_TAG,
  HPAR_TOKEN_COMMENT,
  HPAR_TOKEN_DOCTYPE,
  HPAR_TOKEN_PROCESSING_INSTRUCTION
} hpar_token_kind;

/* A token as the callback sees it; all pointers are valid during the call only. */
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

/* Called for each token in order; a false answer stops the tokenizer. */
typedef bool (*hpar_token_callback)(const hpar_token *token, void *context);

/* `state` is one of "Data state", "RCDATA state", "RAWTEXT state", "Script data state",
 * "PLAINTEXT state", "CDATA section state"; NULL is the first. `last_start_tag` (NULL: none) decides which
 * end tag is appropriate. Errors are kept in the parser as by hpar_parse, at most `max_errors`. */
HPAR_API hpar_status hpar_tokenize(hpar_parser *parser, const char *state, const char *last_start_tag,
                                   size_t max_errors, const char *bytes, size_t length, hpar_token_callback callback,
                                   void *context);

#ifdef __cplusplus
}
#endif
#endif
