/* Rewrites a document by rules that the choices generate. Any division of the input gives the same
 * output, callbacks and counters. A rule that matches nothing leaves the input unchanged. */

#include "fuzz/fuzz.h"
#include "support/rewriting.h"

#include <string.h>

static hpar_rewriter *rewriter;
static rewriting rules;

static void check_identity(const compare_case *page, hpar_rewrite_options options, uint64_t seed) {
  static rewriting none;
  if (!none.compiled) {
    hpar_action action = {.kind = HPAR_ACTION_REMOVE};
    hpar_rule rule = {HPAR_RULE_INIT, .selector = "x-none y + z:nth-child(2)", .actions = &action, .action_count = 1};
    if (hpar_rules_create(&none.compiled) || hpar_rules_add(none.compiled, &rule, NULL) ||
        hpar_rules_compile(none.compiled))
      abort();
  }
  options.max_depth = 0;
  options.max_input = 0;
  options.max_token = 0;
  options.utf16 = HPAR_UTF16_PASS; /* decoded, it leaves as UTF-8 */
  hpar_status status = rewriting_run(&none, rewriter, &options, page->bytes, page->length, 1 + seed % 90, seed);
  if (status == HPAR_ERROR_UNSUPPORTED) return;
  if (status) fuzz_wrong(hpar_status_text(status), page->bytes, page->length);
  if (none.out.length != page->length || (page->length && memcmp(none.out.bytes, page->bytes, page->length) != 0))
    fuzz_wrong("rules that match nothing change the input", page->bytes, page->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const encodings[] = {"utf-8",   "utf-8", NULL,     "latin1",     "shift_jis",
                                          "gb18030", "big5",  "euc-kr", "iso-8859-7", "euc-jp"};
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!rewriter && hpar_rewriter_create(&rewriter)) abort();
  uint64_t seed;
  memcpy(&seed, choices, sizeof seed);
  random_state random = {seed};
  uint8_t flags = choices[0];
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                  .encoding = RANDOM_OF(&random, encodings),
                                  .fragment = flags & 1 ? fuzz_context(choices[1]) : NULL,
                                  .no_scripting = !(flags & 2),
                                  .quirks = flags & 4,
                                  .on_failure = flags & 8 ? HPAR_FAIL_PASS : HPAR_FAIL_STOP};
  if (choices[2] % 8 == 0) options.max_text = 1 + choices[3] % 40;
  if (choices[2] % 16 == 1) options.max_depth = 1 + choices[3] % 12;
  if (choices[2] % 32 == 2) options.max_input = 1 + choices[3];
  unsigned kinds = (flags & 16 ? REWRITING_CALLBACKS : 0) | (flags & 32 ? REWRITING_UNITS : 0) |
                   (flags & 64 ? REWRITING_IMPLIED : 0) | (flags & 128 ? REWRITING_ANY_TEXT : 0) |
                   (choices[4] % 8 == 0 ? REWRITING_STOPS : 0);
  rewriting_make(&rules, &random, kinds);
  const char *wrong = rewriting_difference(&rules, rewriter, &options, page.bytes, page.length, seed >> 8);
  if (wrong) fuzz_wrong(wrong, page.bytes, page.length);
  hpar_rules_destroy(rules.compiled);
  rules.compiled = NULL;
  check_identity(&page, options, seed >> 16);
  return 0;
}
