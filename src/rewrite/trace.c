#include "rewrite/trace.h"

#include "base/clock.h"
#include "base/memory.h"
#include "rewrite/state.h"

#include <hpar/study.h>

hpar_status hpar_rewriter_trace(hpar_rewriter *r, hpar_rewrite_event_callback callback, void *context) {
  if (!r || hp_is_in_use(&r->use)) return HPAR_ERROR_ARGUMENT;
  if (!callback) {
    hp_rewrite_trace_destroy(r->trace);
    r->trace = NULL;
    return HPAR_OK;
  }
  if (!r->trace) r->trace = hp_allocate_zeroed(sizeof *r->trace);
  if (!r->trace) return HPAR_ERROR_MEMORY;
  r->trace->callback = callback;
  r->trace->context = context;
  hp_rewrite_trace_begin(r->trace);
  return HPAR_OK;
}

void hp_rewrite_trace_begin(hp_rewrite_trace *t) {
  if (!t) return;
  t->begin = hp_now();
  hp_record_open(&t->record, t->begin);
}

void hp_rewrite_trace_report(hp_rewrite_trace *t) {
  if (!t) return;
  for (size_t i = 0; i < t->record.event_count; i++) {
    hpar_event event = t->record.events[i];
    event.begin_ns -= t->begin;
    event.end_ns -= t->begin;
    t->callback(&event, t->context);
  }
  t->record.event_count = 0;
}

void hp_rewrite_trace_destroy(hp_rewrite_trace *t) {
  if (!t) return;
  hp_record_free(&t->record);
  hp_free(t);
}
