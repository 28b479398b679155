#ifndef LIST_TREE_H
#define LIST_TREE_H

/* Trees of the LIST language (HPar 4.1, Figure 6), and the parser of one piece of a document.
 *
 *   lists ::= list lists | empty
 *   list  ::= "<list>" items "</list>"
 *   items ::= (item | list) items | empty
 *   item  ::= "<item>" data "</item>"
 *   data  ::= (letter | space)*
 *
 * White space between tags is ignored. Data is borrowed from the input. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum list_kind { LIST_ROOT, LIST_LIST, LIST_ITEM, LIST_DATA, LIST_UNIT } list_kind;

/* A node is complete unless one of its flags is set. `parent` is valid only while end_missing is
 * set. */
typedef struct list_node {
  uint8_t kind;
  bool start_missing, end_missing;
  uint32_t unit; /* of LIST_UNIT: the index of the unit */
  struct list_node *parent, *first, *last, *next;
  const char *data; /* of LIST_DATA */
  size_t length;
} list_node;

typedef struct list_block list_block;

/* The nodes of one thread. The caller zeroes it before the first use. A reset keeps the memory. */
typedef struct list_arena {
  list_block *first, *at;
  size_t used;
} list_arena;

void list_arena_reset(list_arena *arena);
void list_arena_free(list_arena *arena);
/* Returns a new node, never NULL. Without memory it ends the program. */
list_node *list_node_new(list_arena *arena, list_kind kind);
void list_append(list_node *parent, list_node *child);

/* A parsed piece. The auxiliary root has the nodes with a start and the start-missing nodes, in
 * order. End-missing nodes are a path from `current` up to the root (Property 4.1, for pieces of
 * documents without errors). */
typedef struct list_tree {
  list_node *root, *current;
  size_t errors;     /* tags without a match, data outside an item, other bytes */
  size_t root_nodes; /* children of the root */
} list_tree;

/* The units of a document, sorted by `begin`. A unit may lie in another one. `next` is the index of
 * the first later unit that does not lie in this one. */
typedef struct list_unit {
  size_t begin, end;
  uint32_t next;
} list_unit;

/* The parser skips units from..to-1: holders[i] becomes the LIST_UNIT in the place of units[i]. */
typedef struct list_skip {
  const list_unit *units;
  list_node **holders;
  uint32_t from, to;
} list_skip;

/* Parses input[begin..end): `parse` of HPar 4.1. `skip` may be NULL. */
list_tree list_parse(list_arena *arena, const char *input, size_t begin, size_t end, const list_skip *skip);

/* Reads the tag at `at`, which is a '<'. Sets its kind and whether it is an end tag. Returns the
 * length of the tag, or 0 if the bytes are no tag. */
size_t list_tag(const char *at, const char *end, list_kind *kind, bool *is_end);

/* Writes one line like "root(list*(item(ink) ^item))": * for end-missing, ^ for start-missing. */
void list_print(FILE *file, const list_node *node);
/* Returns whether kinds, flags and data are equal, in the same order. Ignores parents. */
bool list_equal(const list_node *a, const list_node *b);

#endif
