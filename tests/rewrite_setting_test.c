/* A rule that only sets an attribute has a short path, and selectors that read few attributes do
 * not read the others. The output equals that of the same rules with a callback, which reads all
 * attributes and edits the tag by the general path. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"

#include <hpar/rewrite.h>
#include <stdlib.h>

enum { MAX_ATTRIBUTES = 6, TAGS = 40, ROUNDS = 400 };

static hpar_rewriter *rewriter;

static const struct {
  const char *selector, *name, *value;
} cases[] = {{"a[href]", "href", "/"},
             {"a[href]", "HREF", "a b"},
             {"a[href]", "class", "x=y"},
             {"a", "href", "it's"},
             {"a", "href", "\"q\""},
             {"a", "href", "1&amp;2"},
             {"a", "href", "\xC3\xA4"},
             {"a", "href", ""},
             {"a", "href", "\x01"},
             {"a", "data-long-name-of-an-attribute", "v"},
             {"[href]", "title", "v"},
             {"[class]", "href", "v"},
             {".k[href]", "id", "`"},
             {"a[title][href]", "title", "<i>"},
             {"[data-x]", "data-x", "v"},
             {"p > a[href], b[class]", "href", "v"},
             {"svg [href], svg [viewBox]", "viewbox", "v"},
             {"a:not([class])", "class", "v"}};
enum { CASES = sizeof cases / sizeof *cases };

static const char *const names[] = {"href",
                                    "HREF",
                                    "class",
                                    "title",
                                    "id",
                                    "data-x",
                                    "viewBox",
                                    "x",
                                    "=",
                                    "x1",
                                    "x\x11",
                                    "hre\x06",
                                    "a-name-that-is-longer-than-16-bytes",
                                    "\"",
                                    "hreF"};
static const char *const values[] = {"",
                                     "=\"v\"",
                                     "='v'",
                                     "=v",
                                     "=\"\"",
                                     "=",
                                     " = \"k w\"",
                                     "=k",
                                     "='a\"b'",
                                     "\n=\n'k'",
                                     "=\"a value of more than thirty-two bytes, with > and '\"",
                                     "=v/",
                                     "=\"/\""};
static const char *const gaps[] = {" ", "\n", "/", "  ", " / ", "\t"};
static const char *const elements[] = {"a", "A", "b", "p", "svg", "g", "font", "input", "x-y"};
static random_state state = {16};
#define PICK(list) RANDOM_OF(&state, list)

static hpar_status ignore(hpar_element *element, void *context) {
  (void)element, (void)context;
  return HPAR_OK;
}

static hpar_rules *rules_of(size_t index, bool has_callback) {
  hpar_action action = {.kind = HPAR_ACTION_SET_ATTRIBUTE,
                        .name = cases[index].name,
                        .value = {cases[index].value, strlen(cases[index].value)}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = cases[index].selector, .actions = &action, .action_count = 1};
  if (has_callback) rule.element = ignore;
  hpar_rules *rules = NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  return rules;
}

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

/* Rewrites in pieces of 1 to `most` bytes. */
static hpar_rewrite_stats rewrite(const hpar_rules *rules, const buffer *text, size_t most, buffer *output) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  buffer_clear(output);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, append, output), HPAR_OK);
  for (size_t at = 0, piece; at < text->length; at += piece) {
    piece = 1 + random_below(&state, most);
    if (piece > text->length - at) piece = text->length - at;
    /* a copy of exact size, so that a sanitizer finds reads beyond it */
    char *copy = malloc(piece);
    memcpy(copy, text->bytes + at, piece);
    CHECK_EQ(hpar_rewriter_feed(rewriter, copy, piece), HPAR_OK);
    free(copy);
  }
  CHECK_EQ(hpar_rewriter_finish(rewriter, &stats), HPAR_OK);
  return stats;
}

static void write_tags(buffer *text) {
  buffer_clear(text);
  for (int i = 0; i < TAGS; i++) {
    buffer_format(text, "<%s", PICK(elements));
    for (size_t k = random_below(&state, MAX_ATTRIBUTES); k > 0; k--)
      buffer_format(text, "%s%s%s", PICK(gaps), PICK(names), PICK(values));
    buffer_text(text, random_below(&state, 4) ? " >t" : "/>");
    if (random_below(&state, 3) == 0) buffer_format(text, "</%s>", PICK(elements));
  }
}

/* An element without a tag begins after a tag whose attributes were not read to their end. The
 * bytes of the tag are gone. */
static void check_implied(void) {
  static const char *const tags[] = {"<a href=x class=y>", "<p><a href=x class=y>", "<table><a href=x class=y id=z>"};
  static const char *const implying[] = {"<!doctype html>t", "t", "<!--c-->", "<tr>", "</p>"};
  hpar_action action = {.kind = HPAR_ACTION_SET_ATTRIBUTE, .name = "href", .value = {"/", 1}};
  hpar_rule setting = {HPAR_RULE_INIT, .selector = "a[href]", .actions = &action, .action_count = 1};
  hpar_rule any = {HPAR_RULE_INIT, .selector = "html, body, p, tbody, b", .element = ignore, .implied = true};
  hpar_rules *rules = NULL;
  buffer text = {0}, output = {0}, again = {0};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &setting, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &any, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    for (size_t k = 0; k < sizeof implying / sizeof *implying; k++) {
      for (int follows = 0; follows < 2; follows++) { /* as the next stream, or in the same one */
        buffer_clear(&text);
        buffer_format(&text, "%s%s", tags[i], follows ? implying[k] : "");
        rewrite(rules, &text, 1 << 20, &output);
        buffer_clear(&text);
        buffer_text(&text, implying[k]);
        rewrite(rules, &text, 1, &output);
        rewrite(rules, &text, 1 << 20, &again);
        CHECK_BYTES(output.bytes, output.length, again.bytes, again.length);
      }
    }
  }
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&output);
  buffer_free(&again);
}

int main(void) {
  static const size_t pieces[] = {1 << 20, 64, 1};
  buffer text = {0}, expected = {0}, output = {0};
  uint64_t edits = 0;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (int round = 0; round < ROUNDS; round++) {
    write_tags(&text);
    size_t index = random_below(&state, CASES);
    hpar_rules *with = rules_of(index, true), *without = rules_of(index, false);
    hpar_rewrite_stats wanted = rewrite(with, &text, 1 << 20, &expected);
    edits += wanted.edits;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
      hpar_rewrite_stats stats = rewrite(without, &text, pieces[i], &output);
      CHECK_BYTES(output.bytes, output.length, expected.bytes, expected.length);
      CHECK_EQ(stats.matches, wanted.matches);
    }
    hpar_rules_destroy(with);
    hpar_rules_destroy(without);
  }
  CHECK(edits > ROUNDS);
  check_implied();
  hpar_rewriter_destroy(rewriter);
  buffer_free(&text);
  buffer_free(&expected);
  buffer_free(&output);
  return check_report();
}
