#include "dom/serialize_out.h"

#include "base/memory.h"

bool hp_out_open(hp_out *out, const hpar_document *document, hpar_write_callback write, void *context) {
  if (!document || !write) return false;
  hp_begin_use(&document->use);
  *out = (hp_out){hp_allocate(HP_OUT_BYTES), 0, document, write, context, HPAR_OK};
  if (!out->buffer) {
    out->status = HPAR_ERROR_MEMORY;
    out->used = HP_OUT_BYTES; /* every write takes the slow path, which reads the status */
  }
  return true;
}

void hp_out_flush(hp_out *out) {
  if (out->status) return;
  if (out->used) out->status = out->write(out->buffer, out->used, out->context);
  out->used = out->status ? HP_OUT_BYTES : 0;
}

hpar_status hp_out_close(hp_out *out) {
  hp_out_flush(out);
  hp_free(out->buffer);
  hp_document_end_use(out->document);
  return out->status;
}

void hp_out_long(hp_out *out, const char *bytes, size_t length) {
  hp_out_flush(out);
  if (out->status) return;
  if (length < HP_OUT_BYTES) {
    memcpy(out->buffer, bytes, length);
    out->used = length;
    return;
  }
  out->status = out->write(bytes, length, out->context);
  if (out->status) out->used = HP_OUT_BYTES;
}

void hp_out_spaces(hp_out *out, size_t count) {
  static const char spaces[] = "                                                                "
                               "                                                                ";
  const size_t block = sizeof spaces - 1;
  while (count > block && !out->status) {
    hp_out_bytes(out, spaces, block);
    count -= block;
  }
  hp_out_bytes(out, spaces, count > block ? 0 : count);
}

void hp_tour_open(hp_tour *tour, const hpar_document *document, hpar_node top) {
  *tour = (hp_tour){.document = document, .top = top, .node = top};
}

void hp_tour_close(hp_tour *tour) { hp_free(tour->templates); }

static bool remember_template(hp_tour *tour, hpar_node element) {
  if (tour->template_count == tour->template_capacity) {
    size_t capacity = tour->template_capacity ? tour->template_capacity * 2 : 16;
    hpar_node *grown = hp_reallocate(tour->templates, capacity * sizeof *grown);
    if (!grown) return false;
    tour->templates = grown;
    tour->template_capacity = capacity;
  }
  tour->templates[tour->template_count++] = element;
  return true;
}

static bool enter(hp_tour *tour, hpar_node node) {
  tour->node = node;
  tour->leaving = false;
  return true;
}

static bool leave(hp_tour *tour, hpar_node node) {
  if (node == tour->top) return false;
  tour->node = node;
  tour->leaving = true;
  tour->depth--;
  return true;
}

bool hp_tour_step(hp_tour *tour, hpar_status *status) {
  const hpar_document *document = tour->document;
  if (!tour->node) return false;
  if (!tour->leaving) {
    hpar_node inner = hpar_node_template_contents(document, tour->node);
    if (inner && !remember_template(tour, tour->node)) {
      *status = HPAR_ERROR_MEMORY;
      return false;
    }
    if (!inner) inner = hpar_node_first_child(document, tour->node);
    if (!inner && tour->node == tour->top) return false;
    if (inner) {
      if (tour->node != tour->top) tour->depth++;
      return enter(tour, inner);
    }
    tour->leaving = true;
    return true;
  }
  if (hpar_node_kind(document, tour->node) == HPAR_NODE_FRAGMENT) {
    hpar_node element = tour->templates[--tour->template_count];
    hpar_node child = hpar_node_first_child(document, element);
    return child ? enter(tour, child) : leave(tour, element);
  }
  hpar_node next = hpar_node_next(document, tour->node);
  return next ? enter(tour, next) : leave(tour, hpar_node_parent(document, tour->node));
}

hpar_status hp_copy_piece(const char *bytes, size_t length, void *copy) {
  hp_copy *c = copy;
  size_t room = c->capacity > c->length ? c->capacity - c->length : 0, n = length < room ? length : room;
  if (n) memcpy(c->to + c->length, bytes, n);
  c->length += length;
  return HPAR_OK;
}
