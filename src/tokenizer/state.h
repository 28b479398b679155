#ifndef HP_TOKENIZER_STATE_H
#define HP_TOKENIZER_STATE_H

/* The states of the standard's state machine. A state describes a place inside of a token. The
 * tokenizer keeps none of them between tokens; it finds the state where the input ends. */

#include "base/target.h"
#include "tokenizer/tokenizer.h"

/* States that differ only within dashes, less-than signs or the end of a name are one state here.
 */
typedef enum hp_state {
  HP_STATE_DATA,
  HP_STATE_RCDATA,
  HP_STATE_RAWTEXT,
  HP_STATE_SCRIPT_DATA,
  HP_STATE_SCRIPT_DATA_ESCAPED,
  HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED,
  HP_STATE_PLAINTEXT,
  HP_STATE_CDATA_SECTION,
  HP_STATE_CHARACTER_REFERENCE,
  HP_STATE_TAG_OPEN,
  HP_STATE_END_TAG_OPEN,
  HP_STATE_TAG_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_NAME,
  HP_STATE_ATTRIBUTE_NAME,
  HP_STATE_AFTER_ATTRIBUTE_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_VALUE,
  HP_STATE_DOUBLE_QUOTED,
  HP_STATE_SINGLE_QUOTED,
  HP_STATE_UNQUOTED,
  HP_STATE_AFTER_QUOTED,
  HP_STATE_SELF_CLOSING,
  HP_STATE_MARKUP_DECLARATION_OPEN,
  HP_STATE_COMMENT,
  HP_STATE_BOGUS_COMMENT,
  HP_STATE_PROCESSING_INSTRUCTION,
  HP_STATE_DOCTYPE,
  HP_STATES
} hp_state;

/* Returns the state after the bytes of a tag, of which none ends it. The tag is in `state` before
 * them, and in HP_STATE_TAG_NAME before its name. */
HP_SHARED hp_state hp_state_of_tag(hp_state state, const char *at, const char *end);

/* Returns the state after the script text [at, end), which begins in the state `from`. Requires:
 * the text does not end inside of a dash run or of a tag. */
HP_SHARED hp_script_escape hp_script_escape_at(hp_script_escape from, const char *at, const char *end);

#endif
