#ifndef HP_SESSION_PARSER_H
#define HP_SESSION_PARSER_H

#include "base/clock.h"
#include "html/tree/engine.h"
#include "session/feed.h"
#include "session/many.h"
#include "trace/record.h"
#if HPAR_PARALLEL
#include "drivers/parallel/parallel.h"
#include "drivers/pipelined/stages.h"
#endif

#include <hpar/parse.h>

struct hpar_parser {
  hp_engine engine; /* the true state */
#if HPAR_PARALLEL
  hp_team team;
  hp_stages stages;
#endif
  hp_feed feed;
  hp_many many;
  hp_record record; /* of the last parse that was inspected */
  bool inspected;   /* there is one */
};

/* What hpar_parse and feeding share. */

hpar_status hp_check_options(const hpar_options *options);
hpar_status hp_check_cuts(const hpar_options *options, uint64_t length);
bool hp_is_limit(hpar_status status);
hp_limits hp_limits_of(const hpar_options *options, uint64_t begin);
const hp_encoding *hp_encoding_hint(const hpar_options *options); /* NULL: none, or no label of any */
/* For so many bytes; in the automatic mode by whether the pool is awake, too, which may change. */
bool hp_chooses_parallel(const hpar_parser *parser, const hpar_options *options, size_t length);
/* The document's memory for the tree is limited from now on, until it is reset. */
void hp_limit_memory(hpar_document *document, const hpar_options *options);
void hp_begin_stats(hpar_stats *stats);

/* Ready at the beginning of the task, a fragment's context being set up. The engine's fail unwinds. */
void hp_open_request(hpar_parser *parser, const hpar_options *options, const hp_request *task);
void hp_run_to_end(hp_engine *engine);
/* When all tokens are processed, or a limit was reached: what is left to do, and the statistics. */
hpar_status hp_close_request(hpar_parser *parser, const hpar_options *options, const hp_request *task,
                             const hp_sniffed *sniffed, hpar_stats *stats);

/* The record, where the options ask for one: before a parse begins (again), and once it has ended with `status`:
 * after a limit there is no record. Answers `status`, or why the record failed, which empties the document. */
struct hp_record *hp_begin_record(hpar_parser *parser, const hpar_options *options, uint64_t begin);
hpar_status hp_close_record(hpar_parser *parser, const hpar_options *options, hpar_document *document,
                            hpar_status status);

/* hpar_parse, its arguments being checked, `begin` being when it was called. `bytes` stay as long as the document. */
hpar_status hp_parse_whole(hpar_parser *parser, const hpar_options *options, const char *bytes, size_t length,
                           uint64_t begin, hpar_document *document, hpar_stats *stats);

#endif
