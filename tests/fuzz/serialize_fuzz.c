/* Checks serialization. The serialization of an arbitrary tree can be parsed, and is the same from
 * a parallel parse. A tree of elements that HTML can write, with any texts and attribute values, is
 * equal after serialization and a second parse. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>
#include <string.h>

static hpar_status keep(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

static bool same(const buffer *a, const buffer *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static void parse(hpar_parser *parser, hpar_document *document, const hpar_options *options, const buffer *text) {
  hpar_status status = hpar_parse(parser, options, text->length ? text->bytes : "", text->length, document, NULL);
  if (status) fuzz_wrong(hpar_status_text(status), text->bytes, text->length);
}

static void html_of(const hpar_document *document, bool scripting, buffer *to) {
  buffer_clear(to);
  if (hpar_serialize_html(document, hpar_document_root(document), scripting ? HPAR_HTML_SCRIPTING : 0, keep, to))
    abort();
}

/* Writes markup with only closed elements, each of which may be in each other. */
static void write_safe(const uint8_t *data, size_t size, buffer *to) {
  static const char *const names[] = {"div", "span", "section", "x-y", "article", "cite", "ins", "abbr"};
  unsigned char open[16];
  size_t depth = 0;
  buffer_clear(to);
  buffer_text(to, "<!DOCTYPE html><body>");
  for (size_t i = 0; i < size; i++) {
    unsigned c = data[i];
    if (c < 32 && depth < sizeof open) {
      open[depth++] = c % 8;
      buffer_format(to, "<%s", names[c % 8]);
      if (i + 2 < size && (c & 8)) {
        buffer_text(to, " a=\"");
        for (unsigned n = data[++i] % 8; n && i + 1 < size; n--) {
          unsigned v = data[++i];
          if (v == '"' || v == '&' || v >= 0x80)
            buffer_format(to, "&#%u;", v);
          else if (v && v != '\r')
            buffer_byte(to, (char)v);
        }
        buffer_byte(to, '"');
      }
      buffer_byte(to, '>');
    } else if (c < 64 && c >= 32 && depth) {
      buffer_format(to, "</%s>", names[open[--depth]]);
    } else if (c == 64) {
      buffer_text(to, "<!--c-->");
    } else if (c == 65) {
      buffer_text(to, "&nbsp;&lt;&amp;amp;&#160;");
      /* the serializer writes a carriage return unchanged; the parser reads it as a line feed */
    } else if (c != 13) {
      buffer_format(to, "&#%u;", c);
    }
  }
  while (depth) buffer_format(to, "</%s>", names[open[--depth]]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hpar_parser *parser;
  static hpar_document *document;
  static buffer text, html, again, tree, other;
  compare_case page;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &page, &choices)) return 0;
  if (!parser && (hpar_parser_create(&parser) || hpar_document_create(&document))) abort();
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8",
                          .scripting = choices[0] & 1};
  if (choices[0] & 4) options.fragment = fuzz_context(choices[1]);
  buffer_clear(&text);
  buffer_add(&text, page.bytes, page.length);
  parse(parser, document, &options, &text);
  html_of(document, options.scripting, &html);
  if (hpar_predictor_name(0)) {
    hpar_options parallel = options;
    parallel.mode = HPAR_MODE_PARALLEL;
    parallel.parallel.executor = HPAR_EXECUTOR_INLINE;
    parallel.parallel.chunk_size = 20;
    parse(parser, document, &parallel, &text);
    html_of(document, options.scripting, &again);
    if (!same(&html, &again)) fuzz_wrong("serialised differently", page.bytes, page.length);
  }
  parse(parser, document, &options, &html);
  html_of(document, options.scripting, &again);

  options.fragment = NULL;
  write_safe(data, page.length, &text);
  parse(parser, document, &options, &text);
  if (!compare_dump(document, &tree)) abort();
  html_of(document, options.scripting, &html);
  parse(parser, document, &options, &html);
  if (!compare_dump(document, &other)) abort();
  if (!same(&tree, &other)) {
    printf("%.*s%.*s", (int)tree.length, tree.bytes, (int)other.length, other.bytes);
    fuzz_wrong("the tree does not come back", text.bytes, text.length);
  }
  return 0;
}
