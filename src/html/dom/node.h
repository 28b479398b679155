#ifndef HP_HTML_DOM_NODE_H
#define HP_HTML_DOM_NODE_H

/* A node is 32 bytes, two to a cache line, linked by references into its document's range.
 *
 *   parent            the parent, or a cell that stands for it (see below); 0 for a root
 *   previous, next    siblings; first child's previous and last child's next are 0
 *   first, last       children of a document, fragment, element or cell
 *
 * A *cell* is the parent of a run of siblings whose real parent was not known when they were made: the cell's
 * own parent field is set once the run is spliced in, so that moving a run costs O(1). Cells are never
 * children. An HTML template element is followed in memory by the reference of its contents. With source
 * offsets on, every element is preceded by two 32-bit offsets. */

#include "base/arena.h"
#include "base/atom.h"

#include <hpar/document.h>

enum { HP_NODE_ANCHOR = 32 }; /* beside hpar_node_type */

enum {
  HP_FLAG_SOURCE = 1,           /* two offsets stand before the node */
  HP_FLAG_TEMPLATE = 2,         /* a reference to the contents stands after the node */
  HP_FLAG_HTML_INTEGRATION = 4, /* annotation-xml with an HTML encoding */
  HP_FLAG_OPEN = 8,             /* on the stack of open elements; kept for formatting elements */
  HP_FLAG_STARTED = 16          /* script: already started */
};

typedef struct hp_attribute {
  hp_atom name;
  uint32_t length;
  const char *value;
} hp_attribute;

typedef struct hp_attributes {
  uint32_t count;
  uint32_t capacity; /* of a block that grows: html's and body's, once a later tag has added to them */
  hp_attribute items[];
} hp_attributes;

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
    struct { /* text, comment, processing instruction */
      const char *data;
      uint32_t length;
      union {
        uint32_t capacity; /* text: bytes at `data` that are ours to append to; 0: borrowed */
        hp_atom target;
      };
    };
    const hp_doctype *doctype;
  };
} hp_node;

_Static_assert(sizeof(hp_node) == 32, "a node is half a cache line");

static inline hp_node *hp_node_at(const char *base, hp_ref ref) { return (hp_node *)hp_at(base, ref); }

/* The parent with cells looked through; 0 for none. */
static inline hp_ref hp_parent_of(const char *base, const hp_node *node) {
  hp_ref parent = node->parent;
  while (parent && hp_node_at(base, parent)->kind == HP_NODE_ANCHOR) parent = hp_node_at(base, parent)->parent;
  return parent;
}

static inline hp_ref *hp_template_slot(hp_node *node) { return (hp_ref *)(node + 1); }
static inline uint32_t *hp_source_slot(hp_node *node) { return (uint32_t *)node - 2; }

void hp_append(char *base, hp_ref parent, hp_ref node);
void hp_insert_before(char *base, hp_ref parent, hp_ref node, hp_ref next);
void hp_remove(char *base, hp_ref node);                   /* no parent: nothing happens */
void hp_move_children(char *base, hp_ref from, hp_ref to); /* in order, to the end of `to`; costs their number */

#endif
