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

static const compare_composed composed_pages[] = {
    {"no form", "<!doctype html><div>x|<div>y|<p>z</p></div>w", true, 0},
    {"a form that is known", "<!doctype html><form>x|<form></form><div><form>y|<p>z</p></form></div>w", true, 0},
    {"a doubtful form on the left", "<!doctype html><form>x|<div><form>y</form>|<p>z</p></div>w", false, 19},
    {"a doubtful form in the right log", "<!doctype html><form>x|<div>|<p>y</p><b><form>z</form></b></div>w", true, 35},
    {"a doubtful form on the right", "<!doctype html><form>x|<div>|<b><form>y</form></b></div>z", true, 0},
};

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  compare_check_marked(&with, pages, sizeof pages / sizeof *pages);
  compare_check_composed(&with, composed_pages, sizeof composed_pages / sizeof *composed_pages);
  compare_close(&with);
  return check_report();
}
