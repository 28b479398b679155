/* Checks limits. Each limit has its own status, leaves a correct tree, and is never exceeded. Every
 * mode and every way to feed ends with the same tree. An unreached limit changes nothing. A parser
 * that reached one remains usable. */

#include "check.h"
#include "support/compare.h"
#include "support/corpus.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/mode.h"

#include <hpar/study.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;
static buffer whole, expected, got;

typedef enum limit { DEPTH, NODES, ATTRIBUTES, MEMORY, INPUT, LIMITS } limit;
static const hpar_status statuses[LIMITS] = {HPAR_LIMIT_DEPTH, HPAR_LIMIT_NODES, HPAR_LIMIT_ATTRIBUTES,
                                             HPAR_LIMIT_MEMORY, HPAR_LIMIT_INPUT};

static void set(hpar_options *options, limit which, uint64_t most) {
  switch (which) {
    case DEPTH: options->limits.depth = (size_t)most; break;
    case NODES: options->limits.nodes = most; break;
    case ATTRIBUTES: options->limits.attributes = (size_t)most; break;
    case MEMORY: options->limits.memory = (size_t)most; break;
    default: options->limits.input = most;
  }
}

static hpar_status feed(const hpar_options *options, const buffer *page, size_t step, hpar_study_stats *stats) {
  hpar_status status = hpar_parser_begin(parser, options, document), last = HPAR_OK;
  if (status) return status;
  for (size_t at = 0; at < page->length; at += step) {
    last = hpar_parser_feed(parser, page->bytes + at, page->length - at < step ? page->length - at : step);
    if (last && last < HPAR_LIMIT_DEPTH) return last;
  }
  CHECK_EQ(hpar_parser_feed(parser, NULL, 0), last);
  status = hpar_study_finish(parser, stats);
  if (last) CHECK_EQ(status, last);
  return status;
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static bool is_sound(const char *how) {
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (!CHECK(wrong == NULL)) printf("  %s: %s\n", how, wrong);
  return !wrong;
}

/* Returns true if the parse reached the limit. */
static bool try(const compare_case *page, limit which, uint64_t most) {
  buffer text = {(char *)(uintptr_t)page->bytes, page->length, 0};
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .scripting = page->scripting,
                          .fragment = page->fragment, .encoding = page->encoding};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT}, sequential = {HPAR_STUDY_STATS_INIT};
  options.source_offsets = most % 2; /* larger elements: another tree at a limit of memory */
  set(&options, which, most);
  hpar_status status = hpar_study_parse(parser, &options, page->bytes, page->length, document, &sequential);
  if (!CHECK(status == HPAR_OK || status == statuses[which])) {
    printf("  limit %d of %llu: %s\n", which, (unsigned long long)most, hpar_status_text(status));
    return false;
  }
  is_sound("sequential");
  CHECK(compare_dump(document, &expected));
  if (status == HPAR_OK) CHECK(same(&whole, &expected));
  if (which == MEMORY && most >= 128) CHECK(hpar_document_memory(document) <= most);
  if (which == INPUT) CHECK_EQ(status == HPAR_OK, page->length <= most);
  if (which == NODES) CHECK_EQ(status == HPAR_OK, sequential.nodes + (page->fragment != NULL) <= most);
  for (int way = 0; way < 5; way++) {
    static const hpar_study densely_checked = {HPAR_STUDY_INIT, .checkpoint_bytes = 1};
    static const char *const ways[] = {"inline", "threads", "fed bytes", "fed in parallel", "fed inline"};
    if (way != 2) {
      if (!hpar_predictor_name(0)) continue;
      options.mode = HPAR_MODE_PARALLEL;
      options.parallel.chunk_size = 10;
      options.study = &densely_checked;
      options.threads = 2;
    } else {
      options.mode = HPAR_MODE_SEQUENTIAL;
    }
    options.parallel.executor = way == 0 || way == 4 ? HPAR_EXECUTOR_INLINE : HPAR_EXECUTOR_THREADS;
    hpar_status other = way < 2 ? hpar_study_parse(parser, &options, page->bytes, page->length, document, &stats)
                                : feed(&options, &text, way == 2 ? 1 : 7, &stats);
    CHECK_EQ(other, status);
    is_sound(ways[way]);
    CHECK(compare_dump(document, &got));
    if (!CHECK(same(&expected, &got) && stats.nodes == sequential.nodes && stats.tokens == sequential.tokens)) {
      buffer_clear(&got);
      buffer_escaped(&got, page->bytes, page->length < 500 ? page->length : 500);
      printf("  limit %d of %llu, %s: \"%s\"\n", which, (unsigned long long)most, ways[way], got.bytes);
    }
  }
  return status != HPAR_OK;
}

static bool expect_whole(const compare_case *page) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .scripting = page->scripting,
                          .fragment = page->fragment, .encoding = page->encoding};
  return CHECK_EQ(hpar_parse(parser, &options, page->bytes, page->length, document, NULL), HPAR_OK) &&
         compare_dump(document, &whole);
}

/* Tries every value until the parse reaches no limit; in a small sample, few of the values above
 * 8. */
static void every_value(const compare_case *page) {
  const uint64_t step = compare_scale() < 100 ? 100 / compare_scale() : 1;
  if (!expect_whole(page)) return;
  for (limit which = DEPTH; which <= ATTRIBUTES; which++)
    for (uint64_t most = 1; try(page, which, most); most += most < 8 ? 1 : step) continue;
  for (uint64_t most = 1; try(page, INPUT, most); most += 1 + page->length / 40) continue;
  for (uint64_t most = 100; try(page, MEMORY, most); most += 300 * step) continue;
}

/* Later <html> and <body> tags add attributes, one by one, to elements that have as many as
 * allowed. */
static void added_attributes(void) {
  static const char *const pages[] = {"<html a b><html c>x", "<body a><body b><p><body c><html d>x"};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    const compare_case page = {pages[i], strlen(pages[i]), NULL, false, "utf-8"};
    if (!expect_whole(&page)) continue;
    for (uint64_t most = 1; most < 3; most++) {
      CHECK(try(&page, ATTRIBUTES, most));
      hpar_node html = hpar_document_html(document), body = hpar_document_body(document);
      CHECK(hpar_node_attribute_count(document, html) <= most);
      CHECK(hpar_node_attribute_count(document, body) <= most);
    }
    CHECK(!try(&page, ATTRIBUTES, 3));
  }
}

static void own_documents(void) {
  const size_t every = compare_scale() < 15 ? 6 : 1;
  for (size_t i = 0; i < document_count; i += every) every_value(&documents[i]);
  const uint64_t seeds = compare_scale() / 5 + 1;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    generated made = {0};
    generate(seed, &made);
    compare_case page = {made.text.bytes, made.text.length < 400 ? made.text.length : 400, made.fragment,
                         made.scripting, "utf-8"};
    every_value(&page);
    generate_free(&made);
  }
}

/* `nodes`: the tree has more. */
static void large_page(const char *line, size_t length, uint64_t nodes) {
  buffer page = {0};
  while (page.length < length) {
    buffer_format(&page, "<div><p class=a%zu>x<b>y<i>z</i>", page.length);
    buffer_add(&page, line, strlen(line));
  }
  compare_case large_case = {page.bytes, page.length, NULL, false, "utf-8"};
  CHECK(expect_whole(&large_case));
  bool reached = true;
  for (uint64_t most = 1000; reached; most = most * 3 + 1) reached = try(&large_case, MEMORY, most);
  for (uint64_t most = 1000; most < nodes; most += 9000) CHECK(try(&large_case, NODES, most));
  buffer_free(&page);
}

/* The line feed between two divs reopens the b, and the next div lies inside it. The dump of such a
 * deep tree is quadratic: 5 MB for 30 KB. */
static void large(void) {
  /* ThreadSanitizer takes 100 s for the whole pages. */
  const unsigned part = compare_scale() < 100 ? 6 : 1;
  large_page("\n</div>", 300000 / part, 20000 / part);
  large_page("</div>\n", 30000 / part, 2000 / part);
}

/* A forced cut in the input after the limit is no error: every mode ends at the limit, fed or
 * not. */
static void cuts_beyond_the_limit(void) {
  static const uint64_t cuts[] = {5, 60};
  buffer page = {0};
  while (page.length < 80) buffer_text(&page, "<p>x<b>y</b></p>");
  for (int mode = HPAR_MODE_AUTO; mode <= MODE_PIPELINED; mode++) {
    if (mode >= HPAR_MODE_PARALLEL && !hpar_predictor_name(0)) break;
    for (hpar_executor executor = HPAR_EXECUTOR_THREADS; executor <= HPAR_EXECUTOR_INLINE; executor++) {
      hpar_study study = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = 2};
      hpar_options options = {HPAR_OPTIONS_INIT, .parallel.executor = executor, .threads = 2};
      mode_choose(&options, &study, mode);
      set(&options, INPUT, 40);
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_LIMIT_INPUT);
      CHECK(compare_dump(document, &expected) && expected.length > 40);
      CHECK_EQ(feed(&options, &page, page.length, &stats), HPAR_LIMIT_INPUT);
      CHECK(compare_dump(document, &got) && same(&expected, &got));
      set(&options, INPUT, 0);
      CHECK_EQ(feed(&options, &page, 50, &stats), HPAR_OK);
      study.cuts = (const uint64_t[]){5, 600};
      CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_ERROR_ARGUMENT);
      CHECK_EQ(feed(&options, &page, 50, &stats), HPAR_ERROR_ARGUMENT);
    }
  }
  buffer_free(&page);
}

/* Workers read past the limit, where a meta element may declare the encoding. */
static void encodings_beyond_the_limit(void) {
  static const char *const bytes[] = {"\xe9", "\xc3\xa9", ""};
  buffer page = {0};
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    buffer_clear(&page);
    while (page.length < 1100) buffer_format(&page, "<p>%s text<b>x</b>", bytes[i]);
    buffer_text(&page, "<i><meta charset=utf-8><u><p>e");
    const compare_case undeclared = {page.bytes, page.length, NULL, false, NULL};
    if (!expect_whole(&undeclared)) continue;
    bool reached = true;
    for (uint64_t most = 250; reached; most++) reached = try(&undeclared, NODES, most);
    reached = true;
    for (uint64_t most = 8000; reached; most += 200) reached = try(&undeclared, MEMORY, most);
  }
  buffer_free(&page);
}

/* Appends the encoding, the errors and the source offsets of a parse to its tree. */
static void add_places(buffer *to, const hpar_study_stats *stats) {
  buffer_format(to, "%s by %s, %d errors\n", stats->encoding, stats->encoding_source, (int)stats->parse_errors);
  for (size_t i = 0; i < hpar_parse_error_count(parser); i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    buffer_format(to, "%d %s\n", (int)error.offset, error.code);
  }
  hpar_node top = hpar_document_root(document);
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    uint64_t start, end;
    if (hpar_node_start_tag_range(document, node, &start, &end)) buffer_format(to, "%d-%d ", (int)start, (int)end);
  }
}

/* The bytes after a limit have a part in the choice of the encoding. A limit may divide a
 * character. */
static void bytes_at_the_limit(void) {
  static const char *const labels[] = {NULL, "utf-8", "shift_jis", "gb18030", "euc-jp", "iso-2022-jp", "utf-16le"};
  static const char *const texts[] = {
      "<p a a>x\xc3\xa9y<b>\xe9 <i>z\xff</i x>",
      "<p>\xc3\xa9<b b b>y<i>z</i x> all valid \xe2\x82\xac\x01<u>",
      "<p>\xc3\xa9<b b b>y<i>z</i x>cut \xe2\x82",
      "<meta charset=utf-8><p>\xc3\xa9<b b b>y<i>z</i x>\xe9",
      "<p a a>\x82\xa0<b b b>\x82 \x1b$B$\"\x1b(B\xa4\xa2<i>z</i x>\x81",
      "a\x82\xa0\x30\x81\x30\x81\x30\xd8\x3d\xd8\x00\xde<\0b\0 \0a\0>\0x",
  };
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    const size_t length = t == 5 ? 24 : strlen(texts[t]);
    for (size_t i = 0; i < 3 * sizeof labels / sizeof *labels; i++) {
      const size_t filler = i % 3 == 2 ? 1100 : i % 3; /* the prescan takes 1024 bytes */
      buffer page = {0};
      while (page.length < filler) buffer_byte(&page, ' ');
      buffer_add(&page, texts[t], length);
      hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = labels[i / 3],
                              .max_errors = 100, .source_offsets = true};
      for (uint64_t most = 1; most < 40; most++) {
        hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
        options.limits = (hpar_limits){.nodes = most < 12 ? most : 0, .input = most < 12 ? 0 : filler + most - 12};
        hpar_status status = hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats);
        if (!CHECK(compare_dump(document, &expected))) continue;
        add_places(&expected, &stats);
        for (size_t step = 1; step < 1200; step = step < 8 ? step + 1 : step * 5) {
          CHECK_EQ(feed(&options, &page, step, &stats), status);
          CHECK(compare_dump(document, &got));
          add_places(&got, &stats);
          if (!CHECK(same(&expected, &got)))
            printf("  %s, text %zu after %zu, limit %d, steps of %zu:\n%.*s\nexpected\n%.*s\n",
                   labels[i / 3] ? labels[i / 3] : "-", t, filler, (int)most, step, (int)got.length, got.bytes,
                   (int)expected.length, expected.bytes);
        }
      }
      buffer_free(&page);
    }
  }
}

/* Bytes that come long after the limit end in the middle of a character. All of them are valid. */
static void cut_characters_beyond_the_limit(void) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .limits.nodes = 6};
  buffer page = {0};
  while (page.length < 1100) buffer_byte(&page, ' ');
  buffer_text(&page, "<p>\xc3\xa9<b>y<i>z<br><br><br>");
  while (page.length < 1700) buffer_byte(&page, ' ');
  buffer_text(&page, "\xe2\x82\xac\x01 \xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9<u>");
  for (size_t step = 1; step < 4; step++) {
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(feed(&options, &page, step, &stats), HPAR_LIMIT_NODES);
    CHECK_STRING(stats.encoding, "UTF-8");
  }
  buffer_free(&page);
}

/* Checks statuses, because trees depend on time: an expired deadline ends every mode. */
static void time_is_up(void) {
  buffer page = {0};
  while (page.length < 2000000) buffer_text(&page, "<div><p>x<b>y<i>z</i></div>\n");
  hpar_options options = {HPAR_OPTIONS_INIT, .limits.time_ns = 1, .encoding = "utf-8"};
  for (options.mode = HPAR_MODE_AUTO; options.mode <= HPAR_MODE_PARALLEL; options.mode++) {
    if (options.mode == HPAR_MODE_PARALLEL && !hpar_predictor_name(0)) break;
    for (int executor = HPAR_EXECUTOR_THREADS; executor <= HPAR_EXECUTOR_INLINE; executor++) {
      options.parallel.executor = (hpar_executor)executor;
      options.threads = 3;
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_LIMIT_TIME);
      CHECK(stats.tokens < 1000);
      is_sound("after a deadline");
      CHECK_EQ(feed(&options, &page, 10000, &stats), HPAR_LIMIT_TIME);
      is_sound("fed after a deadline");
    }
  }
  options.limits.time_ns = UINT64_MAX;
  options.mode = HPAR_MODE_AUTO;
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  hpar_document_clear(document); /* late threads may read the page */
  buffer_free(&page);
}

/* Checks the purpose of limits: a small page with a large tree. */
static void amplification(void) {
  buffer page = {0};
  buffer_text(&page, "<p>");
  for (int i = 0; i < 2000; i++) buffer_format(&page, "<b a=%d>", i);
  for (int i = 0; i < 2000; i++) buffer_text(&page, "<p>x");
  for (hpar_mode mode = HPAR_MODE_SEQUENTIAL; mode <= HPAR_MODE_PARALLEL; mode++) {
    if (mode == HPAR_MODE_PARALLEL && !hpar_predictor_name(0)) break;
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = mode, .threads = 2, .limits.nodes = 100000};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_LIMIT_NODES);
    CHECK(stats.nodes < 110000);
    options.limits.nodes = 0;
    options.limits.memory = 4 << 20;
    CHECK_EQ(hpar_study_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_LIMIT_MEMORY);
    CHECK(hpar_document_memory(document) <= 4 << 20);
    is_sound("amplified");
  }
  buffer_free(&page);
}

/* A parser that has no list of errors may share attributes and defer values below a limit of
 * memory. The limit has the same effect with a list, for a new parser and for one with caches. */
static void shared_attributes(void) {
  buffer page = {0};
  buffer_text(&page, "<p>");
  for (int i = 0; i < 60; i++) buffer_format(&page, "<b a=%d title='x&amp;y'>", i);
  for (int i = 0; i < 600; i++) buffer_format(&page, "<p class=same title='x&amp;y%d'>x", i % 7);
  uint64_t reached = 0, fine = 0;
  for (uint64_t most = 200 << 10; most < 6 << 20; most += most / 16 + 8) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .limits.memory = most, .max_errors = 1};
    hpar_study_stats exact = {HPAR_STUDY_STATS_INIT}, shared = {HPAR_STUDY_STATS_INIT};
    hpar_status status = hpar_study_parse(parser, &options, page.bytes, page.length, document, &exact);
    options.max_errors = 0;
    *(status ? &reached : &fine) += 1;
    for (int way = 0; way < 2; way++) {
      hpar_parser *new = NULL;
      CHECK_EQ(hpar_parser_create(&new), HPAR_OK);
      CHECK_EQ(hpar_study_parse(way ? parser : new, &options, page.bytes, page.length, document, &shared), status);
      CHECK(shared.nodes == exact.nodes && shared.tokens == exact.tokens);
      hpar_attribute a;
      hpar_node root = hpar_document_root(document);
      for (hpar_node n = root; n; n = hpar_node_walk(document, root, n))
        if (hpar_node_attribute_at(document, n, 1, &a)) CHECK(a.value.length && a.value.bytes[1] == '&');
      CHECK(hpar_document_memory(document) <= most);
      hpar_parser_destroy(new);
    }
  }
  CHECK(reached > 10 && fine > 10);
  buffer_free(&page);
}

static size_t memory_of(const buffer *page, const hpar_options *options) {
  CHECK_EQ(hpar_parse(parser, options, page->bytes, page->length, document, NULL), HPAR_OK);
  return hpar_document_memory(document);
}

/* A parse far below a limit of memory takes what it takes without a limit, and stays parallel. So
 * does a parse that has as many nodes as it may have. */
static void far_below_the_limit(size_t length) {
  buffer page = {0};
  while (page.length < length) buffer_text(&page, "<p class=same title='x&amp;y' lang=de>");
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_stats stats = {HPAR_STATS_INIT};
  const size_t memory = memory_of(&page, &options);
  options.limits.memory = 1 << 30;
  CHECK_EQ(memory_of(&page, &options), memory);
  options.max_errors = 1; /* attributes are not shared, and values not deferred */
  CHECK(memory_of(&page, &options) > memory);
  options.max_errors = 0;
  options.mode = HPAR_MODE_PARALLEL;
  options.parallel.chunks = 4; /* otherwise a thread that is late in decoding changes the mode */
  for (int is_near = 0; is_near < 2 && hpar_predictor_name(0); is_near++) {
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    CHECK_STRING(stats.mode, is_near ? "sequential" : "parallel");
    options.limits.memory = memory / 2 * 3; /* a parallel parse may take more: of late threads */
  }
  if (hpar_predictor_name(0)) {
    options.limits = (hpar_limits){.nodes = stats.nodes};
    CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, &stats), HPAR_OK);
    CHECK_STRING(stats.mode, "parallel");
  }
  hpar_document_clear(document); /* late threads may read the page */
  buffer_free(&page);
}

/* Nodes lie side by side in slabs: an element and a text take 56 bytes. */
static void dense_nodes(void) {
  enum { COUNT = 10000 };
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  buffer page = {0};
  for (int i = 0; i < COUNT; i++) buffer_text(&page, "<b x>y</b>");
  CHECK(memory_of(&page, &options) < COUNT * 60);
  buffer_free(&page);
}

/* The tree up to the limit stays. */
static void kept_trees(void) {
  static const char page[] = "<p><b><i><u>x<s>y";
  const hpar_options options = {HPAR_OPTIONS_INIT, .limits.depth = 6};
  CHECK_EQ(hpar_parse(parser, &options, page, strlen(page), document, NULL), HPAR_LIMIT_DEPTH);
  CHECK(compare_dump(document, &got) && strstr(got.bytes, "<u>") && !strstr(got.bytes, "<s>"));
}

/* Returns the nodes of a parse with a limit of memory, by objects that have parsed `before`. */
static uint64_t nodes_after(const buffer *before, const buffer *page, uint64_t most) {
  hpar_parser *own = NULL;
  hpar_document *made = NULL;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_stats stats = {HPAR_STATS_INIT};
  CHECK(!hpar_parser_create(&own) && !hpar_document_create(&made));
  CHECK_EQ(hpar_parse(own, &options, before->bytes, before->length, made, NULL), HPAR_OK);
  options.limits.memory = most;
  CHECK_EQ(hpar_parse(own, &options, page->bytes, page->length, made, &stats), HPAR_LIMIT_MEMORY);
  hpar_document_destroy(made);
  hpar_parser_destroy(own);
  return stats.nodes;
}

/* A limit of memory ends a parse at the same tree, whatever names the objects know. */
static void known_names(void) {
  enum { NAMES = 6000, KEPT = 1500, MIXED = 200 };
  buffer none = {0}, others = {0}, page = {0}, mixed = {0};
  for (int i = 0; i < KEPT; i++) buffer_format(&others, "<x-first-name-%d>", i);
  for (int i = 0; i < NAMES; i++) buffer_format(&page, "<x-other-name-%d></x-other-name-%d>", i, i);
  for (uint64_t most = 100000; most < 180000; most += 20000)
    CHECK_EQ(nodes_after(&others, &page, most), nodes_after(&none, &page, most));
  for (int i = 0; i < MIXED; i++) buffer_format(&mixed, "<foreignObject%d title=a&amp;b>x", i);
  for (uint64_t most = 2000; most < 12000; most += 48)
    CHECK_EQ(nodes_after(&mixed, &mixed, most), nodes_after(&none, &mixed, most));
  buffer_free(&others);
  buffer_free(&page);
  buffer_free(&mixed);
}

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  for (int i = 0; i < 16 + LIMITS; i++) CHECK(hpar_status_text((hpar_status)i) != NULL);
  own_documents();
  added_attributes();
  large();
  cuts_beyond_the_limit();
  encodings_beyond_the_limit();
  if (CHECK_ONE_THREAD) bytes_at_the_limit();
  cut_characters_beyond_the_limit();
  time_is_up();
  amplification();
  shared_attributes();
  far_below_the_limit(4000);
  far_below_the_limit(100000);
  dense_nodes();
  kept_trees();
  known_names();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
