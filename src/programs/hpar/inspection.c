#include "programs/hpar/inspection.h"

#include <errno.h>
#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>

enum { PARSES = 10 };

int hp_inspection_take(hp_inspection *in, const hp_arguments *arguments, int id) {
  static const char *const modes[] = {"parallel", NULL};
  size_t index;
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      if (in->path) return hp_bad_usage(in->command, "one FILE is inspected, '%s' is a second", arguments->value);
      in->path = arguments->value;
      return -1;
    case HP_OPTION_MODE: return hp_take_mode(arguments, modes, &index, &in->study);
    case HP_OPTION_CUTS: return hp_take_cuts(arguments, &in->cuts, &in->study);
    case HP_OPTION_FRAGMENT:
      in->options.fragment = hp_value_fragment(arguments);
      return in->options.fragment ? -1 : HP_EXIT_USAGE;
    case HP_OPTION_OUTPUT: in->output = arguments->value; return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default:
      return id >= HP_OPTION_SCRIPTS ? hp_take_scripts(arguments, id, &in->scripts)
                                     : hp_take_common(arguments, id, &in->options, &in->study);
  }
}

/* Parses the page; with scripts in a new engine. */
static hpar_status parse_again(hp_inspection *in, const hpar_options *o, hpar_parser *parser, hpar_document *document,
                               hpar_study_stats *stats) {
  hp_script_run run = {.path = in->path, .bytes = in->bytes, .length = in->length, .quiet = in->parses++};
  hpar_options options = *o;
  hpar_status status = in->scripts.run ? hp_script_run_open(&run, &in->scripts, &options) : HPAR_OK;
  if (in->scripts.run) options.source_offsets = true; /* for the lines of errors */
  if (!status) status = hpar_study_parse(parser, &options, in->bytes, in->length, document, stats);
  hp_script_run_close(&run);
  return status;
}

static hpar_status parse(hp_inspection *in, const hpar_options *o, hpar_parser **parser, hpar_document **document,
                         hpar_study_stats *stats) {
  hpar_status status = hpar_parser_create(parser);
  if (!status) status = hpar_document_create(document);
  return status ? status : parse_again(in, o, *parser, *document, stats);
}

/* Leaves the record of the fastest of some parses. */
static hpar_status parse_on_threads(hp_inspection *in, const hpar_options *o) {
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_status status = parse(in, o, &in->on_threads, &in->other, &in->stats_on_threads);
  if (!status) status = parse(in, o, &parser, &document, &stats);
  for (int i = 2; !status; i++) {
    if (stats.ns.total < in->stats_on_threads.ns.total) {
      hpar_parser *slower = in->on_threads;
      hpar_document *other = in->other;
      in->on_threads = parser;
      in->other = document;
      in->stats_on_threads = stats;
      parser = slower;
      document = other;
    }
    if (i == PARSES) break;
    status = parse_again(in, o, parser, document, &stats);
  }
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  return status;
}

/* Loads and parses the page. Returns -1, or an exit code after a message. */
static int parse_page(hp_inspection *in, bool timeline) {
  if (in->output && hp_is_input(in->output, in->path))
    return hp_bad_usage(in->command, "--output: %s is the input", in->output);
  in->bytes = hp_load(in->path, 0, &in->length);
  if (!in->bytes) return HP_EXIT_FAILED;
  int code = hp_check_cuts_fit(in->command, &in->study, in->path, in->length);
  if (code >= 0) return code;
  bool parallel = hpar_strategy_name(0) != NULL;
  const char *driver = hp_chosen_driver(&in->study);
  if (!parallel && in->cuts) {
    hp_complain("--cuts: this build has no parallel parser");
    return HP_EXIT_USAGE;
  }
  if (driver && in->cuts) return hp_bad_usage(in->command, "--cuts has no meaning with --mode %s", driver);
  hpar_options o = in->options;
  in->study.inspect = true;
  in->study.converge = hp_follows_all_starts(&in->study);
  o.study = &in->study;
  o.mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
  hpar_status status = HPAR_OK;
  if (timeline) status = parse_on_threads(in, &o);
  o.parallel.executor = HPAR_EXECUTOR_INLINE;
  if (!status) status = parse(in, &o, &in->parser, &in->document, &in->stats);
  if (status) return hp_complain_call(in->path, in->parser ? in->parser : in->on_threads, status);
  for (size_t i = 0; timeline && i < hpar_event_count(in->on_threads); i++) {
    hpar_event event = hpar_event_at(in->on_threads, i);
    if (event.end_ns > in->timeline_end) in->timeline_end = event.end_ns;
  }
  return -1;
}

typedef struct task {
  hp_inspection *inspection;
  bool timeline;
  int (*print)(const hp_inspection *inspection);
} task;

static int run_task(void *argument) {
  const task *t = argument;
  int code = parse_page(t->inspection, t->timeline);
  return code < 0 ? t->print(t->inspection) : code;
}

int hp_inspect(hp_inspection *in, bool timeline, int (*print)(const hp_inspection *inspection), int count,
               char **items) {
  task task = {in, timeline, print};
  if (!in->path) return hp_bad_usage(in->command, "name a FILE, or - for standard input");
  if (!in->scripts.run) return run_task(&task);
  if (in->options.fragment) return hp_bad_usage(in->command, "--fragment excludes --scripts run: no script runs there");
  int code = hp_enter_script_program(in->command->name, count, items);
  return code < 0 ? hp_run_in_child(in->path, &in->scripts, run_task, &task) : code;
}

void hp_inspection_close(hp_inspection *in) {
  hpar_parser_destroy(in->parser);
  hpar_parser_destroy(in->on_threads);
  hpar_document_destroy(in->document);
  hpar_document_destroy(in->other);
  free(in->bytes);
  free(in->cuts);
}

size_t hp_outcomes(const hpar_parser *parser, size_t by_outcome[HPAR_CHUNK_OUTCOMES]) {
  size_t count = hpar_chunk_count(parser);
  memset(by_outcome, 0, HPAR_CHUNK_OUTCOMES * sizeof *by_outcome);
  for (size_t i = 1; i < count; i++) by_outcome[hpar_chunk_at(parser, i)->outcome]++;
  return count ? count - 1 : 0;
}

static bool inside_character(const char *at) { return ((unsigned char)*at & 0xC0) == 0x80; }

void hp_around_cut(const hp_inspection *in, const hpar_chunk *chunk, size_t most, hpar_string *before,
                   hpar_string *behind) {
  hpar_string text = hpar_inspected_text(in->document);
  size_t cut = chunk->text_begin, from = cut > most ? cut - most : 0;
  size_t to = text.length - cut > most ? cut + most : text.length;
  while (from < cut && inside_character(text.bytes + from)) from++;
  while (to < text.length && to > cut && inside_character(text.bytes + to)) to--;
  *before = (hpar_string){text.bytes + from, cut - from};
  *behind = (hpar_string){text.bytes + cut, to - cut};
}

bool hp_next_failing(const hpar_chunk *c, size_t *at, hp_failing *failing) {
  size_t i = *at, first = i;
  if (i >= c->failure_count) return false;
  const hpar_failure *f = &c->failures[i];
  while (i < c->failure_count && c->failures[i].hazard == f->hazard && c->failures[i].assumption == f->assumption) i++;
  bool hazard = f->hazard != HPAR_HAZARD_NONE;
  *failing = (hp_failing){.label = hazard ? "hazard" : "failed",
                          .name = hazard ? hpar_hazard_name(f->hazard) : hpar_assumption_name(f->assumption),
                          .denial = hazard ? "" : "not so that ",
                          .summary = hazard ? hpar_hazard_summary(f->hazard) : hpar_assumption_summary(f->assumption),
                          .begin = f->begin,
                          .end = c->failures[i - 1].end,
                          .stretches = i - first};
  *at = i;
  return true;
}

const char *hp_namespace_name(hpar_namespace ns) {
  switch (ns) {
    case HPAR_NAMESPACE_HTML: return "html";
    case HPAR_NAMESPACE_SVG: return "svg";
    case HPAR_NAMESPACE_MATHML: return "math";
    default: return NULL;
  }
}
