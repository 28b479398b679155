/* Checks Noah's Ark clause across cuts. Generated documents have up to six equal formatting
 * elements before and after each cut, without end tags, in cells, captions, templates and objects,
 * and with misnested end tags. Every cut gives the sequential tree. The last blocks show the final
 * list. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/random.h"

static comparer with;

static const char *const starts[] = {"<b>", "<b>", "<b>",      "<b id=1>", "<i>",
                                     "<i>", "<a>", "<a id=1>", "<code>",   "<nobr>"};
static const char *const ends[] = {"</b>", "</i>", "</a>", "</code>", "</b>", "</nobr>"};
static const char *const blocks[] = {"<div>", "<p>",   "</p>",  "</div>", "<ul><li>",
                                     "<li>",  "</ul>", "<div>", "</div>", "<p>"};
static const char *const others[] = {"<table>",     "<tr>",     "<td>",       "</td>",     "</table>",  "<caption>",
                                     "</caption>",  "<object>", "</object>",  "<applet>",  "</applet>", "<template>",
                                     "</template>", "<button>", "</button>",  "<span>",    "</span>",   "<h1>",
                                     "</h1>",       "<form>",   "</form>",    "<svg>",     "</svg>",    "<desc>",
                                     "</desc>",     "<select>", "<option>",   "</select>", "<marquee>", "</marquee>",
                                     "<th>",        "</table>", "<math><mi>", "</math>",   "<address>", "<pre>"};

/* Appends a document. `kind` is the share of rare elements, in percent. */
static void append_document(buffer *page, random_state *draw, size_t count, unsigned kind) {
  buffer_text(page, random_chance(draw, 70) ? "<!doctype html>" : "<!doctype html><table><td>");
  for (size_t i = 0; i < count; i++) {
    unsigned what = (unsigned)random_below(draw, 100);
    if (what < kind)
      buffer_text(page, RANDOM_OF(draw, others));
    else if (what < 40)
      buffer_text(page, RANDOM_OF(draw, blocks));
    else if (what < 70)
      buffer_text(page, RANDOM_OF(draw, starts));
    else if (what < 82)
      buffer_text(page, RANDOM_OF(draw, ends));
    else
      buffer_text(page, what < 96 ? "x" : " ");
  }
  buffer_text(page, "<p>1</p><div>2</div></table><p>3");
}

static void generated_documents(void) {
  enum { DOCUMENTS = 700, MAX_PLACES = 256, SMALL = 16 };
  static const unsigned kinds[] = {0, 5, 12, 25};
  random_state draw = {3};
  uint64_t clean = 0, chunks = 0;
  size_t count = (size_t)DOCUMENTS * compare_scale() / 100 + 30;
  for (size_t i = 0; i < count; i++) {
    static buffer page;
    uint64_t places[MAX_PLACES];
    buffer_clear(&page);
    append_document(&page, &draw, 12 + random_below(&draw, 60), RANDOM_OF(&draw, kinds));
    size_t found = compare_candidates(page.bytes, page.length, places, MAX_PLACES);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, 0));
    for (size_t cut = 0; cut < found; cut++) {
      compare_how how = {.cuts = &places[cut], .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
      compare_check(&with, &how);
      clean += with.got_stats.chunks_clean;
      chunks += with.got_stats.chunks;
      if (cut + 1 == found) continue;
      /* Two cuts, merged as a chain and as a tree; short segments; threads. */
      uint64_t pair[] = {places[cut], places[cut + 1 + random_below(&draw, found - cut - 1)]};
      how.cuts = pair;
      how.cut_count = 2;
      how.merge = cut % 2 ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN;
      how.checkpoint_bytes = cut % 3 ? 0 : SMALL;
      if (cut % 8 == 0) how.executor = HPAR_EXECUTOR_THREADS;
      compare_check(&with, &how);
    }
    compare_how all = {.cuts = places, .cut_count = found, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
    compare_check(&with, &all);
    all.merge = HPAR_MERGE_TREE;
    compare_check(&with, &all);
  }
  printf("%llu of %llu chunks are clean\n", (unsigned long long)clean, (unsigned long long)chunks);
  CHECK(3 * clean > chunks); /* else the clause was not applied */
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  generated_documents();
  compare_close(&with);
  return check_report();
}
