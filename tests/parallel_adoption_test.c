/* Checks chunks that begin an `a` inside blocks while another one is open or listed before the cut.
 * The worker splits the tag, so that the merger runs the adoption agency. The tree is the
 * sequential tree, and the chunk is clean. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/random.h"

static comparer with;

static const compare_marked pages[] = {
    {"a block", "<!doctype html><section><a>0|<div>1<a>2</a>3</div>4</section>5", true},
    {"the first token of a block", "<!doctype html><section><a>0|<div><a>2</a>3</div>4</section>5", true},
    {"three blocks", "<!doctype html><section><a>0|<div>2<p>3</p><ul>4<li>5<a>6</a>7<li>8</ul>9</div>10<p>11", true},
    {"open blocks", "<!doctype html><section><a>0|<div>2<ul>3<li>4<a>5<p>6", true},
    {"some open blocks", "<!doctype html><section><a>0|<div>2<ul>3<li>4<a>5</a></ul>6<p>7", true},
    {"blocks before the blocks", "<!doctype html><section><a>0|<p>1</p><p>2</p><div>3<a>4</a></div><p>5</p>", true},
    {"two in a block", "<!doctype html><section><a>0|<div><a>1</a><a>2</a></div><div><a>3", true},
    {"an outer block", "<!doctype html><section><a>0<div>|<div>2<a>3</a>4</div>5</div>6</section>7", true},
    {"an outer formatting element", "<!doctype html><section><a>0<b>|<div>2<a>3</a>4</div>5</b>6</section>7", true},
    {"outer elements", "<!doctype html><a>0<b><p>x<i><u>y|<div>2<a>3</a>4</div>5</u>6</i>7</b>8", true},
    {"a closed element", "<!doctype html><div><a></div>|<div>1<a>2</a>3</div>4", true},
    {"a closed element in the list", "<!doctype html><div><a></div><div><b>|<div>1<a>2</a>3</div>4", true},
    {"a span", "<!doctype html><section><a>0|<div><span>1<a>2</a>3</span>4</div>5", true},
    {"formatting elements", "<!doctype html><section><a>0|<div><b>1<i><a>2</a>3</b>4</i></div>5", true},
    {"nine blocks", "<!doctype html><a>0|<div><div><div><div><div><div><div><div><div>1<a>2</a>3", false},
    {"a heading", "<!doctype html><h1><a>0|<div>1<a>2</a></div><p>3</p>", true},
    {"a cell", "<!doctype html><table><td><a>0|<div>1<a>2</a>3</div>4</td></table>5", true},
    {"a cell of the chunk", "<!doctype html><a>0|<div><table><td><a>1</table>2<a>3</a></div>4", true},
    {"upper case", "<!doctype html><section><A HREF=1>0|<div>1<A HREF=2>2</A>3</div>4</section>5", true},
    {"a later segment", "<!doctype html><section><a>0|<p>1</p></section><div>2<a>3</a></div>4", true},
    {"a link around the cut", "<!doctype html><section><a>0|<b>1</b></a><div>2<a>3</a></div></section>4", true},
    {"the end tag in a comment", "<!doctype html><section><a>0<!--</a >-->|<div>1<a>2</a></div>", false},
    {"a foster parent", "<!doctype html><table><a>0|<div>1<a>2</a>3</div>4<td>5</table>6", false},
};

static const char *const parts[] = {"<a>",      "<a>",       "<a id=1>", "<a>",    "</a>",    "</a>",
                                    "<div>",    "<div>",     "</div>",   "<p>",    "</p>",    "<span>",
                                    "</span>",  "<b>",       "</b>",     "<i>",    "<ul>",    "<li>",
                                    "</ul>",    "x",         "x",        " ",      "<h2>",    "</h2>",
                                    "<table>",  "<td>",      "</table>", "<form>", "</form>", "<!--</a >-->",
                                    "<object>", "</object>", "<svg>",    "</svg>", "<nobr>",  "<button>"};

static void generated_pages(void) {
  enum { PAGES = 1500, MAX_PLACES = 256 };
  random_state draw = {21};
  size_t count = (size_t)PAGES * compare_scale() / 100 + 30;
  for (size_t i = 0; i < count; i++) {
    static buffer page;
    uint64_t places[MAX_PLACES];
    buffer_clear(&page);
    buffer_text(&page, "<!doctype html>");
    size_t kinds = random_chance(&draw, 70) ? 22 : sizeof parts / sizeof *parts;
    for (size_t length = 8 + random_below(&draw, 40); length > 0; length--)
      buffer_text(&page, parts[random_below(&draw, kinds)]);
    size_t found = compare_candidates(page.bytes, page.length, places, MAX_PLACES);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, 0));
    for (size_t cut = 0; cut < found; cut++) {
      compare_how how = {.cuts = &places[cut],
                         .cut_count = random_chance(&draw, 50) ? 1 : found - cut,
                         .threads = 2,
                         .executor = cut % 8 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                         .merge = cut % 3 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE};
      compare_check(&with, &how);
    }
  }
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  compare_check_marked(&with, pages, sizeof pages / sizeof *pages);
  generated_pages();
  compare_close(&with);
  return check_report();
}
