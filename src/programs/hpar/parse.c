#include "programs/hpar/lines.h"
#include "programs/hpar/looks_like_html.h"
#include "programs/hpar/many.h"
#include "programs/hpar/read.h"
#include "programs/hpar/report.h"
#include "programs/hpar/scripts.h"

#include <hpar/study.h>
#include <stdlib.h>
#include <string.h>

enum {
  MODE = 1,
  CUTS,
  FRAGMENT,
  FORMAT,
  ERRORS,
  STATS,
  LIMITS,
  MAX_DEPTH,
  MAX_NODES,
  MAX_MEMORY,
  MAX_ATTRIBUTES,
  MAX_TIME,
  MAX_INPUT,
  MANY
};

static const hp_option options[] = {
    {MODE, "mode", "NAME",
     "auto: parallel where it is faster; sequential; parallel: cut FILE of\nany size; pipelined: tokenizer and tree "
     "builder on a thread each;\n\"help\" lists all drivers"},
    HP_COMMON_OPTIONS,
    {CUTS, "cuts", "N,N,...", "cut at these byte offsets and nowhere else; implies --mode parallel"},
    {FRAGMENT, "fragment", "CONTEXT", "parse as the contents of this element: \"div\", \"svg path\",\n\"math mi\""},
    {FORMAT, "format", "tree|html|none", "print the tree in the format of html5lib-tests, HTML or nothing"},
    {ERRORS, "errors", NULL, "list parse errors on standard error, FILE:LINE:COLUMN: code"},
    {STATS, "stats", "[=json]", "print statistics on standard error, or on standard output with\n--format none"},
    {MANY, "many", NULL,
     "parse several FILEs, and those of folders, at once, side by side; print\neach tree below a line with its name"},
    {LIMITS, "limits", "none|untrusted",
     "untrusted: limits of depth, attributes, time, and of nodes and memory\nby the size of FILE; the following "
     "options change single limits"},
    {MAX_DEPTH, "max-depth", "N",
     "stop before more than N elements are open (0, as below: no limit);\nbrowsers use 512"},
    {MAX_NODES, "max-nodes", "N", "stop after the token that exceeds N nodes"},
    {MAX_MEMORY, "max-memory", "BYTES", "stop before the tree takes more memory"},
    {MAX_ATTRIBUTES, "max-attributes", "N", "stop at an element with more attributes"},
    {MAX_TIME, "max-time", "MS", "stop after this number of milliseconds"},
    {MAX_INPUT, "max-input", "BYTES", "read and parse at most this number of bytes of FILE"},
    HP_SCRIPT_OPTIONS,
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "parse", "FILE|-",
    "Parses FILE, or standard input for -, and prints the tree on standard output; with --many\nseveral FILEs.",
    options};

typedef struct request {
  hpar_options options;
  hpar_study study; /* of `options` */
  uint64_t *cuts;
  const char *path;
  bool many;
  char **operands; /* of which `path` is the first */
  size_t operand_count;
  hp_format format;
  hp_report report;
  hp_script_settings scripts;
} request;

static int take_report(const hp_arguments *arguments, request *request) {
  request->report = HP_REPORT;
  if (!arguments->value) return -1;
  if (strcmp(arguments->value, "json") != 0) {
    return hp_bad_usage(&command, "--stats: '%s' is not json", arguments->value);
  }
  request->report = HP_REPORT_JSON;
  return -1;
}

static int take_limit(const hp_arguments *arguments, int id, hpar_options *options) {
  uint64_t number = 0;
  if (!hp_value_number(arguments, 0, id == MAX_TIME ? UINT64_MAX / 1000000 : SIZE_MAX, &number)) return HP_EXIT_USAGE;
  switch (id) {
    case MAX_DEPTH: options->limits.depth = number; break;
    case MAX_NODES:
      options->limits.nodes = number;
      options->limits.nodes_per_byte = 0;
      break;
    case MAX_MEMORY:
      options->limits.memory = number;
      options->limits.memory_per_byte = 0;
      break;
    case MAX_ATTRIBUTES: options->limits.attributes = number; break;
    case MAX_TIME: options->limits.time_ns = number * 1000000; break;
    default: options->limits.input = number;
  }
  return -1;
}

static int take_limits(const hp_arguments *arguments, hpar_options *options) {
  static const char *const presets[] = {"none", "untrusted", NULL};
  static const hpar_limits limits[] = {{0}, HPAR_LIMITS_UNTRUSTED};
  size_t index = 0;
  if (!hp_value_word(arguments, presets, &index)) return HP_EXIT_USAGE;
  options->limits = limits[index];
  return -1;
}

/* An exit code, or -1 to go on. */
static int take(const hp_arguments *arguments, int id, request *request) {
  static const char *const modes[] = {"auto", "sequential", "parallel", NULL};
  static const char *const formats[] = {"tree", "html", "none", NULL};
  size_t index = 0;
  if (id >= MAX_DEPTH && id <= MAX_INPUT) return take_limit(arguments, id, &request->options);
  if (id >= HP_OPTION_SCRIPTS) return hp_take_scripts(arguments, id, &request->scripts);
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      if (!request->path) request->path = arguments->value;
      request->operands[request->operand_count++] = (char *)arguments->value; // NOLINT: fits
      return -1;
    case LIMITS: return take_limits(arguments, &request->options);
    case MANY: request->many = true; return -1;
    case MODE: {
      int code = hp_take_mode(arguments, modes, &index, &request->study);
      request->options.mode = hp_chosen_driver(&request->study) ? HPAR_MODE_PARALLEL : (hpar_mode)index;
      return code;
    }
    case FORMAT:
      if (!hp_value_word(arguments, formats, &index)) return HP_EXIT_USAGE;
      request->format = (hp_format)index;
      return -1;
    case FRAGMENT:
      request->options.fragment = hp_value_fragment(arguments);
      return request->options.fragment ? -1 : HP_EXIT_USAGE;
    case ERRORS: request->options.max_errors = UINT32_MAX; return -1;
    case CUTS: return hp_take_cuts(arguments, &request->cuts, &request->study);
    case STATS: return take_report(arguments, request);
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default: return hp_take_common(arguments, id, &request->options, &request->study);
  }
}

static int check_many(const request *request) {
  const hpar_options *o = &request->options;
  const char *other = o->max_errors                    ? "errors"
                      : request->study.cut_count       ? "cuts"
                      : o->mode > HPAR_MODE_SEQUENTIAL ? "mode parallel or a driver"
                      : request->scripts.run           ? "scripts run"
                                                       : NULL;
  if (!other) return -1;
  return hp_bad_usage(&command, "--many excludes --%s: it parses the FILEs side by side", other);
}

static int check(request *request) {
  if (!request->path) return hp_bad_usage(&command, "name a FILE, or - for standard input");
  if (request->many) return check_many(request);
  if (request->operand_count > 1) {
    return hp_bad_usage(&command, "one FILE is parsed, '%s' is a second; --many takes more", request->operands[1]);
  }
  bool sequential = request->options.mode == HPAR_MODE_SEQUENTIAL;
  const char *driver = hp_chosen_driver(&request->study);
  if (request->study.cut_count && (sequential || driver)) {
    return hp_bad_usage(&command, "--cuts has no meaning with --mode %s", sequential ? "sequential" : driver);
  }
  int code = hp_check_driver(&command, &request->options, &request->study);
  if (code >= 0) return code;
  if (request->study.cut_count) request->options.mode = HPAR_MODE_PARALLEL;
  if (request->options.mode >= HPAR_MODE_PARALLEL && !hpar_predictor_name(0)) {
    hp_complain("--mode %s: this build has no parallel parser; build with -DHPAR_PARALLEL=ON or leave the option out",
                driver ? driver : "parallel");
    return HP_EXIT_USAGE;
  }
  return -1;
}

static void warn_unless_html(const request *request, const char *bytes, size_t length, const char *encoding) {
  if (request->options.fragment) return;
  const char *other = hp_looks_like_else(bytes, length, encoding);
  if (other) hp_complain("%s looks like %s rather than HTML", hp_shown_name(request->path), other);
}

static int list_errors(const hpar_parser *parser, const char *path, const char *bytes, size_t length,
                       const hp_encoding *encoding) {
  size_t count = hpar_parse_error_count(parser);
  hp_page_lines lines;
  hpar_status status = hp_page_lines_open(&lines, encoding, bytes, length);
  if (status) return hp_complain_status(path, status);
  for (size_t i = 0; i < count; i++) {
    hpar_parse_error error = hpar_parse_error_at(parser, i);
    hp_position position = hp_page_lines_at(&lines, error.offset);
    fprintf(stderr, "%s:%llu:%llu: %s\n", path, (unsigned long long)position.line, (unsigned long long)position.column,
            error.code);
  }
  hp_page_lines_close(&lines);
  fflush(stderr);
  return -1;
}

static int print_results(const request *request, const hpar_document *document, const hpar_study_stats *stats) {
  hpar_node root = hpar_document_root(document);
  hpar_status status = HPAR_OK;
  if (request->format == HP_FORMAT_TREE) status = hpar_serialize_tree(document, root, hp_write_file, stdout);
  if (request->format == HP_FORMAT_HTML)
    status = hpar_serialize_html(document, root, request->options.scripting ? HPAR_HTML_SCRIPTING : 0, hp_write_file,
                                 stdout);
  int code = status && status != HPAR_ERROR_IO ? hp_complain_status(request->path, status) : HP_EXIT_FINE;
  code = hp_finish_output(code);
  FILE *file = request->format == HP_FORMAT_NONE ? stdout : stderr;
  if (request->report == HP_REPORT) hp_report_stats(file, stats);
  if (request->report == HP_REPORT_JSON) {
    hp_json json = {.file = file};
    hp_report_stats_json(&json, stats);
    fputc('\n', file);
  }
  return code || file != stdout ? code : hp_finish_output(code);
}

/* The bytes of the page that the program needs after the parse. */
typedef struct input {
  hpar_parser *parser;
  char *bytes;
  size_t kept, length, capacity;
  bool keep_all; /* else the beginning */
  hp_script_run scripts;
} input;

enum { KEPT = 4096 };

static hpar_status take_piece(const char *bytes, size_t n, void *context) {
  input *in = context;
  size_t keep = in->keep_all ? n : in->kept + n < KEPT ? n : KEPT - in->kept;
  if (in->kept + keep > in->capacity) {
    size_t capacity = in->capacity * 2 > in->kept + keep + KEPT ? in->capacity * 2 : in->kept + keep + KEPT;
    char *grown = realloc(in->bytes, capacity);
    if (!grown) return HPAR_ERROR_MEMORY;
    in->bytes = grown;
    in->capacity = capacity;
  }
  if (keep) memcpy(in->bytes + in->kept, bytes, keep);
  in->kept += keep;
  in->length += n;
  in->scripts.bytes = in->bytes;
  in->scripts.length = in->kept;
  return hpar_parser_feed(in->parser, bytes, n);
}

/* Standard input is parsed as it comes. */
static hpar_status parse_pieces(const request *request, hpar_parser *parser, hpar_document *document, input *in,
                                hpar_study_stats *stats) {
  in->parser = parser;
  in->keep_all = request->options.max_errors || request->scripts.run;
  hpar_status status = hpar_parser_begin(parser, &request->options, document);
  if (!status) status = hp_read_pieces("-", take_piece, in);
  if (status && status < HPAR_LIMIT_DEPTH) return status;
  bool cuts_fit = !request->study.cut_count || request->cuts[request->study.cut_count - 1] <= in->length;
  return cuts_fit ? hpar_study_finish(parser, stats) : HPAR_OK;
}

/* Prints the results of a parse. Returns the exit code. */
static int print_parse(const request *request, const hpar_parser *parser, const hpar_document *document,
                       const input *in, const hpar_study_stats *stats, hpar_status status) {
  const char *name = hp_shown_name(request->path);
  bool limit = status >= HPAR_LIMIT_DEPTH, pieces = !strcmp(request->path, "-");
  int code = -1;
  if (limit) hp_complain("%s: %s; the tree ends there", name, hpar_status_text(status));
  if (!status && pieces) code = hp_check_cuts_fit(&command, &request->study, request->path, in->length);
  if (status && !limit) return hp_complain_call(request->path, parser, status);
  if (code >= 0) return code;
  warn_unless_html(request, in->bytes, in->kept, stats->encoding);
  if (request->options.max_errors)
    code =
        list_errors(parser, name, in->bytes, in->kept, hp_encoding_for_label(stats->encoding, strlen(stats->encoding)));
  if (code < 0) code = print_results(request, document, stats);
  return limit && code == HP_EXIT_FINE ? HP_EXIT_FAILED : code;
}

/* Parses the page and prints the results. */
static int parse_page(void *argument) {
  request *request = argument;
  bool pieces = !strcmp(request->path, "-");
  input in = {.scripts.path = request->path};
  int code = -1;
  if (!pieces) {
    in.bytes = hp_load(request->path, request->options.limits.input, &in.length);
    in.kept = in.length;
    if (!in.bytes) return HP_EXIT_FAILED;
    code = hp_check_cuts_fit(&command, &request->study, request->path, in.length);
    in.scripts.bytes = in.bytes;
    in.scripts.length = in.length;
  }
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  if (code < 0) {
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT, .encoding = "utf-8"};
    hpar_status status = hpar_parser_create(&parser);
    if (!status) status = hpar_document_create(&document);
    if (!status && request->scripts.run) status = hp_script_run_open(&in.scripts, &request->scripts, &request->options);
    if (!status)
      status = pieces ? parse_pieces(request, parser, document, &in, &stats)
                      : hpar_study_parse(parser, &request->options, in.bytes, in.length, document, &stats);
    hp_script_run_close(&in.scripts);
    code = print_parse(request, parser, document, &in, &stats, status);
  }
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  free(in.bytes);
  return code;
}

static int run(request *request) {
  int code = check(request);
  if (code >= 0) return code;
  if (request->many)
    return hp_parse_many_files(request->operands, request->operand_count, &request->options, request->format,
                               request->report);
  if (!request->scripts.run) return parse_page(request);
  request->options.source_offsets = true; /* for the lines of errors */
  return hp_run_in_child(request->path, &request->scripts, parse_page, request);
}

int hp_run_parse(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  request request = {.options = {HPAR_OPTIONS_INIT},
                     .study = {HPAR_STUDY_INIT},
                     .format = HP_FORMAT_TREE,
                     .operands = calloc((size_t)count + 1, sizeof(char *)),
                     .scripts = {HP_SCRIPT_SETTINGS_INIT}};
  request.options.study = &request.study;
  int code = request.operands ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) {
    code = take(&arguments, id, &request);
  }
  if (code < 0 && request.scripts.run) code = hp_enter_script_program(command.name, count, items);
  if (code < 0) code = run(&request);
  free(request.cuts);
  free(request.operands);
  return code;
}
