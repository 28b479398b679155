#ifndef TESTS_SUPPORT_TOY_WAYS_H
#define TESTS_SUPPORT_TOY_WAYS_H

/* The ways to parse a page whose scripts the toy engine runs. */

#include "support/toy.h"

enum {
  TOY_SEQUENTIAL,
  TOY_LIMITED, /* with a limit of time that no parse reaches: the tokenizer shares no attributes */
  TOY_INLINE,
  TOY_INLINE_TREE,
  TOY_THREADS,
  TOY_PIPELINED,
  TOY_BYTES,
  TOY_PIECES,
  TOY_WAYS
};

typedef struct toy_way {
  unsigned way;
  size_t chunk_size, piece_size;
  uint64_t seed;        /* of the sizes of the pieces, below 2 * piece_size */
  const char *strategy; /* NULL: the default */
  bool checkpoints;     /* after each byte */
  hpar_options options; /* the other options: limits, encoding, max_written */
} toy_way;

typedef struct toy_outcome {
  hpar_status status;
  uint64_t tree, views;
  size_t scripts;
} toy_outcome;

/* Returns the name of a way, and false for a way that this build lacks. */
const char *toy_way_name(unsigned way);
bool toy_way_exists(unsigned way);

/* Parses the page; `max_scripts` as in toy. */
toy_outcome toy_parse(hpar_parser *parser, hpar_document *document, const toy_way *way, size_t max_scripts,
                      const char *bytes, size_t length);

bool toy_is_same(toy_outcome a, toy_outcome b);

/* Prints how two outcomes differ. */
void toy_print_difference(unsigned way, toy_outcome got, toy_outcome expected);

#endif
