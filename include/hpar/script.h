#ifndef HPAR_SCRIPT_H
#define HPAR_SCRIPT_H

/* Scripts during a parse.
 *
 *   hpar_options options = {HPAR_OPTIONS_INIT, .script = {.callback = run, .context = engine}};
 *   hpar_document *document = hpar_parse_bytes(page, length, &options, NULL);
 *   hpar_document_destroy(document);
 *
 * The library contains no script engine. It calls hpar_options.script.callback for each script that
 * may run, in document order, at the point that the HTML Standard defines. The tree is then that of
 * the standard with scripts. The callback runs the script with an engine of its choice. It may read
 * the document, change it, and write text into the parser (`document.write`).
 *
 * These rules hold for the callback, and for each function that it calls with its editor:
 * - The parser calls the callback on the thread that builds the tree. In hpar_parse and in
 *   hpar_parser_feed, that is the calling thread; with HPAR_EXECUTOR_CALLER, that of task 0. In
 *   hpar_parse_many, it is any thread, and several callbacks may run at once for their documents.
 * - `editor` is valid until the callback returns, and only the callback may use it.
 * - hpar/node.h and hpar/select.h may read the document during the callback.
 * - A function that returns a limit or HPAR_ERROR_MEMORY ends the parse with this status as soon as
 *   the callback returns. Later calls return the same status without an effect.
 * - After HPAR_ERROR_ARGUMENT nothing has changed, and the parse continues.
 *
 * Once the parser has met a script, no meta element changes the encoding. No parse runs a script
 * twice. Finish parses input without a declared encoding, which its last byte may decide. */

#include <hpar/node.h>

HPAR_BEGIN_C

/* The kind of a script, by its `type` and `language`. Data blocks are no scripts. */
typedef enum hpar_script_type {
  HPAR_SCRIPT_CLASSIC = 0,
  HPAR_SCRIPT_MODULE,
  HPAR_SCRIPT_IMPORT_MAP,
  HPAR_SCRIPT_SPECULATION_RULES
} hpar_script_type;

/* The reason for a call of the callback. Writes have an effect in the first two cases only. */
typedef enum hpar_script_time {
  HPAR_SCRIPT_NOW = 0,  /* an inline script: run it */
  HPAR_SCRIPT_BLOCKING, /* a script with `src` that the parser waits for: fetch it and run it */
  HPAR_SCRIPT_DEFERRED, /* the input ends: run this script with `defer`, or this module */
  HPAR_SCRIPT_ASYNC,    /* take note of it: it runs as soon as it is available, beside the parser */
  HPAR_SCRIPT_LATE      /* run it: hpar_script_postpone of hpar/study.h has postponed it */
} hpar_script_time;

typedef struct hpar_script {
  hpar_node node; /* a script element of HTML or SVG */
  hpar_script_type type;
  hpar_script_time time;
  bool external; /* the element has `src`; of SVG, `href` */
} hpar_script;

/* Runs a script. Returns HPAR_OK to continue the parse, even if the script has failed. */
typedef hpar_status (*hpar_script_callback)(hpar_editor *editor, const hpar_script *script, void *context);

/* Options of scripts. hpar_options.scripting is true if `callback` is set. A fragment parse runs no
 * script. While a script runs, other threads of the parallel parser parse the rest of the page. The
 * parse is sequential with limits of nodes, memory, depth or attributes, and for fed input, except
 * with HPAR_MODE_PARALLEL and threads. */
typedef struct hpar_script_options {
  hpar_script_callback callback; /* NULL: no script runs */
  void *context;
  bool external;            /* call the callback for scripts with `src`, too; else they never run */
  unsigned max_write_depth; /* deeper nested writes have no effect; 0: 21, as in browsers */
  /* bytes that all scripts of a parse may write; then the parse ends with HPAR_LIMIT_INPUT. 0: up
   * to HPAR_MAX_INPUT. The other limits of hpar_limits include written text, too */
  uint64_t max_written;
  uint64_t reserved[4]; /* zero */
} hpar_script_options;

/* Writes text into the parser, before the next byte of the page: `document.write`. The parser
 * processes the text before the function returns, up to an unfinished token. Later text completes
 * that token. A complete script element in the text runs before the function returns. If a script
 * with `src` then blocks the parser, the rest waits until the outer script has ended.
 * The text of a script that runs at no point of the input, such as a deferred one, is ignored. */
HPAR_API hpar_status hpar_script_write(hpar_editor *editor, const char *bytes, size_t length);

HPAR_END_C
#endif
