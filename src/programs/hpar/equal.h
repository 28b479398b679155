#ifndef HP_PROGRAMS_HPAR_EQUAL_H
#define HP_PROGRAMS_HPAR_EQUAL_H

/* Comparison of two trees: kinds, names, namespaces, data, identifiers, attributes in source
 * order, template contents, quirks, and every link in both directions. The comparison is
 * stricter than that of two dumps. It takes linear time, whereas a dump of a deep tree takes
 * quadratic time. */

#include <hpar/node.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hp_difference {
  uint64_t node;              /* in tree order, from 0, the document */
  char first[96], second[96]; /* the node of either tree */
} hp_difference;

/* Returns false and sets *difference if the trees differ. A failed allocation is a difference, too,
 * with that text. */
bool hp_trees_equal(const hpar_document *first, const hpar_document *second, hp_difference *difference);

#endif
