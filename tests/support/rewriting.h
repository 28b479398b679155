#ifndef TESTS_SUPPORT_REWRITING_H
#define TESTS_SUPPORT_REWRITING_H

/* Generated rules for the rewriter, with callbacks that write a log. What a callback does depends
 * only on the rule and on the position in the input. Therefore each division of the input must give
 * the same output and the same log. */

#include "support/buffer.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/rewrite.h>

enum { REWRITING_MAX_RULES = 5, REWRITING_MAX_ACTIONS = 4, REWRITING_SELECTOR = 256 };

/* What the rules may contain. Actions on elements always occur. */
typedef enum rewriting_kind {
  REWRITING_CALLBACKS = 1,
  REWRITING_UNITS = 2,     /* actions on texts, comments, doctypes and the end */
  REWRITING_STOPS = 4,     /* callbacks that fail */
  REWRITING_IMPLIED = 8,   /* rules for elements without a tag */
  REWRITING_ANY_TEXT = 16, /* content that does not balance, and names of raw text */
  REWRITING_PURE = 32      /* pure callbacks, which write their log before the element */
} rewriting_kind;

typedef struct rewriting_call {
  struct rewriting *owner;
  uint64_t seed;
  unsigned number;
  buffer piece; /* of a text that comes in pieces */
} rewriting_call;

typedef struct rewriting {
  hpar_rules *compiled;
  hpar_rule rules[REWRITING_MAX_RULES];
  hpar_action actions[REWRITING_MAX_RULES][REWRITING_MAX_ACTIONS];
  char selectors[REWRITING_MAX_RULES][REWRITING_SELECTOR];
  rewriting_call calls[REWRITING_MAX_RULES];
  size_t count;
  unsigned kinds;
  buffer out, log;
  hpar_rewrite_stats stats;
} rewriting;

/* Returns the rule, compiled. */
hpar_rules *rewriting_compile(const hpar_rule *rule);

/* Makes rules and compiles them. Ends the process without memory. */
void rewriting_make(rewriting *rules, random_state *random, unsigned kinds);
void rewriting_free(rewriting *rules);
/* Prints the rules, a line each. */
void rewriting_print(const rewriting *rules);

/* Writes a random selector of 1 to 3 compounds into `to`, which has REWRITING_SELECTOR bytes. */
void rewriting_selector(random_state *random, char *to);

/* Rewrites the input, in pieces of 1 to `most` bytes; 0: as a whole. Each piece is in memory of its
 * size. Sets `out`, `log` and `stats`. */
hpar_status rewriting_run(rewriting *rules, hpar_rewriter *rewriter, const hpar_rewrite_options *options,
                          const char *bytes, size_t length, size_t most, uint64_t seed);

/* Rewrites the input as a whole, by single bytes, and in two divisions into pieces. Returns NULL if
 * all are equal, or what differs: output, log, status, or counters. Prints the difference. */
const char *rewriting_difference(rewriting *rules, hpar_rewriter *rewriter, const hpar_rewrite_options *options,
                                 const char *bytes, size_t length, uint64_t seed);

#endif
