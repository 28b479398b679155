#ifndef HP_CLI_INSPECTION_H
#define HP_CLI_INSPECTION_H

/* A page under inspection, for explain and trace: what becomes of its chunks, each given to a worker, so that the
 * answer is the same every time; and when who did what in another parse, on threads. */

#include "cli/options.h"

typedef struct hp_inspection {
  const hp_command *command;
  hpar_options options; /* mode is that of neither by default: the parallel parser, where there is one */
  uint64_t *cuts;
  const char *path, *output;
  char *bytes;
  size_t length;
  hpar_parser *parser, *on_threads; /* records of the explained parse, and of the fastest of ten with times or NULL */
  hpar_document *document, *other;
  hpar_stats stats, stats_on_threads;
  size_t timeline_end; /* the latest end of the events of that, in nanoseconds */
} hp_inspection;

enum { HP_OPTION_CUTS = 900, HP_OPTION_FRAGMENT, HP_OPTION_OUTPUT, HP_OPTION_MODE };
#define HP_INSPECTION_OPTIONS                                                                   \
  {HP_OPTION_MODE, "mode", "parallel|pipelined", "which parser (parallel)"}, HP_COMMON_OPTIONS, \
      {HP_OPTION_CUTS, "cuts", "N,N,...", "cut at these byte offsets and nowhere else"}, {      \
    HP_OPTION_FRAGMENT, "fragment", "CONTEXT",                                                  \
        "parse as the contents of this element: \"div\", \"svg path\",\n\"math mi\""            \
  }

/* Takes an operand or one of these options in: an exit code, or -1 to go on. */
int hp_inspection_take(hp_inspection *inspection, const hp_arguments *arguments, int id);

/* Loads and parses; -1 or an exit code after a complaint. Times only where they are wanted. */
int hp_inspect(hp_inspection *inspection, bool timeline);
void hp_inspection_close(hp_inspection *inspection);

/* The record with the timeline. */
const hpar_parser *hp_timeline_of(const hp_inspection *inspection);

/* Of all chunks but the first, and of those by outcome. */
size_t hp_outcomes(const hpar_parser *parser, size_t by_outcome[HPAR_CHUNK_OUTCOMES]);

/* At most so many bytes of the text before and behind a chunk's cut, of whole characters. */
void hp_around_cut(const hp_inspection *inspection, const hpar_chunk *chunk, size_t most, hpar_string *before,
                   hpar_string *behind);

/* What did not hold, as a reader wants it: failures of one kind that follow each other are one. */
typedef struct hp_failing {
  const char *label, *name, *denial, *summary; /* "failed", "mode", "not so that ", "the insertion mode is ..." */
  uint64_t begin, end;
  size_t stretches;
} hp_failing;
/* From failure *at on, which becomes that of the next; false past the last. */
bool hp_next_failing(const hpar_chunk *chunk, size_t *at, hp_failing *failing);

const char *hp_namespace_name(hpar_namespace ns);

#endif
