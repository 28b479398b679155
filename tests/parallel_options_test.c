/* Checks the options of a parallel parse: any number of threads, any chunk size, the automatic
 * mode, a reused parser, and consistent counters. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer page, expected, got;
static hpar_study_stats expected_stats = {HPAR_STUDY_STATS_INIT};

static void make_page(void) {
  random_state random = {7};
  buffer_text(&page,
              "<!doctype html><html><head><title>Page</title><style>p > b { color: red }</style></head><body>\n");
  for (unsigned i = 0; i < 6500; i++) {
    switch (random_below(&random, 8)) {
      case 0: buffer_format(&page, "<h2 id=h%u>Heading %u</h2>\n", i, i); break;
      case 1: buffer_format(&page, "<ul><li>one<li>two <b>%u</b></ul>\n", i); break;
      case 2: buffer_format(&page, "<table><tr><td>%u<td><i>cell</i></table>\n", i); break;
      case 3: buffer_format(&page, "<script>var a%u = '<p>' + \"</div>\";</script>\n", i); break;
      case 4: buffer_format(&page, "<svg viewBox='0 0 1 1'><path d='M%u'/><title>t</title></svg>\n", i); break;
      case 5: buffer_format(&page, "<!-- comment %u <b> --><div><div><span>x</span></div></div>\n", i); break;
      default: buffer_format(&page, "<p class=c%u>Some text &amp; more of <a href='/%u'>it</a>.\n", i % 5, i);
    }
  }
  buffer_text(&page, "</body></html>\n");
}

/* A thread that is late in one parse does not take part in the next one. */
static bool lacks_threads(const hpar_options *options, const hpar_study_stats *stats) {
  return stats && options->mode == HPAR_MODE_PARALLEL && stats->threads < options->threads;
}

/* Parses with all threads of the options. */
static hpar_status parse(const hpar_options *options, const char *bytes, size_t length, hpar_study_stats *stats) {
  enum { MOST_PARSES = 200 };
  hpar_status status = hpar_study_parse(parser, options, bytes, length, document, stats);
  for (int i = 1; i < MOST_PARSES && !status && lacks_threads(options, stats); i++) {
    hpar_document_clear(document);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    status = hpar_study_parse(parser, options, bytes, length, document, stats);
  }
  if (!status && !compare_dump(document, &got)) status = HPAR_ERROR_IO;
  return status;
}

static bool equal(void) {
  return got.length == expected.length && (!got.length || !memcmp(got.bytes, expected.bytes, got.length));
}

static uint64_t sum(const uint64_t *of, size_t count) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) total += of[i];
  return total;
}

static void check_stats(const hpar_study_stats *stats, const hpar_options *options) {
  CHECK_STRING(stats->mode, "parallel");
  CHECK_EQ(stats->bytes, page.length);
  CHECK_EQ(stats->tokens, expected_stats.tokens);
  CHECK_EQ(stats->nodes, expected_stats.nodes);
  CHECK_EQ(stats->parse_errors, 0);
  CHECK(stats->predictor != NULL);
  const char *predictor = options->study ? options->study->predictor : NULL;
  if (predictor && stats->predictor) CHECK_STRING(stats->predictor, predictor);
  if (options->threads) CHECK_EQ(stats->threads, options->threads);
  CHECK(stats->chunks_right_start <= stats->chunks);
  CHECK(stats->chunks_clean <= stats->chunks);
  CHECK(stats->chunks_exact <= stats->chunks);
  CHECK_EQ(sum(stats->log_entries_by_kind, HPAR_LOG_KINDS), stats->log_entries);
  CHECK(stats->bytes_reparsed <= stats->bytes);
  CHECK(stats->ns.total > 0);
  CHECK(stats->ns.merge <= stats->ns.total);
  CHECK(stats->ns.merge > 0 || stats->chunks == stats->chunks_exact);
  CHECK(stats->ns.cut <= stats->ns.total);
  CHECK(stats->ns.wait <= stats->ns.total);
  CHECK(stats->ns.first_chunk <= stats->ns.total + stats->ns.oracle);
  for (unsigned i = 0; i < stats->threads; i++) CHECK(stats->ns.parse_per_worker[i] <= stats->ns.total);
}

static void threads_and_chunks(void) {
  static const size_t sizes[] = {0, 1, 100, 1000, 4096, 32768, 65536, 1000000, SIZE_MAX / 2};
  const bool is_small = compare_scale() < 100;
  for (unsigned threads = is_small ? 2 : 1; threads <= 8; threads += is_small ? 5 : 1) {
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      if (is_small && (s + threads) % 2) continue;
      hpar_options options = {HPAR_OPTIONS_INIT};
      options.mode = HPAR_MODE_PARALLEL;
      options.encoding = "utf-8"; /* decoded in slices, a parse would leave a late thread */
      options.threads = threads;
      options.parallel.chunk_size = sizes[s];
      options.parallel.wait = (hpar_wait_policy)(s % 3);
      options.parallel.executor = (threads + s) % 3 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE;
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK);
      if (!CHECK(equal())) printf("  threads %u, chunk size %zu\n", threads, sizes[s]);
      check_stats(&stats, &options);
      if (sizes[s] >= 1000 && sizes[s] <= 65536) {
        uint64_t least = page.length / sizes[s] / 4;
        if (!CHECK(stats.chunks >= least)) printf("  %llu chunks of %zu\n", (unsigned long long)stats.chunks, sizes[s]);
      }
      if (sizes[s] > page.length) CHECK_EQ(stats.chunks, 0);
    }
  }
}

/* Checks that the parser accepts each name, reports it in the statistics, and makes the same
 * tree. */
static void names(const char *(*name_at)(size_t), const char *(*summary_at)(size_t), size_t option, size_t shown) {
  static const hpar_executor executors[] = {HPAR_EXECUTOR_THREADS, HPAR_EXECUTOR_INLINE};
  const char *name;
  for (size_t i = 0; (name = name_at(i)); i++) {
    CHECK(summary_at(i) != NULL);
    for (size_t k = 0; k < i; k++) CHECK(strcmp(name, name_at(k)) != 0);
    for (size_t k = 0; k < 1 + CHECK_ONE_THREAD; k++) {
      hpar_study study = {HPAR_STUDY_INIT};
      hpar_options options = {HPAR_OPTIONS_INIT, .study = &study};
      options.mode = HPAR_MODE_PARALLEL;
      options.threads = 3;
      options.parallel.chunk_size = 5000;
      memcpy((char *)&study + option, &name, sizeof name);
      options.parallel.executor = executors[k];
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK);
      CHECK(equal());
      check_stats(&stats, &options);
      const char *got;
      memcpy(&got, (const char *)&stats + shown, sizeof got);
      CHECK_STRING(got, name);
      CHECK(stats.chunks > 10);
      /* Threads that start late may leave every chunk to the merger, which needs no log. */
      CHECK(stats.log_entries > 0 || stats.chunks_exact == stats.chunks);
      CHECK(executors[k] == HPAR_EXECUTOR_THREADS || !stats.chunks_exact);
    }
  }
  CHECK(name_at(1000) == NULL);
  CHECK(summary_at(1000) == NULL);
}

/* Elements that are open across every cut, or closed across every cut: each chunk's open elements
 * match the end tags of its neighbour. Enough text between two closed elements keeps the worker
 * running. */
static void merged_as_a_tree(void) {
  enum { DEPTH = 3000 };
  buffer nested = {0};
  for (unsigned i = 0; i < DEPTH; i++) buffer_format(&nested, "<%s class=c%u>\n", i % 3 ? "div" : "section", i);
  for (unsigned i = DEPTH; i-- > 0;)
    buffer_format(&nested, "<p>text %u <b>bold</b> <i>italic</i></%s>\n", i, i % 3 ? "div" : "section");
  buffer reference = {0};
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = 100, .study = &study};
  CHECK_EQ(parse(&options, nested.bytes, nested.length, NULL), HPAR_OK);
  CHECK(compare_dump(document, &reference));
  options.mode = HPAR_MODE_PARALLEL;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  for (options.parallel.chunk_size = 1000; options.parallel.chunk_size <= nested.length;
       options.parallel.chunk_size = options.parallel.chunk_size * 3 / 2) {
    hpar_study_stats chain = {HPAR_STUDY_STATS_INIT}, tree = {HPAR_STUDY_STATS_INIT};
    hpar_merge_level of_all = {0};
    study.merge = HPAR_MERGE_CHAIN;
    CHECK_EQ(parse(&options, nested.bytes, nested.length, &chain), HPAR_OK);
    CHECK_BYTES(got.bytes, got.length, reference.bytes, reference.length);
    CHECK_STRING(chain.merge, "chain");
    CHECK_EQ(chain.merge_levels[1].merges, 0);
    study.merge = HPAR_MERGE_TREE;
    CHECK_EQ(parse(&options, nested.bytes, nested.length, &tree), HPAR_OK);
    CHECK_BYTES(got.bytes, got.length, reference.bytes, reference.length);
    CHECK_STRING(tree.merge, "tree");
    for (unsigned level = 1; level < HPAR_MERGE_LEVELS; level++) {
      const hpar_merge_level *at = &tree.merge_levels[level];
      CHECK_EQ(at->merges != 0, level < 32 && tree.chunks > UINT64_C(1) << (level - 1));
      of_all.merges += at->merges;
      of_all.segments += at->segments;
      of_all.tokens += at->tokens;
    }
    CHECK_EQ(of_all.merges, tree.chunks - 1);
    CHECK(tree.chunks < 4 || of_all.tokens > chain.merge_levels[0].tokens / 5);
    CHECK_EQ(of_all.tokens + tree.merge_levels[0].tokens, chain.merge_levels[0].tokens);
    CHECK_EQ(of_all.segments + tree.merge_levels[0].segments, chain.merge_levels[0].segments);
    CHECK_EQ(tree.chunks_clean, chain.chunks_clean);
    CHECK_EQ(tree.chunks_right_start, chain.chunks_right_start);
  }
  buffer_free(&nested);
  buffer_free(&reference);
}

/* Checks that exact cuts are at token boundaries, for every way to provide the page, and that other
 * cuts are not. */
static void exact_cuts(void) {
  static const size_t sizes[] = {100, 1000, 8000};
  static const char *const predictors[] = {"data", "oracle"}, *const mode_predictors[] = {"replay", "oracle"};
  for (size_t i = 0; i < 3; i++)
    for (size_t k = CHECK_ONE_THREAD ? 0 : 4; k < 8; k++) {
      hpar_study study = {HPAR_STUDY_INIT, .cut_policy = "exact", .predictor = predictors[k % 2],
                          .mode_predictor = mode_predictors[k / 2 % 2]};
      hpar_options options = {
          HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL,
          .threads = 2,      .parallel.chunk_size = sizes[i],
          .study = &study,   .parallel.executor = k / 4 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE};
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      if (!CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK)) continue;
      CHECK(equal());
      check_stats(&stats, &options);
      CHECK_STRING(stats.cut_policy, "exact");
      CHECK_EQ(stats.chunks, stats.chunks_right_start);
      CHECK(stats.chunks >= page.length / sizes[i] * 4 / 5);
      CHECK(stats.ns.oracle > 0);
      CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
      for (size_t at = 0, n; at < page.length; at += n) {
        n = page.length - at < 777 ? page.length - at : 777;
        CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, n), HPAR_OK);
      }
      if (!CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK)) continue;
      CHECK(compare_dump(document, &got) && equal());
      CHECK_EQ(stats.chunks, stats.chunks_right_start);
      CHECK(stats.chunks >= page.length / sizes[i] * 4 / 5);
      study.cut_policy = "even";
      study.predictor = "data";
      options.parallel.executor = HPAR_EXECUTOR_INLINE;
      CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK);
      CHECK(stats.chunks_right_start < stats.chunks / 2);
    }
  uint64_t cut = strlen("<!doctype html><p title='a") + 1;
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = &cut, .cut_count = 1, .cut_policy = "exact", .predictor = "data"};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2, .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  static const char forced[] = "<!doctype html><p title='a b>c'>d<i>e";
  CHECK_EQ(parse(&options, forced, sizeof forced - 1, &stats), HPAR_OK);
  CHECK_STRING(stats.cut_policy, "forced");
  CHECK_EQ(stats.chunks, 1);
  CHECK_EQ(stats.chunks_right_start, 0);
}

static void automatic(void) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(parse(&options, "<p>x", 4, &stats), HPAR_OK);
  CHECK_STRING(stats.mode, "sequential");
  CHECK_EQ(stats.chunks, 0);
  CHECK_EQ(stats.threads, 1);
  CHECK_EQ(stats.tokens, 2);
  CHECK_EQ(hpar_study_parse(parser, NULL, "<p>x", 4, document, &stats), HPAR_OK);
  CHECK_STRING(stats.mode, "sequential");
  CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK);
  CHECK(equal());

  /* The automatic mode parses a page in parallel from 32 KB on if the threads spin, and from 256 KB
   * on if they sleep. */
  static const struct {
    size_t length;
    hpar_wait_policy pool;
    const char *mode;
  } sizes[] = {{(32 << 10) - 1, HPAR_WAIT_SPIN, "sequential"},
               {32 << 10, HPAR_WAIT_SPIN, "parallel"},
               {(256 << 10) - 1, HPAR_WAIT_SLEEP, "sequential"},
               {256 << 10, HPAR_WAIT_SLEEP, "parallel"}};
  CHECK(page.length >= 256 << 10);
  options.threads = 2;
  options.encoding = "utf-8"; /* a thread that is late in a slice of decoding changes the mode */
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    options.parallel.wait = sizes[i].pool;
    /* A new parser: the mode also depends on waits of the last parses. */
    hpar_parser_destroy(parser);
    CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
    CHECK_EQ(parse(&options, page.bytes, sizes[i].length, &stats), HPAR_OK);
    CHECK_STRING(stats.mode, sizes[i].mode);
  }
  /* each thread has 64 KB at least */
  options.threads = 16;
  hpar_parser_destroy(parser);
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(parse(&options, page.bytes, 256 << 10, &stats), HPAR_OK);
  CHECK_STRING(stats.mode, "parallel");
  CHECK_EQ(stats.threads, 4);
  options = (hpar_options){HPAR_OPTIONS_INIT};

  /* the parallel mode accepts even the smallest input */
  options.mode = HPAR_MODE_PARALLEL;
  static const char *const tiny[] = {"", "<", "x", "<p>", "</", "<a><b>", "\xEF\xBB\xBF", "\0", "\xFF"};
  for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
    size_t length = i == 7 ? 1 : strlen(tiny[i]);
    hpar_options sequential = {HPAR_OPTIONS_INIT};
    sequential.mode = HPAR_MODE_SEQUENTIAL;
    buffer reference = {0};
    CHECK_EQ(hpar_parse(parser, &sequential, tiny[i], length, document, NULL), HPAR_OK);
    CHECK(compare_dump(document, &reference));
    for (unsigned threads = 0; threads <= 4; threads++) {
      options.threads = threads;
      CHECK_EQ(parse(&options, tiny[i], length, &stats), HPAR_OK);
      CHECK_BYTES(got.bytes, got.length, reference.bytes, reference.length);
    }
    buffer_free(&reference);
  }
  CHECK_EQ(hpar_parse(parser, NULL, NULL, 0, document, NULL), HPAR_OK);
}

/* Pages that end with a long text have no empty chunk at their end. */
static void last_chunk(void) {
  enum { LENGTH = 20000 };
  static char text[LENGTH];
  for (size_t i = 0; i < LENGTH; i++) text[i] = i < LENGTH / 2 ? "<p>abcdefg"[i % 10] : 'x';
  for (unsigned threads = 2; threads < 6; threads++) {
    const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads,
                                  .encoding = "utf-8", .parallel.executor = HPAR_EXECUTOR_INLINE};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(parse(&options, text, LENGTH, &stats), HPAR_OK);
    CHECK(stats.chunks > 0);
    CHECK_EQ(stats.merge_levels[0].merges, stats.chunks);
  }
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The times of a parse are parts of its call, whole and fed. */
static void times(void) {
  buffer text = {0};
  for (int i = 0; i < 100000; i++) buffer_text(&text, "<p>\xE9");
  for (int way = 0; way < 3; way++) {
    hpar_study oracle = {HPAR_STUDY_INIT, .predictor = "oracle"};
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "windows-1252"};
    if (way == 2) options.mode = HPAR_MODE_PARALLEL, options.study = &oracle;
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    const uint64_t begin = nanoseconds();
    if (way == 1) {
      CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
      CHECK_EQ(hpar_parser_feed(parser, text.bytes, text.length), HPAR_OK);
      CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK);
    } else {
      CHECK_EQ(hpar_study_parse(parser, &options, text.bytes, text.length, document, &stats), HPAR_OK);
    }
    const uint64_t taken = nanoseconds() - begin;
    CHECK(stats.ns.decode > 0 && stats.ns.decode < stats.ns.total && stats.ns.total <= taken);
  }
  hpar_document_clear(document); /* late threads may read the text */
  buffer_free(&text);
}

/* The log of a chunk ends before what is left of the longer log of an earlier parse. */
static void shorter_log(void) {
  static const char *const texts[] = {"</select></td>", "<code><a-"};
  static const uint64_t cuts[] = {7, 6}, tokens[] = {2, 1};
  for (int i = 0; i < 2; i++) {
    const hpar_study study = {HPAR_STUDY_INIT, .cuts = &cuts[i], .cut_count = 1};
    const hpar_options options = {HPAR_OPTIONS_INIT,
                                  .mode = HPAR_MODE_PARALLEL,
                                  .threads = 1,
                                  .encoding = "utf-8",
                                  .parallel.executor = HPAR_EXECUTOR_INLINE,
                                  .study = &study};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(parse(&options, texts[i], strlen(texts[i]), &stats), HPAR_OK);
    CHECK_EQ(stats.chunks, 1);
    CHECK_EQ(stats.tokens, tokens[i]);
  }
}

/* Checks a parser that changes from few threads to many and back, from large input to small, from
 * documents to fragments. */
static void reuse(void) {
  static const unsigned counts[] = {2, 8, 1, 5, 2, 3, 0, 8, 4, 1, 2};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT};
    options.mode = i % 4 == 3 ? HPAR_MODE_SEQUENTIAL : HPAR_MODE_PARALLEL;
    options.threads = counts[i];
    options.parallel.chunk_size = 3000;
    CHECK_EQ(parse(&options, page.bytes, page.length, NULL), HPAR_OK);
    CHECK(equal());
    options.fragment = "table";
    CHECK_EQ(parse(&options, "<td>a<td>b", 10, NULL), HPAR_OK);
    CHECK_STRING(got.bytes, "| <tbody>\n|   <tr>\n|     <td>\n|       \"a\"\n|     <td>\n|       \"b\"\n");
  }

  /* two live parsers, alternating documents */
  hpar_parser *second = NULL;
  hpar_document *other = NULL;
  if (!CHECK_EQ(hpar_parser_create(&second), HPAR_OK) || !CHECK_EQ(hpar_document_create(&other), HPAR_OK)) return;
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 3;
  options.parallel.chunk_size = 2000;
  CHECK_EQ(hpar_parse(second, &options, page.bytes, page.length, other, NULL), HPAR_OK);
  CHECK_EQ(parse(&options, page.bytes, page.length, NULL), HPAR_OK);
  CHECK(equal());
  hpar_parser_destroy(second);
  CHECK(compare_dump(other, &got));
  CHECK(equal());
  uint64_t nodes;
  CHECK(compare_links(other, &nodes) == NULL);
  hpar_document_destroy(other);

  /* created, never used */
  CHECK_EQ(hpar_parser_create(&second), HPAR_OK);
  hpar_parser_destroy(second);
  hpar_parser_destroy(NULL);
  hpar_document_destroy(NULL);
}

/* Checks that a worker that has stopped leaves no log of the parse before. It stops at the names of
 * the second page. The tags of the first page are at the same places, and have long logs. */
static void stopped_worker(void) {
  static const char *const formats[] = {"<p q='%04u'>", "<p n%04u=''>"};
  hpar_study study = {HPAR_STUDY_INIT, .cut_policy = "even", .predictor = "oracle"};
  const hpar_options sequential = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  const hpar_options parallel = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2, .study = &study,
                                 .parallel = {.chunk_size = 16384, .executor = HPAR_EXECUTOR_INLINE}};
  buffer pages[2] = {{0}}, whole = {0};
  for (unsigned k = 0; k < 2; k++) {
    for (unsigned i = 0; i < 8000; i++) buffer_format(&pages[k], "<p id=x>%u</p>", i);
    for (unsigned i = 0; i < 6000; i++) buffer_format(&pages[k], formats[k], i);
    CHECK_EQ(parse(&sequential, pages[k].bytes, pages[k].length, NULL), HPAR_OK);
    buffer_add(&whole, got.bytes, got.length);
    CHECK_EQ(parse(&parallel, pages[k].bytes, pages[k].length, NULL), HPAR_OK);
    CHECK(whole.length == got.length && !memcmp(whole.bytes, got.bytes, got.length));
    whole.length = 0;
    buffer_free(&pages[k]);
  }
  buffer_free(&whole);
}

static void copies(void) {
  char *bytes = malloc(page.length);
  if (!CHECK(bytes != NULL)) return;
  memcpy(bytes, page.bytes, page.length);
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 3;
  options.parallel.chunk_size = 4000;
  options.copy_input = true;
  hpar_status status = hpar_parse(parser, &options, bytes, page.length, document, NULL);
  memset(bytes, 'x', page.length);
  free(bytes);
  CHECK_EQ(status, HPAR_OK);
  CHECK(compare_dump(document, &got));
  CHECK(equal());
}

static void source_offsets(void) {
  for (int parallel = 0; parallel < 2; parallel++) {
    hpar_options options = {HPAR_OPTIONS_INIT};
    options.mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
    options.threads = 2;
    options.parallel.chunk_size = 2000;
    options.source_offsets = true;
    CHECK_EQ(parse(&options, page.bytes, page.length, NULL), HPAR_OK);
    CHECK(equal());
    unsigned long right = 0, wrong = 0;
    hpar_node root = hpar_document_root(document);
    for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
      uint64_t start, end;
      if (!hpar_node_start_tag_range(document, node, &start, &end)) continue;
      hpar_string name = hpar_node_name(document, node);
      bool fine = start < end && end <= page.length && page.bytes[start] == '<' && page.bytes[end - 1] == '>' &&
                  !memcmp(page.bytes + start + 1, name.bytes, name.length);
      if (fine)
        right++;
      else
        wrong++;
    }
    CHECK_EQ(wrong, 0);
    CHECK(right > 8000);
  }
}

static void errors(void) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.threads = 3;
  options.parallel.chunk_size = 1000;
  CHECK_EQ(parse(&options, page.bytes, page.length, NULL), HPAR_OK);
  CHECK_EQ(hpar_parse_error_count(parser), 0);
  for (size_t most = 1; most <= 100000; most *= 10) {
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    options.max_errors = most;
    CHECK_EQ(parse(&options, page.bytes, page.length, &stats), HPAR_OK);
    CHECK(equal());
    CHECK(hpar_parse_error_count(parser) <= most);
    uint64_t last = 0;
    bool ordered = true, named = true;
    for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
      hpar_parse_error error = hpar_parse_error_at(parser, i);
      if (error.offset < last || error.offset > page.length) ordered = false;
      if (!error.code || !*error.code) named = false;
      last = error.offset;
    }
    CHECK(ordered);
    CHECK(named);
  }
}

static void count_event(const hpar_resource *resource, hpar_resource_event event, void *context) {
  (void)resource, (void)event;
  ++*(unsigned *)context;
}

/* Limits that the page does not reach, on threads that share the chunks, and chunks that are longer
 * than any text. */
static void extremes(void) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 4};
  options.limits.nodes = UINT64_MAX / 2;
  options.limits.depth = SIZE_MAX / 2;
  CHECK_EQ(parse(&options, page.bytes, page.length, NULL), HPAR_OK);
  CHECK(equal());
  for (int finds = 0; finds < 2; finds++) {
    unsigned found = 0;
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    options = (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2};
    options.parallel.chunk_size = SIZE_MAX;
    if (finds) options.resources = (hpar_resource_options){.callback = count_event, .context = &found};
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    for (size_t at = 0; at < page.length; at += 50000)
      CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, page.length - at < 50000 ? page.length - at : 50000), HPAR_OK);
    CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK);
    buffer_clear(&got);
    CHECK(compare_dump(document, &got));
    CHECK(equal());
    CHECK_EQ(stats.chunks, 0);
  }
}

/* The cuts of the options end with the last of `cut_count`, also when text arrives in pieces. */
static void fed_cuts(void) {
  static const uint64_t cuts[] = {3000, 6000, 9000};
  const hpar_study study = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = 2};
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2, .encoding = "utf-8",
                                .study = &study};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
  for (size_t at = 0; at < page.length; at += 5000)
    CHECK_EQ(hpar_parser_feed(parser, page.bytes + at, page.length - at < 5000 ? page.length - at : 5000), HPAR_OK);
  CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK);
  CHECK(compare_dump(document, &got) && equal());
  CHECK_EQ(stats.chunks, 2);
  CHECK(stats.chunks_started_before_end <= stats.chunks);
}

int main(void) {
  if (!compare_possible()) return CHECK_SKIPPED;
  make_page();
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK) ||
      !CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &expected_stats), HPAR_OK) ||
      !CHECK(compare_dump(document, &expected)))
    return check_report();
  CHECK_STRING(expected_stats.mode, "sequential");
  CHECK_EQ(expected_stats.chunks, 0);
  CHECK_EQ(expected_stats.log_entries, 0);
  CHECK_EQ(expected_stats.bytes, page.length);
  uint64_t nodes;
  CHECK(compare_links(document, &nodes) == NULL);
  CHECK_EQ(expected_stats.nodes, nodes);
  CHECK(expected_stats.predictor == NULL);
  threads_and_chunks();
#define NAMES(what) \
  names(hpar_##what##_name, hpar_##what##_summary, offsetof(hpar_study, what), offsetof(hpar_study_stats, what))
  NAMES(strategy);
  NAMES(predictor);
  NAMES(mode_predictor);
  NAMES(cut_policy);
  if (CHECK_ONE_THREAD) merged_as_a_tree();
  exact_cuts();
  fed_cuts();
  automatic();
  times();
  last_chunk();
  shorter_log();
  reuse();
  stopped_worker();
  copies();
  source_offsets();
  errors();
  extremes();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
