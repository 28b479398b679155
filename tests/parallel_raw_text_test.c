/* Checks raw text that begins in a chunk and is too long for the worker. The merger continues in
 * the text, and the chunk before it is clean. Chunks inside the text are right starts. At most one
 * chunk, in which the text ends, is not clean. */

#include "support/buffer.h"
#include "support/compare_check.h"

#include <string.h>

static comparer with;

static const char *const before[] = {"<div><p>x<b>",   "<table><tr><td><i>x", "<template><p>",    "<div><table><tr>",
                                     "<svg><desc><p>", "<ul><li><a>x",        "<select><option>", "<table><caption>x"};
static const char *const names[] = {"script", "style", "title", "textarea", "iframe", "xmp", "noembed", "noframes"};
static const char *const after[] = {"x</p></div>y", "</td></tr><tr><td>z</table>y", "</template>x</li></ul>", ""};

enum { CHUNK = 4096, TEXT = 90000 };

static void add_prose(buffer *page, size_t length) {
  for (size_t end = page->length + length; page->length < end;) buffer_text(page, "<p>prose <i>words</i></p>\n");
}

/* `early`: the opening is before the prose, so that chunks with open elements precede the text. */
static void check(const char *opening, const char *name, const char *closing, bool ends, bool early) {
  static buffer page;
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><title>x</title><body>");
  if (early) buffer_text(&page, opening);
  add_prose(&page, 3 * CHUNK);
  buffer_format(&page, "%s<%s>", early ? "" : opening, name);
  for (size_t end = page.length + TEXT; page.length < end;) buffer_text(&page, "var a = {b: '<p>', c: [x < 1]};\n");
  if (ends) buffer_format(&page, "</%s>%s", name, closing);
  if (ends) add_prose(&page, 3 * CHUNK);
  compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
  CHECK(compare_expect(&with, &document, 0));
  for (int way = 0; way < 3; way++) {
    if (way != 1 && !CHECK_ONE_THREAD) continue;
    compare_how how = {.threads = 2,
                       .executor = way == 1 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                       .chunk_size = CHUNK,
                       .merge = way == 2 ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN};
    compare_check(&with, &how);
    bool is_plain = !early && !strcmp(name, "script") && !strcmp(opening, before[0]);
    if (is_plain && way == 0 && !CHECK(with.got_stats.chunks_clean + 1 >= with.got_stats.chunks))
      printf("  ends: %d\n", ends);
  }
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    for (size_t j = 0; j < sizeof names / sizeof *names; j++)
      for (size_t k = 0; k < sizeof after / sizeof *after; k++) check(before[i], names[j], after[k], k < 3, false);
  for (size_t j = 0; j < sizeof names / sizeof *names; j++) check("<div><section>", names[j], after[0], true, true);
  compare_close(&with);
  return check_report();
}
