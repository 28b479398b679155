#ifndef HP_DOM_DOCUMENT_H
#define HP_DOM_DOCUMENT_H

#include "base/arena.h"
#include "base/atom.h"
#include "base/call.h"
#include "base/target.h"
#include "dom/node.h"
#include "runtime/stragglers.h"
#include "text/buffer.h"
#include "text/input.h"

#include <stdatomic.h>

/* The lock of the deferred values (dom/value.h), and the change that its thread makes. */
typedef struct hp_value_lock {
  _Atomic unsigned holder;        /* hp_fork_generation of the holder + 1; 0: not locked */
  _Atomic(hp_attributes *) block; /* of the changing attribute; NULL: nothing changes */
  uint32_t index;
  hp_attribute item; /* before the change */
  size_t spare;      /* of the range, before the change */
} hp_value_lock;

struct hpar_document {
  hp_in_use use;
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
  size_t deferred_bytes; /* the maximal length of all decoded values that the parse deferred */
  hp_value_lock values;
  hp_stragglers *stragglers; /* threads of the last parse that have not left; NULL: none */
  bool in_parse;
  bool is_fragment; /* of a fragment parse: the document node may have any children */
  void *editor;     /* of changes after the parse; NULL: none */
  void (*close_editor)(void *editor);
  hp_former_memory *former; /* that the range has left since the parse; NULL: none */
};

/* Ends a call that used the document. A callback may have destroyed it: then it is freed. */
void hp_document_end_use(const hpar_document *document);

/* Waits for threads of the last parse. Returns HPAR_ERROR_ARGUMENT if a parse is in progress. */
hpar_status hp_document_settle(hpar_document *document);

/* Drops the tree and makes an empty document node. Detaches the parser that is being fed. Keeps the
 * bytes of `source`. */
void hp_document_reset(hpar_document *document);

/* Resets the document and makes its range ready for a parse of `length` bytes, with memory from
 * jemalloc or not. Returns HPAR_ERROR_MEMORY if there is no address space. */
HP_SHARED hpar_status hp_document_open(hpar_document *document, bool jemalloc, size_t length);

/* Reserves the spare bytes for `deferred_bytes`. Returns HPAR_ERROR_MEMORY if the range has less
 * space. Requires: the tree is complete. */
hpar_status hp_document_reserve_values(hpar_document *document);

/* Gives back the address space that the tree and the texts do not use, after a parse. Drops
 * `source` unless offsets or nodes refer to it. */
void hp_document_trim(hpar_document *document);

#endif
