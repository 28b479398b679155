#ifndef TESTS_SUPPORT_TAGS_H
#define TESTS_SUPPORT_TAGS_H

/* The tags of a document: those that the tokenizer of the parser takes, and those that the scanner
 * of the rewriter reports. Each has the state of its builder after the tag, as a hash: the stack of
 * open elements, the list of formatting elements, the modes, the pointers. */

#include "support/compare.h"

typedef struct tag {
  uint64_t start, end; /* offsets in the text */
  uint64_t name;       /* a hash of the name in lower case */
  uint64_t state;
  bool is_end;
  uint8_t content; /* of the following text: hp_text_state */
} tag;

typedef struct tag_list {
  tag *items;
  size_t count, capacity;
} tag_list;

typedef struct tag_reader tag_reader;

tag_reader *tag_reader_create(void);
void tag_reader_destroy(tag_reader *reader);

/* Compares the tags of the document, and the states after them. `each_byte` feeds the rewriter
 * single bytes instead of pieces that end at each ">". Then feeds pieces of many tags, and compares
 * the states at their ends and the output. Returns NULL, or the difference: a sentence that is
 * valid until the next call. Adds the number of tags to `*tags`. */
const char *tag_difference(tag_reader *reader, const compare_case *document, bool each_byte, uint64_t *tags);
/* Returns the number of states that were compared at the ends of pieces. */
uint64_t tag_reader_stops(const tag_reader *reader);

#endif
