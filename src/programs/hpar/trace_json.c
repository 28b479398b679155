#include "programs/hpar/trace_json.h"

void hp_trace_begin_event(hp_json *json, const char *phase, const char *name, const char *category, unsigned thread) {
  hp_json_break(json);
  hp_json_open(json, '{');
  hp_json_text_member(json, "ph", phase);
  hp_json_text_member(json, "name", name);
  if (category) hp_json_text_member(json, "cat", category);
  hp_json_number_member(json, "pid", 1);
  hp_json_number_member(json, "tid", thread);
}

void hp_trace_time(hp_json *json, const char *key, uint64_t nanoseconds) {
  hp_json_key(json, key);
  hp_json_real(json, (double)nanoseconds / 1e3);
}

void hp_trace_begin_arguments(hp_json *json) {
  hp_json_key(json, "args");
  hp_json_open(json, '{');
}

void hp_trace_end_event(hp_json *json) {
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

void hp_trace_name(hp_json *json, const char *what, unsigned thread, const char *text) {
  hp_trace_begin_event(json, "M", what, NULL, thread);
  hp_trace_begin_arguments(json);
  hp_json_text_member(json, "name", text);
  hp_trace_end_event(json);
}
