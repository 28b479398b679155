#ifndef HP_API_CALL_H
#define HP_API_CALL_H

/* The frame of a call on a parser, for calls of other modules: see hpar_parse and
 * hpar_parser_finish for what they return. */

#include "base/target.h"
#include "session/parser.h"

/* Where the statistics of a call go. `stats` may be NULL; the functions accept that. */
typedef struct hp_stats_target {
  void *stats;
  hpar_status (*check)(void *stats, hpar_error *error); /* before the parse */
  void (*write)(const hp_session *session, void *stats);
} hp_stats_target;

/* Begins a call: ends a feed, and forgets the last error and result. Returns the error that the
 * call fills. Returns NULL if the parser is missing, or if a callback of another call makes it. */
HP_SHARED hpar_error *hp_begin_parser_call(hpar_parser *parser);
/* Ends a call. A callback may have destroyed the parser: then it is freed. Returns `status`. */
HP_SHARED hpar_status hp_end_parser_call(hpar_parser *parser, hpar_status status);
/* Explains that the bytes are missing. */
HP_SHARED hpar_status hp_explain_no_bytes(hpar_error *error, size_t length);

HP_SHARED hpar_status hp_parse_call(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                                    hpar_document *document, hp_stats_target target);
HP_SHARED hpar_status hp_finish_call(hpar_parser *parser, hp_stats_target target);

#endif
