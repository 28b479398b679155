#ifndef TESTS_SUPPORT_MODEL_DOM_H
#define TESTS_SUPPORT_MODEL_DOM_H

/* A plain tree with the nodes of a document, to compare the library's changes with. A test makes
 * each change in both. A model keeps the nodes that a change has removed. */

#include "support/buffer.h"

#include <hpar/hpar.h>
#include <stdbool.h>

typedef struct model_attribute {
  hpar_namespace ns;
  buffer name, value;
} model_attribute;

typedef struct model_node {
  hpar_node handle;
  hpar_node_type kind;
  hpar_namespace ns;
  buffer name, data;
  model_attribute *attributes;
  size_t attribute_count;
  size_t parent, contents; /* 0: none */
  size_t *children;
  size_t child_count;
} model_node;

typedef struct model {
  model_node *nodes; /* node 0 is none; node 1 is the document node */
  size_t count;
  bool is_fragment;
} model;

void model_free(model *of);
/* Adds the subtree of the library's node `top`, without a parent. Returns its number. */
size_t model_add(model *to, const hpar_document *document, hpar_node top);

/* The changes. Those that return bool return whether the standard allows the change. */
size_t model_add_node(model *to, hpar_node handle, hpar_node_type kind, const char *text);
bool model_insert(model *of, size_t parent, size_t node, size_t before);
void model_remove(model *of, size_t node);
void model_set_attribute(model *of, size_t element, const char *name, const char *value);
void model_remove_attribute(model *of, size_t element, const char *name);
void model_set_data(model *of, size_t node, const char *data);
/* Replaces the children of the element, or its template contents, by those of `from`, the document
 * node of a fragment. Nodes get handles from `document`, which has made the same change. */
void model_set_children(model *of, size_t element, const hpar_document *from, const hpar_document *document);
/* Compares a copy, its descendants and its template contents with the origin. Adds the copy. */
size_t model_add_clone(model *to, const hpar_document *document, hpar_node copy, size_t origin, bool deep,
                       const char **problem);

/* Returns NULL, or what differs between the document and the model. Reads every node. */
const char *model_compare(const model *of, const hpar_document *document);

#endif
