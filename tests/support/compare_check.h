#ifndef TESTS_SUPPORT_COMPARE_CHECK_H
#define TESTS_SUPPORT_COMPARE_CHECK_H

/* Checks of a test program that compares parallel parses with the sequential one. */

#include "check.h"
#include "support/compare.h"

/* Checks that the parallel parse has the sequential tree. If not, prints the document. */
static inline bool compare_check(comparer *with, const compare_how *how) {
  compare_result result = compare_parallel(with, how);
  bool same = CHECK_EQ(result, COMPARE_SAME);
  if (!same) compare_print(with, how, result);
  return same;
}

/* A page with its cut at the first '|', which is not part of the page. */
typedef struct compare_marked {
  const char *name, *page;
  bool clean; /* whether the chunk after the cut is clean */
} compare_marked;

/* Checks each page with its cut. */
static inline void compare_check_marked(comparer *with, const compare_marked *pages, size_t count) {
  for (size_t i = 0; i < count; i++) {
    static buffer page;
    const char *mark = strchr(pages[i].page, '|');
    uint64_t cut = (uint64_t)(mark - pages[i].page);
    buffer_clear(&page);
    buffer_add(&page, pages[i].page, cut);
    buffer_text(&page, mark + 1);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
    CHECK(compare_expect(with, &document, 0));
    compare_check(with, &how);
    if (!CHECK_EQ(with->got_stats.chunks_clean, pages[i].clean)) printf("  %s\n", pages[i].name);
  }
}

#endif
