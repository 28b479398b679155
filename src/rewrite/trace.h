#ifndef HP_REWRITE_TRACE_H
#define HP_REWRITE_TRACE_H

/* The trace of a rewriter: the events of several threads that rewrite a window. Any thread adds
 * them. The feeding thread reports them after the window. */

#include "base/trace.h"

typedef struct hp_rewrite_trace hp_rewrite_trace;
struct hp_rewrite_trace {
  hp_trace trace;
  void (*begin)(hp_rewrite_trace *);  /* a stream begins */
  void (*report)(hp_rewrite_trace *); /* a window has ended */
  void (*destroy)(hp_rewrite_trace *);
};

#endif
