#ifndef TESTS_SUPPORT_SCRIPTED_H
#define TESTS_SUPPORT_SCRIPTED_H

/* Random pages whose scripts are programs of the toy engine (support/toy.h). */

#include "support/buffer.h"
#include "support/random.h"

typedef enum scripted_kind {
  SCRIPTED_CHANGES, /* scripts write text, which may have scripts, and change the tree */
  SCRIPTED_WRITES,  /* scripts write text without scripts */
  SCRIPTED_LONG,    /* as SCRIPTED_CHANGES, with more text between the scripts */
  SCRIPTED_SHORT    /* as SCRIPTED_CHANGES, mostly 60 to 200 bytes */
} scripted_kind;

/* Makes a page. */
void scripted_page(random_state *from, buffer *page, scripted_kind kind);

/* Appends at most `most` tags, parts of tags, characters and so on. */
void scripted_pieces(random_state *from, buffer *to, size_t most);

#endif
