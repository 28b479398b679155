#ifndef HP_HTML_DOM_DOCUMENT_H
#define HP_HTML_DOM_DOCUMENT_H

#include "base/arena.h"
#include "base/atom.h"
#include "html/dom/node.h"
#include "text/buffer.h"
#include "text/input.h"

struct hpar_document {
  hp_range range;
  hp_atoms atoms;
  hp_ref root;
  hpar_quirks quirks;
  hp_input input; /* of the last parse: nodes point into its bytes */
  /* Of a parse that is fed: the text, and those of its bytes that may be needed again. */
  hp_buffer text, source;
  void (*abandon)(void *feeder); /* takes the document away from who feeds it; NULL: nobody does */
  void *feeder;
};

/* Drops the tree and makes an empty document node. Nobody feeds the document any more; `source` is kept. */
hpar_status hp_document_reset(hpar_document *document);

/* The same, and its memory is from jemalloc or not from now on. On failure it stays as it was, but empty. */
hpar_status hp_document_reset_in(hpar_document *document, bool jemalloc);

#endif
