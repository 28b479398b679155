#include "programs/hpar/options.h"

#include "programs/hpar/frequencies.h"
#include "programs/hpar/plugins.h"

#include <errno.h>
#include <hpar/study.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 27 };

static void print_option(const char *name, const char *value, const char *help) {
  int width = printf("  --%s", name);
  if (value) width += printf(*value == '[' ? "%s" : " %s", value);
  if (width >= HELP_COLUMN) {
    putchar('\n');
    width = 0;
  }
  printf("%*s", HELP_COLUMN - width, "");
  for (; *help; help++) {
    putchar(*help);
    if (*help == '\n') printf("%*s", HELP_COLUMN, "");
  }
  putchar('\n');
}

void hp_print_help(const hp_command *command) {
  printf("usage: hpar %s [options] %s\n\n%s\n\noptions:\n", command->name, command->operands, command->summary);
  for (const hp_option *option = command->options; option->id; option++) {
    print_option(option->name, option->value, option->help);
  }
  print_option("help", NULL, "print this text and exit");
}

int hp_bad_usage(const hp_command *command, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("hpar: ", stderr);
  vfprintf(stderr, format, values);
  va_end(values);
  fprintf(stderr, " (see 'hpar %s --help')\n", command->name);
  return HP_EXIT_USAGE;
}

static int bad(const hp_arguments *arguments, const char *problem, const char *argument) {
  hp_bad_usage(arguments->command, "%s '%s'", problem, argument);
  return HP_ARGUMENT_BAD;
}

static int operand(hp_arguments *arguments, const char *item) {
  arguments->value = item;
  arguments->option = NULL;
  return HP_ARGUMENT_OPERAND;
}

int hp_next_argument(hp_arguments *arguments) {
  if (arguments->at >= arguments->count) return HP_ARGUMENTS_END;
  const char *item = arguments->items[arguments->at++];
  if (arguments->operands_only || item[0] != '-' || !item[1]) return operand(arguments, item);
  if (!strcmp(item, "--")) {
    arguments->operands_only = true;
    return hp_next_argument(arguments);
  }
  if (!strcmp(item, "--help") || !strcmp(item, "-h")) {
    hp_print_help(arguments->command);
    return HP_ARGUMENT_HELP;
  }
  if (!strcmp(item, "-o")) item = "--output";
  if (!strcmp(item, "-s")) item = "--selector";
  if (item[1] != '-') return bad(arguments, "unknown option", item);
  const char *equals = strchr(item, '=');
  size_t length = equals ? (size_t)(equals - item) - 2 : strlen(item) - 2;
  for (const hp_option *option = arguments->command->options; option->id; option++) {
    if (strlen(option->name) != length || memcmp(option->name, item + 2, length) != 0) continue;
    arguments->option = option;
    arguments->value = equals ? equals + 1 : NULL;
    if (!option->value && equals) return bad(arguments, "no value can be given to the option in", item);
    if (option->value && *option->value != '[' && !equals) {
      if (arguments->at >= arguments->count) return bad(arguments, "a value is missing after", item);
      arguments->value = arguments->items[arguments->at++];
    }
    return option->id;
  }
  return bad(arguments, "unknown option", item);
}

const char *hp_next_value(hp_arguments *arguments) {
  if (arguments->at < arguments->count) return arguments->items[arguments->at++];
  hp_bad_usage(arguments->command, "--%s needs %s", arguments->option->name, arguments->option->value);
  return NULL;
}

bool hp_value_number(const hp_arguments *arguments, uint64_t least, uint64_t most, uint64_t *number) {
  const char *value = arguments->value;
  char *end = NULL;
  errno = 0;
  unsigned long long read = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
  if (!end || *end || errno || read < least || read > most) {
    hp_bad_usage(arguments->command, "--%s: '%s' is not a whole number from %llu to %llu", arguments->option->name,
                 value, (unsigned long long)least, (unsigned long long)most);
    return false;
  }
  *number = read;
  return true;
}

bool hp_value_word(const hp_arguments *arguments, const char *const *words, size_t *index) {
  for (size_t i = 0; words[i]; i++) {
    if (!strcmp(words[i], arguments->value)) {
      *index = i;
      return true;
    }
  }
  hp_bad_usage(arguments->command, "--%s: '%s' is not one of %s", arguments->option->name, arguments->value,
               arguments->option->value);
  return false;
}

static bool is_chosen(const hp_arguments *arguments, const char *name) { return !strcmp(name, arguments->value); }

/* One of the library's names. For the kinds of plug-ins' parts, `part` is not NULL, and is set for
 * the name of such a part. "help" prints the list, after `words` that the caller has tried. */
static int take_name(const hp_arguments *arguments, const char *(*name_at)(size_t), const char *(*summary_at)(size_t),
                     bool first_is_default, const char **chosen, hp_plugin_kind kind, const void **part,
                     const char *const *words) {
  const char *name, *option = arguments->option->name;
  hp_plugin_part own;
  if (!name_at(0)) {
    hp_complain("--%s: this build has no parallel parser", option);
    return HP_EXIT_USAGE;
  }
  int code = part ? hp_load_plugins(arguments) : -1;
  if (code >= 0) return code;
  *chosen = NULL;
  for (size_t i = 0; (name = name_at(i)) && !*chosen; i++)
    if (is_chosen(arguments, name)) *chosen = name;
  if (*chosen) return -1;
  for (size_t i = 0; part && !*part && (own = hp_plugin_part_at(kind, i)).part; i++)
    if (is_chosen(arguments, own.name)) *part = own.part;
  if (part && *part) return -1;
  bool is_help = is_chosen(arguments, "help");
  FILE *file = is_help ? stdout : stderr;
  if (!is_help) hp_complain("--%s: '%s' is not one of these:", option, arguments->value);
  for (; words && *words; words++) fprintf(file, "  %s\n", *words);
  for (size_t i = 0; (name = name_at(i)); i++) {
    fprintf(file, "  %-12s %s%s\n", name, summary_at(i), i || !first_is_default ? "" : " (the default)");
  }
  for (size_t i = 0; part && (own = hp_plugin_part_at(kind, i)).part; i++)
    fprintf(file, "  %-12s %s (%s)\n", own.name, own.summary ? own.summary : "", own.file);
  return is_help ? hp_finish_output(HP_EXIT_FINE) : HP_EXIT_USAGE;
}

int hp_take_mode(const hp_arguments *arguments, const char *const *words, size_t *index, hpar_study *study) {
  const void *part = NULL;
  study->driver = NULL;
  study->custom_driver = NULL;
  for (*index = 0; words[*index]; ++*index)
    if (is_chosen(arguments, words[*index])) return -1;
  *index = 0;
  int code = take_name(arguments, hpar_driver_name, hpar_driver_summary, false, &study->driver, HP_PLUGIN_DRIVER, &part,
                       words);
  study->custom_driver = part;
  return code;
}

const char *hp_chosen_driver(const hpar_study *study) {
  return study->custom_driver ? study->custom_driver->name : study->driver;
}

int hp_check_driver(const hp_command *command, const hpar_options *options, const hpar_study *study) {
  const char *driver = hp_chosen_driver(study);
  if (!driver) return -1;
  const char *other = options->parallel.chunk_size                            ? "chunk-size"
                      : options->parallel.chunks                              ? "chunks"
                      : study->strategy || study->custom_strategy             ? "strategy"
                      : study->predictor || study->custom_predictor           ? "predictor"
                      : study->mode_predictor || study->custom_mode_predictor ? "mode-predictor"
                      : study->cut_policy || study->custom_cut_policy         ? "cut"
                      : study->merge                                          ? "merge"
                                                                              : NULL;
  if (!other) return -1;
  return hp_bad_usage(command, "--%s has no meaning with --mode %s, which has no chunks", other, driver);
}

bool hp_follows_all_starts(const hpar_study *study) {
  return !hp_chosen_driver(study) && !study->custom_strategy && study->strategy &&
         !strcmp(study->strategy, "enumerate");
}

/* A name of one of the kinds that plug-ins have. */
static int take_part(const hp_arguments *arguments, hp_plugin_kind kind, hpar_study *study) {
  const void *part = NULL;
  int code;
  switch (kind) {
    case HP_PLUGIN_STRATEGY:
      code = take_name(arguments, hpar_strategy_name, hpar_strategy_summary, true, &study->strategy, kind, &part, NULL);
      study->custom_strategy = part;
      return code;
    case HP_PLUGIN_PREDICTOR:
      code = take_name(arguments, hpar_predictor_name, hpar_predictor_summary, false, &study->predictor, kind, &part,
                       NULL);
      study->custom_predictor = part;
      return code;
    case HP_PLUGIN_MODE_PREDICTOR:
      code = take_name(arguments, hpar_mode_predictor_name, hpar_mode_predictor_summary, false, &study->mode_predictor,
                       kind, &part, NULL);
      study->custom_mode_predictor = part;
      return code;
    default:
      code = take_name(arguments, hpar_cut_policy_name, hpar_cut_policy_summary, false, &study->cut_policy, kind, &part,
                       NULL);
      study->custom_cut_policy = part;
      return code;
  }
}

const char *hp_value_encoding(const hp_arguments *arguments) {
  if (hpar_encoding_name(arguments->value)) return arguments->value;
  hp_bad_usage(arguments->command, "--encoding: '%s' is no label of an encoding", arguments->value);
  return NULL;
}

const char *hp_value_fragment(const hp_arguments *arguments) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .fragment = arguments->value};
  hpar_error error = {.status = HPAR_OK};
  hpar_document_destroy(hpar_parse_bytes("", 0, &options, &error));
  if (!error.status) return arguments->value;
  hp_bad_usage(arguments->command, "--fragment: '%s' is no element, as in 'div', 'svg path', 'math mi'",
               arguments->value);
  return NULL;
}

int hp_take_cuts(const hp_arguments *arguments, uint64_t **cuts, hpar_study *study) {
  const char *at = arguments->value;
  size_t capacity = 1;
  for (const char *comma = at; (comma = strchr(comma, ',')); comma++) capacity++;
  free(*cuts);
  *cuts = malloc(capacity * sizeof **cuts);
  if (!*cuts) return hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (size_t i = 0; i < capacity; i++) {
    char *end = NULL;
    uint64_t cut = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
    if (!end || (*end && *end != ',') || cut > HPAR_MAX_INPUT || (i && cut <= (*cuts)[i - 1])) {
      return hp_bad_usage(arguments->command, "--cuts: '%s' is not a list of ascending byte offsets, as in 1000,2000",
                          arguments->value);
    }
    (*cuts)[i] = cut;
    at = end + 1;
  }
  study->cuts = *cuts;
  study->cut_count = capacity;
  return -1;
}

int hp_check_cuts_fit(const hp_command *command, const hpar_study *study, const char *path, size_t length) {
  if (!study->cut_count) return -1;
  uint64_t last = study->cuts[study->cut_count - 1];
  if (last <= length) return -1;
  return hp_bad_usage(command, "--cuts: %llu lies past the end of %s, which has %zu bytes", (unsigned long long)last,
                      hp_shown_name(path), length);
}

/* Applies an option of a study. Returns an exit code, or -1 to continue. */
static int take_study(const hp_arguments *arguments, int id, hpar_study *study) {
  static const char *const merges[] = {"chain", "tree", NULL};
  uint64_t number = 0;
  size_t index = 0;
  switch (id) {
    case HP_OPTION_PLUGIN: return hp_load_plugins(arguments);
    case HP_OPTION_STRATEGY: return take_part(arguments, HP_PLUGIN_STRATEGY, study);
    case HP_OPTION_PREDICTOR: return take_part(arguments, HP_PLUGIN_PREDICTOR, study);
    case HP_OPTION_PROFILE: return hp_take_profile(arguments, study);
    case HP_OPTION_MODE_PREDICTOR: return take_part(arguments, HP_PLUGIN_MODE_PREDICTOR, study);
    case HP_OPTION_CUT: return take_part(arguments, HP_PLUGIN_CUT_POLICY, study);
    case HP_OPTION_MERGE:
      if (!hp_value_word(arguments, merges, &index)) return HP_EXIT_USAGE;
      study->merge = index == 1 ? HPAR_MERGE_TREE : HPAR_MERGE_CHAIN;
      return -1;
    case HP_OPTION_BUFFER_TOKENS:
    case HP_OPTION_BATCH:
      if (!hp_value_number(arguments, 0, 65536, &number)) return HP_EXIT_USAGE;
      *(id == HP_OPTION_BATCH ? &study->pipeline.batch_tokens : &study->pipeline.buffer_tokens) = (unsigned)number;
      return -1;
    case HP_OPTION_PIPELINE_PREDICTOR:
      return take_name(arguments, hpar_pipeline_predictor_name, hpar_pipeline_predictor_summary, false,
                       &study->pipeline.predictor, HP_PLUGIN_KINDS, NULL, NULL);
    case HP_OPTION_PIPELINE_STAGES: study->pipelined_workers = true; return -1;
    default: return HP_EXIT_USAGE;
  }
}

int hp_take_common(const hp_arguments *arguments, int id, hpar_options *options, hpar_study *study) {
  static const char *const switches[] = {"off", "on", NULL};
  static const char *const executors[] = {"threads", "inline", NULL}, *const pools[] = {"adaptive", "spin", "sleep",
                                                                                        NULL};
  static const char *const binds[] = {"none", "cores", NULL}, *const allocators[] = {"libc", "jemalloc", NULL};
  uint64_t number = 0;
  size_t index = 0;
  switch (id) {
    case HP_OPTION_THREADS:
      if (!hp_value_number(arguments, 0, HPAR_MAX_THREADS, &number)) return HP_EXIT_USAGE;
      options->threads = (unsigned)number;
      return -1;
    case HP_OPTION_CHUNK_SIZE:
      if (!hp_value_number(arguments, 0, HPAR_MAX_INPUT, &number)) return HP_EXIT_USAGE;
      options->parallel.chunk_size = number;
      return -1;
    case HP_OPTION_CHUNKS:
      if (!hp_value_number(arguments, 0, HPAR_MAX_INPUT, &number)) return HP_EXIT_USAGE;
      options->parallel.chunks = number;
      return -1;
    case HP_OPTION_EXECUTOR:
      if (!hp_value_word(arguments, executors, &index)) return HP_EXIT_USAGE;
      options->parallel.executor = (hpar_executor)index;
      return -1;
    case HP_OPTION_POOL:
      if (!hp_value_word(arguments, pools, &index)) return HP_EXIT_USAGE;
      options->parallel.wait = (hpar_wait_policy)index;
      return -1;
    case HP_OPTION_BIND:
      if (!hp_value_word(arguments, binds, &index)) return HP_EXIT_USAGE;
      if (index && !hpar_predictor_name(0)) {
        hp_complain("--bind: this build has no parallel parser");
        return HP_EXIT_USAGE;
      }
      options->parallel.affinity = (hpar_affinity)index;
      return -1;
    case HP_OPTION_ALLOCATOR:
      if (!hp_value_word(arguments, allocators, &index)) return HP_EXIT_USAGE;
      if (!hpar_allocator_name(index)) {
        hp_complain("--allocator: this build has no jemalloc; install it (Debian: libjemalloc-dev) and build again");
        return HP_EXIT_USAGE;
      }
      options->allocator = (hpar_allocator)index;
      return -1;
    case HP_OPTION_SCRIPTING:
      if (!hp_value_word(arguments, switches, &index)) return HP_EXIT_USAGE;
      options->scripting = index == 1;
      return -1;
    case HP_OPTION_ENCODING:
      options->encoding = hp_value_encoding(arguments);
      return options->encoding ? -1 : HP_EXIT_USAGE;
    default: return study ? take_study(arguments, id, study) : HP_EXIT_USAGE;
  }
}
