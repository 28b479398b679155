/* hpar-answers URL: answers questions about documents, for scripts/compare-chromium.
 *
 * A question is a line "KIND FIRST LAST", for the documents that the seeds from FIRST to LAST make,
 * or "KIND SEED =LENGTH" and LENGTH bytes of a document. A seed also makes what belongs to the
 * question: a context, selectors, a rule. Each answer is a line of JSON: the seed, the document in
 * base64, what belongs to the question, and the answer. URL is that of the documents, and ends with
 * a slash. */

#include "support/buffer.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/rewriting.h"

#ifdef HPAR_TEST_DUKTAPE
#include "programs/javascript/javascript.h"
#endif

#include <hpar/hpar.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *document_url;
static hpar_parser *parser;
static hpar_document *document;

/* A question. `more` has the JSON members that belong to it. */
typedef struct question {
  uint64_t seed;
  random_state random; /* for what belongs to the question */
  buffer page, more, answer;
} question;

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

static void append_string(buffer *to, hpar_string text) { buffer_add(to, text.bytes, text.length); }

static void add_json(buffer *to, const char *bytes, size_t length) {
  buffer_byte(to, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte < ' ' || byte == 0x7F)
      buffer_format(to, "\\u%04x", byte);
    else if (byte == '"' || byte == '\\')
      buffer_format(to, "\\%c", byte);
    else
      buffer_byte(to, (char)byte);
  }
  buffer_byte(to, '"');
}

static void add_member(buffer *to, const char *name, const char *text) {
  buffer_format(to, ",\"%s\":", name);
  add_json(to, text, strlen(text));
}

static void add_base64(buffer *to, const char *bytes, size_t length) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < length ? (unsigned char)bytes[i + k] : 0);
    for (size_t k = 0; k < 4; k++) buffer_byte(to, i + k > length ? '=' : digits[bits >> (18 - 6 * k) & 63]);
  }
}

static void check(hpar_status status, const char *what) {
  if (!status) return;
  fprintf(stderr, "hpar-answers: %s: %s\n", what, hpar_status_text(status));
  exit(1);
}

/* Returns the document node. */
static hpar_node parse(const question *of, const char *fragment, bool offsets) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .fragment = fragment, .source_offsets = offsets};
  check(hpar_parse(parser, &options, of->page.bytes, of->page.length, document, NULL), "parse");
  return hpar_document_root(document);
}

/*** documents ***/

/* Lines of a file in tests/chromium. They have \n and \t for a line feed and a tab. */
typedef struct lines {
  const char *name;
  buffer text; /* a NUL ends each line */
  size_t count;
} lines;

static lines selectors = {.name = "selectors"}, link_pieces = {.name = "link-pieces"},
             link_values = {.name = "link-values"}, text_pieces = {.name = "text-pieces"},
             resource_pieces = {.name = "resource-pieces"};

static void read_lines(lines *to) {
  char path[4096];
  snprintf(path, sizeof path, HPAR_SOURCE_DIR "/tests/chromium/%s.txt", to->name);
  FILE *file = fopen(path, "r");
  if (!file) check(HPAR_ERROR_IO, path);
  for (int c, last = 0; file && (c = getc(file)) != EOF; last = c) {
    bool escaped = last == '\\' && (c == 'n' || c == 't');
    if (escaped) to->text.length--;
    to->count += c == '\n';
    buffer_byte(&to->text, escaped ? (c == 'n' ? '\n' : '\t') : c == '\n' ? 0 : (char)c);
  }
  if (file) fclose(file);
}

static const char *random_line(question *of, lines *from) {
  if (!from->count) read_lines(from);
  const char *line = from->text.bytes;
  for (size_t n = random_below(&of->random, from->count); n; n--) line += strlen(line) + 1;
  return line;
}

/* Appends random pieces, with a new URL of a resource in the place of "%u", and a random value in
 * that of "%v". */
static void write_pieces(question *of, lines *pieces) {
  unsigned number = 0;
  for (size_t n = 3 + random_below(&of->random, 20); n; n--) {
    for (const char *at = random_line(of, pieces); *at; at++) {
      if (*at == '%' && at[1] == 'u')
        buffer_format(&of->page, "%sr/%llu.%u", document_url, (unsigned long long)of->seed, number++);
      else if (*at == '%' && at[1] == 'v')
        buffer_text(&of->page, random_line(of, &link_values));
      else {
        buffer_byte(&of->page, *at);
        continue;
      }
      at++;
    }
  }
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void generate_page(question *of) {
  generated made = {{0}, NULL, false};
  generate(of->seed, &made);
  buffer_add(&of->page, made.text.bytes, made.text.length);
  generate_free(&made);
}

/* Appends a script that writes the text, or that changes the tree. */
static void write_script(question *of, const char *bytes, size_t length) {
  static const char *const changes[] = {"e.parentNode.removeChild(e)",
                                        "f.appendChild(e)",
                                        "f.parentNode.insertBefore(e, f)",
                                        "e.setAttribute('s', '1')",
                                        "e.removeAttribute('class')",
                                        "f.appendChild(document.createElement('b'))",
                                        "f.appendChild(document.createTextNode('t'))",
                                        "e.innerHTML = '<p>i<td>j'",
                                        "document.write('<i>' + n)",
                                        "document.writeln(all.length)"};
  if (random_chance(&of->random, 30)) {
    buffer_format(&of->page,
                  "<script>var all = document.getElementsByTagName('*'), n = all.length, e = all[%u %% n], "
                  "f = all[%u %% n]; %s</script>",
                  (unsigned)random_below(&of->random, 50), (unsigned)random_below(&of->random, 50),
                  RANDOM_OF(&of->random, changes));
    return;
  }
  buffer_text(&of->page, "<script>document.write('");
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte < ' ' || byte == '<' || byte == '\\' || byte == '\'' || byte == '-' || byte == 0x7F)
      buffer_format(&of->page, "\\x%02x", byte);
    else
      buffer_byte(&of->page, (char)byte);
  }
  buffer_text(&of->page, "')</script>");
}

/* Divides a generated document into pieces. Some of them are written by scripts. */
static void scripted_page(question *of) {
  generated made = {{0}, NULL, false};
  generate(of->seed, &made);
  size_t length = made.text.length < 600 ? made.text.length : 600;
  for (size_t at = 0, end; at < length; at = end) {
    end = at + 1 + random_below(&of->random, 80);
    if (end > length) end = length;
    while (end < length && (made.text.bytes[end] & 0xC0) == 0x80) end++;
    if (random_chance(&of->random, 40))
      write_script(of, made.text.bytes + at, end - at);
    else
      buffer_add(&of->page, made.text.bytes + at, end - at);
  }
  generate_free(&made);
}

/*** answers ***/

static void answer_parse(question *of) {
  hpar_node root = parse(of, NULL, false);
  buffer_text(&of->answer, hpar_document_quirks(document) == HPAR_QUIRKS ? "BackCompat\n" : "CSS1Compat\n");
  check(hpar_serialize_tree(document, root, append, &of->answer), "tree");
}

static void answer_html(question *of) {
  check(hpar_serialize_html(document, parse(of, NULL, false), 0, append, &of->answer), "html");
}

static void answer_fragments(question *of) {
  static const char *const contexts[] = {"div",
                                         "p",
                                         "body",
                                         "html",
                                         "table",
                                         "tbody",
                                         "thead",
                                         "tr",
                                         "td",
                                         "th",
                                         "select",
                                         "template",
                                         "caption",
                                         "colgroup",
                                         "head",
                                         "form",
                                         "title",
                                         "script",
                                         "style",
                                         "textarea",
                                         "svg svg",
                                         "svg desc",
                                         "math mi",
                                         "math math",
                                         "noscript",
                                         "frameset",
                                         "a",
                                         "li",
                                         "svg foreignObject",
                                         "math annotation-xml",
                                         "button",
                                         "plaintext",
                                         "option",
                                         "optgroup",
                                         "xmp",
                                         "iframe",
                                         "svg title",
                                         "svg g",
                                         "math mtext",
                                         "noframes",
                                         "b",
                                         "pre",
                                         "svg script",
                                         "svg style",
                                         "dd",
                                         "h1",
                                         "object",
                                         "ruby"};
  const char *context = RANDOM_OF(&of->random, contexts);
  add_member(&of->more, "context", context);
  check(hpar_serialize_tree(document, parse(of, context, false), append, &of->answer), "tree");
}

/* The numbers of elements in tree order. The caller asks for the nodes in this order. */
typedef struct numbering {
  hpar_node at;
  unsigned number;
} numbering;

static unsigned number_of(numbering *of, hpar_node node) {
  hpar_node root = hpar_document_root(document);
  while (of->at != node) {
    of->at = hpar_node_walk(document, root, of->at ? of->at : root);
    of->number += hpar_node_kind(document, of->at) == HPAR_NODE_ELEMENT;
  }
  return of->number - 1;
}

static const char *random_selector(question *of, char *made) {
  if (random_chance(&of->random, 50)) return random_line(of, &selectors);
  rewriting_selector(&of->random, made);
  return made;
}

static void answer_selectors(question *of) {
  hpar_node root = parse(of, NULL, false);
  buffer_text(&of->more, ",\"selectors\":[");
  for (unsigned i = 0; i < 12; i++) {
    char made[REWRITING_SELECTOR];
    const char *text = random_selector(of, made);
    if (i) buffer_byte(&of->more, ',');
    add_json(&of->more, text, strlen(text));
    hpar_error error;
    hpar_node_list *found = hpar_select_all(document, root, text, &error);
    numbering numbers = {0};
    if (!found) buffer_text(&of->answer, "error");
    for (size_t k = 0; found && k < found->count; k++)
      buffer_format(&of->answer, "%u ", number_of(&numbers, found->nodes[k]));
    buffer_byte(&of->answer, '\n');
    hpar_list_destroy(found);
  }
  buffer_byte(&of->more, ']');
}

typedef struct link_writer {
  buffer *to;
  numbering numbers;
} link_writer;

static hpar_status write_link(const hpar_link *link, void *context) {
  link_writer *writer = context;
  buffer_format(writer->to, "%u ", number_of(&writer->numbers, link->element));
  append_string(writer->to, link->attribute);
  buffer_byte(writer->to, ' ');
  if (link->url.bytes) append_string(writer->to, link->url);
  buffer_byte(writer->to, '\n');
  return HPAR_OK;
}

static void answer_links(question *of) {
  hpar_node root = parse(of, NULL, false);
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = document_url};
  link_writer writer = {.to = &of->answer};
  check(hpar_links(document, root, &options, write_link, &writer), "links");
}

static void answer_content(question *of) {
  hpar_node root = parse(of, NULL, false);
  hpar_text_options all = {HPAR_TEXT_OPTIONS_INIT, .all_elements = true, .keep_white_space = true, .no_breaks = true};
  for (hpar_node child = hpar_node_first_child(document, root); child; child = hpar_node_next(document, child))
    if (hpar_node_kind(document, child) == HPAR_NODE_ELEMENT)
      check(hpar_text(document, child, &all, append, &of->answer), "content");
}

static void answer_text(question *of) {
  parse(of, NULL, false);
  check(hpar_text(document, hpar_document_body(document), NULL, append, &of->answer), "text");
}

static void answer_scripts(question *of) {
#ifdef HPAR_TEST_DUKTAPE
  hp_javascript *engine = hp_javascript_create(NULL);
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  options.script.callback = hp_javascript_run;
  options.script.context = engine;
  if (!engine) check(HPAR_ERROR_MEMORY, "scripts");
  check(hpar_parse(parser, &options, of->page.bytes, of->page.length, document, NULL), "scripts");
  check(hpar_serialize_tree(document, hpar_document_root(document), append, &of->answer), "tree");
  hp_javascript_destroy(engine);
#else
  check(HPAR_ERROR_UNSUPPORTED, "scripts");
  (void)of;
#endif
}

static void answer_resources(question *of) {
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
  check(hpar_parse(parser, &options, of->page.bytes, of->page.length, document, NULL), "parse");
  hpar_resource_list *found = hpar_resources_all(document, hpar_document_root(document), NULL);
  for (size_t i = 0; found && i < found->count; i++) {
    const hpar_resource *one = &found->resources[i];
    buffer_format(&of->answer, "%s %u %u ", hpar_resource_kind_name(one->kind), one->flags,
                  one->picture != HPAR_NO_NODE);
    append_string(&of->answer, one->url);
    buffer_byte(&of->answer, ' ');
    append_string(&of->answer, one->srcset);
    buffer_byte(&of->answer, '\n');
  }
  hpar_list_destroy(found);
}

/*** the rewriter ***/

typedef struct edit {
  const char *name; /* an option of hpar rewrite */
  hpar_action_kind kind;
  bool has_name, has_value;
} edit;

static const edit edits[] = {
    {"set", HPAR_ACTION_SET_ATTRIBUTE, true, true}, {"unset", HPAR_ACTION_UNSET_ATTRIBUTE, true, false},
    {"rename", HPAR_ACTION_RENAME, true, false},    {"remove", HPAR_ACTION_REMOVE, false, false},
    {"unwrap", HPAR_ACTION_UNWRAP, false, false},   {"before", HPAR_ACTION_BEFORE, false, true},
    {"after", HPAR_ACTION_AFTER, false, true},      {"prepend", HPAR_ACTION_PREPEND, false, true},
    {"append", HPAR_ACTION_APPEND, false, true},    {"inner", HPAR_ACTION_INNER, false, true},
    {"replace", HPAR_ACTION_REPLACE, false, true}};

/* Appends the numbers of the elements that have start tags, in tree order with the contents of
 * templates. */
static void write_tagged(buffer *to, hpar_node top, unsigned *number) {
  uint64_t start, end;
  for (hpar_node at = hpar_node_walk(document, top, top); at; at = hpar_node_walk(document, top, at)) {
    if (hpar_node_kind(document, at) != HPAR_NODE_ELEMENT) continue;
    if (hpar_node_start_tag_range(document, at, &start, &end)) buffer_format(to, "%u,", *number);
    ++*number;
    hpar_node contents = hpar_node_template_contents(document, at);
    if (contents) write_tagged(to, contents, number);
  }
}

static void answer_rewrite(question *of) {
  static const char *const selectors[] = {"p", "div",   "span", "li",      "b",  "a", "td",
                                          "i", "table", "h1",   "section", "ul", ".x"};
  static const char *const contents[] = {"text", "<i>new</i>", "<br>", "<span class=new>n</span>", "a &amp; b"};
  static const char *const new_names[] = {"section", "x-y", "article"};
  const edit *chosen = &RANDOM_OF(&of->random, edits);
  const char *content = RANDOM_OF(&of->random, contents), *name = RANDOM_OF(&of->random, new_names);
  if (chosen->kind == HPAR_ACTION_SET_ATTRIBUTE) name = "data-new";
  if (chosen->kind == HPAR_ACTION_UNSET_ATTRIBUTE) name = random_chance(&of->random, 50) ? "class" : "id";
  hpar_action action = {
      .kind = chosen->kind, .format = HPAR_CONTENT_HTML, .name = name, .value = {content, strlen(content)}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = RANDOM_OF(&of->random, selectors), .actions = &action,
                    .action_count = 1};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .no_scripting = true};
  hpar_rules *rules;
  hpar_rewriter *rewriter;
  check(hpar_rules_create(&rules), "rules");
  check(hpar_rules_add(rules, &rule, NULL), "rule");
  check(hpar_rules_compile(rules), "rules");
  check(hpar_rewriter_create(&rewriter), "rewriter");
  hpar_status status =
      hpar_rewrite(rewriter, rules, &options, of->page.bytes, of->page.length, NULL, append, &of->answer);
  if (status) buffer_format(&of->answer, "%s", hpar_status_text(status));
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
  unsigned number = 0;
  buffer_text(&of->more, ",\"tagged\":[");
  write_tagged(&of->more, parse(of, NULL, true), &number);
  buffer_text(&of->more, "-1]");
  add_member(&of->more, "selector", rule.selector);
  add_member(&of->more, "edit", chosen->name);
  if (chosen->has_name) add_member(&of->more, "name", name);
  if (chosen->has_value) add_member(&of->more, "content", content);
}

/*** questions ***/

static void write_links(question *of) { write_pieces(of, &link_pieces); }
static void write_texts(question *of) {
  buffer_text(&of->page, "<!doctype html><body>");
  write_pieces(of, &text_pieces);
}
static void write_resources(question *of) {
  buffer_text(&of->page, "<!doctype html>");
  write_pieces(of, &resource_pieces);
}

static const struct kind {
  const char *name;
  void (*write)(question *of);
  void (*answer)(question *of);
} kinds[] = {{"parse", generate_page, answer_parse},
             {"html", generate_page, answer_html},
             {"fragments", generate_page, answer_fragments},
             {"selectors", generate_page, answer_selectors},
             {"links", write_links, answer_links},
             {"content", generate_page, answer_content},
             {"text", write_texts, answer_text},
             {"scripts", scripted_page, answer_scripts},
             {"resources", write_resources, answer_resources},
             {"rewrite", generate_page, answer_rewrite}};

static const struct kind *find_kind(const char *name) {
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (!strcmp(kinds[i].name, name)) return &kinds[i];
  fprintf(stderr, "hpar-answers: no kind %s\n", name);
  return NULL;
}

static void ask(const struct kind *kind, question *of, uint64_t seed, const char *bytes, size_t length) {
  buffer_clear(&of->page);
  buffer_clear(&of->more);
  buffer_clear(&of->answer);
  of->seed = seed;
  of->random.at = seed * UINT64_C(0xD1342543DE82EF95) + 7;
  kind->write(of); /* draws the same random numbers if bytes are given */
  if (bytes) {
    buffer_clear(&of->page);
    buffer_add(&of->page, bytes, length);
  }
  kind->answer(of);
  buffer line = {0};
  buffer_format(&line, "{\"seed\":%llu,\"page\":\"", (unsigned long long)seed);
  add_base64(&line, of->page.bytes, of->page.length);
  buffer_byte(&line, '"');
  buffer_add(&line, of->more.bytes, of->more.length);
  buffer_text(&line, ",\"answer\":");
  if (kind->answer == answer_rewrite) {
    buffer_byte(&line, '"');
    add_base64(&line, of->answer.bytes, of->answer.length);
    buffer_byte(&line, '"');
  } else {
    add_json(&line, of->answer.bytes, of->answer.length);
  }
  buffer_text(&line, "}\n");
  fwrite(line.bytes, 1, line.length, stdout);
  buffer_free(&line);
}

int main(int argc, char **argv) {
  char name[32], last[32];
  unsigned long long first;
  question asked = {0};
  if (argc != 2) {
    fputs("usage: hpar-answers URL\n", stderr);
    return 2;
  }
  document_url = argv[1];
  check(hpar_parser_create(&parser), "parser");
  check(hpar_document_create(&document), "document");
  while (scanf("%31s %llu %31s", name, &first, last) == 3) {
    const struct kind *kind = find_kind(name);
    if (!kind) return 2;
    if (*last == '=') {
      size_t length = strtoull(last + 1, NULL, 10);
      char *bytes = malloc(length + 1);
      if (!bytes || getchar() != '\n' || fread(bytes, 1, length, stdin) != length) return 2;
      ask(kind, &asked, first, bytes, length);
      free(bytes);
    } else {
      for (unsigned long long seed = first; seed <= strtoull(last, NULL, 10); seed++) ask(kind, &asked, seed, NULL, 0);
    }
    fflush(stdout);
  }
  return 0;
}
