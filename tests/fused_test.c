/* The kinds of tags that the fused loop processes agree with the bits of their names, which the
 * general path uses. Documents of plain tags, with faults, have the same tree by the general path,
 * by the fused loop, and by the fused loop of a parser that is fed.
 *
 * The state of the builder is the same after each token by the rules and by the fused loop, and the
 * trees are the same at the end. The loop handles tokens in the modes of the table `fused_modes`,
 * and each has its share of the tokens. The part "fixtures" compares the inputs of html5lib-tests
 * instead of generated documents: as they are, and in each of these modes.
 *
 *   HPAR_TEST_SCALE=P   percent of the 2,000 documents, and of 1,000,000 tokens (100) */

#include "base/memory.h"
#include "check.h"
#include "dom/tag.h"
#include "study/true_state.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/random.h"
#include "support/shared.h"
#include "tokenizer/parts.h"
#include "tree/builder.h"
#include "tree/engine.h"
#include "tree/stack.h"

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

static const char *const names[] = {
    "div",    "span",    "p",       "a",     "b",    "i",  "li", "ul",     "dl",       "dd",     "dt",
    "table",  "tr",      "td",      "th",    "h1",   "h2", "br", "img",    "code",     "tbody",  "thead",
    "button", "option",  "body",    "svg",   "pre",  "ol", "em", "P",      "template", "form",   "x-y",
    "label",  "section", "caption", "tfoot", "nobr", "h6", "u",  "select", "colgroup", "address"};
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
  unsigned long count = 20UL * compare_scale();
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

/* The modes in which the loop handles tokens, each with a beginning that leads to it. Text in the
 * body clears the frameset-ok flag, as the loop requires. */
static const struct {
  uint8_t mode;
  const char *beginning;
} fused_modes[] = {
    {HP_IN_BODY, "<!doctype html>text<div>"},
    {HP_IN_CELL, "<!doctype html>text<table><tr><td>"},
    {HP_IN_CAPTION, "<!doctype html>text<table><caption>"},
    {HP_IN_ROW, "<!doctype html>text<table><tr>"},
    {HP_IN_TABLE_BODY, "<!doctype html>text<table><tbody>"},
};
enum { FUSED_MODES = sizeof fused_modes / sizeof *fused_modes };

/* The rules and the fused loop over one text. */
typedef struct pair {
  hp_engine *general, *fused;
  hpar_document *documents[2];
  hp_request requests[2];
  /* by the mode before the token: all tokens, and those that the loop handles */
  unsigned long tokens[HP_INSERTION_MODES], handled[HP_INSERTION_MODES];
  unsigned long all_handled;
  bool differs;
} pair;

static bool same_element(const hp_open_element *a, const hp_open_element *b) {
  return !a->node == !b->node && a->name == b->name && a->ns == b->ns && a->kind == b->kind && a->tag == b->tag &&
         a->previous_same == b->previous_same && a->scope == b->scope && a->special == b->special &&
         a->li_barrier == b->li_barrier;
}

static bool same_entry(const hp_builder *a, const hp_builder *b, uint32_t i) {
  const hp_formatting *left = &a->formatting.entries[i], *right = &b->formatting.entries[i];
  if (!left->node || !right->node) return !left->node && !right->node; /* markers */
  if (left->node == HP_FORMATTING_TOMBSTONE || right->node == HP_FORMATTING_TOMBSTONE) return left->node == right->node;
  const hp_node *one = hp_node_at(a->base, left->node), *other = hp_node_at(b->base, right->node);
  return left->name == right->name && !left->attributes == !right->attributes && one->flags == other->flags &&
         (!(one->flags & HP_FLAG_OPEN) || left->open == right->open);
}

static bool same_state(const hp_builder *a, const hp_builder *b) {
  if (a->mode != b->mode || a->stack.depth != b->stack.depth || hp_tombstones(a) != hp_tombstones(b) ||
      a->flags.frameset_ok != b->flags.frameset_ok || hp_ignores_lf(a) != hp_ignores_lf(b) ||
      a->templates.count != b->templates.count || !hp_form_pointer(a) != !hp_form_pointer(b) ||
      !a->pointers.head != !b->pointers.head || a->node_count != b->node_count ||
      a->formatting.count != b->formatting.count || a->tokenizer->content != b->tokenizer->content)
    return false;
  for (uint32_t i = 1; i <= a->stack.depth; i++)
    if (!same_element(&a->stack.entries[i], &b->stack.entries[i])) return false;
  for (uint32_t i = 0; i < a->formatting.count; i++)
    if (!same_entry(a, b, i)) return false;
  return true;
}

/* Returns the node after `at` in tree order, or 0. Contents of a template precede its children. */
static hp_ref next_node(const char *base, hp_ref at) {
  hp_node *node = hp_node_at(base, at);
  bool is_parent =
      node->kind == HPAR_NODE_ELEMENT || node->kind == HPAR_NODE_DOCUMENT || node->kind == HPAR_NODE_FRAGMENT;
  if (is_parent && node->kind == HPAR_NODE_ELEMENT && node->flags & HP_FLAG_TEMPLATE) return *hp_template_slot(node);
  if (is_parent && node->first) return node->first;
  for (;;) {
    if (node->next) return node->next;
    if (node->kind == HPAR_NODE_FRAGMENT) { /* after the contents: the template's children */
      node = hp_node_at(base, hp_host_of(node));
      if (node->first) return node->first;
      continue;
    }
    if (!node->parent) return 0;
    node = hp_node_at(base, node->parent);
  }
}

static bool same_bytes(const char *a, size_t a_length, const char *b, size_t b_length) {
  return a_length == b_length && (!a_length || !memcmp(a, b, a_length));
}

static bool same_attributes(const pair *p, hp_ref left, hp_ref right) {
  if (!left || !right) return left == right;
  const hp_attributes *a = hp_at(p->general->builder.base, left), *b = hp_at(p->fused->builder.base, right);
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++)
    same = a->items[i].name == b->items[i].name &&
           same_bytes(a->items[i].value, a->items[i].length, b->items[i].value, b->items[i].length);
  return same;
}

static bool same_node(const pair *p, hp_ref left, hp_ref right) {
  const hp_builder *a = &p->general->builder, *b = &p->fused->builder;
  const hp_node *one = hp_node_at(a->base, left), *other = hp_node_at(b->base, right);
  if (one->kind != other->kind || one->ns != other->ns || !one->next != !other->next ||
      !one->previous != !other->previous)
    return false;
  if (one->kind == HPAR_NODE_TEXT) {
    hpar_string text = text_of(a, one), same = text_of(b, other);
    return same_bytes(text.bytes, text.length, same.bytes, same.length);
  }
  if (one->kind == HPAR_NODE_COMMENT) return same_bytes(one->data, one->length, other->data, other->length);
  if (one->kind != HPAR_NODE_ELEMENT) return true;
  return one->name == other->name && !one->first == !other->first &&
         same_attributes(p, one->attributes, other->attributes);
}

static bool same_trees(const pair *p) {
  hp_ref a = p->documents[0]->root, b = p->documents[1]->root;
  while (a && b && same_node(p, a, b)) {
    a = next_node(p->general->builder.base, a);
    b = next_node(p->fused->builder.base, b);
  }
  return !a && !b;
}

/* Returns whether the token is of those that the loop handles in this state. */
static bool is_handled(const hp_builder *b, const hp_token *t) {
  const hp_open_element *top = b->stack.top;
  if (top->kind == HP_OPEN_OTHER || b->flags.frameset_ok || hp_ignores_lf(b)) return false;
  if (t->kind == HP_TOKEN_TEXT)
    return top->kind == HP_OPEN_PLAIN ? !(t->flags & HP_TEXT_NUL) : t->flags & HP_TEXT_WHITE;
  if (t->name >= HP_TESTED_TAGS) return false;
  bool is_in_table = top->kind != HP_OPEN_PLAIN;
  if (t->kind == HP_TOKEN_END_TAG) return top->name == t->name && (is_in_table || hp_fused_ends[t->name]);
  if (t->kind != HP_TOKEN_START_TAG) return false;
  hp_fused_kind kind = (hp_fused_kind)hp_fused_starts[t->name];
  return is_in_table ? kind == HP_FUSED_CELL || kind == HP_FUSED_ROW : kind && kind != HP_FUSED_ROW;
}

/* Builds one token by the rules, and the same one by the fused loop if it takes the token. */
static hpar_status step_both(void *argument) {
  pair *p = argument;
  hp_engine *general = p->general, *fused = p->fused;
  hp_engine_open(general, &p->requests[0]);
  hp_engine_open(fused, &p->requests[1]);
  for (hp_token token; !p->differs;) {
    uint8_t mode = general->builder.mode;
    int kind = hp_next_token_inside(&general->tokenizer, &token, general->builder.stack.top->name);
    bool handled = is_handled(&general->builder, &token);
    hp_exact_token(&general->builder, &token);
    if (kind == HP_TOKEN_EOF) {
      hp_engine_run_fast(fused, HP_TO_END);
      break;
    }
    p->tokens[mode]++;
    p->handled[mode] += handled;
    p->all_handled += handled;
    hp_engine_run_fast(fused, fused->tokenizer.base + (general->tokenizer.at - general->tokenizer.base));
    p->differs = general->tokenizer.at != fused->tokenizer.at || !same_state(&general->builder, &fused->builder);
    if (p->differs)
      printf("token that ends at %td, in mode %u\n", general->tokenizer.at - general->tokenizer.base, (unsigned)mode);
  }
  if (!p->differs && !same_trees(p)) {
    printf("the trees differ\n");
    p->differs = true;
  }
  return HPAR_OK;
}

static hpar_status step_fused(void *argument) {
  pair *p = argument;
  return hp_try(&p->fused->unwind, step_both, p);
}

static bool open_pair(pair *p) {
  *p = (pair){.general = hp_allocate_zeroed(sizeof *p->general), .fused = hp_allocate_zeroed(sizeof *p->fused)};
  bool fine = CHECK(p->general && p->fused);
  for (int i = 0; i < 2; i++) fine = CHECK(!hpar_document_create(&p->documents[i])) && fine;
  return fine;
}

static void close_pair(pair *p) {
  if (p->general) hp_engine_close(p->general);
  if (p->fused) hp_engine_close(p->fused);
  for (int i = 0; i < 2; i++) hpar_document_destroy(p->documents[i]);
  hp_free(p->general);
  hp_free(p->fused);
}

/* Compares the two ways through the text. Appends a comment, because the loop ends before the last
 * bytes of the input. */
static bool check_text(pair *p, buffer *text) {
  bool fine = true;
  buffer_text(text, "<!--");
  for (int i = 0; i < HP_FAST_REACH; i++) buffer_byte(text, '-');
  buffer_text(text, ">");
  for (int i = 0; i < 2; i++) {
    fine = CHECK(!hp_document_open(p->documents[i], false, text->length)) && fine;
    p->requests[i] =
        (hp_request){.document = p->documents[i], .text = text->bytes, .length = text->length, .decodes_values = true};
  }
  p->differs = false;
  fine = fine && CHECK(!hp_try(&p->general->unwind, step_fused, p)) && CHECK(!p->differs);
  if (!fine) printf("%s\n", text->bytes);
  return fine;
}

static void print_tokens(const pair *p) {
  for (size_t i = 0; i < FUSED_MODES; i++) {
    uint8_t mode = fused_modes[i].mode;
    printf("%s: %lu tokens, %lu of them for the loop\n", hp_mode_name(mode), p->tokens[mode], p->handled[mode]);
  }
  printf("%lu tokens for the loop\n", p->all_handled);
}

static void check_generated(void) {
  unsigned long wanted = 10000UL * compare_scale();
  pair p;
  buffer made = {0}, text = {0};
  bool fine = open_pair(&p);
  for (unsigned long seed = 0; fine && p.all_handled < wanted; seed++) {
    size_t in = seed % (2 * FUSED_MODES);
    write_document(seed, &made);
    buffer_clear(&text);
    if (in < FUSED_MODES) buffer_text(&text, fused_modes[in].beginning);
    buffer_add(&text, made.bytes ? made.bytes : "", made.length);
    fine = check_text(&p, &text);
    if (!fine) printf("document %lu\n", seed);
  }
  for (size_t i = 0; i < FUSED_MODES; i++) CHECK(p.handled[fused_modes[i].mode] >= wanted / 50);
  print_tokens(&p);
  buffer_free(&made);
  buffer_free(&text);
  close_pair(&p);
}

/* Compares the inputs of a file of fixtures, as they are and in each mode. */
static void check_file(pair *p, const char *path) {
  dat_file file;
  buffer text = {0};
  if (!CHECK(dat_read(path, &file))) return;
  for (size_t k = 0; k < file.count; k++)
    for (size_t in = 0; in <= FUSED_MODES; in++) {
      const dat_test *test = &file.tests[k];
      buffer_clear(&text);
      if (in < FUSED_MODES) buffer_text(&text, fused_modes[in].beginning);
      buffer_add(&text, test->data, test->data_length);
      if (!check_text(p, &text)) printf("%s:%u\n", path, test->line);
    }
  dat_free(&file);
  buffer_free(&text);
}

/* Returns false if there are no fixtures. */
static bool check_fixtures(void) {
  char directory[4096];
  shared_list files;
  pair p;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  if (!CHECK(shared_files(directory, ".dat", &files)) || !open_pair(&p)) return true;
  for (size_t i = 0; i < files.count; i++) check_file(&p, files.paths[i]);
  CHECK(files.count > 0);
  for (size_t i = 0; i < FUSED_MODES; i++) CHECK(p.handled[fused_modes[i].mode] > 0);
  print_tokens(&p);
  shared_list_free(&files);
  close_pair(&p);
  return true;
}

int main(int count, char **arguments) {
  if (check_part(count, arguments, "fixtures")) return check_fixtures() ? check_report() : CHECK_SKIPPED;
  check_kinds();
  check_ways();
  check_generated();
  return check_report();
}
