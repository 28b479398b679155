/* The trace of a rewriter for a caller's function. */

#include "base/memory.h"
#include "base/process.h"
#include "rewrite/state.h"
#include "study/record.h"

#include <hpar/study.h>

typedef struct reporter {
  hp_rewrite_trace trace;
  hp_record record; /* times are absolute */
  hpar_rewrite_event_callback callback;
  void *context;
  uint64_t begin; /* time of hpar_rewriter_begin */
} reporter;

/* Any thread may call it. */
static void add_event(hp_trace *trace, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                      uint64_t end_ns, size_t begin, size_t end) {
  reporter *r = (reporter *)trace; /* its first member's first member */
  hp_record_event(&r->record, kind, thread, chunk, begin_ns, end_ns, begin, end);
}

static void begin_stream(hp_rewrite_trace *trace) {
  reporter *r = (reporter *)trace;
  r->begin = hp_now();
  hp_record_open(&r->record, r->begin);
}

/* Reports the events of the window, and forgets them. */
static void report_window(hp_rewrite_trace *trace) {
  reporter *r = (reporter *)trace;
  for (size_t i = 0; i < r->record.event_count; i++) {
    hpar_event event = r->record.events[i];
    event.begin_ns -= r->begin;
    event.end_ns -= r->begin;
    r->callback(&event, r->context);
  }
  r->record.event_count = 0;
}

static void destroy(hp_rewrite_trace *trace) {
  reporter *r = (reporter *)trace;
  hp_record_free(&r->record);
  hp_free(r);
}

hpar_status hpar_rewriter_trace(hpar_rewriter *r, hpar_rewrite_event_callback callback, void *context) {
  if (!r || hp_is_in_use(&r->calls.use)) return HPAR_ERROR_ARGUMENT;
  if (!callback) {
    if (r->parallel.trace) r->parallel.trace->destroy(r->parallel.trace);
    r->parallel.trace = NULL;
    return HPAR_OK;
  }
  if (!r->parallel.trace) {
    reporter *made = hp_allocate_zeroed(sizeof *made);
    if (!made) return HPAR_ERROR_MEMORY;
    made->trace = (hp_rewrite_trace){{add_event}, begin_stream, report_window, destroy};
    r->parallel.trace = &made->trace;
  }
  reporter *reporter_of = (reporter *)r->parallel.trace;
  reporter_of->callback = callback;
  reporter_of->context = context;
  begin_stream(r->parallel.trace);
  return HPAR_OK;
}
