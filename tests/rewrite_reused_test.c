/* A rewriter that has processed other pages gives the same output and counters as a new one. The
 * pages have misnested formatting elements, whose ends depend on the stack of open elements. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

#include <hpar/rewrite.h>
#include <string.h>

static hpar_rules *rules;
static buffer outputs[2];

static hpar_status append(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static hpar_rewrite_stats rewrite(hpar_rewriter *rewriter, const char *page, buffer *out) {
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer_clear(out);
  CHECK_EQ(hpar_rewrite(rewriter, rules, &options, page, strlen(page), &stats, append, out), HPAR_OK);
  return stats;
}

/* Rewrites `page` after `earlier`, and with a new rewriter. */
static void check_after(const char *earlier, const char *page) {
  hpar_rewrite_stats stats[2];
  for (int is_new = 0; is_new < 2; is_new++) {
    hpar_rewriter *rewriter = NULL;
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    if (!is_new) rewrite(rewriter, earlier, &outputs[0]);
    stats[is_new] = rewrite(rewriter, page, &outputs[is_new]);
    hpar_rewriter_destroy(rewriter);
  }
  if (outputs[0].length == outputs[1].length && !memcmp(outputs[0].bytes, outputs[1].bytes, outputs[0].length) &&
      CHECK_EQ(stats[0].misplaced, stats[1].misplaced) && CHECK_EQ(stats[0].matches, stats[1].matches))
    return;
  CHECK(false);
  printf("  the output depends on an earlier page: %s after %s\n", page, earlier);
}

static void write_page(random_state *random, buffer *page) {
  static const char *const tags[] = {"<b>",  "<em>", "<i>",  "<p>",       "<object>",  "</b>",  "</em>", "</i>",
                                     "</p>", "<a>",  "</a>", "</object>", "<b title>", "<div>", "</div>"};
  buffer_clear(page);
  for (uint64_t count = 4 + random_below(random, 14); count; count--) buffer_text(page, RANDOM_OF(random, tags));
  buffer_byte(page, '\0');
}

int main(void) {
  hpar_action action = {.kind = HPAR_ACTION_AFTER, .value = {"X", 1}};
  hpar_rule rule = {HPAR_RULE_INIT, .selector = "*", .actions = &action, .action_count = 1};
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  check_after("</em><p><p><div>", "<em><i></p><a><em></i></div><b><em></i><div><a>");
  check_after("</p><p><i><i>", "<em><b></i><b title><b></a><i><b></a><div></em><object><b><b></b>");
  random_state random = {7};
  buffer pages[2] = {{0}};
  for (unsigned i = 0; i < 100 * compare_scale(); i++) {
    write_page(&random, &pages[i % 2]);
    if (i) check_after(pages[1 - i % 2].bytes, pages[i % 2].bytes);
  }
  for (int i = 0; i < 2; i++) {
    buffer_free(&pages[i]);
    buffer_free(&outputs[i]);
  }
  hpar_rules_destroy(rules);
  return check_report();
}
