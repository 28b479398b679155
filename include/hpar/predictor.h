#ifndef HPAR_PREDICTOR_H
#define HPAR_PREDICTOR_H

/* What a caller can bring to the guess at the state in which a chunk begins: figures for the predictor "frequency". A
 * guess is checked; a wrong one costs time and nothing else. */

#include <hpar/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
