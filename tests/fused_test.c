/* The kinds of tags that the fused loop processes agree with the bits of their names, which the
 * general path uses. Documents of plain tags, with faults, have the same tree by the general path,
 * by the fused loop, and by the fused loop of a parser that is fed.
 *
 * The state of the builder is the same after each token by the general path and by the fused loop.
 *
 *   HPAR_TEST_SCALE=P   percent of the 2,000 and the 5,000 documents (100) */

#include "base/memory.h"
#include "check.h"
#include "dom/tag.h"
#include "support/buffer.h"
#include "support/random.h"
#include "tree/engine.h"
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

/*** token by token ***/

/* The general path and the fused loop over one text. */
typedef struct pair {
  hp_engine *general, *fused;
  hp_request requests[2];
  unsigned long tokens[HP_INSERTION_MODES]; /* by the mode before the token */
  bool differs;
} pair;

static bool same_element(const hp_open_element *a, const hp_open_element *b) {
  return !a->node == !b->node && a->name == b->name && a->ns == b->ns && a->kind == b->kind && a->tag == b->tag &&
         a->previous_same == b->previous_same && a->scope == b->scope && a->special == b->special &&
         a->li_barrier == b->li_barrier;
}

static bool same_state(const hp_builder *a, const hp_builder *b) {
  if (a->mode != b->mode || a->depth != b->depth || a->tombstones != b->tombstones ||
      a->frameset_ok != b->frameset_ok || a->ignore_lf != b->ignore_lf || a->template_count != b->template_count ||
      a->node_count != b->node_count || a->formatting.count != b->formatting.count ||
      a->tokenizer->content != b->tokenizer->content)
    return false;
  for (uint32_t i = 1; i <= a->depth; i++)
    if (!same_element(&a->stack[i], &b->stack[i])) return false;
  for (uint32_t i = 0; i < a->formatting.count; i++)
    if (a->formatting.entries[i].name != b->formatting.entries[i].name) return false;
  return true;
}

/* Builds one token by the general path, and the same one by the fused loop if it takes the
 * token. */
static hpar_status step_both(void *argument) {
  pair *p = argument;
  hp_engine *general = p->general, *fused = p->fused;
  hp_engine_open(general, &p->requests[0]);
  hp_engine_open(fused, &p->requests[1]);
  for (hp_token token; !p->differs;) {
    uint8_t mode = general->builder.mode;
    int kind = hp_next_token_inside(&general->tokenizer, &token, general->builder.top->name);
    hp_exact_token(&general->builder, &token);
    if (kind == HP_TOKEN_EOF) break;
    p->tokens[mode]++;
    hp_engine_run_fast(fused, fused->tokenizer.base + (general->tokenizer.at - general->tokenizer.base));
    p->differs = general->tokenizer.at != fused->tokenizer.at || !same_state(&general->builder, &fused->builder);
    if (p->differs)
      printf("token that ends at %td, in mode %u\n", general->tokenizer.at - general->tokenizer.base, (unsigned)mode);
  }
  return HPAR_OK;
}

static hpar_status step_fused(void *argument) {
  pair *p = argument;
  return hp_try(&p->fused->unwind, step_both, p);
}

static void check_tokens(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  unsigned long count = 5000 * (scale ? strtoul(scale, NULL, 10) : 100) / 100;
  static const uint8_t modes[] = {HP_IN_BODY, HP_IN_CELL, HP_IN_ROW, HP_IN_TABLE_BODY};
  pair p = {.general = hp_allocate_zeroed(sizeof *p.general), .fused = hp_allocate_zeroed(sizeof *p.fused)};
  buffer text = {0};
  bool fine = CHECK(p.general && p.fused);
  for (unsigned long seed = 0; fine && seed < count; seed++) {
    hpar_document *documents[2] = {NULL, NULL};
    write_document(seed, &text);
    for (int i = 0; i < 2; i++) {
      fine = CHECK(!hpar_document_create(&documents[i])) &&
             CHECK(!hp_document_open(documents[i], false, text.length)) && fine;
      p.requests[i] = (hp_request){.document = documents[i], .text = text.bytes, .length = text.length};
    }
    hp_engine_init(p.general);
    hp_engine_init(p.fused);
    fine = fine && CHECK(!hp_try(&p.general->unwind, step_fused, &p)) && CHECK(!p.differs);
    hp_engine_close(p.general);
    hp_engine_close(p.fused);
    for (int i = 0; i < 2; i++) hpar_document_destroy(documents[i]);
    if (!fine) printf("document %lu:\n%s\n", seed, text.bytes ? text.bytes : "");
  }
  for (size_t i = 0; i < sizeof modes; i++) CHECK(count < 100 || p.tokens[modes[i]] > count);
  buffer_free(&text);
  hp_free(p.general);
  hp_free(p.fused);
}

int main(void) {
  check_kinds();
  check_ways();
  check_tokens();
  return check_report();
}
