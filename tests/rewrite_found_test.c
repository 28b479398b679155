/* hpar_rule.found: a query by several threads that builds no tree. On a page without misnested
 * elements, the start tags are those of the elements that hpar_select reports after a parse. */

#include "check.h"
#include "rewrite/parallel.h"
#include "support/buffer.h"

#include <hpar/parse.h>
#include <hpar/select.h>
#include <string.h>

static buffer page, expected, got;

static void make_page(unsigned sections) {
  static const char *const parts[] = {
      "<div class=x><p>text <a href=q>link</a> and <b>bold</b></p><ul><li>one</li><li class=y>two</li></ul></div>\n",
      "<section><p>a</p><p class=x>b</p><a href=r>c</a></section>\n",
      "<!-- <p>no</p> --><script>'<p>no</p>'</script><p>yes</p>\n",
      "<table><tbody><tr><td><p>d</p></td></tr></tbody></table>\n"};
  buffer_clear(&page);
  buffer_text(&page, "<!doctype html><html><head><title>t</title></head><body><main>");
  for (unsigned i = 0; i < sections; i++) {
    if (i % 50 == 7) buffer_text(&page, "</main><main class=y>");
    buffer_text(&page, parts[(i * i + i / 3) % 4]);
  }
  buffer_text(&page, "</main></body></html>");
}

static void note(buffer *to, uint64_t start, uint64_t end) {
  buffer_format(to, "%llu-%llu\n", (unsigned long long)start, (unsigned long long)end);
}

static const hpar_document *parsed;

static hpar_status note_selected(hpar_node element, uint32_t selector, void *context) {
  uint64_t start, end;
  (void)selector;
  if (hpar_node_start_tag_range(parsed, element, &start, &end)) note(context, start, end);
  return HPAR_OK;
}

static void note_found(uint64_t start, uint64_t end, void *context) { note(context, start, end); }

static void select_after_parse(const char *selector) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .source_offsets = true};
  hpar_parser *parser;
  hpar_document *document;
  hpar_selectors *selectors;
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, page.bytes, page.length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_selectors_create(&selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(selectors, selector, strlen(selector), NULL), HPAR_OK);
  parsed = document;
  buffer_clear(&expected);
  CHECK_EQ(hpar_select(selectors, document, hpar_document_root(document), NULL, note_selected, &expected), HPAR_OK);
  hpar_selectors_destroy(selectors);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

static hpar_rules *make_rules(const char *selector) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .found = note_found, .context = &got};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static void check_found(hpar_rewriter *rewriter, const hpar_rules *rules, const hpar_rewrite_options *options) {
  buffer_clear(&got);
  CHECK_EQ(hpar_rewrite(rewriter, rules, options, page.bytes, page.length, NULL, NULL, NULL), HPAR_OK);
  CHECK(got.length == expected.length && got.length && !memcmp(got.bytes, expected.bytes, got.length));
}

/* Each selector in one thread, with all chunks on one thread, and in several threads. */
static void test_selectors(void) {
  static const char *const selectors[] = {
      "a",          "p.x",    "div > p", "main > p",          "main p",
      "ul > li",    ".y",     "[href]",  "td p, section > a", ":is(div, section) > p",
      "main.y > p", "tr > td"};
  make_page(1500);
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    hpar_rules *rules = make_rules(selectors[i]);
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .mode = HPAR_MODE_SEQUENTIAL};
    hpar_rewriter *rewriter;
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    select_after_parse(selectors[i]);
    check_found(rewriter, rules, &options);
    options.mode = HPAR_MODE_PARALLEL;
    for (size_t size = 500; size < page.length; size = size * 3 + 17) {
      hp_rewrite_division division = {.chunk_size = size, .is_inline = true};
      CHECK_EQ(hp_rewriter_divide(rewriter, &division), HPAR_OK);
      check_found(rewriter, rules, &options);
      division.is_inline = false;
      options.threads = 3;
      CHECK_EQ(hp_rewriter_divide(rewriter, &division), HPAR_OK);
      check_found(rewriter, rules, &options);
    }
    hp_rewrite_counters counters = hp_rewriter_counters(rewriter);
    CHECK(counters.adopted_segments > 100);
    hpar_rewriter_destroy(rewriter);
    hpar_rules_destroy(rules);
  }
}

/* Elements in removed content are found, and implied elements only on request. */
static void test_removed_and_implied(void) {
  static const char text[] = "<p>a<div><p>b</div><table><tr></table>";
  const hpar_action remove = {.kind = HPAR_ACTION_REMOVE};
  hpar_rule rules_given[] = {{HPAR_RULE_INIT, .selector = "div", .actions = &remove, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "p, tbody", .found = note_found, .context = &got}};
  for (int implied = 0; implied < 2; implied++) {
    hpar_rules *rules;
    hpar_rewriter *rewriter;
    rules_given[1].implied = implied;
    CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
    for (int i = 0; i < 2; i++) CHECK_EQ(hpar_rules_add(rules, &rules_given[i], NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    buffer_clear(&got);
    CHECK_EQ(hpar_rewrite(rewriter, rules, NULL, text, strlen(text), NULL, NULL, NULL), HPAR_OK);
    const char *wanted = implied ? "0-3\n9-12\n26-26\n" : "0-3\n9-12\n";
    CHECK(got.length == strlen(wanted) && !memcmp(got.bytes, wanted, got.length));
    hpar_rewriter_destroy(rewriter);
    hpar_rules_destroy(rules);
  }
}

/* The document has no start tag. */
static void test_refused(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .found = note_found};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

int main(void) {
  test_selectors();
  test_removed_and_implied();
  test_refused();
  buffer_free(&page);
  buffer_free(&expected);
  buffer_free(&got);
  return check_report();
}
