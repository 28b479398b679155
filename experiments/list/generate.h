#ifndef LIST_GENERATE_H
#define LIST_GENERATE_H

/* Generates LIST documents of a given size, the same for the same seed. */

#include <stddef.h>
#include <stdint.h>

typedef enum list_shape {
  LIST_SHAPE_FLAT,   /* one list of items */
  LIST_SHAPE_NESTED, /* lists in lists, about as wide as deep */
  LIST_SHAPE_SKEWED, /* one of the topmost list's children holds nine tenths */
  LIST_SHAPE_DEEP,   /* each list holds an item and the next list */
  LIST_SHAPES
} list_shape;

extern const char *const list_shape_names[LIST_SHAPES];

/* Returns a document of about `size` bytes, at least 13. The caller frees it with free(). Returns
 * NULL without memory. */
char *list_generate(list_shape shape, size_t size, uint64_t seed, size_t *length);

#endif
