#ifndef HP_PROGRAMS_HPAR_TRACE_JSON_H
#define HP_PROGRAMS_HPAR_TRACE_JSON_H

/* The parts of Chrome trace events, "JSON Object Format", that the traces of parses and rewrites
 * share. */

#include "programs/hpar/json.h"

/* Begins an event of the phase, with its name, its category, or NULL, and its thread. */
void hp_trace_begin_event(hp_json *json, const char *phase, const char *name, const char *category, unsigned thread);
/* Writes a time as microseconds. */
void hp_trace_time(hp_json *json, const char *key, uint64_t nanoseconds);
/* Begins the arguments of the event, its last member. */
void hp_trace_begin_arguments(hp_json *json);
/* Ends the arguments and the event. */
void hp_trace_end_event(hp_json *json);
/* Names the process or a thread: `what` is process_name or thread_name. */
void hp_trace_name(hp_json *json, const char *what, unsigned thread, const char *text);

#endif
