#include "support/toy_ways.h"

#include "support/random.h"

#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *toy_way_name(unsigned way) {
  static const char *const names[TOY_WAYS] = {"sequential", "limited",   "inline", "inline, merged as a tree",
                                              "threads",    "pipelined", "bytes",  "pieces"};
  return names[way];
}

bool toy_way_exists(unsigned way) { return hpar_predictor_name(0) || way < TOY_INLINE || way > TOY_PIPELINED; }

/* Feeds the page in pieces of their own memory. */
static hpar_status feed(hpar_parser *parser, hpar_document *document, const hpar_options *options, const toy_way *way,
                        const char *bytes, size_t length) {
  random_state random = {way->seed};
  hpar_status status = hpar_parser_begin(parser, options, document);
  for (size_t at = 0, n; at < length && status == HPAR_OK; at += n) {
    n = way->way == TOY_BYTES ? 1 : 1 + random_below(&random, 2 * way->piece_size);
    if (n > length - at) n = length - at;
    char *piece = malloc(n);
    if (!piece) abort();
    memcpy(piece, bytes + at, n);
    status = hpar_parser_feed(parser, piece, n);
    free(piece);
  }
  hpar_status finished = hpar_parser_finish(parser, NULL);
  return status == HPAR_OK ? finished : status;
}

toy_outcome toy_parse(hpar_parser *parser, hpar_document *document, const toy_way *way, size_t max_scripts,
                      const char *bytes, size_t length) {
  toy of = {.keeps_views = true, .max_scripts = max_scripts};
  hpar_study study = {HPAR_STUDY_INIT};
  hpar_options options = way->options;
  options.study = &study;
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.script.callback = toy_run;
  options.script.context = &of;
  if (way->way == TOY_LIMITED) options.limits.time_ns = UINT64_MAX / 2;
  if (way->way >= TOY_INLINE && way->way <= TOY_THREADS) {
    options.mode = HPAR_MODE_PARALLEL;
    options.threads = 2;
    options.parallel.chunk_size = way->chunk_size;
    study.checkpoint_bytes = way->checkpoints;
    study.strategy = way->strategy;
    options.parallel.executor = way->way == TOY_THREADS ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE;
    if (way->way == TOY_INLINE_TREE) study.merge = HPAR_MERGE_TREE;
  }
  if (way->way == TOY_PIPELINED) study.driver = "pipelined";
  hpar_status status = way->way >= TOY_BYTES ? feed(parser, document, &options, way, bytes, length)
                                             : hpar_parse(parser, &options, bytes, length, document, NULL);
  return (toy_outcome){status, toy_hash(document), of.views, of.scripts};
}

bool toy_is_same(toy_outcome a, toy_outcome b) {
  return a.status == b.status && a.tree == b.tree && a.views == b.views && a.scripts == b.scripts;
}

void toy_print_difference(unsigned way, toy_outcome got, toy_outcome expected) {
  printf("%s: status %d and %d, scripts %zu and %zu, trees %s, views %s\n", toy_way_name(way), got.status,
         expected.status, got.scripts, expected.scripts, got.tree == expected.tree ? "equal" : "differ",
         got.views == expected.views ? "equal" : "differ");
}
