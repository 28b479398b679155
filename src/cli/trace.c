/* hpar trace: the timeline of a parse as Chrome trace events, "JSON Object Format", which
 * Perfetto and chrome://tracing open. Times are microseconds with three decimals. */

#include "cli/explain_pipeline.h"
#include "cli/json.h"
#include "cli/report.h"

#include <string.h>

static const hp_option options[] = {
    {HP_OPTION_OUTPUT, "output", "OUT", "write to this file, - for standard output (the default); also -o OUT"},
    HP_INSPECTION_OPTIONS,
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "trace", "FILE|-",
    "Parses FILE in parallel and writes the timeline of each thread as Chrome trace events: cutting,\n"
    "predicting, parsing, merging, parsing again, running scripts. Pipelined: tokenizing, building,\n"
    "waiting.\n"
    "Open it in ui.perfetto.dev.",
    options};

static void member(hp_json *json, const char *key, const char *text) {
  hp_json_key(json, key);
  hp_json_text(json, text);
}

static void number(hp_json *json, const char *key, uint64_t value) {
  hp_json_key(json, key);
  hp_json_number(json, value);
}

static void microseconds(hp_json *json, const char *key, uint64_t ns) {
  hp_json_key(json, key);
  hp_json_real(json, (double)ns / 1e3);
}

static void name(hp_json *json, const char *what, unsigned thread, const char *text) {
  hp_json_break(json);
  hp_json_open(json, '{');
  member(json, "ph", "M");
  member(json, "name", what);
  number(json, "pid", 1);
  number(json, "tid", thread);
  hp_json_key(json, "args");
  hp_json_open(json, '{');
  member(json, "name", text);
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

static void write_event(hp_json *json, const hpar_parser *parser, const hpar_event *e) {
  hp_json_break(json);
  hp_json_open(json, '{');
  member(json, "ph", "X");
  member(json, "name", hpar_event_kind_name(e->kind));
  member(json, "cat", "hpar");
  number(json, "pid", 1);
  number(json, "tid", e->thread);
  microseconds(json, "ts", e->begin_ns);
  microseconds(json, "dur", e->end_ns - e->begin_ns);
  hp_json_key(json, "args");
  hp_json_open(json, '{');
  const hpar_chunk *c = e->chunk == UINT32_MAX ? NULL : hpar_chunk_at(parser, e->chunk);
  if (c) {
    number(json, "chunk", e->chunk);
    member(json, "outcome", hpar_chunk_outcome_name(c->outcome));
  }
  if (e->kind == HPAR_EVENT_SCRIPT) number(json, "at", e->begin);
  if (e->end > e->begin) {
    number(json, "begin", e->begin);
    number(json, "end", e->end);
  }
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

/* An instant of the tree builder. */
static void write_hazard(void *to, const hp_shown_hazard *h) {
  hp_json *json = to;
  hp_json_break(json);
  hp_json_open(json, '{');
  member(json, "ph", "i");
  member(json, "s", "t");
  member(json, "name", hpar_pipeline_hazard_name(h->met.hazard));
  member(json, "cat", "hazard");
  number(json, "pid", 1);
  number(json, "tid", 0);
  microseconds(json, "ts", h->met.ns);
  hp_json_key(json, "args");
  hp_json_open(json, '{');
  hp_hazard_members(json, h);
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

static int write_trace(const hp_inspection *in) {
  FILE *file = hp_open_output(in->output);
  if (!file) return HP_EXIT_FAILED;
  const hpar_parser *parser = in->on_threads;
  bool pipelined = in->options.mode == HPAR_MODE_PIPELINED;
  hp_json json = {.file = file};
  hp_json_open(&json, '{');
  member(&json, "displayTimeUnit", "ns");
  hp_json_key(&json, "otherData");
  hp_json_open(&json, '{');
  member(&json, "file", in->path);
  number(&json, "bytes", in->length);
  member(&json, "strategy", in->stats_on_threads.strategy);
  member(&json, "hpar", hpar_version());
  if (in->scripts.run) hp_report_scripts_json(&json, &in->stats_on_threads);
  hp_json_close(&json, '}');
  hp_json_key(&json, "traceEvents");
  hp_json_open(&json, '[');
  name(&json, "process_name", 0, "hpar");
  for (unsigned i = 0; i < in->stats_on_threads.threads; i++) {
    char text[32];
    snprintf(text, sizeof text, "worker %u", i);
    if (pipelined)
      name(&json, "thread_name", i, i ? "tokenizer" : "tree builder");
    else
      name(&json, "thread_name", i, i ? text : "merger");
  }
  for (size_t i = 0; i < hpar_event_count(parser); i++) {
    hpar_event event = hpar_event_at(parser, i);
    write_event(&json, parser, &event);
  }
  bool fine = hp_each_hazard(in, true, write_hazard, &json);
  hp_json_break(&json);
  hp_json_close(&json, ']');
  hp_json_close(&json, '}');
  fputc('\n', file);
  int code = hp_close_output(file, in->output);
  return fine ? code : HP_EXIT_FAILED;
}

int hp_run_trace(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  hp_inspection in = {.command = &command, .output = "-", HP_INSPECTION_INIT};
  int code = -1;
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;)
    code = hp_inspection_take(&in, &arguments, id);
  if (code < 0) code = hp_inspect(&in, true, write_trace, count, items);
  hp_inspection_close(&in);
  return code;
}
