#include "study/show_token.h"

#include "base/memory.h"
#include "dom/value.h"

#include <string.h>

static hpar_string string_of(const hp_name name) { return (hpar_string){name.bytes, name.length}; }

static void show_attributes(hp_engine *engine, const hp_token *t, hp_shown_attributes *list, hpar_token *shown) {
  const hp_attributes *block = hp_at(engine->builder.base, t->attributes);
  hp_grow(&list->items, &list->capacity, block->count, &engine->unwind);
  for (uint32_t i = 0; i < block->count; i++)
    list->items[i] = // NOLINT: grown above
        (hpar_attribute){.local_name = string_of(hp_atom_name(&engine->builder.document->atoms, block->items[i].name)),
                         .value = hp_read_value(block, i, &engine->bytes)};
  shown->attributes = list->items;
  shown->attribute_count = block->count;
}

void hp_show_token(hp_engine *engine, const hp_token *t, hp_shown_attributes *attributes, hpar_token *shown) {
  memset(shown, 0, sizeof *shown);
  shown->kind = (hpar_token_kind)t->kind;
  shown->self_closing = t->flags & HP_TOKEN_SELF_CLOSING;
  shown->start = t->start;
  shown->end = t->end;
  if (t->kind == HPAR_TOKEN_START_TAG || t->kind == HPAR_TOKEN_END_TAG || t->kind == HPAR_TOKEN_PROCESSING_INSTRUCTION)
    shown->name = string_of(hp_atom_name(&engine->builder.document->atoms, t->name));
  if (t->kind == HPAR_TOKEN_START_TAG && t->attributes) show_attributes(engine, t, attributes, shown);
  if (t->kind == HPAR_TOKEN_TEXT || t->kind == HPAR_TOKEN_COMMENT || t->kind == HPAR_TOKEN_PROCESSING_INSTRUCTION)
    shown->data = (hpar_string){t->data, t->length};
  if (t->kind == HPAR_TOKEN_DOCTYPE) {
    const hp_doctype *d = t->doctype;
    shown->force_quirks = t->flags & HP_TOKEN_FORCE_QUIRKS;
    shown->has_name = d->name.bytes != NULL;
    shown->has_public_id = d->public_id.bytes != NULL;
    shown->has_system_id = d->system_id.bytes != NULL;
    shown->name = string_of(d->name);
    shown->public_id = string_of(d->public_id);
    shown->system_id = string_of(d->system_id);
  }
}
