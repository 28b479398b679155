#ifndef HP_SCRIPT_SCRIPTS_H
#define HP_SCRIPT_SCRIPTS_H

/* Scripts during a parse: which scripts run, when they run, and the text that they write.
 *
 * The exact builder calls the function in hp_script_state after the end tag of a script element.
 * This module then prepares the script, calls the caller's callback, and parses the written text.
 * All of this happens before the builder processes the next token. The state of the engine is then
 * that of a parser whose input contains the written text. */

#include "base/target.h"
#include "tokenizer/tokenizer.h"
#include "tree/engine.h"

#include <hpar/script.h>
#include <pthread.h>

typedef struct hp_script_config {
  hpar_script_callback callback; /* NULL: no script runs */
  void *context;
  bool external;
  unsigned max_write_depth;
  uint64_t max_written;
} hp_script_config;

/* A piece of written text. Nodes borrow its bytes before `at`. */
typedef struct hp_written {
  char *bytes;
  size_t at, end, capacity; /* the text [at, end) is not parsed yet */
  bool waits;               /* the last attempt found an unfinished token at `at` */
  size_t tag_bytes;         /* of a tag that waits: `tag_state` is that after them; 0: unknown */
  hp_state tag_state;
} hp_written;

typedef struct hp_script_counters { // value
  uint64_t runs, callbacks_ns, written;
  uint64_t state_changes;
  uint64_t first_change; /* offset in the page of the first one */
  uint64_t joined;       /* bytes of the page in tokens that begin in written text */
} hp_script_counters;

struct hp_edit_engine;

/* The input stream is the written text of the last piece, then that of the piece before, and so on,
 * then the page. Piece 0 has no text: it stands for the page. */
typedef struct hp_written_pieces {
  hp_written *pieces;
  uint32_t count, capacity;
  uint32_t own; /* the piece of the running script: the insertion point is at its end */
} hp_written_pieces;

/* Script elements in order. */
typedef HP_ARRAY(hp_ref) hp_script_list;

/* The first write of the current script of the page, or of one inside it. */
typedef struct hp_first_write {
  bool has_come;
  uint64_t state; /* hash of the engine's state before it */
  const char *at; /* position in the page before it */
} hp_first_write;

/* The attributes of the last changed element with many of them, by their names. A place is right if
 * that attribute has the name, so that places of other blocks need not be cleared. */
typedef struct hp_attribute_places {
  hp_ref block;     /* 0: none. Only scripts change it in place */
  uint32_t *places; /* by atom */
  size_t capacity;
} hp_attribute_places;

/* The state of the scripts of one parse, or of the changes after a parse. */
typedef struct hpar_editor {
  struct hp_edit_engine *editor; /* of changes after a parse; NULL: the scripts of a parse */
  hp_script_config config;
  hp_engine *engine;
  hpar_document *document;
  hpar_status status; /* the failure that ends the parse; HPAR_OK: none */
  hp_trace *trace;    /* NULL: no trace */
  hp_written_pieces written;
  bool defined;                  /* the insertion point is defined; otherwise writes are ignored */
  unsigned level;                /* script nesting level */
  unsigned running;              /* callbacks */
  unsigned writes;               /* calls of hpar_script_write */
  bool too_deep;                 /* one of them is nested too deeply */
  bool paused;                   /* parser pause flag */
  bool draining;                 /* a loop parses the written text up to the page */
  hp_ref pending;                /* pending parsing-blocking script; 0: none */
  hp_script_list deferred, late; /* `late`: postponed */
  bool may_postpone, postpones;  /* the running script */
  struct {
    bool waits;   /* the page's bytes so far do not complete a token that begins in written text */
    size_t retry; /* bytes of the page without which that stays so */
  } starved;
  hp_engine inner; /* parses inner HTML; a tokenizer and a builder only */
  hp_first_write first_write;
  hp_attribute_places found;
  hp_script_counters counters;
} hp_scripts;

/* Prepares the engine of a parse, which is open, for scripts. `trace` is NULL, or that of the
 * parse. */
void hp_scripts_begin(hp_scripts *scripts, const hp_script_config *config, hp_engine *engine, hp_trace *trace);
void hp_scripts_close(hp_scripts *scripts);

/* Parses written text that waits for more bytes of the page. Returns false if it still waits: the
 * engine must not parse then. */
bool hp_scripts_resume(hp_scripts *scripts);

/* Runs the postponed scripts. */
void hp_scripts_run_late(hp_scripts *scripts);

/* Runs the postponed and then the deferred scripts. Requires: the builder has processed the end of
 * the input. */
HP_SHARED void hp_scripts_finish(hp_scripts *scripts);

/* Prepares a script element. Returns true and fills `*script` if the script runs
 * now or later. */
bool hp_script_prepare(hp_scripts *scripts, hp_ref element, bool parser_inserted, hpar_script *script);

bool hp_script_is_connected(const hp_scripts *scripts, hp_ref node);

/* Calls the callback. Unwinds if it fails. The second function lets the script write nothing. */
void hp_script_call(hp_scripts *scripts, const hpar_script *script);
void hp_script_call_without_writes(hp_scripts *scripts, const hpar_script *script);

/*** changes after a parse ***/

/* Changes of a document after its parse. An editor is an engine without input. Its document grows
 * on demand: a change that finds no space fails, the range grows, and the change runs again. */

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
 * HPAR_ERROR_ARGUMENT if a parse fills the document, another call reads it, or another thread owns
 * it. */
hpar_status hp_edit_begin(hpar_document *document, const hp_edit_config *config, hp_scripts **scripts);

/* Returns the handle of the document's editor, if the calling thread owns it, or NULL. */
hp_scripts *hp_edit_running(const hpar_document *document);

/* Ends the changes, and gives back the addresses after the objects. */
void hp_edit_end(hpar_document *document);

#endif
