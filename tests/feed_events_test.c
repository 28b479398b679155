/* Checks that the resource events of a fed parse have the offsets of the whole parse, in every
 * encoding: short documents in every two pieces, longer ones in random pieces, with limits, on one
 * thread and on several. An offset is that of a "<" in the input, or
 * of the escape sequence of ISO-2022-JP before it.
 *
 *   HPAR_TEST_SCALE=P   percent of the documents (100) */

#include "check.h"
#include "support/random.h"
#include "support/resource_events.h"

#include <hpar/study.h>
#include <stdlib.h>

static hpar_parser *parser, *whole_parser;
static hpar_document *document;
static unsigned restarts, found, limited;

/*** documents ***/

typedef struct coding {
  const char *label;
  const char *const *texts; /* valid and invalid sequences, ending with NULL */
} coding;

static const char *const single_bytes[] = {"\x80", "\xA1", "\xE4\xF6", "\xFF", "\x98\xD2\xDB", NULL};
static const char *const utf8[] = {"\xC3\xA4",
                                   "\xE2\x82\xAC",
                                   "\xF0\x9F\x98\x80",
                                   "\xFF",
                                   "\xFF\xFF\xFF",
                                   "\xE2\x82",
                                   "\xE2\x82\xE2\x82",
                                   "\xF0\x9F\x98",
                                   "\xC3",
                                   "\xEF\xBB\xBF",
                                   "\xEF\xBF\xBD",
                                   "\xF0\x90\x8D\xF0\x90\x8D",
                                   "\x80\xE1\x80\xFE",
                                   "\xED\xA0\x80\xC0",
                                   NULL};
static const char *const gb18030[] = {
    "\xC4\xE3\xBA\xC3", "\x81\x30\x81\x30", "\x90\x30\x81\x30", "\x81\x30", "\x81\x30\x81", "\x81", "\x80", "\xFF",
    "\xFE\x39\xFE\x39", "\xA1\xA1\x81\x7F", "\x84\x31\xA4\x37", NULL};
static const char *const big5[] = {
    "\xA7\x41\xA6\x6E", "\x88\x62", "\x88\xA5\x88\x66", "\xA7", "\xFF", "\x87\x40", "\x81", NULL};
static const char *const euc_jp[] = {"\xA4\xB3\xA4\xF3", "\x8E\xB1", "\x8F\xB0\xA1", "\x8F\xB0", "\x8F", "\xA4",
                                     "\xFF\x80",         NULL};
static const char *const shift_jis[] = {"\x83\x65\x83\x58", "\xB1\xB2", "\x82\xA0", "\x82", "\x80", "\xFF",
                                        "\x81\x20",         NULL};
static const char *const euc_kr[] = {"\xB0\xA1\xB0\xA2", "\xB0", "\x81\x41", "\xC7\xFE", "\xFF", "\x80",
                                     "\xB0\x20",         NULL};
static const char *const iso_2022_jp[] = {"\x1B$B$3$s\x1B(B", "\x1B(J\\~\x1B(B", "\x1B(I12\x1B(B", "\x1B$B$\x1B(B",
                                          "\x1B$@$3",         "\x1B(B",          "\x1B",           "\x1B$",
                                          "\x80\xFF",         "\x1B(J",          "\x1B$B$3$",      NULL};
/* A code unit each; the lone ones become U+FFFD. */
static const uint16_t units[] = {0xE4, 0x20AC, 0xD83D, 0xDE00, 0xDC00, 0xFEFF, 0x3C3C, 0x0A0D, 0xFFFD};

static const coding codings[] = {
    {"utf-8", utf8},
    {NULL, utf8}, /* windows-1252, as no declaration says anything else */
    {"utf-16le", NULL},
    {"utf-16be", NULL},
    {"iso-2022-jp", iso_2022_jp},
    {"gb18030", gb18030},
    {"gbk", gb18030},
    {"big5", big5},
    {"euc-jp", euc_jp},
    {"shift_jis", shift_jis},
    {"euc-kr", euc_kr},
    {"x-user-defined", single_bytes},
    {"ibm866", single_bytes},
    {"iso-8859-2", single_bytes},
    {"iso-8859-3", single_bytes},
    {"iso-8859-4", single_bytes},
    {"iso-8859-5", single_bytes},
    {"iso-8859-6", single_bytes},
    {"iso-8859-7", single_bytes},
    {"iso-8859-8", single_bytes},
    {"iso-8859-8-i", single_bytes},
    {"iso-8859-10", single_bytes},
    {"iso-8859-13", single_bytes},
    {"iso-8859-14", single_bytes},
    {"iso-8859-15", single_bytes},
    {"iso-8859-16", single_bytes},
    {"koi8-r", single_bytes},
    {"koi8-u", single_bytes},
    {"macintosh", single_bytes},
    {"windows-874", single_bytes},
    {"windows-1250", single_bytes},
    {"windows-1251", single_bytes},
    {"windows-1252", single_bytes},
    {"windows-1253", single_bytes},
    {"windows-1254", single_bytes},
    {"windows-1255", single_bytes},
    {"windows-1256", single_bytes},
    {"windows-1257", single_bytes},
    {"windows-1258", single_bytes},
    {"x-mac-cyrillic", single_bytes},
    {"replacement", single_bytes},
};

static bool is_utf16(const coding *of) { return of->label && !strncmp(of->label, "utf-16", 6); }
static bool is_big(const coding *of) { return !strcmp(of->label, "utf-16be"); }

static void put_unit(buffer *to, const coding *of, uint16_t unit) {
  buffer_byte(to, (char)(is_big(of) ? unit >> 8 : unit));
  buffer_byte(to, (char)(is_big(of) ? unit : unit >> 8));
}

/* Appends ASCII. */
static void put(buffer *to, const coding *of, const char *text) {
  if (!is_utf16(of)) buffer_text(to, text);
  for (; is_utf16(of) && *text; text++) put_unit(to, of, (unsigned char)*text);
}

static void put_other(buffer *to, const coding *of, random_state *random) {
  if (is_utf16(of)) {
    for (size_t n = 1 + random_below(random, 3); n; n--) put_unit(to, of, RANDOM_OF(random, units));
    return;
  }
  size_t count = 0;
  while (of->texts[count]) count++;
  for (size_t n = 1 + random_below(random, random_chance(random, 10) ? 30 : 3); n; n--)
    buffer_text(to, of->texts[random_below(random, count)]);
}

static const char *const tags[] = {
    "<img src=%u>",
    "<img src=%u>",
    "<script src=%u></script>",
    "<p>",
    "<link rel=stylesheet href=%u>",
    "<picture><source srcset=%u><img src=%u></picture>",
    "<style>@import '%u';</style>",
    "<table><td>",
    "</table>",
    "<input type=image src=%u>",
    "<textarea>",
    "</textarea>",
    "<img class=a src=%u>",
    "<template>",
    "</template>",
    "<!--",
    "-->",
    "<svg><image href=%u /></svg>",
};

/* Appends a tag. The numbers differ from document to document. */
static void put_tag(buffer *to, const coding *of, random_state *random, unsigned number) {
  char tag[128];
  size_t length = 0;
  for (const char *at = RANDOM_OF(random, tags); *at && length < sizeof tag - 12; at++) {
    if (*at == '%')
      length += (size_t)snprintf(tag + length, 12, "%u", number), at++;
    else
      tag[length++] = *at;
  }
  tag[length] = 0;
  put(to, of, tag);
}

static void generate(buffer *html, const coding *of, size_t bytes, random_state *random) {
  buffer_clear(html);
  if (random_chance(random, 20)) {
    if (is_utf16(of)) put_unit(html, of, 0xFEFF);
    if (of->texts == utf8) buffer_text(html, "\xEF\xBB\xBF");
  }
  for (unsigned number = 0; html->length < bytes; number++) {
    if (random_chance(random, 70)) put_other(html, of, random);
    if (random_chance(random, 20)) put(html, of, "text of ASCII & ");
    if (of->texts == iso_2022_jp && random_chance(random, 80)) put(html, of, "\x1B(B");
    put_tag(html, of, random, number);
  }
  if (random_chance(random, 50)) put_other(html, of, random);
  if (is_utf16(of) && random_chance(random, 10)) buffer_byte(html, '<');
}

/*** events ***/

/* Returns true if a tag may begin at the offset. */
static bool is_tag(const buffer *html, const coding *of, uint64_t offset) {
  size_t place = (size_t)offset + (is_utf16(of) && is_big(of));
  if (place >= html->length) return false;
  if (html->bytes[place] == '<' || of->texts != iso_2022_jp) return html->bytes[place] == '<';
  return html->bytes[place] == 0x1B || (place && html->bytes[place - 1] == 0x1B);
}

typedef struct events {
  resource_events list;
  const buffer *html;
  const coding *of;
  unsigned misplaced; /* events whose offset is not that of a tag */
} events;

static void receive(const hpar_resource *r, hpar_resource_event event, void *context) {
  events *e = context;
  resource_events_receive(r, event, &e->list);
  pthread_mutex_lock(&e->list.lock);
  e->misplaced += !is_tag(e->html, e->of, r->offset);
  pthread_mutex_unlock(&e->list.lock);
}

static hpar_options options_of(events *e, bool parallel) {
  return (hpar_options){HPAR_OPTIONS_INIT, .mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL, .threads = 3,
                        .encoding = e->of->label, .resources = {.callback = receive, .context = e}};
}

static void check(events *e, const buffer *expected, const hpar_options *options, const char *how, size_t number) {
  const char *problem = e->misplaced ? "an offset is not that of a tag" : resource_events_problem(&e->list, expected);
  restarts += e->list.confirmations > e->list.closed.count;
  found += e->list.found;
  e->misplaced = 0;
  if (CHECK(!problem) || check_failed > 5) return;
  buffer text = {0};
  buffer_escaped(&text, e->html->bytes, e->html->length < 3000 ? e->html->length : 3000);
  printf("  %s, %s, %s %zu: %s: \"%s\"\n", e->of->label ? e->of->label : "undeclared",
         options->mode == HPAR_MODE_PARALLEL ? "parallel" : "sequential", how, number, problem, text.bytes);
  if (e->html->length < 3000)
    printf("got\n%.*sexpected\n%.*s", (int)e->list.confirmed.length, e->list.confirmed.bytes, (int)expected->length,
           expected->bytes);
  buffer_free(&text);
}

/* Fills `expected` from a whole parse. Returns its status. */
static hpar_status expect(events *e, const hpar_options *options, buffer *expected) {
  hpar_options own = *options;
  own.mode = HPAR_MODE_SEQUENTIAL;
  resource_events_reset(&e->list);
  hpar_status status = hpar_parse(whole_parser, &own, e->html->bytes, e->html->length, document, NULL);
  buffer_clear(expected);
  buffer_add(expected, e->list.confirmed.bytes, e->list.confirmed.length);
  check(e, expected, &own, "whole", 0);
  return status;
}

static bool is_limit(hpar_status status) { return status >= HPAR_LIMIT_DEPTH; }

/* Feeds the pieces that end at the places, and the rest. The bytes of a piece are gone after its
 * feed. */
static void feed(events *e, const hpar_options *options, hpar_status status, const size_t *places, size_t count) {
  const buffer *html = e->html;
  resource_events_reset(&e->list);
  if (!CHECK_EQ(hpar_parser_begin(parser, options, document), HPAR_OK)) return;
  hpar_status fed = HPAR_OK;
  for (size_t i = 0, from = 0; i <= count && (fed == HPAR_OK || is_limit(fed)); i++) {
    size_t to = i < count ? places[i] : html->length;
    char *piece = malloc(to - from + 1);
    if (!piece) abort();
    if (to > from) memcpy(piece, html->bytes + from, to - from);
    fed = hpar_parser_feed(parser, piece, to - from);
    free(piece);
    from = to;
  }
  CHECK_EQ(hpar_parser_finish(parser, NULL), status);
}

/*** the divisions of a document ***/

static void every_cut(events *e, hpar_options options, hpar_status status, const buffer *expected) {
  for (size_t cut = 0; cut <= e->html->length; cut++) {
    options.resources.in_order = e->list.in_order = cut % 2;
    feed(e, &options, status, &cut, 1);
    check(e, expected, &options, "cut at", cut);
  }
  e->list.in_order = false;
}

static void random_pieces(events *e, hpar_options options, hpar_status status, const buffer *expected,
                          random_state *random) {
  enum { MOST = 5000 };
  static size_t places[MOST];
  size_t count = 0, length = e->html->length, most = 1 + random_below(random, random_chance(random, 50) ? 20 : length);
  for (size_t at = 0; count < MOST && (at += 1 + random_below(random, most)) < length;) places[count++] = at;
  options.resources.in_order = e->list.in_order = random_chance(random, 50);
  feed(e, &options, status, places, count);
  check(e, expected, &options, "random pieces of up to", most);
  e->list.in_order = false;
}

static hpar_options in_parallel(events *e, const hpar_options *sequential, size_t chunk) {
  hpar_options options = options_of(e, true);
  options.limits = sequential->limits;
  options.max_errors = sequential->max_errors;
  options.source_offsets = sequential->source_offsets;
  options.encoding = sequential->encoding;
  options.parallel.chunk_size = chunk;
  return options;
}

static void set_limit(hpar_options *options, size_t length, random_state *random) {
  switch (random_below(random, 5)) {
    case 0: options->limits.nodes = 2 + random_below(random, length / 20 + 2); break;
    case 1: options->limits.depth = 2 + random_below(random, 6); break;
    case 2: options->limits.input = 1 + random_below(random, length); break;
    case 3: options->limits.memory = 2000 + random_below(random, length * 10); break;
    default: options->limits.attributes = 1;
  }
}

static void short_document(events *e, const hpar_options *options, random_state *random) {
  buffer expected = {0};
  hpar_status status = expect(e, options, &expected);
  limited += is_limit(status);
  if (CHECK_ONE_THREAD) every_cut(e, *options, status, &expected);
  if (HPAR_PARALLEL) {
    hpar_options parallel = in_parallel(e, options, 20);
    parallel.parallel.executor = HPAR_EXECUTOR_INLINE;
    if (CHECK_ONE_THREAD) every_cut(e, parallel, status, &expected);
    parallel.parallel.executor = HPAR_EXECUTOR_THREADS;
    for (int i = 0; i < 10; i++) random_pieces(e, parallel, status, &expected, random);
  }
  for (int i = 0; i < 10; i++) random_pieces(e, *options, status, &expected, random);
  buffer_free(&expected);
}

static void long_document(events *e, const hpar_options *options, random_state *random) {
  buffer expected = {0};
  hpar_status status = expect(e, options, &expected);
  limited += is_limit(status);
  for (int i = 0; i < 3; i++) {
    random_pieces(e, *options, status, &expected, random);
    if (!HPAR_PARALLEL) continue;
    hpar_options parallel = in_parallel(e, options, 1 + random_below(random, 1000));
    random_pieces(e, parallel, status, &expected, random);
    random_pieces(e, parallel, status, &expected, random);
  }
  buffer_free(&expected);
}

/* A document that declares the encoding where the prescan does not look. */
static void late_declaration(events *e, random_state *random) {
  buffer html = {0}, rest = {0};
  if (!e->of->label || is_utf16(e->of)) return;
  while (html.length < 1100) put_tag(&html, e->of, random, (unsigned)html.length);
  buffer_format(&html, "--></textarea></template></table><meta charset=%s>", e->of->label);
  generate(&rest, e->of, 1500, random);
  buffer_add(&html, rest.bytes, rest.length);
  e->html = &html;
  hpar_options options = options_of(e, false);
  options.encoding = NULL;
  long_document(e, &options, random);
  buffer_free(&html);
  buffer_free(&rest);
}

static void check_coding(events *e, unsigned scale, random_state *random) {
  buffer html = {0};
  for (unsigned i = 0; i < 4 * scale / 100 + 1 && !check_failed; i++) {
    e->html = &html;
    generate(&html, e->of, 40 + random_below(random, 200), random);
    hpar_options options = options_of(e, false);
    options.source_offsets = random_chance(random, 30);
    options.max_errors = random_chance(random, 30) ? 100 : 0;
    short_document(e, &options, random);
    set_limit(&options, html.length, random);
    short_document(e, &options, random);
    late_declaration(e, random);
  }
  for (unsigned i = 0; i < 4 * scale / 100 + 1 && !check_failed; i++) {
    e->html = &html;
    generate(&html, e->of, 2000 + random_below(random, 10000), random);
    hpar_options options = options_of(e, false);
    long_document(e, &options, random);
    set_limit(&options, html.length, random);
    long_document(e, &options, random);
  }
  buffer_free(&html);
}

/* A feed confirms the resources of its bytes, also where no chunk begins in them. */
static void events_of_feeds(events *e) {
  buffer html = {0};
  e->of = &codings[0];
  e->html = &html;
  for (int parallel = 0; parallel <= HPAR_PARALLEL; parallel++) {
    hpar_options options = options_of(e, parallel);
    options.encoding = "utf-8";
    resource_events_reset(&e->list);
    CHECK_EQ(hpar_parser_begin(parser, &options, document), HPAR_OK);
    buffer_clear(&html);
    buffer_text(&html, "<!doctype html>");
    size_t fed = 0;
    for (unsigned i = 1; i <= 8; i++) {
      buffer_text(&html, "<img src=a><p>");
      for (int k = 0; k < 200; k++) buffer_text(&html, "text ");
      buffer_text(&html, "</p>");
      CHECK_EQ(hpar_parser_feed(parser, html.bytes + fed, html.length - fed), HPAR_OK);
      fed = html.length;
      CHECK_EQ(e->list.confirmations, i);
    }
    CHECK_EQ(hpar_parser_finish(parser, NULL), HPAR_OK);
    CHECK_EQ(e->list.confirmations, 8);
  }
  buffer_free(&html);
}

#if HPAR_PARALLEL
/* Workers convert offsets while the feeds add repairs and checkpoints. */
static void large_documents(events *e, random_state *random) {
  buffer html = {0}, expected = {0};
  static const char *const labels[] = {"utf-8", "gb18030", "iso-2022-jp", "windows-1252"};
  for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
    bool is_chosen = false;
    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++)
      if (codings[i].label && !strcmp(codings[i].label, labels[k])) is_chosen = true;
    if (!is_chosen) continue;
    e->of = &codings[i];
    e->html = &html;
    generate(&html, e->of, 150000, random);
    hpar_options options = options_of(e, false);
    hpar_status status = expect(e, &options, &expected);
    for (int n = 0; n < 3; n++) {
      hpar_options parallel = in_parallel(e, &options, 2000);
      static size_t places[1500];
      size_t count = 0;
      while (count < 1500 && (count + 1) * 101 < html.length) places[count] = (count + 1) * 101, count++;
      feed(e, &parallel, status, places, count);
      check(e, &expected, &parallel, "large, pieces of", 101);
    }
  }
  buffer_free(&html);
  buffer_free(&expected);
}
#endif

int main(void) {
  const char *scale_text = getenv("HPAR_TEST_SCALE");
  unsigned scale = scale_text ? (unsigned)strtoul(scale_text, NULL, 10) : 100;
  random_state random = {1};
  events e = {0};
  resource_events_init(&e.list);
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_parser_create(&whole_parser), HPAR_OK) ||
      !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  for (size_t i = 0; i < sizeof codings / sizeof *codings && !check_failed; i++) {
    e.of = &codings[i];
    check_coding(&e, scale, &random);
  }
  events_of_feeds(&e);
#if HPAR_PARALLEL
  large_documents(&e, &random);
#endif
  CHECK(restarts && limited && (found || !HPAR_PARALLEL));
  resource_events_free(&e.list);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  hpar_parser_destroy(whole_parser);
  return check_report();
}
