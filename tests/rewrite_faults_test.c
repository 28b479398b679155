/* Failures of the rewriter: each allocation, each callback, each call of the output function. The
 * rewriter returns a status. The output is a beginning of the complete output; with HPAR_FAIL_PASS
 * the input from stats.failed_at on follows it. Therefore nothing is lost, and nothing comes twice.
 * A callback, or the output function, re-enters or destroys the rewriter. */

#include "base/memory.h"
#include "check.h"
#include "support/compare.h"
#include "support/generate.h"
#include "support/rewriting.h"

#include <stdlib.h>

static const char page[] =
    "<!doctype html><p class=a title=b>x<b>y</p>z</b><custom-element></custom-element><!--c-->"
    "<ul><li>a<li>b</ul><table><td>c<svg><a xlink:href=x></table><select><option>o</select>"
    "<template><col><b>d</template><style>e{f:url(g)}</style><p>f<br>&amp;<i><i><i><i>g<p>h</body>";

static const char linked[] =
    "<p><a href=/b?c&amp;d>x<img srcset='/e 1x, f 2x'><p style='g:url(/h)'><base href=//i/j><a href=k>"
    "<meta http-equiv=refresh content='0;url=/l'><style>@import '/m';n{o:url( \"/p\" )}</style>"
    "<svg><a xlink:href=q><style>r{s:url(t&amp;u)}</style></svg><a ping='/v w' href=x>y";

/*** the output after a failure ***/

typedef struct outcome {
  buffer out;
  hpar_status status;
  uint64_t failed_at;
} outcome;

/* Checks the output of an input of which a part may have failed. */
static bool is_sound(const buffer *whole, const char *input, size_t length, bool passes, const outcome *o) {
  size_t rest = passes && o->status && o->failed_at < length ? length - (size_t)o->failed_at : 0;
  if (!o->status) return o->out.length == whole->length && !memcmp(o->out.bytes, whole->bytes, whole->length);
  if (o->out.length < rest || o->out.length - rest > whole->length) return false;
  size_t kept = o->out.length - rest;
  return (!kept || !memcmp(o->out.bytes, whole->bytes, kept)) &&
         (!rest || !memcmp(o->out.bytes + kept, input + length - rest, rest));
}

static bool check_outcome(const buffer *whole, const char *input, size_t length, bool passes, const outcome *o) {
  if (CHECK(is_sound(whole, input, length, passes, o))) return true;
  buffer shown = {0};
  buffer_escaped(&shown, o->out.bytes ? o->out.bytes : "", o->out.length);
  buffer_text(&shown, "\n  complete: ");
  buffer_escaped(&shown, whole->bytes ? whole->bytes : "", whole->length);
  buffer_text(&shown, "\n  input:    ");
  buffer_escaped(&shown, input, length);
  printf("  status %d, passes %d, failed at %lld\n  output:   %s\n", o->status, passes, (long long)o->failed_at,
         shown.bytes);
  buffer_free(&shown);
  return false;
}

/*** allocations ***/

/* Each allocation of a stream fails, once alone and once with all later ones. */
static void fail_allocations(rewriting *rules, const hpar_rewrite_options *given, const char *input, size_t length,
                             size_t most) {
  hpar_rewriter *rewriter;
  hpar_rewrite_options options = *given;
  buffer whole = {0};
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  CHECK_EQ(rewriting_run(rules, rewriter, &options, input, length, most, 1), HPAR_OK);
  buffer_add(&whole, rules->out.length ? rules->out.bytes : "", rules->out.length);
  hpar_rewriter_destroy(rewriter);
  for (int way = 0; way < 4; way++) {
    bool ended = false;
    options.on_failure = way & 1 ? HPAR_FAIL_PASS : HPAR_FAIL_STOP;
    for (uint64_t n = 0; !ended && n < 5000; n++) {
      CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
      (way & 2 ? hp_memory_fail_after : hp_memory_fail_once)(n);
      hpar_status status = rewriting_run(rules, rewriter, &options, input, length, most, 1);
      ended = hp_memory_left() != UINT64_MAX && status == HPAR_OK;
      hp_memory_fail_after(UINT64_MAX);
      CHECK(status == HPAR_OK || status == HPAR_ERROR_MEMORY);
      if (status && rules->stats.failed_at == UINT64_MAX) {
        CHECK_EQ(rules->stats.input_bytes, 0); /* hpar_rewriter_begin failed */
      } else {
        outcome o = {rules->out, status, rules->stats.failed_at};
        ended |= !check_outcome(&whole, input, length, way & 1, &o);
      }
      hpar_rewriter_destroy(rewriter);
    }
    CHECK(ended);
  }
  buffer_free(&whole);
}

static void allocations(void) {
  static rewriting rules;
  generated made = {0};
  uint64_t count = compare_full() ? 400 : 1 + compare_scale() / 8;
  for (uint64_t seed = 0; seed < count && !check_failed; seed++) {
    random_state random = {seed};
    /* Callbacks read values, for which memory may lack. */
    const unsigned kinds = seed % 3 ? 0 : REWRITING_CALLBACKS;
    rewriting_make(&rules, &random, kinds | REWRITING_UNITS | REWRITING_IMPLIED | REWRITING_ANY_TEXT);
    generate(seed, &made);
    hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = seed % 3 == 2 ? "shift_jis" : "utf-8"};
    size_t length = made.text.length < 300 ? made.text.length : 300;
    static const char marked[] = "\xEF\xBB\xBF<p>a<b>c", japanese[] = "<x\x83\x65 a\x83\x65=\x83\x65>\x83\x65";
    if (seed % 4 == 1)
      fail_allocations(&rules, &options, marked, sizeof marked - 1, 1 + random_below(&random, 3));
    else if (seed % 6 == 2)
      fail_allocations(&rules, &options, japanese, sizeof japanese - 1, 0);
    else if (seed % 2)
      fail_allocations(&rules, &options, page, sizeof page - 1, 1 + random_below(&random, 40));
    else
      fail_allocations(&rules, &options, made.text.bytes, length, random_below(&random, 20));
    hpar_rules_destroy(rules.compiled);
    rules.compiled = NULL;
  }
  generate_free(&made);
  rewriting_free(&rules);
}

static hpar_status replace_url(hpar_url *url, void *context) {
  (void)context;
  url->replacement = (hpar_string){"a long \"replacement\"", 20};
  return HPAR_OK;
}

/* Each allocation fails while a rule with a URL is added. */
static void fail_rule(const hpar_rule *rule) {
  hpar_status status = HPAR_ERROR_MEMORY;
  for (uint64_t n = 0; status && n < 100; n++) {
    hpar_rules *rules = NULL;
    CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
    hp_memory_fail_once(n);
    status = hpar_rules_add(rules, rule, NULL);
    if (hp_memory_left() == UINT64_MAX) CHECK_EQ(status, HPAR_ERROR_MEMORY);
    hp_memory_fail_after(UINT64_MAX);
    hpar_rules_destroy(rules);
  }
  CHECK_EQ(status, HPAR_OK);
}

/* The same with rules for URLs. */
static void url_allocations(void) {
  static const hpar_action prefix = {.kind = HPAR_ACTION_PREFIX_URLS, .value = {"/prefix", 7}};
  static const hpar_action rebase = {.kind = HPAR_ACTION_REBASE_URLS, .value = {"", 0}};
  const hpar_rule given[] = {{HPAR_RULE_INIT, .selector = "*", .actions = &prefix, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "*", .actions = &rebase, .action_count = 1},
                             {HPAR_RULE_INIT, .selector = "style, img", .url = replace_url}};
  static rewriting rules;
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .document_url = "http://x.y/z",
                                  .max_text = 16};
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(hpar_rules_create(&rules.compiled), HPAR_OK);
    for (int k = i; k < 3; k++) CHECK_EQ(hpar_rules_add(rules.compiled, &given[k], NULL), HPAR_OK);
    CHECK_EQ(hpar_rules_compile(rules.compiled), HPAR_OK);
    fail_allocations(&rules, &options, linked, sizeof linked - 1, i == 1 ? 5 : 0);
    hpar_rules_destroy(rules.compiled);
  }
  rules.compiled = NULL;
  rewriting_free(&rules);
  const hpar_action absolute = {.kind = HPAR_ACTION_REBASE_URLS, .value = {"http://x.y/z", 12}};
  fail_rule(&(hpar_rule){HPAR_RULE_INIT, .selector = "a", .actions = &absolute, .action_count = 1});
}

/*** callbacks ***/

typedef enum deed { EDITS, FAILS, REENTERS, DESTROYS } deed;

typedef struct calls {
  hpar_rewriter *rewriter;
  hpar_rules *rules;
  deed deed;
  uint64_t left; /* callbacks until the deed */
  uint64_t count;
  bool of_output; /* the output function does it */
  buffer out;
} calls;

static hpar_status discard(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_OK;
}

static void reenter(calls *c) {
  CHECK_EQ(hpar_rewriter_begin(c->rewriter, c->rules, NULL, discard, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_feed(c->rewriter, "x", 1), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewriter_finish(c->rewriter, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_rewrite(c->rewriter, c->rules, NULL, "x", 1, NULL, discard, NULL), HPAR_ERROR_ARGUMENT);
}

/* Returns whether it is the turn of the deed. */
static bool is_turn(calls *c, bool of_output) {
  if (c->of_output != of_output) return false;
  c->count++;
  if (c->left-- != 0) return false;
  if (c->deed == REENTERS) reenter(c);
  if (c->deed == DESTROYS) hpar_rewriter_destroy(c->rewriter);
  return true;
}

static hpar_status result_of(calls *c) { return is_turn(c, false) && c->deed == FAILS ? HPAR_ERROR_CALLBACK : HPAR_OK; }

static hpar_status on_element(hpar_element *e, void *context) {
  hpar_element_insert(e, HPAR_WHERE_BEFORE, "[", 1, HPAR_CONTENT_HTML);
  hpar_element_insert(e, HPAR_WHERE_AFTER, "]", 1, HPAR_CONTENT_HTML);
  hpar_string name = e->name;
  if (name.length == 1 && !e->implied) hpar_element_set(e, "n", name.bytes, 1);
  return result_of(context);
}

static hpar_status on_end(hpar_element_end *end, void *context) {
  hpar_element_end_insert(end, HPAR_WHERE_BEFORE, "/", 1, HPAR_CONTENT_HTML);
  return result_of(context);
}

static hpar_status on_text(hpar_text_piece *text, void *context) {
  hpar_text_piece_insert(text, HPAR_WHERE_AFTER, "t", 1, HPAR_CONTENT_HTML);
  return result_of(context);
}

static hpar_status on_comment(hpar_comment *comment, void *context) {
  hpar_comment_set_text(comment, "new", 3);
  return result_of(context);
}

static hpar_status on_doctype(hpar_doctype *doctype, void *context) {
  hpar_doctype_remove(doctype);
  return result_of(context);
}

static hpar_status on_document_end(hpar_document_end *end, void *context) {
  hpar_document_end_append(end, "end", 3, HPAR_CONTENT_HTML);
  return result_of(context);
}

static hpar_status on_url(hpar_url *url, void *context) {
  url->replacement = (hpar_string){"/new", 4};
  return result_of(context);
}

static hpar_status write_output(const char *bytes, size_t length, void *context) {
  calls *c = context;
  bool fails = is_turn(c, true) && c->deed == FAILS;
  CHECK(c->deed != FAILS || !c->of_output || c->left + 1 != 0 || fails); /* the last */
  if (!fails) buffer_add(&c->out, bytes, length);
  return fails ? HPAR_ERROR_IO : HPAR_OK;
}

/* Rewrites the page in pieces. Returns what happened. */
static outcome run_calls(calls *c, deed deed, uint64_t left, bool of_output, bool passes) {
  hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8",
                                  .on_failure = passes ? HPAR_FAIL_PASS : HPAR_FAIL_STOP};
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  outcome o = {.failed_at = UINT64_MAX};
  c->deed = deed;
  c->left = left;
  c->of_output = of_output;
  c->count = 0;
  buffer_clear(&c->out);
  CHECK_EQ(hpar_rewriter_create(&c->rewriter), HPAR_OK);
  CHECK_EQ(hpar_rewriter_begin(c->rewriter, c->rules, &options, write_output, c), HPAR_OK);
  for (size_t at = 0; at < sizeof page - 1; at += 8) {
    size_t part = sizeof page - 1 - at < 8 ? sizeof page - 1 - at : 8;
    o.status = hpar_rewriter_feed(c->rewriter, page + at, part);
    if (c->deed == DESTROYS && c->count > left) {
      CHECK(of_output || o.status == HPAR_ERROR_ARGUMENT);
      return o; /* the rewriter is gone */
    }
  }
  o.status = hpar_rewriter_finish(c->rewriter, &stats);
  if (c->deed == DESTROYS && c->count > left) return o;
  o.failed_at = stats.failed_at;
  o.out = c->out;
  hpar_rewriter_destroy(c->rewriter);
  return o;
}

static void callbacks(void) {
  static calls c;
  const hpar_rule rules[] = {
      {HPAR_RULE_INIT, .selector = "a, style", .url = on_url, .context = &c},
      {HPAR_RULE_INIT, .selector = "*", .element = on_element, .end = on_end, .context = &c, .implied = true},
      {HPAR_RULE_INIT, .text = on_text, .comment = on_comment, .doctype = on_doctype, .document_end = on_document_end,
       .context = &c}};
  CHECK_EQ(hpar_rules_create(&c.rules), HPAR_OK);
  for (int i = 0; i < 3; i++) CHECK_EQ(hpar_rules_add(c.rules, &rules[i], NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(c.rules), HPAR_OK);
  for (int of_output = 0; of_output < 2; of_output++) {
    buffer whole = {0};
    CHECK_EQ(run_calls(&c, EDITS, UINT64_MAX, of_output, false).status, HPAR_OK);
    buffer_add(&whole, c.out.bytes, c.out.length);
    uint64_t count = c.count;
    CHECK(count > 20);
    for (uint64_t n = 0; n < count; n++) {
      for (int passes = 0; passes < 2; passes++) {
        outcome o = run_calls(&c, FAILS, n, of_output, passes);
        CHECK_EQ(o.status, of_output ? HPAR_ERROR_IO : HPAR_ERROR_CALLBACK);
        check_outcome(&whole, page, sizeof page - 1, passes && !of_output, &o);
      }
      outcome o = run_calls(&c, REENTERS, n, of_output, false);
      CHECK_EQ(o.status, HPAR_OK);
      CHECK_BYTES(o.out.bytes, o.out.length, whole.bytes, whole.length);
      run_calls(&c, DESTROYS, n, of_output, n & 1);
    }
    buffer_free(&whole);
  }
  hpar_rules_destroy(c.rules);
  buffer_free(&c.out);
}

static hpar_status mark(hpar_element *e, void *context) {
  (void)context;
  return hpar_element_attribute(e, "a").bytes ? hpar_element_set(e, "b", "", 0) : HPAR_OK;
}

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

/* A callback that cannot read a value for lack of memory does not take it for a missing one. */
static void unread_values(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .selector = "p", .element = mark};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8"};
  hpar_rules *rules;
  buffer text = {0}, out = {0};
  buffer_text(&text, "<p a='");
  for (int i = 0; i < 2000; i++) buffer_text(&text, "&amp;");
  buffer_text(&text, "'>");
  CHECK_EQ(hpar_rules_create(&rules), HPAR_OK);
  CHECK_EQ(hpar_rules_add(rules, &rule, NULL), HPAR_OK);
  CHECK_EQ(hpar_rules_compile(rules), HPAR_OK);
  bool has_failed = true;
  for (uint64_t n = 0; has_failed && n < 200; n++) {
    hpar_rewriter *rewriter;
    buffer_clear(&out);
    CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
    hp_memory_fail_once(n);
    const hpar_status status = hpar_rewrite(rewriter, rules, &options, text.bytes, text.length, NULL, collect, &out);
    has_failed = hp_memory_left() == UINT64_MAX;
    hp_memory_fail_after(UINT64_MAX);
    CHECK(status == HPAR_OK || (has_failed && status == HPAR_ERROR_MEMORY));
    if (!status) CHECK_EQ(out.length, text.length + 5); /* ` b=""` */
    hpar_rewriter_destroy(rewriter);
  }
  CHECK(!has_failed);
  hpar_rules_destroy(rules);
  buffer_free(&text);
  buffer_free(&out);
}

static hpar_status refuse(const char *bytes, size_t length, void *context) {
  (void)bytes, (void)length, (void)context;
  return HPAR_ERROR_IO;
}

static hpar_status fail_at_end(hpar_document_end *end, void *context) {
  (void)end, (void)context;
  return HPAR_ERROR_CALLBACK;
}

/* Finish passes on the rest after a failure, and the output function fails there. */
static void failing_rest(void) {
  const hpar_rule rule = {HPAR_RULE_INIT, .document_end = fail_at_end};
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = "utf-8", .on_failure = HPAR_FAIL_PASS};
  hpar_rules *rules = rewriting_compile(&rule);
  hpar_rewriter *rewriter;
  CHECK_EQ(hpar_rewriter_create(&rewriter), HPAR_OK);
  for (int fails = 0; fails < 2; fails++) {
    CHECK_EQ(hpar_rewriter_begin(rewriter, rules, &options, fails ? refuse : discard, NULL), HPAR_OK);
    CHECK_EQ(hpar_rewriter_feed(rewriter, "<", 1), HPAR_OK);
    CHECK_EQ(hpar_rewriter_finish(rewriter, NULL), fails ? HPAR_ERROR_IO : HPAR_ERROR_CALLBACK);
  }
  hpar_rewriter_destroy(rewriter);
  hpar_rules_destroy(rules);
}

int main(void) {
  callbacks();
  allocations();
  url_allocations();
  unread_values();
  failing_rest();
  return check_report();
}
