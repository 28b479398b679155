#ifndef HPAR_PREDICTOR_H
#define HPAR_PREDICTOR_H

/* Custom guesses at the state in which a chunk begins: a predictor of the caller, or counts for the
 * predictor "frequency". The merger takes only what holds. A wrong guess costs time and never
 * changes the tree. */

#include <hpar/document.h>
#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*** custom predictor; experiments/own-predictor is an example ***/

/* A chunk: the bytes [begin, end) of the text, which is UTF-8 for any encoding of the input. The
 * predictor may read `length` bytes of text: for fed input, those that had come when the worker
 * started the chunk. 0 < begin < end <= length. Only forced cuts may lie inside a character. */
typedef struct hpar_cut {
  const char *text;
  size_t length, begin, end;
  bool scripting; /* the scripting flag */
} hpar_cut;

/* The construct in which a chunk begins. */
typedef enum hpar_start_context {
  HPAR_CONTEXT_NONE, /* a token begins at the cut. Inside text, set hpar_guess.first */
  HPAR_CONTEXT_COMMENT,
  /* or another construct that ends at ">": doctype, bogus comment, ... */
  HPAR_CONTEXT_TAG,
  HPAR_CONTEXT_DOUBLE_QUOTES, /* of an attribute's value */
  HPAR_CONTEXT_SINGLE_QUOTES,
  HPAR_CONTEXT_RAW_TEXT, /* of hpar_guess.element */
  HPAR_CONTEXT_CDATA
} hpar_start_context;

typedef struct hpar_guess {
  hpar_start_context context;
  /* "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext" or,
   * with the scripting flag, "noscript". NULL and any other text: HPAR_CONTEXT_NONE. */
  const char *element;
  hpar_namespace ns; /* of the adjusted current node: HPAR_NAMESPACE_HTML, or that of svg or math */
  /* The insertion mode by the standard's name, as in "in row". NULL and any other text: no guess,
   * which fits most chunks. The library ignores it if a mode predictor guesses. */
  const char *mode;
  /* Where the first token begins, if that is known: then `context` is ignored. 0, or before the
   * cut: the library finds it by `context`. `end` or more: no token begins in the chunk. */
  size_t first;
} hpar_guess;

/* Fills `guess`, which is "data, HTML, no mode" before the call. The texts that it stores there
 * must stay until the parse ends.
 *
 * A worker calls it once per chunk, in any order, and different workers at the same time. The
 * merger never calls it for the chunks that it parses itself. A change of the encoding causes a
 * second call. The thread belongs to the parser, to the caller's executor, or is the calling one.
 * The calls come between the beginning and the end of hpar_parse. For fed input they come until
 * finish, also between the calls.
 *
 * The function may read the cut, its text and its context. It keeps no pointer to the cut. It must
 * return, must not use the parser or the document, and must not throw an exception or longjmp. Its
 * time is part of hpar_stats.ns.predict. The strategy "hpar2013" uses the namespace and the mode of
 * a guess only. The strategy "enumerate" does not call it. */
typedef void (*hpar_predict_fn)(void *context, const hpar_cut *cut, hpar_guess *guess);

typedef struct hpar_predictor {
  size_t size; /* HPAR_PREDICTOR_INIT sets it */
  /* for hpar_stats.predictor; must stay as long as the caller reads that. NULL: "custom" */
  const char *name;
  hpar_predict_fn predict;
  void *context;
  bool partial_context; /* an end tag without a start tag in the chunk corrects the guess */
} hpar_predictor;

/* Initialises `size`: hpar_predictor predictor = {HPAR_PREDICTOR_INIT, .predict = f}; */
#define HPAR_PREDICTOR_INIT HPAR_SIZED(hpar_predictor)

/*** frequencies ***/

/* The true state of the tokenizer was `state` at `count` cuts of this kind. The words are those of
 * "states_by_bytes" in a profile of `hpar profile`. `before` is the class of the byte before the
 * cut: ">", "<", "=", "quote", "backslash", "white", "word", "other" or "start". `at` is the tag
 * after the cut ("<div", "</div", "<!", "<?"), or else the class of the byte there. States have the
 * standard's names without the word "state": "data", "script data". */
typedef struct hpar_frequency {
  const char *before, *at, *state;
  uint64_t count;
} hpar_frequency;

/* The most frequent state for each kind of cut. A table never changes, so that any number of parses
 * may use it at once. */
typedef struct hpar_frequency_table hpar_frequency_table;

/* Creates a table of `count` rows in any order, and stores it in `*table`. Equal rows add up. The
 * caller may free the rows afterwards. It destroys the table after the parses that use it. A cut
 * whose `before` is in no row is looked up by `at` alone. A cut that is in no row begins in data.
 *
 * HPAR_ERROR_ARGUMENT: `rows` or `table` is NULL. Or a text is NULL, is too long, or names no
 * state: in these last cases `*wrong` is the row, if `wrong` is not NULL. HPAR_ERROR_UNSUPPORTED:
 * this build has no parallel parser. */
HPAR_API hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                                 size_t *wrong);

/* Frees the table. NULL: nothing happens. No parse may use it. */
HPAR_API void hpar_frequency_table_destroy(hpar_frequency_table *table);

#ifdef __cplusplus
}
#endif
#endif
