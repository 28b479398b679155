/* scripts/generate-frequencies writes this file from `hpar profile --json --cut-distance 512`
 * of 160 pages with 46681518 bytes. It has the keys of at least 100 cuts that change a guess. */

#include "study/frequency.h"

static const hp_frequency_row rows[] = {
    {{"", "<"}, HP_STATE_SCRIPT_DATA, 325, 286},
    {{"", "</iframe"}, HP_STATE_RAWTEXT, 184, 130},
    {{"", "</script"}, HP_STATE_SCRIPT_DATA, 2323, 2280},
    {{"", "</style"}, HP_STATE_RAWTEXT, 608, 599},
    {{"", "<e"}, HP_STATE_SCRIPT_DATA, 294, 228},
    {{"", "<figcaption"}, HP_STATE_SCRIPT_DATA, 165, 144},
    {{"", "<n"}, HP_STATE_SCRIPT_DATA, 126, 110},
    {{"", "<t"}, HP_STATE_COMMENT, 368, 238},
    {{"", "<z"}, HP_STATE_SCRIPT_DATA, 116, 116},
    {{"", "="}, HP_STATE_ATTRIBUTE_NAME, 1339, 910},
    {{"", ">"}, HP_STATE_TAG_NAME, 1683, 911},
    {{"", "backslash"}, HP_STATE_SCRIPT_DATA, 712, 660},
    {{"", "quote"}, HP_STATE_SCRIPT_DATA, 3724, 1357},
    {{"<", "other"}, HP_STATE_TAG_OPEN, 787, 763},
    {{"<", "word"}, HP_STATE_TAG_OPEN, 890, 861},
    {{"=", "quote"}, HP_STATE_BEFORE_ATTRIBUTE_VALUE, 986, 958},
    {{"=", "word"}, HP_STATE_DOUBLE_QUOTED, 211, 71},
    {{">", "="}, HP_STATE_SCRIPT_DATA, 181, 150},
    {{">", "quote"}, HP_STATE_DATA, 569, 281},
    {{"backslash", "other"}, HP_STATE_SCRIPT_DATA, 112, 90},
    {{"other", "other"}, HP_STATE_SCRIPT_DATA, 1485, 572},
    {{"other", "word"}, HP_STATE_DOUBLE_QUOTED, 6565, 2764},
    {{"quote", "<a"}, HP_STATE_SCRIPT_DATA, 102, 56},
    {{"quote", "<div"}, HP_STATE_SCRIPT_DATA, 129, 119},
    {{"quote", "<p"}, HP_STATE_SCRIPT_DATA, 512, 512},
    {{"quote", ">"}, HP_STATE_AFTER_QUOTED, 551, 538},
    {{"quote", "other"}, HP_STATE_SCRIPT_DATA, 773, 590},
    {{"quote", "white"}, HP_STATE_AFTER_QUOTED, 431, 401},
    {{"quote", "word"}, HP_STATE_DOUBLE_QUOTED, 1339, 824},
    {{"white", "other"}, HP_STATE_RAWTEXT, 283, 113},
    {{"white", "word"}, HP_STATE_BEFORE_ATTRIBUTE_NAME, 3155, 1000},
    {{"word", "<a"}, HP_STATE_SCRIPT_DATA, 191, 116},
    {{"word", "<i"}, HP_STATE_SCRIPT_DATA, 127, 70},
    {{"word", "<p"}, HP_STATE_SCRIPT_DATA, 750, 744},
    {{"word", "other"}, HP_STATE_DOUBLE_QUOTED, 5885, 2814},
    {{"word", "quote"}, HP_STATE_DOUBLE_QUOTED, 1427, 859},
    {{"word", "word"}, HP_STATE_DOUBLE_QUOTED, 50341, 18010},
};

const hpar_frequency_table hp_default_frequencies = {rows, sizeof rows / sizeof *rows};
