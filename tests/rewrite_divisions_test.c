/* Rewrites generated documents by generated rules: any division of the input gives the same output,
 * callbacks and counters. The documents are read in 36 encodings. HPAR_TEST_DOCUMENTS sets the
 * number of documents, HPAR_TEST_SEED the first. */

#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/rewriting.h"

#include <stdlib.h>

static hpar_rewriter *rewriter;
static rewriting rules;

static void check_document(uint64_t seed, const generated *made) {
  static const char *const encodings[] = {
      "utf-8",        "ibm866",       "iso-8859-2",   "iso-8859-3",     "iso-8859-4",   "iso-8859-5",
      "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-8-i",   "iso-8859-10",  "iso-8859-13",
      "iso-8859-14",  "iso-8859-15",  "iso-8859-16",  "koi8-r",         "koi8-u",       "macintosh",
      "windows-874",  "windows-1250", "windows-1251", "windows-1252",   "windows-1253", "windows-1254",
      "windows-1255", "windows-1256", "windows-1257", "windows-1258",   "gbk",          "gb18030",
      "big5",         "euc-jp",       "shift_jis",    "x-mac-cyrillic", "euc-kr",       "x-user-defined"};
  random_state random = {seed * 77};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,
                                  .encoding = encodings[seed % (sizeof encodings / sizeof *encodings)],
                                  .fragment = made->fragment,
                                  .no_scripting = !made->scripting,
                                  .quirks = random_chance(&random, 20),
                                  .on_failure = random_chance(&random, 50) ? HPAR_FAIL_PASS : HPAR_FAIL_STOP};
  if (random_chance(&random, 10)) options.encoding = NULL;
  if (random_chance(&random, 12)) options.max_text = 1 + random_below(&random, 40);
  if (random_chance(&random, 15)) options.max_token = 1 + random_below(&random, 60);
  if (random_chance(&random, 6)) options.max_depth = 1 + (uint32_t)random_below(&random, 12);
  if (random_chance(&random, 4)) options.max_input = 1 + random_below(&random, made->text.length);
  rewriting_make(&rules, &random, (unsigned)random_below(&random, 32));
  /* Text in pieces is written before its rest begins an element that is too deep. */
  for (size_t i = 0; i < rules.count; i++)
    if (rules.rules[i].text_pieces) options.max_depth = 0;
  const char *wrong =
      rewriting_difference(&rules, rewriter, &options, made->text.bytes, made->text.length, random_next(&random));
  if (!CHECK(!wrong)) printf("  document %llu: %s\n", (unsigned long long)seed, wrong);
  hpar_rules_destroy(rules.compiled);
  rules.compiled = NULL;
}

static uint64_t number_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

int main(void) {
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  uint64_t count = number_of("HPAR_TEST_DOCUMENTS", compare_full() ? 1000000 : 60 * (uint64_t)compare_scale());
  uint64_t first = number_of("HPAR_TEST_SEED", 0);
  /* No rule had anything to do, and only the whole document met the limit of depth. */
  static const uint64_t found[] = {20636899};
  generated made = {0};
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
    generate(found[i], &made);
    check_document(found[i], &made);
  }
  for (uint64_t seed = first; seed < first + count && check_failed < 3; seed++) {
    generate(seed, &made);
    check_document(seed, &made);
  }
  generate_free(&made);
  rewriting_free(&rules);
  hpar_rewriter_destroy(rewriter);
  return check_report();
}
