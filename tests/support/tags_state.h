#ifndef TESTS_SUPPORT_TAGS_STATE_H
#define TESTS_SUPPORT_TAGS_STATE_H

/* What both readers of tags share. The headers of the parser's engine and of the rewriter's state
 * cannot be in one file. */

#include "support/tags.h"
#include "tree/builder.h"

/* Returns the name of an atom in a builder's table of names. */
typedef hp_name (*tag_name_fn)(const void *table, hp_atom atom);

uint64_t tag_hash_name(hp_name name);
/* Names of the standard have the same atom in each table. */
uint64_t tag_hash_atom(hp_atom atom, tag_name_fn name_of, const void *table);
uint64_t tag_hash_state(const hp_builder *builder, hpar_quirks quirks, tag_name_fn name_of, const void *table);
void tag_add(tag_list *to, tag added);

/* The state at the end of a piece of the input that ends at a ">". */
typedef struct tag_stop {
  uint64_t tags; /* number of tags before it */
  uint64_t end;
  uint64_t state;
  uint8_t content;
} tag_stop;

/* Sets of rules. The second set counts elements, so that the scanner reports each tag. The third
 * set has frames. No set edits anything. */
enum { TAG_RULES = 3 };

/* The rewriter of a reader, and its rules. */
typedef struct tag_scanner {
  hpar_rules *rules[TAG_RULES];
  hpar_rewriter *rewriter;
  tag_list tags;
  tag_stop *stops;
  size_t stop_count, stop_capacity;
} tag_scanner;

void tag_scanner_open(tag_scanner *scanner);
void tag_scanner_close(tag_scanner *scanner);
/* Adds the tags of the document. The rewriter skips plain tags that the first set of rules does not
 * concern: such a tag has the start UINT64_MAX and no name. */
hpar_status tag_scan(tag_scanner *scanner, unsigned rules, const compare_case *document, bool each_byte);
/* Feeds the document in pieces of random lengths, and adds the stops after them. Sets `*tags` to
 * the number of tags, and `*same` to whether the output equals the input. */
hpar_status tag_scan_pieces(tag_scanner *scanner, unsigned rules, const compare_case *document, uint64_t *tags,
                            bool *same);

#endif
