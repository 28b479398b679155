#include "programs/hpar/rewrite_trace.h"

#include "programs/hpar/cli.h"
#include "programs/hpar/trace_json.h"

#include <errno.h>
#include <hpar/study.h>
#include <string.h>

/* Names the threads up to this one. */
static void name_threads(hp_trace_file *t, unsigned thread) {
  for (; t->threads <= thread; t->threads++) {
    char text[32];
    snprintf(text, sizeof text, "worker %u", t->threads);
    hp_trace_name(&t->json, "thread_name", t->threads, t->threads ? text : "merger");
  }
}

static void write_event(const hpar_event *e, void *context) {
  hp_trace_file *t = context;
  hp_json *json = &t->json;
  name_threads(t, e->thread);
  hp_trace_begin_event(json, "X", hpar_event_kind_name(e->kind), "hpar", e->thread);
  hp_trace_time(json, "ts", e->begin_ns);
  hp_trace_time(json, "dur", e->end_ns - e->begin_ns);
  hp_trace_begin_arguments(json);
  hp_json_number_member(json, "chunk", e->chunk);
  if (e->end > e->begin) {
    hp_json_number_member(json, "begin", e->begin);
    hp_json_number_member(json, "end", e->end);
  }
  hp_trace_end_event(json);
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
  hp_json_text_member(json, "displayTimeUnit", "ns");
  hp_json_key(json, "otherData");
  hp_json_open(json, '{');
  hp_json_text_member(json, "file", page);
  hp_json_text_member(json, "hpar", hpar_version());
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
