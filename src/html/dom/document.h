#ifndef HP_HTML_DOM_DOCUMENT_H
#define HP_HTML_DOM_DOCUMENT_H

#include "base/arena.h"
#include "base/atom.h"
#include "html/dom/node.h"
#include "text/buffer.h"
#include "text/input.h"

#include <stdatomic.h>

struct hpar_document {
  hp_range range;
  _Alignas(8) char blank[HP_FIRST_OBJECT + sizeof(hp_node)]; /* the range before the first parse */
  hp_atoms atoms;
  hp_ref root;
  hpar_quirks quirks;
  _Atomic bool has_base;         /* any thread of a parse sets it when it makes a base element */
  hp_input input;                /* of the last parse: nodes point into its bytes */
  hp_buffer text;                /* decoded or incremental input */
  hp_buffer source;              /* bytes of incremental input that may be decoded again */
  void (*abandon)(void *feeder); /* detaches the parser that is being fed; NULL: none is */
  void *feeder;
};

/* Drops the tree and makes an empty document node. Detaches the parser that is being fed. Keeps the
 * bytes of `source`. */
void hp_document_reset(hpar_document *document);

/* Resets the document and makes its range ready for a parse of `length` bytes, with memory from
 * jemalloc or not. Returns HPAR_ERROR_MEMORY if there is no address space. */
hpar_status hp_document_open(hpar_document *document, bool jemalloc, size_t length);

/* Gives back the address space that the tree and the texts do not use, after a parse. Drops
 * `source` unless offsets or nodes refer to it. */
void hp_document_trim(hpar_document *document);

#endif
