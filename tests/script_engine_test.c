/* Runs scripts with Duktape, in every mode, fed in pieces and by single bytes: documents with the
 * trees of browsers, documents that equal a flat page, tests of web-platform-tests with a stand-in
 * for their harness, and hostile scripts.
 *
 *   HPAR_TEST_FULL=1      flat pages: every cut in every way
 *   HPAR_TEST_SCALE=P     below 100: one of 100 cuts of flat pages instead of three
 *   HPAR_TEST_ERRORS=1    prints the uncaught errors of scripts */

#include "check.h"
#include "programs/javascript/engine.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/mode.h"
#include "support/random.h"
#include "support/shared.h"

#include <hpar/study.h>
#include <stdlib.h>

/* The ways to parse a document. */
enum { WHOLE_MODES = 4, FEEDS = 3, WAYS = WHOLE_MODES + FEEDS };
static const size_t feed_sizes[FEEDS] = {1, 7, 64};

static hpar_parser *parser;
static hpar_document *document;
static bool prints_errors;
static size_t scripts_run, scripts_failed, scripts_ahead; /* of the last parse */

static void print_error(void *context, const hpar_document *of, const hp_javascript_error *error) {
  (void)context, (void)of;
  if (prints_errors) printf("script %zu, line %u: %s\n", error->script, error->line, error->text);
}

static const hp_javascript_options engine_options = {.memory = 64 << 20, .report = print_error};

static hpar_status feed(const hpar_options *options, const char *data, size_t length, size_t size) {
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t i = 0; i < length && status == HPAR_OK; i += size)
    status = hpar_parser_feed(parser, data + i, length - i < size ? length - i : size);
  hpar_status finished = hpar_parser_finish(parser, NULL);
  return status == HPAR_OK ? finished : status;
}

/* Parses in one of the ways; WAYS: as the options select. */
static hpar_status parse(unsigned way, const hpar_options *given, const char *data, size_t length) {
  static const int modes[WHOLE_MODES] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, HPAR_MODE_PARALLEL, MODE_PIPELINED};
  hpar_options options = *given;
  options.encoding = "utf-8";
  if (way == WAYS) return hpar_parse(parser, &options, data, length, document, NULL);
  if (way >= WHOLE_MODES) return feed(&options, data, length, feed_sizes[way - WHOLE_MODES]);
  hpar_study study = {HPAR_STUDY_INIT};
  mode_choose(&options, &study, modes[way]);
  options.threads = 2;
  if (way == 1) options.parallel.executor = HPAR_EXECUTOR_INLINE;
  if (modes[way] == HPAR_MODE_PARALLEL) options.parallel.chunk_size = 16;
#if !HPAR_PARALLEL
  mode_choose(&options, &study, HPAR_MODE_SEQUENTIAL);
#endif
  return hpar_parse(parser, &options, data, length, document, NULL);
}

/* Dumps the tree, after a check of its links. */
static bool dump_tree(const char *what, hpar_status status, buffer *dump) {
  const char *problem = NULL;
  uint64_t nodes;
  if (status == HPAR_OK) problem = compare_links(document, &nodes);
  if (status != HPAR_OK) printf("%s: %s\n", what, hpar_status_text(status));
  /* Scripts may leave texts side by side. */
  if (problem && strcmp(problem, "two texts stand side by side") != 0) printf("%s: %s\n", what, problem);
  return status == HPAR_OK && compare_dump(document, dump);
}

/* Parses with scripts. `program`, unless it is NULL, runs before the parse, and `end` after it. */
static hpar_status run_with(unsigned way, const hpar_options *given, const char *data, size_t length,
                            const char *program, const char *end) {
  hp_javascript *engine = hp_javascript_create(&engine_options);
  if (!engine) return HPAR_ERROR_MEMORY;
  hpar_options options = *given;
  options.script.callback = hp_javascript_run;
  options.script.context = engine;
  if (program) CHECK(hp_javascript_evaluate(engine, program));
  if (way % 2) hp_javascript_compile_ahead(engine, data, length);
  hpar_status status = parse(way, &options, data, length);
  if (end) CHECK(hp_javascript_evaluate(engine, end));
  scripts_run = hp_javascript_count(engine).run;
  scripts_failed = hp_javascript_count(engine).failed;
  scripts_ahead = hp_javascript_count(engine).compiled_ahead;
  hp_javascript_destroy(engine);
  return status;
}

/* Parses with scripts and dumps the tree. */
static bool run(unsigned way, const char *data, size_t length, buffer *dump) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  return dump_tree("run", run_with(way, &options, data, length, NULL, NULL), dump);
}

/* A small sample takes each outside document in one or two ways. */
static unsigned way_step(void) { return compare_scale() < 100 ? 5 : 1; }

static void check_trees(const char *path, size_t number, const dat_test *test) {
  static buffer dump;
  const unsigned step = way_step();
  for (unsigned way = (unsigned)number % step; way < WAYS; way += step) {
    bool same = run(way, test->data, test->data_length, &dump) && dump.length == test->expected_length &&
                !memcmp(dump.bytes, test->expected, dump.length);
    if (check_at(same, path, path, (int)test->line)) continue;
    printf("test %zu, way %u\n%.*s\nexpected:\n%.*s\ngot:\n%.*s\n", number, way, (int)test->data_length, test->data,
           (int)test->expected_length, test->expected, (int)dump.length, dump.bytes);
    return;
  }
}

static void check_file(const char *path) {
  dat_file file;
  if (!CHECK(dat_read(path, &file))) return;
  for (size_t i = 0; i < file.count; i++) check_trees(path, i + 1, &file.tests[i]);
  CHECK(file.count > 0);
  dat_free(&file);
}

/*** flat pages ***/

typedef struct pair {
  unsigned number, scripts; /* script elements, with those that do not run */
  buffer data, flat;
} pair;

/* Decodes a line of write-flat.jsonl. */
static duk_ret_t read_pair(duk_context *heap, void *context) {
  static const char *const keys[] = {"data", "flat"};
  pair *p = context;
  buffer *texts[] = {&p->data, &p->flat};
  duk_json_decode(heap, -1);
  duk_get_prop_string(heap, -1, "n");
  p->number = duk_get_uint(heap, -1);
  duk_get_prop_string(heap, -2, "scripts_run");
  p->scripts = duk_get_uint(heap, -1);
  for (size_t i = 0; i < 2; i++) {
    duk_get_prop_string(heap, -3 - (duk_idx_t)(2 * i), keys[i]);
    hp_javascript_text text = hp_javascript_utf8_at(heap, -1);
    buffer_clear(texts[i]);
    buffer_add(texts[i], text.bytes, text.length);
  }
  return 0;
}

static bool check_pair(const pair *p, const char *what, hpar_status status, const buffer *expected) {
  static buffer dump;
  bool same = dump_tree(what, status, &dump) && dump.length == expected->length &&
              !memcmp(dump.bytes, expected->bytes, dump.length) && scripts_run <= p->scripts;
  if (CHECK(same)) return true;
  printf("pair %u, %s: %zu scripts, at most %u\n%.*s\nexpected:\n%.*s\ngot:\n%.*s\n", p->number, what, scripts_run,
         p->scripts, (int)p->data.length, p->data.bytes, (int)expected->length, expected->bytes, (int)dump.length,
         dump.bytes);
  return false;
}

/* Parses with one cut, at each offset or at a sample of them. */
static bool check_cuts(const pair *p, const buffer *expected, bool full) {
  random_state random = {p->number};
  for (uint64_t cut = 1; cut < p->data.length; cut++) {
    bool skipped = !full && !random_chance(&random, compare_scale() < 100 ? 1 : 3);
    for (unsigned way = 1; way < 4 && !skipped; way++) {
      bool threads = way == 2 && (full || random_chance(&random, 10));
      if (way == 2 && !threads) continue;
      const hpar_study study = {HPAR_STUDY_INIT, .merge = way == 3 ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN, .cuts = &cut,
                                .cut_count = 1};
      hpar_options options = {HPAR_OPTIONS_INIT,
                              .mode = HPAR_MODE_PARALLEL,
                              .threads = 2,
                              .encoding = "utf-8",
                              .parallel.executor = threads ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                              .study = &study};
      char what[40];
      snprintf(what, sizeof what, "cut %u in way %u", (unsigned)cut, way);
      hpar_status status = run_with(WAYS, &options, p->data.bytes, p->data.length, NULL, NULL);
      if (!check_pair(p, what, status, expected)) return false;
    }
  }
  return true;
}

static void flat_pages(const char *path) {
  static pair p;
  static buffer expected;
  char *line = NULL;
  size_t capacity = 0, count = 0;
  const bool full = compare_full();
  const unsigned step = way_step();
  FILE *file = fopen(path, "r");
  duk_context *heap = duk_create_heap_default();
  if (!CHECK(file != NULL) || !CHECK(heap != NULL)) return;
  while (getline(&line, &capacity, file) > 0) {
    duk_push_string(heap, line);
    if (!CHECK(duk_safe_call(heap, read_pair, &p, 1, 1) == DUK_EXEC_SUCCESS)) break;
    duk_pop(heap);
    hpar_options without = {HPAR_OPTIONS_INIT, .scripting = true};
    if (!CHECK(dump_tree("flat", parse(0, &without, p.flat.bytes, p.flat.length), &expected))) break;
    bool fine = true;
    for (unsigned way = p.number % step; way < WAYS && fine; way += step) {
      hpar_options options = {HPAR_OPTIONS_INIT};
      char what[20];
      snprintf(what, sizeof what, "way %u", way);
      fine = check_pair(&p, what, run_with(way, &options, p.data.bytes, p.data.length, NULL, NULL), &expected);
    }
    if (fine && hpar_predictor_name(0)) check_cuts(&p, &expected, full);
    count++;
  }
  CHECK(count > 0);
  free(line);
  fclose(file);
  duk_destroy_heap(heap);
}

/*** tests of web-platform-tests ***/

/* The stand-in for their harness. */
static const char harness[] =
    "var open = 0, onload, fails = function (text) { throw new Error(text); };\n"
    "function assert_equals(a, b) { if (a !== b) fails(a + ' is not ' + b); }\n"
    "function assert_array_equals(a, b) { for (var i = 0; i < a.length || i < b.length; i++) assert_equals(a[i], "
    "b[i]); }\n"
    "function test(f) { f(); }\n"
    "function async_test() { open++; return {step: function (f) { f(); }, done: function () { open--; }}; }\n";
static const char harness_end[] = "if (onload) onload(); if (open) fails('a test is not done');";

static void platform_tests(const char *folder) {
  shared_list files;
  const unsigned step = way_step();
  if (!CHECK(shared_files(folder, ".html", &files))) return;
  for (size_t i = 0; i < files.count; i++) {
    size_t length;
    char *bytes = shared_read(files.paths[i], &length);
    if (!CHECK(bytes != NULL)) continue;
    for (unsigned way = (unsigned)i % step; way < WAYS; way += step) {
      hpar_options options = {HPAR_OPTIONS_INIT};
      bool passed = CHECK_EQ(run_with(way, &options, bytes, length, harness, harness_end), HPAR_OK) &&
                    CHECK_EQ(scripts_failed, 0) && CHECK(scripts_run > 0);
      if (!passed) printf("%s, way %u\n", files.paths[i], way);
    }
    free(bytes);
  }
  CHECK(files.count > 0);
  shared_list_free(&files);
}

static int fixtures(void) {
  static const char *const names[] = {"write.dat", "mutation.dat", "generated.dat"};
  char directory[4096], path[4200];
  if (!shared_path(directory, sizeof directory, "document-write")) return CHECK_SKIPPED;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    check_file(path);
  }
  snprintf(path, sizeof path, "%s/write-flat.jsonl", directory);
  flat_pages(path);
  snprintf(path, sizeof path, "%s/wpt", directory);
  platform_tests(path);
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction/scripted")) return CHECK_SKIPPED;
  shared_list files;
  if (!CHECK(shared_files(directory, ".dat", &files))) return 1;
  for (size_t i = 0; i < files.count; i++) check_file(files.paths[i]);
  shared_list_free(&files);
  return check_report();
}

/*** the binding and hostile scripts ***/

#define SCRIPT(text) "<script>" text "</script>"

static const struct {
  const char *page, *body; /* of the tree as HTML */
} pages[] = {
    {SCRIPT("document.write([1, 2].length, '<b>', document.title)") "a", "<b>a</b>"},
    {"<p id=a class='x y'>" SCRIPT(
         "var p = document.getElementById('a'); p.classList.remove('x'); p.classList.add('z');"
         "p.style.color = 'red'; p.title = 't'; p.removeAttribute('id')"),
     "<p class=\"y z\" style=\"color: red;\" title=\"t\">"},
    {"<ul><li>1<li class=k>2</ul>" SCRIPT(
         "document.querySelector('li.k').textContent = document.querySelectorAll('li').length;"
         "document.getElementsByClassName('k')[0].insertAdjacentHTML('afterend', '<li>3')"),
     "<ul><li>1</li><li class=\"k\">2</li><li>3</li></ul>"},
    {"<div>" SCRIPT("var f = document.createDocumentFragment(); f.appendChild(document.createElement('I'));"
                    "f.appendChild(document.createTextNode('&'));"
                    "document.currentScript.parentNode.insertBefore(f, document.currentScript)"),
     "<div><i></i>&amp;"},
    {"<p>" SCRIPT("var p = document.querySelector('p'), names = ['x y', '', 'a>', 'a/', '=a', 'a=b'], n = 0;"
                  "names.forEach(function (name) {"
                  "  try { p.setAttribute(name, '1') } catch (e) { n += e.message === 'InvalidCharacterError' } });"
                  "['p x', '', '1', '<p>', 'p='].forEach(function (name) {"
                  "  try { document.createElement(name) } catch (e) { n += e.message === 'InvalidCharacterError' } });"
                  "document.write(n)"),
     "</script>10</p></body>"},
    {SCRIPT("document.write('\\ud83d', '\\ude00', '\\ud800')"), "\xF0\x9F\x98\x80\xEF\xBF\xBD"},
    {SCRIPT("document.write('\\ud83d'); document.write('\\ude00a\\ud83d')") "b", "\xF0\x9F\x98\x80"
                                                                                 "a\xEF\xBF\xBD"
                                                                                 "b"},
    {SCRIPT("document.write('\\ud83d'); document.write('\\ud83d'); document.write('', '\\ude00')"),
     "\xEF\xBF\xBD\xF0\x9F\x98\x80"},
    {SCRIPT("document.write('\\ude00', '\\ud83d<b>')"), "\xEF\xBF\xBD\xEF\xBF\xBD<b></b>"},
    /* properties of elements are free on other nodes */
    {"<p>a<!--b-->" SCRIPT(
         "'use strict'; var p = document.querySelector('p');"
         "[p.firstChild, p.childNodes[1], document, document.createDocumentFragment()].forEach(function (n) {"
         "  ['id', 'className', 'style', 'hidden', 'innerHTML', 'text', 'innerText', 'title', 'tagName', 'classList',"
         "   'checked', 'attributes', 'localName', 'outerHTML', 'name', 'onclick', 'custom'].forEach(function (k) {"
         "    if (n !== document || k !== 'title') { n[k] = 'v'; if (n[k] !== 'v') throw k; } }) });"
         "p.removeAttribute(''); p.removeAttribute('none'); p.removeAttribute('a b'); document.write('end')"),
     "</script>end</p>"},
    {SCRIPT("document.write(typeof XMLHttpRequest, typeof fetch, typeof Duktape)"), "undefinedundefinedundefined"},
    {SCRIPT("document.body.querySelector(':nope')") "<p>a", "<p>a</p>"},
    /* hostile */
    {"<p>a" SCRIPT("document.documentElement.remove(); document.write('<i>b')") "c", NULL},
    {"<table><tr><td>" SCRIPT(
         "var t = document.querySelector('table'), d = document.createElement('div');"
         "t.parentNode.insertBefore(d, t); d.appendChild(t); document.write('<tr>x')") "y<td>z</table>w",
     "<div>xy<table>"},
    {"<table>" SCRIPT("document.querySelector('table').remove()") "a<tr><td>b</table>c", NULL},
    {SCRIPT("document.write('<plaintext>')") "<p>a</plaintext>", "<plaintext><p>a</plaintext>"},
    {SCRIPT("function f() { document.write('<script>f()</' + 'script>') } f()") "<p>a", "<p>a</p>"},
    {SCRIPT("function f() { f() } f()") "<p>a", "<p>a</p>"},
    {SCRIPT("var a = 'x'; for (;;) a += a") "<p>a", "<p>a</p>"},
    {SCRIPT("var a = []; for (;;) a.push(new Uint8Array(1 << 20))") "<p>a", "<p>a</p>"},
    {SCRIPT("throw {toString: function () { throw 1 }}") "<p>a", "<p>a</p>"},
    {SCRIPT("this.document = null; Object.prototype.get = 1") SCRIPT("document.write(1)") "<p>a", "<p>a</p>"},
};

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

/* Checks that all ways give the same tree, and that its HTML contains the text. */
static void own_pages(void) {
  static buffer expected, dump, html;
  for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
    size_t length = strlen(pages[i].page);
    for (unsigned way = 0; way < WAYS; way++) {
      if (!CHECK(run(way, pages[i].page, length, way ? &dump : &expected))) break;
      bool same = !way || (dump.length == expected.length && !memcmp(dump.bytes, expected.bytes, dump.length));
      if (CHECK(same)) continue;
      printf("%s, way %u\n%.*s", pages[i].page, way, (int)dump.length, dump.bytes);
      break;
    }
    buffer_clear(&html);
    hpar_serialize_html(document, hpar_document_root(document), HPAR_HTML_SCRIPTING, append, &html);
    bool found = !pages[i].body || memmem(html.bytes, html.length, pages[i].body, strlen(pages[i].body));
    if (!CHECK(found)) printf("%s\ngot: %.*s\n", pages[i].page, (int)html.length, html.bytes);
  }
}

/* Endless writes end at each limit, with the same status and tree in every way. */
static void endless_writes(void) {
  static const char page[] = SCRIPT("for (;;) document.write('<div>a')") "b";
  static buffer expected, dump;
  static const hpar_options cases[] = {{.script.max_written = 5000}, {.limits.nodes = 500}, {.limits.depth = 50}};
  static const hpar_status statuses[] = {HPAR_LIMIT_INPUT, HPAR_LIMIT_NODES, HPAR_LIMIT_DEPTH};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (unsigned way = 0; way < WAYS; way++) {
      hpar_options options = cases[i];
      options.size = sizeof options;
      CHECK_EQ(run_with(way, &options, page, sizeof page - 1, NULL, NULL), statuses[i]);
      if (!CHECK(compare_dump(document, way ? &dump : &expected))) break;
      if (way) CHECK(dump.length == expected.length && !memcmp(dump.bytes, expected.bytes, dump.length));
    }
  }
}

/* The engine takes compiled scripts, and compiles others itself. */
static void compiled_ahead(void) {
  static const struct {
    const char *page;
    size_t ahead;
  } cases[] = {
      {"<p>a" SCRIPT("var a = 1") SCRIPT("document.write(++a)") SCRIPT("var b = (") SCRIPT("if (a != 2) fail()"), 3},
      {SCRIPT("document.write('<script>var x</' + 'script>')") SCRIPT("x"), 2},
      {"<script title='>'>var y;</script><!--" SCRIPT("z") "-->" SCRIPT("y = 1"), 1},
      {SCRIPT("a = 1;\r\nb = 2") "<textarea>" SCRIPT("a") "</textarea>" SCRIPT("a"), 1},
      {"<script>1</script", 0},
      {"<script", 0},
      {"", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static buffer dump;
    if (!CHECK(run(1, cases[i].page, strlen(cases[i].page), &dump))) continue;
    if (!CHECK(scripts_ahead == cases[i].ahead || (scripts_ahead < cases[i].ahead && scripts_ahead < scripts_run)))
      printf("%s: %zu scripts, %zu compiled ahead\n", cases[i].page, scripts_run, scripts_ahead);
  }
}

static int own(void) {
  compiled_ahead();
  own_pages();
  endless_writes();
  return check_report();
}

int main(int count, char **arguments) {
  if (!CHECK(hpar_parser_create(&parser) == HPAR_OK) || !CHECK(hpar_document_create(&document) == HPAR_OK)) return 1;
  prints_errors = getenv("HPAR_TEST_ERRORS");
  int status = check_part(count, arguments, "fixtures") ? fixtures() : own();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return status;
}
