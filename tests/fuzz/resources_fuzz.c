/* Compares the confirmed resources of scans, of parallel parses and of parses with other options
 * with those of the sequential parse. The choices select the cuts and the threads. */

#include "fuzz/fuzz.h"

#include <string.h>

enum { MAX_CUTS = 16 };

/* The confirmed resources of one parse or scan as text. */
typedef struct events {
  buffer confirmed;
  buffer line;
} events;

static void add_text(buffer *to, hpar_string text) {
  buffer_format(to, " %u:", (unsigned)text.length);
  if (text.length) buffer_add(to, text.bytes, text.length);
}

static void add_resource(buffer *to, const hpar_resource *r) {
  buffer_format(to, "%u %s %u", (unsigned)r->offset, hpar_resource_kind_name(r->kind), r->flags);
  add_text(to, r->url);
  add_text(to, r->srcset);
  add_text(to, r->media);
  add_text(to, r->content);
  buffer_text(to, "\n");
}

/* A parse that begins again cancels all that it has confirmed. */
static void receive(const hpar_resource *r, hpar_resource_event event, void *context) {
  events *e = context;
  if (event == HPAR_RESOURCE_FOUND) return;
  if (event == HPAR_RESOURCE_CONFIRMED) {
    add_resource(&e->confirmed, r);
    return;
  }
  buffer_clear(&e->line);
  add_resource(&e->line, r);
  if (e->confirmed.length && memmem(e->confirmed.bytes, e->confirmed.length, e->line.bytes, e->line.length))
    buffer_clear(&e->confirmed);
}

static void run(hpar_parser *parser, hpar_document *document, hpar_options options, bool scans,
                const compare_case *page, events *e) {
  buffer_clear(&e->confirmed);
  options.resources.callback = receive;
  options.resources.context = e;
  hpar_status status = scans ? hpar_scan_resources(parser, &options, page->bytes, page->length)
                             : hpar_parse(parser, &options, page->bytes, page->length, document, NULL);
  if (status != HPAR_OK && status != HPAR_ERROR_UNSUPPORTED) fuzz_wrong("status", page->bytes, page->length);
}

static void check(const events *expected, const events *got, const char *what, const compare_case *page) {
  if (expected->confirmed.length == got->confirmed.length &&
      (!got->confirmed.length || !memcmp(expected->confirmed.bytes, got->confirmed.bytes, got->confirmed.length)))
    return;
  printf("%s: expected\n%.*sgot\n%.*s", what, (int)expected->confirmed.length, expected->confirmed.bytes,
         (int)got->confirmed.length, got->confirmed.bytes);
  fuzz_wrong(what, page->bytes, page->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hpar_parser *parser;
  static hpar_document *document;
  static events expected, got;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!parser && (hpar_parser_create(&parser) || hpar_document_create(&document))) abort();
  uint8_t flags = choices[0];
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  options.scripting = flags & 1;
  if (flags & 2) options.fragment = fuzz_context(choices[1]);
  run(parser, document, options, false, &page, &expected);
  run(parser, document, options, true, &page, &got);
  check(&expected, &got, "a scan", &page);
#if HPAR_PARALLEL
  hpar_study study = {HPAR_STUDY_INIT};
  options.mode = HPAR_MODE_PARALLEL;
  options.parallel.executor = HPAR_EXECUTOR_INLINE;
  options.threads = 2 + choices[2] % 7;
  run(parser, document, options, true, &page, &got);
  check(&expected, &got, "a scan with scouts", &page);
  uint64_t cuts[MAX_CUTS];
  random_state random = {(uint64_t)choices[3] << 8 | choices[4]};
  for (uint64_t at = 0; study.cut_count < 1u + choices[5] % MAX_CUTS;) {
    at += 1 + random_below(&random, page.length / 3 + 2);
    if (at >= page.length) break;
    cuts[study.cut_count++] = at;
  }
  if (!study.cut_count) return 0;
  study.cuts = cuts;
  options.study = &study;
  options.resources.in_order = flags & 4;
  run(parser, document, options, false, &page, &got);
  check(&expected, &got, "a parallel parse", &page);
#endif
  return 0;
}
