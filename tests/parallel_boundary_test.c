/* Tests the classification of chunk boundaries: its results, and that it reads only the bytes that
 * it needs. A page without access before the text stops a read before the buffer. It also stops a
 * search that starts at the beginning of the document for each cut. Such searches take quadratic
 * time. */

#include "study/boundary.h"
#include "support/compare_check.h"

#include <hpar/hpar.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Text of `pages` pages after a page without access. */
typedef struct guarded {
  char *memory, *text;
  size_t page, pages;
} guarded;

static guarded open_guarded(size_t pages) {
  guarded g = {.page = (size_t)sysconf(_SC_PAGESIZE), .pages = pages};
  g.memory = mmap(NULL, (pages + 1) * g.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(g.memory != MAP_FAILED);
  g.text = g.memory + g.page;
  CHECK_EQ(mprotect(g.memory, g.page, PROT_NONE), 0);
  return g;
}

static void close_guarded(guarded *g) { munmap(g->memory, (g->pages + 1) * g->page); }

/* Removes the access to the text before `offset`, which is a multiple of the page size. */
static void hide_before(const guarded *g, size_t offset) { CHECK_EQ(mprotect(g->text, offset, PROT_NONE), 0); }

static hp_boundary classify(const char *text, uint32_t cut, uint32_t first) {
  hp_tag_search search = {0};
  hp_atom raw_name = 0;
  return hp_classify_boundary(&search, text, cut, first, false, &raw_name);
}

static void kinds(void) {
  static const struct {
    const char *text;
    uint32_t cut, first;
    hp_boundary expected;
  } cases[] = {
      {"!><b>x", 1, 2, HP_BOUNDARY_MARKUP},
      {"->x", 1, 2, HP_BOUNDARY_COMMENT},
      {"-!>x", 1, 3, HP_BOUNDARY_COMMENT},
      {"ab<b>", 1, 2, HP_BOUNDARY_TEXT},
      {"ab<b>", 2, 2, HP_BOUNDARY_DATA},
      {"<b id=x>", 3, 8, HP_BOUNDARY_MARKUP},
      {"<script>a</script>", 9, 18, HP_BOUNDARY_RAW_TEXT},
      {"<script>a</script>", 11, 18, HP_BOUNDARY_MARKUP},
      {"<!-- </script>", 2, 14, HP_BOUNDARY_RAW_TEXT},
      {"<!-- </x -->", 2, 12, HP_BOUNDARY_COMMENT},
      {"<pre>\n<b>", 5, 6, HP_BOUNDARY_DATA},
      {"<PRE id=x>\n<b>", 10, 11, HP_BOUNDARY_DATA},
      {"<listing>\n<b>", 9, 10, HP_BOUNDARY_DATA},
      {"<present>\n<b>", 9, 10, HP_BOUNDARY_TEXT},
      {"<listings>\n<b>", 10, 11, HP_BOUNDARY_TEXT},
      {"<pre>a>\n<b>", 7, 8, HP_BOUNDARY_TEXT},
      {"<p>\n<b>", 3, 4, HP_BOUNDARY_TEXT},
  };
  guarded g = open_guarded(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    strcpy(g.text, cases[i].text);
    if (!CHECK_EQ(classify(g.text, cases[i].cut, cases[i].first), cases[i].expected))
      printf("  %s, cut %u\n", cases[i].text, cases[i].cut);
  }
  close_guarded(&g);
}

/* Checks that the classification reads no byte far before the cut. */
static void near_cut(void) {
  guarded g = open_guarded(3);
  uint32_t cut = (uint32_t)(2 * g.page + 10);
  memset(g.text, 'x', 3 * g.page);
  hide_before(&g, 2 * g.page);
  CHECK_EQ(classify(g.text, cut, cut + 5), HP_BOUNDARY_TEXT);
  g.text[cut + 4] = '>';
  CHECK_EQ(classify(g.text, cut, cut + 5), HP_BOUNDARY_MARKUP);
  g.text[cut - 1] = '>';
  g.text[cut - 8] = '>';
  CHECK_EQ(classify(g.text, cut, cut + 5), HP_BOUNDARY_MARKUP);
  g.text[cut - 8] = '<';
  CHECK_EQ(classify(g.text, cut, cut + 5), HP_BOUNDARY_MARKUP);
  close_guarded(&g);
}

/* All cuts in one long token have the same first token boundary. One search serves them. */
static void one_search(const char *end, hp_boundary expected, hp_atom expected_name) {
  guarded g = open_guarded(9);
  uint32_t first = (uint32_t)(9 * g.page);
  memset(g.text, 'x', first);
  memcpy(g.text + first - strlen(end), end, strlen(end));
  hp_tag_search search = {0};
  for (size_t i = 0; i < 8; i++) {
    if (i) { /* only the page of the cut and the last page are readable */
      hide_before(&g, 8 * g.page);
      CHECK_EQ(mprotect(g.text + i * g.page, g.page, PROT_READ), 0);
    }
    hp_atom name = 0;
    uint32_t cut = (uint32_t)(i * g.page + 100);
    CHECK_EQ(hp_classify_boundary(&search, g.text, cut, first, false, &name), expected);
    CHECK_EQ(name, expected_name);
  }
  close_guarded(&g);
}

/* Parses at every cut. The comparer parses a copy of exactly the page's size. Therefore
 * AddressSanitizer stops the test after a read outside of the text. */
static void exact_buffers(void) {
  static const char *const pages[] = {"!><b>x", "->x<b>", "<pre>\n<b>x", "a</script>b", "<!-->x<b>", "--!><i>x"};
  static comparer with;
  CHECK(compare_open(&with));
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    CHECK(compare_expect(&with, &(compare_case){.bytes = pages[i], .length = strlen(pages[i])}, 0));
    for (uint64_t cut = 1; cut < strlen(pages[i]); cut++) {
      compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
      compare_check(&with, &how);
    }
  }
  compare_close(&with);
}

int main(void) {
  kinds();
  near_cut();
  one_search("x>", HP_BOUNDARY_MARKUP, 0);
  one_search("-->", HP_BOUNDARY_COMMENT, 0);
  one_search("</script>", HP_BOUNDARY_RAW_TEXT, HP_ATOM_SCRIPT);
  exact_buffers();
  return check_report();
}
