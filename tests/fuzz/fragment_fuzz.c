/* Checks that sequential and parallel parses of fragments agree. The choices select the context, or
 * it is the first line of the input, whatever its text. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static comparer with;
  static uint64_t cuts[COMPARE_MAX_CUTS];
  compare_case document;
  const uint8_t *choices;
  char context[64];
  if (!fuzz_split(data, size, &document, &choices)) return 0;
  if (!with.parser && !compare_open(&with)) abort();
  document.scripting = choices[0] & 1;
  document.encoding = "utf-8";
  document.fragment = fuzz_context(choices[1]);
  const char *line = memchr(document.bytes, '\n', document.length < sizeof context ? document.length : sizeof context);
  if ((choices[0] & 2) && line) {
    size_t n = (size_t)(line - document.bytes);
    memcpy(context, document.bytes, n);
    context[n] = 0;
    document.fragment = context;
    document.bytes += n + 1;
    document.length -= n + 1;
  }
  size_t errors = choices[0] & 4 ? FUZZ_ERRORS : 0;
  if (!compare_expect(&with, &document, errors)) {
    if (with.status != HPAR_ERROR_ARGUMENT) fuzz_wrong(hpar_status_text(with.status), document.bytes, document.length);
    return 0;
  }
  uint64_t nodes;
  const char *wrong = compare_links(with.document, &nodes);
  if (wrong) fuzz_wrong(wrong, document.bytes, document.length);
  if (!hpar_predictor_name(0)) return 0;
  size_t count = compare_candidates(document.bytes, document.length, cuts, COMPARE_MAX_CUTS);
  if (!count) return 0;
  compare_how how = {.threads = 1,
                     .executor = HPAR_EXECUTOR_INLINE,
                     .cuts = cuts,
                     .cut_count = count,
                     .checkpoint_bytes = choices[2] & 1 ? 1 : 0,
                     .max_errors = errors};
  compare_result result = compare_parallel(&with, &how);
  if (result == COMPARE_SAME) return 0;
  compare_print(&with, &how, result);
  fflush(stdout);
  abort();
}
