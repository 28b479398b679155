/* Measures the tokenizer alone and the tree builder alone. After start tags, the benchmark sets the
 * tokenizer's content states as the tree builder sets them outside foreign content.
 *
 * The time of the tree builder is the time of a parse minus the time of tokenizing the same page
 * just before. The benchmark cannot keep tokens, because their attributes belong to the document of
 * the parse. */

#include "tree/engine.h"

#include "base/names.h"
#include "programs/bench/suite.h"

#include <hpar/study.h>

typedef struct bench_lane {
  hp_engine engine;
  const hp_request *request;
  uint64_t tokens;
} bench_lane;

static hp_text_state content_after(const hp_token *token) {
  switch (token->name) {
    case HP_ATOM_TITLE:
    case HP_ATOM_TEXTAREA: return HP_TEXT_STATE_RCDATA;
    case HP_ATOM_STYLE:
    case HP_ATOM_XMP:
    case HP_ATOM_IFRAME:
    case HP_ATOM_NOEMBED:
    case HP_ATOM_NOFRAMES: return HP_TEXT_STATE_RAWTEXT;
    case HP_ATOM_SCRIPT: return HP_TEXT_STATE_SCRIPT_DATA;
    case HP_ATOM_PLAINTEXT: return HP_TEXT_STATE_PLAINTEXT;
    default: return HP_TEXT_STATE_DATA;
  }
}

/* Sets the content state that follows the token. */
HP_LOOP void follow(hp_engine *engine, const hp_token *token, void *context) {
  (void)context;
  hp_text_state content = token->kind == HPAR_TOKEN_START_TAG ? content_after(token) : HP_TEXT_STATE_DATA;
  if (content != HP_TEXT_STATE_DATA) engine->tokenizer.content = content;
}

static hpar_status count_tokens(void *argument) {
  bench_lane *bench = argument;
  hp_engine *engine = &bench->engine;
  hp_engine_open(engine, bench->request);
  engine->tokenizer.cdata.is_foreign = NULL;
  hp_loop_run(engine, (hp_loop_parts){.next = hp_loop_next, .build = follow}, NULL);
  bench->tokens += engine->tokens;
  return HPAR_OK;
}

static hpar_status tokenize_page(bench_lane *bench, hpar_document *document, const hp_page *page) {
  hp_engine *engine = &bench->engine;
  hpar_status status = hp_document_open(document, false, 0);
  if (!status) status = hp_input_open(&document->input, page->bytes, page->length);
  if (status) return status;
  hp_request task = {.document = document, .text = document->input.bytes, .length = document->input.length};
  bench->request = &task;
  return hp_try(&engine->unwind, count_tokens, bench);
}

static void tokenize(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  bench_lane bench = {0};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hp_engine_init(&bench.engine);
  hpar_status status = HPAR_OK;
  uint64_t rounds = 0;
  while (!status && hp_bench_next(run)) {
    for (size_t i = 0; i < subject->count && !status; i++)
      status = tokenize_page(&bench, bed.document, hp_subject_page(subject, i));
    rounds++;
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  uint64_t tokens = rounds ? bench.tokens / rounds : 0;
  if (rounds) hp_bench_counter(run, "tokens", (double)tokens);
  hp_engine_close(&bench.engine);
  hp_bench_close_bed(&bed);
}

static void build(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  bench_lane bench = {0};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hp_engine_init(&bench.engine);
  hpar_status status = HPAR_OK;
  while (!status && hp_bench_next(run)) {
    uint64_t parsing = 0, tokenizing = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      uint64_t begin = hp_bench_now(CLOCK_THREAD_CPUTIME_ID);
      status = tokenize_page(&bench, bed.document, page);
      uint64_t middle = hp_bench_now(CLOCK_THREAD_CPUTIME_ID);
      if (!status) status = hpar_parse(bed.parser, &options, page->bytes, page->length, bed.document, NULL);
      parsing += hp_bench_now(CLOCK_THREAD_CPUTIME_ID) - middle;
      tokenizing += middle - begin;
    }
    hp_bench_took(run, parsing > tokenizing ? parsing - tokenizing : 1);
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_engine_close(&bench.engine);
  hp_bench_close_bed(&bed);
}

void hp_bench_add_tokenize(void) {
  hp_bench_add_subjects("tokenize", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = tokenize});
  hp_bench_add_subjects("build", HP_SETS, &(hp_bench){.function = build, .clock = HP_BENCH_MANUAL});
}
