#ifndef HP_DOM_SERIALIZE_H
#define HP_DOM_SERIALIZE_H

/* The base of both serialisers: a buffer before the caller's sink, and a tour of the tree. The
 * tour enters and leaves each node, with template contents, and does not recurse. `status` keeps
 * the first failure of the sink or of memory. Later writes do nothing. */

#include "base/names.h"
#include "dom/node.h"

#include <hpar/node.h>
#include <string.h>

enum { HP_OUT_BYTES = 64 * 1024 };

typedef struct hp_out {
  char *buffer; /* HP_OUT_BYTES */
  size_t used;
  const hpar_document *document;
  hpar_write_callback write;
  void *context;
  hpar_status status;
} hp_out;

/* Returns false if the document or `write` is missing. May set `status`. */
bool hp_out_open(hp_out *out, const hpar_document *document, hpar_write_callback write, void *context);
/* Writes the rest of the buffer and frees it. Returns the status. */
hpar_status hp_out_close(hp_out *out);

void hp_out_flush(hp_out *out);
/* Writes bytes that do not fit in the buffer. */
void hp_out_long(hp_out *out, const char *bytes, size_t length);
void hp_out_spaces(hp_out *out, size_t count);

static inline void hp_out_bytes(hp_out *out, const char *bytes, size_t length) {
  if (length <= HP_OUT_BYTES - out->used) {
    memcpy(out->buffer + out->used, bytes, length);
    out->used += length;
  } else {
    hp_out_long(out, bytes, length);
  }
}

static inline void hp_out_byte(hp_out *out, char byte) { hp_out_bytes(out, &byte, 1); }
static inline void hp_out_string(hp_out *out, hpar_string string) { hp_out_bytes(out, string.bytes, string.length); }
#define HP_OUT_LITERAL(out, text) hp_out_bytes((out), (text), sizeof(text) - 1)

/* A tour of a tree: it enters or leaves `node`. The contents of a template precede the template's
 * children, one level down, as a fragment node. A fragment has no parent: `templates` keeps the
 * way back. */
typedef struct hp_tour {
  const hpar_document *document;
  hpar_node top, node;
  bool leaving;
  size_t depth; /* children of `top`: 0 */
  hpar_node *templates;
  size_t template_count, template_capacity;
} hp_tour;

/* Starts the tour at the first child of `top`, or at its template contents if there are any. */
void hp_tour_open(hp_tour *tour, const hpar_document *document, hpar_node top);
void hp_tour_close(hp_tour *tour);

/* Moves to the next node. Returns false at the end, and if out of memory; then *status is set. */
bool hp_tour_step(hp_tour *tour, hpar_status *status);

/* A buffer of the caller that receives as much as fits. `length` counts all. */
typedef struct hp_copy {
  char *to;
  size_t length, capacity;
} hp_copy;

/* An hpar_write_callback for an hp_copy. */
hpar_status hp_copy_piece(const char *bytes, size_t length, void *copy);

/* The effect of an element on the text. */
enum {
  HP_TEXT_INLINE,
  HP_TEXT_BLOCK,
  HP_TEXT_CELL,
  HP_TEXT_BREAK,
  HP_TEXT_KEEPS,        /* a block whose white space is kept */
  HP_TEXT_INLINE_KEEPS, /* textarea */
  HP_TEXT_OMITTED
};

extern const uint8_t hp_text_classes[HP_KNOWN_ATOMS]; /* by HTML element */

static inline uint8_t hp_text_class(const hp_node *element) {
  if (element->name >= HP_KNOWN_ATOMS) return HP_TEXT_INLINE;
  if (element->ns == HPAR_NAMESPACE_HTML) return hp_text_classes[element->name];
  return element->name == HP_ATOM_SCRIPT || element->name == HP_ATOM_STYLE ? HP_TEXT_OMITTED : HP_TEXT_INLINE;
}

#endif
