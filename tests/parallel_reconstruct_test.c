/* Checks the reconstruction of formatting elements in the runs of workers. Unclosed formatting
 * elements precede the cuts. The tree is the sequential tree, and where the clones only surround
 * content, the chunk after the cut is clean. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/random.h"

#include <string.h>

static comparer with;

static const compare_marked pages[] = {
    {"text in a block", "<!doctype html><div><b></div>|<div>x</div><p>y", true},
    {"blocks in a block", "<!doctype html><div><b></div>|<div><p>x</p><p>y</p>z<p>w</p></div><p>y", true},
    {"several elements", "<!doctype html><div><b><i id=1><u></div>|<div><p>x<br></p><ul><li>y<li>z</ul></div>w", true},
    {"an open block", "<!doctype html><div><b></div>|<div><p>x</p><div><p>y</p>z<p>w", true},
    {"own elements", "<!doctype html><div><b></div>|<div><i>x<p>y</i>z</p></div><div><i>x</div>y<p>z</i>w", true},
    {"a deferred end tag", "<!doctype html><section><div><b></div>|<div>x</div></section>y<p>z", true},
    {"text at the outer level", "<!doctype html><div><b></div>|<hr>x<p>y</p><div>z", true},
    {"a table", "<!doctype html><div><b></div>|<div><table><tr><td>x</table>y</div><p>z", true},
    {"raw text", "<!doctype html><div><b></div>|<div><style>x</style><!--y--><textarea>z</textarea>w</div>", true},
    {"svg", "<!doctype html><div><b></div>|<div><svg><g>x</g><desc>y<p>z</desc></svg></div>", true},
    {"equal names", "<!doctype html><div><b id=1><b id=2><b id=3></div>|<div><b>x</b></div>", true},
    {"an ark without room", "<!doctype html><div><b><b><b></div>|<div><b>x</b></div><p>y", true},
    {"open elements beyond the ark", "<!doctype html><div><b><b><b>x|<div><b>y<b>z<p>w</div>v", true},
    {"an ark beyond attributes", "<!doctype html><div><b id=1><b><b><b>x|<div><b id=1>y<b>z</div>w", true},
    {"elements of the ark in a cell", "<!doctype html><div><b><b><b></div>|<div><table><td><b>x</table></div>y", true},
    {"attributes in a cell",
     "<!doctype html><section><b id=1><b id=1><b id=1>x|<div><b>y</b><table><td><b id=1>z</table></div></section>w",
     true},
    {"a marker that remains",
     "<!doctype html><table><td><b id=1><b id=1><b id=1>x|<div><b>y</b><table><td><object></table><b id=1>z</b></div>"
     "</td></table>w",
     false},
    {"elements of the ark after an object", "<!doctype html><b><b><b>x|<div><object></div><b>y</object><p>z", true},
    {"misnested elements beyond the ark", "<!doctype html><b><b><b>x|<div><b>y<p>z</b>w</p>v</div>u", true},
    {"an ark without closed room", "<!doctype html><div><b><i><b><b></div>|<p>x<b>y</p><p>z<b>w<b>v</p><p>u", true},
    {"a form that is misnested", "<!doctype html><div><div><b></div>|<div>x</div></div>y<form><div></form>z</div>w",
     true},
    {"headings after text", "<!doctype html><div><div><b></div>|<div>x</div></div>y<div><h1>z<h2>w</div>v", true},
    {"foster parenting after text",
     "<!doctype html><div><div><b></div>|<div>x</div></div>y<div><table>z<tr><td>w</table>v</div>", false},
    {"text in a form", "<!doctype html><div><b></div>|<div><form>x</form>y</div>z", false},
    {"a form below text", "<!doctype html><div><b></div>|<div>x<form>y</form>z</div>w", true},
    {"headings", "<!doctype html><div><b></div>|<div><h1>x<h2>y</div>z", false},
    {"nobr", "<!doctype html><div><nobr></div>|<div>x<nobr>y</div>z", false},
    {"foster parenting", "<!doctype html><div><b></div>|<div><table>x<tr><td>y</table>z</div>", false},
    {"a template", "<!doctype html><template><div><b></div></template>|<div>x</div>", false},
    {"plaintext", "<!doctype html><div><b></div>|<div><p>x<plaintext>y", true},
    {"a form without text", "<!doctype html><div><b></div>|<div><form><div></div></form>x</div>y", true},
    {"raw text of other elements",
     "<!doctype html><div><b></div>|<div><title>a</title><iframe>b</iframe><noembed>c</noembed><noframes>d</noframes>"
     "<script>e</script><p>x</p></div>y",
     true},
    {"in svg", "<!doctype html><svg><desc><p><b></p></desc>|<desc>x</desc></svg>y", false},
    {"white space after a false end of a table part", "<!doctype html><div><b></div>|</tbody> <!--x-->y", false},
    {"in a template", "<!doctype html><template><div><b></div>|<div></div>x<p>y", false},
};

/* Pages with two cuts. The logs after both are composed, unless the merger could not repair the
 * composed run. It parses the bytes of a misnested run again, and no others. */
static const compare_composed composed_pages[] = {
    {"text in blocks", "<!doctype html><div><b></div>|<div><p>x</p>|<p>y</p></div>z", true, 0},
    {"a nested run", "<!doctype html><div><b></div>|<div><section><div></div>|<div>x</div><p>y</section></div>z", true,
     0},
    {"an open block", "<!doctype html><div><b></div>|<div><div>|<p>x</p><p>y", true, 0},
    {"own elements", "<!doctype html><div><b></div>|<div><div><i>x|<u>y</u></i>z</div></div>w", true, 0},
    {"an ark beyond its room", "<!doctype html><div><b><b><b></div>|<div><div>|<b>x</b></div></div>y", true, 0},
    {"an ark with own elements", "<!doctype html><div><b><b></div>|<div><b>x|<b>y</b></b></div>z", false, 0},
    {"a misnested left log", "<!doctype html><div><b></div>|x<div><h1><h2>|<p>y</p></h2></div>z", false, 0},
    {"a misnested left log and a fostered right log",
     "<!doctype html><div><b></div>|x<div><h1><h2>|<span><table>y<tr><td>z</table></span></h2></div>w", false, 0},
    {"markers that remain",
     "<!doctype html><p>x|<div><table><td><object></table>|<span><table><td><object></table></span></div>y", true, 0},
    {"an empty end tag after pre", "<!doctype html><p>x|<div><pre>|</></></pre>y</div>z", true, 0},
    {"a token before which a line feed may follow",
     "<!doctype html><p>x|<table><tr><td>y</td>|</tr><pre>\nz</pre></table>w", true, 0},
    {"the same with a listing", "<!doctype html><p>x|<table><tr><td>y</td>|</tr><listing>\nz</listing></table>w", true,
     0},
    {"a misnested right log", "<!doctype html><div><b></div>|<div><p>x</p>|<p>y<h1><h2></h2></div>z", true, 23},
};

static const char *const formatting[] = {"b", "i", "b id=1", "a href=1", "font color=1", "strong", "nobr", "u"};
static const char *const others[] = {"div",
                                     "p",
                                     "ul",
                                     "li",
                                     "dd",
                                     "h1",
                                     "h2",
                                     "form",
                                     "pre",
                                     "section",
                                     "table",
                                     "tr",
                                     "td",
                                     "tr",
                                     "a",
                                     "span",
                                     "button",
                                     "select",
                                     "option",
                                     "svg",
                                     "caption",
                                     "rt",
                                     "object",
                                     "label",
                                     "ruby",
                                     "desc",
                                     "div",
                                     "p",
                                     "li",
                                     "br",
                                     "template",
                                     "math",
                                     "hr",
                                     "img",
                                     "div",
                                     "p",
                                     "address",
                                     "option",
                                     "option",
                                     "select",
                                     "selectedcontent",
                                     "object",
                                     "optgroup"};

/* Appends nested tags. A few of the end tags are missing. */
static void append_tags(buffer *page, random_state *draw, size_t count, unsigned leaks) {
  enum { MAX_OPEN = 64 };
  const char *open[MAX_OPEN];
  size_t depth = 0;
  for (size_t i = 0; i < count; i++) {
    unsigned kind = (unsigned)random_below(draw, 100);
    if (kind < 30) {
      buffer_text(page, kind < 20 ? "x" : " ");
    } else if ((kind < 66 || !depth) && depth < MAX_OPEN) {
      open[depth] = random_chance(draw, 35) ? RANDOM_OF(draw, formatting) : RANDOM_OF(draw, others);
      buffer_format(page, "<%s>", open[depth]);
      if (!strchr("bih", *open[depth]) || strlen(open[depth]) == 1) depth++;
    } else {
      depth--;
      int length = (int)strcspn(open[depth], " ");
      if (!random_chance(draw, leaks)) buffer_format(page, "</%.*s>", length, open[depth]);
    }
  }
}

static void random_pages(void) {
  enum { PAGES = 3000, MAX_CUTS = 5 };
  random_state draw = {15};
  size_t count = (size_t)PAGES * compare_scale() / 100;
  for (size_t i = 0; i < count + 50; i++) {
    static buffer page;
    uint64_t cuts[MAX_CUTS], places[512];
    buffer_clear(&page);
    buffer_text(&page, "<!doctype html>");
    if (random_chance(&draw, 20)) buffer_text(&page, "<select><button><selectedcontent></button>");
    buffer_text(&page, random_chance(&draw, 50) ? "<div><b><i></div>" : "<p>");
    append_tags(&page, &draw, 20 + random_below(&draw, 120), (unsigned)random_below(&draw, 20));
    size_t found = compare_candidates(page.bytes, page.length, places, 512);
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, 0));
    for (int way = 0; found && way < 4; way++) {
      size_t cut_count = 0;
      for (size_t at = random_below(&draw, found); at < found && cut_count < MAX_CUTS;
           at += 1 + random_below(&draw, found))
        cuts[cut_count++] = places[at];
      compare_how how = {.cuts = cuts,
                         .cut_count = cut_count,
                         .threads = 2,
                         .executor = way ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                         .merge = way == 3 ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN};
      compare_check(&with, &how);
    }
  }
}

/* With scripting, noscript has raw text. */
static void raw_noscript(void) {
  static const char page[] = "<!doctype html><div><b></div><div><noscript>x</noscript><p>y</p></div>z";
  uint64_t cut = (uint64_t)(strstr(page, "<div><noscript") - page);
  compare_case document = {page, sizeof page - 1, NULL, true, "utf-8"};
  compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
  CHECK(compare_expect(&with, &document, 0));
  compare_check(&with, &how);
  CHECK_EQ(with.got_stats.chunks_clean, 1);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  compare_check_marked(&with, pages, sizeof pages / sizeof *pages);
  compare_check_composed(&with, composed_pages, sizeof composed_pages / sizeof *composed_pages);
  raw_noscript();
  random_pages();
  compare_close(&with);
  return check_report();
}
