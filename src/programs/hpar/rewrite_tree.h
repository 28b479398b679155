#ifndef HP_PROGRAMS_HPAR_REWRITE_TREE_H
#define HP_PROGRAMS_HPAR_REWRITE_TREE_H

/* Writes a tree with the edits of rules as lines: a line for each start, end, text and comment.
 * Equal trees have equal lines. */

#include "programs/hpar/rewrite_explain.h"

typedef struct hp_lines {
  hpar_parser *parser; /* of inserted content */
  bool scripting;
  hp_text text;
  bool in_text;
  uint64_t nodes;
  hpar_status status;
} hp_lines;

/* `explanation` NULL: without edits. Otherwise the document has source offsets. */
hpar_status hp_write_lines(hp_lines *lines, const hpar_document *document, const hp_explanation *explanation);

#endif
