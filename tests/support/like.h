#ifndef TESTS_SUPPORT_LIKE_H
#define TESTS_SUPPORT_LIKE_H

/* Generates documents that are like a page. The model is the output of scripts/measure-profile for
 * that page: its tokens in their order, with the lengths of texts and attribute values. A document
 * of the model's size has the structure of the model and other text. A longer document repeats the
 * body. */

#include "support/buffer.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct like like;

/* Returns NULL if the JSON text is no profile, or without memory. The caller calls like_free(). */
like *like_read(const char *json, size_t length);
void like_free(like *profile);

size_t like_model_bytes(const like *profile); /* of the model, in UTF-8 */
/* Writes a document of about `size` bytes of UTF-8, the same for the same seed. */
void like_write(like *profile, size_t size, uint64_t seed, buffer *page);

#endif
