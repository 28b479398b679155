#ifndef HP_PROGRAMS_HPAR_INSPECTION_H
#define HP_PROGRAMS_HPAR_INSPECTION_H

/* The inspection of a page, for explain and trace. One parse gives each chunk to a worker
 * inline, so that the outcomes are always the same. Another parse on threads gives the times. */

#include "programs/hpar/options.h"
#include "programs/hpar/scripts.h"

#include <hpar/study.h>

typedef struct hp_inspection {
  const hp_command *command;
  /* the mode AUTO stands for the parallel parser, or else the sequential one */
  hpar_options options;
  hpar_study study; /* of `options` */
  uint64_t *cuts;
  const char *path, *output;
  bool prints_json;
  char *bytes;
  size_t length;
  /* records of the explained parse, and of the fastest of ten parses with times, or NULL */
  hpar_parser *parser, *on_threads;
  hpar_document *document, *other;
  hpar_study_stats stats, stats_on_threads;
  hp_script_settings scripts;
  size_t parses;       /* so far; only the first prints the errors of scripts */
  size_t timeline_end; /* the latest end of an event of on_threads, in nanoseconds */
} hp_inspection;

enum { HP_OPTION_CUTS = 900, HP_OPTION_FRAGMENT, HP_OPTION_OUTPUT, HP_OPTION_MODE };
#define HP_INSPECTION_OPTIONS                                                                               \
  {HP_OPTION_MODE, "mode", "NAME", "parallel (the default) or a driver; \"help\" lists the drivers"},       \
      HP_COMMON_OPTIONS, {HP_OPTION_CUTS, "cuts", "N,N,...", "cut at these byte offsets and nowhere else"}, \
      {HP_OPTION_FRAGMENT, "fragment", "CONTEXT",                                                           \
       "parse as the contents of this element: \"div\", \"svg path\",\n\"math mi\""},                       \
      HP_SCRIPT_OPTIONS

#define HP_INSPECTION_INIT                                                                      \
  .options = {HPAR_OPTIONS_INIT}, .study = {HPAR_STUDY_INIT}, .stats = {HPAR_STUDY_STATS_INIT}, \
  .stats_on_threads = {HPAR_STUDY_STATS_INIT}, .scripts = {HP_SCRIPT_SETTINGS_INIT}

/* Applies an operand or one of these options. Returns an exit code, or -1 to continue. */
int hp_inspection_take(hp_inspection *inspection, const hp_arguments *arguments, int id);

/* Inspects the page, and returns the exit code of `print`, or another one after a message. Measures
 * times only with `timeline`. With scripts, a child process does all of this. `items` are the
 * arguments of the program. */
int hp_inspect(hp_inspection *inspection, bool timeline, int (*print)(const hp_inspection *inspection), int count,
               char **items);
void hp_inspection_close(hp_inspection *inspection);

/* Counts the chunks after the first by outcome. Returns their number. */
size_t hp_outcomes(const hpar_parser *parser, size_t by_outcome[HPAR_CHUNK_OUTCOMES]);

/* Finds at most `most` bytes of text before and after a chunk's cut, in whole characters. */
void hp_around_cut(const hp_inspection *inspection, const hpar_chunk *chunk, size_t most, hpar_string *before,
                   hpar_string *behind);

/* Failures of a chunk for the report: adjacent failures of one kind are one. */
typedef struct hp_failing {
  /* for example "failed", "mode", "not so that ", "the insertion mode is ..." */
  const char *label, *name, *denial, *summary;
  uint64_t begin, end;
  size_t stretches;
} hp_failing;
/* Finds the failures from *at on, and advances *at. Returns false after the last. */
bool hp_next_failing(const hpar_chunk *chunk, size_t *at, hp_failing *failing);

const char *hp_namespace_name(hpar_namespace ns);

#endif
