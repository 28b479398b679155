#include "html/dom/document.h"

#include "base/memory.h"

hpar_status hpar_document_create(hpar_document **document) {
  hpar_document *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hpar_status status = hp_range_reserve(&made->range);
  if (status == HPAR_OK) status = hp_atoms_create(&made->atoms, &made->range);
  if (status == HPAR_OK) status = hp_document_reset(made);
  if (status != HPAR_OK) {
    if (made->atoms.range) hp_atoms_destroy(&made->atoms);
    hp_range_release(&made->range);
    hp_free(made);
    return status;
  }
  *document = made;
  return HPAR_OK;
}

static void take_away(hpar_document *document) {
  void (*abandon)(void *) = document->abandon;
  document->abandon = NULL;
  if (abandon) abandon(document->feeder);
}

void hpar_document_destroy(hpar_document *document) {
  if (!document) return;
  take_away(document);
  hp_atoms_destroy(&document->atoms);
  hp_range_release(&document->range);
  hp_input_close(&document->input);
  hp_buffer_close(&document->text);
  hp_buffer_close(&document->source);
  hp_free(document);
}

hpar_status hp_document_reset_in(hpar_document *document, bool jemalloc) {
  if (document->range.by_jemalloc != jemalloc) {
    take_away(document);
    hpar_status status = hp_range_move(&document->range, jemalloc);
    if (status != HPAR_OK) {
      hp_document_reset(document);
      return status;
    }
  }
  return hp_document_reset(document);
}

hpar_status hp_document_reset(hpar_document *document) {
  take_away(document);
  hp_range_reset(&document->range);
  hp_atoms_reset(&document->atoms);
  hp_input_close(&document->input);
  memset(&document->input, 0, sizeof document->input);
  hp_buffer_clear(&document->text);
  document->quirks = HPAR_NO_QUIRKS;
  /* The document node is the range's first object: it needs no slab and cannot fail. */
  hp_node *root = (hp_node *)(document->range.base + atomic_load(&document->range.top));
  atomic_fetch_add(&document->range.top, sizeof *root);
  HP_UNPOISON(root, sizeof *root);
  memset(root, 0, sizeof *root);
  root->kind = HPAR_NODE_DOCUMENT;
  document->root = hp_ref_of(document->range.base, root);
  return HPAR_OK;
}
