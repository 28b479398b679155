#ifndef HP_TOKENIZER_FLUSH_H
#define HP_TOKENIZER_FLUSH_H

/* Text before the end of an unfinished run. Scripts see text that document.write has written, even
 * if more text may follow. */

#include "tokenizer/tokenizer.h"

/* Reads the text from `at` on that no later input can change, as a token that is not a maximal run.
 * Returns false if there is no such text. Then `at` may be after each "</>" at the beginning, which
 * later input cannot change either. Nothing else changes. `only_white`: reads only the white
 * space at the beginning. Requires: the last call of hp_next_token returned HP_TOKEN_NEED_MORE for
 * this input. */
bool hp_flush_text(hp_tokenizer *tokenizer, hp_token *token, bool only_white);

#endif
