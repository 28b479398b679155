#include "cli/rewrite_trace.h"

#include "cli/cli.h"

#include <errno.h>
#include <string.h>

static void member(hp_json *json, const char *key, const char *text) {
  hp_json_key(json, key);
  hp_json_text(json, text);
}

static void number(hp_json *json, const char *key, uint64_t value) {
  hp_json_key(json, key);
  hp_json_number(json, value);
}

static void microseconds(hp_json *json, const char *key, uint64_t ns) {
  hp_json_key(json, key);
  hp_json_real(json, (double)ns / 1e3);
}

static void begin_event(hp_json *json, const char *phase, const char *name, unsigned thread) {
  hp_json_break(json);
  hp_json_open(json, '{');
  member(json, "ph", phase);
  member(json, "name", name);
  number(json, "pid", 1);
  number(json, "tid", thread);
}

static void end_event(hp_json *json) {
  hp_json_close(json, '}');
  hp_json_close(json, '}');
}

/* Names the threads up to this one. */
static void name_threads(hp_trace_file *t, unsigned thread) {
  for (; t->threads <= thread; t->threads++) {
    char text[32];
    snprintf(text, sizeof text, "worker %u", t->threads);
    begin_event(&t->json, "M", "thread_name", t->threads);
    hp_json_key(&t->json, "args");
    hp_json_open(&t->json, '{');
    member(&t->json, "name", t->threads ? text : "merger");
    end_event(&t->json);
  }
}

static void write_event(void *context, const hpar_event *e) {
  hp_trace_file *t = context;
  hp_json *json = &t->json;
  name_threads(t, e->thread);
  begin_event(json, "X", hpar_event_kind_name(e->kind), e->thread);
  member(json, "cat", "hpar");
  microseconds(json, "ts", e->begin_ns);
  microseconds(json, "dur", e->end_ns - e->begin_ns);
  hp_json_key(json, "args");
  hp_json_open(json, '{');
  number(json, "chunk", e->chunk);
  if (e->end > e->begin) {
    number(json, "begin", e->begin);
    number(json, "end", e->end);
  }
  end_event(json);
}

static int complain(const char *name, int number) {
  hp_complain("%s: the trace cannot be written: %s", name, strerror(number));
  return HP_EXIT_FAILED;
}

int hp_trace_file_open(hp_trace_file *t, const char *name, const char *page, hpar_rewriter *rewriter) {
  *t = (hp_trace_file){.file = fopen(name, "wb")};
  if (!t->file) return complain(name, errno);
  hp_json *json = &t->json;
  json->file = t->file;
  hp_json_open(json, '{');
  member(json, "displayTimeUnit", "ns");
  hp_json_key(json, "otherData");
  hp_json_open(json, '{');
  member(json, "file", page);
  member(json, "hpar", hpar_version());
  hp_json_close(json, '}');
  hp_json_key(json, "traceEvents");
  hp_json_open(json, '[');
  name_threads(t, 0);
  return hpar_rewriter_trace(rewriter, write_event, t) ? hp_complain_status(NULL, HPAR_ERROR_MEMORY) : -1;
}

int hp_trace_file_close(hp_trace_file *t, const char *name, hpar_rewriter *rewriter) {
  if (!t->file) return HP_EXIT_FINE;
  hpar_rewriter_trace(rewriter, NULL, NULL);
  hp_json_break(&t->json);
  hp_json_close(&t->json, ']');
  hp_json_close(&t->json, '}');
  fputc('\n', t->file);
  bool failed = ferror(t->file);
  errno = EIO;
  failed |= fclose(t->file) != 0;
  t->file = NULL;
  return failed ? complain(name, errno) : HP_EXIT_FINE;
}
