#ifndef HP_PROGRAMS_HPAR_OPTIONS_H
#define HP_PROGRAMS_HPAR_OPTIONS_H

/* The command line: "--name value" and "--name=value", "--" before operands that begin with a
 * dash, "-" for standard input. A command's table of options is its parser and its --help in
 * one. */

#include "programs/hpar/cli.h"

#include <hpar/study.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hp_option {
  int id;            /* the result of hp_next_argument; 0 ends a table */
  const char *name;  /* without dashes; "-o" is short for "--output", "-s" for "--selector" */
  const char *value; /* for --help; NULL: none; in brackets: optional, as --name=value only */
  const char *help;  /* lines after the first are indented by --help */
} hp_option;

typedef struct hp_command {
  const char *name, *operands, *summary;
  const hp_option *options;
} hp_command;

enum { HP_ARGUMENTS_END = 0, HP_ARGUMENT_OPERAND = -1, HP_ARGUMENT_HELP = -2, HP_ARGUMENT_BAD = -3 };

typedef struct hp_arguments {
  const hp_command *command;
  int count, at;
  char **items;
  bool operands_only;
  const hp_option *option;
  const char *value; /* of the option, NULL for none; the operand */
} hp_arguments;

/* Returns the id of the next option or one of the enumeration above. Prints the help, or a message
 * about a bad argument, first. */
int hp_next_argument(hp_arguments *arguments);

/* Returns the next item as a further value of the current option, or NULL after a message. */
const char *hp_next_value(hp_arguments *arguments);

void hp_print_help(const hp_command *command);

/* Prints "hpar: <message>" with a reference to --help. Returns HP_EXIT_USAGE. */
int hp_bad_usage(const hp_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Read the current option's value as a number, or as one of `words`, which end with NULL. Return
 * false after a message. */
bool hp_value_number(const hp_arguments *arguments, uint64_t least, uint64_t most, uint64_t *number);
bool hp_value_word(const hp_arguments *arguments, const char *const *words, size_t *index);

/* Options that parse and compare have in common. */
enum {
  HP_OPTION_THREADS = 1000,
  HP_OPTION_CHUNK_SIZE,
  HP_OPTION_CHUNKS,
  HP_OPTION_EXECUTOR,
  HP_OPTION_STRATEGY,
  HP_OPTION_PREDICTOR,
  HP_OPTION_PROFILE,
  HP_OPTION_MODE_PREDICTOR,
  HP_OPTION_CUT,
  HP_OPTION_MERGE,
  HP_OPTION_POOL,
  HP_OPTION_SCRIPTING,
  HP_OPTION_ENCODING,
  HP_OPTION_BUFFER_TOKENS,
  HP_OPTION_BATCH,
  HP_OPTION_PIPELINE_PREDICTOR,
  HP_OPTION_PIPELINE_STAGES,
  HP_OPTION_BIND,
  HP_OPTION_ALLOCATOR,
  HP_OPTION_PLUGIN
};
#define HP_COMMON_OPTIONS                                                                                           \
  {HP_OPTION_THREADS, "threads", "N", "threads of the parallel parser, with this one (0: one for each core)"},      \
      {HP_OPTION_CHUNK_SIZE, "chunk-size", "BYTES", "bytes from one cut to the next (0: by size and threads)"},     \
      {HP_OPTION_CHUNKS, "chunks", "N", "the approximate number of chunks, in place of a size"},                    \
      {HP_OPTION_EXECUTOR, "executor", "threads|inline",                                                            \
       "inline: parse all chunks on this thread before the merge,\nwhatever --threads is"},                         \
      {HP_OPTION_STRATEGY, "strategy", "NAME", "the strategy of speculation; \"help\" lists the strategies"},       \
      {HP_OPTION_PREDICTOR, "predictor", "NAME",                                                                    \
       "the predictor of a chunk's start state, in place of the\nstrategy's; \"help\" lists them"},                 \
      {HP_OPTION_PROFILE, "profile", "FILE",                                                                        \
       "the table of the predictor \"frequency\", by hpar profile -o;\nselects that predictor unless --predictor "  \
       "names one"},                                                                                                \
      {HP_OPTION_PLUGIN, "plugin", "FILE.so",                                                                       \
       "a plug-in: its strategies, predictors, cut policies and\ndrivers have names like the library's"},           \
      {HP_OPTION_MODE_PREDICTOR, "mode-predictor", "NAME", "the same for the insertion mode; \"help\" lists them"}, \
      {HP_OPTION_CUT, "cut", "NAME", "the cut policy, in place of the strategy's; \"help\" lists them"},            \
      {HP_OPTION_MERGE, "merge", "chain|tree", "merge log after log (chain), or compose neighbours first"},         \
      {HP_OPTION_POOL, "pool", "adaptive|spin|sleep", "the wait policy of threads between parses (adaptive)"},      \
      {HP_OPTION_SCRIPTING, "scripting", "on|off", "the scripting flag (off); scripts run with --scripts only"},    \
      {HP_OPTION_ENCODING, "encoding", "LABEL",                                                                     \
       "the declared encoding of FILE, such as utf-8 or latin1\n(default: found in FILE)"},                         \
      {HP_OPTION_BUFFER_TOKENS, "buffer-tokens", "N",                                                               \
       "tokens by which the tokenizer of the pipelined parser may be\nahead (0: the default)"},                     \
      {HP_OPTION_BATCH, "batch", "N", "tokens that the tokenizer hands over at once (0: the default)"},             \
      {HP_OPTION_PIPELINE_PREDICTOR, "pipeline-predictor", "NAME",                                                  \
       "how the tokenizer predicts feedback; \"help\" lists them"},                                                 \
      {HP_OPTION_PIPELINE_STAGES, "pipeline-stages", NULL,                                                          \
       "in the parallel parser, each worker is a pair of tokenizer and\ntree builder, on two threads"},             \
      {HP_OPTION_BIND, "bind", "none|cores",                                                                        \
       "cores: bind each thread to a CPU: cores before hyperthreads,\nfast cores before slow ones"},                \
  {                                                                                                                 \
    HP_OPTION_ALLOCATOR, "allocator", "libc|jemalloc", "the source of the tree's memory (libc)"                     \
  }

/* Returns the current option's value if it is a label of the Encoding Standard; NULL after a
 * message. */
const char *hp_value_encoding(const hp_arguments *arguments);
/* The same for an element that a fragment can be parsed in. */
const char *hp_value_fragment(const hp_arguments *arguments);

/* Reads the current option's value as ascending offsets, which the caller frees with free even
 * after a failure. Returns an exit code after a message, or -1. */
int hp_take_cuts(const hp_arguments *arguments, uint64_t **cuts, hpar_study *study);
/* Checks that the cuts lie within the `length` bytes of the file. Returns an exit code after a
 * message, or -1. */
int hp_check_cuts_fit(const hp_command *command, const hpar_study *study, const char *path, size_t length);

/* Reads the current option's value as one of `words`, which end with NULL, or else as a driver of
 * the library or of a plug-in. Sets the driver of the study; NULL: it is words[*index]. Returns an
 * exit code after a message, or -1. */
int hp_take_mode(const hp_arguments *arguments, const char *const *words, size_t *index, hpar_study *study);
/* Returns the name of the study's driver; NULL: it has none. */
const char *hp_chosen_driver(const hpar_study *study);
/* Refuses options that a driver would ignore. Returns an exit code after a message, or -1. */
int hp_check_driver(const hp_command *command, const hpar_options *options, const hpar_study *study);
/* Returns whether the study's strategy follows all start hypotheses of a chunk. */
bool hp_follows_all_starts(const hpar_study *study);

/* Applies one of these options. `study` is NULL for a command that has none of a study's options.
 * Returns an exit code, or -1 to continue. */
int hp_take_common(const hp_arguments *arguments, int id, hpar_options *options, hpar_study *study);

#endif
