#ifndef TESTS_GROWTH_SHAPES_H
#define TESTS_GROWTH_SHAPES_H

/* Documents of up to three kinds of tokens, each repeated. The cases have numbers: those of pairs
 * come first, then those of triples. */

#include "support/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum shape {
  SHAPE_TURNS,  /* (abc)^n */
  SHAPE_ROWS,   /* a^n b^n c^n */
  SHAPE_BELOW,  /* a b^n c^n */
  SHAPE_CLOSED, /* (abc</c></b></a>)^n */
  SHAPES
} shape;

typedef struct shape_case {
  shape shape;
  unsigned count; /* of tokens: 2 or 3 */
  unsigned tokens[3];
} shape_case;

extern const char *const shape_names[SHAPES];

/* Returns the number of token kinds. */
unsigned shape_token_count(void);
/* Returns a token as text. */
const char *shape_token(unsigned index);

/* Returns the number of cases of pairs, and of pairs and triples. */
uint64_t shape_pair_count(void);
uint64_t shape_case_count(void);
shape_case shape_case_at(uint64_t number);
/* Returns the number of a triple that is chosen by class: tags of one class have like rules. */
uint64_t shape_random_triple(uint64_t random);

/* Reads a case from a line such as "rows <p> x": a shape, and two or three tokens of any text. In a
 * token, '#' is the number of the repetition, '~' a space and '^' a NUL. Returns false for another
 * line, and if there were too many tokens. */
bool shape_read(const char *line, shape_case *of);

/* Replaces the text by the case with `n` repetitions. */
void shape_write(const shape_case *of, size_t n, buffer *to);

#endif
