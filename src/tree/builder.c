/* The code that does not depend on the outer context: opening, closing, fragment contexts. */

#include "tree/builder.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "dom/tag.h"
#include "tree/active_formatting.h"

// clang-format off
/* The arrays that a builder keeps between parses, and their capacities. */
#define EACH_ARRAY(_) \
  _(stack.entries, stack.capacity) _(stack.last, stack.last_capacity) _(stack.last_own, stack.last_own_capacity) \
  _(stack.higher.links, stack.higher.capacity) _(stack.foreign.links, stack.foreign.capacity) \
  _(stack.foreign.last, stack.foreign.last_capacity) _(formatting.entries, formatting.capacity) \
  _(formatting.alike, formatting.alike_capacity) _(templates.modes, templates.capacity) \
  _(formatting.attribute_places, formatting.attribute_place_capacity) _(select.clones, select.clone_capacity) \
  _(select.known, select.known_capacity) _(merged.marks, merged.capacity)
// clang-format on

void hp_builder_reset(hp_builder *b, uint32_t room, hp_unwind *unwind) {
  hp_builder kept = *b;
  memset(b, 0, sizeof *b);
#define KEEP(array, capacity) b->array = kept.array, b->capacity = kept.capacity;
  EACH_ARRAY(KEEP);
  if (b->stack.foreign.last)
    memset(b->stack.foreign.last, 0, b->stack.foreign.last_capacity * sizeof *b->stack.foreign.last);

  b->unwind = unwind;
  hp_grow_tight(&b->stack.entries, &b->stack.capacity, room, unwind);
  b->stack.top = b->stack.entries;
  b->stack.room = b->stack.capacity;
  b->stack.max_depth = UINT32_MAX;
  hp_grow(&b->stack.last, &b->stack.last_capacity, HP_TESTED_TAGS, unwind);
  memset(b->stack.entries, 0, sizeof *b->stack.entries);
  memset(b->stack.last, 0, b->stack.last_capacity * sizeof *b->stack.last);
  if (b->stack.last_own) memset(b->stack.last_own, 0, b->stack.last_own_capacity * sizeof *b->stack.last_own);
  b->flags.frameset_ok = true;
  b->pointers.form_known = true;
  b->mode = HP_INITIAL;
  hp_builder_set_listener(b, NULL);
}

void hp_builder_open(hp_builder *b, hpar_document *document, hp_tokenizer *tokenizer, hp_unwind *unwind) {
  enum { ROOM = 32 };
  hp_builder_reset(b, ROOM, unwind);
  hp_grow(&b->formatting.entries, &b->formatting.capacity, HP_MAX_UNLINKED, unwind);
  b->document = document;
  b->base = document->range.base;
  b->nodes = tokenizer->nodes;
  b->bytes = tokenizer->bytes;
  b->tokenizer = tokenizer;
}

void hp_builder_set_listener(hp_builder *b, hp_tag_listener *listener) {
  b->observers.listener = listener;
  b->observers.rows_to = listener ? (const char *)UINTPTR_MAX : NULL; // NOLINT: no text ends there
  b->flags.inserts_slowly = b->flags.source_offsets || listener;
  b->flags.takes_slowly = b->observers.errors || b->flags.source_offsets;
  b->flags.is_special = b->flags.takes_slowly || listener;
}

void hp_builder_close(hp_builder *b) {
#define FREE(array, capacity) hp_free(b->array);
  EACH_ARRAY(FREE);
}

const hp_encoding *hp_declared_encoding(const hp_builder *b, const hp_token *t) {
  if (!t->attributes) return NULL;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  const hp_attribute *content = NULL;
  bool pragma = false;
  const hp_encoding *encoding = NULL;
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    if (a->name == HP_ATOM_CHARSET) encoding = hp_encoding_for_label(a->value, a->length);
    if (a->name == HP_ATOM_HTTP_EQUIV) pragma = a->length == 12 && hp_ascii_equal(a->value, "content-type", 12);
    if (a->name == HP_ATOM_CONTENT) content = a;
  }
  return !encoding && pragma && content ? hp_encoding_in_content(content->value, content->length) : encoding;
}

bool hp_read_context(const char *text, uint8_t *ns, const char **name) {
  *ns = !strncmp(text, "svg ", 4)    ? HPAR_NAMESPACE_SVG
        : !strncmp(text, "math ", 5) ? HPAR_NAMESPACE_MATHML
                                     : HPAR_NAMESPACE_HTML;
  *name = text + (*ns == HPAR_NAMESPACE_SVG ? 4 : *ns == HPAR_NAMESPACE_MATHML ? 5 : 0);
  return **name && !strpbrk(*name, " \t\n\f\r/>");
}

bool hp_builder_parse_context(hp_builder *b, const char *text) {
  uint8_t ns;
  if (!hp_read_context(text, &ns, &text)) return false;
  hp_atom name = hp_intern(b->tokenizer->interner, text, strlen(text));
  if (ns == HPAR_NAMESPACE_SVG) name = hp_svg_tag_name(name);
  uint16_t tag = ns == HPAR_NAMESPACE_HTML ? hp_html_tag(name) : hp_foreign_tag(ns, name);
  b->fragment.context = (hp_open_element){.name = name, .ns = ns, .tag = tag};
  b->fragment.is_parsed = true;
  return true;
}

// clang-format off
/* The tags of the fused loop: each name, the kind of its start tag, that of its end tag. The names
 * of a kind without a row are in dom/tag.h. */
#define EACH_FUSED(_) \
  _(ADDRESS, DIV, ORDINARY) _(DIV, DIV, ORDINARY) _(P, DIV, ORDINARY) _(H1, HEADING, ORDINARY) \
  _(LI, ITEM, ORDINARY) _(DD, ITEM, ORDINARY) _(DT, ITEM, ORDINARY) _(A, FORMATTING, FORMATTING) \
  _(FONT, FORMATTING, FORMATTING) _(TD, CELL, CELL) _(TH, CELL, CELL) _(TR, ROW, OTHER) \
  _(AREA, VOID, OTHER) _(BR, VOID, OTHER) _(EMBED, VOID, OTHER) _(IMG, VOID, OTHER) _(KEYGEN, VOID, OTHER) \
  _(WBR, VOID, OTHER)
#define EACH_ORDINARY(_) \
  _(SPAN) _(ABBR) _(CITE) _(Q) _(DFN) _(DATA) _(TIME) _(VAR) _(SAMP) _(KBD) _(SUB) _(SUP) _(LABEL)
// clang-format on

const uint8_t hp_fused_starts[HP_KNOWN_ATOMS] = {
#define KIND(name, start, end) [HP_ATOM_##name] = HP_FUSED_##start,
#define BLOCK(name) KIND(name, BLOCK, )
#define HEADING(name) KIND(name, HEADING, )
#define FORMATTING(name) KIND(name, FORMATTING, )
#define ORDINARY(name) KIND(name, ORDINARY, )
    EACH_FUSED(KIND) HP_EACH_BLOCK(BLOCK) HP_EACH_LOW_HEADING(HEADING) HP_EACH_PHRASE(FORMATTING)
        EACH_ORDINARY(ORDINARY)};
#undef KIND

const uint8_t hp_fused_ends[HP_TESTED_TAGS] = {
#define KIND(name, start, end) [HP_ATOM_##name] = HP_FUSED_##end,
#define ORDINARY_END(name) KIND(name, , ORDINARY)
#define FORMATTING_END(name) KIND(name, , FORMATTING)
    EACH_FUSED(KIND) HP_EACH_BLOCK(ORDINARY_END) HP_EACH_LOW_HEADING(ORDINARY_END) HP_EACH_PHRASE(FORMATTING_END)
        EACH_ORDINARY(ORDINARY_END)};
