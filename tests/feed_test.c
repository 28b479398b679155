/* Compares incremental input with hpar_parse: every way to split the bytes gives the same tree,
 * parse errors, counters and encoding. The test overwrites the caller's bytes after each call. The
 * program has four parts:
 *
 *   feed_test            own documents, all encodings and invalid UTF-8, with every single split
 *                        and in single bytes; random splits of the small corpus; misuse;
 *                        allocation failures
 *   feed_test fixtures   the same splits of html5lib-tests
 *   feed_test pages      random splits of the pages in ../shared/corpus/paper
 *   feed_test growth     the work for long tokens that arrive in single bytes
 *
 * HPAR_FEED_SCALE is the percentage of the 2,000 random splits of each page (default 5). From
 * 100 on, the fixtures are also split everywhere in parallel, and without a declared encoding. */

#include "base/memory.h"
#include "check.h"
#include "support/compare.h"
#include "support/corpus.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/growth.h"
#include "support/random.h"
#include "support/shared.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <time.h>

enum { ERRORS = 1000, SPLITS = 2000, MAX_PIECES = 4096 };

static hpar_parser *parser, *whole_parser;
static hpar_document *document;
static buffer expected, expected_errors, got, got_errors;
static hpar_study_stats expected_stats = {HPAR_STUDY_STATS_INIT}, got_stats = {HPAR_STUDY_STATS_INIT};
static hpar_quirks quirks;
static unsigned long differences;

static void errors_of(const hpar_parser *of, buffer *to) {
  buffer_clear(to);
  for (size_t i = 0; i < hpar_parse_error_count(of); i++) {
    hpar_parse_error error = hpar_parse_error_at(of, i);
    buffer_format(to, "%llu %s\n", (unsigned long long)error.offset, error.code);
  }
}

/* Appends the offsets of start tags, if they were requested. The comparison includes them. */
static void add_places(buffer *to) {
  hpar_node top = hpar_document_root(document);
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    uint64_t start, end;
    if (hpar_node_start_tag_range(document, node, &start, &end))
      buffer_format(to, "%llu-%llu ", (unsigned long long)start, (unsigned long long)end);
  }
}

static bool expect(const hpar_options *options, const char *bytes, size_t length) {
  hpar_status status = hpar_study_parse(whole_parser, options, bytes, length, document, &expected_stats);
  if (!CHECK_EQ(status, HPAR_OK)) return false;
  errors_of(whole_parser, &expected_errors);
  quirks = hpar_document_quirks(document);
  if (!compare_dump(document, &expected)) return false;
  if (options->source_offsets) add_places(&expected);
  return true;
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static hpar_status feed_piece(const char *bytes, size_t n) {
  char *piece = malloc(n ? n : 1);
  if (!piece) exit(1);
  if (n) memcpy(piece, bytes, n);
  hpar_status status = hpar_parser_feed(parser, piece, n);
  memset(piece, '<', n);
  free(piece);
  return status;
}

static hpar_status feed_pieces(const hpar_options *options, const char *bytes, size_t length, const size_t *splits,
                               size_t count) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t i = 0, from = 0; !status && i <= count; i++) {
    size_t to = i < count ? splits[i] : length;
    status = feed_piece(bytes + from, to - from);
    from = to;
  }
  return status ? status : hpar_study_finish(parser, &got_stats);
}

static hpar_status feed_steps(const hpar_options *options, const char *bytes, size_t length, size_t step) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t from = 0; !status && from < length; from += step)
    status = feed_piece(bytes + from, length - from < step ? length - from : step);
  return status ? status : hpar_study_finish(parser, &got_stats);
}

static const char *difference(const hpar_options *options, hpar_status status) {
  if (status) return hpar_parser_error(parser)->text;
  if (!compare_dump(document, &got)) return "no dump";
  if (options->source_offsets) add_places(&got);
  errors_of(parser, &got_errors);
  uint64_t nodes;
  const char *links = compare_links(document, &nodes);
  if (links) return links;
  if (!same(&expected, &got)) return "trees differ";
  if (!same(&expected_errors, &got_errors)) return "errors differ";
  if (hpar_document_quirks(document) != quirks) return "quirks modes differ";
  if (got_stats.tokens != expected_stats.tokens) return "tokens are counted differently";
  if (got_stats.nodes != expected_stats.nodes) return "nodes are counted differently";
  if (got_stats.bytes != expected_stats.bytes) return "bytes are counted differently";
  if (strcmp(got_stats.encoding, expected_stats.encoding) != 0) return "encodings differ";
  return NULL;
}

static void verdict(const hpar_options *options, hpar_status status, const char *bytes, size_t length,
                    const char *origin, const char *how, size_t number) {
  const char *wrong = difference(options, status);
  if (!wrong) {
    check_passed++;
    return;
  }
  check_failed++;
  if (differences++ >= 10) return;
  buffer text = {0};
  buffer_escaped(&text, bytes, length < 2000 ? length : 2000);
  printf("%s: %s, %s %zu: %s\n\"%s\"\n", origin, options->mode == HPAR_MODE_PARALLEL ? "parallel" : "sequential", how,
         number, wrong, text.bytes ? text.bytes : "");
  buffer_free(&text);
  if (expected.length + got.length > 8000) return;
  printf("expected:\n%.*s%.*sgot:\n%.*s%.*s\n", (int)expected.length, expected.bytes ? expected.bytes : "",
         (int)expected_errors.length, expected_errors.bytes ? expected_errors.bytes : "", (int)got.length,
         got.bytes ? got.bytes : "", (int)got_errors.length, got_errors.bytes ? got_errors.bytes : "");
}

static void single_bytes(const hpar_options *options, const char *bytes, size_t length, const char *origin) {
  verdict(options, feed_steps(options, bytes, length, 1), bytes, length, origin, "single bytes", length);
}

static void one_splits(const hpar_options *options, const char *bytes, size_t length, const char *origin) {
  for (size_t at = 0; at <= length; at++)
    verdict(options, feed_pieces(options, bytes, length, &at, 1), bytes, length, origin, "split at", at);
}

static hpar_study study; /* of the options that parallel_options returns */

static hpar_options parallel_options(const hpar_options *options) {
  hpar_options parallel = *options;
  study = (hpar_study){HPAR_STUDY_INIT};
  parallel.study = &study;
  if (!hpar_predictor_name(0)) return parallel;
  parallel.mode = HPAR_MODE_PARALLEL;
  parallel.threads = 2;
  parallel.parallel.chunk_size = 10;
  study.checkpoint_bytes = 1;
  return parallel;
}

/* Checks every split. `thorough`: in parallel, every single split, too. */
static void every_split(hpar_options options, const char *bytes, size_t length, const char *origin, bool thorough) {
  options.mode = HPAR_MODE_SEQUENTIAL;
  if (!expect(&options, bytes, length)) return;
  if (CHECK_ONE_THREAD) {
    one_splits(&options, bytes, length, origin);
    single_bytes(&options, bytes, length, origin);
  }
  if (!hpar_predictor_name(0)) return;
  hpar_options parallel = parallel_options(&options);
  if (thorough) one_splits(&parallel, bytes, length, origin);
  single_bytes(&parallel, bytes, length, origin);
  verdict(&parallel, feed_steps(&parallel, bytes, length, 7), bytes, length, origin, "steps of", 7);
  study.merge = HPAR_MERGE_TREE;
  verdict(&parallel, feed_steps(&parallel, bytes, length, 8), bytes, length, origin, "merged as a tree, steps of", 8);
  study.merge = HPAR_MERGE_CHAIN;
  parallel.parallel.executor = HPAR_EXECUTOR_INLINE;
  if (CHECK_ONE_THREAD) single_bytes(&parallel, bytes, length, origin);
}

static void own_documents(void) {
  for (size_t i = 0; i < document_count; i++) {
    char origin[64];
    snprintf(origin, sizeof origin, "own document %zu", i + 1);
    hpar_options options = {HPAR_OPTIONS_INIT, .scripting = documents[i].scripting, .fragment = documents[i].fragment,
                            .max_errors = ERRORS, .encoding = "utf-8"};
    every_split(options, documents[i].bytes, documents[i].length, origin, true);
    options.source_offsets = true;
    options.encoding = NULL; /* held back, except for a fragment */
    if (!expect(&options, documents[i].bytes, documents[i].length)) continue;
    single_bytes(&options, documents[i].bytes, documents[i].length, origin);
  }
}

/* Appends text that is longer than the bytes held back for sniffing. */
static void add_filler(buffer *to, size_t least) {
  while (to->length < least) buffer_text(to, "<p class=a>filler &amp; text <b>of no <i>meaning</b></i>\n");
}

static void splits_of(const buffer *text, const hpar_options *options, const char *origin) {
  hpar_options sequential = *options, parallel = parallel_options(options);
  parallel.parallel.chunk_size = 100;
  if (!expect(&sequential, text->bytes, text->length)) return;
  for (size_t at = 0; CHECK_ONE_THREAD && at <= text->length; at += at > 900 && at < 1150 ? 1 : 1 + at % 5)
    verdict(&sequential, feed_pieces(&sequential, text->bytes, text->length, &at, 1), text->bytes, text->length, origin,
            "split at", at);
  for (size_t step = 1; step < 2000; step += 1 + step * 2) {
    verdict(&sequential, feed_steps(&sequential, text->bytes, text->length, step), text->bytes, text->length, origin,
            "steps of", step);
    if (!hpar_predictor_name(0)) continue;
    verdict(&parallel, feed_steps(&parallel, text->bytes, text->length, step), text->bytes, text->length, origin,
            "steps of", step);
  }
}

static void encodings(void) {
  static const struct {
    const char *origin, *before, *bytes, *meta, *after, *encoding;
    const char *chosen, *source;
  } cases[] = {
      {"late windows-1252", "", "", "<meta charset=windows-1252>", "\xE4\xF6\xFC <b>x</b>", NULL, "windows-1252", NULL},
      {"late gbk", "", "\xC4\xE3\xBA\xC3", "<meta charset=gbk>", "\xC4\xE3<p>\xBA\xC3", NULL, "GBK", "late-meta"},
      {"late shift_jis", "", "\x83\x65", "<meta charset=shift_jis>", "\x83\x65\x83\x58", NULL, "Shift_JIS",
       "late-meta"},
      {"late utf-8", "", "\xC3\xA4", "<meta charset=utf-8>", "\xC3\xA4 \xFF \xF0\x9F\x98", NULL, "UTF-8", "late-meta"},
      {"late utf-8 of valid bytes", "", "\xC3\xA4", "<meta charset=utf-8>", "\xC3\xA4", NULL, "UTF-8", "valid-utf-8"},
      {"undeclared, valid", "", "\xC3\xA4", "", "\xE2\x82\xAC \xF0\x9F\x98\x80", NULL, "UTF-8", "valid-utf-8"},
      {"undeclared, invalid", "", "\xC3\xA4", "", "\xE2\x82\xAC \xE2\x82", NULL, "windows-1252", "fallback"},
      {"undeclared, invalid at once", "\xFC", "", "", "\xC3\xA4", NULL, "windows-1252", "fallback"},
      {"prescanned", "<meta charset=euc-kr>\xB0\xA1", "\xB0\xA1", "", "\xB0\xA1\x41", NULL, "EUC-KR", "meta"},
      {"prescanned utf-8, invalid", "<meta charset=utf-8>\xFF", "\xC3", "", "\xFF\xFE\xC3\xA4", NULL, "UTF-8", "meta"},
      {"hinted", "\xE4", "\xF6", "<meta charset=utf-8>", "\xFC", "latin1", "windows-1252", "hint"},
      {"hinted big5", "\xA7\x41", "\xA6\x6E", "", "\xA7", "big5", "Big5", "hint"},
      {"bom", "\xEF\xBB\xBF\xC3\xA4", "\xFF", "<meta charset=latin1>", "\xC3", NULL, "UTF-8", "bom"},
      {"iso-2022-jp", "<meta charset=iso-2022-jp>", "\x1B$B$3\x1B(B", "", "\x1B$B$3$s\x1B(Bx\x1B$", NULL, "ISO-2022-JP",
       "meta"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    buffer text = {0};
    buffer_text(&text, cases[i].before);
    buffer_text(&text, "<title>t</title><script>");
    while (text.length < 1100) buffer_text(&text, "var no = 'meta';\n");
    buffer_text(&text, "</script><style>");
    buffer_text(&text, cases[i].bytes);
    buffer_text(&text, "</style>");
    buffer_text(&text, cases[i].meta);
    add_filler(&text, 1500);
    buffer_text(&text, cases[i].after);
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ERRORS,
                            .encoding = cases[i].encoding};
    for (int with_places = 0; with_places < 2; with_places++) {
      options.source_offsets = with_places;
      splits_of(&text, &options, cases[i].origin);
      CHECK_STRING(expected_stats.encoding, cases[i].chosen);
      if (cases[i].source) {
        CHECK_STRING(expected_stats.encoding_source, cases[i].source);
        CHECK_STRING(got_stats.encoding_source, cases[i].source);
      }
      options.max_errors = 0;
    }
    buffer_free(&text);
  }
  buffer wide = {0};
  buffer_add(&wide, "\xFF\xFE", 2);
  for (unsigned i = 0; wide.length < 2500; i++) {
    const char *piece = i % 7 ? "<p>utf-16 & more</p>" : "\xAC\x20<b>\x3D\xD8 x</i>";
    for (const char *p = piece; *p; p++) {
      buffer_byte(&wide, *p);
      if ((unsigned char)*p < 0x80) buffer_byte(&wide, 0);
    }
  }
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = ERRORS,
                          .source_offsets = true};
  splits_of(&wide, &options, "utf-16");
  CHECK_STRING(got_stats.encoding, "UTF-16LE");
  buffer_free(&wide);
}

static void invalid_utf8(void) {
  static const char *const texts[] = {
      "\xEF\xBB\xBF<p "
      "title=\"\xEF\xBB\xBF\xFF\">\xC3\xA9\xC3<b>\xE2\x82\xAC\xE2\x82<i>\xE2</i>\xF0\x9F\x98\x80\xF0\x9F\x98 x\xF0\x9F",
      "\xEF\xBB<p>\xEF\xBF\xBD\x80\x80\x80\x80<b>\xC0\xAF\xE0\x80\x80\xED\xA0\x80</"
      "b>\xF5\xF4\x90\xF4\x8F\xBF\xBF&\xFF;&#\xFF",
      "\xFF\xFF\xFF<!--\xF0\x90\x8D\xF0\x90\x8D\xF0\x90\x8D\xE1\x80\xE1\x80\xE1\x80\xE1\x80-->\xC3\xC3\xA4<\xE2\x82p>"
      "\xE2\x28\xA1\xF0\x28\x8C\xBC",
      "a\xF0\x90\x8D<p\xE1\x80 "
      "x\xC2=\xE1\x80>\x80\xE1\x80\x80\xE1\x80\xFE</p><script>\xFF\xE1\x80</script>\xE1\x80\xE1\x80",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char origin[64];
    snprintf(origin, sizeof origin, "invalid text %zu", i + 1);
    hpar_options options = {HPAR_OPTIONS_INIT, .max_errors = ERRORS, .source_offsets = true, .encoding = "utf-8"};
    size_t length = strlen(texts[i]);
    every_split(options, texts[i], length, origin, true);
    /* Two splits, at most four bytes apart. */
    options.mode = HPAR_MODE_SEQUENTIAL;
    for (size_t at = 0; at < length; at++) {
      for (size_t apart = 0; apart <= 4 && at + apart <= length; apart++) {
        size_t splits[] = {at, at + apart};
        verdict(&options, feed_pieces(&options, texts[i], length, splits, 2), texts[i], length, origin, "splits at",
                at);
      }
    }
    /* Cuts are offsets in the caller's bytes. */
    if (!hpar_predictor_name(0)) continue;
    hpar_options cut = parallel_options(&options);
    for (uint64_t at = 0; at <= length; at++) {
      uint64_t cuts[] = {at, at + 5};
      study.cuts = cuts;
      study.cut_count = at + 5 <= length ? 2 : 1;
      single_bytes(&cut, texts[i], length, origin);
    }
  }
}

static bool fixtures(const char *directory, bool thorough) {
  shared_list files;
  if (!shared_files(directory, ".dat", &files)) return false;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!dat_read(files.paths[i], &file)) return false;
    for (size_t k = 0; k < file.count; k++) {
      const dat_test *test = &file.tests[k];
      char origin[4200];
      snprintf(origin, sizeof origin, "%s:%u", files.paths[i], test->line);
      hpar_options options = {HPAR_OPTIONS_INIT, .scripting = test->scripting == DAT_ON, .fragment = test->fragment,
                              .max_errors = ERRORS, .encoding = "utf-8"};
      every_split(options, test->data, test->data_length, origin, thorough);
      options.encoding = NULL;
      if (thorough) every_split(options, test->data, test->data_length, origin, false);
    }
    dat_free(&file);
  }
  shared_list_free(&files);
  return true;
}

/* Splits at random offsets, into few or many pieces. Sometimes uses steps of 16 KB. */
static void random_splits(const char *bytes, size_t length, const char *origin, unsigned count) {
  random_state random = {length};
  hpar_options sequential = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL},
               parallel = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2};
  if (!expect(&sequential, bytes, length)) return;
  for (unsigned i = 0; i < count; i++) {
    static size_t splits[MAX_PIECES];
    size_t n = 0, most = length / (1 + random_below(&random, 20) * random_below(&random, 200));
    for (size_t at = 0; n < MAX_PIECES && (at += random_below(&random, most + 2)) < length;) splits[n++] = at;
    const hpar_options *options = i % 2 && hpar_predictor_name(0) ? &parallel : &sequential;
    parallel.parallel.chunk_size = i % 4 == 1 ? 1000 + random_below(&random, 20000) : 0;
    hpar_status status =
        i % 50 < 2 ? feed_steps(options, bytes, length, 16 << 10) : feed_pieces(options, bytes, length, splits, n);
    verdict(options, status, bytes, 0, origin, "random splits", i);
  }
}

static void own_pages(unsigned count) {
  for (size_t i = 0; i < corpus_page_count; i++) {
    buffer page = {0};
    corpus_pages[i].write(&page);
    if (page.length < 300000) random_splits(page.bytes, page.length, corpus_pages[i].name, i % 3 ? count / 10 : count);
    buffer_free(&page);
  }
}

static bool pages(const char *directory, unsigned count) {
  shared_list files;
  if (!shared_files(directory, ".html", &files)) return false;
  for (size_t i = 0; i < files.count; i++) {
    size_t length;
    char *bytes = shared_read(files.paths[i], &length);
    if (!bytes) return false;
    random_splits(bytes, length, files.paths[i], count);
    free(bytes);
  }
  shared_list_free(&files);
  return true;
}

static void check_text(const char *text) {
  CHECK(compare_dump(document, &got));
  CHECK_BYTES(got.bytes ? got.bytes : "", got.length, text, strlen(text));
}

static void misuse(void) {
  static const char tree[] = "| <html>\n|   <head>\n|   <body>\n|     <p>\n|       \"x\"\n";
  hpar_options bad = {HPAR_OPTIONS_INIT, .threads = HPAR_MAX_THREADS + 1};
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  CHECK_EQ(hpar_parser_feed(parser, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_begin(NULL, NULL, document), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_begin(parser, NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_begin(parser, &bad, document), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_feed(NULL, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_study_finish(NULL, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_feed(parser, "x", 1), HPAR_ERROR_ARGUMENT);
  bad = (hpar_options){HPAR_OPTIONS_INIT, .fragment = ""};
  CHECK_EQ(hpar_parser_begin(parser, &bad, document), HPAR_ERROR_ARGUMENT);
  bad = (hpar_options){HPAR_OPTIONS_INIT, .encoding = "no such"};
  CHECK_EQ(hpar_parser_begin(parser, &bad, document), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_feed(parser, "x", 1), HPAR_ERROR_ARGUMENT);

  /* Only empty feeds; NULL bytes. */
  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, NULL, 0), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, NULL, 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_OK);
  check_text("| <html>\n|   <head>\n|   <body>\n");
  CHECK_EQ(stats.bytes, 0);
  CHECK_EQ(hpar_study_finish(parser, &stats), HPAR_ERROR_ARGUMENT);

  CHECK_EQ(hpar_parser_begin(parser, NULL, document), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, "<p>", 3), HPAR_OK);
  CHECK_EQ(hpar_parser_feed(parser, NULL, 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_parser_feed(parser, "x", 1), HPAR_OK);
  CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_OK);
  check_text(tree);

  /* The finish call detects cuts past the end. */
  if (hpar_predictor_name(0)) {
    uint64_t cuts[] = {1, 100};
    const hpar_study cutting = {HPAR_STUDY_INIT, .cuts = cuts, .cut_count = 2};
    hpar_options cut = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .study = &cutting};
    CHECK_EQ(hpar_parser_begin(parser, &cut, document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(parser, "<p>x", 4), HPAR_OK);
    CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_ERROR_ARGUMENT);
    check_text("");
  }

  /* Abandons a feed in every possible way, with and without running threads. */
  buffer page = {0};
  add_filler(&page, 300000);
  for (int mode = 0; mode < 4; mode++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .encoding = mode < 2 ? NULL : "windows-1252",
                            .mode = mode % 2 && hpar_predictor_name(0) ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL,
                            .threads = 3};
    for (int way = 0; way < 8; way++) {
      hpar_parser *other;
      hpar_document *elsewhere;
      CHECK_EQ(hpar_parser_create(&other), HPAR_OK);
      CHECK_EQ(hpar_document_create(&elsewhere), HPAR_OK);
      CHECK_EQ(hpar_parser_begin(other, &options, elsewhere), HPAR_OK);
      CHECK_EQ(hpar_parser_feed(other, page.bytes, page.length), HPAR_OK);
      switch (way) {
        case 0: CHECK_EQ(hpar_parser_begin(other, &options, elsewhere), HPAR_OK); break;
        case 1: CHECK_EQ(hpar_parser_begin(other, &options, document), HPAR_OK); break;
        case 2: CHECK_EQ(hpar_parse(other, &options, "<p>x", 4, document, NULL), HPAR_OK); break;
        case 3: CHECK_EQ(hpar_parse(parser, &options, "<p>x", 4, elsewhere, NULL), HPAR_OK); break;
        case 4: CHECK_EQ(hpar_parser_begin(parser, &options, elsewhere), HPAR_OK); break;
        case 5:
          hpar_document_destroy(elsewhere);
          elsewhere = NULL;
          break;
        case 6:
          hpar_parser_destroy(other);
          other = NULL;
          break;
        default: break;
      }
      if (way == 0) {
        CHECK_EQ(hpar_parser_feed(other, "<p>x", 4), HPAR_OK);
        CHECK_EQ(hpar_study_finish(other, NULL), HPAR_OK);
      } else if (way >= 2 && way <= 5) {
        CHECK_EQ(hpar_parser_feed(other, "x", 1), HPAR_ERROR_ARGUMENT);
        stats = (hpar_study_stats){HPAR_STUDY_STATS_INIT};
        CHECK_EQ(hpar_study_finish(other, &stats), HPAR_ERROR_ARGUMENT);
        if (way >= 3) CHECK(stats.mode && !strcmp(stats.mode, "sequential")); /* the defaults */
      }
      if (way == 4) {
        CHECK_EQ(hpar_parser_feed(parser, "<p>x", 4), HPAR_OK);
        CHECK_EQ(hpar_study_finish(parser, NULL), HPAR_OK);
      }
      if (way == 0 || way == 3 || way == 4) {
        CHECK(compare_dump(elsewhere, &got));
        CHECK_BYTES(got.bytes, got.length, tree, sizeof tree - 1);
      }
      if (way == 1 || way == 6) CHECK(!elsewhere || !hpar_node_first_child(elsewhere, hpar_document_root(elsewhere)));
      if (way % 2) {
        hpar_document_destroy(elsewhere);
        hpar_parser_destroy(other);
      } else {
        hpar_parser_destroy(other);
        hpar_document_destroy(elsewhere);
      }
    }
  }
  buffer_free(&page);
}

static void want_of_memory(void) {
  buffer page = {0};
  buffer_text(&page, "<title>\xE4</title><script>");
  while (page.length < 1100) buffer_text(&page, "var no = 'meta';\n");
  buffer_text(&page, "</script><meta charset=gbk>");
  add_filler(&page, 20000);
  for (int mode = 0; mode < 2; mode++) {
    hpar_options options = {HPAR_OPTIONS_INIT,
                            .mode = mode && hpar_predictor_name(0) ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL,
                            .threads = 2, .parallel.chunk_size = 2000, .max_errors = ERRORS};
    bool done = false;
    unsigned n = 0;
    for (; !done && n < 1000; n += n < 100 ? 1 : 7) {
      hpar_parser *short_parser = NULL;
      hpar_document *short_document = NULL;
      hp_memory_fail_after(n);
      hpar_status status = hpar_parser_create(&short_parser);
      if (!status) status = hpar_document_create(&short_document);
      if (!status) status = hpar_parser_begin(short_parser, &options, short_document);
      for (size_t from = 0; !status && from < page.length; from += 1000)
        status =
            hpar_parser_feed(short_parser, page.bytes + from, page.length - from < 1000 ? page.length - from : 1000);
      hpar_status fed = status;
      if (short_parser && short_document && status) {
        hpar_status after = hpar_study_finish(short_parser, NULL);
        CHECK(after == HPAR_ERROR_MEMORY || after == HPAR_ERROR_ARGUMENT);
      } else if (!status) {
        status = hpar_study_finish(short_parser, NULL);
      }
      hp_memory_fail_after(UINT64_MAX);
      done = !status;
      CHECK(!status || status == HPAR_ERROR_MEMORY);
      if (status && short_document) CHECK(!hpar_node_first_child(short_document, hpar_document_root(short_document)));
      if (status && short_parser && short_document) { /* both remain usable */
        CHECK_EQ(hpar_parser_begin(short_parser, &options, short_document), HPAR_OK);
        CHECK_EQ(hpar_parser_feed(short_parser, "<p>x", 4), HPAR_OK);
        CHECK_EQ(hpar_study_finish(short_parser, NULL), HPAR_OK);
        CHECK(hpar_node_first_child(short_document, hpar_document_root(short_document)) != HPAR_NO_NODE);
      }
      (void)fed;
      hpar_document_destroy(short_document);
      hpar_parser_destroy(short_parser);
    }
    CHECK(done && n > 10);
  }
  buffer_free(&page);
}

/* A long token that arrives in single bytes. */
typedef struct long_token {
  const char *open, *body;
  bool parallel;
} long_token;

static double feed_long_token(void *context, int size) {
  const long_token *of = context;
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = of->parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL,
                          .threads = 2, .encoding = "utf-8"};
  size_t length = size ? 400000 : 100000;
  buffer text = {0};
  buffer_text(&text, of->open);
  while (text.length < length) buffer_text(&text, of->body);
  double start = growth_thread_seconds();
  hpar_status status = hpar_parser_begin(parser, &options, document);
  for (size_t at = 0; !status && at < text.length; at++) status = hpar_parser_feed(parser, text.bytes + at, 1);
  if (!status) status = hpar_study_finish(parser, NULL);
  double seconds = growth_thread_seconds() - start;
  CHECK_EQ(status, HPAR_OK);
  buffer_free(&text);
  return seconds;
}

static void growth(void) {
  static long_token tokens[] = {
      {"<p title='", "a&amp;b ", false},
      {"<!--", "- -> ", false},
      {"<script>", "<!-- </scrip ", false},
      {"", "text &lt; ", false},
      {"<", "a", false},
      {"<p ", "a=b ", false},
      {"<!doctype html public '", "x", false},
      {"<textarea>", "</text", false},
      {"<?php ", "? ", false},
      {"<svg><![CDATA[", "]] >", false},
      {"&", "amp", false},
      {"", "\r", false},
  };
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    for (int parallel = 0; parallel < (hpar_predictor_name(0) ? 2 : 1); parallel++) {
      tokens[i].parallel = parallel;
      CHECK(growth_is_below(GROWTH_BOUND, tokens[i].body, feed_long_token, &tokens[i]));
    }
  }
}

/* Attempts at a text that is not complete leave no copy of it in the document. */
static void memory_of_attempts(void) {
  buffer text = {0};
  while (text.length < 4000) buffer_text(&text, "a\r");
  size_t memory[2];
  for (int i = 0; i < 2; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
    hpar_document_clear(document);
    CHECK_EQ(feed_steps(&options, text.bytes, text.length, i ? 10 : text.length), HPAR_OK);
    memory[i] = hpar_document_memory(document);
  }
  CHECK(memory[0] >= text.length && memory[1] < memory[0] + text.length);
  buffer_free(&text);
}

/* Pool threads start chunks before the input ends. The second feed waits for them, at first 1
 * ms, at last 8 seconds. */
static void early_chunks(void) {
  if (!hpar_predictor_name(0)) return;
  buffer page = {0};
  add_filler(&page, 1000000);
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = 2, .encoding = "utf-8"};
  got_stats.chunks_started_before_end = 0;
  for (long ms = 1; ms < 10000 && !got_stats.chunks_started_before_end; ms *= 2) {
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    CHECK_EQ(hpar_parser_feed(parser, page.bytes, 600000), HPAR_OK);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    CHECK_EQ(hpar_parser_feed(parser, page.bytes + 600000, 400000), HPAR_OK);
    CHECK_EQ(hpar_study_finish(parser, &got_stats), HPAR_OK);
  }
  CHECK(got_stats.chunks_started_before_end > 0);
  CHECK(got_stats.chunks_started_before_end <= got_stats.chunks);
  CHECK(got_stats.ns.first_chunk < got_stats.ns.input);
  options.mode = HPAR_MODE_AUTO;
  /* A late thread makes the mode sequential. It may have left the document but not the pool. */
  hpar_document_clear(document);
  for (int i = 0; i < 1000 && (!i || strcmp(got_stats.mode, "parallel") != 0); i++) {
    if (i) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK_EQ(feed_steps(&options, page.bytes, page.length, 5000), HPAR_OK);
  }
  CHECK_STRING(got_stats.mode, "parallel");
  CHECK_EQ(feed_steps(&options, page.bytes, 10000, 5000), HPAR_OK);
  CHECK_STRING(got_stats.mode, "sequential");
  CHECK_EQ(got_stats.chunks_started_before_end, 0);
  buffer_free(&page);
}

static int test(const char *part) {
  unsigned scale = getenv("HPAR_FEED_SCALE") ? (unsigned)strtoul(getenv("HPAR_FEED_SCALE"), NULL, 10) : 5;
  char directory[4096];
  if (!strcmp(part, "growth")) {
    if (!growth_can_be_measured()) return CHECK_SKIPPED;
    growth();
  } else if (!strcmp(part, "fixtures")) {
    if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return CHECK_SKIPPED;
    CHECK(fixtures(directory, scale >= 100));
  } else if (!strcmp(part, "pages")) {
    if (!shared_path(directory, sizeof directory, "corpus/paper")) return CHECK_SKIPPED;
    CHECK(pages(directory, SPLITS * scale / 100));
  } else {
    own_documents();
    encodings();
    invalid_utf8();
    misuse();
    want_of_memory();
    early_chunks();
    memory_of_attempts();
    own_pages(SPLITS * scale / 100);
  }
  return check_report();
}

int main(int count, char **arguments) {
  compare_watch();
  if (hpar_parser_create(&parser) || hpar_parser_create(&whole_parser) || hpar_document_create(&document)) return 1;
  int status = test(count > 1 ? arguments[1] : "");
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  hpar_parser_destroy(whole_parser);
  buffer_free(&expected);
  buffer_free(&expected_errors);
  buffer_free(&got);
  buffer_free(&got_errors);
  return status;
}
