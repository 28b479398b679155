/* hpar explain: the outcome of each chunk, with its reason. */

#include "programs/hpar/explain.h"
#include "programs/hpar/explain_pipeline.h"
#include "programs/hpar/json.h"
#include "programs/hpar/report.h"

#include <hpar/study.h>
#include <string.h>

enum { JSON = 1, HTML };
enum { AROUND = 40, AROUND_JSON = 60 };

static const hp_option options[] = {
    {JSON, "json", NULL, "print the same as JSON, with the timeline"},
    {HTML, "html", "OUT",
     "write a page to this file, - for standard output: a bar for each\nchunk, the source around each cut, "
     "the timeline; also -o OUT"},
    HP_INSPECTION_OPTIONS,
    {HP_OPTION_OUTPUT, "output", "OUT", "the same as --html"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "explain", "FILE|-",
    "Parses FILE in parallel, every chunk except the first by a worker. Prints for each chunk its cut,\n"
    "the predicted and the true start state, the assumptions, those that failed, and the bytes\n"
    "parsed again. Pipelined: prints each hazard, where the tree builder determines the tokenizer's\n"
    "state.",
    options};

void hp_describe_start(char *text, size_t size, const hpar_start_state *s) {
  const char *ns = hp_namespace_name(s->ns);
  bool html = !ns || !strcmp(ns, "html");
  snprintf(text, size, "%s%s%s, %s%s%s", s->state, *s->element ? " of " : "", s->element, s->mode, html ? "" : ", in ",
           html ? "" : ns);
}

/*** text ***/

/* Writes text on one line, with blanks for line breaks. */
static void write_line(hpar_string s) {
  for (size_t i = 0; i < s.length; i++)
    putchar((unsigned char)s.bytes[i] < 0x20 || s.bytes[i] == 0x7F ? ' ' : s.bytes[i]);
}

static void print_kinds(const char *label, const char *(*name)(int), const uint64_t *counts, int kinds) {
  bool any = false;
  for (int i = 0; i < kinds; i++) {
    if (!counts[i]) continue;
    printf(any ? ", %s" : "    %s", any ? name(i) : label);
    if (!any) printf(" %s", name(i));
    if (counts[i] > 1) printf(" (%llu)", (unsigned long long)counts[i]);
    any = true;
  }
  if (any) putchar('\n');
}

static const char *assumption_name(int i) { return hpar_assumption_name((hpar_assumption)i); }
static const char *silent_name(int i) { return hpar_undetected_error_name((hpar_undetected_error)i); }

static void print_chunk(const hp_inspection *in, size_t index) {
  const hpar_chunk *c = hpar_chunk_at(in->parser, index);
  char predicted[160], actual[160];
  hpar_string before, behind;
  printf("chunk %zu: %s, %llu to %llu (%llu bytes)", index, hpar_chunk_outcome_name(c->outcome),
         (unsigned long long)c->begin, (unsigned long long)c->end, (unsigned long long)(c->end - c->begin));
  if (c->bytes_reparsed) printf(", %llu bytes parsed again", (unsigned long long)c->bytes_reparsed);
  putchar('\n');
  hp_describe_start(actual, sizeof actual, &c->actual);
  if (index) {
    hp_around_cut(in, c, AROUND, &before, &behind);
    printf("    cut: ");
    write_line(before);
    printf(" \xC2\xA6 ");
    write_line(behind);
    putchar('\n');
  }
  if (!c->predicted.state) {
    printf("    start: %s\n", actual);
    return;
  }
  hp_describe_start(predicted, sizeof predicted, &c->predicted);
  printf("    predicted: %s\n    true: %s\n", predicted, actual);
  if (!c->right_start)
    printf("    the first token was taken to begin elsewhere\n");
  else if (c->hypotheses > 1)
    printf("    %u start hypotheses were kept\n", c->hypotheses);
  if (c->respeculations)
    printf("    started again with another guess%s\n", c->respeculations > 1 ? ", more than once" : "");
  if (c->aborted) printf("    given up by its worker\n");
  if (c->rolled_back) printf("    not taken: the strategy's guess was wrong\n");
  uint64_t assumed[HPAR_ASSUMPTIONS];
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) assumed[i] = c->assumed_by_kind[i];
  print_kinds("assumed:", assumption_name, assumed, HPAR_ASSUMPTIONS);
  hp_failing f;
  for (size_t i = 0; hp_next_failing(c, &i, &f);) {
    printf("    %s %llu to %llu", f.label, (unsigned long long)f.begin, (unsigned long long)f.end);
    if (f.stretches > 1) printf(", %zu stretches", f.stretches);
    printf(": %s: %s%s\n", f.name, f.denial, f.summary);
  }
  for (size_t i = 0; i < c->reparsed_count; i++)
    printf("    parsed again: %llu to %llu\n", (unsigned long long)c->reparsed[i].begin,
           (unsigned long long)c->reparsed[i].end);
  print_kinds("silent errors of the scheme:", silent_name, c->undetected_errors_by_kind, HPAR_UNDETECTED_ERRORS);
}

void hp_describe_scripts(char *text, size_t size, const hpar_study_stats *s) {
  bool pipelined = s->pipeline.predictor && !s->strategy;
  snprintf(text, size,
           "%llu scripts ran in %.3f ms and wrote %llu bytes; %llu left another state: %llu %s and %llu bytes lost, "
           "%llu bytes by the rule of equal states",
           (unsigned long long)s->script.runs, (double)s->ns.scripts / 1e6, (unsigned long long)s->script.bytes_written,
           (unsigned long long)s->script.state_changes,
           (unsigned long long)(pipelined ? s->script.rollbacks : s->script.segments_lost),
           pipelined ? "rollbacks" : "segments", (unsigned long long)s->script.bytes_lost,
           (unsigned long long)s->script.bytes_after_change);
}

/* Prints the figures of scripts, if the scripts of the page run. */
static void print_scripts(const hp_inspection *in) {
  char text[HP_SCRIPTS_TEXT_BYTES];
  if (!in->scripts.run) return;
  hp_describe_scripts(text, sizeof text, &in->stats);
  puts(text);
}

static void print_text(const hp_inspection *in) {
  size_t by_outcome[HPAR_CHUNK_OUTCOMES], chunks = hp_outcomes(in->parser, by_outcome);
  const hpar_study_stats *s = &in->stats;
  printf("%s: %zu bytes, %s, ", hp_shown_name(in->path), in->length, s->encoding);
  if (s->strategy)
    printf("strategy %s (predictor %s, mode predictor %s, cut %s)\n", s->strategy, s->predictor, s->mode_predictor,
           s->cut_policy);
  else
    printf("%s\n", s->mode);
  printf("%zu chunks after the first", chunks);
  bool any = false;
  for (int i = 0; i < HPAR_CHUNK_OUTCOMES; i++) {
    if (!by_outcome[i]) continue;
    printf("%s%zu %s", any ? ", " : ": ", by_outcome[i], hpar_chunk_outcome_name((hpar_chunk_outcome)i));
    any = true;
  }
  printf("; %llu bytes parsed again", (unsigned long long)s->bytes_reparsed);
  if (s->respeculations) printf("; started again with another guess %llu times", (unsigned long long)s->respeculations);
  putchar('\n');
  print_scripts(in);
  for (size_t i = 0; i < hpar_chunk_count(in->parser); i++) {
    putchar('\n');
    print_chunk(in, i);
  }
}

/*** JSON ***/

static void flag(hp_json *json, const char *key, bool value) {
  hp_json_key(json, key);
  hp_json_bool(json, value);
}

static void string(hp_json *json, const char *key, hpar_string value) {
  hp_json_key(json, key);
  hp_json_string(json, value);
}

static void start(hp_json *json, const char *key, const hpar_start_state *s) {
  hp_json_key(json, key);
  if (!s->state) {
    hp_json_text(json, NULL);
    return;
  }
  hp_json_open(json, '{');
  hp_json_text_member(json, "state", s->state);
  hp_json_text_member(json, "element", *s->element ? s->element : NULL);
  hp_json_text_member(json, "mode", s->mode);
  hp_json_text_member(json, "namespace", hp_namespace_name(s->ns));
  hp_json_key(json, "first");
  if (s->first == UINT64_MAX)
    hp_json_text(json, NULL);
  else
    hp_json_number(json, s->first);
  hp_json_close(json, '}');
}

static void kinds(hp_json *json, const char *key, const char *(*name)(int), const uint64_t *counts, int count) {
  hp_json_key(json, key);
  hp_json_open(json, '{');
  for (int i = 0; i < count; i++)
    if (counts[i]) hp_json_number_member(json, name(i), counts[i]);
  hp_json_close(json, '}');
}

static const char *log_name(int i) { return hpar_log_kind_name((hpar_log_kind)i); }

static void failures(hp_json *json, const hpar_chunk *c) {
  hp_json_key(json, "failures");
  hp_json_open(json, '[');
  for (size_t i = 0; i < c->failure_count; i++) {
    const hpar_failure *f = &c->failures[i];
    bool hazard = f->hazard != HPAR_HAZARD_NONE;
    hp_json_open(json, '{');
    hp_json_text_member(json, "assumption", hazard ? NULL : hpar_assumption_name(f->assumption));
    hp_json_text_member(json, "hazard", hazard ? hpar_hazard_name(f->hazard) : NULL);
    hp_json_number_member(json, "begin", f->begin);
    hp_json_number_member(json, "end", f->end);
    hp_json_text_member(json, "text", hazard ? hpar_hazard_summary(f->hazard) : hpar_assumption_summary(f->assumption));
    hp_json_close(json, '}');
  }
  hp_json_close(json, ']');
}

static void convergence(hp_json *json, const hpar_convergence *c) {
  hpar_convergence_sums sums = {.chunks = 1, .hypotheses = c->hypotheses, .live = c->live};
  for (int i = 0; i < HPAR_CONVERGENCE_STEPS; i++) sums.live_after[i] = c->live_after[i];
  for (int i = 0; i <= HPAR_CONTEXT_CDATA; i++) sums.live_by_context[i] = c->live_by_context[i];
  sums.chunks_with_one = c->live == 1;
  if (c->live == 1) sums.bytes_until_one = c->bytes_until_one;
  hp_report_convergence_json(json, &sums);
}

static void chunk(hp_json *json, const hp_inspection *in, size_t index) {
  const hpar_chunk *c = hpar_chunk_at(in->parser, index);
  hpar_string before, behind;
  hp_around_cut(in, c, AROUND_JSON, &before, &behind);
  hp_json_break(json);
  hp_json_open(json, '{');
  hp_json_number_member(json, "chunk", index);
  hp_json_number_member(json, "begin", c->begin);
  hp_json_number_member(json, "end", c->end);
  string(json, "before", before);
  string(json, "after", behind);
  hp_json_text_member(json, "outcome", hpar_chunk_outcome_name(c->outcome));
  start(json, "predicted", &c->predicted);
  start(json, "true", &c->actual);
  flag(json, "right_start", c->right_start);
  hp_json_number_member(json, "readings", c->hypotheses);
  hp_json_number_member(json, "segments", c->segments);
  hp_json_number_member(json, "segments_taken", c->taken);
  kinds(json, "log_entries", log_name, c->log_entries_by_kind, HPAR_LOG_KINDS);
  uint64_t assumed[HPAR_ASSUMPTIONS];
  for (int i = 0; i < HPAR_ASSUMPTIONS; i++) assumed[i] = c->assumed_by_kind[i];
  kinds(json, "assumed", assumption_name, assumed, HPAR_ASSUMPTIONS);
  failures(json, c);
  hp_json_key(json, "again");
  hp_json_open(json, '[');
  for (size_t i = 0; i < c->reparsed_count; i++) {
    hp_json_open(json, '{');
    hp_json_number_member(json, "begin", c->reparsed[i].begin);
    hp_json_number_member(json, "end", c->reparsed[i].end);
    hp_json_close(json, '}');
  }
  hp_json_close(json, ']');
  hp_json_number_member(json, "bytes_reparsed", c->bytes_reparsed);
  kinds(json, "silent_errors", silent_name, c->undetected_errors_by_kind, HPAR_UNDETECTED_ERRORS);
  hp_json_number_member(json, "respeculations", c->respeculations);
  flag(json, "aborted", c->aborted);
  flag(json, "rolled_back", c->rolled_back);
  if (c->convergence.hypotheses) convergence(json, &c->convergence);
  hp_json_close(json, '}');
}

static int print_json(const hp_inspection *in) {
  int code = HP_EXIT_FINE;
  size_t by_outcome[HPAR_CHUNK_OUTCOMES];
  hp_outcomes(in->parser, by_outcome);
  hp_json json = {.file = stdout};
  const hpar_study_stats *s = &in->stats;
  hp_json_open(&json, '{');
  hp_json_text_member(&json, "file", in->path);
  hp_json_number_member(&json, "bytes", in->length);
  hp_json_text_member(&json, "encoding", s->encoding);
  hp_json_text_member(&json, "strategy", s->strategy);
  hp_json_text_member(&json, "predictor", s->predictor);
  hp_json_text_member(&json, "mode_predictor", s->mode_predictor);
  hp_json_text_member(&json, "cut", s->cut_policy);
  hp_json_key(&json, "outcomes");
  hp_json_open(&json, '{');
  for (int i = 0; i < HPAR_CHUNK_OUTCOMES; i++)
    hp_json_number_member(&json, hpar_chunk_outcome_name((hpar_chunk_outcome)i), by_outcome[i]);
  hp_json_close(&json, '}');
  hp_json_number_member(&json, "bytes_reparsed", s->bytes_reparsed);
  hp_json_number_member(&json, "respeculations", s->respeculations);
  if (in->scripts.run) hp_report_scripts_json(&json, s);
  if (s->pipeline.predictor && !hp_explain_pipeline_json(&json, in)) code = HP_EXIT_FAILED;
  hp_json_key(&json, "chunks");
  hp_json_open(&json, '[');
  for (size_t i = 0; i < hpar_chunk_count(in->parser); i++) chunk(&json, in, i);
  hp_json_break(&json);
  hp_json_close(&json, ']');
  hp_json_key(&json, "timeline");
  hp_json_open(&json, '{');
  hp_json_number_member(&json, "threads", in->stats_on_threads.threads);
  hp_json_key(&json, "events");
  hp_json_open(&json, '[');
  for (size_t i = 0; i < hpar_event_count(in->on_threads); i++) {
    hpar_event e = hpar_event_at(in->on_threads, i);
    hp_json_break(&json);
    hp_json_open(&json, '{');
    hp_json_text_member(&json, "kind", hpar_event_kind_name(e.kind));
    hp_json_number_member(&json, "thread", e.thread);
    if (e.chunk != UINT32_MAX) hp_json_number_member(&json, "chunk", e.chunk);
    hp_json_number_member(&json, "begin_ns", e.begin_ns);
    hp_json_number_member(&json, "end_ns", e.end_ns);
    hp_json_close(&json, '}');
  }
  hp_json_break(&json);
  hp_json_close(&json, ']');
  hp_json_close(&json, '}');
  hp_json_close(&json, '}');
  putchar('\n');
  return code;
}

static int write_page(const hp_inspection *in) {
  FILE *file = hp_open_output(in->output);
  if (!file) return HP_EXIT_FAILED;
  hp_explain_html(file, in);
  return hp_close_output(file, in->output);
}

static int print_all(const hp_inspection *in) {
  bool pipelined = in->stats.pipeline.predictor && !in->stats.strategy;
  int code = HP_EXIT_FINE;
  if (in->prints_json) code = print_json(in);
  if (in->output) {
    code = write_page(in);
  } else if (!in->prints_json && pipelined) {
    print_scripts(in);
    code = hp_explain_pipeline_text(in);
  } else if (!in->prints_json) {
    print_text(in);
  }
  return hp_finish_output(code);
}

int hp_run_explain(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  hp_inspection in = {.command = &command, HP_INSPECTION_INIT};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) {
    if (id == JSON)
      in.prints_json = true;
    else
      code = hp_inspection_take(&in, &arguments, id == HTML ? HP_OPTION_OUTPUT : id);
  }
  if (code < 0 && in.prints_json && in.output && !strcmp(in.output, "-"))
    code = hp_bad_usage(&command, "--json and --html - both write to standard output");
  if (code < 0) code = hp_inspect(&in, in.prints_json || in.output, print_all, count, items);
  hp_inspection_close(&in);
  return code;
}
