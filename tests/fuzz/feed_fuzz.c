/* Compares input that is fed in pieces with the same bytes at once: tree, errors, counters and
 * encoding. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

static void errors_of(const hpar_parser *parser, buffer *to) {
  buffer_clear(to);
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    buffer_format(to, "%llu %s\n", (unsigned long long)error.offset, error.code);
  }
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hpar_parser *whole, *parser;
  static hpar_document *document;
  static buffer expected, got, expected_errors, got_errors;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!whole && (hpar_parser_create(&whole) || hpar_parser_create(&parser) || hpar_document_create(&document))) abort();
  uint8_t flags = choices[0];
  hpar_options options = {HPAR_OPTIONS_INIT,
                          .mode = HPAR_MODE_SEQUENTIAL,
                          .scripting = flags & 1,
                          .fragment = flags & 2 ? fuzz_context(choices[1]) : NULL,
                          .encoding = flags & 4 ? "utf-8" : NULL,
                          .max_errors = flags & 8 ? FUZZ_ERRORS : 0,
                          .source_offsets = choices[1] & 1};
  hpar_study_stats first = {HPAR_STUDY_STATS_INIT}, second = {HPAR_STUDY_STATS_INIT};
  hpar_status status = hpar_study_parse(whole, &options, page.bytes, page.length, document, &first);
  if (status) fuzz_wrong(hpar_status_text(status), page.bytes, page.length);
  if (!compare_dump(document, &expected)) abort();
  errors_of(whole, &expected_errors);
  hpar_quirks quirks = hpar_document_quirks(document);

  hpar_study study = {HPAR_STUDY_INIT};
  options.study = &study;
  if ((flags & 16) && hpar_predictor_name(0)) {
    options.mode = HPAR_MODE_PARALLEL;
    options.threads = 2;
    options.parallel.chunk_size = 5 + choices[3] % 64;
    study.checkpoint_bytes = 1;
    options.parallel.executor = flags & 32 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS;
    study.strategy = fuzz_name(hpar_strategy_name, choices[4]);
  }
  random_state random = {(uint64_t)choices[5] << 8 | choices[6]};
  size_t most = 1 + choices[2] % 80;
  status = hpar_parser_begin(parser, &options, document);
  for (size_t at = 0; !status && at < page.length;) {
    size_t n = random_below(&random, most + 1);
    if (n > page.length - at) n = page.length - at;
    char *piece = malloc(n ? n : 1);
    if (!piece) abort();
    memcpy(piece, page.bytes + at, n);
    status = hpar_parser_feed(parser, piece, n);
    memset(piece, '<', n);
    free(piece);
    at += n;
  }
  if (!status) status = hpar_study_finish(parser, &second);
  if (status) fuzz_wrong(hpar_status_text(status), page.bytes, page.length);
  if (!compare_dump(document, &got)) abort();
  errors_of(parser, &got_errors);
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (!same(&expected, &got)) wrong = "the trees differ";
  if (!same(&expected_errors, &got_errors)) wrong = "the errors differ";
  if (first.tokens != second.tokens || first.nodes != second.nodes || first.bytes != second.bytes)
    wrong = "the counters differ";
  if (strcmp(first.encoding, second.encoding) != 0) wrong = "the encodings differ";
  if (hpar_document_quirks(document) != quirks) wrong = "the quirks modes differ";
  if (!wrong) return 0;
  printf("expected:\n%.*s%.*sgot:\n%.*s%.*s", (int)expected.length, expected.bytes, (int)expected_errors.length,
         expected_errors.length ? expected_errors.bytes : "", (int)got.length, got.bytes, (int)got_errors.length,
         got_errors.length ? got_errors.bytes : "");
  fuzz_wrong(wrong, page.bytes, page.length);
  return 0;
}
