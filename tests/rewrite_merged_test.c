/* Tags whose attributes the parser adds to the open html or body. A rule that removes an attribute
 * must leave none in the tree of the output, in each division of the input among feeds and
 * workers. */

#include "check.h"
#include "support/division.h"
#include "support/generate.h"
#include "support/rewriting.h"

#include <hpar/hpar.h>
#include <string.h>

static const hpar_action unset = {.kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = "onload"};
static const hpar_action set = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "id", .value = {"1", 1}};
static const hpar_action remove_tag = {.kind = HPAR_ACTION_REMOVE};
static const hpar_action unwrap = {.kind = HPAR_ACTION_UNWRAP};
static const hpar_action prepend = {.kind = HPAR_ACTION_PREPEND, .value = {"new", 3}};
static const hpar_action renames = {.kind = HPAR_ACTION_RENAME, .name = "div"};
static const hpar_action prefix = {
    .kind = HPAR_ACTION_PREFIX_ATTRIBUTE, .name = "id", .value = {"a", 1}, .replacement = {"b", 1}};

static hpar_status append(const char *bytes, size_t length, void *out) {
  buffer_add(out, bytes, length);
  return HPAR_OK;
}

static hpar_rules *make(const char *selector, const hpar_action *action, const hpar_rule *more) {
  hpar_rules *rules;
  hpar_rule rule = more ? *more : (hpar_rule){HPAR_RULE_INIT};
  rule.selector = selector;
  rule.actions = action;
  rule.action_count = action != NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static const struct {
  const char *selector;
  const hpar_action *action;
  const char *input, *output;
} cases[] = {
    {"[onload]", &unset, "x<body onload=a>", "x<body>"},
    {"[onload]", &unset, "<body onload=a>x<body onload=b class=c>", "<body>x<body class=c>"},
    {"[onload]", &unset, "<p>x<html onload=a>", "<p>x<html>"},
    {"[onload]", &unset, "<html><head><html onload=a>", "<html><head><html>"},
    {"[onload]", &unset, "<head></head><html onload=a>", "<head></head><html>"},
    {"[onload]", &unset, "<body></body><html onload=a>x", "<body></body><html>x"},
    {"[onload]", &unset, "<body></body></html><body onload=a>x", "<body></body></html><body>x"},
    {"[onload]", &unset, "<frameset><html onload=a>", "<frameset><html>"},
    {"[onload]", &unset, "<table><td><select><html onload=a><body onload=b>", "<table><td><select><html><body>"},
    {"[onload]", &unset, "<svg><desc><body onload=a>", "<svg><desc><body>"},
    {"[onload]", &unset, "x<BODY ONLOAD=a ONLOAD=b>", "x<BODY>"},
    /* the parser ignores these tags */
    {"[onload]", &unset, "<template><body onload=a></template>", "<template><body onload=a></template>"},
    {"[onload]", &unset, "<frameset><body onload=a>", "<frameset><body onload=a>"},
    {"[onload]", &remove_tag, "x<body onload=a>y", "xy"},
    {"[onload]", &unwrap, "<body onload=a>x<body onload=b>y", "xy"},
    {"[onload]", &prepend, "x<body onload=a>y", "x<body onload=a>y"},
    {"[onload]", &renames, "x<body onload=a>y", "x<body onload=a>y"},
    {"body", &set, "<body>x<body class=c>", "<body id=\"1\">x<body class=c id=\"1\">"},
    {"body.c", &set, "<body>x<body class=c>", "<body>x<body class=c id=\"1\">"},
    {"body[title].c", &set, "<body title>x<body class=c>", "<body title>x<body class=c id=\"1\">"},
    {"body.d", &set, "<body class=c>x<body class=d>", "<body class=c>x<body class=d>"},
    {"head + body.c:nth-child(2)", &set, "<p>x<body class=c>", "<p>x<body class=c id=\"1\">"},
    {"head + body.c:nth-child(3)", &set, "<p>x<body class=c>", "<p>x<body class=c>"},
    {"html > body.c:nth-of-type(1)", &set, "<p>x<body class=c>", "<p>x<body class=c id=\"1\">"},
    {"body:not(.c)", &set, "<p>x<body class=c>", "<p>x<body class=c>"},
    {"body[id]", &prefix, "<p>x<body id=ac><body id=ad>", "<p>x<body id=bc><body id=bd>"},
    {"p", &set, "<p>x<body class=c>", "<p id=\"1\">x<body class=c>"},
};

static void tables(void) {
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_rules *rules = make(cases[i].selector, cases[i].action, NULL);
    buffer out = {0};
    CHECK_EQ(hpar_rewrite(rewriter, rules, NULL, cases[i].input, strlen(cases[i].input), NULL, append, &out), HPAR_OK);
    if (!CHECK_BYTES(out.bytes, out.length, cases[i].output, strlen(cases[i].output)))
      printf("  %s in %s\n", cases[i].selector, cases[i].input);
    hpar_rules_destroy(rules);
    buffer_free(&out);
  }
  hpar_rewriter_destroy(rewriter);
}

/*** what callbacks see ***/

typedef struct sight {
  unsigned calls, merges, found;
  hpar_status set;
} sight;

static hpar_status see(hpar_element *element, void *context) {
  sight *s = context;
  s->calls++;
  if (!element->merges) return HPAR_OK;
  s->merges++;
  CHECK_EQ(element->name.length, 4);
  CHECK_EQ(element->ns, HPAR_NAMESPACE_HTML);
  CHECK(!element->has_content);
  CHECK(!element->implied);
  s->set = hpar_element_set(element, "k", "v", 1);
  return HPAR_OK;
}

static void see_found(uint64_t start, uint64_t end, void *context) {
  ((sight *)context)->found++;
  CHECK(start < end);
}

static void callbacks(void) {
  static const char page[] = "<body a>x<body b>y<html a><p a><body a>";
  sight s = {0};
  const hpar_rule rule = {HPAR_RULE_INIT, .element = see, .found = see_found, .context = &s};
  hpar_rules *rules = make("[a]", NULL, &rule);
  hpar_rewriter *rewriter;
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  buffer out = {0};
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewrite(rewriter, rules, NULL, page, sizeof page - 1, &stats, append, &out), HPAR_OK);
  static const char expected[] = "<body a>x<body b k=\"v\">y<html a k=\"v\"><p a><body a k=\"v\">";
  CHECK_BYTES(out.bytes, out.length, expected, sizeof expected - 1);
  CHECK_EQ(s.calls, 5);
  CHECK_EQ(s.merges, 3);
  CHECK_EQ(s.found, 3); /* body, html, p */
  CHECK_EQ(stats.matches, 3);
  CHECK_EQ(s.set, HPAR_OK);
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/*** generated pages ***/

static hpar_status count(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(unsigned *)context;
  return HPAR_OK;
}

static unsigned elements(const buffer *page, const char *selector) {
  unsigned found = 0;
  hpar_parser *parser;
  hpar_document *document;
  hpar_selectors *selectors;
  const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_selectors_create(&selectors), HPAR_OK);
  CHECK_EQ(hpar_selectors_add(selectors, selector, strlen(selector), NULL), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, page->bytes, page->length, document, NULL), HPAR_OK);
  CHECK_EQ(hpar_select(selectors, document, hpar_document_root(document), NULL, count, &found), HPAR_OK);
  hpar_selectors_destroy(selectors);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return found;
}

/* Puts html and body tags with handlers between the tokens of a generated page. */
static void make_page(uint64_t seed, generated *made, buffer *page) {
  static const char *const tags[] = {"<body onload=a>",   "<html onload=b>",          "<body onload=c class=k>",
                                     "<html class=k id>", "<body class=k title='>'>", "<p onload=d>"};
  random_state random = {seed};
  generate(seed, made);
  page->length = 0;
  for (size_t i = 0; i < made->text.length; i++) {
    if (made->text.bytes[i] == '<' && random_below(&random, 5) == 0)
      buffer_text(page, tags[random_below(&random, sizeof tags / sizeof *tags)]);
    buffer_add(page, made->text.bytes + i, 1);
  }
}

static void generated_pages(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  static const char *const selectors[] = {"[onload]", "[onload], p > b", "body[onload], html[onload], p[onload]",
                                          "[onload]:nth-child(n)"};
  generated made = {0};
  buffer page = {0}, out = {0};
  unsigned merged = 0;
  division_open();
  for (uint64_t seed = 0; seed < 400 && !check_failed; seed++) {
    hpar_rules *rules = make(selectors[seed % 4], &unset, NULL);
    make_page(seed, &made, &page);
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    out.length = 0;
    buffer_add(&out, division_expected.out.bytes, division_expected.out.length);
    merged += elements(&page, "html[onload], body[onload]");
    CHECK_EQ(elements(&out, "html[onload], body[onload]"), 0);
    for (unsigned round = 0; round < 8; round++) {
      size_t cuts[2] = {1 + division_pick((unsigned)page.length), 0};
      cuts[1] = cuts[0] + 1 + division_pick((unsigned)(page.length - cuts[0] + 1));
      const hp_rewrite_division division = {.cuts = cuts,
                                            .cut_count = cuts[0] < page.length ? 1 + (cuts[1] < page.length) : 0,
                                            .checkpoint_bytes = division_checkpoints[round % 2],
                                            .is_inline = true};
      if (!CHECK(division_check(rules, &options, page.bytes, page.length, &division))) break;
    }
    hpar_rules_destroy(rules);
  }
  CHECK(merged > 200);
  division_close();
  buffer_free(&page);
  buffer_free(&out);
  generate_free(&made);
}

/* All kinds of rules and callbacks, fed in pieces. */
static void generated_rules(void) {
  static rewriting rules;
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  generated made = {0};
  buffer page = {0};
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (uint64_t seed = 1; seed < 300 && !check_failed; seed++) {
    random_state random = {seed};
    rewriting_make(&rules, &random, REWRITING_CALLBACKS | REWRITING_UNITS | REWRITING_IMPLIED);
    make_page(seed, &made, &page);
    CHECK(!rewriting_difference(&rules, rewriter, &options, page.bytes, page.length, seed));
    hpar_rules_destroy(rules.compiled);
    rules.compiled = NULL;
  }
  hpar_rewriter_destroy(rewriter);
  rewriting_free(&rules);
  generate_free(&made);
  buffer_free(&page);
}

int main(void) {
  tables();
  callbacks();
  generated_pages();
  generated_rules();
  return check_report();
}
