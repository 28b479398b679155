/* The kinds of the texts that the callbacks of the rewriter receive, for every division of the
 * input. */

#include "check.h"
#include "support/buffer.h"

#include <hpar/hpar.h>

static hpar_status extend_text(hpar_text_piece *t, void *context) {
  hpar_string text = hpar_text_piece_decoded(t);
  buffer_format(context, "%d%.*s ", t->kind, (int)text.length, text.bytes);
  if (t->kind == HPAR_TEXT_SCRIPT)
    CHECK_EQ(hpar_text_piece_insert(t, HPAR_WHERE_AFTER, "</script>", 9, HPAR_CONTENT_HTML), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_text_piece_insert(t, HPAR_WHERE_AFTER, "<", 1, HPAR_CONTENT_TEXT), HPAR_OK);
  return HPAR_OK;
}

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* Feeds the page in pieces of `step` bytes. */
static void run(const hpar_rules *rules, size_t max_text, const char *page, size_t step, buffer *out) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .max_text = max_text};
  hpar_rewriter *rewriter;
  size_t length = strlen(page);
  buffer_clear(out);
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, collect, out), HPAR_OK);
  for (size_t at = 0; at < length; at += step)
    CHECK_EQ(hpar_rewriter_feed(rewriter, page + at, length - at < step ? length - at : step), HPAR_OK);
  CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_OK);
  hpar_rewriter_destroy(rewriter);
}

/* The kind of a text is that of its start: its end tag has started when the callback runs. */
static void kinds_of_text(void) {
  buffer log = {0}, out = {0};
  hpar_rule rule = {HPAR_RULE_INIT, .text = extend_text, .context = &log};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  const char *page = "a&lt;<script>b&lt;</script><title>c&lt;</title><style>d</style><textarea>e</textarea>"
                     "<xmp>f</xmp>g<svg><style>&amp;</style></svg><script>h<plaintext>i</script><plaintext>&amp;";
  for (size_t step = 1; step <= strlen(page); step++) {
    buffer_clear(&log);
    run(rules, 0, page, step, &out);
    CHECK_STRING(log.bytes, "0a< 3b&lt; 1c< 2d 1e 2f 0g 0& 3h<plaintext>i 4&amp; ");
    CHECK_STRING(out.bytes,
                 "a&lt;&lt;<script>b&lt;<</script><title>c&lt;&lt;</title><style>d<</style><textarea>e&lt;</textarea>"
                 "<xmp>f<</xmp>g&lt;<svg><style>&amp;&lt;</style></svg><script>h<plaintext>i<</script>"
                 "<plaintext>&amp;<");
  }
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&out);
}

static hpar_status retire(hpar_text_piece *t, void *context) {
  (void)t, (void)context;
  return HPAR_RETIRE;
}

/* A raw text without its tags has references, also after its last rule for texts. */
static void escapes_after_rules(void) {
  static const hpar_action unwrap[] = {{.kind = HPAR_ACTION_UNWRAP}};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "xmp, plaintext", .actions = unwrap, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "xmp, plaintext", .text = retire}};
  buffer out = {0};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (int i = 0; i < 2; i++) CHECK_EQ(hpar_rules_add(rules, &given[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  for (size_t max_text = 1; max_text <= 12; max_text++)
    for (size_t step = 1; step <= 24; step++) {
      run(rules, max_text, "a<xmp><b><i><u></xmp>", step, &out);
      CHECK_STRING(out.bytes, "a&lt;b>&lt;i>&lt;u>");
      run(rules, max_text, "a<plaintext><b><i><u>", step, &out);
      CHECK_STRING(out.bytes, "a&lt;b>&lt;i>&lt;u>");
    }
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/* White space before a frameset may be a reference, which the end of a piece may divide. */
static void white_references(void) {
  static const hpar_action removal[] = {{.kind = HPAR_ACTION_REMOVE}};
  static const char *const references[] = {"&#32;", "&#x20;", "&#9", "&Tab;", "&NewLine;", "&#010;", "&#x0d;"};
  static const char *const others[] = {"&#33;", "&#x2;", "&#3", "&Ta", "&#", "&#x;"};
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "frameset", .actions = removal, .action_count = 1};
  buffer out = {0}, page = {0};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  for (size_t i = 0; i < sizeof references / sizeof *references + sizeof others / sizeof *others; i++) {
    const bool is_white = i < sizeof references / sizeof *references;
    const char *reference = is_white ? references[i] : others[i - sizeof references / sizeof *references];
    for (size_t step = 1; step <= 12; step++) {
      buffer_clear(&page);
      buffer_format(&page, "<head></head>%s<frameset>", reference);
      run(rules, 0, page.bytes, step, &out);
      if (is_white) page.bytes[page.length - strlen("<frameset>")] = 0;
      CHECK_STRING(out.bytes, page.bytes);
    }
  }
  hpar_rules_destroy(rules);
  buffer_free(&page);
  buffer_free(&out);
}

int main(void) {
  kinds_of_text();
  escapes_after_rules();
  white_references();
  return check_report();
}
