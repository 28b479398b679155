/* Checks the caller's influence on the start hypothesis of a chunk: tables for the predictor
 * "frequency", and custom predictors. For all their values, on every own document, in each state,
 * at every smart cut and at any byte, the tree is the sequential tree. */

#include "base/memory.h"
#include "study/true_state.h"
#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/documents.h"
#include "support/random.h"
#include "tree/builder.h"

#include "study/cut_key.h"

#include <hpar/study.h>
#include <stdatomic.h>
#include <stdlib.h>

static comparer with;

/*** tables ***/

static hpar_frequency_table *table_of(const hpar_frequency *rows, size_t count) {
  hpar_frequency_table *table = NULL;
  CHECK_EQ(hpar_frequency_table_create(rows, count, &table, NULL), HPAR_OK);
  return table;
}

/* Returns the number of chunks, after the only cut, that started in the true state. */
static uint64_t right_start(const char *page, uint64_t cut, const hpar_frequency_table *table) {
  compare_case document = {page, strlen(page), NULL, false, "utf-8"};
  compare_how how = {.cuts = &cut,
                     .cut_count = 1,
                     .threads = 2,
                     .executor = HPAR_EXECUTOR_INLINE,
                     .predictor = "frequency",
                     .frequencies = table};
  CHECK(compare_expect(&with, &document, 0));
  CHECK_EQ(compare_parallel(&with, &how), COMPARE_SAME);
  CHECK_EQ(with.got_stats.chunks, 1);
  CHECK_STRING(with.got_stats.predictor, "frequency");
  return with.got_stats.chunks_right_start;
}

/* Pages whose "x<p" is in the named state. */
static const struct {
  const char *state, *page;
} places[] = {
    {"data", "<!doctype html><div>x<p>y</div>z<b>w"},
    {"comment", "<!doctype html><div><!-- x<p>y --></div>z<b>w"},
    {"script data", "<!doctype html><div><script>'x<p>y'</script></div>z<b>w"},
    {"script data escaped", "<!doctype html><div><script><!--x<p>y--></script></div>z<b>w"},
    {"RAWTEXT", "<!doctype html><div><style>x<p>y</style></div>z<b>w"},
    {"RCDATA", "<!doctype html><div><textarea>x<p>y</textarea></div>z<b>w"},
    {"attribute value (double-quoted)", "<!doctype html><div title=\"x<p>y\">z<b>w"},
    {"attribute value (single-quoted)", "<!doctype html><div title='x<p>y'>z<b>w"},
    {"attribute value (unquoted)", "<!doctype html><div title=x<p>z<b>w"},
    {"attribute name", "<!doctype html><div x<p>z<b>w"},
    {"tag name", "<!doctype html><divx<p>z<b>w"},
    {"bogus comment", "<!doctype html><div></ x<p>z<b>w"},
    {"DOCTYPE", "<!doctype html><div><!doctype x<p>z<b>w"},
    {"CDATA section", "<!doctype html><div><svg><![CDATA[x<p>y]]></svg></div>z<b>w"},
};

static void tables_decide(void) {
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *page = places[i].page;
    uint64_t cut = (uint64_t)(strstr(page, "x<p") + 1 - page);
    const hpar_frequency right[] = {{"word", "<p", places[i].state, 2}, {"word", "<p", "tag open", 1}};
    const hpar_frequency wrong[] = {{"word", "<p", places[i].state, 2}, {"word", "<p", "tag open", 3}};
    hpar_frequency_table *table = table_of(right, 2);
    if (!CHECK_EQ(right_start(page, cut, table), 1)) printf("  in %s\n", places[i].state);
    hpar_frequency_table_destroy(table);
    if (strstr(page, "x<p>z")) continue; /* the same ">" leaves the "tag open" state */
    table = table_of(wrong, 2);
    if (!CHECK_EQ(right_start(page, cut, table), 0)) printf("  in %s\n", places[i].state);
    hpar_frequency_table_destroy(table);
  }
}

static void tables_fall_back(void) {
  const char *comment = places[1].page;
  uint64_t cut = (uint64_t)(strstr(comment, "x<p") + 1 - comment);
  const hpar_frequency elsewhere[] = {
      {"white", "<p", "comment", 3}, {">", "<p", "data", 2}, {"word", "<b", "data", 100}};
  hpar_frequency_table *table = table_of(elsewhere, 3);
  CHECK_EQ(right_start(comment, cut, table), 1); /* by the bytes after the cut */
  hpar_frequency_table_destroy(table);
  table = table_of(elsewhere + 1, 2);
  CHECK_EQ(right_start(comment, cut, table), 0);
  hpar_frequency_table_destroy(table);
  table = table_of(elsewhere + 2, 1);
  CHECK_EQ(right_start(comment, cut, table), 0); /* data, without a prediction */
  CHECK_EQ(right_start(places[0].page, (uint64_t)(strstr(places[0].page, "<p>") - places[0].page), table), 1);
  hpar_frequency_table_destroy(table);
  table = table_of(NULL, 0);
  CHECK_EQ(right_start(comment, cut, table), 0);
  hpar_frequency_table_destroy(table);
  const hpar_frequency parts[] = {{"word", "<p", "data", 5},
                                  {"word", "<p", "comment", 3},
                                  {"word", "<p", "comment", 3},
                                  {"word", "<p", "RCDATA", 0}};
  table = table_of(parts, 4);
  CHECK_EQ(right_start(comment, cut, table), 1); /* the table adds repeated counts */
  hpar_frequency_table_destroy(table);
  const hpar_frequency many[] = {{"word", "<p", "data", UINT64_MAX - 1},
                                 {"word", "<p", "comment", UINT64_MAX - 1},
                                 {"word", "<p", "comment", UINT64_MAX - 1}};
  table = table_of(many, 3);
  CHECK_EQ(right_start(comment, cut, table), 1);
  hpar_frequency_table_destroy(table);
  hpar_frequency_table_destroy(NULL);
}

/* The default table of the library, at an end tag that only raw text has. */
static void default_table(void) {
  const char *page = "<!doctype html><script>if (a) { b; }</script><style>i { c: d }</style><p>e";
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "</script") - page), NULL), 1);
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "</style") - page), NULL), 1);
  CHECK_EQ(right_start(page, (uint64_t)(strstr(page, "<p>") - page), NULL), 1);
}

static void tables_refused(void) {
  static const hpar_frequency good = {"word", "<p", "data", 1};
  const hpar_frequency bad[] = {{NULL, "<p", "data", 1},
                                {"word", NULL, "data", 1},
                                {"word", "<p", NULL, 1},
                                {"", "<p", "data", 1},
                                {"word", "<p", "date", 1},
                                {"word", "<p", "", 1},
                                {"word", "<a-name-that-is-longer-than-any-key", "data", 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const hpar_frequency rows[] = {good, bad[i]};
    hpar_frequency_table *table = NULL;
    size_t wrong = 7;
    CHECK_EQ(hpar_frequency_table_create(rows, 2, &table, &wrong), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(wrong, 1);
    CHECK(!table);
    CHECK_EQ(hpar_frequency_table_create(rows, 2, &table, NULL), HPAR_ERROR_ARGUMENT);
  }
  for (uint64_t n = 0; n < 3; n++) {
    hpar_frequency_table *table = NULL;
    hp_memory_fail_once(n);
    CHECK_EQ(hpar_frequency_table_create(&good, 1, &table, NULL), HPAR_ERROR_MEMORY);
    hp_memory_fail_once(UINT64_MAX);
    CHECK(!table);
  }
}

/*** every document ***/

enum { MAX_CUTS = 512 };

/* Checks each of the states, at all cuts. */
static void check_states(const uint64_t *cuts, size_t count) {
  hpar_frequency rows[MAX_CUTS];
  hp_cut_key keys[MAX_CUTS];
  for (int state = 0; state < HP_STATES; state++) {
    for (size_t i = 0; i < count; i++) {
      keys[i] = hp_cut_key_at(with.of.bytes, with.of.length, cuts[i]);
      rows[i] = (hpar_frequency){keys[i].before, keys[i].at, hp_state_name((hp_state)state), 1};
    }
    hpar_frequency_table *table = table_of(rows, count);
    compare_how how = {.cuts = cuts,
                       .cut_count = count,
                       .threads = 2,
                       .executor = HPAR_EXECUTOR_INLINE,
                       .checkpoint_bytes = state % 2 ? 1 : 0,
                       .max_errors = 1000,
                       .predictor = "frequency",
                       .merge = state % 3 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE,
                       .frequencies = table};
    compare_check(&with, &how);
    hpar_frequency_table_destroy(table);
  }
}

static void every_document(void) {
  static uint64_t cuts[COMPARE_MAX_CUTS];
  for (size_t i = 0; i < document_count; i++) {
    compare_case document = documents[i];
    document.encoding = "utf-8";
    if (!CHECK(compare_expect(&with, &document, 1000))) continue;
    size_t count = compare_candidates(document.bytes, document.length, cuts, MAX_CUTS);
    if (count) check_states(cuts, count);
    count = 0;
    for (uint64_t at = 1 + i % 5; at < document.length && count < MAX_CUTS; at += 5) cuts[count++] = at;
    if (count) check_states(cuts, count);
  }
}

/*** the bytes around a cut ***/

/* Pages with many copies of `unit`, so that the text before them is far away. The cut is at the
 * '|', which the test removes from the page. */
static const struct {
  const char *name, *before, *unit;
  unsigned count;
  const char *after;
} surroundings[] = {
    {"data", "<!doctype html><div>", "<p>x</p>", 20000, "|<p>y</p></div><p>z"},
    {"code in data", "<!doctype html><pre>x", "<br>if (a) { b[1] = c; }\n", 5000, "|<br>x</pre><p>z"},
    {"svg", "<!doctype html><div><svg>", "<path d='M0 0'></path>", 8000, "|<path d=M></path></svg><p>x</div>"},
    {"MathML", "<!doctype html><div><math>", "<mi>x</mi>", 20000, "|<mo>y</mo></math><p>x</div>"},
    {"svg in svg", "<!doctype html><svg>", "<symbol><svg><path/></svg></symbol>", 100,
     "<symbol><svg>|<path/></svg><g>x</g></symbol></svg><p>x"},
    {"svg at the cut", "<!doctype html><div>", "<p>x</p>", 100, "|<svg><path/></svg><p>x</div>"},
    {"a head", "<!doctype html><head>", "<link rel=x>", 9000,
     "|<meta name=x><noscript><link></noscript><title>x</title></head><body><p>x"},
    {"a script in a head", "<!doctype html><head>", "<script>a({}, [])</script>", 4000,
     "<script>f({a: [|<b>]})</script><noscript><link></noscript></head><body><p>x"},
    {"a script in a body", "<!doctype html><body>", "<p>x</p>", 4000,
     "<script>f({a: [|<b>]})</script><noscript><i>y</i></noscript><p>x"},
    {"a comment", "<!doctype html><div><!--", "<p>x</p>", 5000, "|<p>y--><p>z</div>"},
    {"behind a comment", "<!doctype html><div>", "<!-- <b>x -->", 5000, "<i>|<p>z</div>"},
    {"a comment with a script", "<!doctype html><div><!-- <script>", "f({}, '</style>');", 5000,
     "|<b></script> --><p>z</div>"},
    {"a script", "<!doctype html><div><script>", "a = ['<b>' + (b) + '<\\/b>'];\n", 5000, "|<b>'</script><p>z</div>"},
    {"a script with styles", "<!doctype html><div><script>", "f({a: '<style>p { }</style>'});\n", 5000,
     "'|<b>'</script><p>z</div>"},
    {"JSON with styles", "<!doctype html><div><script>", "[{\"a\": \"\\n<style>p { }<\\/style>\"}],\n", 5000,
     "{|<b>}</script><p>z</div>"},
    {"an old script", "<!doctype html><div><script><!--\n", "if (a < b) { c(); }\n", 5000,
     "|<b>//--></script><p>z</div>"},
    {"a style sheet", "<!doctype html><div><style>", "p { color: red }\n", 5000, "|<b></style><p>z</div>"},
    {"an svg in a symbol", "<!doctype html><div><p>x</p><svg>", "<symbol><svg><path/></svg></symbol>", 50,
     "<symbol>|<svg><path/></svg><g>x</g></symbol></svg><p>y"},
    {"custom elements after a head", "<!doctype html><head>", "<script>a({}, [])</script>", 40,
     "|<x-y><div>y</div></x-y><p>z"},
    {"comparisons", "<!doctype html><div><script>", "if (a<b.c&&d>e) { f(); }\n", 2000,
     "if (a|<b.c) { g(); }</script><p>z"},
    {"a strict script", "<!doctype html><p>x<script>y</script><script>\"use strict\";\n", "if (a < b) { c(); }\n", 50,
     "if (a |<b && c=\"</script><p title=\"z\">w"},
    {"a short string", "<!doctype html><div><script>", "a.b('<i>x</i>', [(1)]);\n", 600,
     "// xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxx\n// xxxxxxxxx "
     "xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxxxxxxxx xxx\na.b('|<i x=\"</script><p "
     "title=\"y\">z"},
    {"an escaped title", "<!doctype html><div><script>[", "\"x <title>x<\\/title> xxxxxxxxxx xxxxxxxxxx xxxxxxxxxx\",",
     100, "\"x |<br>x\"]</script><p>z"},
    {"an end tag that closes nothing", "<!doctype html><div>", "<script>x</script>", 100, "|<i>x</i></script><p>z"},
    {"escaped attributes", "<!doctype html><div title=\"", "<p class=&quot;x&quot;>xxxxxxxxxxxxxxxxxxxxxxxxxx", 100,
     "|<p class=&quot;x&quot;>x\">y</div><p>z"},
    {"an attribute", "<!doctype html><div><iframe srcdoc=\"", "{&quot;a&quot;: [(1)], &quot;h&quot;: &quot;x", 5000,
     "|<b>{[()]}&quot;\"></iframe><p>x</div>"},
};

/* Checks a single cut, and the last of several cuts that one worker handles, in descending order
 * or, on threads, in ascending order. */
static void looks_around(void) {
  for (size_t i = 0; i < sizeof surroundings / sizeof *surroundings; i++) {
    static buffer page;
    buffer_clear(&page);
    buffer_text(&page, surroundings[i].before);
    size_t begin = page.length;
    for (unsigned n = 0; n < surroundings[i].count; n++) buffer_text(&page, surroundings[i].unit);
    const char *mark = strchr(surroundings[i].after, '|');
    buffer_add(&page, surroundings[i].after, (size_t)(mark - surroundings[i].after));
    uint64_t cut = page.length, cuts[8];
    buffer_text(&page, mark + 1);
    size_t unit = strlen(surroundings[i].unit);
    for (unsigned n = 0; n < 7; n++) cuts[n] = begin + surroundings[i].count * (n + 1) / 8 * unit;
    cuts[7] = cut;
    compare_case document = {page.bytes, page.length, NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, 0));
    for (int way = 0; way < 3; way++) {
      compare_how how = {.cuts = way ? cuts : &cut,
                         .cut_count = way ? 8 : 1,
                         .threads = 2,
                         .executor = way < 2 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                         .predictor = "lookback"};
      compare_check(&with, &how);
      uint64_t chunks = with.got_stats.chunks, clean = with.got_stats.chunks_clean;
      if (!CHECK(chunks == (way ? 8 : 1) && clean == chunks))
        printf("  %s, %d: %d of %d chunks clean\n", surroundings[i].name, way, (int)clean, (int)chunks);
    }
  }
}

/* Short texts whose markup the searches around a cut must not read beyond an end, or take for other
 * markup. */
static const char *const odd_texts[] = {
    "<head><!--a>b!>c-!>d->e--!><link><!-->f<!--->g<title>h</title><p>i",
    "<head><script><!x--><!--a><!-- b-> <script></script> --></script><link><p>c",
    "<head><link title=\"<!-- a\"><link title='<style>'><title>x</title><p>y",
    "<head><style>a</style><!",
    "<head><link><!-",
    "<head><link><!--",
    "<head><link><!-->",
    "<head><link><!--->",
    "<head><link><!--a>",
    "<head><script>a<",
    "<head><script>a<!",
    "<head><script>a</",
    "<head><script>a</s",
    "<head><script>a<!-",
    "<head><script>a<!--",
    "<head><title>a</title",
    "<head><title>a</title x",
    "<p><!-- a><b->c!>d-!>e--!>f<i>g",
    "<p title=a\n\t\f\r = 'b>c' d=\"e>\">f<i>g",
    "<p><svg><",
    "<p><svg><g",
    "<p><svg><path/></svg><!",
    "<script>f({}[()]); a = `<!-- b -->` + `<style>c</style>` + '\\n<style>d<\\/style>' + e</script><p title='x'>y",
    "<script>f({}[()]); a = (`<i>`) + '<b_c>' + \"<d:e>\" , `<i>` : '<j/>' </script><p>k<b_c>d</b_c><e:f>g</e:f>h",
    "<script>f({}[()]); '\\<i>' + '<i\\>'</script><p>k\\<style>a</style>`<style>b</style>`c",
    "<p title=&quot;a&quot; {}[]()>b=&quot;c&quot;<i>d=&quot;{}[]()<b e=&quot;f&quot;>g",
    "<p title=\"&quot;{}[]();<i a=&quot;b&quot;>c=\\&quot;d&quot;\">e",
    "<p>a<b>c=&quot;d&quot;<i>e",
    "a><!-- b<i>c --><p>d",
    "<math><ms>a</ms><mi>b</mi><annotation-xml></annotation-xml></math><table><tr><th>c</th></table>",
};

static void odd_markup(void) {
  for (size_t i = 0; i < sizeof odd_texts / sizeof *odd_texts; i++) {
    const compare_case document = {odd_texts[i], strlen(odd_texts[i]), NULL, false, "utf-8"};
    CHECK(compare_expect(&with, &document, 0));
    for (uint64_t cuts[2] = {1, 0}; cuts[0] < document.length; cuts[0]++)
      for (cuts[1] = cuts[0] + 1; cuts[1] <= document.length; cuts[1] += 7) {
        compare_how how = {.cuts = cuts,
                           .cut_count = 1 + (cuts[1] < document.length),
                           .threads = 2,
                           .executor = HPAR_EXECUTOR_INLINE,
                           .predictor = "lookback"};
        compare_check(&with, &how);
      }
  }
}

/* custom predictors ** */

/* A predictor that returns the same answer for each cut, except for `first`, which is a distance
 * from the cut. */
typedef struct opinion {
  hpar_guess guess;
  /* 0: unknown; SIZE_MAX: past the end; otherwise this number minus one after the cut */
  size_t first;
  const char *page; /* NULL: the text may differ from the input */
  _Atomic unsigned long calls, wrong;
} opinion;

static void say(const hpar_cut *cut, hpar_guess *guess, void *context) {
  opinion *o = context;
  atomic_fetch_add(&o->calls, 1);
  bool fresh = guess->context == HPAR_CONTEXT_NONE && !guess->element && guess->ns == HPAR_NAMESPACE_HTML &&
               !guess->mode && !guess->first;
  bool sound =
      cut->begin > 0 && cut->begin < cut->end && cut->end <= cut->length && cut->scripting == with.of.scripting;
  bool same = !o->page || (strlen(o->page) == cut->length && !memcmp(cut->text, o->page, cut->length));
  if (!fresh || !sound || !same) atomic_fetch_add(&o->wrong, 1);
  *guess = o->guess;
  guess->first = !o->first ? 0 : o->first == SIZE_MAX ? SIZE_MAX : cut->begin + o->first - 1;
}

static uint64_t right_start_by(const char *page, uint64_t cut, const hpar_guess *guess, size_t first) {
  opinion o = {.guess = *guess, .first = first, .page = page};
  hpar_predictor own = {HPAR_PREDICTOR_INIT, .name = "mine", .predict = say, .context = &o};
  compare_case document = {page, strlen(page), NULL, false, "utf-8"};
  compare_how how = {
      .cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .own_predictor = &own};
  CHECK(compare_expect(&with, &document, 0));
  CHECK_EQ(compare_parallel(&with, &how), COMPARE_SAME);
  CHECK_STRING(with.got_stats.predictor, "mine");
  CHECK_EQ(o.calls, 1);
  CHECK_EQ(o.wrong, 0);
  return with.got_stats.chunks_right_start;
}

static void guesses_decide(void) {
  static const struct {
    const char *state;
    hpar_guess guess;
  } right[] = {
      {"data", {.context = HPAR_CONTEXT_NONE}},
      {"comment", {.context = HPAR_CONTEXT_COMMENT}},
      {"script data", {.context = HPAR_CONTEXT_RAW_TEXT, .element = "script"}},
      {"RAWTEXT", {.context = HPAR_CONTEXT_RAW_TEXT, .element = "STYLE"}},
      {"RCDATA", {.context = HPAR_CONTEXT_RAW_TEXT, .element = "textarea"}},
      {"attribute value (double-quoted)", {.context = HPAR_CONTEXT_DOUBLE_QUOTES}},
      {"attribute value (single-quoted)", {.context = HPAR_CONTEXT_SINGLE_QUOTES}},
      {"attribute value (unquoted)", {.context = HPAR_CONTEXT_TAG}},
      {"tag name", {.context = HPAR_CONTEXT_TAG}},
      {"DOCTYPE", {.context = HPAR_CONTEXT_TAG}},
      {"CDATA section", {.context = HPAR_CONTEXT_CDATA, .ns = HPAR_NAMESPACE_SVG}},
  };
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    const char *page = NULL;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
      if (!strcmp(places[k].state, right[i].state)) page = places[k].page;
    if (!CHECK(page != NULL)) continue;
    uint64_t cut = (uint64_t)(strstr(page, "x<p") + 1 - page);
    hpar_guess guess = right[i].guess;
    if (!guess.ns) guess.ns = HPAR_NAMESPACE_HTML;
    if (!CHECK_EQ(right_start_by(page, cut, &guess, 0), 1)) printf("  in %s\n", right[i].state);
    guess.context = guess.context == HPAR_CONTEXT_NONE ? HPAR_CONTEXT_COMMENT : HPAR_CONTEXT_NONE;
    if (!CHECK_EQ(right_start_by(page, cut, &guess, 0), 0)) printf("  not in %s\n", right[i].state);
    CHECK_EQ(right_start_by(page, cut, &guess, (size_t)(strstr(page, "<b>") - page - (ptrdiff_t)cut) + 1), 0);
  }
  const char *comment = places[1].page;
  uint64_t cut = (uint64_t)(strstr(comment, "x<p") + 1 - comment);
  hpar_guess data = {.ns = HPAR_NAMESPACE_HTML},
             unknown = {.context = HPAR_CONTEXT_RAW_TEXT, .element = "i", .mode = "x"};
  CHECK_EQ(right_start_by(comment, cut, &data, (size_t)(strstr(comment, "</div") - comment - (ptrdiff_t)cut) + 1), 1);
  CHECK_EQ(right_start_by(comment, cut, &data, SIZE_MAX), 0);
  cut = (uint64_t)(strstr(places[0].page, "<p>") - places[0].page);
  CHECK_EQ(right_start_by(places[0].page, cut, &unknown, 0), 1); /* the data state */
  CHECK_EQ(right_start_by("<p><!--  <i>  --> x", 10, &data, SIZE_MAX), 0);
}

/* The mode decides: the first token of the chunk has another effect in a row. */
static void modes_decide(void) {
  const char *page = "<!doctype html><table><tr><td>a</td><td>b</td></table>";
  uint64_t cut = (uint64_t)(strstr(page, "<td>b") - page);
  hpar_guess row = {.ns = HPAR_NAMESPACE_HTML, .mode = "in row"}, head = {.ns = HPAR_NAMESPACE_HTML, .mode = "in head"};
  CHECK_EQ(right_start_by(page, cut, &row, 0), 1);
  CHECK_EQ(with.got_stats.chunks_right, 1);
  CHECK_EQ(with.got_stats.log_entries_by_kind[HPAR_LOG_REPLAY], 1);
  uint64_t reparsed = with.got_stats.bytes_reparsed;
  CHECK_EQ(right_start_by(page, cut, &head, 0), 1);
  CHECK(with.got_stats.bytes_reparsed >= reparsed);
  CHECK(with.got_stats.log_entries_by_kind[HPAR_LOG_REPLAY] > 1);
}

static void partial_context(void) {
  const char *page = "<!doctype html><script>if (a) { '<p>' }</script><p>b";
  const uint64_t cut = (uint64_t)(strstr(page, "<p>'") - page);
  opinion o = {.guess = {.ns = HPAR_NAMESPACE_HTML}};
  hpar_predictor own = {HPAR_PREDICTOR_INIT, .predict = say, .context = &o};
  compare_case document = {page, strlen(page), NULL, false, "utf-8"};
  compare_how how = {
      .cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE, .own_predictor = &own};
  CHECK(compare_expect(&with, &document, 0));
  for (int k = 0; k < 2; k++) {
    own.partial_context = k;
    CHECK_EQ(compare_parallel(&with, &how), COMPARE_SAME);
    CHECK_EQ(with.got_stats.chunks_right_start, k);
    CHECK_EQ(with.got_stats.respeculations, k);
    CHECK_STRING(with.got_stats.predictor, "custom");
  }
  const hpar_study study = {HPAR_STUDY_INIT, .custom_predictor = &own};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .study = &study};
  own.predict = NULL;
  CHECK_EQ(hpar_parse(with.parser, &options, page, strlen(page), with.document, NULL), HPAR_ERROR_ARGUMENT);
}

/* Checks arbitrary answers. */
static void any_guess(void) {
  static const char *const elements[] = {"script",  "style",    "textarea", "title",     "xmp", "iframe",
                                         "noembed", "noframes", "noscript", "plaintext", "div", NULL};
  static const hpar_namespace namespaces[] = {HPAR_NAMESPACE_HTML, HPAR_NAMESPACE_SVG, HPAR_NAMESPACE_MATHML,
                                              HPAR_NAMESPACE_NONE, (hpar_namespace)77};
  static const size_t firsts[] = {0, 0, 0, 1, 2, 5, 20, SIZE_MAX};
  enum { OPINIONS = 60 };
  static uint64_t cuts[COMPARE_MAX_CUTS];
  random_state random = {11};
  unsigned long calls = 0, wrong = 0;
  for (size_t i = 0; i < document_count; i++) {
    if (!CHECK(compare_expect(&with, &documents[i], 1000))) continue;
    for (size_t k = 0; k < OPINIONS; k += CHECK_ONE_THREAD ? 1 : 10) {
      size_t count = 0;
      if (k % 2)
        count = compare_candidates(with.of.bytes, with.of.length, cuts, MAX_CUTS);
      else
        for (uint64_t at = 1 + k % 7; at < with.of.length && count < MAX_CUTS; at += 7) cuts[count++] = at;
      if (!count) continue;
      size_t mode = random_below(&random, HP_INSERTION_MODES + 10);
      opinion o = {.guess = {.context = (hpar_start_context)random_below(&random, HPAR_CONTEXT_CDATA + 3),
                             .element = RANDOM_OF(&random, elements),
                             .ns = RANDOM_OF(&random, namespaces),
                             .mode = mode < HP_INSERTION_MODES ? hp_mode_name((uint8_t)mode) : NULL},
                   .first = RANDOM_OF(&random, firsts)};
      hpar_predictor own = {HPAR_PREDICTOR_INIT, .predict = say, .context = &o,
                            .partial_context = random_chance(&random, 50)};
      compare_how how = {.cuts = cuts,
                         .cut_count = count,
                         .threads = 2 + (unsigned)random_below(&random, 3),
                         .executor = k % 10 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS,
                         .checkpoint_bytes = k % 3 ? 1 : 0,
                         .max_errors = 1000,
                         .strategy = k % 4 ? NULL : hpar_strategy_name(random_below(&random, 5)),
                         .merge = k % 5 ? HPAR_MERGE_CHAIN : HPAR_MERGE_TREE,
                         .own_predictor = &own};
      compare_check(&with, &how);
      calls += o.calls;
      wrong += o.wrong;
    }
  }
  CHECK(calls > (CHECK_ONE_THREAD ? 10000 : 1000));
  CHECK_EQ(wrong, 0);
}

/*** doubtful starts ***/

/* Parses `count` times `line` between `before` and `after`. The only cut is before the first "<" of
 * the last 20 KB. Returns true if the chunk is clean and the tree is the sequential tree. */
static bool is_clean(const char *before, const char *line, size_t count, const char *after) {
  size_t length = strlen(before) + count * strlen(line) + strlen(after);
  char *page = malloc(length + 1);
  if (!page) exit(1);
  char *end = stpcpy(page, before);
  for (size_t i = 0; i < count; i++) end = stpcpy(end, line);
  stpcpy(end, after);
  uint64_t cut = (uint64_t)(strchr(end - 20000, '<') - page);
  compare_case document = {page, length, NULL, false, "utf-8"};
  compare_how how = {.cuts = &cut, .cut_count = 1, .threads = 2, .executor = HPAR_EXECUTOR_INLINE};
  bool same = compare_expect(&with, &document, 0) && compare_parallel(&with, &how) == COMPARE_SAME;
  free(page);
  return same && with.got_stats.chunks_clean == 1 && !with.got_stats.bytes_reparsed;
}

/* Prose with many brackets looks like a script. Only text beyond the search's limit would show the
 * state. */
static void doubtful_starts(void) {
  enum { LINES = 4000 };
  static const char prose[] =
      "<p>f (x, y) := [g (x), {h (y)}] (see the chapter on functions (and on lists [of any length])) and "
      "block ([a, b], a : 1, b : 2, (a + b)) is a block; the words after it fill the line up to a width that "
      "leaves few tags within half a kilobyte of text, as manuals of computer algebra have it (and others), "
      "so that a search for the tags of this line finds one of them or two at most in such a distance.\n";
  static const char code[] =
      "f (x, y) = {g: [h (x), {i: (y)}]}; if (x < 1 && (y > 2)) { j (); } \"<b>\" + k (l) + (m [n]) + (o); ";
  CHECK(sizeof prose * LINES > 1 << 20);
  CHECK(is_clean("<!doctype html><body>", prose, LINES, "<p>end"));
  CHECK(is_clean("<!doctype html><body>", prose, LINES, "<p>text<script>'a'</script><p>end"));
  CHECK(is_clean("<!doctype html><body><script>", code, 12000, "</script><p>end <b>of</b> text"));
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (!compare_open(&with)) return 1;
  compare_watch();
  looks_around();
  any_guess();
  if (CHECK_ONE_THREAD) {
    tables_decide();
    tables_fall_back();
    default_table();
    tables_refused();
    every_document();
    odd_markup();
    guesses_decide();
    modes_decide();
    partial_context();
    doubtful_starts();
  }
  compare_close(&with);
  return check_report();
}
