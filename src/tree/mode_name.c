#include "tree/mode_name.h"

#include "tree/builder.h"

static const char *const modes[HP_INSERTION_MODES] = {
    "initial",         "before html",   "before head",    "in head",          "in head noscript",
    "after head",      "in body",       "text",           "in table",         "in caption",
    "in column group", "in table body", "in row",         "in cell",          "in template",
    "after body",      "in frameset",   "after frameset", "after after body", "after after frameset"};

const char *hp_mode_name(uint8_t mode) { return mode < HP_INSERTION_MODES ? modes[mode] : "unknown"; }
