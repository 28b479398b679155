#ifndef HP_CLI_EQUAL_H
#define HP_CLI_EQUAL_H

/* Are two trees the same? Both are walked in step: kinds, names, namespaces, data, identifiers, attributes in
 * source order, template contents, quirks, and every link both ways. Stricter than comparing two dumps, and
 * linear in the nodes where a dump of a deep tree is quadratic. */

#include <hpar/document.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hp_difference {
  uint64_t node;              /* in tree order, the document being 0; that before it, where a tree has nothing there */
  char first[96], second[96]; /* what stands there in either tree */
} hp_difference;

/* False with *difference set where they differ; running out of memory is a difference too, and says so. */
bool hp_trees_equal(const hpar_document *first, const hpar_document *second, hp_difference *difference);

#endif
