#include "support/tokens.h"

#include "base/memory.h"
#include "platform/address_range.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tokens_open(tokens *tokens) {
  memset(tokens, 0, sizeof *tokens);
  if (hp_range_open(&tokens->range, 0, false) || hp_atoms_create(&tokens->atoms, &tokens->range)) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
}

void tokens_close(tokens *tokens) {
  hp_tokenizer_close(&tokens->tokenizer);
  hp_interner_close(&tokens->interner);
  hp_free(tokens->errors.items);
  hp_atoms_destroy(&tokens->atoms);
  hp_range_release(&tokens->range);
}

void tokens_put_string(buffer *out, const char *bytes, size_t n) {
  buffer_byte(out, '"');
  buffer_escaped(out, bytes, n);
  buffer_byte(out, '"');
}

static int by_name(const void *a, const void *b) {
  const token_attribute *x = a, *y = b;
  size_t n = x->name_length < y->name_length ? x->name_length : y->name_length;
  int order = memcmp(x->name, y->name, n);
  return order ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

void tokens_put_attributes(buffer *out, token_attribute *attributes, size_t n) {
  if (n) qsort(attributes, n, sizeof *attributes, by_name);
  for (size_t i = 0; i < n; i++) {
    buffer_byte(out, ' ');
    tokens_put_string(out, attributes[i].name, attributes[i].name_length);
    buffer_byte(out, '=');
    tokens_put_string(out, attributes[i].value, attributes[i].value_length);
  }
}

static int by_place(const void *a, const void *b) {
  const token_error *x = a, *y = b;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return strcmp(x->code, y->code);
}

void tokens_put_errors(buffer *out, token_error *errors, size_t n) {
  if (n) qsort(errors, n, sizeof *errors, by_place);
  for (size_t i = 0; i < n; i++)
    buffer_format(out, "error %u:%u %s\n", errors[i].line, errors[i].column, errors[i].code);
}

static bool is_foreign(void *context) { return ((tokens *)context)->foreign; }

static void put_name(buffer *out, const tokens *tokens, hp_atom atom) {
  hp_name name = hp_atom_name(&tokens->atoms, atom);
  tokens_put_string(out, name.bytes, name.length);
}

static void put_identifier(buffer *out, hp_name name) {
  buffer_byte(out, ' ');
  if (name.bytes)
    tokens_put_string(out, name.bytes, name.length);
  else
    buffer_byte(out, '-');
}

static void put_token(buffer *out, const tokens *tokens, const hp_token *token) {
  switch (token->kind) {
    case HPAR_TOKEN_TEXT:
      if (tokens->flags && token->flags & HP_TEXT_WHITE) buffer_text(out, "white ");
      if (tokens->flags && token->flags & HP_TEXT_NUL) buffer_text(out, "nul ");
      buffer_text(out, "text ");
      tokens_put_string(out, token->data, token->length);
      break;
    case HPAR_TOKEN_START_TAG: {
      buffer_text(out, "start ");
      put_name(out, tokens, token->name);
      if (token->attributes) {
        const hp_attributes *attributes = hp_at(tokens->range.base, token->attributes);
        token_attribute *sorted = malloc((attributes->count + 1) * sizeof *sorted);
        if (!sorted) exit(1);
        for (uint32_t i = 0; i < attributes->count; i++) {
          hp_name name = hp_atom_name(&tokens->atoms, attributes->items[i].name);
          sorted[i] =
              (token_attribute){name.bytes, attributes->items[i].value, name.length, attributes->items[i].length};
        }
        tokens_put_attributes(out, sorted, attributes->count);
        free(sorted);
      }
      if (token->flags & HP_TOKEN_SELF_CLOSING) buffer_text(out, " /");
      break;
    }
    case HPAR_TOKEN_END_TAG:
      buffer_text(out, "end ");
      put_name(out, tokens, token->name);
      break;
    case HPAR_TOKEN_COMMENT:
      buffer_text(out, "comment ");
      tokens_put_string(out, token->data, token->length);
      break;
    case HPAR_TOKEN_DOCTYPE:
      buffer_text(out, "doctype");
      put_identifier(out, token->doctype->name);
      put_identifier(out, token->doctype->public_id);
      put_identifier(out, token->doctype->system_id);
      if (token->flags & HP_TOKEN_FORCE_QUIRKS) buffer_text(out, " quirks");
      break;
    case HPAR_TOKEN_PROCESSING_INSTRUCTION:
      buffer_text(out, "pi ");
      put_name(out, tokens, token->name);
      buffer_byte(out, ' ');
      tokens_put_string(out, token->data, token->length);
      break;
    default: buffer_text(out, "unknown");
  }
  buffer_byte(out, '\n');
}

/* Converts offsets to lines and columns in one walk, because errors are sorted. */
static void put_errors(buffer *out, const hp_errors *errors, const char *input, size_t n) {
  token_error *places = malloc((errors->count + 1) * sizeof *places);
  if (!places) exit(1);
  unsigned line = 1, column = 1;
  size_t at = 0;
  for (uint32_t i = 0; i < errors->count; i++) {
    for (; at < errors->items[i].offset && at < n; at++) {
      if (input[at] == '\n' || (input[at] == '\r' && (at + 1 == n || input[at + 1] != '\n'))) {
        line++;
        column = 1;
      } else if ((input[at] & 0xC0) != 0x80 && input[at] != '\r') {
        column += (unsigned char)input[at] >= 0xF0 ? 2 : 1;
      }
    }
    places[i] = (token_error){line, column, hp_error_text((hp_error_code)errors->items[i].code)};
  }
  tokens_put_errors(out, places, errors->count);
  free(places);
}

static hp_text_state content_after(const hp_token *token) {
  switch (token->name) {
    case HP_ATOM_TITLE:
    case HP_ATOM_TEXTAREA: return HP_TEXT_STATE_RCDATA;
    case HP_ATOM_STYLE:
    case HP_ATOM_XMP: return HP_TEXT_STATE_RAWTEXT;
    case HP_ATOM_SCRIPT: return HP_TEXT_STATE_SCRIPT_DATA;
    case HP_ATOM_PLAINTEXT: return HP_TEXT_STATE_PLAINTEXT;
    default: return HP_TEXT_STATE_DATA;
  }
}

static void run(tokens *tokens, hp_text_state content, const char *last_start_tag, const char *input, size_t n,
                size_t split, buffer *out) {
  hp_range_reset(&tokens->range);
  hp_atoms_reset(&tokens->atoms);
  hp_arena_open(&tokens->nodes, &tokens->range, &tokens->unwind);
  hp_arena_open(&tokens->bytes, &tokens->range, &tokens->unwind);
  hp_interner_open(&tokens->interner, &tokens->atoms, &tokens->unwind);
  hp_tokenizer *tokenizer = &tokens->tokenizer;
  hp_tokenizer_open(tokenizer, &tokens->nodes, &tokens->bytes, &tokens->interner);
  tokens->errors.count = 0;
  tokens->errors.seen = 0;
  tokens->errors.greatest = 0;
  tokens->errors.limit = UINT32_MAX;
  tokens->errors.unwind = &tokens->unwind;
  tokenizer->errors.list = tokens->no_errors ? NULL : &tokens->errors;
  tokenizer->cdata.is_foreign = is_foreign;
  tokenizer->cdata.context = tokens;
  tokenizer->content = content;
  if (last_start_tag) tokenizer->last_start_tag = hp_intern(&tokens->interner, last_start_tag, strlen(last_start_tag));
  tokenizer->base = tokenizer->at = input;
  tokenizer->end = input + split;
  tokenizer->last = split == n;
  if (split < n) HP_POISON(input + split, n - split);
  tokens->calls = 0;
  bool was_text = false;
  for (;;) {
    hp_token token;
    memset(&token, 0xA5, sizeof token);
    const char *before = tokenizer->at;
    int kind = hp_next_token(tokenizer, &token);
    tokens->calls++;
    if (kind == HP_TOKEN_NEED_MORE) {
      if (tokenizer->last || tokenizer->at != before) {
        buffer_text(out, "wrong: more input needed\n");
        break;
      }
      HP_UNPOISON(input + split, n - split);
      tokenizer->end = input + n;
      tokenizer->last = true;
      continue;
    }
    if (kind == HPAR_TOKEN_EOF) {
      if (hp_next_token(tokenizer, &token) != HPAR_TOKEN_EOF) buffer_text(out, "wrong: a token behind the end\n");
      break;
    }
    if (was_text && kind == HPAR_TOKEN_TEXT) buffer_text(out, "wrong: text after text\n");
    if (tokenizer->at <= before || token.end != (uint32_t)(tokenizer->at - input) || token.start >= token.end)
      buffer_text(out, "wrong: offsets\n");
    was_text = kind == HPAR_TOKEN_TEXT;
    put_token(out, tokens, &token);
    if (tokens->follow && kind == HPAR_TOKEN_START_TAG) tokenizer->content = content_after(&token);
  }
  HP_UNPOISON(input + split, n - split);
  if (tokens->no_errors) return;
  hp_find_input_errors(input, n, &tokens->errors);
  hp_errors_finish(&tokens->errors);
  put_errors(out, &tokens->errors, input, n);
}

typedef struct input {
  tokens *tokens;
  hp_text_state content;
  const char *last_start_tag, *bytes;
  size_t length, split;
  buffer *out;
} input;

static hpar_status run_input(void *argument) {
  const input *in = argument;
  run(in->tokens, in->content, in->last_start_tag, in->bytes, in->length, in->split, in->out);
  return HPAR_OK;
}

void tokens_run(tokens *tokens, hp_text_state content, const char *last_start_tag, const char *bytes, size_t n,
                size_t split, buffer *out) {
  input input = {tokens, content, last_start_tag, bytes, n, split, out};
  hpar_status status = hp_try(&tokens->unwind, run_input, &input);
  if (status != HPAR_OK) buffer_format(out, "failed: %s\n", hpar_status_text(status));
}
