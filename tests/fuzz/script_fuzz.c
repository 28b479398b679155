/* Runs the scripts of a page with the toy engine, in every way to parse: sequential, limited, in
 * chunks on one thread and on two, merged as a chain and as a tree, pipelined, fed in pieces and by
 * single bytes. Trees, views of the scripts and statuses must be equal.
 *
 * Bytes of the input below 9 mean the parts of a script, so that small inputs have several
 * programs. The toy engine (support/toy.h) takes any text as a program. */

#include "fuzz/fuzz.h"
#include "support/toy_ways.h"

#include <hpar/study.h>
#include <string.h>

enum { MAX_SCRIPTS = 40, MAX_NODES = 20000, MAX_WRITTEN = 20000 };

/* Appends the page for the bytes of the input. */
static void expand(const compare_case *input, buffer *page) {
  static const char *const parts[] = {"\n",           "<script>",       "</script>",   "\nw \\l",
                                      "\nc \\l",      "\nw \\lscript>", "\\l/script>", "<script src=x></script>",
                                      "<svg><script>"};
  buffer_clear(page);
  buffer_text(page, "");
  for (size_t i = 0; i < input->length; i++) {
    unsigned char byte = (unsigned char)input->bytes[i];
    if (byte < sizeof parts / sizeof *parts)
      buffer_text(page, parts[byte]);
    else
      buffer_byte(page, (char)byte);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hpar_parser *parser;
  static hpar_document *document;
  static buffer page;
  compare_case input;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &input, &choices)) return 0;
  if (!parser && (hpar_parser_create(&parser) || hpar_document_create(&document))) abort();
  expand(&input, &page);
  toy_way way = {.chunk_size = 1 + choices[4] % 64,
                 .piece_size = 1 + choices[6] % 20,
                 .seed = (uint64_t)choices[2] << 8 | choices[3],
                 .strategy = choices[0] & 8 ? fuzz_name(hpar_strategy_name, choices[5]) : NULL,
                 .checkpoints = choices[0] & 4,
                 .options = {HPAR_OPTIONS_INIT, .encoding = choices[0] & 1 ? "utf-8" : NULL}};
  way.options.script.max_written = MAX_WRITTEN;
  way.options.script.external = choices[0] & 2;
  way.options.source_offsets = choices[0] & 16;
  toy_outcome expected = toy_parse(parser, document, &way, MAX_SCRIPTS, page.bytes, page.length);
  uint64_t nodes;
  const char *wrong = compare_links(document, &nodes);
  if (wrong && strcmp(wrong, "two texts stand side by side") != 0) fuzz_wrong(wrong, page.bytes, page.length);
  if (nodes > MAX_NODES) return 0;
  for (way.way = TOY_LIMITED; way.way < TOY_WAYS; way.way++) {
    /* waking a thread takes more time than all other ways */
    bool skipped = !toy_way_exists(way.way) || (way.way == TOY_THREADS && choices[7] % 16);
    if (skipped) continue;
    toy_outcome got = toy_parse(parser, document, &way, MAX_SCRIPTS, page.bytes, page.length);
    if (toy_is_same(got, expected)) continue;
    toy_print_difference(way.way, got, expected);
    fuzz_wrong("the ways differ", page.bytes, page.length);
  }
  return 0;
}
