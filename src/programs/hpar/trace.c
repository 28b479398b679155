/* hpar trace: the timeline of a parse as Chrome trace events, "JSON Object Format", which
 * Perfetto and chrome://tracing open. Times are microseconds with three decimals. */

#include "programs/hpar/explain_pipeline.h"
#include "programs/hpar/json.h"
#include "programs/hpar/report.h"
#include "programs/hpar/trace_json.h"

#include <hpar/study.h>
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

static void write_event(hp_json *json, const hpar_parser *parser, const hpar_event *e) {
  hp_trace_begin_event(json, "X", hpar_event_kind_name(e->kind), "hpar", e->thread);
  hp_trace_time(json, "ts", e->begin_ns);
  hp_trace_time(json, "dur", e->end_ns - e->begin_ns);
  hp_trace_begin_arguments(json);
  const hpar_chunk *c = e->chunk == UINT32_MAX ? NULL : hpar_chunk_at(parser, e->chunk);
  if (c) {
    hp_json_number_member(json, "chunk", e->chunk);
    hp_json_text_member(json, "outcome", hpar_chunk_outcome_name(c->outcome));
  }
  if (e->kind == HPAR_EVENT_SCRIPT) hp_json_number_member(json, "at", e->begin);
  if (e->end > e->begin) {
    hp_json_number_member(json, "begin", e->begin);
    hp_json_number_member(json, "end", e->end);
  }
  hp_trace_end_event(json);
}

/* An instant of the tree builder. */
static void write_hazard(void *to, const hp_shown_hazard *h) {
  hp_json *json = to;
  hp_trace_begin_event(json, "i", hpar_pipeline_hazard_name(h->met.hazard), "hazard", 0);
  hp_json_text_member(json, "s", "t");
  hp_trace_time(json, "ts", h->met.ns);
  hp_trace_begin_arguments(json);
  hp_hazard_members(json, h);
  hp_trace_end_event(json);
}

static int write_trace(const hp_inspection *in) {
  FILE *file = hp_open_output(in->output);
  if (!file) return HP_EXIT_FAILED;
  const hpar_parser *parser = in->on_threads;
  const char *driver = hp_chosen_driver(&in->study);
  bool pipelined = driver && !strcmp(driver, "pipelined");
  hp_json json = {.file = file};
  hp_json_open(&json, '{');
  hp_json_text_member(&json, "displayTimeUnit", "ns");
  hp_json_key(&json, "otherData");
  hp_json_open(&json, '{');
  hp_json_text_member(&json, "file", in->path);
  hp_json_number_member(&json, "bytes", in->length);
  hp_json_text_member(&json, "strategy", in->stats_on_threads.strategy);
  hp_json_text_member(&json, "hpar", hpar_version());
  if (in->scripts.run) hp_report_scripts_json(&json, &in->stats_on_threads);
  hp_json_close(&json, '}');
  hp_json_key(&json, "traceEvents");
  hp_json_open(&json, '[');
  hp_trace_name(&json, "process_name", 0, "hpar");
  for (unsigned i = 0; i < in->stats_on_threads.threads; i++) {
    char text[32];
    snprintf(text, sizeof text, "worker %u", i);
    if (pipelined)
      hp_trace_name(&json, "thread_name", i, i ? "tokenizer" : "tree builder");
    else
      hp_trace_name(&json, "thread_name", i, i ? text : "merger");
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
