/* Rewrites a document by rules that the choices generate, with workers at cuts that they choose.
 * The output, the callbacks, the status and the counters equal those of the sequential rewriter. */

#include "fuzz/fuzz.h"
#include "rewrite/parallel.h"
#include "support/rewriting.h"

#include <string.h>

enum { MAX_CUTS = 8 };

static hpar_rewriter *rewriter;
static rewriting rules;

/* As in rewriting_difference. */
static bool is_same(const buffer *out, const buffer *log, const hpar_rewrite_stats *a, hpar_status status) {
  const hpar_rewrite_stats *b = &rules.stats;
  if (out->length != rules.out.length || (out->length && memcmp(out->bytes, rules.out.bytes, out->length) != 0))
    return false;
  if (log->length != rules.log.length || (log->length && memcmp(log->bytes, rules.log.bytes, log->length) != 0))
    return false;
  if (!a->retired && !b->retired && (a->tags != b->tags || a->depth != b->depth)) return false;
  /* With all rules retired, one may not have read the declaration. */
  const bool lacks_encoding = a->retired && b->retired && (!a->encoding || !b->encoding);
  return a->matches == b->matches && (status || a->edits == b->edits) && a->misplaced == b->misplaced &&
         a->failed_at == b->failed_at && (lacks_encoding || a->encoding == b->encoding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const encodings[] = {"utf-8", "utf-8", NULL, "latin1", "shift_jis", "gb18030"};
  static buffer out, log;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!rewriter && hpar_rewriter_create(&rewriter)) abort();
  uint64_t seed;
  memcpy(&seed, choices, sizeof seed);
  random_state random = {seed};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                  .encoding = RANDOM_OF(&random, encodings),
                                  .no_scripting = !(choices[0] & 1),
                                  .quirks = choices[0] & 2,
                                  .on_failure = choices[0] & 4 ? HPAR_FAIL_PASS : HPAR_FAIL_STOP,
                                  .mode = HPAR_MODE_SEQUENTIAL};
  unsigned kinds = (choices[0] & 8 ? REWRITING_ANY_TEXT : 0) | (choices[0] & 16 ? REWRITING_CALLBACKS : 0);
  kinds |= choices[0] & 32 ? REWRITING_PURE : 0;
  kinds |= (choices[0] & 64 ? REWRITING_UNITS : 0) | (choices[0] & 128 ? REWRITING_STOPS : 0);
  rewriting_make(&rules, &random, kinds);
  hpar_status first = rewriting_run(&rules, rewriter, &options, page.bytes, page.length, 0, 0);
  hpar_rewrite_stats stats = rules.stats;
  buffer_clear(&out);
  buffer_clear(&log);
  buffer_add(&out, rules.out.bytes, rules.out.length);
  buffer_add(&log, rules.log.bytes, rules.log.length);
  size_t cuts[MAX_CUTS], count = 0;
  for (size_t at = 0; count < MAX_CUTS && page.length > 1; count++) {
    at += 1 + random_below(&random, (unsigned)(page.length / 3 + 2));
    if (at >= page.length) break;
    cuts[count] = at;
  }
  hp_rewrite_division division = {.cuts = cuts,
                                  .cut_count = count,
                                  .checkpoint_bytes = choices[1] & 1 ? 1 : 1 << 14,
                                  .min_limit = choices[1] & 2 ? 1 : 0,
                                  .is_inline = true};
  if (hp_rewriter_divide(rewriter, &division)) abort();
  options.mode = HPAR_MODE_PARALLEL;
  hpar_status second = rewriting_run(&rules, rewriter, &options, page.bytes, page.length, 0, 0);
  if (first != second || !is_same(&out, &log, &stats, first)) {
    rewriting_print(&rules);
    fuzz_wrong("the parallel rewriter differs", page.bytes, page.length);
  }
  hpar_rules_destroy(rules.compiled);
  rules.compiled = NULL;
  return 0;
}
