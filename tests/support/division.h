#ifndef TESTS_SUPPORT_DIVISION_H
#define TESTS_SUPPORT_DIVISION_H

/* Compares the rewriter with workers at given cuts with the sequential one: output, status,
 * statistics, and the calls of callbacks in their order. */

#include "rewrite/parallel.h"
#include "support/buffer.h"

#include <hpar/rewrite.h>

typedef struct division_result {
  buffer out, calls;
  hpar_status status;
  hpar_rewrite_stats stats;
} division_result;

extern division_result division_expected, division_got;
extern hpar_rewriter *division_parallel; /* the rewriter with workers */

void division_open(void);
/* Prints the counters of all comparisons. */
void division_close(void);

/* Rewrites by the sequential rewriter, to division_expected. */
void division_rewrite_alone(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text,
                            size_t length);
/* Rewrites to `to`. */
void division_rewrite(hpar_rewriter *rewriter, const hpar_rules *rules, const hpar_rewrite_options *options,
                      const char *text, size_t length, division_result *to);
/* Begins a comparison of the calls in division_got with pieces of input. */
void division_clear(division_result *to);
hpar_status division_collect(const char *bytes, size_t length, void *out);
bool division_is_same(const division_result *a, const division_result *b);
/* Rewrites with workers, and compares the result with division_expected. Returns true if both are
 * equal. */
bool division_check(const hpar_rules *rules, const hpar_rewrite_options *options, const char *text, size_t length,
                    const hp_rewrite_division *division);

/*** generated rules ***/

extern uint64_t division_state;  /* of division_pick */
extern bool division_has_calls;  /* whether some rules have callbacks */
extern bool division_has_pieces; /* and some take texts in pieces, which depend on the feeds */

unsigned division_pick(unsigned below);
/* Makes rules of all kinds. */
hpar_rules *division_make_rules(unsigned count);
/* Makes rules for texts, comments and doctypes, and for elements. */
hpar_rules *division_make_unit_rules(unsigned count);
/* Makes rules that edit attributes: their matches may be conditions. */
hpar_rules *division_make_attribute_rules(unsigned count);
/* Makes rules that set an attribute. */
hpar_rules *division_make_settings(const char *const *selectors, unsigned count);
hpar_rules *division_make_setting(const char *selector);

/* The parts of a function that makes rules. */
hpar_rules *division_begin_rules(void);
void division_add_rule(hpar_rules *rules, const hpar_rule *rule);
/* Ends the test if the library refuses what the test needs. */
void division_require(bool is_fine, const char *what);
/* Returns the log of the callbacks. */
buffer *division_calls(void);

extern const unsigned division_checkpoints[2];

/* Returns `count`, or the part of it by HPAR_TEST_SCALE. */
unsigned division_scale(unsigned count);

#endif
