/* Checks the tokenizer alone, in each initial state. Tokens are in order and within the input, two
 * texts are never adjacent, and attributes have different names. The error sink does not change the
 * tokens. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

typedef struct seen {
  const char *bytes, *what;
  size_t length;
  uint64_t tokens, sum, end;
  hpar_token_kind last;
} seen;

static void add(seen *of, const void *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) of->sum = (of->sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void add_string(seen *of, hpar_string text) {
  add(of, &text.length, sizeof text.length);
  add(of, text.bytes, text.length);
}

static hpar_status take(const hpar_token *token, void *context) {
  seen *of = context;
  if (token->start > token->end || token->end > of->length) of->what = "a token beyond the input";
  if (token->start < of->end) of->what = "a token before the end of the last";
  if (token->kind == HPAR_TOKEN_TEXT && of->tokens && of->last == HPAR_TOKEN_TEXT) of->what = "two texts side by side";
  if (token->kind == HPAR_TOKEN_TEXT && !token->data.length) of->what = "text of no characters";
  if (token->kind != HPAR_TOKEN_START_TAG && token->attribute_count) of->what = "attributes of no start tag";
  for (size_t i = 0; i < token->attribute_count; i++) {
    const hpar_attribute *a = &token->attributes[i];
    add_string(of, a->local_name);
    add_string(of, a->value);
    for (size_t k = 0; k < i && k < 20; k++) {
      const hpar_attribute *b = &token->attributes[k];
      if (a->local_name.length == b->local_name.length &&
          !memcmp(a->local_name.bytes, b->local_name.bytes, a->local_name.length))
        of->what = "an attribute twice";
    }
  }
  add(of, &token->kind, sizeof token->kind);
  add_string(of, token->name);
  add_string(of, token->data);
  add_string(of, token->public_id);
  add_string(of, token->system_id);
  of->last = token->kind;
  of->end = token->end;
  of->tokens++;
  return of->what ? HPAR_STOP : HPAR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const states[] = {
      NULL, "RCDATA state", "RAWTEXT state", "Script data state", "PLAINTEXT state", "CDATA section state"};
  static const char *const names[] = {NULL, "title", "style", "script", "textarea", "x"};
  static hpar_parser *parser;
  compare_case document;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &document, &choices)) return 0;
  if (!parser && hpar_parser_create(&parser)) abort();
  seen runs[2];
  for (int i = 0; i < 2; i++) {
    runs[i] = (seen){.bytes = document.bytes, .length = document.length};
    hpar_status status = hpar_tokenize(parser, states[choices[0] % 6], names[choices[1] % 6], i ? FUZZ_ERRORS : 0,
                                       document.bytes, document.length, take, &runs[i]);
    if (status && status != HPAR_STOP) fuzz_wrong(hpar_status_text(status), document.bytes, document.length);
    if (runs[i].what) fuzz_wrong(runs[i].what, document.bytes, document.length);
  }
  if (runs[0].sum != runs[1].sum || runs[0].tokens != runs[1].tokens)
    fuzz_wrong("asking for errors changes the tokens", document.bytes, document.length);
  uint64_t last = 0;
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    if (error.offset < last || error.offset > document.length || !error.code[0])
      fuzz_wrong("an error out of order", document.bytes, document.length);
    last = error.offset;
  }
  return 0;
}
