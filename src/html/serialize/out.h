#ifndef HP_HTML_SERIALIZE_OUT_H
#define HP_HTML_SERIALIZE_OUT_H

/* What both serialisers stand on: a buffer before the caller's sink, and a tour of the tree that enters and leaves
 * each node, template contents included, without recursion. The first failure, of the sink or of memory, is
 * kept in `status`, after which writing does nothing. */

#include "base/arena.h"

#include <hpar/serialize.h>
#include <string.h>

enum { HP_OUT_BYTES = 64 * 1024 };

typedef struct hp_out {
  char *buffer; /* HP_OUT_BYTES */
  size_t used;
  hpar_write_fn write;
  void *context;
  hpar_status status;
} hp_out;

void hp_out_open(hp_out *out, hpar_write_fn write, void *context); /* may set status */
hpar_status hp_out_close(hp_out *out);                             /* writes what is left, frees, gives the status */

void hp_out_flush(hp_out *out);
void hp_out_long(hp_out *out, const char *bytes, size_t length); /* what does not fit in the buffer */
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

/* A tour stands at `node`, on its way in or out. The contents of a template come before the template's
 * children, one level down, as a fragment node; `templates` remembers the way back, since a fragment has no parent. */
typedef struct hp_tour {
  const hpar_document *document;
  hpar_node top, node;
  bool leaving;
  size_t depth; /* children of `top`: 0 */
  hpar_node *templates;
  size_t template_count, template_capacity;
} hp_tour;

/* Begins at the first child of `top`, its template contents first. */
void hp_tour_open(hp_tour *tour, const hpar_document *document, hpar_node top);
void hp_tour_close(hp_tour *tour);

/* The next station: false at the end, or with *status set when memory is short. */
bool hp_tour_step(hp_tour *tour, hpar_status *status);

#endif
