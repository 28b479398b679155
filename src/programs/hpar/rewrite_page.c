#include "programs/hpar/rewrite_page.h"

#include "programs/hpar/feeder.h"
#include "programs/hpar/json.h"
#include "programs/hpar/read.h"
#include "programs/hpar/replace_file.h"
#include "programs/hpar/rewrite_check.h"
#include "programs/hpar/rewrite_explain.h"
#include "programs/hpar/rewrite_many.h"
#include "programs/hpar/rewrite_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A page while it is rewritten. */
typedef struct page {
  hp_rewriting *rewriting;
  hpar_rewriter *rewriter;
  hp_explanation explanation;
  const char *path;
  FILE *output; /* NULL: none */
  bool output_failed, writes_at_once;
  hp_text input, result; /* with --check */
  hp_feeder feeder;      /* for several threads */
  hp_trace_file trace;
} page;

static void count_match(uint64_t start, uint64_t end, void *context) {
  (void)start, (void)end;
  hp_edit_rule *rule = context;
  rule->matches++;
  rule->all_matches++;
}

/* Returns true if the report, not the page, goes to standard output. */
static bool prints_no_page(const hp_rewriting *w) { return w->in_place || w->output || w->checks || w->explains; }

/*** one page ***/

static hpar_status write_page(const char *bytes, size_t length, void *context) {
  page *p = context;
  if (p->rewriting->checks) {
    hpar_status status = hp_append_text(bytes, length, &p->result);
    if (status) return status;
  }
  if (!p->output) return HPAR_OK;
  hpar_status status = hp_write_file(bytes, length, p->output);
  if (!status && p->writes_at_once && fflush(p->output)) status = HPAR_ERROR_IO;
  p->output_failed |= status;
  return status;
}

static hpar_status feed(const char *bytes, size_t length, void *context) {
  page *p = context;
  size_t step = p->rewriting->feed ? p->rewriting->feed : length;
  if (p->rewriting->explains && !p->output && ferror(stdout)) {
    p->output_failed = true;
    return HPAR_ERROR_IO;
  }
  hpar_status status = p->rewriting->checks ? hp_append_text(bytes, length, &p->input) : HPAR_OK;
  if (!status && p->rewriting->options.mode != HPAR_MODE_SEQUENTIAL && !p->rewriting->feed)
    return hp_feeder_take(&p->feeder, bytes, length);
  for (size_t at = 0; !status && at < length; at += step)
    status = hpar_rewriter_feed(p->rewriter, bytes + at, length - at < step ? length - at : step);
  return status;
}

/* Prints why the rewriter failed. Returns the exit code. */
static int complain(const page *p, hpar_status status, const char *reason, const hpar_rewrite_stats *stats) {
  if (p->output_failed) return HP_EXIT_FAILED;
  if (status == HPAR_ERROR_IO) return hp_complain_status(p->path, status);
  if (!reason || !*reason) reason = hpar_status_text(status);
  const char *name = hp_shown_name(p->path);
  const char *then = p->rewriting->options.on_failure == HPAR_FAIL_PASS ? "the rest is passed on without edits"
                                                                        : "the output ends there";
  if (p->rewriting->in_place) then = "the file stays as it is";
  if (stats->failed_at != UINT64_MAX)
    hp_complain("%s: byte %llu: %s; %s", name, (unsigned long long)stats->failed_at, reason, then);
  else
    hp_complain("%s: %s", name, reason);
  return status == HPAR_ERROR_ARGUMENT ? HP_EXIT_USAGE : HP_EXIT_FAILED;
}

static int rewrite_untraced(page *p, hpar_rewrite_stats *stats) {
  hp_rewriting *w = p->rewriting;
  for (size_t i = 0; i < w->rules.count; i++) w->rules.items[i].matches = 0;
  p->input.length = p->result.length = 0;
  hp_feeder_begin(&p->feeder, p->rewriter);
  p->output_failed = false;
  hpar_status status = hpar_rewriter_begin(p->rewriter, w->compiled, &w->options, write_page, p);
  stats->failed_at = UINT64_MAX;
  if (status) return complain(p, status, hpar_rewriter_error(p->rewriter)->text, stats);
  status = hp_read_pieces(p->path, feed, p);
  if (!status) status = hp_feeder_flush(&p->feeder);
  int number = errno;
  bool unreadable = status == HPAR_ERROR_IO && !p->output_failed;
  char reason[256];
  snprintf(reason, sizeof reason, "%s", status ? hpar_rewriter_error(p->rewriter)->text : "");
  hpar_status finished = hpar_rewriter_finish(p->rewriter, stats);
  if (!status && finished) snprintf(reason, sizeof reason, "%s", hpar_rewriter_error(p->rewriter)->text);
  if (!status) status = finished;
  errno = number;
  if (unreadable) return hp_complain_status(p->path, status);
  return status ? complain(p, status, reason, stats) : HP_EXIT_FINE;
}

/* Rewrites the page into `output` and `result`. Returns an exit code. */
static int rewrite(page *p, hpar_rewrite_stats *stats) {
  const char *name = p->rewriting->trace;
  int code = name ? hp_trace_file_open(&p->trace, name, p->path, p->rewriter) : -1;
  if (code < 0) code = rewrite_untraced(p, stats);
  int closed = hp_trace_file_close(&p->trace, name, p->rewriter);
  return code ? code : closed;
}

/*** reports ***/

static uint64_t count_matches(const hp_edit_rules *rules) {
  uint64_t matches = 0;
  for (size_t i = 0; i < rules->count; i++) matches += rules->items[i].matches;
  return matches;
}

static void json_number(hp_json *json, const char *key, uint64_t value) {
  hp_json_key(json, key);
  hp_json_number(json, value);
}

static void print_json(const page *p, FILE *file, const hpar_rewrite_stats *s) {
  const hp_edit_rules *rules = &p->rewriting->rules;
  hp_json json = {.file = file};
  hp_json_open(&json, '{');
  hp_json_key(&json, "file");
  hp_json_text(&json, p->path);
  hp_json_key(&json, "encoding");
  hp_json_text(&json, s->encoding);
  json_number(&json, "input_bytes", s->input_bytes);
  json_number(&json, "output_bytes", s->output_bytes);
  json_number(&json, "tags", s->tags);
  json_number(&json, "matches", count_matches(rules));
  json_number(&json, "edits", s->edits);
  json_number(&json, "held_bytes", s->held_bytes);
  json_number(&json, "memory_bytes", s->memory_bytes);
  json_number(&json, "depth", s->depth);
  json_number(&json, "misplaced", s->misplaced);
  hp_json_key(&json, "passed_through");
  hp_json_bool(&json, s->passed_through);
  hp_json_key(&json, "retired");
  hp_json_bool(&json, s->retired);
  hp_json_key(&json, "rules");
  hp_json_open(&json, '[');
  for (size_t i = 0; i < rules->count; i++) {
    const hp_edit_rule *rule = &rules->items[i];
    hp_json_open(&json, '{');
    hp_json_key(&json, "select");
    hp_json_text(&json, rule->rule.selector);
    if (rule->rule.selector) json_number(&json, "matches", rule->matches);
    hp_json_close(&json, '}');
  }
  hp_json_close(&json, ']');
  hp_json_close(&json, '}');
  fputc('\n', file);
}

static void print_stats(const page *p, FILE *file, const hpar_rewrite_stats *s) {
  const hp_edit_rules *rules = &p->rewriting->rules;
  char name[256];
  fprintf(file, "%s: %llu bytes in, %llu bytes out, %s\n", hp_shown_name(p->path), (unsigned long long)s->input_bytes,
          (unsigned long long)s->output_bytes, s->encoding ? s->encoding : "unknown encoding");
  fprintf(file, "  %llu tags, %llu matches, %llu edits\n", (unsigned long long)s->tags,
          (unsigned long long)count_matches(rules), (unsigned long long)s->edits);
  fprintf(file, "  at most %llu bytes held, %llu bytes of memory, %llu open elements\n",
          (unsigned long long)s->held_bytes, (unsigned long long)s->memory_bytes, (unsigned long long)s->depth);
  for (size_t i = 0; i < rules->count; i++) {
    if (!rules->items[i].rule.selector) continue;
    hp_edit_rule_name(&rules->items[i], name, sizeof name);
    fprintf(file, "  %s: %llu matches\n", name, (unsigned long long)rules->items[i].matches);
  }
}

void hp_warn_of_utf16(const char *path, const hpar_rewrite_stats *stats) {
  const char *name = hp_shown_name(path);
  if (stats->passed_through) hp_complain("%s: warning: the input is UTF-16 and passes without edits", name);
  if (stats->decoded) hp_complain("%s: warning: the input is UTF-16, and the output is UTF-8", name);
}

/* `failed`: the rewriter did not reach the end of the page. */
static void report(page *p, const hpar_rewrite_stats *stats, bool failed) {
  const hp_rewriting *w = p->rewriting;
  FILE *file = prints_no_page(w) ? stdout : stderr;
  /* a file without edits stays in UTF-16 */
  if (!failed && (!w->in_place || stats->edits || stats->passed_through)) hp_warn_of_utf16(p->path, stats);
  hp_explanation_finish(&p->explanation, &w->rules, stats, failed);
  if (w->report == HP_REPORT) print_stats(p, file, stats);
  if (w->report == HP_REPORT_JSON) print_json(p, file, stats);
}

/*** files ***/

static int check(page *p, int code) {
  const hp_rewriting *w = p->rewriting;
  if (!w->checks || code) return code;
  return hp_check_rewrite(&p->explanation, &w->rules, p->path, &w->options, &p->input, &p->result);
}

static int rewrite_in_place(page *p) {
  hp_replacement replacement;
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  if (!hp_replacement_open(&replacement, p->path)) return HP_EXIT_FAILED;
  p->output = replacement.file;
  int code = rewrite(p, &stats);
  const bool failed = code != HP_EXIT_FINE;
  code = check(p, code);
  if (p->output_failed) hp_complain("%s: the temporary file cannot be written: %s", p->path, strerror(errno));
  report(p, &stats, failed);
  if (code || !stats.edits)
    hp_replacement_drop(&replacement);
  else if (!hp_replacement_finish(&replacement, p->rewriting->backup_suffix))
    code = HP_EXIT_FAILED;
  return code;
}

static int rewrite_to_output(page *p) {
  const hp_rewriting *w = p->rewriting;
  const char *name = w->output ? w->output : "-";
  hpar_rewrite_stats stats = {HPAR_REWRITE_STATS_INIT};
  if (strcmp(p->path, "-") && access(p->path, R_OK)) return hp_complain_status(p->path, HPAR_ERROR_IO);
  if (w->output || !prints_no_page(w)) {
    p->output = hp_open_output(name);
    if (!p->output) return HP_EXIT_FAILED;
  }
  p->writes_at_once = p->output == stdout && !strcmp(p->path, "-");
  int code = rewrite(p, &stats);
  const bool failed = code != HP_EXIT_FINE;
  code = check(p, code);
  if (p->output) {
    int closed = hp_close_output(p->output, name);
    if (!code) code = closed;
  }
  report(p, &stats, failed);
  return code;
}

static int rewrite_alone(const char *path, void *context) {
  page *p = context;
  p->path = path;
  return rewrite_in_place(p);
}

static int rewrite_all(page *p, bool at_once) {
  const hp_rewriting *w = p->rewriting;
  if (at_once) return hp_finish_output(hp_rewrite_many_pages(w, rewrite_alone, p));
  int code = w->pages.failures ? HP_EXIT_FAILED : HP_EXIT_FINE;
  for (size_t i = 0; i < w->pages.count && !ferror(stdout); i++) {
    p->path = w->pages.paths[i];
    hp_explanation_begin(&p->explanation, w->pages.count > 1 ? p->path : NULL);
    int page_code = w->in_place ? rewrite_in_place(p) : rewrite_to_output(p);
    if (page_code > code) code = page_code;
  }
  for (size_t i = 0; w->requires_matches && !code && i < w->rules.count; i++) {
    const hp_edit_rule *rule = &w->rules.items[i];
    char name[256];
    hp_edit_rule_name(rule, name, sizeof name);
    if (!rule->rule.selector || rule->all_matches) continue;
    hp_complain("%s matches nothing", name);
    code = HP_EXIT_FAILED;
  }
  return hp_finish_output(code);
}

/* Returns an exit code after a message, or -1. */
static int compile(hp_rewriting *w, hp_explanation *x) {
  hp_refusal refusal = {.selector = NULL};
  hpar_status status = w->explains || w->checks ? hp_explanation_compile(x, &w->rules, w->compiled, &refusal)
                                                : hp_edit_rules_compile(&w->rules, NULL, NULL, w->compiled, &refusal);
  if (status != HPAR_ERROR_ARGUMENT) return status ? hp_complain_status(NULL, status) : -1;
  hp_bad_usage(w->command, "%s", refusal.text);
  if (refusal.selector) fprintf(stderr, "  %s\n  %*s^\n", refusal.selector, (int)refusal.offset, "");
  return HP_EXIT_USAGE;
}

int hp_rewrite_pages(hp_rewriting *w) {
  page p = {.rewriting = w, .explanation = {.prints = w->explains, .records = w->checks}};
  bool counts = w->requires_matches || w->report != HP_NO_REPORT || w->explains || w->checks;
  for (size_t i = 0; counts && i < w->rules.count; i++) {
    hpar_rule *rule = &w->rules.items[i].rule;
    if (rule->selector) rule->found = count_match;
    rule->context = &w->rules.items[i];
  }
  int code = compile(w, &p.explanation);
  if (code < 0 && hpar_rewriter_create(&p.rewriter)) code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  bool at_once = w->pages.count > 1 && !counts && !w->feed;
  if (code < 0) code = rewrite_all(&p, at_once);
  hpar_rewriter_destroy(p.rewriter);
  hp_explanation_free(&p.explanation);
  free(p.input.bytes);
  free(p.result.bytes);
  hp_feeder_free(&p.feeder);
  return code;
}
