/* The counts of the pages of a crawl. Links are counted without a resolution of most URLs; the test
 * compares with hpar_links, which resolves all. */

#include "check.h"

#include "base/memory.h"
#include "programs/crawl/map_internal.h"
#include "support/buffer.h"
#include "support/random.h"

#include <string.h>

typedef struct expectation {
  hp_tally tally;
  hpar_parser *parser;
  hpar_document *document;
  hpar_string host; /* of the page */
} expectation;

static hpar_status expect_link(const hpar_link *link, void *context) {
  expectation *e = context;
  hpar_string element = hpar_node_name(e->document, link->element), host;
  char key[200];
  snprintf(key, sizeof key, "%.*s %.*s", (int)element.length, element.bytes, (int)link->attribute.length,
           link->attribute.bytes);
  hp_tally_add_text(&e->tally, HP_LINK_ATTRIBUTES, key, 1);
  hp_tally_add_text(&e->tally, HP_COUNTERS, "links", 1);
  if (!link->url.bytes) return hp_tally_add_text(&e->tally, HP_COUNTERS, "links_invalid", 1) ? HPAR_OK : HPAR_STOP;
  const char *colon = memchr(link->url.bytes, ':', link->url.length);
  hp_tally_add(&e->tally, HP_LINK_SCHEMES, link->url.bytes, (size_t)(colon - link->url.bytes), 1);
  if (!hp_map_host(link->url, &host)) return HPAR_OK;
  bool same = host.length == e->host.length && !memcmp(host.bytes, e->host.bytes, host.length);
  hp_tally_add_text(&e->tally, HP_COUNTERS, same ? "links_to_same_host" : "links_to_other_hosts", 1);
  return same || hp_tally_add(&e->tally, HP_LINK_HOSTS, host.bytes, host.length, 1) ? HPAR_OK : HPAR_STOP;
}

static void expect_page(expectation *e, const buffer *page, const char *url) {
  CHECK_EQ(hpar_parse(e->parser, NULL, page->bytes, page->length, e->document, NULL), HPAR_OK);
  e->host = (hpar_string){"", 0};
  hp_map_host((hpar_string){url, strlen(url)}, &e->host);
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = *url ? url : NULL};
  hpar_node root = hpar_document_root(e->document);
  if (hpar_links(e->document, root, &options, expect_link, e) == HPAR_ERROR_ARGUMENT) {
    options.document_url = NULL;
    CHECK_EQ(hpar_links(e->document, root, &options, expect_link, e), HPAR_OK);
  }
}

static hp_map *open_map(unsigned profiles, hp_tally *tally) {
  hp_map_options options = {.profiles = profiles, .memory = 1 << 30, .sample_of = 1};
  hp_map *map = NULL;
  CHECK_EQ(hp_map_create(&map, &options, tally), HPAR_OK);
  return map;
}

static void map_page(hp_map *map, const buffer *page, const char *url) {
  hp_warc_record record = {.type = {"resource", 8},
                           .content_type = {"text/html", 9},
                           .uri = {url, strlen(url)},
                           .block = {page->bytes, page->length}};
  CHECK_EQ(hp_map_record(map, &record), HPAR_OK);
}

static void check_family(const hp_tally *got, const hp_tally *expected, hp_family family) {
  const hp_tally_entry **entries = hp_tally_sorted(expected, family, false);
  uint32_t count = expected->tables[family].count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t other = hp_tally_count(got, family, entries[i]->key);
    if (!CHECK_EQ(other, entries[i]->count)) printf("  %s '%s'\n", hp_family_name(family), entries[i]->key);
  }
  if (family != HP_COUNTERS) CHECK_EQ(got->tables[family].count, count);
  hp_free(entries);
}

/* Writes a URL of pieces that have a meaning in URLs. */
static void add_url(buffer *to, random_state *random) {
  static const char *const pieces[] = {"http",
                                       "https",
                                       "http:",
                                       "https://",
                                       "http://",
                                       "//",
                                       "/",
                                       "\\",
                                       ":",
                                       "ftp://",
                                       "file:///",
                                       "data:",
                                       "a.com",
                                       "A.com",
                                       "b.a.uk",
                                       "1.2",
                                       "0x7f",
                                       "x..y",
                                       "xn--80",
                                       "[::1]",
                                       "[",
                                       "user@",
                                       ":80",
                                       ":8080",
                                       ":x",
                                       " ",
                                       "\t",
                                       "\n",
                                       "?",
                                       "#",
                                       "%41",
                                       "&amp;",
                                       "&#x2f;",
                                       ".",
                                       "..",
                                       "../",
                                       "path",
                                       "é",
                                       "<",
                                       "|",
                                       "^",
                                       "a",
                                       "-",
                                       "+",
                                       "javascript:",
                                       "mailto:",
                                       "a.com/",
                                       "//a.com",
                                       "https://a.com/",
                                       "http://b.a.uk/p?q#f",
                                       "/a/b",
                                       "a/b",
                                       "host-with-a-very-long-name.example.with.many.labels.org/"};
  for (uint64_t i = random_below(random, 5); i != UINT64_MAX; i--)
    buffer_text(to, pieces[random_below(random, sizeof pieces / sizeof *pieces)]);
}

static void test_links(void) {
  static const char *const tags[] = {"<a href=\"%s\">",
                                     "<img src=\"%s\">",
                                     "<area href=\"%s\">",
                                     "<link href=\"%s\">",
                                     "<img srcset=\"%s 1x\">",
                                     "<a ping=\"%s a\">",
                                     "<button formaction=\"%s\">",
                                     "<video poster=\"%s\">",
                                     "<svg><a xlink:href=\"%s\"></a><unknown href=\"%s\" /></svg>",
                                     "<iframe longdesc=\"%s\"></iframe>"};
  static const char *const urls[] = {"http://a.com/", "https://b.a.uk/x/y?z", "",
                                     "nonsense",      "file:///etc",          "ftp://a.com/folder/",
                                     "data:x",        "http://1.2/",          "https://A.com:443/"};
  random_state random = {5};
  expectation e = {.host = {"", 0}};
  hp_tally tally = {0};
  hp_map *map = open_map(HP_PROFILE_LINKS, &tally);
  CHECK(!hpar_parser_create(&e.parser) && !hpar_document_create(&e.document));
  buffer page = {0}, url = {0};
  for (int i = 0; i < 300; i++) {
    const char *page_url = urls[random_below(&random, sizeof urls / sizeof *urls)];
    buffer_clear(&page);
    if (!random_below(&random, 4)) {
      buffer_clear(&url);
      add_url(&url, &random);
      buffer_byte(&url, 0);
      buffer_format(&page, "<base href=\"%s\">", url.bytes);
    }
    for (int k = 0; k < 60; k++) {
      buffer_clear(&url);
      add_url(&url, &random);
      buffer_byte(&url, 0);
      const char *tag = tags[random_below(&random, sizeof tags / sizeof *tags)];
      for (const char *at = tag; *at; at++) {
        bool place = at[0] == '%' && at[1] == 's';
        if (place)
          buffer_text(&page, url.bytes);
        else
          buffer_byte(&page, *at);
        at += place;
      }
    }
    expect_page(&e, &page, page_url);
    map_page(map, &page, page_url);
  }
  CHECK_EQ(hp_map_finish(map), HPAR_OK);
  check_family(&tally, &e.tally, HP_LINK_ATTRIBUTES);
  check_family(&tally, &e.tally, HP_LINK_SCHEMES);
  check_family(&tally, &e.tally, HP_LINK_HOSTS);
  check_family(&tally, &e.tally, HP_COUNTERS);
  CHECK(hp_tally_count(&tally, HP_COUNTERS, "links_invalid") > 100);
  hp_map_destroy(map);
  hp_tally_free(&tally);
  hp_tally_free(&e.tally);
  hpar_document_destroy(e.document);
  hpar_parser_destroy(e.parser);
  buffer_free(&page);
  buffer_free(&url);
}

static void test_names(void) {
  static const char html[] = "<title>ab</title><p class=a data-x=1>cd<script>efg</script><x-y data-x=2>h</x-y><p>&lt;"
                             "<svg viewBox=0 xlink:href=a><style>no</style><desc>ij</desc></svg><template>k</template>";
  buffer page = {(char *)(uintptr_t)html, sizeof html - 1, 0};
  hp_tally tally = {0};
  hp_map *map = open_map(HP_PROFILE_SIZES | HP_PROFILE_ELEMENTS | HP_PROFILE_TEXT, &tally);
  for (int i = 0; i < 3; i++) map_page(map, &page, "http://a.com/");
  CHECK_EQ(hp_map_finish(map), HPAR_OK);
  CHECK_EQ(hp_tally_count(&tally, HP_ELEMENTS, "p"), 6);
  CHECK_EQ(hp_tally_count(&tally, HP_ELEMENT_PAGES, "p"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_ELEMENTS, "x-y"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_ELEMENT_PAGES, "x-y"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_ATTRIBUTES, "data-x"), 6);
  CHECK_EQ(hp_tally_count(&tally, HP_ATTRIBUTES, "viewBox"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_ATTRIBUTES, "href"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_COUNTERS, "text_bytes"), 3 * strlen("cdh<ij"));
  CHECK_EQ(hp_tally_count(&tally, HP_COUNTERS, "attributes"), 3 * 5);
  CHECK_EQ(hp_tally_count(&tally, HP_TEXT_BYTES, "6"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_SIZE_DEPTH, "5"), 3);
  CHECK_EQ(hp_tally_count(&tally, HP_ELEMENTS, "svg"), 3);
  hp_map_destroy(map);
  hp_tally_free(&tally);
}

/* A page with more names than the tally keeps: the order of the names has no effect. */
static void test_many_names(void) {
  hp_tally tallies[2] = {{.tables = {{0}}}};
  for (int way = 0; way < 2; way++) {
    hp_map *map = open_map(HP_PROFILE_ELEMENTS, &tallies[way]);
    buffer page = {0};
    for (int part = 0; part < 3; part++) {
      buffer_clear(&page);
      for (int i = 0; i < 5000; i++) {
        int number = way ? 4999 - i : i;
        buffer_format(&page, "<x%d-%d></x%d-%d>", number, number % 2 ? part : 9, number, number % 2 ? part : 9);
        if (number % 3 == 0) buffer_format(&page, "<x%d-%d></x%d-%d>", number, part, number, part);
      }
      map_page(map, &page, "http://a.com/");
    }
    CHECK_EQ(hp_map_finish(map), HPAR_OK);
    CHECK(hp_tally_limit(&tallies[way]) && tallies[way].tables[HP_ELEMENTS].count <= HP_TALLY_KEYS);
    buffer_free(&page);
    hp_map_destroy(map);
  }
  check_family(&tallies[0], &tallies[1], HP_ELEMENTS);
  check_family(&tallies[0], &tallies[1], HP_ELEMENT_PAGES);
  CHECK(tallies[0].tables[HP_ELEMENTS].error > 0);
  CHECK_EQ(tallies[0].tables[HP_ELEMENTS].error, tallies[1].tables[HP_ELEMENTS].error);
  hp_tally_free(&tallies[0]);
  hp_tally_free(&tallies[1]);
}

int main(void) {
  test_links();
  test_names();
  test_many_names();
  return check_report();
}
