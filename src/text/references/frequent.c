#include "text/references/frequent.h"

#define WORD(a, b, c, d, e) \
  ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32)
#define SLOT(a, b) HP_FREQUENT_SLOT((unsigned)(a) | (unsigned)(b) << 8)
#define REFERENCE(a, b, c, d, e, length, value) \
  [SLOT(a, b)] = {WORD(a, b, c, d, e) << (64 - 8 * (length)), value, length, sizeof(value) - 1, 64 - 8 * (length)}

/* The compiler warns if two references have the same slot. */
const hp_frequent_reference hp_frequent_references[16] = {
    REFERENCE('l', 't', ';', 0, 0, 3, "<"),
    REFERENCE('g', 't', ';', 0, 0, 3, ">"),
    REFERENCE('a', 'm', 'p', ';', 0, 4, "&"),
    REFERENCE('#', '3', '9', ';', 0, 4, "'"),
    REFERENCE('q', 'u', 'o', 't', ';', 5, "\""),
    REFERENCE('a', 'p', 'o', 's', ';', 5, "'"),
    REFERENCE('n', 'b', 's', 'p', ';', 5, "\xC2\xA0"),
    REFERENCE('#', 'x', '2', '7', ';', 5, "'"),
    REFERENCE('#', '0', '3', '9', ';', 5, "'"),
};
