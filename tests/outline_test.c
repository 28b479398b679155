/* Gives the tokens of documents to the outline builder. After each token its state must be that of
 * the exact builder: stack, formatting list, modes, pointers. Documents: those of the project,
 * generated ones, and with the argument "fixtures" those of html5lib-tests and outside pages. */

#include "base/bytes.h"
#include "base/memory.h"
#include "check.h"
#include "dom/value.h"
#include "study/true_state.h"
#include "support/buffer.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/shared.h"
#include "tree/active_formatting.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdlib.h>

typedef struct comparison {
  hp_outline outline;
  hp_unwind unwind;
  const hp_token *token;
  const hp_engine *engine;
  const char *fragment;
  uint64_t tokens;
  uint64_t open;         /* elements, by the events */
  uint64_t owned, freed; /* nodes with a value of an owner */
  bool began, differs, owns;
} comparison;

static bool is_white(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'; }

static uint64_t mixed(uint64_t hash) {
  hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static void read_attributes(const hp_engine *engine, const hp_token *t, hp_outline_tag *tag) {
  if (!t->attributes) return;
  const hp_attributes *block = hp_at(engine->builder.base, t->attributes);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    uint64_t hash = mixed(a->name);
    hp_value_reader reader = hp_value_reader_of(block, i);
    for (int byte; (byte = hp_next_value_byte(&reader)) >= 0;) hash = mixed(hash ^ (unsigned)byte);
    sum += hash;
    if (t->name == HP_ATOM_FONT && (a->name == HP_ATOM_COLOR || a->name == HP_ATOM_FACE || a->name == HP_ATOM_SIZE))
      tag->breaks_out = true;
    if (t->name == HP_ATOM_INPUT && a->name == HP_ATOM_TYPE)
      tag->is_hidden = a->length == 6 && hp_ascii_equal(a->value, "hidden", 6);
    if (t->name == HP_ATOM_ANNOTATION_XML && a->name == HP_ATOM_ENCODING)
      tag->html_integration = (a->length == 9 && hp_ascii_equal(a->value, "text/html", 9)) ||
                              (a->length == 21 && hp_ascii_equal(a->value, "application/xhtml+xml", 21));
  }
  if (!(hp_html_tag(t->name) & HP_TAG_FORMATTING)) return;
  tag->has_attributes = true;
  tag->hash[0] = (uint32_t)sum;
  tag->hash[1] = (uint32_t)(sum >> 32);
}

static void take_text(hp_outline *outline, const hp_token *t) {
  bool seen[4] = {false};
  for (uint32_t i = 0; i < t->length && !(seen[HP_OUTLINE_OTHER] && seen[HP_OUTLINE_WHITE]); i++) {
    hp_outline_text kind = !t->data[i] ? HP_OUTLINE_NUL : is_white(t->data[i]) ? HP_OUTLINE_WHITE : HP_OUTLINE_OTHER;
    if (i == 0 && t->data[0] == '\n') kind = HP_OUTLINE_NEWLINE;
    if (seen[kind]) continue;
    seen[kind] = true;
    if (kind == HP_OUTLINE_NUL) seen[HP_OUTLINE_WHITE] = false;
    if (hp_outline_text_matters(outline)) hp_outline_take_text(outline, kind);
  }
}

static hpar_status take_token_of(void *argument) {
  comparison *c = argument;
  const hp_token *t = c->token;
  switch (t->kind) {
    case HPAR_TOKEN_TEXT: take_text(&c->outline, t); break;
    case HPAR_TOKEN_COMMENT:
    case HPAR_TOKEN_PROCESSING_INSTRUCTION: hp_outline_take_comment(&c->outline); break;
    case HPAR_TOKEN_DOCTYPE: hp_outline_take_doctype(&c->outline, t->doctype, t->flags & HP_TOKEN_FORCE_QUIRKS); break;
    case HPAR_TOKEN_EOF: hp_outline_take_end(&c->outline); break;
    default: {
      hp_outline_tag tag = {
          .is_end = t->kind == HPAR_TOKEN_END_TAG, .self_closing = t->flags & HP_TOKEN_SELF_CLOSING, .name = t->name};
      if (!tag.is_end) read_attributes(c->engine, t, &tag);
      hp_outline_take_tag(&c->outline, &tag);
    }
  }
  return HPAR_OK;
}

static bool same_stack(const hp_builder *a, const hp_builder *b) {
  if (a->stack.depth != b->stack.depth || hp_tombstones(a) != hp_tombstones(b)) return false;
  for (uint32_t i = 1; i <= a->stack.depth; i++) {
    const hp_open_element *x = &a->stack.entries[i], *y = &b->stack.entries[i];
    if (!x->node != !y->node) return false;
    if (x->node && (x->name != y->name || x->ns != y->ns || x->tag != y->tag)) return false;
  }
  return true;
}

/* Returns the index of the first entry from `i` on that is not removed. The outline drops removed
 * entries earlier than the builder. */
static uint32_t next_entry(const hp_builder *b, uint32_t i) {
  while (i < b->formatting.count && hp_listed_name_of(b, i) == HP_NO_ATOM) i++;
  return i;
}

static bool same_list(const hp_builder *a, const hp_builder *b) {
  uint32_t i = next_entry(a, 0), j = next_entry(b, 0);
  for (; i < a->formatting.count && j < b->formatting.count; i = next_entry(a, i + 1), j = next_entry(b, j + 1))
    if (hp_listed_name_of(a, i) != hp_listed_name_of(b, j)) return false;
  return i == a->formatting.count && j == b->formatting.count;
}

static bool same_state(const hp_builder *a, const hp_outline *outline) {
  const hp_builder *b = &outline->builder;
  return a->mode == b->mode && same_stack(a, b) && same_list(a, b) && a->templates.count == b->templates.count &&
         a->flags.frameset_ok == b->flags.frameset_ok && hp_ignores_lf(a) == hp_ignores_lf(b) &&
         !a->pointers.head == !b->pointers.head && !hp_form_pointer(a) == !hp_form_pointer(b) &&
         a->document->quirks == hp_outline_quirks(outline) && a->tokenizer->content == hp_outline_content(outline);
}

static void note_inserted(void *context, const hp_outline_insertion *insertion) {
  comparison *c = context;
  if (insertion->is_open) c->open++;
  if (insertion->is_open && c->owns) hp_outline_node(&c->outline, insertion->node)->next = (hp_ref)++c->owned;
}

static void note_freed(void *context, hp_ref node) {
  comparison *c = context;
  (void)node;
  c->freed++;
}

static void note_popped(void *context, hp_ref node) {
  comparison *c = context;
  (void)node;
  c->open--;
}

static hpar_status open_outline(void *argument) {
  comparison *c = argument;
  hp_outline_events events = {.inserted = note_inserted, .popped = note_popped, .freed = note_freed, .context = c};
  c->open = c->owned = c->freed = 0;
  hp_outline_open(&c->outline, &events, c->engine->builder.script.scripting, &c->unwind);
  if (c->fragment) {
    hp_outline_begin_fragment(&c->outline, c->engine->builder.fragment.context.name,
                              c->engine->builder.fragment.context.ns);
    c->open++;
  }
  return HPAR_OK;
}

static void before_token(void *context, const hp_engine *engine, const hp_token *t, hp_text_state content,
                         uint32_t start) {
  comparison *c = context;
  (void)content, (void)start;
  c->engine = engine;
  c->token = t;
  if (c->differs) return;
  if (!c->began) CHECK(hp_try(&c->unwind, open_outline, c) == HPAR_OK);
  c->began = true;
  CHECK(hp_try(&c->unwind, take_token_of, c) == HPAR_OK);
}

static void after_token(void *context, const hp_engine *engine, const hp_token *t) {
  comparison *c = context;
  c->tokens++;
  if (c->differs) return;
  const hp_builder *b = &c->outline.builder;
  c->differs = !same_state(&engine->builder, &c->outline) || c->open != b->stack.depth - hp_tombstones(b);
  if (c->differs)
    printf("token %d at %u..%u, modes %d and %d, depths %u and %u, %llu open, lists %u and %u, in:\n", t->kind,
           t->start, t->end, b->mode, engine->builder.mode, b->stack.depth, engine->builder.stack.depth,
           (unsigned long long)c->open, b->formatting.count, engine->builder.formatting.count);
}

static comparison shared;

static void compare_outline(const char *bytes, size_t length, const char *fragment, bool scripting) {
  hp_request request = {.text = bytes, .length = length, .scripting = scripting};
  hp_observer observer = {&shared, before_token, after_token};
  shared.began = shared.differs = false;
  shared.fragment = fragment;
  CHECK(hp_observe(&request, fragment, &observer) == HPAR_OK);
  if (!CHECK(!shared.differs)) printf("%.*s\n", length < 4000 ? (int)length : 4000, bytes);
}
static bool fixtures(void) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  if (!CHECK(shared_files(directory, ".dat", &files))) return false;
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!CHECK(dat_read(files.paths[i], &file))) continue;
    for (size_t j = 0; j < file.count; j++) {
      const dat_test *test = &file.tests[j];
      if (test->scripting != DAT_ON) compare_outline(test->data, test->data_length, test->fragment, false);
      if (test->scripting != DAT_OFF) compare_outline(test->data, test->data_length, test->fragment, true);
    }
    dat_free(&file);
  }
  shared_list_free(&files);
  if (!shared_path(directory, sizeof directory, "corpus/pages")) return true;
  if (!CHECK(shared_files(directory, ".html", &files))) return false;
  size_t step = compare_full() ? 1 : 1 + files.count / (1 + files.count * compare_scale() / 100);
  for (size_t i = 0; i < files.count; i += step) {
    size_t length;
    char *bytes = shared_read(files.paths[i], &length);
    if (bytes) compare_outline(bytes, length, NULL, false);
    free(bytes);
  }
  shared_list_free(&files);
  return true;
}

/* Compares documents with long lists of formatting elements: `names` is the number of different
 * attribute values, so a small one gives many equal entries. */
static void compare_lists(uint64_t seed, unsigned tokens, unsigned names) {
  static const char *const tags[] = {"<b class=c%u>",  "<i class=c%u>", "<b class=c%u>",
                                     "<font size=%u>", "<code id=%u>",  "<a href=%u>",
                                     "<nobr>",         "<b>",           "<p>",
                                     "<p>x",           "<div>x",        "<table><td>",
                                     "<applet>",       "<span>",        "x",
                                     "</b>",           "</i>",          "</font>",
                                     "</a>",           "</p>",          "</div>",
                                     "</td>x",         "</applet>",     "</table>",
                                     "</code>"};
  enum { TAGS = sizeof tags / sizeof *tags, START_TAGS = 8, LATEST_TAG = 18 };
  buffer text = {0};
  uint64_t state = seed + 1;
  /* few kinds a document, so that some documents have no end tags, or no markers */
  unsigned kinds = 2 + (unsigned)(seed % TAGS), first = (unsigned)(seed / TAGS % LATEST_TAG);
  for (unsigned i = 0; i < tokens; i++) {
    state = mixed(state + i);
    unsigned kind = state >> 40 & 1 ? (unsigned)(state % START_TAGS) : (first + (unsigned)(state % kinds)) % TAGS;
    unsigned name = (unsigned)(state >> 20) % names;
    buffer_format(&text, tags[kind], name); // NOLINT: a format of the table
  }
  compare_outline(text.bytes, text.length, NULL, false);
  buffer_free(&text);
}

/* Elements with values of an owner free their nodes when they are neither open nor listed. */
static void check_memory(void) {
  enum { ELEMENTS = 2000, MOST = 40 };
  static const char *const pieces[] = {
      "<p>x</p>", "<p><i id=1>x</i></p>",         "<p><u id=1>x</p><p>y</u></p>",   "<a href=1>x<div></div></a>",
      "<b>x</b>", "<table><td><b id=2>x</table>", "<i><form><div></i></form></div>"};
  shared.owns = true;
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    buffer text = {0};
    buffer_text(&text, "<p><b id=1>x</p>");
    for (int k = 0; k < ELEMENTS; k++) buffer_text(&text, pieces[i]);
    compare_outline(text.bytes, text.length, NULL, false);
    CHECK(shared.owned > ELEMENTS);
    if (!CHECK(shared.owned - shared.freed < MOST))
      printf("  %" PRIu64 " nodes of %s\n", shared.owned - shared.freed, pieces[i]);
    buffer_free(&text);
  }
  shared.owns = false;
}

int main(int count, char **arguments) {
  if (check_part(count, arguments, "fixtures")) {
    if (!fixtures()) return CHECK_SKIPPED;
  } else {
    check_memory();
    for (size_t i = 0; i < document_count; i++)
      compare_outline(documents[i].bytes, documents[i].length, documents[i].fragment, documents[i].scripting);
    uint64_t generated_documents = compare_full() ? 1000000 : 200 * (uint64_t)compare_scale();
    for (uint64_t seed = 0; seed < generated_documents; seed++) {
      generated made = {0};
      generate(seed, &made);
      compare_outline(made.text.bytes, made.text.length, made.fragment, made.scripting);
      generate_free(&made);
    }
    uint64_t list_documents = compare_full() ? 100000 : 20 * (uint64_t)compare_scale();
    for (uint64_t seed = 0; seed < list_documents; seed++)
      compare_lists(seed, 20 + (unsigned)(seed % 7) * 60, seed % 3 ? 1 + (unsigned)(seed % 40) : 10000);
  }
  hp_outline_close(&shared.outline);
  printf("%llu tokens\n", (unsigned long long)shared.tokens);
  return check_report();
}
