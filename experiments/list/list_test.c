/* Tests Figures 6 to 9 of the paper on a document of the same shape. Then tests on generated
 * documents that each scheme gives the tree and the errors of the sequential parser. */

#include "generate.h"
#include "parallel.h"

#include "check.h"
#include "support/random.h"

#include <stdlib.h>

static const char example[] =
    "<list>\n  <item>ink</item>\n  <list>\n    <item>drum</item>\n    <item>flute</item>\n  </list>\n  <list>\n"
    "    <item>map</item>\n    <list>\n      <item>Red Sea</item>\n      <item>Black Sea</item>\n    </list>\n"
    "  </list>\n</list>\n";
static const char example_tree[] =
    "root(list(item(ink) list(item(drum) item(flute)) list(item(map) list(item(Red Sea) item(Black Sea)))))";

static char shown[4096];

static const char *print(const list_node *node) {
  FILE *file = fmemopen(shown, sizeof shown, "w");
  list_print(file, node);
  fputc(0, file);
  fclose(file);
  return shown;
}

static list_tree parse(list_arena *arena, const char *input, size_t begin, size_t end) {
  return list_parse(arena, input, begin, end, NULL);
}

static void figure_6(void) {
  list_arena arena = {0};
  list_tree tree = parse(&arena, example, 0, sizeof example - 1);
  list_finish(&tree);
  CHECK_STRING(print(tree.root), example_tree);
  CHECK_EQ(tree.errors, 0);
  CHECK(tree.current == tree.root);
  list_arena_free(&arena);
}

static void fixed(size_t level, uint32_t units, const char *high_level) {
  list_arena arena = {0};
  list_partition partition = {0};
  list_node *holders[16];
  CHECK(list_preparse_fixed(example, sizeof example - 1, level, &partition));
  CHECK_EQ(partition.count, units);
  list_skip skip = {partition.units, holders, 0, partition.count};
  list_tree tree = list_parse(&arena, example, 0, sizeof example - 1, &skip);
  CHECK_STRING(print(tree.root), high_level);
  list_partition_free(&partition);
  list_arena_free(&arena);
}

static void figure_7(void) {
  fixed(0, 1, "root(unit0)");
  fixed(1, 3, "root(list(unit0 unit1 unit2))");
  fixed(2, 4, "root(list(item(ink) list(unit0 unit1) list(unit2 unit3)))");
  list_partition partition = {0};
  CHECK(list_preparse_flexible(example, sizeof example - 1, 60, &partition));
  /* The inner lists hold 67 and 82 bytes. The rest of the outer two is below, then above the
   * threshold. */
  CHECK_EQ(partition.count, 3);
  CHECK_EQ(partition.units[0].begin, 0);
  CHECK(!strncmp(example + partition.units[1].begin, "<list>\n    <item>drum", 20));
  CHECK(!strncmp(example + partition.units[2].begin, "<list>\n      <item>Red", 21));
  CHECK_EQ(partition.units[0].next, 3);
  CHECK_EQ(partition.units[1].next, 2);
  list_partition_free(&partition);
}

static void figures_8_and_9(void) {
  list_arena arena = {0};
  size_t cut = (size_t)(strstr(example, "map") + 3 - example);
  list_tree first = parse(&arena, example, 0, cut), second = parse(&arena, example, cut, sizeof example - 1);
  CHECK_STRING(print(first.root), "root(list*(item(ink) list(item(drum) item(flute)) list*(item*(map))))");
  CHECK_STRING(print(second.root), "root(^item list(item(Red Sea) item(Black Sea)) ^list ^list)");
  CHECK_EQ(second.root_nodes, 4);
  CHECK_EQ(list_merge_two(&first, &second), 4);
  list_finish(&first);
  CHECK_STRING(print(first.root), example_tree);
  CHECK_EQ(first.errors, 0);
  list_arena_free(&arena);
}

/* Checks Property 4.1: end-missing nodes are one path from the root to a leaf. */
static void property(void) {
  list_arena arena = {0};
  for (size_t cut = 0; cut < sizeof example; cut++) {
    list_tree tree = parse(&arena, example, 0, cut);
    const list_node *node = tree.root;
    while (node->last && node->last->end_missing) node = node->last;
    CHECK(node == tree.current);
  }
  list_arena_free(&arena);
}

static size_t errors_in_pieces(const char *input, size_t n, size_t a, size_t b) {
  list_arena arena = {0};
  list_tree trees[3] = {parse(&arena, input, 0, a), parse(&arena, input, a, b), parse(&arena, input, b, n)};
  list_merge(trees, 3);
  list_arena_free(&arena);
  return trees[0].errors;
}

static void errors(void) {
  static const char *const wrong[] = {
      "<list><item>a</list></item>",
      "<list>",
      "</list>",
      "<item>a</item>",
      "<list></item>",
      "<list>a</list>",
      "a",
      "<list><item><item>a</item></item></list>",
      "<list><item>1</item></list>",
      "<list><li></list>",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    size_t n = strlen(wrong[i]);
    for (size_t a = 0; a <= n; a++) {
      if (a && a < n && wrong[i][a] != '<') continue;
      for (size_t b = a; b <= n; b++)
        if (b == n || wrong[i][b] == '<') CHECK(errors_in_pieces(wrong[i], n, a, b));
    }
    list_parser *parser = list_parser_create(2);
    for (int scheme = 0; scheme < LIST_SCHEMES; scheme++) {
      list_plan plan = {.scheme = (list_scheme)scheme, .pieces = 2, .level = 1, .threshold = 4};
      CHECK(list_parse_document(parser, &plan, wrong[i], n, NULL).errors);
    }
    list_parser_destroy(parser);
  }
}

static void every_scheme(const char *input, size_t n, bool may_be_wrong) {
  list_arena arena = {0};
  list_tree expected = parse(&arena, input, 0, n);
  list_finish(&expected);
  if (!may_be_wrong) CHECK_EQ(expected.errors, 0);
  static const size_t levels[] = {0, 1, 2, 5}, thresholds[] = {0, 50, 1000, 1u << 30};
  for (unsigned threads = 1; threads <= 8; threads = threads < 3 ? threads + 1 : threads + 5) {
    list_parser *parser = list_parser_create(threads);
    for (int scheme = 0; scheme < LIST_SCHEMES; scheme++) {
      for (size_t i = 0; i < 4; i++) {
        list_plan plan = {(list_scheme)scheme, i * i * i + threads, levels[i], thresholds[i]};
        list_report report;
        list_tree tree = list_parse_document(parser, &plan, input, n, &report);
        CHECK_EQ(!tree.errors, !expected.errors);
        if (!expected.errors) CHECK(list_equal(tree.root, expected.root));
        if (plan.scheme == LIST_FLEXIBLE && !i && n && !expected.errors) CHECK(report.units > 0);
      }
    }
    list_parser_destroy(parser);
  }
  list_arena_free(&arena);
}

static void generated(void) {
  random_state random = {7};
  for (int shape = 0; shape < LIST_SHAPES; shape++) {
    for (size_t size = 50; size < 400000; size *= 20) {
      size_t n;
      char *text = list_generate((list_shape)shape, size, size, &n);
      CHECK(n < size + 200 + size / 10);
      every_scheme(text, n, false);
      text[random_below(&random, n)] = '<';
      every_scheme(text, n, true);
      free(text);
    }
  }
  every_scheme("", 0, false);
  every_scheme(example, sizeof example - 1, false);
}

int main(void) {
  figure_6();
  figure_7();
  figures_8_and_9();
  property();
  errors();
  generated();
  return check_report();
}
