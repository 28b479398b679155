#ifndef TESTS_SUPPORT_DOCUMENTS_H
#define TESTS_SUPPORT_DOCUMENTS_H

/* Small documents of the project. Together they visit every insertion mode, every tokenizer state
 * that a cut can fall into, and every rule by which a chunk depends on the text before it. They are
 * UTF-8, or damaged UTF-8. */

#include "support/compare.h"

extern const compare_case documents[];
extern const size_t document_count;

#endif
