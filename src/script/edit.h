#ifndef HP_SCRIPT_EDIT_H
#define HP_SCRIPT_EDIT_H

/* Changes of a document after its parse. An editor is an engine without input. Its document grows
 * on demand: a change that finds no space fails, the range grows, and the change runs again. */

#include "script/scripts.h"

#include <pthread.h>

typedef struct hp_edit_config { // value
  bool scripting;               /* of inner HTML */
  hp_limits limits;
  uint64_t memory_limit; /* 0: none */
} hp_edit_config;

typedef struct hp_edit_engine {
  hp_scripts scripts;
  hp_engine engine;
  hp_edit_config config;
  bool is_open;    /* the engine is ready */
  pthread_t owner; /* the only thread that may change the document */
} hp_edit_engine;

/* Sets `*scripts` to the handle of the document's editor. Makes one if there is none. Returns
 * HPAR_ERROR_ARGUMENT if a parse fills the document, or another thread owns it. */
hpar_status hp_edit_begin(hpar_document *document, const hp_edit_config *config, hp_scripts **scripts);

/* Returns the handle of the document's editor, if the calling thread owns it, or NULL. */
hp_scripts *hp_edit_running(const hpar_document *document);

/* Ends the changes, and gives back the addresses after the objects. */
void hp_edit_end(hpar_document *document);

#endif
