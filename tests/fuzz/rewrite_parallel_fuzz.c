/* Rewrites a document by rules that the choices generate, with workers at cuts that they choose.
 * The output, the status and the counters equal those of the sequential rewriter. */

#include "fuzz/fuzz.h"
#include "rewrite/parallel.h"
#include "support/rewriting.h"

#include <string.h>

enum { MAX_CUTS = 8 };

static hpar_rewriter *rewriter;
static rewriting rules;

static bool is_same(const buffer *out, const hpar_rewrite_stats *stats) {
  const hpar_rewrite_stats *other = &rules.stats;
  return out->length == rules.out.length && (!out->length || !memcmp(out->bytes, rules.out.bytes, out->length)) &&
         stats->tags == other->tags && stats->matches == other->matches && stats->edits == other->edits &&
         stats->depth == other->depth && stats->misplaced == other->misplaced && stats->failed_at == other->failed_at &&
         stats->encoding == other->encoding;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const encodings[] = {"utf-8", "utf-8", NULL, "latin1", "shift_jis", "gb18030"};
  static buffer out;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!rewriter && hpar_rewriter_create(&rewriter)) abort();
  uint64_t seed;
  memcpy(&seed, choices, sizeof seed);
  random_state random = {seed};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                  .encoding = RANDOM_OF(&random, encodings),
                                  .scripting = choices[0] & 1,
                                  .quirks = choices[0] & 2,
                                  .on_failure = choices[0] & 4 ? HPAR_FAIL_PASS : HPAR_FAIL_STOP,
                                  .mode = HPAR_MODE_SEQUENTIAL};
  rewriting_make(&rules, &random, choices[0] & 8 ? REWRITING_ANY_TEXT : 0);
  hpar_status first = rewriting_run(&rules, rewriter, &options, page.bytes, page.length, 0, 0);
  hpar_rewrite_stats stats = rules.stats;
  buffer_clear(&out);
  buffer_add(&out, rules.out.bytes, rules.out.length);
  size_t cuts[MAX_CUTS], count = 0;
  for (size_t at = 0; count < MAX_CUTS && page.length > 1; count++) {
    at += 1 + random_below(&random, (unsigned)(page.length / 3 + 2));
    if (at >= page.length) break;
    cuts[count] = at;
  }
  hp_rewrite_division division = {
      .cuts = cuts, .cut_count = count, .checkpoint_bytes = choices[1] & 1 ? 1 : 1 << 14, .is_inline = true};
  if (hp_rewriter_divide(rewriter, &division)) abort();
  options.mode = HPAR_MODE_PARALLEL;
  hpar_status second = rewriting_run(&rules, rewriter, &options, page.bytes, page.length, 0, 0);
  if (first != second || !is_same(&out, &stats)) {
    rewriting_print(&rules);
    fuzz_wrong("the parallel rewriter differs", page.bytes, page.length);
  }
  hpar_rules_destroy(rules.compiled);
  rules.compiled = NULL;
  return 0;
}
