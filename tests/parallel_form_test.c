/* Checks forms that begin in a form of an earlier chunk. The tree is the sequential tree. The chunk
 * after the cut is clean if its worker defers the inner form, and a composition of logs does not
 * rely on a form that may be open. */

#include "support/buffer.h"
#include "support/compare_check.h"

static comparer with;

static const compare_marked pages[] = {
    {"a form in a form", "<!doctype html><form>x|<form>y</form>z", true},
    {"a form below an end tag", "<!doctype html><form><div>x|</div><form>y</form>z", true},
    {"a form after text", "<!doctype html><form>x<br>|y<form>z</form>w<form>v</form>u", true},
    {"a form after a form", "<!doctype html><form>x</form>|<form>y</form>z<form>w</form>v", true},
    {"an end tag before a form", "<!doctype html><form><p>x|</p></form><div><form>y</form></div>z", true},
    {"forms between deferred tags",
     "<!doctype html><form><ul><li>x|</li></ul><form>y</form><section></section></div><form>z</form>w", true},
    {"an own form that stays open", "<!doctype html><div>|</div><form>x</section><form>y</form>z", true},
    {"a form in a table", "<!doctype html><form><table>|<tr><td><form>x</form>y</table>z", false},
    {"a form in a template", "<!doctype html><form><template>|<form>x</form></template><form>y</form>z", true},
    {"a form after a template", "<!doctype html><template><form>|</template><form>x<form>y</form>z", true},
    {"a form in an own element", "<!doctype html><form>x|<div><b><form>y</form></b></div>z", false},
};

/* Pages with two cuts, and the bytes that the merger parses again. */
static const struct {
  const char *name, *page;
  bool composed;
  uint64_t again;
} composed_pages[] = {
    {"no form", "<!doctype html><div>x|<div>y|<p>z</p></div>w", true, 0},
    {"a form that is known", "<!doctype html><form>x|<form></form><div><form>y|<p>z</p></form></div>w", true, 0},
    {"a doubtful form on the left", "<!doctype html><form>x|<div><form>y</form>|<p>z</p></div>w", false, 19},
    {"a doubtful form in the right log", "<!doctype html><form>x|<div>|<p>y</p><b><form>z</form></b></div>w", true, 35},
    {"a doubtful form on the right", "<!doctype html><form>x|<div>|<b><form>y</form></b></div>z", true, 0},
};

static void check_composed(size_t index) {
  static buffer page;
  uint64_t cuts[2];
  size_t count = 0;
  buffer_clear(&page);
  for (const char *at = composed_pages[index].page; *at; at++) {
    if (*at == '|')
      cuts[count++] = page.length;
    else
      buffer_add(&page, at, 1);
  }
  compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
  compare_how how = {
      .cuts = cuts, .cut_count = count, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .merge = HPAR_MERGE_TREE};
  CHECK(compare_expect(&with, &document, 0));
  compare_check(&with, &how);
  bool fits = CHECK_EQ(with.got_stats.bytes_reparsed, composed_pages[index].again);
  fits = CHECK_EQ(with.got_stats.merge_levels[1].segments > 0, composed_pages[index].composed) && fits;
  if (!fits) printf("  %s\n", composed_pages[index].name);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  compare_check_marked(&with, pages, sizeof pages / sizeof *pages);
  for (size_t i = 0; i < sizeof composed_pages / sizeof *composed_pages; i++) check_composed(i);
  compare_close(&with);
  return check_report();
}
