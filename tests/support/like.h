#ifndef TESTS_SUPPORT_LIKE_H
#define TESTS_SUPPORT_LIKE_H

/* Documents that are like a page, by the figures of it that scripts/measure-profile wrote: which token follows which,
 * at which depth, with what lengths. Counts and lengths are dealt as cards from a deck, all before any comes again, so
 * that a document of the model's size has about what the model has. */

#include "support/buffer.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct like like;

/* NULL if the JSON text is no profile, or without memory; like_free() it. */
like *like_read(const char *json, size_t length);
void like_free(like *profile);

size_t like_model_bytes(const like *profile); /* of the model, in UTF-8 */
/* A document of about `size` bytes of UTF-8, the same for the same seed. */
void like_write(like *profile, size_t size, uint64_t seed, buffer *page);

#endif
