#ifndef HP_SESSION_TOKENS_H
#define HP_SESSION_TOKENS_H

/* The tokenizer without a tree builder. */

#include "session/session.h"

#include <hpar/study.h>

/* Tokenizes the bytes from the named state (NULL: data), and calls `callback` for each token. */
hpar_status hp_tokenize(hp_session *session, const char *state, const char *last_start_tag, size_t max_errors,
                        const char *bytes, size_t length, hpar_token_callback callback, void *context);

#endif
