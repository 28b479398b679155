/* The kinds of tags that the fused loop processes agree with the bits of their names, which the
 * general path uses. Documents of plain tags, with faults, have the same tree by the general path,
 * by the fused loop, and by the fused loop of a parser that is fed.
 *
 *   HPAR_TEST_SCALE=P   percent of the 2,000 documents (100) */

#include "check.h"
#include "dom/tag.h"
#include "support/buffer.h"
#include "support/random.h"
#include "tree/fused_kinds.h"

#include <hpar/hpar.h>
#include <stdlib.h>

enum {
  LINKS = HP_TAG_SPECIAL | HP_TAG_SCOPE | HP_TAG_LI_BARRIER,
  RELEVANT = LINKS | HP_TAG_FORMATTING | HP_TAG_HEADING | HP_TAG_TABLE_CONTEXT | HP_TAG_VOID | HP_TAG_TABLE_PART |
             HP_TAG_OUTWARD | HP_TAG_RAW_TEXT | HP_TAG_ITEM
};

/* Returns the bits that all names of the kind have. */
static unsigned bits_of(hp_fused_kind kind) {
  unsigned block = HP_TAG_SPECIAL | HP_TAG_LI_BARRIER;
  switch (kind) {
    case HP_FUSED_DIV: return HP_TAG_SPECIAL;
    case HP_FUSED_BLOCK: return block;
    case HP_FUSED_HEADING: return block | HP_TAG_HEADING;
    case HP_FUSED_ITEM: return block | HP_TAG_ITEM;
    case HP_FUSED_FORMATTING: return HP_TAG_FORMATTING;
    case HP_FUSED_VOID: return block | HP_TAG_VOID;
    case HP_FUSED_CELL: return block | HP_TAG_SCOPE | HP_TAG_TABLE_PART | HP_TAG_OUTWARD;
    case HP_FUSED_ROW: return block | HP_TAG_TABLE_CONTEXT | HP_TAG_TABLE_PART | HP_TAG_OUTWARD;
    default: return 0;
  }
}

static const char *const names[] = {"div", "span", "p",     "a",        "b",      "i",      "li",    "ul",     "dl",
                                    "dd",  "dt",   "table", "tr",       "td",     "th",     "h1",    "h2",     "br",
                                    "img", "code", "tbody", "thead",    "button", "option", "body",  "svg",    "pre",
                                    "ol",  "em",   "P",     "template", "form",   "x-y",    "label", "section"};
static const char *const attributes[] = {"", "", "", " id=x", " class=\"a b\"", " href='q' title", " a=1 a=2", " /"};
static const char *const texts[] = {"\n  ",       " ",     "text",
                                    "\r\n ",      "a < b", "&amp;",
                                    "<!-- c -->", "</>",   "a text that is longer than three probes of 16 bytes each",
                                    "\r",         "</p>"};

/* Writes a document. Most of its elements end in order. */
static void write_document(uint64_t seed, buffer *to) {
  random_state random = {seed};
  const char *open[32];
  size_t depth = 0, few = 1 + random_below(&random, 12), from = random_below(&random, sizeof names / sizeof *names);
  buffer_clear(to);
  if (random_chance(&random, 50)) buffer_text(to, "<!doctype html>");
  for (size_t tokens = random_below(&random, 400); tokens; tokens--) {
    const char *name = names[(from + random_below(&random, few)) % (sizeof names / sizeof *names)];
    if (random_chance(&random, 5)) name = RANDOM_OF(&random, names);
    if (random_chance(&random, 40)) {
      buffer_text(to, RANDOM_OF(&random, texts));
    } else if (depth && random_chance(&random, depth < 32 ? 45 : 100)) {
      depth--;
      buffer_format(to, "</%s>", random_chance(&random, 95) ? open[depth] : name); // NOLINT: set
    } else {
      buffer_format(to, "<%s%s>", name, RANDOM_OF(&random, attributes));
      if (depth < 32) open[depth++] = name;
    }
  }
}

static hpar_status append(const char *bytes, size_t length, void *to) {
  buffer_add(to, bytes, length);
  return HPAR_OK;
}

typedef enum way { GENERAL, FUSED, FED, WAYS } way;

/* Parses the document and writes its tree. Source offsets choose the general path. */
static bool parse(hpar_parser *parser, hpar_document *document, const buffer *text, way by, buffer *tree) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8",
                          .source_offsets = by == GENERAL};
  hpar_status status;
  if (by == FED) {
    status = hpar_parser_begin(parser, &options, document);
    for (size_t at = 0, n; at < text->length && !status; at += n) {
      n = text->length - at < 97 ? text->length - at : 97;
      status = hpar_parser_feed(parser, text->bytes + at, n);
    }
    if (!status) status = hpar_parser_finish(parser, NULL);
  } else {
    status = hpar_parse(parser, &options, text->bytes ? text->bytes : "", text->length, document, NULL);
  }
  buffer_clear(tree);
  if (!status) status = hpar_serialize_tree(document, hpar_document_root(document), append, tree);
  return !status;
}

static void check_ways(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  unsigned long count = 2000 * (scale ? strtoul(scale, NULL, 10) : 100) / 100;
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  buffer text = {0}, trees[WAYS] = {{0}};
  bool fine = CHECK(!hpar_parser_create(&parser)) && CHECK(!hpar_document_create(&document));
  for (unsigned long seed = 0; fine && seed < count; seed++) {
    write_document(seed, &text);
    for (int by = GENERAL; by < WAYS; by++) {
      fine = CHECK(parse(parser, document, &text, (way)by, &trees[by])) && fine;
      fine = CHECK_BYTES(trees[by].bytes, trees[by].length, trees[GENERAL].bytes, trees[GENERAL].length) && fine;
    }
    if (!fine) printf("document %lu:\n%s\n", seed, text.bytes ? text.bytes : "");
  }
  for (int by = GENERAL; by < WAYS; by++) buffer_free(&trees[by]);
  buffer_free(&text);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
}

static void check_kinds(void) {
  unsigned starts = 0, ends = 0;
  for (hp_atom name = 1; name < HP_KNOWN_ATOMS; name++) {
    hp_fused_kind start = hp_fused_starts[name];
    unsigned bits = hp_html_tag(name);
    if (start == HP_FUSED_OTHER) continue;
    starts++;
    CHECK(name < HP_TESTED_TAGS);
    CHECK((bits & RELEVANT) == bits_of(start));
  }
  for (hp_atom name = 1; name < HP_TESTED_TAGS; name++) {
    hp_fused_kind end = hp_fused_ends[name];
    unsigned bits = hp_html_tag(name);
    if (end == HP_FUSED_OTHER) continue;
    ends++;
    CHECK(hp_fused_starts[name] != HP_FUSED_VOID);
    CHECK((end == HP_FUSED_FORMATTING) == ((bits & HP_TAG_FORMATTING) != 0));
  }
  CHECK(starts > 50 && ends > 50);
}

int main(void) {
  check_kinds();
  check_ways();
  return check_report();
}
