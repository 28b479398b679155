#include "base/memory.h"
#include "dom/node.h"
#include "dom/value.h"
#include "platform/address_range.h"

/* Makes the document node the first object of the range. It needs no slab, so this cannot fail. */
static void make_empty(hpar_document *document) {
  hp_range *range = &document->range;
  hp_range_reset(range);
  hp_node *root = (hp_node *)(range->base + HP_FIRST_OBJECT);
  atomic_store_explicit(&range->top, HP_FIRST_OBJECT + sizeof *root, memory_order_relaxed);
  HP_UNPOISON(root, sizeof *root);
  memset(root, 0, sizeof *root);
  root->kind = HPAR_NODE_DOCUMENT;
  document->root = hp_ref_of(range->base, root);
  document->quirks = HPAR_NO_QUIRKS;
}

/* Reserves no address space: the first parse does that. Documents without a tree cost none. */
hpar_status hpar_document_create(hpar_document **document) {
  if (!document) return HPAR_ERROR_ARGUMENT;
  *document = NULL;
  hpar_document *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  made->range.base = made->blank;
  made->range.size = sizeof made->blank;
  hpar_status status = hp_atoms_create(&made->atoms, &made->range);
  if (status != HPAR_OK) {
    hp_free(made);
    return status;
  }
  make_empty(made);
  *document = made;
  return HPAR_OK;
}

static void await_stragglers(hpar_document *document) {
  hp_late_crews_sweep(&document->late, true);
  if (!document->stragglers) return;
  hp_stragglers_wait(document->stragglers);
  hp_stragglers_release(document->stragglers);
  document->stragglers = NULL;
  /* A parse that begins again needs the bytes that it was fed. */
  if (!document->in_parse) hp_document_trim(document);
}

hpar_status hp_document_settle(hpar_document *document) {
  if (document->abandon || document->in_parse) return HPAR_ERROR_ARGUMENT;
  await_stragglers(document);
  return HPAR_OK;
}

/* Makes the caller the only user: detaches a parser that is being fed, waits for late threads, and
 * ends changes. */
static void take_away(hpar_document *document) {
  void (*abandon)(void *) = document->abandon;
  document->abandon = NULL;
  if (abandon) abandon(document->feeder);
  await_stragglers(document);
  if (document->editor) document->close_editor(document->editor);
  hp_former_memory_release(document->former);
  document->former = NULL;
}

static void free_document(hpar_document *document) {
  take_away(document);
  hp_atoms_destroy(&document->atoms);
  hp_range_release(&document->range);
  hp_input_close(&document->input);
  hp_buffer_close(&document->text);
  hp_buffer_close(&document->source);
  hp_free(document);
}

void hpar_document_destroy(hpar_document *document) {
  if (document && hp_destroy_use(&document->use)) free_document(document);
}

void hp_document_end_use(const hpar_document *document) {
  if (hp_end_use(&document->use)) free_document((hpar_document *)(uintptr_t)document);
}

void hp_document_end_reading(const hpar_document *document) {
  if (hp_end_reading(&document->use)) free_document((hpar_document *)(uintptr_t)document);
}

void hp_document_reset(hpar_document *document) {
  take_away(document);
  make_empty(document);
  atomic_store_explicit(&document->has_base, false, memory_order_relaxed);
  hp_atoms_reset(&document->atoms);
  hp_input_close(&document->input);
  memset(&document->input, 0, sizeof document->input);
  hp_buffer_clear(&document->text);
  document->deferred_bytes = 0;
  document->is_fragment = false;
  atomic_store_explicit(&document->values.holder, 0, memory_order_relaxed);
  atomic_store_explicit(&document->values.block, NULL, memory_order_relaxed);
}

void hp_document_empty(hpar_document *document) {
  hp_document_reset(document);
  hp_document_trim(document);
}

void hpar_document_clear(hpar_document *document) {
  if (document && !hp_is_in_use(&document->use)) hp_document_empty(document);
}

static void note_move(hpar_document *document, const hpar_document *from) {
  if (document->range.base == from->blank) document->range.base = document->blank;
  hp_atoms_move(&document->atoms, &document->range);
}

void hp_document_exchange(hpar_document *a, hpar_document *b) {
  enum { BEGIN = offsetof(hpar_document, range), LENGTH = sizeof *a - BEGIN };
  char kept[LENGTH];
  take_away(a);
  take_away(b);
  memcpy(kept, (char *)a + BEGIN, LENGTH);
  memcpy((char *)a + BEGIN, (char *)b + BEGIN, LENGTH);
  memcpy((char *)b + BEGIN, kept, LENGTH);
  note_move(a, b);
  note_move(b, a);
}

hpar_status hp_document_reserve_values(hpar_document *document) {
  size_t bytes = document->deferred_bytes;
  return !bytes || hp_range_spare(&document->range, bytes + HP_DECODING_SLACK) ? HPAR_OK : HPAR_ERROR_MEMORY;
}

hpar_status hp_document_open(hpar_document *document, bool jemalloc, size_t length) {
  take_away(document);
  hpar_status status = hp_range_open(&document->range, length, jemalloc);
  hp_document_reset(document);
  document->in_parse = true;
  return status;
}

static bool lies_in(const hp_buffer *buffer, const char *bytes) {
  return buffer->base && bytes >= buffer->base && bytes <= buffer->base + buffer->length;
}

void hp_document_trim(hpar_document *document) {
  document->in_parse = false;
  if (document->stragglers) return; /* take_away will do it */
  hp_buffer *source = &document->source;
  if (!lies_in(source, document->input.bytes) && !lies_in(source, document->input.source)) hp_buffer_clear(source);
  hp_range_trim(&document->range);
  hp_buffer_trim(&document->text);
  hp_buffer_trim(source);
}

void hp_append(char *base, hp_ref parent, hp_ref node) {
  hp_node *into = hp_node_at(base, parent), *child = hp_node_at(base, node);
  child->parent = parent;
  child->previous = into->last;
  child->next = 0;
  if (into->last)
    hp_node_at(base, into->last)->next = node;
  else
    into->first = node;
  into->last = node;
}

/* `parent` is the node that holds the list of siblings. It is a splice anchor for a run that the
 * merger has not spliced in yet. */
void hp_insert_before(char *base, hp_ref parent, hp_ref node, hp_ref next) {
  if (!next) {
    hp_append(base, parent, node);
    return;
  }
  hp_node *child = hp_node_at(base, node), *after = hp_node_at(base, next);
  child->parent = parent;
  child->previous = after->previous;
  child->next = next;
  if (after->previous)
    hp_node_at(base, after->previous)->next = node;
  else
    hp_node_at(base, parent)->first = node;
  after->previous = node;
}

void hp_remove(char *base, hp_ref node) {
  hp_node *child = hp_node_at(base, node);
  hp_ref parent = hp_parent_of(base, child);
  if (!parent && !child->parent) return;
  hp_node *from = hp_node_at(base, parent ? parent : child->parent);
  if (child->previous)
    hp_node_at(base, child->previous)->next = child->next;
  else
    from->first = child->next;
  if (child->next)
    hp_node_at(base, child->next)->previous = child->previous;
  else
    from->last = child->previous;
  child->parent = child->previous = child->next = 0;
}

static bool has_descendants(const hp_node *node) {
  if (node->kind == HPAR_NODE_ELEMENT) return node->first || node->flags & HP_FLAG_TEMPLATE;
  return hp_can_have_children(node);
}

//§ concept-tree-host-including-inclusive-ancestor
bool hp_contains(const char *base, hp_ref node, hp_ref inside) {
  if (!has_descendants(hp_node_at(base, node))) return node == inside;
  while (inside && inside != node) {
    const hp_node *n = hp_node_at(base, inside);
    inside = n->kind == HPAR_NODE_FRAGMENT ? hp_host_of(n) : hp_parent_of(base, n);
  }
  return inside != 0;
}

void hp_move_children(char *base, hp_ref from, hp_ref to) {
  hp_node *source = hp_node_at(base, from), *target = hp_node_at(base, to);
  for (hp_ref ref = source->first; ref; ref = hp_node_at(base, ref)->next) hp_node_at(base, ref)->parent = to;
  target->first = source->first;
  target->last = source->last;
  source->first = source->last = 0;
}
