/* Checks the paper's scheme. For each of its guesses, each way to detect a wrong guess, and each
 * kind of tree that the scheme would build wrong, the test has the smallest document that shows it.
 * "|" is a cut. */

#include "study/hpar2013.h"
#include "study/judge.h"
#include "support/compare_check.h"

#include <hpar/study.h>

enum { MAX_CUTS = 4 };
#define SILENT(kind) (1u << HPAR_UNDETECTED_##kind)

static const struct scheme_case {
  const char *what, *document;
  unsigned respeculations, aborts, rollbacks;
  unsigned silent; /* bit k: hpar_undetected_error k */
} cases[] = {
    /* Guesses that hold. */
    {"data, in body", "<div>|<p>a</p></div>|<p>b", 0, 0, 0, 0},
    {"head content first", "<title>t</title>|<meta name=a>|<link></head>|<body>x", 0, 0, 0, 0},
    {"the body, after head content", "<head><title>t</title>|<link><p>x", 0, 0, 0, 0},
    {"the end of a comment", "<p><!-- a |<b> --> <p>x</p>", 0, 0, 0, 0},
    {"what looks like the end of a comment", "<p>a |<b>b</b> --> c", 0, 0, 0, 0},
    {"a comment that fills a chunk", "<p><!-- a |<b> c |<i> --> x", 0, 0, 0, 0},
    {"a script that fills a chunk", "<script>a('|<b>c|</b>')</script>x", 1, 0, 0, 0},
    {"the last tag before the cut, li", "<ul><li>x|<li>y", 0, 0, 0, 0},
    {"the last tag before the cut, p", "<p>a|<div>b", 0, 0, 0, 0},
    {"the last tag before the cut, p, in between", "<p>a|<i>b</i><div>c", 0, 0, 0, 0},
    {"unpaired end tags, inner to outer", "<div><p><i>a|</i></p></div>b", 0, 0, 0, 0},
    {"an unpaired end tag that nothing matches", "<div>|</ul><p>a", 0, 0, 0, 0},
    {"an unpaired end tag with others missing", "<div><p>a|<i></i></div>b", 0, 0, 0, 0},
    {"text around an ignored start tag", "<div>|<i></i>a<html>b", 0, 0, 0, 0},
    {"the end", "<div>a|</div></body></html> \n", 0, 0, 0, 0},
    /* A second parse, with a better guess. */
    {"inside script", "<script>a('|<b>')</script>b<p>c", 1, 0, 0, 0},
    {"inside style", "<style>a{}/*|<b>*/</style>b", 1, 0, 0, 0},
    {"inside title", "<title>a |<b></title>b", 1, 0, 0, 0},
    {"inside svg", "<svg><g>|<path/></g></svg><p>a", 1, 0, 0, 0},
    {"inside math", "<math>|<mi>a</mi></math><p>b", 1, 0, 0, 0},
    {"in cell", "<table><tr><td>a|<i>b</i></td><td>c</td></tr></table>d", 1, 0, 0, 0},
    {"in row", "<table><tr><td>a</td>|<td>b</td></tr><tr><td>c</td></tr></table>d", 1, 0, 0, 0},
    {"in table body", "<table><tbody><tr><td>a</td></tr>|<tr><td>b</td></tr></tbody></table>c", 1, 0, 0, 0},
    {"in head", "<head><noscript>|</noscript><meta name=a></head>b", 1, 0, 0, 0},
    {"in head, mistaken", "<div>|<p>a</p><meta name=b>c", 2, 0, 0, 0},
    {"in cell, after a script", "<table><tr><td><script>'|<b>'</script>a</td></tr></table>b", 2, 0, 0, 0},
    /* Errors that the merge detects. */
    {"an unpaired </script>", "<p>a|<b>c</b></script>d", 1, 0, 1, 0},
    {"the end of another raw text", "<style>a |<b></script></style>b", 1, 0, 1, 0},
    {"<script> within a script", "<script>a='|<script>'</script>b", 0, 0, 1, 0},
    {"a comment within a comment", "<p><!-- a |<!-- b --> c", 0, 0, 1, 0},
    /* Abandoned: auto-correction reaches the bottom. */
    {"a cell to be closed", "<table><tr><td>a|<td>b</td></td></tr></table>", 1, 1, 0, 0},
    {"a row to be closed", "<table><tr><td>a</td>|<td>b</td><tr><td>c</td></tr></tr></table>", 1, 1, 0, 0},
    {"a section to be closed", "<table><tbody>|<tbody><tr></tr></tbody></tbody></table>", 1, 1, 0, 0},
    {"foreign content to be left", "<svg>|<g></g><p>x</p></svg>", 1, 1, 0, 0},
    /* Errors that the scheme does not detect. */
    {"the end of a comment in a script", "<p><!-- |<script>--></script> --> x", 0, 0, 0, SILENT(START_STATE)},
    {"the first end of a script", "<script>s='|<script>1</script>2</script>x", 1, 0, 0, SILENT(START_STATE)},
    {"an attribute", "<a title='|<b>'>x", 0, 0, 0, SILENT(START_STATE)},
    {"foreign content without an end", "<svg>|<g>x", 0, 0, 0, SILENT(NAMESPACE)},
    {"a cell without an end", "<table><tr>|<td>a", 0, 0, 0, SILENT(MODE)},
    {"noscript as in head", "<p>|<script></script><noscript><img></noscript>a", 0, 0, 0, SILENT(MODE)},
    {"a last tag that is a comment", "<ul><li><ul><!--<li>-->|<li>x", 0, 0, 0, SILENT(TOP)},
    {"</p> alone", "<div>a|</p>b", 0, 0, 0, SILENT(END_TAG)},
    {"</br>", "<div>a|</br>b", 0, 0, 0, SILENT(END_TAG)},
    {"an end tag out of scope", "<p><button>|</p>a", 0, 0, 0, SILENT(END_TAG)},
    {"an end tag over what the chunk has open", "<div>|<p>a</div>b", 0, 0, 0, SILENT(END_TAG)},
    {"li after a", "<ul><li><a>x</a>|<li>y", 0, 0, 0, SILENT(IMPLIED_END)},
    {"div after b", "<p><b>x</b>|<div>y", 0, 0, 0, SILENT(IMPLIED_END)},
    {"formatting to be reconstructed", "<p><b>x</p>|<p>y", 0, 0, 0, SILENT(FORMATTING)},
    {"formatting to be adopted", "<b><p>x|<i></i></b>y", 0, 0, 0, SILENT(FORMATTING)},
    {"content of a table", "<table>|<b>x</b></table>", 0, 0, 0, SILENT(FOSTER)},
    {"content of a row", "<table><tr>|<i>x</i><td></td></tr></table>", 1, 0, 0, SILENT(FOSTER)},
    {"text around a dropped end tag", "<p>a|</i>b", 0, 0, 0, SILENT(TEXT)},
    {"text around </head>, in body", "<div>|<i></i><head> </head> b", 0, 0, 0, SILENT(TEXT)},
    {"a form in a form", "<form>|<form>x", 0, 0, 0, SILENT(OTHER)},
};

static comparer with;

static void print_kinds(const char *of, unsigned kinds) {
  printf("  %s:", of);
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++)
    if (kinds >> i & 1) printf(" %s", hpar_undetected_error_name((hpar_undetected_error)i));
  printf("\n");
}

static void check_case(const struct scheme_case *c) {
  char text[256];
  uint64_t cuts[MAX_CUTS];
  size_t length = 0, cut_count = 0;
  for (const char *at = c->document; *at; at++) {
    if (*at == '|')
      cuts[cut_count++] = length;
    else
      text[length++] = *at;
  }
  unsigned long failed = check_failed;
  compare_case of = {text, length, NULL, false, "utf-8"};
  compare_how how = {.cuts = cuts,
                     .cut_count = cut_count,
                     .threads = 1,
                     .executor = HPAR_EXECUTOR_INLINE,
                     .strategy = "hpar2013",
                     .max_errors = 100};
  if (!CHECK(compare_expect(&with, &of, 100))) return;
  compare_check(&with, &how);
  const hpar_study_stats *stats = &with.got_stats;
  unsigned silent = 0;
  for (int i = 0; i < HPAR_UNDETECTED_ERRORS; i++) silent |= (stats->undetected_errors_by_kind[i] ? 1u : 0u) << i;
  CHECK_EQ(stats->respeculations, c->respeculations);
  CHECK_EQ(stats->aborts, c->aborts);
  CHECK_EQ(stats->rollbacks, c->rollbacks);
  if (!CHECK_EQ(silent, c->silent)) {
    print_kinds("got", silent);
    print_kinds("expected", c->silent);
  }
  CHECK_EQ(stats->chunks_with_undetected_errors != 0, c->silent != 0);
  CHECK_EQ(stats->bytes_respeculated != 0, c->respeculations != 0);
  CHECK(stats->bytes_respeculated <= c->respeculations * length);
  CHECK_EQ(stats->chunks_misguessed != 0, c->respeculations || c->aborts || c->rollbacks);
  if (check_failed > failed) printf("  in \"%s\": %s\n", c->what, c->document);
}

/* The merger classifies no chunk that it has begun itself because the thread was late. Such a chunk
 * must not count the errors of the chunk before. */
static void rescued_chunks_count_nothing(void) {
  static const char text[] = "ab<p>c";
  hp_strategy strategy = {.parse = hp_hpar2013_parse};
  const hp_merge_judge *judge = hp_judge_of(&strategy);
  hp_part_state state = {NULL, NULL};
  hp_engine engine = {.tokenizer.base = text};
  hp_chunk_result in_text = {.cut = 1, .limit = 4}, rescued = {.cut = 4, .limit = 6};
  CHECK_EQ(judge->open(&state), HPAR_OK);
  const hp_judgement *found = state.memory;
  hp_merger merger = {.engine = &engine, .judge = judge, .judgement = state.memory};
  judge->classify(&merger, &in_text, 2);
  CHECK(judge->at_chunk_boundary(&merger, &in_text, 0));
  judge->end_chunk(&merger);
  CHECK_EQ(found->undetected_errors_by_kind[HPAR_UNDETECTED_TEXT], 1);
  CHECK(judge->at_chunk_boundary(&merger, &rescued, -1));
  judge->end_chunk(&merger);
  CHECK_EQ(found->undetected_errors_by_kind[HPAR_UNDETECTED_TEXT], 1);
  CHECK_EQ(found->chunks_with_undetected_errors, 1);
  state.destroy(state.memory);
}

/* A parse without a study has no such counters, whatever the parser parsed before. */
static void later_parses_count_nothing(void) {
  static const char page[] = "<p><!-- a <b> --><a title='<b>'>x";
  uint64_t cuts[] = {10, 27};
  hpar_study study = {HPAR_STUDY_INIT, .strategy = "hpar2013", .cuts = cuts, .cut_count = 2};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .encoding = "utf-8", .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  CHECK_EQ(hpar_study_parse(with.parser, &options, page, sizeof page - 1, with.document, &stats), HPAR_OK);
  CHECK_EQ(stats.chunks_in_comment, 1);
  CHECK_EQ(stats.chunks_in_markup, 1);
  CHECK_EQ(stats.chunks_with_undetected_errors, 1);
  options.study = NULL;
  CHECK_EQ(hpar_parse(with.parser, &options, page, sizeof page - 1, with.document, NULL), HPAR_OK);
  CHECK_EQ(hpar_study_stats_of(with.parser, &stats), HPAR_OK);
  CHECK_STRING(stats.mode, "parallel");
  CHECK_EQ(stats.chunks_in_comment + stats.chunks_in_markup, 0);
  CHECK_EQ(stats.chunks_with_undetected_errors, 0);
  CHECK_EQ(stats.undetected_errors_by_kind[HPAR_UNDETECTED_START_STATE], 0);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  compare_watch();
  if (!compare_open(&with)) return 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
  rescued_chunks_count_nothing();
  later_parses_count_nothing();
  compare_close(&with);
  return check_report();
}
