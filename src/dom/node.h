#ifndef HP_DOM_NODE_H
#define HP_DOM_NODE_H

/* A node has 32 bytes, a text node 24. References into the document's range link nodes.
 *
 *   parent            the parent, or a splice anchor in its place (see below); 0 for a root
 *   previous, next    siblings; first child's previous and last child's next are 0
 *   first, last       children of a document, fragment, element or anchor
 *
 * A *splice anchor* is the parent of a run of siblings whose real parent was unknown when they were
 * made. The merger sets the anchor's own parent when it splices the run in, so moving a run costs
 * O(1). Anchors are never children. The reference of its contents follows an HTML template element
 * in memory. With source offsets, four 32-bit offsets precede every element. */

#include "base/arena.h"
#include "base/atom.h"
#include "base/call.h"
#include "base/target.h"
#include "runtime/crew.h"
#include "text/input.h"

#include <hpar/node.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { HP_NODE_ANCHOR = 32 }; /* a value besides those of hpar_node_type */

enum {
  HP_FLAG_SOURCE = 1,           /* four offsets precede the node */
  HP_FLAG_TEMPLATE = 2,         /* a reference to the contents follows the node */
  HP_FLAG_HTML_INTEGRATION = 4, /* annotation-xml with an HTML encoding */
  HP_FLAG_OPEN = 8,             /* on the stack of open elements; kept for formatting elements */
  HP_FLAG_STARTED = 16,         /* script: already started */
  HP_FLAG_OWN_BLOCK = 32,       /* element: its block is its own; see edit.c */
  HP_FLAG_IN_RANGE = 32,        /* text: its bytes are in the document's range */
  HP_FLAG_BUFFER = 64,          /* text: the bytes are a buffer, and its capacity precedes them */
  HP_FLAG_CREATED = 128,        /* element: made by a script */
  /* audio, video: bits of hp_media_of, from the finder of resources. In formatting elements they
   * have another meaning */
  HP_FLAG_MEDIA_SHIFT = 8
};

/* dom/value.h reads the value. Code that runs before the end of the parse reads `value` and
 * `length` only for the tags of hp_reads_values. The tokenizer decodes their values at once. */
typedef struct hp_attribute {
  hp_atom name;
  uint32_t length;
  const char *value;
} hp_attribute;

/* Elements may share a block. Only the element for whose tag the tokenizer has made a block may
 * change it: before the next token, and without HP_SHARED_BLOCK. All other code changes a copy,
 * which edits keep with HP_FLAG_OWN_BLOCK. */
typedef struct hp_attributes {
  uint32_t count;
  _Atomic uint32_t deferred; /* bit i: the value of items[i] has undecoded character references */
  hp_attribute items[];
} hp_attributes;

/* Precedes a block that can grow, as with HP_FLAG_OWN_BLOCK. */
typedef struct hp_block_growth { // value
  uint32_t capacity;             /* 0: a clone shares the block */
  uint32_t in_tag;               /* attributes that are in the tag: the first ones */
} hp_block_growth;

static inline hp_block_growth *hp_growth_of(const hp_attributes *block) {
  return (hp_block_growth *)(uintptr_t)block - 1;
}

/* In `deferred`: later tags may share the block. */
#define HP_SHARED_BLOCK (UINT32_C(1) << 31)
enum { HP_MAX_DEFERRED = 31 }; /* attributes of an element whose values may be deferred */

typedef struct hp_doctype {
  hp_name name, public_id, system_id; /* .bytes NULL: missing */
} hp_doctype;

typedef struct hp_node {
  hp_ref parent, previous, next;
  uint8_t kind, ns;
  uint16_t flags;
  union {
    struct {
      hp_ref first, last;
      hp_atom name;
      hp_ref attributes; /* 0: none */
    };
    struct { /* hp_text_of reads it, hp_set_text and hp_set_range_text write it */
      uint32_t place, length;
    } text;
    struct { /* comment, processing instruction */
      const char *data;
      uint32_t length;
      hp_atom target;
    };
    const hp_doctype *doctype;
  };
} hp_node;

/* Bits of the flags of a formatting element that a worker has made: how many entries of its list
 * equalled this one after the push, if more than one and no marker of its own preceded them. */
enum { HP_EQUAL_SHIFT = 8, HP_MAX_EQUAL = 3 };

enum { HP_TEXT_NODE_BYTES = offsetof(hp_node, text) + 2 * sizeof(uint32_t) };

_Static_assert(sizeof(hp_node) == 32 && HP_TEXT_NODE_BYTES == 24, "a node has 32 bytes, a text node 24");

static inline hp_node *hp_node_at(const char *base, hp_ref ref) { return (hp_node *)hp_at(base, ref); }

/* The bytes of a text node are in the input's text, at the offset `place`. With HP_FLAG_IN_RANGE
 * they are in the document's range: `place` is a reference, and the flags have the rest of the
 * address. */
enum { HP_TEXT_REST_SHIFT = 8 };

/* Returns the bytes of a text node. `base` is the range's base, `text` the input's text. */
static inline hpar_string hp_text_of(const char *base, const char *text, const hp_node *node) {
  const char *bytes = text + node->text.place;
  if (node->flags & HP_FLAG_IN_RANGE)
    bytes = (const char *)hp_at(base, node->text.place) + (node->flags >> HP_TEXT_REST_SHIFT);
  return (hpar_string){bytes, node->text.length};
}

/* Sets the kind and the bytes of a text node. `data` is in the input's text. */
static inline void hp_set_text(hp_node *node, const char *text, const char *data, uint32_t length) {
  node->kind = HPAR_NODE_TEXT;
  node->ns = 0;
  node->flags = 0;
  node->text.place = (uint32_t)(data - text);
  node->text.length = length;
}

/* The same for bytes in the range of `base`. `flags` is 0 or HP_FLAG_BUFFER. */
static inline void hp_set_range_text(hp_node *node, const char *base, const char *data, uint32_t length,
                                     uint16_t flags) {
  size_t offset = (size_t)(data - base);
  node->kind = HPAR_NODE_TEXT;
  node->ns = 0;
  node->flags = (uint16_t)(HP_FLAG_IN_RANGE | flags | (offset & 7) << HP_TEXT_REST_SHIFT);
  node->text.place = (uint32_t)(offset >> 3);
  node->text.length = length;
}

/* Returns the parent, past any splice anchors, or 0. */
static inline hp_ref hp_parent_of(const char *base, const hp_node *node) {
  hp_ref parent = node->parent;
  while (parent && hp_node_at(base, parent)->kind == HP_NODE_ANCHOR) parent = hp_node_at(base, parent)->parent;
  return parent;
}

/* Returns true for a document, a fragment and an element. */
static inline bool hp_can_have_children(const hp_node *node) {
  return node->kind == HPAR_NODE_ELEMENT || node->kind == HPAR_NODE_DOCUMENT || node->kind == HPAR_NODE_FRAGMENT;
}

/* Returns the node after `node` and its descendants, below `top`, or 0. */
static inline hp_ref hp_node_after(const char *base, hp_ref node, hp_ref top) {
  while (node && node != top) {
    const hp_node *n = hp_node_at(base, node);
    if (n->next) return n->next;
    node = hp_parent_of(base, n);
  }
  return 0;
}

/* Returns the node after `node` in tree order below `top`, or 0. */
static inline hp_ref hp_next_in_tree(const char *base, hp_ref node, hp_ref top) {
  const hp_node *n = hp_node_at(base, node);
  return hp_can_have_children(n) && n->first ? n->first : hp_node_after(base, node, top);
}

/* Returns the element whose contents are the fragment, or 0. */
static inline hp_ref hp_host_of(const hp_node *fragment) { return fragment->attributes; }

/* Returns the place of the reference to the template's contents. Requires: HP_FLAG_TEMPLATE. */
static inline hp_ref *hp_template_slot(hp_node *node) { return (hp_ref *)(node + 1); }

enum { HP_SOURCE_BYTES = 16 }; /* of the four offsets */

/* Returns four offsets in the text: start and end of the start tag, start and end of the end tag. A
 * missing tag has equal offsets. Requires: HP_FLAG_SOURCE. */
static inline uint32_t *hp_source_slot(hp_node *node) { return (uint32_t *)node - 4; }

/* Appends the node to the children of `parent`. Requires: the node has no parent. */
void hp_append(char *base, hp_ref parent, hp_ref node);

/* Inserts the node before the child `next`, or appends it if `next` is 0. Requires: the node has no
 * parent. */
void hp_insert_before(char *base, hp_ref parent, hp_ref node, hp_ref next);

/* Removes the node from its parent. Does nothing without a parent. */
void hp_remove(char *base, hp_ref node);

/* Returns true if `node` is an inclusive ancestor of `inside`, also across the contents of
 * templates. */
bool hp_contains(const char *base, hp_ref node, hp_ref inside);

/* Moves the children of `from` to `to`, which has none. The time is linear in their number. */
void hp_move_children(char *base, hp_ref from, hp_ref to);

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
  hp_late_crews late;        /* of selections */
  bool in_parse;
  bool is_fragment; /* of a fragment parse: the document node may have any children */
  void *editor;     /* of changes after the parse; NULL: none */
  void (*close_editor)(void *editor);
  hp_former_memory *former; /* that the range has left since the parse; NULL: none */
};

static inline bool hp_document_is_fragment(const hpar_document *document) { return document->is_fragment; }
static inline void hp_document_mark_fragment(hpar_document *document) { document->is_fragment = true; }
static inline bool hp_document_has_base(const hpar_document *document) {
  return atomic_load_explicit(&document->has_base, memory_order_relaxed);
}
/* Notes that a base element has been made. Any thread may call it. */
static inline void hp_document_note_base(hpar_document *document) {
  atomic_store_explicit(&document->has_base, true, memory_order_relaxed);
}
/* Sets the parser that is being fed, and how the document detaches it; NULL: none is. */
static inline void hp_document_set_feeder(hpar_document *document, void (*abandon)(void *feeder), void *feeder) {
  document->abandon = abandon;
  document->feeder = feeder;
}
static inline void hp_document_set_editor(hpar_document *document, void *editor, void (*close_editor)(void *editor)) {
  document->editor = editor;
  document->close_editor = close_editor;
}

/* Ends a call that used the document. A callback may have destroyed it: then it is freed. */
void hp_document_end_use(const hpar_document *document);
void hp_document_end_reading(const hpar_document *document);

/* Returns whether late threads may read the document after a call: its next change waits for them.
 * During a parse or an edit, changes do not wait. */
static inline bool hp_document_waits(const hpar_document *document) {
  return !document->in_parse && !document->abandon && !document->editor;
}

/* Waits for late threads. Returns HPAR_ERROR_ARGUMENT if a parse is in progress. */
hpar_status hp_document_settle(hpar_document *document);

/* Drops the tree and makes an empty document node. Detaches the parser that is being fed. Keeps the
 * bytes of `source`. */
void hp_document_reset(hpar_document *document);

/* Does the same where no parse follows, and ends one that is in progress. */
void hp_document_empty(hpar_document *document);

/* Resets the document and makes its range ready for a parse of `length` bytes, with memory from
 * jemalloc or not. Returns HPAR_ERROR_MEMORY if there is no address space. */
HP_SHARED hpar_status hp_document_open(hpar_document *document, bool jemalloc, size_t length);

/* Gives each document the tree, the texts and the memory of the other one, after parses. Drops what
 * a call or a thread still does with them. Requires: no call reads them. */
void hp_document_exchange(hpar_document *a, hpar_document *b);

/* Reserves the spare bytes for `deferred_bytes`. Returns HPAR_ERROR_MEMORY if the range has less
 * space. Requires: the tree is complete. */
hpar_status hp_document_reserve_values(hpar_document *document);

/* Gives back the address space that the tree and the texts do not use, after a parse. Drops
 * `source` unless offsets or nodes refer to it. */
void hp_document_trim(hpar_document *document);

#endif
