/* Compares the parallel parser and the study's drivers with the sequential parser: trees and links,
 * counters, and parse errors if they are requested. The choices select how to cut, speculate, merge
 * and run. The names come from the library's lists, so the target includes new ones automatically.
 * One choice is a custom predictor that returns arbitrary values. The target reduces a difference
 * before it prints it. */

#include "fuzz/fuzz.h"

#include <hpar/study.h>

enum { MAX_CUTS = 64, MAX_CHUNKS = 64 };

static const uint8_t *opinion;

static void say_anything(const hpar_cut *cut, hpar_guess *guess, void *context) {
  static const char *const elements[] = {"script", "style", "textarea", "title", "noscript", "plaintext", "p", NULL};
  static const char *const modes[] = {"in row",     "in table",    "in table body", "in head",
                                      "after body", "in frameset", "in cell",       NULL};
  (void)context;
  guess->context = (hpar_start_context)(opinion[0] % 8);
  guess->element = elements[opinion[1] % 8];
  guess->ns = (hpar_namespace)(opinion[0] / 8 % 4);
  guess->mode = modes[opinion[1] / 8 % 8];
  if (opinion[0] & 128) guess->first = cut->begin + opinion[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t checkpoints[] = {1, 64, 0};
  static comparer with;
  static size_t ways;
  static uint64_t candidates[COMPARE_MAX_CUTS];
  compare_case document;
  const uint8_t *choices;
  if (!fuzz_split(data, size, &document, &choices)) return 0;
  if (!with.parser) {
    if (!compare_open(&with)) abort();
    ways = compare_ways();
  }
  uint8_t flags = choices[0], tune = choices[7];
  document.scripting = flags & 1;
  if (flags & 2) document.fragment = fuzz_context(choices[1]);
  document.encoding = flags & 16 ? NULL : "utf-8";

  compare_how how = {.threads = 2 + tune % 3,
                     .executor = (flags & 96) == 96 ? HPAR_EXECUTOR_THREADS : HPAR_EXECUTOR_INLINE,
                     .checkpoint_bytes = checkpoints[tune / 3 % 3],
                     .max_errors = flags & 8 ? FUZZ_ERRORS : 0};
  if (choices[4] < 128) {
    compare_way(choices[4] % ways, &how);
  } else {
    how.strategy = fuzz_name(hpar_strategy_name, choices[4] - 128u);
    how.predictor = fuzz_name(hpar_predictor_name, choices[5]);
    how.mode_predictor = fuzz_name(hpar_mode_predictor_name, choices[6] & 15);
    how.cut = fuzz_name(hpar_cut_policy_name, choices[6] >> 4);
  }

  static const hpar_predictor own = {HPAR_PREDICTOR_INIT, .predict = say_anything};
  enum { PLAIN, CHUNKS = 3, PIPELINED = 5, STAGES = 7, OWN = 9 } kind = tune / 27;
  if (tune / 9 % 3 == 2) how.merge = HPAR_MERGE_TREE;
  if (kind >= PIPELINED && kind < OWN) {
    how.pipelined = kind < STAGES;
    how.pipeline_stages = !how.pipelined;
    how.buffer_tokens = 1u << choices[5] % 11;
    how.batch = 1 + choices[6] % 64;
    how.pipeline_predictor = fuzz_name(hpar_pipeline_predictor_name, choices[3]);
    if (how.pipelined && choices[2] & 1) how.driver = fuzz_name(hpar_driver_name, choices[2] >> 1);
  } else if (kind == OWN) {
    opinion = choices + 5;
    how.own_predictor = &own;
  }

  /* A number of chunks, chunks of a size, arbitrary offsets, some offsets of smart cuts, or all of
   * them. */
  uint64_t cuts[MAX_CUTS];
  size_t count = 0;
  random_state random = {(uint64_t)choices[2] << 8 | choices[3]};
  if (how.pipelined) {
    ;
  } else if (flags & 128 && kind >= CHUNKS) {
    how.chunks = 1 + choices[2] % MAX_CHUNKS;
  } else if (flags & 128) {
    how.chunk_size = 1 + choices[2];
  } else if (flags & 4) {
    for (uint64_t at = 0; count < 1u + choices[2] % 8u;) {
      at += 1 + random_below(&random, document.length / 3 + 2);
      if (at >= document.length) break;
      cuts[count++] = at;
    }
  } else {
    size_t found = compare_candidates(document.bytes, document.length, candidates, COMPARE_MAX_CUTS);
    for (size_t i = 0; i < found && count < MAX_CUTS; i++) {
      if (choices[2] >= 0xF0 || random_chance(&random, 30)) cuts[count++] = candidates[i];
    }
  }
  if (!count && !how.chunk_size && !how.chunks && !how.pipelined) return 0;
  if (count) how.cuts = cuts;
  how.cut_count = count;
  if (!compare_expect(&with, &document, how.max_errors)) return 0;
  compare_result result = compare_parallel(&with, &how);
  if (result == COMPARE_SAME) return 0;
  compare_print(&with, &how, result);
  if (count) {
    buffer smaller = {0};
    buffer_add(&smaller, document.bytes, document.length);
    result = compare_reduce(&with, &how, cuts, &smaller, result);
    printf("reduced: ");
    compare_print(&with, &how, result);
  }
  printf("strategy %s, mode predictor %s, cut %s, chunk size %zu, chunks %zu, merge %s%s%s%s\n",
         how.strategy ? how.strategy : "default", how.mode_predictor ? how.mode_predictor : "default",
         how.cut ? how.cut : "default", how.chunk_size, how.chunks, how.merge ? "tree" : "chain",
         how.pipelined ? ", pipelined" : "", how.pipeline_stages ? ", in stages" : "",
         how.own_predictor ? ", the caller's predictor" : "");
  if (how.driver) printf("driver %s\n", how.driver);
  fflush(stdout);
  abort();
}
