#ifndef HP_REWRITE_TRACE_H
#define HP_REWRITE_TRACE_H

/* The events of several threads that rewrite a window. Any thread records them. The feeding thread
 * reports them after the window. */

#include "trace/record.h"

#include <hpar/rewrite.h>
#include <hpar/study.h>

typedef struct hp_rewrite_trace {
  hp_record record; /* times are absolute */
  hpar_rewrite_event_callback callback;
  void *context;
  uint64_t begin; /* time of hpar_rewriter_begin */
} hp_rewrite_trace;

/* Begins a stream. NULL is allowed, as in the next functions. */
void hp_rewrite_trace_begin(hp_rewrite_trace *trace);
/* Reports the events of the window, and forgets them. */
void hp_rewrite_trace_report(hp_rewrite_trace *trace);
void hp_rewrite_trace_destroy(hp_rewrite_trace *trace);

#endif
