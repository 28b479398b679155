#ifndef HP_SPECULATION_OPEN_BEFORE_H
#define HP_SPECULATION_OPEN_BEFORE_H

/* Elements that are probably open at an offset, by the last tags of the 2 KB before it. */

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the last tag of an `a` is a start tag. */
bool hp_follows_open_a(const char *text, uint32_t offset);
/* Returns whether the last tag is the start tag of a p, of the tags that begin or end a p. */
bool hp_follows_open_p(const char *text, uint32_t offset);

#endif
