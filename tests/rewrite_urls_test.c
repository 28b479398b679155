/* URLs, patterns of attributes and the walk over attributes, against expected output, with every
 * division of the input and by workers at every cut. */

#include "check.h"
#include "support/compare.h"
#include "support/division.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hpar_rewriter *rewriter;

static hpar_status collect(const char *bytes, size_t length, void *out) {
  buffer_add(out, bytes, length);
  return HPAR_OK;
}

static hpar_rules *compile(const hpar_rule *rules, size_t count) {
  hpar_rules *made = NULL;
  CHECK_EQ(hpar_rules_create(&made), HPAR_OK);
  for (size_t i = 0; i < count; i++) CHECK_EQ(hpar_rules_add(made, &rules[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(made), HPAR_OK);
  return made;
}

static hpar_string string_of(const char *text) { return (hpar_string){text, strlen(text)}; }

/* Rewrites in pieces of `piece` bytes. */
static void rewrite(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text, size_t piece,
                    buffer *out) {
  const size_t length = strlen(text);
  buffer_clear(out);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, options, collect, out), HPAR_OK);
  for (size_t at = 0; at < length; at += piece)
    CHECK_EQ(hpar_rewriter_feed(rewriter, text + at, length - at < piece ? length - at : piece), HPAR_OK);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_OK);
}

/* Checks the output in all divisions. */
static void check_output(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text,
                         const char *expected) {
  static const size_t pieces[] = {SIZE_MAX / 2, 1, 2, 3, 7, 16};
  buffer out = {0};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    rewrite(rules, options, text, pieces[i], &out);
    if (!CHECK(out.length == strlen(expected) && !memcmp(out.bytes, expected, out.length)))
      printf("  %s\n  gives %.*s\n  not   %s\n", text, (int)out.length, out.bytes, expected);
  }
  buffer_free(&out);
  const size_t length = strlen(text);
  division_rewrite_alone(rules, options, text, length);
  for (size_t cut = 1; cut < length; cut++) {
    const hp_rewrite_division division = {
        .cuts = &cut, .cut_count = 1, .checkpoint_bytes = division_checkpoints[cut % 2], .is_inline = true};
    if (!CHECK(division_check(rules, options, text, length, &division))) printf("  cut %zu of %s\n", cut, text);
  }
}

static void check_action(hpar_action_kind kind, const char *name, const char *value, const char *text,
                         const char *expected) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hpar_action action = {.kind = kind, .name = name, .value = string_of(value)};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "*", .actions = &action, .action_count = 1};
  hpar_rules *rules = compile(&rule, 1);
  check_output(rules, &options, text, expected);
  hpar_rules_destroy(rules);
}

/*** URLs ***/

static const struct {
  const char *text, *expected;
} rebased[] = {
    {"<a href=b?c=1&amp;d=2>x</a>", "<a href=\"http://x.y/d/b?c=1&d=2\">x</a>"},
    {"<a href='b\"c'>", "<a href='http://x.y/d/b%22c'>"},
    {"<a href=#f><a href=><a href=' '><a href><a HREF=mailto:q>",
     "<a href=#f><a href=><a href=' '><a href><a HREF=mailto:q>"},
    {"<a href='a&amp;copy;1'>", "<a href='http://x.y/d/a&amp;copy;1'>"},
    {"<a href=b><base href=/e/f><a href=b><base href=/no/no><a href=g>",
     "<a href=http://x.y/d/b><base href=http://x.y/e/f><a href=http://x.y/e/b><base href=http://x.y/no/no>"
     "<a href=http://x.y/e/g>"},
    {"<template><base href=/t/></template><svg><base href=/s/></svg><a href=b>",
     "<template><base href=http://x.y/t/></template><svg><base href=http://x.y/s/></svg><a href=http://x.y/d/b>"},
    {"<base href=data:,x><a href=b>", "<base href=data:,x><a href=http://x.y/d/b>"},
    {"<base href=//z><base><a href=b>", "<base href=http://z/><base><a href=http://z/b>"},
    {"<img srcset='a 1x, b 2x,c' src=d>",
     "<img srcset='http://x.y/d/a 1x, http://x.y/d/b 2x,http://x.y/d/c' src=http://x.y/d/d>"},
    {"<img srcset='data:,a,b 1x, (c 2w'>", "<img srcset='data:,a,b 1x, http://x.y/d/(c 2w'>"},
    {"<source srcset=a src=b><link imagesrcset='a 2w' href=c><link href=d integrity=e>",
     "<source srcset=http://x.y/d/a src=http://x.y/d/b><link imagesrcset='http://x.y/d/a 2w' href=http://x.y/d/c>"
     "<link href=http://x.y/d/d integrity=e>"},
    {"<form action=a><button formaction=b><input formaction=c src=d></form>",
     "<form action=http://x.y/d/a><button formaction=http://x.y/d/b><input formaction=http://x.y/d/c "
     "src=http://x.y/d/d></form>"},
    {"<video poster=a src=b><object data=c></object><q cite=d>",
     "<video poster=http://x.y/d/a src=http://x.y/d/b>"
     "<object data=http://x.y/d/c></object><q cite=http://x.y/d/d>"},
    {"<html manifest=m><body background=b><table background=c><td background=d>",
     "<html manifest=http://x.y/d/m><body background=http://x.y/d/b><table background=http://x.y/d/c>"
     "<td background=http://x.y/d/d>"},
    {"<a ping=' /a b'>", "<a ping=' http://x.y/a http://x.y/d/b'>"},
    {"<meta http-equiv=Refresh content='1;url=\"a\" b'><meta content='1;url=a'>",
     "<meta http-equiv=Refresh content='1;url=\"http://x.y/d/a\" b'><meta content='1;url=a'>"},
    {"<p src=a href=b data=c poster=d xlink:href=e>", "<p src=a href=b data=c poster=d xlink:href=e>"},
    {"<svg><use xlink:href=a href=b /><image XLINK:HREF=c></svg>",
     "<svg><use xlink:href=http://x.y/d/a href=http://x.y/d/b /><image XLINK:HREF=http://x.y/d/c></svg>"},
    {"<p style='a:url(b);c:url( \"d e\" );f:url(g'>",
     "<p style='a:url(http://x.y/d/b);c:url( \"http://x.y/d/d%20e\" );f:url(http://x.y/d/g'>"},
    {"<p style=a:URL(b\\)c)>", "<p style=a:URL(http://x.y/d/b\\)c)>"},
    {"<p style='/* url(a) */ b:\"url(c)\" xurl(d) u\\72l(e)'>",
     "<p style='/* url(a) */ b:\"url(c)\" xurl(d) u\\72l(http://x.y/d/e)'>"},
    /* bytes beside those of names: '{' follows 'z', and 80 is the lowest one of other characters */
    {"<p style='a{url(b)} \xE2\x82\x80url(c)'>", "<p style='a{url(http://x.y/d/b)} \xE2\x82\x80url(c)'>"},
    {"<style>@import 'a';@import url(b) print;@namespace c url(d);e{f:url(g)}</style>",
     "<style>@import 'http://x.y/d/a';@import url(http://x.y/d/b) print;@namespace c "
     "url(d);e{f:url(http://x.y/d/g)}</style>"},
    {"<style type=text/x>a{b:url(c)}</style><style type=text/css>a{b:url(c)}</style><title>url(c)</title>",
     "<style type=text/x>a{b:url(c)}</style><style "
     "type=text/css>a{b:url(http://x.y/d/c)}</style><title>url(c)</title>"},
    {"<svg><style>a{b:url(c&amp;d)}<![CDATA[e{f:url(g&h)}]]></style><g>url(i)</g></svg>",
     "<svg><style>a{b:url(http://x.y/d/c&amp;d)}<![CDATA[e{f:url(http://x.y/d/g&h)}]]></style><g>url(i)</g></svg>"},
    {"<a href=http:b><a href=http:/c><a href=http://d>", "<a href=http://x.y/d/b><a href=http:/c><a href=http://d>"},
};

static void test_rebase(void) {
  for (size_t i = 0; i < sizeof rebased / sizeof *rebased; i++)
    check_action(HPAR_ACTION_REBASE_URLS, NULL, "http://x.y/d/p?q", rebased[i].text, rebased[i].expected);
}

/* A long base counts as memory once. */
static void test_long_base(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_memory = 64 << 20};
  buffer base = {0}, expected = {0};
  buffer_text(&base, "http://x.y/");
  while (base.length < 300000) buffer_text(&base, "long");
  buffer_byte(&base, '/');
  buffer_format(&expected, "<a href=%sb>", base.bytes);
  const hpar_action action = {.kind = HPAR_ACTION_REBASE_URLS, .value = {base.bytes, base.length}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "a", .actions = &action, .action_count = 1};
  hpar_rules *rules = compile(&rule, 1);
  check_output(rules, &options, "<a href=b>", expected.bytes);
  hpar_rules_destroy(rules);
  buffer_free(&base);
  buffer_free(&expected);
}

static void test_prefix(void) {
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/p", "<a href=/a><a href=//b><a href=c><a href='\\d'><a href=' /\t/e'>",
               "<a href=/p/a><a href=//b><a href=c><a href='/p\\d'><a href=' /\t/e'>");
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/p", "<base href=/a/><a href=/b><img srcset='/c, /d 2x'>",
               "<base href=/p/a/><a href=/p/b><img srcset='/p/c, /p/d 2x'>");
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/it's", "<meta http-equiv=refresh content=\"0;url='/a'\">",
               "<meta http-equiv=refresh content=\"0;url='/it%27s/a'\">");
  const hpar_action sets[] = {{.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "src", .value = {"/x", 2}},
                              {.kind = HPAR_ACTION_PREFIX_URLS, .value = {"/p", 2}}};
  const hpar_rule set = {HPAR_RULE_INIT, .selector = "img", .actions = sets, .action_count = 2};
  const hpar_rewrite_options utf8 = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(&set, 1);
  check_output(rules, &utf8, "<img src>", "<img src=\"/p/x\">");
  hpar_rules_destroy(rules);
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/p", "<base href=http://x/><a href=/b>",
               "<base href=http://x/><a href=/b>");
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/a b,", "<img srcset=/c ><a href=/d>",
               "<img srcset=/a%20b,/c ><a href=\"/a b,/d\">");
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/a b", "<style>a{b:url(/c)}@import \"/d\"</style>",
               "<style>a{b:url(/a\\20 b/c)}@import \"/a b/d\"</style>");
  check_action(HPAR_ACTION_PREFIX_URLS, NULL, "/</style>", "<style>a{b:url(/c)}@import \"/d\"</style>",
               "<style>a{b:url(/\\3c /style>/c)}@import \"/\\3c /style>/d\"</style>");
}

/* A sheet above max_text comes in pieces, none of which cuts a URL. */
static void test_long_sheet(void) {
  buffer text = {0}, expected = {0};
  buffer_format(&text, "<style>");
  buffer_format(&expected, "<style>");
  for (unsigned i = 0; i < 60; i++) {
    buffer_format(&text, ".c%u{a:url(u%u);b:\"url(x\"}/* } */", i, i);
    buffer_format(&expected, ".c%u{a:url(http://x.y/d/u%u);b:\"url(x\"}/* } */", i, i);
  }
  buffer_format(&text, "</style><p>");
  buffer_format(&expected, "</style><p>");
  buffer_byte(&text, 0);
  buffer_byte(&expected, 0);
  const hpar_action action = {.kind = HPAR_ACTION_REBASE_URLS, .value = string_of("http://x.y/d/p")};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "style", .actions = &action, .action_count = 1};
  hpar_rules *rules = compile(&rule, 1);
  for (size_t max = 40; max < 100; max += 7) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_text = max};
    check_output(rules, &options, text.bytes, expected.bytes);
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&expected);
}

/* A piece may end anywhere in a comment, a string or a URL, but not in an escape or in the end of
 * the comment. */
static void test_divided_sheet(void) {
  static const struct {
    const char *before, *after, *expected; /* after */
  } cases[] = {
      {"/*", "*/a{b:url(c)}", "*/a{b:url(http://x.y/d/c)}"},
      {"/*", "/*/a{b:url(c)}", "/*/a{b:url(http://x.y/d/c)}"},
      {"a{b:\"", "\\\" url(d)\";c:url(e)}", "\\\" url(d)\";c:url(http://x.y/d/e)}"},
      {"a{b:\"", "\\\\\"/**/url(d)}", "\\\\\"/**/url(http://x.y/d/d)}"},
      {"a{b:\"", "\\e9\n url(d)\";c:url(e)}", "\\e9\n url(d)\";c:url(http://x.y/d/e)}"},
      {"a{b:url(", "\\) url(d));c:url(e)}", "\\) url(d));c:url(http://x.y/d/e)}"},
  };
  const hpar_action action = {.kind = HPAR_ACTION_REBASE_URLS, .value = string_of("http://x.y/d/p")};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "style", .actions = &action, .action_count = 1};
  hpar_rules *rules = compile(&rule, 1);
  buffer text = {0}, expected = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int fill = 20; fill < 40; fill++) {
      const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_text = 35};
      buffer_clear(&text);
      buffer_clear(&expected);
      buffer_format(&text, "<style>%s%*sx%s</style>", cases[i].before, i == 5 ? 0 : fill, "", cases[i].after);
      buffer_format(&expected, "<style>%s%*sx%s</style>", cases[i].before, i == 5 ? 0 : fill, "", cases[i].expected);
      buffer_byte(&text, 0);
      buffer_byte(&expected, 0);
      check_output(rules, &options, text.bytes, expected.bytes);
    }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&expected);
}

/* Escapes count in URLs of any length. */
static void test_long_css_url(void) {
  buffer text = {0}, expected = {0};
  const hpar_action action = {.kind = HPAR_ACTION_PREFIX_URLS, .value = {"/p", 2}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "*", .actions = &action, .action_count = 1};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(&rule, 1);
  buffer out = {0};
  for (int fill = 4000; fill < 5000; fill += 900) {
    buffer_clear(&text);
    buffer_clear(&expected);
    buffer_format(&text, "<style>a{b:url(/\\(%0*d\\41 )}</style><p style='a:url(/\\(%0*d\\0)'>", fill, 0, fill, 0);
    buffer_format(&expected, "<style>a{b:url(/p/\\(%0*dA)}</style><p style='a:url(/p/\\(%0*d\xEF\xBF\xBD)'>", fill, 0,
                  fill, 0);
    buffer_byte(&text, 0);
    rewrite(rules, &options, text.bytes, SIZE_MAX / 2, &out);
    CHECK(out.length == expected.length && !memcmp(out.bytes, expected.bytes, out.length));
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&expected);
  buffer_free(&out);
}

static hpar_status see_text(hpar_text_piece *text, void *context) {
  (void)context;
  buffer_format(division_calls(), "%llu %zu ", (unsigned long long)text->offset, text->raw.length);
  return HPAR_OK;
}

/* Workers leave the pieces of a sheet to the merger if there is a callback for texts. */
static void test_left_sheet(void) {
  static const char page[] = "<p><style>@import '/x';a{b:url(/y)}</style><style>@import '/z';c{d:url(/z)}</style><p>";
  const hpar_action action = {.kind = HPAR_ACTION_PREFIX_URLS, .value = {"/p", 2}};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "style", .actions = &action, .action_count = 1},
                             {HPAR_RULE_INIT, .text = see_text}};
  hpar_rules *rules = compile(given, 2);
  for (size_t max = 4; max < 30; max++) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_text = max};
    division_rewrite_alone(rules, &options, page, strlen(page));
    for (size_t cut = 1; cut < strlen(page); cut += 7) {
      const hp_rewrite_division division = {.cuts = &cut, .cut_count = 1, .is_inline = true};
      CHECK(division_check(rules, &options, page, strlen(page), &division));
    }
  }
  hpar_rules_destroy(rules);
}

typedef struct seen_urls {
  buffer log;
} seen_urls;

static hpar_status see_url(hpar_url *url, void *context) {
  buffer *log = context;
  buffer_format(log, "%.*s %.*s %.*s;", url->element ? (int)url->attribute.length : 1,
                url->element ? url->attribute.bytes : "-", (int)url->raw.length, url->raw.bytes,
                url->resolved.bytes ? (int)url->resolved.length : 1, url->resolved.bytes ? url->resolved.bytes : "?");
  if (url->element && url->raw.length == 1) hpar_element_set(url->element, "title", "a long value of the title", 25);
  if (url->raw.length == 1) url->replacement = string_of("N&\"");
  return HPAR_OK;
}

static void test_callback(void) {
  buffer log = {0}, out = {0};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "a, style, img", .url = see_url, .context = &log};
  hpar_rules *rules = compile(&rule, 1);
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .document_url = "http://x.y/"};
  rewrite(rules, &options, "<a href='b'><img srcset='c 1x,dd'><style>e{f:url(g)}</style>", 1000, &out);
  CHECK(out.length &&
        !strncmp(out.bytes,
                 "<a href='N&\"' title=\"a long value of the title\"><img srcset='N&\" 1x,dd' title=\"a long "
                 "value of the title\"><style>e{f:url(N&\\\")}</style>",
                 out.length));
  buffer_byte(&log, 0);
  CHECK(!strcmp(log.bytes, "href b http://x.y/b;srcset c http://x.y/c;srcset dd http://x.y/dd;- g http://x.y/g;"));
  buffer_clear(&log);
  options.document_url = NULL;
  rewrite(rules, &options, "<a href=bb><base href=http://z/><a href=cc>", 1000, &out);
  buffer_byte(&log, 0);
  CHECK(!strcmp(log.bytes, "href bb ?;href cc http://z/cc;"));
  options.document_url = "relative";
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, collect, &out), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&out);
}

static hpar_status count_piece(hpar_text_piece *text, void *context) {
  (void)text;
  ++*(size_t *)context;
  return HPAR_OK;
}

/* A rule for URLs may take pieces of texts. A sheet still comes whole. */
static void test_pieces(void) {
  size_t pieces = 0;
  const hpar_action action = {.kind = HPAR_ACTION_PREFIX_URLS, .value = {"/p", 2}};
  hpar_rule rule = {HPAR_RULE_INIT,      .selector = "*",    .actions = &action, .action_count = 1,
                    .text = count_piece, .context = &pieces, .text_pieces = true};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(&rule, 1);
  buffer out = {0};
  rewrite(rules, &options, "<p>abcdef</p>", 1, &out);
  CHECK_EQ(pieces, 7u); /* the last one is empty */
  pieces = 0;
  rewrite(rules, &options, "<style>a{b:url(/c)}</style>", 1, &out);
  CHECK_EQ(pieces, 1u);
  CHECK(!memcmp(out.bytes, "<style>a{b:url(/p/c)}</style>", out.length));
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/* Each document has base URLs of its own, before and after the base element. */
static void test_two_documents(void) {
  const hpar_action actions[] = {{.kind = HPAR_ACTION_REBASE_URLS, .value = string_of("http://x.y/d/p")},
                                 {.kind = HPAR_ACTION_REBASE_URLS, .value = string_of("http://z/e/p")}};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "a", .actions = &actions[0], .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "i, a", .actions = &actions[1], .action_count = 1}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(given, 2);
  check_output(rules, &options, "<a href=b><i style=a:url(b)><base href=/f/><a href=b><i style=a:url(b)>",
               "<a href=http://x.y/d/b><i style=a:url(http://z/e/b)><base href=/f/><a href=http://x.y/f/b>"
               "<i style=a:url(http://z/f/b)>");
  hpar_rules_destroy(rules);
}

static hpar_status set_dash(hpar_comment *comment, void *context) {
  (void)context;
  return hpar_comment_set_text(comment, "-x-", 3);
}

static void test_comments(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .comment = set_dash};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(&rule, 1);
  check_output(rules, &options, "<!-->a<!--->b<!---->c<!--d--!>e<!f>",
               "<!---x--->a<!---x--->b<!---x--->c<!---x---!>e<!---x--->");
  hpar_rules_destroy(rules);
}

static const struct {
  hpar_unit unit;
  hpar_action_kind kind;
  const char *text, *expected;
} commented[] = {
    {HPAR_UNIT_CONDITIONAL, HPAR_ACTION_UNWRAP,
     "<p>a<!--[if IE 7]><b>x</b><![endif]-->b<!--[if !IE]><!-->c<!--<![endif]-->d<![if "
     "!IE]>e<![endif]>f<!--[IF(IE)]>-->",
     "<p>a<b>x</b>bcdef"},
    {HPAR_UNIT_CONDITIONAL, HPAR_ACTION_REMOVE,
     "<p>a<!--[if IE]><b>x</b><![endif]-->b<!--[if !IE]>-->c<!-- <![endif] --><?d>e<!--[iffy]--><!--[endif]--><!x>",
     "<p>abc<?d>e<!--[iffy]--><!--[endif]--><!x>"},
    {HPAR_UNIT_CONDITIONAL, HPAR_ACTION_UNWRAP, "<<!--[if IE]>b<![endif]--><!--[if IE]><![endif]--><!--[if IE]--",
     "<</>b"},
    {HPAR_UNIT_INSTRUCTION, HPAR_ACTION_REMOVE, "<?xml version='1.0'?><p>a<?php b> c ?><!--d--><!e><svg><?f?></svg><?g",
     "<p>a c ?><!--d--><!e><svg></svg>"},
    {HPAR_UNIT_INSTRUCTION, HPAR_ACTION_BEFORE, "<p>a<?b?>c", "<p>aX<?b?>c"},
    {HPAR_UNIT_INSTRUCTION, HPAR_ACTION_AFTER, "<p>a<?b?>c", "<p>a<?b?>Xc"},
    {HPAR_UNIT_INSTRUCTION, HPAR_ACTION_REPLACE, "<p>a<?b?>c", "<p>aXc"},
    {HPAR_UNIT_COMMENT, HPAR_ACTION_REMOVE, "<p>a<?b?><!--c--><!--[if IE]>d<![endif]-->", "<p>a<?b?>"},
};

/* Kinds of comments, with other rules for them. */
static void test_kinds_of_comments(void) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hpar_action find = {
      .unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .name = "comment", .value = {"b", 1}, .replacement = {"x", 1}};
  for (size_t i = 0; i < sizeof commented / sizeof *commented; i++) {
    const hpar_action action = {.unit = commented[i].unit, .kind = commented[i].kind, .value = {"X", 1}};
    const hpar_rule given[] = {{HPAR_RULE_INIT, .actions = &action, .action_count = 1},
                               {HPAR_RULE_INIT, .selector = "q", .actions = &find, .action_count = 1}};
    hpar_rules *rules = compile(given, 2);
    check_output(rules, &options, commented[i].text, commented[i].expected);
    hpar_rules_destroy(rules);
  }
  const hpar_action bad[] = {{.unit = HPAR_UNIT_INSTRUCTION, .kind = HPAR_ACTION_UNWRAP},
                             {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_UNWRAP},
                             {.unit = HPAR_UNIT_CONDITIONAL, .kind = HPAR_ACTION_INNER},
                             {.unit = (hpar_unit)7, .kind = HPAR_ACTION_REMOVE}};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .actions = &bad[i], .action_count = 1};
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_ERROR_ARGUMENT);
  }
  hpar_rules_destroy(rules);
}

/*** patterns ***/

static void test_patterns(void) {
  check_action(HPAR_ACTION_UNSET_ATTRIBUTE, "on*", "", "<p onclick=a ONLOAD=b no=c on=d x>", "<p no=c x>");
  check_action(HPAR_ACTION_UNSET_ATTRIBUTE, "*", "", "<p a b=c a d/>", "<p/>");
  check_action(HPAR_ACTION_UNSET_ATTRIBUTE, "data-*-x", "", "<p data-a-x data-x data--x data-a-xx>",
               "<p data-x data-a-xx>");
  check_action(HPAR_ACTION_UNSET_ATTRIBUTE, "*a*b*", "", "<p ab xaxbx ba aab=1 c>", "<p ba c>");
}

static hpar_status keep_short(hpar_attribute_unit *a, void *context) {
  buffer *log = context;
  buffer_format(log, "%.*s=%.*s;", (int)a->name.length, a->name.bytes, (int)a->value.length,
                a->value.length ? a->value.bytes : "");
  a->removes = a->name.length > 2;
  if (a->value.length > 1) a->replacement = string_of("\"");
  return HPAR_OK;
}

static hpar_status walk(hpar_element *element, void *context) {
  CHECK_EQ(hpar_element_set(element, "z", "new", 3), HPAR_OK);
  CHECK_EQ(hpar_element_set(element, "b", "edited", 6), HPAR_OK);
  CHECK_EQ(hpar_element_unset(element, "c"), HPAR_OK);
  CHECK_EQ(hpar_element_attributes(element, keep_short, context), HPAR_OK);
  buffer_format(context, "|");
  CHECK_EQ(hpar_element_attributes(element, keep_short, context), HPAR_OK);
  return HPAR_OK;
}

static void test_walk(void) {
  buffer log = {0}, out = {0};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .element = walk, .context = &log};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules = compile(&rule, 1);
  rewrite(rules, &options, "<p a=1 b c=2 long=3 LONG=4 d='&amp;x' long e>", 1000, &out);
  CHECK(out.length && !strncmp(out.bytes, "<p a=1 b=\"&quot;\" d='\"' e z=\"&quot;\">", out.length));
  buffer_byte(&log, 0);
  CHECK(!strcmp(log.bytes, "a=1;b=edited;long=3;d=&x;e=;z=new;|a=1;b=\";d=\";e=;z=\";"));
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&out);
}

static hpar_status drop(hpar_attribute_unit *a, void *context) {
  (void)context;
  a->removes = true;
  return HPAR_OK;
}

static hpar_status drop_all(hpar_element *element, void *context) {
  return hpar_element_attributes(element, drop, context);
}

/* Removes 60,000 attributes, the half of them duplicates: quadratic time would take minutes. */
static void test_many(void) {
  const hpar_action action = {.kind = HPAR_ACTION_UNSET_ATTRIBUTE, .name = "on*"};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "p", .element = drop_all},
                             {HPAR_RULE_INIT, .selector = "p", .actions = &action, .action_count = 1}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer text = {0}, out = {0};
  buffer_format(&text, "<p");
  for (unsigned i = 0; i < 30000; i++) buffer_format(&text, " on%u", i);
  for (unsigned i = 30000; i-- > 0;) buffer_format(&text, " on%u=1", i);
  buffer_format(&text, ">");
  buffer_byte(&text, 0);
  for (size_t i = 0; i < 2; i++) {
    hpar_rules *rules = compile(&given[i], 1);
    rewrite(rules, &options, text.bytes, SIZE_MAX / 2, &out);
    CHECK(out.length == 3 && !memcmp(out.bytes, "<p>", 3));
    hpar_rules_destroy(rules);
  }
  buffer_free(&text);
  buffer_free(&out);
}

/*** places of finds ***/

static void check_find(const char *places, const char *value, const char *replacement, const char *text,
                       const char *expected) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hpar_action action = {.unit = HPAR_UNIT_TEXT,
                              .kind = HPAR_ACTION_FIND,
                              .name = places,
                              .value = string_of(value),
                              .replacement = string_of(replacement)};
  const hpar_rule rule = {HPAR_RULE_INIT, .actions = &action, .action_count = 1};
  hpar_rules *rules = compile(&rule, 1);
  check_output(rules, &options, text, expected);
  hpar_rules_destroy(rules);
}

static const struct {
  const char *places, *value, *text, *expected;
} found[] = {
    {NULL, "R&D", "<p>R&amp;D R&D R&#38;D<title>R&D</title><script>R&D</script><!--R&D-->",
     "<p>x x x<title>R&D</title><script>R&D</script><!--R&D-->"},
    {"script", "a", "<p>a<style>a</style><script>a</script>", "<p>a<style>a</style><script>x</script>"},
    {"style, title", "a", "<title>a</title><style>a</style><svg><style>a</style><title>a</title><g>a",
     "<title>x</title><style>x</style><svg><style>x</style><title>x</title><g>a"},
    {"comment", "a", "<p>a<!--a ba--><!x a>", "<p>a<!--x bx--><!--x x-->"},
    {"comment", "a", "<!--a---><!--a--!--><!--->a<!-->a", "<!--x---><!--x--!--><!--->a<!-->a"},
    {"all", "a", "<p>a<!--a--><script>a</script><noscript>a</noscript>",
     "<p>x<!--x--><script>x</script><noscript>x</noscript>"},
    {NULL, "b\nc", "<p>b\r\nc&amp;b\rc", "<p>x&amp;x"},
    {NULL, "a", "<svg><title><p></p>a</title>a", "<svg><title><p></p>a</title>x"},
    {NULL, "&", "<p>&amp;amp;<svg><g>&amp;<![CDATA[&amp;]]>", "<p>xamp;<svg><g>x<![CDATA[xamp;]]>"},
};

static void test_finds(void) {
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    check_find(found[i].places, found[i].value, "x", found[i].text, found[i].expected);
  /* A find ends neither the comment nor the element around it. */
  check_find("comment", "a", "", "<p><!--a->--><!--a>--><!--ab-->", "<p><!--a->--><!--a>--><!--b-->");
  check_find("script", "a", "<", "<script>a/script></script>", "<script>a/script></script>");
  check_find("script", "a", "<", "<script>a/scrip</script>", "<script></scrip</script>");
}

/*** finds across tags ***/

static void check_across(const char *selector, const char *value, size_t max_text, const char *text,
                         const char *expected) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .max_text = max_text};
  const hpar_action actions[] = {
      {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = string_of(value), .replacement = {"X", 1}},
      {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"yz", 2}, .replacement = {"<", 1}}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = selector, .actions = actions, .action_count = 2,
                          .across_tags = true};
  hpar_rules *rules = compile(&rule, 1);
  check_output(rules, &options, text, expected);
  hpar_rules_destroy(rules);
}

static const struct {
  const char *selector, *value, *text, *expected;
} across[] = {
    {NULL, "ab", "<p>a<b>b</b>c", "<p>X<b></b>c"},
    {NULL, "hello world", "<p>say <b>hel</b>lo <i class='>'>wor</i>ld!", "<p>say <b>X</b><i class='>'></i>!"},
    {NULL, "ab", "<p>a<p>b<br>a<br>b<div>a</div>b<img>a<img>b<td>a",
     "<p>a<p>b<br>a<br>b<div>a</div>b<img>a<img>b<td>a"},
    {NULL, "ab", "<p>a<!--c--><wbr>b<?c?>a<?c?>b<a/**/>a</a x>b", "<p>X<!--c--><wbr><?c?>a<?c?>b<a/**/>X</a x>"},
    {NULL, "R&D", "<p>R<b>&amp;</b>D R&amp;<B>D</B>", "<p>X<b></b> X<B></B>"},
    {NULL, "ab", "<p>ab<b>ab</b>aab<i></i>a<i>b", "<p>X<b>X</b>aX<i></i>X<i>"},
    {NULL, "aab", "<p>a<i>a</i>a<b>b", "<p>a<i>X</i><b>"},
    {NULL, "ab", "<p>a<b>yz</b>a<b>b</b>y<i>z", "<p>a<b>&lt;</b>X<b></b>&lt;<i>"},
    {"b", "ab", "<p>a<b>a</b>b<b>a<i>b</i>", "<p>a<b>a</b>b<b>X<i></i>"},
    {"p", "ab", "<div><p><b>a</b>b</p>a<b>b</b></div>", "<div><p><b>X</b></p>a<b>b</b></div>"},
    {"p, b", "ab", "<p><b>a</b>b<b>a<i>b", "<p><b>a</b>b<b>X<i>"},
    {NULL, "ab", "<p><b><i>a</b>b</i>a</i>b", "<p><b><i>a</b>b</i>a</i>b"},
    {NULL, "ab", "<p><a>a<a>b</a><p><i><a>a</a><a>b", "<p><a>a<a>b</a><p><i><a>X</a><a>"},
    {NULL, "ab", "<p>a<style>b</style>b<script>a</script>b<svg><g>a<b>b",
     "<p>a<style>b</style>b<script>a</script>b<svg><g>a<b>b"},
    {NULL, "ab", "<table>a<b>b</b><tr><td>a<b>b</b></table>", "<table>a<b>b</b><tr><td>X<b></b></table>"},
    {NULL, "ab", "<p>a</>b a<<b>b</b>a<b>b", "<p>a</>b a<<b>b</b>X<b>"},
    {NULL, "a<b", "<p>a<<i>b</i>a<b", "<p>X<i></i>a<b"},
    {NULL, "ab", "<title>a</title><p>a<b", "<title>a</title><p>a<b"},
};

/* A random page of inline elements. */
static void random_inline(unsigned *seed, buffer *text, buffer *plain) {
  static const char *const texts[] = {"a", "b", "ab", "c", "&#97;", "yz", "y"}, *const plains[] = {"a", "b",  "ab", "c",
                                                                                                   "a", "yz", "y"};
  static const char *const names[] = {"b", "i", "a", "span", "x-y"};
  const char *open[8];
  size_t depth = 0;
  for (unsigned i = 0; i < 24; i++) {
    *seed = *seed * 1103515245 + 12345;
    const unsigned random = *seed >> 16;
    if (random % 3) {
      buffer_format(text, "%s", texts[random / 3 % 7]);
      buffer_format(plain, "%s", plains[random / 3 % 7]);
    } else if (random / 3 % 2 && depth < 8) {
      const char *name = names[random / 6 % 5];
      bool is_open = false;
      for (size_t k = 0; k < depth; k++) is_open |= *open[k] == 'a' && *name == 'a';
      if (is_open) continue;
      open[depth++] = name;
      buffer_format(text, "<%s>", name);
      if (*name == 'x') buffer_format(plain, "|");
    } else if (depth) {
      if (*open[depth - 1] == 'x') buffer_format(plain, "|");
      buffer_format(text, "</%s>", open[--depth]);
    }
  }
  buffer_byte(text, 0);
  buffer_byte(plain, 0);
}

/* Appends the text with "ab" and "yz" replaced; or without its tags, references and "|". */
static void reduce(buffer *to, const char *from, bool replaces) {
  for (; *from; from++) {
    if (*from == '<') {
      const bool is_block = strstr(from, "x-y") == from + 1 || strstr(from, "x-y") == from + 2;
      while (*from != '>') from++;
      if (is_block) buffer_byte(to, '|');
    } else if (replaces && (!strncmp(from, "ab", 2) || !strncmp(from, "yz", 2))) {
      buffer_byte(to, *from++ == 'a' ? 'X' : 'Y');
    } else if (*from == '&') {
      buffer_byte(to, from[1] == '#' ? 'a' : 'Y');
      while (*from != ';') from++;
    } else {
      buffer_byte(to, *from);
    }
  }
  buffer_byte(to, 0);
}

static void test_across(void) {
  for (size_t i = 0; i < sizeof across / sizeof *across; i++)
    check_across(across[i].selector, across[i].value, 0, across[i].text, across[i].expected);
  /* a run has at most max_text bytes */
  check_across(NULL, "ab", 12, "<p>a<b></b>b.a<b></b><b>b.ab<i></i>aaaaaaaaaaaaaaaa<b>b",
               "<p>X<b></b>.a<b></b><b>b.X<i></i>aaaaaaaaaaaaaaaa<b>b");
  buffer text = {0}, plain = {0}, expected = {0}, got = {0}, out = {0};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  const hpar_action actions[] = {
      {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"ab", 2}, .replacement = {"X", 1}},
      {.unit = HPAR_UNIT_TEXT, .kind = HPAR_ACTION_FIND, .value = {"yz", 2}, .replacement = {"<", 1}}};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .actions = actions, .action_count = 2, .across_tags = true};
  hpar_rules *rules = compile(&rule, 1);
  unsigned seed = 1;
  for (unsigned i = 0; i < 2000; i++) {
    buffer *all[] = {&text, &plain, &expected, &got};
    for (size_t k = 0; k < 4; k++) buffer_clear(all[k]);
    buffer_format(&text, "<p>");
    random_inline(&seed, &text, &plain);
    reduce(&expected, plain.bytes, true);
    rewrite(rules, &options, text.bytes, SIZE_MAX / 2, &out);
    buffer_byte(&out, 0);
    reduce(&got, out.bytes + 3, false);
    if (!CHECK(!strcmp(got.bytes, expected.bytes))) printf("  %s gives %s\n", text.bytes, out.bytes);
    if (i < 40) check_output(rules, &options, text.bytes, out.bytes);
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&plain);
  buffer_free(&expected);
  buffer_free(&got);
  buffer_free(&out);
  const hpar_rule bad = {HPAR_RULE_INIT, .actions = actions, .action_count = 2, .across_tags = true, .limit = 1};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &bad, NULL), HPAR_ERROR_ARGUMENT);
  hpar_rules_destroy(rules);
}

/* The URLs of a sheet in another encoding: the second byte of a character may be "\\" or "@". */
static void test_encodings(void) {
  static const struct {
    const char *encoding, *text, *prefixed, *rebased;
  } rows[] = {{"windows-1252", "<style>a{b:url(/\xE9)}</style>", "<style>a{b:url(/m/\xE9)}</style>",
               "<style>a{b:url(http://x.y/%C3%A9)}</style>"},
              {"shift_jis", "<style>a{b:\"\x83\\\";c:url(/\x82\xA0\x83\\)}</style>",
               "<style>a{b:\"\x83\\\";c:url(/m/\x82\xA0\x83\\)}</style>",
               "<style>a{b:\"\x83\\\";c:url(http://x.y/%E3%81%82%E3%82%BD)}</style>"},
              {"shift_jis", "<style>@import '/\x83\\\\61';</style>", "<style>@import '/m/\x83\\\x61';</style>",
               "<style>@import 'http://x.y/%E3%82%BDa';</style>"},
              {"gb18030", "<style>\x81@import '/a';</style>", "<style>\x81@import '/a';</style>",
               "<style>\x81@import '/a';</style>"}};
  for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
    const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = rows[i / 2].encoding};
    const hpar_action action = {.kind = i % 2 ? HPAR_ACTION_REBASE_URLS : HPAR_ACTION_PREFIX_URLS,
                                .value = string_of(i % 2 ? "http://x.y/" : "/m")};
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = "*", .actions = &action, .action_count = 1};
    hpar_rules *rules = compile(&rule, 1);
    check_output(rules, &options, rows[i / 2].text, i % 2 ? rows[i / 2].rebased : rows[i / 2].prefixed);
    hpar_rules_destroy(rules);
  }
}

int main(void) {
  division_open();
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  test_rebase();
  test_prefix();
  test_long_base();
  test_long_sheet();
  test_divided_sheet();
  test_long_css_url();
  test_left_sheet();
  test_callback();
  test_pieces();
  test_two_documents();
  test_comments();
  test_kinds_of_comments();
  test_patterns();
  test_walk();
  test_many();
  test_finds();
  test_across();
  test_encodings();
  hpar_rewriter_destroy(rewriter);
  division_close();
  return check_report();
}
