#ifndef TESTS_SUPPORT_COMPARE_CHECK_H
#define TESTS_SUPPORT_COMPARE_CHECK_H

/* Checks of a test program that compares parallel parses with the sequential one. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"

/* Checks that the parallel parse has the sequential tree. If not, prints the document. */
static inline bool compare_check(comparer *with, const compare_how *how) {
  compare_result result = compare_parallel(with, how);
  bool same = CHECK_EQ(result, COMPARE_SAME);
  if (!same) compare_print(with, how, result);
  return same;
}

/* A page with its cut at the only '|', which is not part of the page. */
typedef struct compare_marked {
  const char *name, *page;
  bool clean; /* whether the chunk after the cut is clean */
} compare_marked;

/* Adds the page without its marks to the emptied buffer, and the places of the marks to `cuts`.
 * Returns their number. */
static inline size_t compare_unmark(const char *marked, buffer *page, uint64_t *cuts) {
  size_t count = 0;
  buffer_clear(page);
  for (const char *at = marked; *at; at++) {
    if (*at == '|')
      cuts[count++] = page->length;
    else
      buffer_add(page, at, 1);
  }
  return count;
}

/* A page with one or two cuts at each '|'. A merge tree composes the logs after the cuts. */
typedef struct compare_composed {
  const char *name, *page;
  bool composed;  /* whether a composed log has a segment of the right log */
  uint64_t again; /* bytes that the merger parses again */
} compare_composed;

/* Checks each page with its cuts. */
static inline void compare_check_composed(comparer *with, const compare_composed *pages, size_t count) {
  for (size_t i = 0; i < count; i++) {
    static buffer page;
    uint64_t cuts[2];
    size_t cut_count = compare_unmark(pages[i].page, &page, cuts);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    compare_how how = {
        .cuts = cuts, .cut_count = cut_count, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .merge = HPAR_MERGE_TREE};
    CHECK(compare_expect(with, &document, 0));
    compare_check(with, &how);
    bool fits = CHECK_EQ(with->got_stats.bytes_reparsed, pages[i].again);
    fits = CHECK_EQ(with->got_stats.merge_levels[1].segments > 0, pages[i].composed) && fits;
    if (!fits) printf("  %s\n", pages[i].name);
  }
}

/* Checks each page with its cut, without and with parse errors. */
static inline void compare_check_marked(comparer *with, const compare_marked *pages, size_t count) {
  enum { MAX_ERRORS = 50 };
  for (size_t i = 0; i < count; i++) {
    static buffer page;
    uint64_t cut;
    CHECK_EQ(compare_unmark(pages[i].page, &page, &cut), 1);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
    CHECK(compare_expect(with, &document, 0));
    compare_check(with, &how);
    if (!CHECK_EQ(with->got_stats.chunks_clean, pages[i].clean)) printf("  %s\n", pages[i].name);
    how.max_errors = MAX_ERRORS;
    CHECK(compare_expect(with, &document, MAX_ERRORS));
    compare_check(with, &how);
  }
}

#endif
