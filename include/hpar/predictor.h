#ifndef HPAR_PREDICTOR_H
#define HPAR_PREDICTOR_H

/* What a caller can bring to the guess at the state in which a chunk begins: a predictor of its own, or figures for the
 * predictor "frequency". Whatever is guessed, the merger takes only what holds, so that the tree is the same: a wrong
 * guess costs time and nothing else. */

#include <hpar/document.h>
#include <hpar/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*** a predictor of one's own; experiments/own-predictor is an example ***/

/* A chunk: the bytes [begin, end) of the text that is parsed, which is UTF-8, whatever the input was in. All of `text`
 * may be read, up to `length` and not beyond: of input that comes piece by piece that is what had come when the worker
 * took the chunk. 0 < begin < end <= length. The insides of characters are no cuts of the library's own, but the
 * caller's (hpar_options.cuts) may be. */
typedef struct hpar_cut {
  const char *text;
  size_t length, begin, end;
  bool scripting; /* the scripting flag */
} hpar_cut;

/* What a chunk begins inside of. */
typedef enum hpar_inside {
  HPAR_INSIDE_NOTHING, /* a token begins at the cut; of a cut within text `first` is worth setting */
  HPAR_INSIDE_COMMENT,
  HPAR_INSIDE_TAG,           /* or what else ends at ">": a doctype, a processing instruction, a bogus comment */
  HPAR_INSIDE_DOUBLE_QUOTES, /* of an attribute's value */
  HPAR_INSIDE_SINGLE_QUOTES,
  HPAR_INSIDE_RAW_TEXT, /* of hpar_guess.element */
  HPAR_INSIDE_CDATA
} hpar_inside;

typedef struct hpar_guess {
  hpar_inside inside;
  /* "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext" or, with the scripting
   * flag, "noscript"; NULL and what is none of these: HPAR_INSIDE_NOTHING. */
  const char *element;
  hpar_namespace ns; /* of the adjusted current node: HPAR_NAMESPACE_HTML, or that of svg or math */
  /* The insertion mode by the standard's name, "in row"; NULL and what is none: no guess, which is what fits most.
   * Where hpar_options.mode_predictor, or the strategy's, guesses a mode, this one is not asked. */
  const char *mode;
  /* Where in the text the first token begins, if that is known: then `inside` is of no account. 0, or before the cut:
   * it is to be found by `inside`; `end` or more: nothing begins in the chunk. */
  size_t first;
} hpar_guess;

/* `predict` is called when a worker takes a chunk, once for each chunk that one takes: never for the first, nor for
 * those that the merger comes to before a worker; in any order; and once more where the input turns out to be in
 * another encoding. The strategies "hpar2013", which has guesses of its own, takes of a guess the namespace and the
 * mode only, and "enumerate", which guesses nothing, does not ask.
 *
 * - The thread is the worker's: one of the parser's own or of the caller's executor, or the one that called. Calls for
 * different chunks are made at the same time, so that what `context` points to must bear that.
 * - From the beginning of hpar_parse to its end; of input that comes piece by piece until finish, between the caller's
 *   calls, too, or until it is abandoned.
 * - It may read the cut's text, the cut and what it reaches through `context`, and keeps no pointer to the first two.
 * It fills `guess`, which is "data, HTML, no guess at the mode" before; the texts that it puts there must stay until
 * the parse has ended. It calls nothing on the parser or the document, returns always, and soon: its time is the
 * chunk's, and counted in hpar_stats.ns.predict. */
typedef struct hpar_predictor {
  const char *name; /* for hpar_stats.predictor, and to stay as long as that is read; NULL: "own" */
  void (*predict)(void *context, const hpar_cut *cut, hpar_guess *guess);
  void *context;
  bool partial_context; /* an end tag in the chunk that nothing there opened says what it began inside, after all */
} hpar_predictor;

/*** figures ***/

/* At `count` cuts that look like this the true state of the tokenizer was `state`. What a cut looks like is said in the
 * words of "states_by_bytes" in a profile by `hpar profile`: `before` is the class of the byte before it (">", "<",
 * "=", "quote", "backslash", "white", "word", "other" or "start"), `at` the tag behind it ("<div", "</div", "<!",
 * "<?"), or else the class of the byte there, or "end". States are the standard's, without the word "state": "data",
 * "script data". */
typedef struct hpar_frequency {
  const char *before, *at, *state;
  uint64_t count;
} hpar_frequency;

/* The most frequent state by what a cut looks like. Never changed, so that any number of parses may use it at once. */
typedef struct hpar_frequency_table hpar_frequency_table;

/* Makes a table of `count` rows, in any order, those that say the same being added up; the rows may go afterwards. A
 * cut whose `before` no row has is looked up by `at` alone, and one of which nothing is known is taken to be in data.
 * The caller destroys the table, after the parses that it was given to; NULL may be destroyed.
 *
 * HPAR_ERROR_ARGUMENT for a text that is NULL, is longer than any of these can be, or names no state: then `*wrong` is
 * the row, `wrong` being NULL or a place for it. HPAR_ERROR_UNSUPPORTED in a build without the parallel parser. */
HPAR_API hpar_status hpar_frequency_table_create(const hpar_frequency *rows, size_t count, hpar_frequency_table **table,
                                                 size_t *wrong);
HPAR_API void hpar_frequency_table_destroy(hpar_frequency_table *table);

#ifdef __cplusplus
}
#endif
#endif
