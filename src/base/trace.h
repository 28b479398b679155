#ifndef HP_BASE_TRACE_H
#define HP_BASE_TRACE_H

/* The trace of a parse or of a rewrite: the modules that do the work emit events, and a study
 * receives them. The pointer is NULL if nobody asked for events. Offsets are offsets in the text,
 * and times are those of hp_now. */

#include <stddef.h>
#include <stdint.h>

/* hpar_event_kind of the public header has the same values. */
typedef enum hp_event_kind {
  HP_EVENT_DECODE,
  HP_EVENT_CUT,
  HP_EVENT_PRESCAN,
  HP_EVENT_PARSE,
  HP_EVENT_EXACT,
  HP_EVENT_MERGE,
  HP_EVENT_ROLL_BACK,
  HP_EVENT_WAIT,
  HP_EVENT_COMPOSE,
  HP_EVENT_TOKENIZE,
  HP_EVENT_SCRIPT
} hp_event_kind;

typedef struct hp_trace hp_trace;
struct hp_trace {
  /* Adds an event in the range [begin, end) of the text. `chunk` is UINT32_MAX if the event belongs
   * to no chunk. Any thread may call it. */
  void (*event)(hp_trace *trace, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                uint64_t end_ns, size_t begin, size_t end);
};

#endif
