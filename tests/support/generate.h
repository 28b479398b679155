#ifndef TESTS_SUPPORT_GENERATE_H
#define TESTS_SUPPORT_GENERATE_H

/* Generates adversarial documents, each from a number: mis-nested, unclosed, foster-parented,
 * foreign, truncated. The same seed makes the same document on every machine. */

#include "support/buffer.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct generated {
  buffer text; /* 1 to about 3,000 bytes */
  const char *fragment;
  bool scripting;
} generated;

void generate(uint64_t seed, generated *document);
void generate_free(generated *document);

#endif
