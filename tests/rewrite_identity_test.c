/* Rewrites documents without edits: the output is the input, for every division. A rule that
 * matches every element receives exactly the start tags of the elements that hpar_parse inserts.
 * With the argument "fixtures": the inputs of html5lib-tests, of LOL HTML, and outside pages. */

#include "check.h"
#include "support/buffer.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/rewriting.h"
#include "support/shared.h"

#include <hpar/hpar.h>
#include <stdlib.h>

typedef struct range {
  uint64_t start, end;
} range;

typedef struct ranges {
  range *items;
  size_t count, capacity;
} ranges;

static hpar_rewriter *rewriter;
static hpar_parser *parser;
static hpar_document *document;
static hpar_rules *no_match, *structural, *all;
static ranges seen, inserted;
static buffer out;
static uint64_t text_bytes, ends;

static void add_range(ranges *to, uint64_t start, uint64_t end) {
  if (to->count == to->capacity) {
    to->capacity = to->capacity ? 2 * to->capacity : 64;
    to->items = realloc(to->items, to->capacity * sizeof *to->items);
  }
  to->items[to->count++] = (range){start, end};
}

static int compare_ranges(const void *left, const void *right) {
  const range *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

static hpar_status note_element(hpar_element *e, void *context) {
  (void)context;
  if (e->merges) return HPAR_OK; /* no element begins */
  add_range(&seen, e->start, e->end);
  ends++;
  return HPAR_OK;
}

static hpar_status note_end(hpar_element_end *e, void *context) {
  (void)e, (void)context;
  ends--;
  return HPAR_OK;
}

static hpar_status note_text(hpar_text_piece *t, void *context) {
  (void)context;
  text_bytes += t->raw.length;
  return HPAR_OK;
}

static hpar_status note_comment(hpar_comment *c, void *context) {
  (void)c, (void)context;
  return HPAR_OK;
}

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* Notes the start tags. "</br>" makes a br, which has no start tag. */
static void walk(hpar_node top, const char *bytes) {
  for (hpar_node node = top; node; node = hpar_node_walk(document, top, node)) {
    uint64_t start, end;
    if (hpar_node_kind(document, node) != HPAR_NODE_ELEMENT) continue;
    if (hpar_node_start_tag_range(document, node, &start, &end) && bytes[start + 1] != '/')
      add_range(&inserted, start, end);
    hpar_node contents = hpar_node_template_contents(document, node);
    if (contents) walk(contents, bytes);
  }
}

/* Rewrites in pieces of random lengths up to `most`; 0: as a whole. */
static void rewrite(const hpar_rules *rules, const compare_case *of, size_t most, uint64_t seed) {
  random_state random = {seed};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .no_scripting = !of->scripting, .fragment = of->fragment,
                                  .encoding = "utf-8"};
  buffer_clear(&out);
  seen.count = 0;
  ends = 0;
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, collect, &out), HPAR_OK);
  for (size_t at = 0; at < of->length;) {
    size_t part = most ? 1 + random_below(&random, most) : of->length;
    if (part > of->length - at) part = of->length - at;
    char *copy = malloc(part);
    memcpy(copy, of->bytes + at, part);
    CHECK_EQ(hpar_rewriter_feed(rewriter, copy, part), HPAR_OK);
    free(copy);
    at += part;
  }
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  CHECK_EQ(hpar_rewriter_finish(rewriter, &stats), HPAR_OK);
  if (!CHECK(out.length == of->length && (!of->length || !memcmp(out.bytes, of->bytes, of->length))))
    printf("  pieces up to %zu of:\n%.*s\n", most, of->length < 800 ? (int)of->length : 800, of->bytes);
  CHECK_EQ(stats.output_bytes, of->length);
  CHECK_EQ(ends, 0);
}

/* The tree lacks some inserted elements: frameset removes the body, selectedcontent its
 * children. */
static bool is_complete(const compare_case *of) {
  buffer lower = {0};
  buffer_add(&lower, of->bytes, of->length);
  for (size_t i = 0; i < lower.length; i++)
    lower.bytes[i] = (char)(lower.bytes[i] >= 'A' && lower.bytes[i] <= 'Z' ? lower.bytes[i] | 0x20 : lower.bytes[i]);
  bool complete = !lower.length || (!memmem(lower.bytes, lower.length, "<frameset", 9) &&
                                    !memmem(lower.bytes, lower.length, "<selectedcontent", 16));
  buffer_free(&lower);
  return complete;
}

static void check_document(const compare_case *of, uint64_t seed) {
  hpar_options options = {HPAR_OPTIONS_INIT,        .mode = HPAR_MODE_SEQUENTIAL, .scripting = of->scripting,
                          .fragment = of->fragment, .encoding = "utf-8",          .source_offsets = true};
  rewrite(no_match, of, 0, seed);
  rewrite(structural, of, 9, seed);
  rewrite(all, of, 0, seed);
  bool compares = is_complete(of);
  if (compares) {
    inserted.count = 0;
    CHECK_EQ(hpar_parse(parser, &options, of->bytes, of->length, document, NULL), HPAR_OK);
    walk(hpar_document_root(document), of->bytes);
    if (inserted.count) qsort(inserted.items, inserted.count, sizeof *inserted.items, compare_ranges);
  }
  for (int i = 0; i < 3; i++) {
    if (i) rewrite(all, of, i == 1 ? 1 : 40, seed);
    bool same = !compares || (seen.count == inserted.count &&
                              (!seen.count || !memcmp(seen.items, inserted.items, seen.count * sizeof *seen.items)));
    if (!CHECK(same))
      printf("  %zu and %zu elements in:\n%.*s\n", seen.count, inserted.count, of->length < 800 ? (int)of->length : 800,
             of->bytes);
  }
}

static void check_files(const char *below, bool is_sample) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, below) || !CHECK(shared_files(directory, ".dat", &files))) return;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!CHECK(dat_read(files.paths[i], &file))) continue;
    for (size_t j = 0; j < file.count; j += is_sample && !compare_full() ? 3 : 1) {
      const dat_test *test = &file.tests[j];
      compare_case of = {.bytes = test->data,
                         .length = test->data_length,
                         .fragment = test->fragment,
                         .scripting = test->scripting == DAT_ON};
      check_document(&of, j);
    }
    dat_free(&file);
  }
  shared_list_free(&files);
}

static bool fixtures(void) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  check_files("html5lib-tests/tree-construction", true);
  if (!shared_path(directory, sizeof directory, "corpus/pages")) return true;
  if (!CHECK(shared_files(directory, ".html", &files))) return false;
  size_t step = compare_full() ? 1 : 8;
  for (size_t i = 0; i < files.count; i += step) {
    compare_case of = {0};
    char *bytes = shared_read(files.paths[i], &of.length);
    of.bytes = bytes;
    if (bytes) check_document(&of, i);
    free(bytes);
  }
  shared_list_free(&files);
  return true;
}

int main(int count, char **arguments) {
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  no_match = rewriting_compile(&(hpar_rule){HPAR_RULE_INIT, .selector = "x-none", .element = note_element});
  structural = rewriting_compile(
      &(hpar_rule){HPAR_RULE_INIT, .selector = "x-none y, div + x-none > p:nth-of-type(2n) ~ b:nth-child(2 of .c)",
                   .element = note_element});
  all = rewriting_compile(&(hpar_rule){HPAR_RULE_INIT, .selector = "*", .element = note_element, .end = note_end,
                                       .text = note_text, .comment = note_comment});
  bool skipped = false;
  if (check_part(count, arguments, "fixtures")) {
    skipped = !fixtures();
  } else {
    for (size_t i = 0; i < document_count; i++) check_document(&documents[i], i);
    uint64_t generated_documents = compare_full() ? 1000000 : 20 * (uint64_t)compare_scale();
    for (uint64_t seed = 0; seed < generated_documents; seed++) {
      generated made = {0};
      generate(seed, &made);
      compare_case of = {
          .bytes = made.text.bytes, .length = made.text.length, .fragment = made.fragment, .scripting = made.scripting};
      check_document(&of, seed);
      generate_free(&made);
    }
  }
  hpar_rules_destroy(no_match);
  hpar_rules_destroy(structural);
  hpar_rules_destroy(all);
  hpar_rewriter_destroy(rewriter);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  buffer_free(&out);
  free(seen.items);
  free(inserted.items);
  return skipped ? CHECK_SKIPPED : check_report();
}
