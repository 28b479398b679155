#ifndef HP_TREE_MODE_NAME_H
#define HP_TREE_MODE_NAME_H

#include "base/target.h"

#include <stdint.h>

/* Returns the standard's name of an hp_insertion_mode, without the words "insertion mode". */
HP_SHARED const char *hp_mode_name(uint8_t mode);

#endif
