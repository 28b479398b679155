/* The code that does not depend on the outer context: opening, closing, fragment contexts. */

#include "tree/builder.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "base/vector.h"
#include "dom/tag.h"
#include "tree/context.h"
#include "tree/listing.h"

void hp_builder_reset(hp_builder *b, uint32_t room, hp_unwind *unwind) {
  hp_builder kept = *b;
  memset(b, 0, sizeof *b);
  b->stack = kept.stack;
  b->stack_capacity = kept.stack_capacity;
  b->last = kept.last;
  b->last_capacity = kept.last_capacity;
  b->last_own = kept.last_own;
  b->last_own_capacity = kept.last_own_capacity;
  b->formatting = kept.formatting;
  b->formatting_capacity = kept.formatting_capacity;
  b->higher = kept.higher;
  b->higher_capacity = kept.higher_capacity;
  b->listed = kept.listed;
  b->listed_capacity = kept.listed_capacity;
  b->alike = kept.alike;
  b->alike_capacity = kept.alike_capacity;
  b->attribute_places = kept.attribute_places;
  b->attribute_place_capacity = kept.attribute_place_capacity;
  b->template_modes = kept.template_modes;
  b->template_capacity = kept.template_capacity;
  b->clones = kept.clones;
  b->clone_capacity = kept.clone_capacity;
  b->known_selects = kept.known_selects;
  b->known_capacity = kept.known_capacity;
  b->followed = kept.followed;
  b->followed_capacity = kept.followed_capacity;
  b->last_foreign = kept.last_foreign;
  b->last_foreign_capacity = kept.last_foreign_capacity;
  if (kept.followed_top) memset(b->last_foreign, 0, b->last_foreign_capacity * sizeof *b->last_foreign);
  b->merged = kept.merged;
  b->merged_capacity = kept.merged_capacity;

  b->unwind = unwind;
  hp_grow_tight(&b->stack, &b->stack_capacity, room, unwind);
  b->top = b->stack;
  b->stack_room = b->stack_capacity;
  b->max_depth = UINT32_MAX;
  hp_grow(&b->last, &b->last_capacity, HP_TESTED_TAGS, unwind);
  memset(b->stack, 0, sizeof *b->stack);
  memset(b->last, 0, b->last_capacity * sizeof *b->last);
  if (b->last_own) memset(b->last_own, 0, b->last_own_capacity * sizeof *b->last_own);
  b->frameset_ok = true;
  b->form_known = true;
  b->mode = HP_INITIAL;
  hp_builder_watch(b, NULL);
}

void hp_builder_open(hp_builder *b, hpar_document *document, hp_tokenizer *tokenizer, hp_unwind *unwind) {
  enum { ROOM = 32 };
  hp_builder_reset(b, ROOM, unwind);
  hp_grow(&b->formatting, &b->formatting_capacity, HP_MAX_UNLINKED, unwind);
  b->document = document;
  b->base = document->range.base;
  b->nodes = tokenizer->nodes;
  b->bytes = tokenizer->bytes;
  b->tokenizer = tokenizer;
}

void hp_builder_watch(hp_builder *b, hp_tag_watch *watch) {
  b->watch = watch;
  b->inserts_slowly = b->source_offsets || watch;
  b->takes_slowly = b->errors || b->source_offsets;
  b->is_special = b->takes_slowly || watch;
}

void hp_builder_close(hp_builder *b) {
  hp_free(b->stack);
  hp_free(b->last);
  hp_free(b->last_own);
  hp_free(b->formatting);
  hp_free(b->higher);
  hp_free(b->listed);
  hp_free(b->alike);
  hp_free(b->attribute_places);
  hp_free(b->template_modes);
  hp_free(b->clones);
  hp_free(b->known_selects);
  hp_free(b->followed);
  hp_free(b->last_foreign);
  hp_free(b->merged);
}

const hp_encoding *hp_declared_encoding(const hp_builder *b, const hp_token *t) {
  if (!t->attributes) return NULL;
  const hp_attributes *block = hp_at(b->base, t->attributes);
  const hp_attribute *content = NULL;
  bool pragma = false;
  const hp_encoding *encoding = NULL;
  for (uint32_t i = 0; i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    if (a->name == HP_CHARSET) encoding = hp_encoding_for_label(a->value, a->length);
    if (a->name == HP_HTTP_EQUIV) pragma = a->length == 12 && hp_ascii_equal(a->value, "content-type", 12);
    if (a->name == HP_CONTENT) content = a;
  }
  return !encoding && pragma && content ? hp_encoding_in_content(content->value, content->length) : encoding;
}

bool hp_builder_parse_context(hp_builder *b, const char *text) {
  uint8_t ns = HPAR_NAMESPACE_HTML;
  if (!strncmp(text, "svg ", 4)) {
    ns = HPAR_NAMESPACE_SVG;
    text += 4;
  } else if (!strncmp(text, "math ", 5)) {
    ns = HPAR_NAMESPACE_MATHML;
    text += 5;
  }
  size_t length = strlen(text);
  if (!length || strpbrk(text, " \t\n\f\r/>")) return false;
  hp_atom name = hp_intern(b->tokenizer->interner, text, length);
  if (ns == HPAR_NAMESPACE_SVG) name = hp_svg_tag_name(name);
  uint16_t tag = ns == HPAR_NAMESPACE_HTML ? hp_html_tag(name) : hp_foreign_tag(ns, name);
  b->context = (hp_open_element){.name = name, .ns = ns, .tag = tag};
  b->fragment = true;
  return true;
}
