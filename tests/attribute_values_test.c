/* Attribute values with character references. The parser defers the decoding of such a value until
 * the first access. A parse that lists its errors decodes at once, and is the reference here. */

#include "check.h"
#include "support/buffer.h"
#include "support/random.h"

#include "base/process.h"
#include "dom/value.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 4, MAX_VALUES = 1 << 16 };

static hpar_parser *parser;
static hpar_document *lazy, *eager;

/*** ways to parse ***/

typedef enum way { SEQUENTIAL, PARALLEL, TREE, PIPELINED, FED, FED_PARALLEL, COPIED, INSPECTED, WAYS } way;

static hpar_value_decoding decoding;

static hpar_status parse(way way, const char *fragment, const char *html, size_t length, hpar_document *into) {
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = {HPAR_OPTIONS_INIT, .value_decoding = decoding, .study = &study};
  options.fragment = fragment;
  options.mode = HPAR_MODE_SEQUENTIAL;
#if HPAR_PARALLEL
  if (way == PARALLEL || way == TREE || way == FED_PARALLEL || way == INSPECTED) options.mode = HPAR_MODE_PARALLEL;
  if (way == PIPELINED) study.driver = "pipelined";
  options.threads = 2;
  options.parallel.chunk_size = 256;
#endif
  if (way == TREE) study.merge = HPAR_MERGE_TREE;
  if (way == COPIED) options.copy_input = true;
  if (way == INSPECTED) study.inspect = true;
  if (way != FED && way != FED_PARALLEL) {
    if (way != COPIED) return hpar_parse(parser, &options, html, length, into, NULL);
    char *copy = malloc(length + 1);
    memcpy(copy, html, length);
    hpar_status status = hpar_parse(parser, &options, copy, length, into, NULL);
    memset(copy, '?', length);
    free(copy);
    return status;
  }
  hpar_status status = hpar_parser_begin(parser, &options, into);
  for (size_t at = 0; status == HPAR_OK && at < length; at += 97)
    status = hpar_parser_feed(parser, html + at, length - at < 97 ? length - at : 97);
  return status == HPAR_OK ? hpar_parser_finish(parser, NULL) : status;
}

static hpar_status parse_eagerly(const char *fragment, const char *html, size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.fragment = fragment;
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.max_errors = 1;
  return hpar_parse(parser, &options, html, length, eager, NULL);
}

/*** comparison ***/

static bool is_same(hpar_string a, hpar_string b) {
  return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

/* Returns the number of different attributes. The trees have equal walks. */
static size_t count_differences(const hpar_document *left, const hpar_document *right) {
  size_t differences = 0;
  hpar_node l = hpar_document_root(left), r = hpar_document_root(right);
  for (hpar_node top = l, end = r; l && r; l = hpar_node_walk(left, top, l), r = hpar_node_walk(right, end, r)) {
    size_t count = hpar_node_attribute_count(left, l);
    if (!is_same(hpar_node_name(left, l), hpar_node_name(right, r)) || count != hpar_node_attribute_count(right, r))
      return SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
      hpar_attribute a, b;
      hpar_node_attribute_at(left, l, i, &a);
      hpar_node_attribute_at(right, r, i, &b);
      differences += !is_same(a.local_name, b.local_name) || !is_same(a.value, b.value) || a.ns != b.ns;
    }
  }
  return l || r ? SIZE_MAX : differences;
}

static hpar_status write_to_buffer(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static void serialize(const hpar_document *document, buffer *to) {
  buffer_clear(to);
  CHECK_EQ(hpar_serialize_html(document, hpar_document_root(document), 0, write_to_buffer, to), HPAR_OK);
}

/* Parses in every way and compares the first reader's results with the reference. */
static void check_all_ways(const char *fragment, const char *html, size_t length) {
  CHECK_EQ(parse_eagerly(fragment, html, length), HPAR_OK);
  for (way way = 0; way < WAYS; way++) {
    if (!CHECK_EQ(parse(way, fragment, html, length, lazy), HPAR_OK)) continue;
    if (!CHECK_EQ(count_differences(lazy, eager), 0) || !CHECK_EQ(count_differences(lazy, eager), 0))
      printf("  way %d of %.*s\n", (int)way, (int)length, html);
  }
}

static hpar_string value_of_first(const hpar_document *document, const char *element, const char *name) {
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string is = hpar_node_name(document, node);
    if (is.length == strlen(element) && !memcmp(is.bytes, element, is.length))
      return hpar_node_attribute_value(document, node, name);
  }
  return (hpar_string){NULL, 0};
}

/*** single values ***/

static void single_values(void) {
  static const struct {
    const char *html, *expected;
  } cases[] = {
      {"<p x='&amp;'>", "&"},
      {"<p x=\"a&lt;b\">", "a<b"},
      {"<p x=a&lt;b>", "a<b"},
      {"<p x=&amp;&amp;>", "&&"},
      {"<p x=&amp;/>", "&/"},
      {"<p x='?a=1&b=2&copy=3&copy;=4'>", "?a=1&b=2&copy=3\xC2\xA9=4"},
      {"<p x='&ampx&amp=&amp x'>", "&ampx&amp=& x"},
      {"<p x='&'>", "&"},
      {"<p x='&&#&#x&#xg;&;&x;'>", "&&#&#x&#xg;&;&x;"},
      {"<p x='&#65;&#x41&#0;&#x110000;&#xD800;&#128;'>", "AA\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xE2\x82\xAC"},
      {"<p x='&nGt;&nLt;&nGt;'>", "\xE2\x89\xAB\xE2\x83\x92\xE2\x89\xAA\xE2\x83\x92\xE2\x89\xAB\xE2\x83\x92"},
      {"<p x=&nGt;>", "\xE2\x89\xAB\xE2\x83\x92"},
      {"<p x='&amp;\r\n&amp;\r'>", "&\n&\n"},
      {"<p x='a\r&amp;'>", "a\n&"},
      {"<p x='&amp;amp;'>", "&amp;"},
      {"<p x='&amp;' x='&lt;' y='&gt;'>", "&"},
      {"<p x='1' x='&lt;' y='&gt;'>", "1"},
      {"<p y='&gt;' x=&amp; x=&lt;>", "&"},
      {"<p x='\xC3\xA9&eacute;\xC3\xA9'>", "\xC3\xA9\xC3\xA9\xC3\xA9"},
      {"<p x='&notit;&notin;'>", "&notit;\xE2\x88\x89"},
      {"<p x='&CounterClockwiseContourIntegral;'>", "\xE2\x88\xB3"},
      {"<p x='0123456789012345678901234567890123456789012345678901234567890123456789&lt;'>",
       "0123456789012345678901234567890123456789012345678901234567890123456789<"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_all_ways(NULL, cases[i].html, strlen(cases[i].html));
    CHECK_EQ(parse(SEQUENTIAL, NULL, cases[i].html, strlen(cases[i].html), lazy), HPAR_OK);
    hpar_string first = value_of_first(lazy, "p", "x"), again = value_of_first(lazy, "p", "x");
    if (!CHECK_BYTES(first.bytes, first.length, cases[i].expected, strlen(cases[i].expected)))
      printf("  input: %s\n", cases[i].html);
    CHECK(first.bytes == again.bytes && first.length == again.length);
  }
  static const char nul[] = "<p x='&amp;\0&lt;'><p x=&amp;\0&lt;><p x=a\0&lt;><p x='a\0&lt;'>";
  check_all_ways(NULL, nul, sizeof nul - 1);
}

/* Each reference stands for at most the reserved number of bytes. */
static void growth(void) {
  buffer html = {0};
  buffer_text(&html, "<p x='");
  for (int i = 0; i < 2000; i++) buffer_text(&html, i % 2 ? "&nGt;" : "&nLt;");
  buffer_text(&html, "'>");
  for (int i = 0; i < 300; i++) buffer_text(&html, "<b y=&nGt; z='&nLt;'></b>");
  check_all_ways(NULL, html.bytes, html.length);
  CHECK_EQ(parse(SEQUENTIAL, NULL, html.bytes, html.length, lazy), HPAR_OK);
  CHECK_EQ(value_of_first(lazy, "p", "x").length, 12000);
  buffer_free(&html);
}

/* Elements whose values the tree builder reads, or which get attributes of later tags. */
static void read_by_the_builder(void) {
  static const char *const cases[] = {
      "<html a='&lt;'><body b='&gt;'><html a=x c='&amp;' d=&lt;><body b=y e='&amp;' f=&gt;>",
      "<table><input type='&#104;idden'><input type='hidde&#110'></table>",
      "<input type='&#104;idden'><frameset>",
      "<input type='hiddem&#110'><frameset>",
      "<math><annotation-xml encoding='text&#47;html'><p>x",
      "<math><annotation-xml encoding='text&#47;htmm'><p>x",
      "<svg xlink:href='&lt;' viewbox='&amp;'><a xlink:href='&amp;'><image href=&lt; /></svg>",
      "<select size='&#49;'><selectedcontent></selectedcontent><option a='&lt;'>x<b y='&amp;'>z</select>",
      "<select size='&#50;'><selectedcontent></selectedcontent><option a='&lt;'>x<b y='&amp;'>z</select>",
      "<meta charset='windows&#45;1252'><p x='\xE9&lt;'>",
      "<meta http-equiv='content&#45;type' content='text/html; charset&#61;windows-1252'><p x='\xE9&amp;'>",
      "<template><p x='&lt;'></template><p x='&gt;'>",
      "<image src='&amp;'><isindex prompt='&lt;'>",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_all_ways(NULL, cases[i], strlen(cases[i]));
    check_all_ways("td", cases[i], strlen(cases[i]));
    check_all_ways("svg path", cases[i], strlen(cases[i]));
  }
}

/* The bits of a block cover a part of the attributes. */
static void many_attributes(void) {
  buffer html = {0};
  for (int count = 30; count < 36; count++) {
    buffer_text(&html, "<p");
    for (int i = 0; i < count; i++) buffer_format(&html, " a%d='%d&amp;' a%d=&lt; b%d=%d&gt;", i, i, i, i, i);
    buffer_text(&html, ">");
  }
  buffer_text(&html, "<p");
  for (int i = 0; i < 3000; i++) buffer_format(&html, " c%d='&amp;%d'", i, i);
  buffer_text(&html, ">");
  check_all_ways(NULL, html.bytes, html.length);
  buffer_free(&html);
}

/*** the list of active formatting elements ***/

static size_t count_elements(const hpar_document *document, const char *name) {
  size_t count = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string is = hpar_node_name(document, node);
    count += is.length == strlen(name) && !memcmp(is.bytes, name, is.length);
  }
  return count;
}

/* Four equal elements leave three in the list, however their values are written. */
static void noahs_ark(void) {
  static const char *const spellings[] = {"'a&amp;b'", "'a&#38;b'", "a&b", "a&#x26;b", "'a&ampb'", "'a&amp;amp;b'"};
  static const bool equal[] = {true, true, true, true, false, false};
  for (unsigned last = 0; last < 6; last++) {
    for (unsigned others = 0; others <= 20; others += 5) {
      buffer html = {0};
      buffer_text(&html, "<p>");
      for (unsigned i = 0; i < others; i++) buffer_format(&html, "<b x='&lt;%u'>", i);
      for (unsigned i = 0; i < 3; i++) buffer_format(&html, "<b x=%s y=&lt;>", spellings[i]);
      buffer_format(&html, "<b y='&lt;' x=%s></p>z", spellings[last]);
      check_all_ways(NULL, html.bytes, html.length);
      CHECK_EQ(parse(SEQUENTIAL, NULL, html.bytes, html.length, lazy), HPAR_OK);
      CHECK_EQ(count_elements(lazy, "b"), 2 * (others + 4) - equal[last]);
      buffer_free(&html);
    }
  }
}

/* Values that share a long beginning, so that elements are equal or differ at the end. */
static void long_equal_values(void) {
  buffer html = {0};
  buffer_text(&html, "<p>");
  for (int i = 0; i < 40; i++) {
    buffer_text(&html, "<b x='");
    for (int j = 0; j < 50; j++) buffer_text(&html, (i * j) % 7 ? "&amp;long" : "&#38;long");
    buffer_format(&html, "%d'>", i % 9);
  }
  buffer_text(&html, "</p>x<p>y");
  check_all_ways(NULL, html.bytes, html.length);
  buffer_free(&html);
}

/*** generated documents ***/

static const char *const pieces[] = {
    "<p x='",
    "<a href=\"?a=1&b=2",
    "&amp;",
    "&lt",
    "&copy=",
    "'>",
    "\">",
    "<b class='",
    "<b class=&amp;>",
    " y=",
    " z='",
    "\r\n",
    "\r",
    "&",
    "&#",
    "&#x4",
    "&nGt;",
    "text",
    "</p>",
    "</b>",
    "</a>",
    "<table>",
    "<td a='",
    "</table>",
    "<svg b='",
    "</svg>",
    "<input type='",
    "<meta name='",
    " x=1 x='&gt;",
    "/",
    "=",
    "\"",
    ">",
    " ",
    "<!-- & -->",
    "<script>&</script>",
    "<body c='&lt;'>",
    "<html d=&amp;>",
    "\xC3\xA9",
    "&quot;",
    "&hellip;",
    "<i e='&#39;'>",
    "</i>",
    "<option f='&lt;'>",
    "<select>",
};

static void generated(void) {
  static const char *const fragments[] = {NULL, "div", "select", "svg path", "table"};
  random_state random = {14};
  const char *scale = getenv("HPAR_TEST_SCALE");
  int documents = 10 * (scale ? atoi(scale) : 20);
  buffer html = {0}, got = {0}, expected = {0};
  for (int i = 0; i < documents; i++) {
    buffer_clear(&html);
    for (size_t j = 20 + random_below(&random, 150); j; j--)
      buffer_text(&html, pieces[random_below(&random, sizeof pieces / sizeof *pieces)]);
    const char *fragment = fragments[random_below(&random, 5)];
    check_all_ways(fragment, html.bytes, html.length);
    CHECK_EQ(parse((way)random_below(&random, WAYS), fragment, html.bytes, html.length, lazy), HPAR_OK);
    serialize(lazy, &got);
    serialize(eager, &expected);
    CHECK_BYTES(got.bytes, got.length, expected.bytes, expected.length);
    decoding = HPAR_VALUES_AT_ONCE;
    CHECK_EQ(parse((way)random_below(&random, WAYS), fragment, html.bytes, html.length, lazy), HPAR_OK);
    decoding = HPAR_VALUES_ON_ACCESS;
    CHECK_EQ(count_differences(lazy, eager), 0);
  }
  buffer_free(&html);
  buffer_free(&got);
  buffer_free(&expected);
}

/*** memory ***/

/* Returns a page of `count` links. */
static void make_page(buffer *html, int count) {
  for (int i = 0; i < count; i++)
    buffer_format(html, "<a href='/%d?a=1&amp;b=2&amp;c=%d' title='&quot;%d&quot;' class=x&amp;y>%d</a>", i, i, i, i);
}

/* The memory of a document grows by the bytes of each value that changes, and only once. */
static void memory(void) {
  buffer html = {0};
  make_page(&html, 500);
  CHECK_EQ(parse_eagerly(NULL, html.bytes, html.length), HPAR_OK);
  for (way way = 0; way < WAYS; way++) {
    CHECK_EQ(parse(way, NULL, html.bytes, html.length, lazy), HPAR_OK);
    if (lazy->stragglers) hp_stragglers_wait(lazy->stragglers); /* they take memory */
    size_t before = hpar_document_memory(lazy), expected = before;
    CHECK_EQ(count_differences(eager, eager), 0);
    CHECK_EQ(hpar_document_memory(lazy), before);
    hpar_node root = hpar_document_root(lazy);
    for (hpar_node node = root; node; node = hpar_node_walk(lazy, root, node)) {
      for (size_t i = 0; i < hpar_node_attribute_count(lazy, node); i++) {
        hpar_attribute attribute;
        hpar_node_attribute_at(lazy, node, i, &attribute);
        expected += attribute.value.length;
        CHECK_EQ(hpar_document_memory(lazy), expected);
      }
    }
    CHECK_EQ(count_differences(lazy, eager), 0);
    CHECK_EQ(hpar_document_memory(lazy), expected);
    if (way == SEQUENTIAL) CHECK(expected <= hpar_document_memory(eager));
  }
  buffer_free(&html);
}

/* Returns the number of elements with deferred values. */
static size_t count_deferred(const hpar_document *document) {
  size_t count = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    if (!hpar_node_attribute_count(document, node)) continue;
    const hp_attributes *block = hp_at(document->range.base, hp_node_at(document->range.base, node)->attributes);
    for (uint32_t i = 0; i < block->count; i++) count += hp_is_deferred(block, i);
  }
  return count;
}

/* With HPAR_VALUES_AT_ONCE, no value is deferred. */
static void at_once(void) {
  buffer html = {0};
  make_page(&html, 500);
  CHECK_EQ(parse_eagerly(NULL, html.bytes, html.length), HPAR_OK);
  for (way way = 0; way < WAYS; way++) {
    CHECK_EQ(parse(way, NULL, html.bytes, html.length, lazy), HPAR_OK);
    CHECK_EQ(count_deferred(lazy), 1500);
    decoding = HPAR_VALUES_AT_ONCE;
    CHECK_EQ(parse(way, NULL, html.bytes, html.length, lazy), HPAR_OK);
    decoding = HPAR_VALUES_ON_ACCESS;
    CHECK_EQ(count_deferred(lazy), 0);
    CHECK_EQ(lazy->deferred_bytes, 0);
    CHECK_EQ(count_differences(lazy, eager), 0);
  }
  buffer_free(&html);
}

/* A limit of memory has the same effect as in a parse that decodes at once. */
static void limited_memory(void) {
  buffer html = {0};
  make_page(&html, 300);
  for (uint64_t limit = 4096; limit < 200000; limit += 4096) {
    hpar_options options = {HPAR_OPTIONS_INIT};
    options.limits.memory = limit;
    hpar_status status = hpar_parse(parser, &options, html.bytes, html.length, lazy, NULL);
    size_t bytes = hpar_document_memory(lazy);
    CHECK(bytes <= limit);
    options.max_errors = 1;
    CHECK_EQ(hpar_parse(parser, &options, html.bytes, html.length, eager, NULL), status);
    CHECK_EQ(count_differences(lazy, eager), 0);
    CHECK_EQ(hpar_document_memory(lazy), bytes);
  }
  buffer_free(&html);
}

/* A limit that ends the parse leaves a tree with readable values. */
static void limited_tree(void) {
  buffer html = {0};
  make_page(&html, 300);
  for (uint64_t nodes = 1; nodes < 700; nodes += 37) {
    hpar_options options = {HPAR_OPTIONS_INIT};
    options.limits.nodes = nodes;
    hpar_status status = hpar_parse(parser, &options, html.bytes, html.length, lazy, NULL);
    options.max_errors = 1;
    CHECK_EQ(hpar_parse(parser, &options, html.bytes, html.length, eager, NULL), status);
    CHECK_EQ(count_differences(lazy, eager), 0);
  }
  for (uint64_t ns = 1; ns < 1000000; ns *= 3) {
    hpar_options options = {HPAR_OPTIONS_INIT};
#if HPAR_PARALLEL
    options.mode = HPAR_MODE_PARALLEL;
    options.threads = 2;
    options.parallel.chunk_size = 1024;
#endif
    options.limits.time_ns = ns;
    hpar_status status = hpar_parse(parser, &options, html.bytes, html.length, lazy, NULL);
    CHECK(status == HPAR_OK || status == HPAR_LIMIT_TIME);
    CHECK_EQ(count_differences(lazy, lazy), 0);
  }
  buffer_free(&html);
}

/*** threads ***/

typedef struct reader {
  pthread_t thread;
  pthread_barrier_t *start;
  unsigned index;
  hpar_string *values;
  size_t count;
} reader;

/* Reads all values, each thread from another element on. */
static void *read_values(void *argument) {
  reader *r = argument;
  static hpar_node nodes[THREADS][MAX_VALUES];
  size_t count = 0;
  hpar_node root = hpar_document_root(lazy);
  pthread_barrier_wait(r->start);
  for (hpar_node node = root; node; node = hpar_node_walk(lazy, root, node)) nodes[r->index][count++] = node;
  for (size_t i = 0; i < count; i++) {
    size_t place = r->index & 1 ? count - 1 - i : (i + count / THREADS * r->index) % count;
    hpar_node node = nodes[r->index][place];
    for (size_t j = 0; j < hpar_node_attribute_count(lazy, node); j++) {
      hpar_attribute attribute;
      hpar_node_attribute_at(lazy, node, j, &attribute);
      r->values[place * 4 + j] = attribute.value;
      r->count += attribute.value.length;
    }
    if (!(i % 50)) r->count += hpar_document_memory(lazy) == 0;
  }
  return NULL;
}

/* All threads get the same bytes at the same place. */
static void threads(void) {
  buffer html = {0};
  make_page(&html, 1000);
  static hpar_string values[THREADS][MAX_VALUES];
  for (int round = 0; round < 5; round++) {
    CHECK_EQ(parse((way)(round % WAYS), NULL, html.bytes, html.length, lazy), HPAR_OK);
    memset(values, 0, sizeof values);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    reader readers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
      readers[i] = (reader){.start = &start, .index = i, .values = values[i]};
      pthread_create(&readers[i].thread, NULL, read_values, &readers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(readers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (unsigned i = 1; i < THREADS; i++) {
      CHECK_EQ(readers[i].count, readers[0].count);
      CHECK(!memcmp(values[i], values[0], sizeof values[0]));
    }
    CHECK_EQ(parse_eagerly(NULL, html.bytes, html.length), HPAR_OK);
    CHECK_EQ(count_differences(lazy, eager), 0);
  }
  buffer_free(&html);
}

/* After a fork, the lock belongs to a thread that the child process lacks. */
static void lost_reader(void) {
  static const char html[] = "<p x='&lt;1' y='&gt;2'>";
  for (int step = 0; step < 3; step++) {
    CHECK_EQ(parse(SEQUENTIAL, NULL, html, sizeof html - 1, lazy), HPAR_OK);
    size_t before = hpar_document_memory(lazy);
    hpar_node root = hpar_document_root(lazy), p = root;
    while (hpar_node_attribute_count(lazy, p) == 0) p = hpar_node_walk(lazy, root, p);
    hp_attributes *block = hp_at(lazy->range.base, hp_node_at(lazy->range.base, p)->attributes);
    hp_value_lock *lock = &lazy->values;
    atomic_store(&lock->holder, hp_fork_generation() + 2);
    lock->index = 1;
    lock->item = block->items[1];
    lock->spare = atomic_load(&lazy->range.spare);
    if (step > 0) {
      atomic_store(&lock->block, block);
      atomic_fetch_add(&lazy->range.spare, 2);
      block->items[1].value = "?";
      block->items[1].length = step == 1 ? 1 : 5;
    }
    hpar_string first = hpar_node_attribute_value(lazy, p, "x");
    CHECK_BYTES(first.bytes, first.length, "<1", 2);
    hpar_string second = hpar_node_attribute_value(lazy, p, "y");
    CHECK_BYTES(second.bytes, second.length, ">2", 2);
    CHECK_EQ(hpar_document_memory(lazy), before + 4);
    CHECK_EQ(atomic_load(&lock->holder), 0);
  }
}

int main(void) {
  if (hpar_parser_create(&parser) != HPAR_OK || hpar_document_create(&lazy) != HPAR_OK ||
      hpar_document_create(&eager) != HPAR_OK)
    return 1;
  single_values();
  growth();
  read_by_the_builder();
  many_attributes();
  noahs_ark();
  long_equal_values();
  memory();
  at_once();
  limited_memory();
  limited_tree();
  generated();
  threads();
  lost_reader();
  hpar_document_destroy(lazy);
  hpar_document_destroy(eager);
  hpar_parser_destroy(parser);
  return check_report();
}
