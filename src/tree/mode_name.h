#ifndef HP_TREE_MODE_NAME_H
#define HP_TREE_MODE_NAME_H

#include <stdint.h>

/* Returns the standard's name of an hp_insertion_mode, without the words "insertion mode". */
const char *hp_mode_name(uint8_t mode);

#endif
