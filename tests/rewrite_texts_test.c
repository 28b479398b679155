/* The kinds of the texts that the callbacks of the rewriter receive, for every division of the
 * input. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"
#include "support/rewriting.h"

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

static const char *page_encoding; /* of `run` and list_elements */

/* Feeds the page in pieces of `step` bytes. */
static void run(const hpar_rules *rules, size_t max_text, const char *page, size_t step, buffer *out) {
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = page_encoding, .max_text = max_text};
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
  hpar_rules *rules = rewriting_compile(&rule);
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

/* A text ends where it closes an element: the rest is outside. */
static void ends_of_elements(void) {
  buffer logs[2] = {{0}}, out = {0};
  static const char *const selectors[] = {"colgroup", "table"}, *const texts[] = {"0  ", "0  0b "};
  hpar_rules *rules = NULL;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  for (int i = 0; i < 2; i++) {
    const hpar_rule rule = {HPAR_RULE_INIT, .selector = selectors[i], .text = extend_text, .context = &logs[i]};
    CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  }
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  const char *page = "<table><colgroup> b</colgroup></table>";
  for (size_t step = 1; step <= strlen(page); step++) {
    for (int i = 0; i < 2; i++) buffer_clear(&logs[i]);
    run(rules, 0, page, step, &out);
    for (int i = 0; i < 2; i++) CHECK_STRING(logs[i].bytes, texts[i]);
    CHECK_STRING(out.bytes, "<table><colgroup> &lt;&lt;b&lt;</colgroup></table>");
  }
  hpar_rules_destroy(rules);
  for (int i = 0; i < 2; i++) buffer_free(&logs[i]);
  buffer_free(&out);
}

static hpar_status append_decoded(hpar_text_piece *t, void *context) {
  const hpar_string text = hpar_text_piece_decoded(t);
  buffer_add(context, text.bytes, text.length);
  return HPAR_OK;
}

/* Pieces of a text have whole characters in any encoding. */
static void whole_characters(void) {
  static const char *const pages[][2] = {{"shift_jis", "<p>aa\x83\x41"
                                                       "b\xB1\x83\x5D\x81\x40z"},
                                         {"big5", "<p>\xA4\xA4\xA4\x40\x81"
                                                  "a\xA4\xA4\x87\x40"},
                                         {"euc-kr", "<p>a\xB0\xA1\x81\x41z\x81\xB0\xA1"},
                                         {"euc-jp", "<p>\x8F\xB0\xA1\xB0\xA1\x8E\xB1\x8F"
                                                    "a\xB0\xA1"},
                                         {"gb18030", "<p>\x81\x30\x81\x30"
                                                     "a\xB0\xA1\x81\x30z\x81\x41\x81\x30\x81z"},
                                         {"gb18030", "<p>zz\x81\x30\x81\x30"},
                                         {"gb18030", "<p>\x81\x30\xFF\xB0\xA1\xB0\xA1z"},
                                         {"euc-jp", "<p>\x81\xB0\xA1\xB0\xA1z"},
                                         {"euc-jp", "<p>\x8F\x80\xB0\xA1\x8F\xFF\xB0\xA1z"}};
  buffer log = {0}, whole = {0}, out = {0};
  hpar_rule rule = {HPAR_RULE_INIT, .text = append_decoded, .context = &log};
  hpar_rules *rules = rewriting_compile(&rule);
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    const char *page = pages[i][1];
    const size_t length = strlen(page);
    for (size_t max_text = 0; max_text < 16; max_text += max_text ? 1 : 4) {
      for (size_t step = length; step > 0; step--) {
        const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = pages[i][0], .max_text = max_text};
        char fed[32] = {0}; /* later bytes are not there yet */
        buffer_clear(&log);
        CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, collect, &out), HPAR_OK);
        for (size_t at = 0; at < length; at += step) {
          const size_t part = length - at < step ? length - at : step;
          memcpy(fed + at, page + at, part);
          CHECK_EQ(hpar_rewriter_feed(rewriter, fed + at, part), HPAR_OK);
        }
        CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), HPAR_OK);
        if (!max_text && step == length) {
          buffer_clear(&whole);
          buffer_add(&whole, log.bytes, log.length);
        }
        CHECK_BYTES(log.bytes, log.length, whole.bytes, whole.length);
      }
    }
  }
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&whole);
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
  hpar_rules *rules = rewriting_compile(&rule);
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

/* Appends the element names of the parsed page, with their depths. */
static void list_elements(const buffer *page, buffer *to) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = page_encoding};
  hpar_parser *parser;
  hpar_document *document;
  buffer_clear(to);
  buffer_byte(to, ' ');
  CHECK_EQ(hpar_parser_create(&parser), HPAR_OK);
  CHECK_EQ(hpar_document_create(&document), HPAR_OK);
  CHECK_EQ(hpar_parse(parser, &options, page->bytes ? page->bytes : "", page->length, document, NULL), HPAR_OK);
  unsigned depth = 0;
  for (hpar_node at = hpar_document_root(document), next; at; at = next) {
    if (hpar_node_kind(document, at) == HPAR_NODE_ELEMENT) {
      const hpar_string name = hpar_node_name(document, at);
      buffer_format(to, "%u%.*s ", depth, (int)name.length, name.bytes);
    }
    next = hpar_node_first_child(document, at);
    if (next) depth++;
    while (!next && at) {
      next = hpar_node_next(document, at);
      if (!next) at = hpar_node_parent(document, at), depth--;
    }
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

/* Text that a rule edits makes no markup: the output has the elements of the input. */
static void check_elements(const hpar_rule *rule, size_t max_text, const buffer *page) {
  buffer out = {0}, first = {0}, wanted = {0}, found = {0}, shown = {0};
  hpar_rules *rules;
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  list_elements(page, &wanted);
  run(rules, max_text, page->bytes, page->length, &first);
  for (size_t step = page->length;; step = step > 4 ? step / 3 : step - 1) {
    run(rules, max_text, page->bytes, step, &out);
    if (!rule->text_pieces) CHECK_BYTES(out.bytes, out.length, first.bytes, first.length);
    list_elements(&out, &found);
    if (!CHECK_STRING(found.bytes, wanted.bytes)) {
      buffer_escaped(&shown, page->bytes, page->length < 200 ? page->length : 200);
      buffer_text(&shown, " -> ");
      buffer_escaped(&shown, out.bytes, out.length < 200 ? out.length : 200);
      printf("  max_text %zu, step %zu: %s\n", max_text, step, shown.bytes);
      break;
    }
    if (step == 1 || step > 1000) break;
  }
  hpar_rules_destroy(rules);
  buffer_free(&out);
  buffer_free(&first);
  buffer_free(&wanted);
  buffer_free(&found);
  buffer_free(&shown);
}

/* Finds "X" in texts of all kinds, and removes it. */
static void check_find(size_t max_text, const buffer *page) {
  static const hpar_action find = {.kind = HPAR_ACTION_FIND, .unit = HPAR_UNIT_TEXT, .name = "all", .value = {"X", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .actions = &find, .action_count = 1};
  check_elements(&rule, max_text, page);
}

static hpar_status note_piece(hpar_text_piece *t, void *context) {
  buffer_format(context, "%.*s|", (int)t->raw.length, t->raw.bytes);
  return HPAR_OK;
}

/* Raw text comes in pieces of max_text bytes, too. */
static void pieces_of_raw_text(void) {
  const char *page = "<title>abcde<f</title>";
  buffer log = {0}, out = {0};
  const hpar_rule rule = {HPAR_RULE_INIT, .text = note_piece, .context = &log};
  hpar_rules *rules = rewriting_compile(&rule);
  for (size_t step = 1; step <= strlen(page); step++) {
    buffer_clear(&log);
    run(rules, 2, page, step, &out);
    CHECK_STRING(log.bytes, "ab|cd|e|<f||");
  }
  hpar_rules_destroy(rules);
  buffer_free(&log);
  buffer_free(&out);
}

static hpar_status put_tag(hpar_text_piece *t, void *context) {
  (void)context;
  return *t->raw.bytes == '-' ? hpar_text_piece_insert(t, HPAR_WHERE_REPLACE, "<i>", 3, HPAR_CONTENT_HTML) : HPAR_OK;
}

/* A tag needs nothing that keeps it apart from a "<" in the piece before it. */
static void tags_after_texts(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .text = put_tag};
  hpar_rules *rules = rewriting_compile(&rule);
  buffer out = {0};
  run(rules, 1, "<p>a<-b</p>", 11, &out);
  CHECK_STRING(out.bytes, "<p>a<<i>b</p>");
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/* The finds in all pieces of raw text are removed. */
static void finds_in_pieces(void) {
  static const hpar_action find = {.kind = HPAR_ACTION_FIND, .unit = HPAR_UNIT_TEXT, .name = "all", .value = {"X", 1}};
  const hpar_rule rule = {HPAR_RULE_INIT, .actions = &find, .action_count = 1};
  const char *page = "<title>aXbXc</title><script>aXbX<!--cX-->d</script>";
  hpar_rules *rules = rewriting_compile(&rule);
  buffer out = {0};
  for (size_t max_text = 1; max_text < 14; max_text++)
    for (size_t step = 1; step <= strlen(page); step++) {
      run(rules, max_text, page, step, &out);
      CHECK_STRING(out.bytes, "<title>abc</title><script>ab<!--c-->d</script>");
    }
  hpar_rules_destroy(rules);
  buffer_free(&out);
}

/* A find in raw text does not move the end of its element. */
static void ends_of_raw_text(void) {
  enum { MOST = 64 << 10 };
  static const char *const scripts[] = {"<script><!-- <scrXipt> </script><img title=\"</script><script>a()</script>\">",
                                        "<script><!-- --><X!-- <script> </script><b title=\"</script><i>\">",
                                        "<script><!-- <script> --X> </script><b></script><i>",
                                        "<script><!-- <script> </scrXipt> </script><b></script><i>",
                                        "<script><!--X> </script><b>",
                                        "<title>aaa</titleX><img></title>"};
  buffer page = {0};
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    for (size_t max_text = 1; max_text < 40; max_text++) {
      buffer_clear(&page);
      buffer_text(&page, scripts[i]);
      check_find(max_text < 39 ? max_text : 0, &page);
    }
  for (int is_title = 0; is_title < 2; is_title++)
    for (size_t begin = 0; begin < 9; begin++) {
      const char *name = is_title ? "title" : "script";
      buffer_clear(&page);
      buffer_format(&page, "<%s>", name);
      for (size_t i = 0; i < MOST - begin; i++) buffer_byte(&page, 'a');
      buffer_format(&page, "</%.4sX%s><img></%s>", name, name + 4, name);
      check_find(0, &page);
    }
  buffer_free(&page);
}

/* A long text comes in pieces, and none of them ends inside of a find. */
static void finds_in_long_texts(void) {
  static const char *const names[] = {"p", "script", "style", "title", "xmp"};
  static const char *const parts[] = {"needle", "need", "nee", "dle", "ab", "ba", "aab", "n&#101;edle", "\r\nx", "x"};
  static const hpar_string wanted[] = {{"needle", 6}, {"aba", 3}, {"ab", 2}, {"\nx", 2}, {"dlen", 4}};
  buffer page = {0}, out = {0}, expected = {0};
  random_state random = {11};
  for (unsigned count = 4000; count && check_failed < 3; count--) {
    hpar_action finds[3];
    for (size_t i = 0; i < 3; i++)
      finds[i] = (hpar_action){.kind = HPAR_ACTION_FIND,
                               .unit = HPAR_UNIT_TEXT,
                               .name = "all",
                               .value = RANDOM_OF(&random, wanted),
                               .replacement = {"-", 1}};
    const hpar_rule rule = {HPAR_RULE_INIT, .actions = finds, .action_count = 1 + random_below(&random, 3)};
    hpar_rules *rules = rewriting_compile(&rule);
    const char *name = RANDOM_OF(&random, names);
    buffer_clear(&page);
    buffer_format(&page, "<%s>", name);
    for (size_t i = 0; i < 40; i++) buffer_text(&page, RANDOM_OF(&random, parts));
    buffer_format(&page, "</%s>", name);
    run(rules, 0, page.bytes, page.length, &expected);
    const size_t most = 50 + random_below(&random, 50);
    run(rules, most, page.bytes, 1 + random_below(&random, 60), &out);
    CHECK_STRING(out.bytes, expected.bytes);
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
  buffer_free(&out);
  buffer_free(&expected);
}

/* Removes a piece with an "X", replaces one with a "Y", and extends one with a "Z". */
static hpar_status edit_piece(hpar_text_piece *t, void *context) {
  const char *content = context;
  const size_t length = strlen(content);
  if (memchr(t->raw.bytes, 'X', t->raw.length)) return hpar_text_piece_remove(t);
  if (memchr(t->raw.bytes, 'Y', t->raw.length))
    return hpar_text_piece_insert(t, HPAR_WHERE_REPLACE, content, length, HPAR_CONTENT_TEXT);
  if (!memchr(t->raw.bytes, 'Z', t->raw.length)) return HPAR_OK;
  CHECK_EQ(hpar_text_piece_insert(t, HPAR_WHERE_AFTER, content, length, HPAR_CONTENT_TEXT), HPAR_OK);
  return hpar_text_piece_insert(t, HPAR_WHERE_BEFORE, content, length, HPAR_CONTENT_TEXT);
}

/* A callback for pieces of a text makes no markup of what follows or of what was before. */
static void pieces_of_texts(void) {
  enum { MOST = 64 << 10 };
  static char image[] = "img src=x ", dashes[] = "--";
  static const char *const pages[] = {"<svg><![CDATA[Xecret<img src=x>]]>",
                                      "<svg><![CDATA[YYYYYYYY<img src=x>]]>",
                                      "<p>aaaaaa <  Xecretimg src=x></p>",
                                      "<title>aaa</titXecretXXle><img></title>",
                                      "<svg><![CDATA[aaaaaa]]Xaaaaaaa><img src=x>",
                                      "<script>aaaa<!--XXXXXXXXX<script></script><i></script><img>",
                                      "<script><!--Zaaa>aa<script></script><i></script><img>",
                                      "<script><!-- <script> aaaaaaXaa--></script><img>"};
  hpar_rule rule = {HPAR_RULE_INIT, .text = edit_piece};
  buffer page = {0};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
    for (size_t max_text = 1; max_text < 30; max_text++) {
      rule.context = strchr(pages[i], 'Z') ? dashes : image;
      buffer_clear(&page);
      buffer_text(&page, pages[i]);
      check_elements(&rule, max_text, &page);
    }
  buffer_clear(&page);
  buffer_text(&page, "<svg><![CDATA[X");
  for (size_t i = 0; i < MOST; i++) buffer_byte(&page, 'a');
  buffer_text(&page, "<img src=x>]]>");
  check_elements(&rule, 0, &page);
  buffer_free(&page);
}

static const char *const wide_encodings[] = {"shift_jis", "gb18030", "big5", NULL};

/* In a CDATA section, a lead takes a bracket along: not that of the end behind an edit. */
static void leads_in_sections(void) {
  static char content[] = "s";
  static const char *const pages[] = {
      "<svg><![CDATA[\x89X]]><a title=\"]]><img>\"></a>", "<svg><![CDATA[\x89X\x89]]><img>]]>",
      "<svg><![CDATA[a\x89X]]><a title=\"]]><img>\"></a>", "<svg><![CDATA[\x89\x89X]X]\x89X><img>]]>"};
  static const hpar_action find = {.kind = HPAR_ACTION_FIND, .unit = HPAR_UNIT_TEXT, .value = {"X", 1}};
  static const hpar_action append = {.kind = HPAR_ACTION_APPEND, .value = {"<b>", 3}, .format = HPAR_CONTENT_HTML};
  const hpar_rule rules[] = {{HPAR_RULE_INIT, .actions = &find, .action_count = 1},
                             {HPAR_RULE_INIT, .text = edit_piece, .context = content},
                             {HPAR_RULE_INIT, .selector = "svg", .actions = &append, .action_count = 1}};
  buffer page = {0}, out = {0}, found = {0};
  for (size_t i = 0; (page_encoding = wide_encodings[i]); i++) {
    for (size_t k = 0; k < sizeof pages / sizeof *pages; k++)
      for (size_t n = 0; n < 40; n++) {
        buffer_clear(&page);
        buffer_text(&page, pages[k]);
        check_elements(&rules[n % 2], n / 2, &page);
      }
    hpar_rules *compiled = rewriting_compile(&rules[2]);
    for (size_t step = 1; step < 20; step++) {
      run(compiled, 0, "<svg><![CDATA[\x89", step, &out);
      list_elements(&out, &found);
      CHECK_STRING(found.bytes, " 1html 2head 2body 3svg 3b ");
    }
    hpar_rules_destroy(compiled);
  }
  buffer_free(&page);
  buffer_free(&out);
  buffer_free(&found);
}

/* FIND finds characters, not bytes of them, in any encoding. */
static void finds_of_characters(void) {
  static const struct {
    const char *encoding, *wanted, *page, *output;
  } rows[] = {{"shift_jis", "A", "<p>\x83\x41 A<!--\x83\x41 A--><title>\x83\x41 A</title>",
               "<p>\x83\x41 z<!--\x83\x41 z--><title>\x83\x41 z</title>"},
              {"shift_jis", "A", "<p>\xB1\x41&#65;\x83\x83\x41", "<p>\xB1zz\x83\x83z"},
              {"shift_jis", "\xE3\x82\xA2", "<p>\x83\x83\x41\x83\x41", "<p>\x83\x83\x41z"},
              {"shift_jis", "&", "<svg><![CDATA[\x83]]>&amp;]]>&amp;", "<svg><![CDATA[\x83]]>zamp;]]>z"},
              {"gb18030", "1", "<p>\x81\x31\x81\x31 1\x81\x31", "<p>\x81\x31\x81\x31 z\x81z"},
              {"big5", "a", "<p>\xA4\x61 a\xA4", "<p>\xA4\x61 z\xA4"},
              {"euc-kr", "a", "<p>\x81\x61 a\x81\x3F\x61", "<p>\x81\x61 z\x81\x3Fz"},
              {"euc-jp", "\xE3\x81\x84", "<p>\xA1\xA4\xA4\xA4\x8F\xA4\xA4\xA4\xA4\xA4\x61",
               "<p>\xA1\xA4z\x8F\xA4\xA4z\xA4\x61"}};
  buffer out = {0};
  for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
    const hpar_action find = {.kind = HPAR_ACTION_FIND,
                              .unit = HPAR_UNIT_TEXT,
                              .name = "all",
                              .value = {rows[i / 2].wanted, strlen(rows[i / 2].wanted)},
                              .replacement = {"z", 1}};
    const hpar_rule rule = {HPAR_RULE_INIT, .actions = &find, .action_count = 1, .across_tags = i % 2};
    hpar_rules *rules = rewriting_compile(&rule);
    page_encoding = rows[i / 2].encoding;
    for (size_t step = 1; step <= strlen(rows[i / 2].page); step++) {
      run(rules, 0, rows[i / 2].page, step, &out);
      CHECK_STRING(out.bytes, rows[i / 2].output);
    }
    hpar_rules_destroy(rules);
  }
  page_encoding = NULL;
  buffer_free(&out);
}

/* Bytes of a text are no byte order mark where an edit removes what is before them. */
static void marks_at_begin(void) {
  static const hpar_action remove = {.kind = HPAR_ACTION_REMOVE};
  static const hpar_action before = {.kind = HPAR_ACTION_BEFORE, .value = {"\xEF\xBB\xBF", 3}};
  static const char *const rows[][2] = {{"<b></b>\xFF\xFE<i>", "</>\xFF\xFE<i>"},
                                        {"\xFE<b></b>\xFF", "</>\xFE\xFF"},
                                        {"\xEF<b></b>\xBB<b></b>\xBF", "</>\xEF\xBB\xBF"},
                                        {"\xEF\xBB\xBF<b></b>\xEF\xBB\xBF", "\xEF\xBB\xBF\xEF\xBB\xBF"},
                                        {"<b></b>\xEF\xBB", "\xEF\xBB"},
                                        {"<b></b>\xFF\xFE<u>", "</>\xFF\xFE\xEF\xBB\xBF<u>"},
                                        {"<b></b><u>", "</>\xEF\xBB\xBF<u>"}};
  const hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "b", .actions = &remove, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "u", .actions = &before, .action_count = 1}};
  buffer out = {0};
  hpar_rules *compiled;
  CHECK_EQ(hpar_rules_create(&compiled), HPAR_OK);
  for (int i = 0; i < 2; i++) CHECK_EQ(hpar_rules_add(compiled, &rules[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(compiled), HPAR_OK);
  page_encoding = "utf-8";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t step = 1; step <= strlen(rows[i][0]); step++) {
      run(compiled, 0, rows[i][0], step, &out);
      CHECK_STRING(out.bytes, rows[i][1]);
    }
  page_encoding = NULL;
  hpar_rules_destroy(compiled);
  buffer_free(&out);
}

/* "</" at the end of the input is text, and stays text with content behind it. */
static void solidus_at_end(void) {
  static char content[] = "i>";
  static const hpar_action find = {
      .kind = HPAR_ACTION_FIND, .unit = HPAR_UNIT_TEXT, .value = {"Z", 1}, .replacement = {"z", 1}};
  static const hpar_action append = {.kind = HPAR_ACTION_APPEND, .value = {"b>", 2}, .format = HPAR_CONTENT_HTML};
  const hpar_rule rules[] = {{HPAR_RULE_INIT, .selector = "p", .actions = &append, .action_count = 1},
                             {HPAR_RULE_INIT, .actions = &find, .action_count = 1},
                             {HPAR_RULE_INIT, .text = edit_piece, .context = content}};
  static const struct {
    int rule;
    const char *page, *output;
  } rows[] = {{0, "<p>Za</", "<p>Za</>&lt;/b>"},
              {1, "<p>Za</", "<p>za</>&lt;/b>"},
              {1, "<p>a</Z", "<p>ab></Z"},
              {2, "<p>X</", "<p>b>"},
              {2, "<p>Y</", "<p>i&gt;b>"},
              {2, "<p>Z</", "<p>i&gt;Z</>&lt;/i&gt;b>"},
              {2, "<p>Z<i>a</", "<p>i&gt;Zi&gt;<i>a</>&lt;/b>"}};
  buffer out = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hpar_rules *compiled;
    CHECK_EQ(hpar_rules_create(&compiled), HPAR_OK);
    CHECK_EQ(hpar_rules_add(compiled, &rules[0], NULL), HPAR_OK);
    if (rows[i].rule) CHECK_EQ(hpar_rules_add(compiled, &rules[rows[i].rule], NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(compiled), HPAR_OK);
    for (size_t step = 1; step <= strlen(rows[i].page); step++) {
      run(compiled, 0, rows[i].page, step, &out);
      CHECK_STRING(out.bytes, rows[i].output);
    }
    for (size_t max_text = 1; rows[i].rule < 2 && max_text < 5; max_text++) {
      run(compiled, max_text, rows[i].page, 1, &out);
      CHECK_STRING(out.bytes, rows[i].output);
    }
    hpar_rules_destroy(compiled);
  }
  buffer_free(&out);
}

/* Generated texts, most of them in pieces. Formatting elements are missing: text opens them. */
static void generated_texts(void) {
  enum { COUNT = 3000 };
  static const char *const parts[] = {"<",         "<",   "!",   "-",    "--",  "/",    "]",   "]]",     ">",
                                      "X",         "Y",   "Z",   "X",    " ",   "x",    "img", "script", "title",
                                      "<![CDATA[", "]]>", "</>", "&lt;", "tit", "<!--", "-->", "</scr",  "ipt>"};
  static const char *const begins[] = {"<p>",     "<svg>",          "<title>",   "<script>",
                                       "<style>", "<svg><![CDATA[", "<textarea>"};
  static const char *const others[] = {"", "img src=x ", "]", "/", "-", "!", ">", "script"};
  static char contents[][16] = {"img src=x ", "]", "-", ""};
  random_state random = {1};
  buffer page = {0};
  for (unsigned i = 0; i < COUNT && check_failed < 3; i++) {
    const char *other = RANDOM_OF(&random, others);
    const hpar_action find = {.kind = HPAR_ACTION_FIND,
                              .unit = HPAR_UNIT_TEXT,
                              .name = "all",
                              .value = {"X", 1},
                              .replacement = {other, strlen(other)}};
    hpar_rule rule = {HPAR_RULE_INIT, .text_pieces = random_chance(&random, 10)};
    if (random_chance(&random, 50))
      rule.actions = &find, rule.action_count = 1;
    else
      rule.text = edit_piece, rule.context = RANDOM_OF(&random, contents);
    buffer_clear(&page);
    buffer_text(&page, RANDOM_OF(&random, begins));
    page_encoding = RANDOM_OF(&random, wide_encodings);
    for (size_t count = 1 + random_below(&random, 25); count; count--) {
      buffer_text(&page, RANDOM_OF(&random, parts));
      if (page_encoding && random_chance(&random, 20)) buffer_byte(&page, '\x89');
    }
    if (random_chance(&random, 50)) buffer_text(&page, "</script><img title=\"</script><x>\">");
    check_elements(&rule, random_below(&random, 25), &page);
  }
  buffer_free(&page);
}

int main(void) {
  kinds_of_text();
  ends_of_elements();
  whole_characters();
  escapes_after_rules();
  white_references();
  pieces_of_raw_text();
  tags_after_texts();
  finds_in_pieces();
  ends_of_raw_text();
  finds_in_long_texts();
  pieces_of_texts();
  leads_in_sections();
  finds_of_characters();
  marks_at_begin();
  solidus_at_end();
  generated_texts();
  return check_report();
}
