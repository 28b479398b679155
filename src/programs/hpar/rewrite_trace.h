#ifndef HP_PROGRAMS_HPAR_REWRITE_TRACE_H
#define HP_PROGRAMS_HPAR_REWRITE_TRACE_H

/* hpar rewrite --trace: the timeline of each thread as Chrome trace events (trace.c). */

#include "programs/hpar/json.h"

#include <hpar/rewrite.h>

typedef struct hp_trace_file {
  FILE *file; /* NULL: none */
  hp_json json;
  unsigned threads; /* that have a name in the file */
} hp_trace_file;

/* Begins the file, and receives the events of the rewriter. Returns an exit code, or -1. */
int hp_trace_file_open(hp_trace_file *trace, const char *name, const char *page, hpar_rewriter *rewriter);
/* Ends the file. Returns an exit code. */
int hp_trace_file_close(hp_trace_file *trace, const char *name, hpar_rewriter *rewriter);

#endif
