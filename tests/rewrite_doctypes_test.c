/* Doctypes after the first tag, in chunks of workers. Workers remove them by declarative actions
 * and pure callbacks. The feeding thread runs other callbacks, and may end a rule that workers have
 * predicted to run. */

#include "check.h"
#include "support/division.h"

#include <string.h>

enum { SECTIONS = 400, STOP = 150 };

static const hpar_action remove_doctype = {.unit = HPAR_UNIT_DOCTYPE, .kind = HPAR_ACTION_REMOVE};
static const hpar_action drop_comment = {.unit = HPAR_UNIT_COMMENT, .kind = HPAR_ACTION_REMOVE};

static void log_name(hpar_doctype *d) {
  const hpar_string name = d->name;
  buffer_format(division_calls(), "%.*s ", (int)name.length, name.bytes);
}

static hpar_status see(hpar_doctype *d, void *context) {
  (void)context;
  log_name(d);
  hpar_doctype_remove(d);
  return HPAR_OK;
}

static bool is_stop(const hpar_doctype *d) {
  const hpar_string name = d->name;
  return name.length == 4 && !memcmp(name.bytes, "stop", 4);
}

static hpar_status see_until_stop(hpar_doctype *d, void *context) {
  see(d, context);
  return is_stop(d) ? HPAR_RETIRE : HPAR_OK;
}

/* Any thread may run this one. */
static hpar_status remove_until_stop(hpar_doctype *d, void *context) {
  (void)context;
  hpar_doctype_remove(d);
  return is_stop(d) ? HPAR_RETIRE : HPAR_OK;
}

static void make_page(buffer *page) {
  buffer_text(page, "<!doctype first><title>t</title><body>");
  for (unsigned i = 0; i < SECTIONS; i++) {
    for (unsigned k = 0; k < 10; k++) buffer_text(page, "<p class=x>some <b>bold</b> words<!-- note --></p>\n");
    if (i == STOP)
      buffer_text(page, "<!DOCTYPE stop>");
    else if (i % 3 == 0)
      buffer_format(page, "<!doctype name%u public \"a\">", i);
  }
}

int main(void) {
  const struct {
    hpar_rule rule;
    unsigned share; /* the merger rewrites one part of so many, or less; 0: any */
  } given[] = {{{HPAR_RULE_INIT, .actions = &remove_doctype, .action_count = 1}, 10},
               {{HPAR_RULE_INIT, .doctype = see}, 0},
               {{HPAR_RULE_INIT, .doctype = see_until_stop}, 0},
               {{HPAR_RULE_INIT, .doctype = remove_until_stop, .pure = true}, 0},
               {{HPAR_RULE_INIT, .doctype = see_until_stop, .actions = &drop_comment, .action_count = 1}, 0}};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  buffer page = {0};
  division_open();
  make_page(&page);
  for (unsigned i = 0; i < sizeof given / sizeof *given; i++) {
    hpar_rules *rules = division_begin_rules();
    division_add_rule(rules, &given[i].rule);
    CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
    division_rewrite_alone(rules, &options, page.bytes, page.length);
    for (size_t size = 2000; size < page.length; size = size * 3 + 7) {
      const hp_rewrite_division division = {.chunk_size = size, .is_inline = true};
      const hp_rewrite_counters before = hp_rewriter_counters(division_parallel);
      if (!CHECK(division_check(rules, &options, page.bytes, page.length, &division)))
        printf("  rule %u, chunks of %zu\n", i, size);
      const hp_rewrite_counters after = hp_rewriter_counters(division_parallel);
      const uint64_t rewritten = after.rewritten_bytes - before.rewritten_bytes;
      if (given[i].share) CHECK(rewritten * given[i].share < page.length + size * given[i].share);
    }
    hpar_rules_destroy(rules);
  }
  buffer_free(&page);
  division_close();
  return check_report();
}
