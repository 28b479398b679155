#ifndef TESTS_SUPPORT_TAGS_STATE_H
#define TESTS_SUPPORT_TAGS_STATE_H

/* What both readers of tags share. The headers of the parser's engine and of the rewriter's state
 * cannot be in one file. */

#include "html/tree/builder.h"
#include "support/tags.h"

/* Returns the name of an atom in a builder's table of names. */
typedef hp_name (*tag_name_fn)(const void *table, hp_atom atom);

uint64_t tag_hash_name(hp_name name);
/* Names of the standard have the same atom in each table. */
uint64_t tag_hash_atom(hp_atom atom, tag_name_fn name_of, const void *table);
uint64_t tag_hash_state(const hp_builder *builder, tag_name_fn name_of, const void *table);
void tag_add(tag_list *to, tag added);

/* The rewriter of a reader, and its rules. */
typedef struct tag_scanner {
  hpar_rules *rules[2]; /* the second set counts elements: the scanner reports each tag */
  hpar_rewriter *rewriter;
  tag_list tags;
} tag_scanner;

void tag_scanner_open(tag_scanner *scanner);
void tag_scanner_close(tag_scanner *scanner);
/* Adds the tags of the document. The rewriter skips plain tags that the first set of rules does not
 * concern: such a tag has the start UINT64_MAX and no name. */
hpar_status tag_scan(tag_scanner *scanner, unsigned rules, const compare_case *document, bool each_byte);

#endif
