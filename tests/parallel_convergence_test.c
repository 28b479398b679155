/* Checks how the start hypotheses of a chunk converge (hpar_convergence): pages whose hypotheses
 * meet at known bytes, pages whose hypotheses never meet, and what holds for every page. */

#include "support/buffer.h"
#include "support/compare_check.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"

#include <hpar/study.h>

static hpar_parser *parser;
static hpar_document *document;
static hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};

static hpar_status parse(const char *page, size_t length, const char *fragment, bool scripting, const uint64_t *cuts,
                         size_t cut_count) {
  const hpar_study study = {HPAR_STUDY_INIT, .strategy = "enumerate", .cuts = cuts, .cut_count = cut_count,
                            .converge = true};
  const hpar_options options = {HPAR_OPTIONS_INIT,
                                .mode = HPAR_MODE_PARALLEL,
                                .threads = 2,
                                .fragment = fragment,
                                .scripting = scripting,
                                .encoding = "utf-8",
                                .parallel.executor = HPAR_EXECUTOR_INLINE,
                                .study = &study};
  return hpar_study_parse(parser, &options, page, length, document, &stats);
}

typedef struct known {
  const char *name, *page; /* with one cut at each '|' */
  bool scripting;
  uint32_t hypotheses, live_after[HPAR_CONVERGENCE_STEPS], live;
  uint64_t bytes_until_one;
} known;

#define CLOSE_ALL "x'\">-->]]></script></style></textarea></title></xmp></iframe></noembed></noframes>"

static const known pages[] = {
    {"no markup, so no construct ends", "<p>aaaa|bbbb cccc", false, 14, {14, 14, 14, 14, 14, 14}, 14, UINT64_MAX},
    {"each construct ends: the last after 82 bytes", "<p>a|" CLOSE_ALL "yyyy", false, 14, {14, 9, 3, 1, 1, 1}, 1, 82},
    {"the end of the chunk is text", "<p>a|" CLOSE_ALL, false, 14, {14, 9, 3, 1, 1, 1}, 1, 82},
    {"scripting adds noscript", "<p>a|" CLOSE_ALL "</noscript>", true, 15, {15, 10, 4, 1, 1, 1}, 1, 93},
    {"noscript goes on", "<p>a|" CLOSE_ALL "y", true, 15, {15, 10, 4, 2, 2, 2}, 2, UINT64_MAX},
    /* The tag ends after 11 bytes, where the chunk ends. */
    {"the end of a tag", "<p>a|aaaaaaaaaa>", false, 14, {14, 13, 13, 13, 13, 13}, 13, UINT64_MAX},
    /* The script meets data after 10 bytes, before the end tag. The tag is in text after 9 bytes,
     * and meets them after the end tag. */
    {"the script that data reads", "<p>|a<script>b</script>c", false, 14, {14, 13, 12, 12, 12, 12}, 12, UINT64_MAX},
    {"a comment that data reads", "<p>|a<!--b-->cccccccccccccc", false, 14, {14, 12, 12, 12, 12, 12}, 12, UINT64_MAX},
    /* The tag and the value meet after 17 bytes, inside data's comment, and data after 26. */
    {"a value in a comment",
     "<p>|a<!--aaaaaaaaaa'>bbbbbb-->c'>cc",
     false,
     14,
     {14, 14, 11, 11, 11, 11},
     11,
     UINT64_MAX},
};

static void pages_converge(void) {
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    static buffer page;
    const known *k = &pages[i];
    uint64_t cut;
    size_t cuts = compare_unmark(k->page, &page, &cut);
    CHECK_EQ(cuts, 1);
    CHECK_EQ(parse(page.bytes, page.length, NULL, k->scripting, &cut, 1), HPAR_OK);
    CHECK_EQ(hpar_chunk_count(parser), 2);
    CHECK_EQ(hpar_chunk_at(parser, 0)->convergence.hypotheses, 0);
    const hpar_convergence *c = &hpar_chunk_at(parser, 1)->convergence;
    bool fine = CHECK_EQ(c->hypotheses, k->hypotheses);
    for (int n = 0; n < HPAR_CONVERGENCE_STEPS; n++) fine = CHECK_EQ(c->live_after[n], k->live_after[n]) && fine;
    fine = CHECK_EQ(c->live, k->live) && fine;
    fine = CHECK_EQ(c->bytes_until_one, k->bytes_until_one) && fine;
    fine = CHECK_EQ(c->live_by_context[HPAR_CONTEXT_NONE], 1) && fine;
    if (!fine) printf("  %s\n", k->name);
  }
}

/* Without the request there are no figures. */
static void only_on_request(void) {
  static const uint64_t cut = 3;
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = &cut, .cut_count = 1, .inspect = true};
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .study = &study};
  CHECK_EQ(hpar_study_parse(parser, &options, "<p>a</p>", 8, document, &stats), HPAR_OK);
  CHECK_EQ(hpar_chunk_at(parser, 1)->convergence.hypotheses, 0);
  CHECK_EQ(stats.convergence.chunks, 0);
}

static void check_chunk(const hpar_convergence *c, uint64_t length, bool scripting) {
  uint32_t by_context = 0, last = c->hypotheses;
  CHECK_EQ(c->hypotheses, scripting ? 15 : 14);
  for (int n = 0; n < HPAR_CONVERGENCE_STEPS; n++) {
    CHECK(c->live_after[n] <= last);
    last = c->live_after[n];
  }
  CHECK(c->live >= 1 && c->live <= last);
  for (int i = 0; i <= HPAR_CONTEXT_CDATA; i++) by_context += c->live_by_context[i];
  CHECK_EQ(by_context, c->live);
  CHECK_EQ(c->bytes_until_one == UINT64_MAX, c->live != 1);
  CHECK(c->live != 1 || c->bytes_until_one <= length);
}

/* Cuts the page at random places. */
static void check_page(const char *bytes, size_t length, const char *fragment, bool scripting, random_state *random) {
  uint64_t cuts[8];
  size_t count = 0;
  for (uint64_t at = 0; count < 8;) {
    at += 1 + random_below(random, length / 5 + 2);
    if (at >= length) break;
    cuts[count++] = at;
  }
  CHECK_EQ(parse(bytes, length, fragment, scripting, count ? cuts : NULL, count), HPAR_OK);
  uint64_t hypotheses = 0, live = 0, ones = 0, until = 0;
  size_t chunks = hpar_chunk_count(parser);
  for (size_t i = 1; i < chunks; i++) {
    const hpar_chunk *chunk = hpar_chunk_at(parser, i);
    const hpar_convergence *c = &chunk->convergence;
    check_chunk(c, chunk->text_end - chunk->text_begin, scripting);
    hypotheses += c->hypotheses;
    live += c->live;
    ones += c->live == 1;
    until += c->live == 1 ? c->bytes_until_one : 0;
  }
  CHECK_EQ(stats.convergence.chunks, chunks ? chunks - 1 : 0);
  CHECK_EQ(stats.convergence.hypotheses, hypotheses);
  CHECK_EQ(stats.convergence.live, live);
  CHECK_EQ(stats.convergence.chunks_with_one, ones);
  CHECK_EQ(stats.convergence.bytes_until_one, until);
}

static void any_pages(void) {
  random_state random = {3};
  for (size_t i = 0; i < document_count; i++) {
    const compare_case *d = &documents[i];
    check_page(d->bytes, d->length, d->fragment, d->scripting, &random);
  }
  generated made = {0};
  for (uint64_t seed = 1; seed <= 2 * (uint64_t)compare_scale(); seed++) {
    generate(seed, &made);
    check_page(made.text.bytes, made.text.length, made.fragment, made.scripting, &random);
  }
  generate_free(&made);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  pages_converge();
  only_on_request();
  any_pages();
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  return check_report();
}
