#ifndef TESTS_SUPPORT_DOCUMENTS_H
#define TESTS_SUPPORT_DOCUMENTS_H

/* Small documents of our own that between them visit every insertion mode, every tokenizer state that a cut can
 * fall into, and every rule by which a chunk depends on what stands before it. They are UTF-8, or were meant to be. */

#include "support/compare.h"

extern const compare_case documents[];
extern const size_t document_count;

#endif
