#include "script/edit.h"

#include "base/memory.h"
#include "platform/address_range.h"

bool hp_edit_is_allowed(const hp_edit_engine *editor) { return pthread_equal(editor->owner, pthread_self()); }

static void limit_memory(hp_edit_engine *e) {
  hp_range *range = &e->scripts.document->range;
  uint64_t limit = e->config.memory_limit;
  range->limit = limit && limit < range->size ? (size_t)limit : range->size;
}

static hpar_status open_engine(void *argument) {
  hp_edit_engine *e = argument;
  const hpar_document *document = e->scripts.document;
  const hp_request request = {.document = e->scripts.document,
                              .text = document->input.bytes,
                              .length = document->input.length,
                              .scripting = e->config.scripting,
                              .decodes_values = true,
                              .limits = e->config.limits};
  hp_engine_open(&e->engine, &request);
  return HPAR_OK;
}

hpar_status hp_edit_prepare(hp_edit_engine *e) {
  if (e->is_open) return HPAR_OK;
  uint64_t nodes = e->engine.builder.node_count;
  hpar_status status = hp_try(&e->engine.unwind, open_engine, e);
  e->engine.builder.node_count = nodes;
  e->is_open = status == HPAR_OK;
  return status;
}

/* Gives the rests of the slabs back. */
static void close_arenas(hp_edit_engine *e) {
  if (!e->is_open) return;
  hp_arena_close(&e->engine.nodes);
  hp_arena_close(&e->engine.bytes);
  e->is_open = false;
}

bool hp_edit_grow(hp_edit_engine *e) {
  hpar_document *document = e->scripts.document;
  hp_range *range = &document->range;
  uint64_t limit = e->config.memory_limit;
  if (!atomic_load_explicit(&range->is_full, memory_order_relaxed)) return false;
  atomic_store_explicit(&range->is_full, false, memory_order_relaxed);
  if (limit && limit <= range->size) return false;
  close_arenas(e);
  if (hp_range_grow(range, &document->former) != HPAR_OK) return false;
  limit_memory(e);
  hp_atoms_reopen(&document->atoms);
  return hp_edit_prepare(e) == HPAR_OK;
}

static void close_editor(void *editor) {
  hp_edit_engine *e = editor;
  hpar_document *document = e->scripts.document;
  close_arenas(e);
  hp_scripts_close(&e->scripts);
  hp_engine_close(&e->engine);
  hp_free(e);
  document->editor = NULL;
  document->range.limit = document->range.size;
  hp_atoms_reopen(&document->atoms);
  hp_range_trim(&document->range);
}

hpar_status hp_edit_begin(hpar_document *document, const hp_edit_config *config, hp_scripts **scripts) {
  hp_edit_engine *e = document->editor;
  if (e && !hp_edit_is_allowed(e)) return HPAR_ERROR_ARGUMENT;
  if (!e) {
    hpar_status status = hp_document_settle(document);
    if (status != HPAR_OK) return status;
    e = hp_allocate_zeroed(sizeof *e);
    if (!e) return HPAR_ERROR_MEMORY;
    hp_engine_init(&e->engine);
    e->scripts = (hp_scripts){.engine = &e->engine, .document = document, .editor = e};
    document->editor = e;
    document->close_editor = close_editor;
    e->owner = pthread_self();
    hp_atoms_reopen(&document->atoms);
  }
  e->config = *config;
  e->engine.limits = config->limits;
  close_arenas(e);
  limit_memory(e);
  *scripts = &e->scripts;
  return HPAR_OK;
}

hp_scripts *hp_edit_running(const hpar_document *document) {
  hp_edit_engine *e = document->editor;
  return e && hp_edit_is_allowed(e) ? &e->scripts : NULL;
}

void hp_edit_end(hpar_document *document) {
  if (document->editor) document->close_editor(document->editor);
}
