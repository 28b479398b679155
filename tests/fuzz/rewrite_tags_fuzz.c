/* Compares the tags that the rewriter's scanner reports with those that the parser takes, and the
 * state of the outline builder after each tag with that of the tree builder. */

#include "fuzz/fuzz.h"
#include "support/tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tag_reader *reader;
  static uint64_t tags;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!reader) reader = tag_reader_create();
  page.scripting = choices[0] & 1;
  page.fragment = choices[0] & 2 ? fuzz_context(choices[1]) : NULL;
  const char *difference = tag_difference(reader, &page, choices[0] & 4, &tags);
  if (difference) fuzz_wrong(difference, page.bytes, page.length);
  return 0;
}
