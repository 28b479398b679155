/* The tokenizer without a tree builder. */

#include "session/parser.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "study/show_token.h"
#include "tree/engine.h"

#include <hpar/study.h>

static const struct {
  const char *name;
  hp_text_state content;
} states[] = {
    {"Data state", HP_TEXT_STATE_DATA},           {"RCDATA state", HP_TEXT_STATE_RCDATA},
    {"RAWTEXT state", HP_TEXT_STATE_RAWTEXT},     {"Script data state", HP_TEXT_STATE_SCRIPT_DATA},
    {"PLAINTEXT state", HP_TEXT_STATE_PLAINTEXT}, {"CDATA section state", HP_TEXT_STATE_CDATA_SECTION},
};

typedef struct tokenizing {
  hp_engine *engine;
  const hp_request *request;
  hp_text_state content;
  const char *last_start_tag;
  hp_shown_attributes list;
  hpar_token_callback callback;
  void *context;
  hpar_status status; /* of the callback */
} tokenizing;

/* Calls the callback with the token. */
static void report_token(hp_engine *engine, const hp_token *token, void *context) {
  tokenizing *run = context;
  const hp_input *input = &run->request->document->input;
  hpar_token shown;
  hp_show_token(engine, token, &run->list, &shown);
  shown.start = hp_input_offset(input, token->start);
  shown.end = hp_input_offset(input, token->end);
  run->status = run->callback(&shown, run->context);
}

static bool has_ended(const hp_engine *engine, void *context) {
  (void)engine;
  const tokenizing *run = context;
  return run->status != HPAR_OK;
}

static hpar_status tokenize(void *argument) {
  tokenizing *run = argument;
  hp_engine *engine = run->engine;
  const hp_request *request = run->request;
  hp_engine_open(engine, request);
  engine->tokenizer.content = run->content;
  engine->tokenizer.cdata.is_foreign = NULL;
  engine->tokenizer.may_defer = false;
  if (run->last_start_tag)
    engine->tokenizer.last_start_tag = hp_intern(&engine->interner, run->last_start_tag, strlen(run->last_start_tag));
  hp_loop_run(engine, (hp_loop_parts){.next = hp_loop_next, .build = report_token, .stops = has_ended}, run);
  if (request->max_errors) {
    hp_find_input_errors(request->text, request->length, &engine->errors);
    hp_errors_finish(&engine->errors);
    for (uint32_t i = 0; i < engine->errors.count; i++)
      engine->errors.items[i].offset =
          (uint32_t)hp_input_offset(&request->document->input, engine->errors.items[i].offset);
  }
  return run->status;
}

/* Finds the content of a state by the standard's name for it, in any case of letters. */
static bool find_state(const char *name, hp_text_state *content) {
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    if (!hp_ascii_equal_strings(states[i].name, name)) continue;
    *content = states[i].content;
    return true;
  }
  return false;
}

/* Tokenizes the bytes from the named state (NULL: data), and calls `callback` for each token. */
static hpar_status run_tokenizer(hp_session *session, const char *state, const char *last_start_tag, size_t max_errors,
                                 const char *bytes, size_t length, hpar_token_callback callback, void *context) {
  hp_text_state content = HP_TEXT_STATE_DATA;
  if (state && !find_state(state, &content))
    return hp_explain(&session->error, HPAR_ERROR_ARGUMENT,
                      "state is \"%.60s\"; accepted: Data state, RCDATA state, RAWTEXT state, Script data state, "
                      "PLAINTEXT state, CDATA section state",
                      state);
  hpar_document *document;
  hpar_status status = hpar_document_create(&document);
  if (status != HPAR_OK) return status;
  status = hp_document_open(document, false, length);
  if (status == HPAR_OK) status = hp_input_open(&document->input, bytes, length);
  if (status == HPAR_OK) {
    hp_request request = {.document = document,
                          .text = document->input.bytes,
                          .length = document->input.length,
                          .max_errors = max_errors};
    tokenizing run = {.engine = &session->engine,
                      .request = &request,
                      .content = content,
                      .last_start_tag = last_start_tag,
                      .callback = callback,
                      .context = context};
    status = hp_try(&session->engine.unwind, tokenize, &run);
    hp_free(run.list.items);
  }
  hpar_document_destroy(document);
  session->result.complete = status == HPAR_OK; /* so that the error list may be read */
  return status;
}

hpar_status hpar_tokenize(hpar_parser *parser, const char *state, const char *last_start_tag, size_t max_errors,
                          const char *bytes, size_t length, hpar_token_callback callback, void *context) {
  hpar_error *error = hp_begin_parser_call(parser);
  if (!error) return HPAR_ERROR_ARGUMENT;
  hpar_status status = HPAR_OK;
  if (!callback) status = hp_explain(error, HPAR_ERROR_ARGUMENT, "callback is NULL");
  if (!bytes && length) status = hp_explain_no_bytes(error, length);
  if (status == HPAR_OK)
    status = run_tokenizer(&parser->session, state, last_start_tag, max_errors, bytes, length, callback, context);
  return hp_end_parser_call(parser, status);
}
