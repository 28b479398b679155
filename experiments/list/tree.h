#ifndef LIST_TREE_H
#define LIST_TREE_H

/* Trees of the LIST language (HPar 4.1, Figure 6), and the parser of one piece of a document.
 *
 *   lists ::= list lists | empty          list ::= "<list>" items "</list>"
 *   items ::= (item | list) items | empty item ::= "<item>" data "</item>"     data ::= (letter | space)*
 *
 * White space between tags is ignored. Data is borrowed from the input. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum list_kind { LIST_ROOT, LIST_LIST, LIST_ITEM, LIST_DATA, LIST_UNIT } list_kind;

/* A node is complete unless one of its flags is set. `parent` counts only while end_missing is set. */
typedef struct list_node {
  uint8_t kind;
  bool start_missing, end_missing;
  uint32_t unit; /* of LIST_UNIT: which unit of the partition belongs here */
  struct list_node *parent, *first, *last, *next;
  const char *data; /* of LIST_DATA */
  size_t length;
} list_node;

typedef struct list_block list_block;

/* Nodes of one thread. Zeroed before the first use; a reset keeps the memory. */
typedef struct list_arena {
  list_block *first, *at;
  size_t used;
} list_arena;

void list_arena_reset(list_arena *arena);
void list_arena_free(list_arena *arena);
list_node *list_node_new(list_arena *arena, list_kind kind); /* never NULL: the program ends without memory */
void list_append(list_node *parent, list_node *child);

/* A parsed piece: under the auxiliary root what has its start or is start-missing, in order; end-missing nodes are a
 * path from `current` up to the root (Property 4.1, for pieces of documents without errors). */
typedef struct list_tree {
  list_node *root, *current;
  size_t errors;     /* tags that match nothing, data outside an item, bytes that are neither */
  size_t root_nodes; /* children of the root */
} list_tree;

/* The units that were lifted out of a document, sorted by `begin`; one may lie in another. `next` is the index of the
 * first unit behind this one that does not lie in it. */
typedef struct list_unit {
  size_t begin, end;
  uint32_t next;
} list_unit;

/* Units from..to-1 are not read: holders[i] becomes the LIST_UNIT that stands for units[i]. */
typedef struct list_skip {
  const list_unit *units;
  list_node **holders;
  uint32_t from, to;
} list_skip;

/* `parse` of HPar 4.1 for input[begin..end). `skip` may be NULL. */
list_tree list_parse(list_arena *arena, const char *input, size_t begin, size_t end, const list_skip *skip);

/* A tag at `at`, which is a '<': its kind and whether it is an end tag; returns its length, or 0 if it is none. */
size_t list_tag(const char *at, const char *end, list_kind *kind, bool *is_end);

/* One line as "root(list*(item(ink) ^item))": * for end-missing, ^ for start-missing. */
void list_print(FILE *file, const list_node *node);
/* Same kinds, flags and data in the same order. Parents are not looked at. */
bool list_equal(const list_node *a, const list_node *b);

#endif
