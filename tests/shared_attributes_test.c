/* Start tags with equal bytes share a block of attributes. The trees equal those of the general
 * path, which shares no blocks.
 *
 *   HPAR_TEST_SCALE=P   percent of the 300 documents (100) */

#include "check.h"
#include "dom/tag.h"
#include "dom/value.h"
#include "support/buffer.h"
#include "support/random.h"
#include "tokenizer/parts.h"
#include "tree/builder.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static hpar_parser *parser;
static hpar_document *document;

/*** helpers ***/

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

static bool parse(const buffer *html, const hpar_options *options, buffer *tree) {
  buffer_clear(tree);
  return hpar_parse(parser, options, html->bytes, html->length, document, NULL) == HPAR_OK &&
         hpar_serialize_tree(document, hpar_document_root(document), append, tree) == HPAR_OK;
}

static void pad(buffer *html, size_t length) {
  buffer_text(html, "<!doctype html><p>");
  while (html->length < length) buffer_text(html, "text ");
}

/* Returns the block of the `index`-th element of this name. */
static const hp_attributes *block_of(const char *name, unsigned index) {
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_string own = hpar_node_name(document, node);
    if (own.length == strlen(name) && !memcmp(own.bytes, name, own.length) && !index--)
      return hp_at(document->range.base, hp_node_at(document->range.base, node)->attributes);
  }
  return NULL;
}

static hpar_options sequential(void) {
  return (hpar_options){HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
}

/*** tests ***/

static void equal_tags_share(void) {
  buffer html = {0}, tree = {0};
  pad(&html, HP_UNCACHED_BYTES);
  buffer_text(&html, "<p><b class='one two' title='a &amp; b'>1</b><i class='one two' title='a &amp; b'>2</i>");
  buffer_text(&html, "<b class='one two' title='a &amp;  b'>3</b><u class='one two'title='a &amp; b'>4</u>");
  pad(&html, html.length + 100);
  hpar_options options = sequential();
  CHECK(parse(&html, &options, &tree));
  const hp_attributes *first = block_of("b", 0);
  CHECK(first && first == block_of("i", 0));
  CHECK(first != block_of("b", 1) && first != block_of("u", 0));
  hpar_string value = hp_attribute_value(document, first, &first->items[1]);
  CHECK_BYTES(value.bytes, value.length, "a & b", 5);
  CHECK(hp_attribute_value(document, block_of("i", 0), &block_of("i", 0)->items[1]).bytes == value.bytes);
  options.limits.memory = 100 << 10;
  CHECK(parse(&html, &options, &tree));
  CHECK(block_of("b", 0) != block_of("i", 0));
  options = sequential();
  options.source_offsets = true;
  CHECK(parse(&html, &options, &tree));
  CHECK(block_of("b", 0) != block_of("i", 0));
  buffer_free(&html);
  buffer_free(&tree);
}

/* The bit that marks a shared block is none of an attribute. */
static void mark_of_shared_blocks(void) {
  buffer html = {0}, tree = {0};
  pad(&html, HP_UNCACHED_BYTES);
  for (int tag = 0; tag < 2; tag++) {
    buffer_text(&html, "<b");
    for (int i = 0; i < 33; i++) buffer_format(&html, " a%d='%d &amp;lt;'", i, i);
    buffer_text(&html, ">");
  }
  pad(&html, html.length + 100);
  hpar_options options = sequential();
  CHECK(parse(&html, &options, &tree));
  const hp_attributes *block = block_of("b", 0);
  CHECK(block && block == block_of("b", 1) && block->count == 33);
  for (uint32_t i = 0; block && i < block->count; i++) {
    char expected[16];
    int length = snprintf(expected, sizeof expected, "%u &lt;", i);
    hpar_string value = hp_attribute_value(document, block, &block->items[i]);
    CHECK_BYTES(value.bytes, value.length, expected, (size_t)length);
  }
  buffer_free(&html);
  buffer_free(&tree);
}

/* Parses pairs of tags of each length that differ in one byte, or are equal. The second tag ends up
 * to 80 bytes before the end of the input. */
static void each_byte_counts(void) {
  enum { LONGEST = 70 };
  buffer html = {0}, tree = {0}, expected = {0};
  hpar_options fused = sequential(), general = sequential();
  general.source_offsets = true;
  bool fine = true;
  for (unsigned length = 1; length < LONGEST && fine; length++) {
    for (unsigned at = 0; at <= length && fine; at++) {
      buffer_clear(&html);
      pad(&html, HP_UNCACHED_BYTES);
      for (int tag = 0; tag < 2; tag++) {
        buffer_text(&html, tag ? "<i c='" : "<b c='");
        for (unsigned i = 0; i < length; i++) buffer_text(&html, tag && i == at ? "y" : "x");
        buffer_text(&html, tag ? "'>" : "'></b>");
      }
      for (unsigned i = 0; i < (length + at) % 90; i++) buffer_text(&html, "z");
      fine = CHECK(parse(&html, &general, &expected)) && CHECK(parse(&html, &fused, &tree)) &&
             CHECK_BYTES(tree.bytes, tree.length, expected.bytes, expected.length);
    }
  }
  buffer_free(&html);
  buffer_free(&tree);
  buffer_free(&expected);
}

/* A tag whose bytes after the name are too long for the cache. */
static void long_tags(void) {
  buffer html = {0}, tree = {0}, expected = {0};
  hpar_options fused = sequential(), general = sequential();
  general.source_offsets = true;
  pad(&html, HP_UNCACHED_BYTES);
  for (unsigned length = UINT16_MAX - 6; length <= UINT16_MAX + 2; length++) {
    for (int tag = 0; tag < 2; tag++) {
      buffer_text(&html, "<b class='");
      for (unsigned i = 0; i < length - 10; i++) buffer_text(&html, "v");
      buffer_text(&html, "'>b</b>");
    }
  }
  CHECK(parse(&html, &general, &expected) && parse(&html, &fused, &tree));
  CHECK_BYTES(tree.bytes, tree.length, expected.bytes, expected.length);
  buffer_free(&html);
  buffer_free(&tree);
  buffer_free(&expected);
}

/* The same tags occur in HTML, where their blocks are shared, and in SVG and MathML, where the
 * builder changes names of attributes. */
static void write_document(uint64_t seed, buffer *html) {
  static const char *const names[] = {"b", "i", "p", "td", "span", "a", "font", "li", "annotation-xml", "div"};
  static const char *const attributes[] = {" viewbox='0 0 1 1'",
                                           " definitionurl=x viewbox=y",
                                           " class='a b' title='&lt;&gt;'",
                                           " encoding=text/html",
                                           " xlink:href='#a&amp;b'",
                                           " class=c/",
                                           " class=c /",
                                           " color=red size='1'",
                                           " class='a value that is longer than one block of 16 bytes'",
                                           "\nclass=\"a b\"\r\n title=x"};
  static const char *const others[] = {"<svg>",       "</svg>",   "<math>", "</math>", "<mi>", "</mi>",  "text",
                                       "<table><tr>", "</table>", "</b>",   "</p>",    "</a>", "<desc>", "</desc>"};
  random_state random = {seed};
  buffer_clear(html);
  if (random_chance(&random, 50)) pad(html, HP_UNCACHED_BYTES);
  for (size_t tokens = 300; tokens; tokens--) {
    if (random_chance(&random, 30))
      buffer_text(html, RANDOM_OF(&random, others));
    else
      buffer_format(html, "<%s%s>", RANDOM_OF(&random, names), RANDOM_OF(&random, attributes));
    if (random_chance(&random, 40)) buffer_text(html, "text");
  }
}

static void trees_are_equal(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  unsigned long count = 300 * (scale ? strtoul(scale, NULL, 10) : 100) / 100;
  buffer html = {0}, tree = {0}, expected = {0};
  hpar_options general = sequential();
  general.source_offsets = true;
  bool fine = true;
  for (unsigned long seed = 0; fine && seed < count; seed++) {
    write_document(seed, &html);
    fine = CHECK(parse(&html, &general, &expected));
    for (unsigned cut = 0; fine && cut < 4; cut++) {
      hpar_options options = sequential();
#if HPAR_PARALLEL
      if (cut) {
        options.mode = HPAR_MODE_PARALLEL;
        options.parallel.executor = HPAR_EXECUTOR_INLINE;
        options.parallel.chunk_size = (size_t)256 << cut;
      }
#endif
      fine =
          CHECK(parse(&html, &options, &tree)) && CHECK_BYTES(tree.bytes, tree.length, expected.bytes, expected.length);
      if (!fine) printf("document %lu, cut %u\n", seed, cut);
    }
  }
  buffer_free(&html);
  buffer_free(&tree);
  buffer_free(&expected);
}

/* The key of the cache has no name, so no tag of the fused loop may decode its values at once. */
static void fused_tags_defer(void) {
  for (hp_atom name = 1; name < HP_KNOWN_ATOMS; name++) CHECK(!hp_fused_starts[name] || !hp_reads_values(name));
}

int main(void) {
  if (!CHECK(!hpar_parser_create(&parser)) || !CHECK(!hpar_document_create(&document))) return check_report();
  fused_tags_defer();
  equal_tags_share();
  mark_of_shared_blocks();
  each_byte_counts();
  long_tags();
  trees_are_equal();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
