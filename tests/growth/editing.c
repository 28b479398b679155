/* Entries that change the tree of a page. */

#include "growth/entries.h"

#include <hpar/node.h>
#include <stdio.h>
#include <stdlib.h>

static hpar_node *nodes;
static size_t node_count, node_capacity;
static uint64_t leaf_depths; /* the sum of the depths of the nodes without children */

/* Lists the nodes below the document node in tree order. */
static void list_nodes(void) {
  const hpar_node root = hpar_document_root(entry_document);
  uint64_t depth = 0;
  node_count = leaf_depths = 0;
  for (hpar_node node = root, last = root; (node = hpar_node_walk(entry_document, root, node)); last = node) {
    for (hpar_node parent = hpar_node_parent(entry_document, node); last != parent; depth--)
      last = hpar_node_parent(entry_document, last);
    depth++;
    if (!hpar_node_first_child(entry_document, node)) leaf_depths += depth;
    if (node_count == node_capacity) {
      node_capacity = 2 * node_capacity + 64;
      nodes = realloc(nodes, node_capacity * sizeof *nodes);
      if (!nodes) abort();
    }
    nodes[node_count++] = node;
  }
}

static bool is_element(hpar_node node) { return hpar_node_kind(entry_document, node) == HPAR_NODE_ELEMENT; }

static void clone_all(hpar_editor *edit, hpar_node into) {
  hpar_node copy;
  for (size_t i = 0; i < node_count; i++)
    if (hpar_node_clone(edit, nodes[i], false, &copy) == HPAR_OK)
      hpar_node_insert_before(edit, into, copy, hpar_node_first_child(entry_document, into));
  hpar_node_clone(edit, nodes[0], true, &copy);
}

static void set_attributes(hpar_editor *edit, hpar_node node) {
  hpar_node_set_attribute(edit, node, "k", 1, "v", 1);
  hpar_node_set_attribute(edit, node, "new", 3, "v", 1);
  hpar_node_remove_attribute(edit, node, "k", 1);
}

/* Changes an attribute of one element for each node. The names repeat once. */
static void change_many(hpar_editor *edit, hpar_node into, size_t i) {
  char name[16];
  const int length = snprintf(name, sizeof name, "a%zu", i % (node_count / 2 + 1));
  hpar_node_set_attribute(edit, into, name, (size_t)length, "v", 1);
  if (i + 1 < node_count) return;
  for (size_t left = hpar_node_attribute_count(entry_document, into); left--;) {
    hpar_attribute last;
    if (!hpar_node_attribute_at(entry_document, into, left, &last)) break;
    hpar_node_remove_attribute(edit, into, last.local_name.bytes, last.local_name.length);
  }
}

static void insert_children(hpar_editor *edit, hpar_node node) {
  hpar_node made;
  if (hpar_node_create_text(edit, "x", 1, &made) == HPAR_OK)
    hpar_node_insert_before(edit, node, made, hpar_node_first_child(entry_document, node));
  if (hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "y", 1, &made) == HPAR_OK)
    hpar_node_insert_before(edit, node, made, HPAR_NO_NODE);
}

static void edit_all(hpar_editor *edit, hpar_node into, unsigned variant) {
  for (size_t i = 0; i < node_count; i++) {
    hpar_node node = nodes[i];
    switch (variant) {
      case 0: hpar_node_remove(edit, node); break;
      case 1: hpar_node_remove(edit, nodes[node_count - 1 - i]); break;
      case 2: hpar_node_insert_before(edit, into, nodes[node_count - 1 - i], HPAR_NO_NODE); break;
      case 3: set_attributes(edit, node); break;
      case 4: insert_children(edit, node); break;
      case 6: hpar_node_set_text(edit, node, "new", 3); break;
      case 7:
        if (is_element(node) && !hpar_node_first_child(entry_document, node))
          hpar_node_set_inner_html(edit, node, "<b>x</b>", 8);
        break;
      case 8: change_many(edit, into, i); break;
      default: break;
    }
  }
}

uint64_t run_edit(const page *of, unsigned variant) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hpar_editor *edit;
  hpar_node into;
  hpar_parse(entry_parser, &options, of->text.bytes, of->text.length, entry_document, NULL);
  list_nodes();
  if (hpar_document_edit(entry_document, NULL, &edit, NULL) != HPAR_OK) return 0;
  hpar_node_create_element(edit, HPAR_NAMESPACE_HTML, "div", 3, &into);
  entry_begin();
  if (variant == 5)
    clone_all(edit, into);
  else
    edit_all(edit, into, variant);
  hpar_document_finish_edit(entry_document);
  /* The form that inner HTML belongs to is an ancestor: hpar_node_set_inner_html documents it. */
  return node_count + (variant == 7 ? leaf_depths : 0);
}
