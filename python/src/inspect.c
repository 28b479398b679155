/* The record of a parallel parse, profiles of pages, and schedules, as Python values. */

#include "module.h"

#include <hpar/study.h>
#include <stdlib.h>

#include "study/profile.h"
#include "study/schedule.h"

static bool put_start(PyObject *dict, const char *key, const hpar_start_state *s) {
  if (!s->state) return hp_py_put(dict, key, Py_NewRef(Py_None));
  PyObject *d = PyDict_New();
  bool fine = d && hp_py_put_text(d, "state", s->state) && hp_py_put_text(d, "element", s->element) &&
              hp_py_put_text(d, "mode", s->mode);
  if (!fine) Py_CLEAR(d);
  return hp_py_put(dict, key, d);
}

static PyObject *failures_of(const hpar_chunk *c) {
  PyObject *list = PyList_New((Py_ssize_t)c->failure_count);
  for (size_t i = 0; i < c->failure_count && list; i++) {
    const hpar_failure *f = &c->failures[i];
    const char *why = f->hazard ? hpar_hazard_summary(f->hazard) : hpar_assumption_summary(f->assumption);
    PyObject *d = Py_BuildValue("{s:s,s:K,s:K}", "reason", why, "begin", (unsigned long long)f->begin, "end",
                                (unsigned long long)f->end);
    if (!d || PyList_SetItem(list, (Py_ssize_t)i, d)) Py_CLEAR(list);
  }
  return list;
}

static PyObject *chunk_dict(const hpar_chunk *c) {
  PyObject *d = PyDict_New();
  bool fine =
      d && hp_py_put_number(d, "begin", c->begin) && hp_py_put_number(d, "end", c->end) &&
      hp_py_put_text(d, "outcome", hpar_chunk_outcome_name(c->outcome)) &&
      hp_py_put(d, "right_start", PyBool_FromLong(c->right_start)) && put_start(d, "predicted", &c->predicted) &&
      put_start(d, "actual", &c->actual) && hp_py_put_number(d, "segments", c->segments) &&
      hp_py_put_number(d, "taken", c->taken) && hp_py_put_number(d, "bytes_reparsed", c->bytes_reparsed) &&
      hp_py_put_number(d, "worker", c->worker) && hp_py_put_number(d, "text_begin", c->text_begin) &&
      hp_py_put_number(d, "ns_parse", c->ns.parse_end - c->ns.parse_begin) &&
      hp_py_put_number(d, "ns_merge", c->ns.merge_end - c->ns.merge_begin) && hp_py_put(d, "failures", failures_of(c));
  if (!fine) Py_CLEAR(d);
  return d;
}

static PyObject *chunk_list(const hpar_parser *parser) {
  size_t count = hpar_chunk_count(parser);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; i < count && list; i++) {
    PyObject *chunk = chunk_dict(hpar_chunk_at(parser, i));
    if (!chunk || PyList_SetItem(list, (Py_ssize_t)i, chunk)) Py_CLEAR(list);
  }
  return list;
}

static PyObject *event_list(const hpar_parser *parser) {
  size_t count = hpar_event_count(parser);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; i < count && list; i++) {
    hpar_event e = hpar_event_at(parser, i);
    PyObject *event =
        Py_BuildValue("{s:s,s:I,s:K,s:K,s:K,s:K}", "kind", hpar_event_kind_name(e.kind), "thread", e.thread, "begin_ns",
                      (unsigned long long)e.begin_ns, "end_ns", (unsigned long long)e.end_ns, "begin",
                      (unsigned long long)e.begin, "end", (unsigned long long)e.end);
    if (!event || PyList_SetItem(list, (Py_ssize_t)i, event)) Py_CLEAR(list);
  }
  return list;
}

/* inspect(data, threads, chunks): parses in parallel on the calling thread and returns the record. */
PyObject *hp_py_inspect(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"data", "threads", "chunks"};
  static const hp_py_signature signature = {"inspect", names, 3, 3, 3};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[3];
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  unsigned threads;
  uint64_t chunks;
  if (!hp_py_read_threads(values[1], &threads) || !hp_py_read_number(values[2], "chunks", &chunks)) return NULL;
  const hpar_study study = {HPAR_STUDY_INIT, .inspect = true};
  hp_py_options options = {.c = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = threads,
                                 .parallel = {.executor = HPAR_EXECUTOR_INLINE, .chunks = chunks}, .study = &study},
                           .copy = -1};
  if (PyUnicode_Check(values[0])) options.c.encoding = "utf-8";
  hp_py_document *d = hp_py_new_document(state, values[0], &options);
  hpar_parser *parser = d ? hp_py_take_parser(state) : NULL;
  PyObject *result = NULL;
  if (parser) {
    hpar_stats stats = {HPAR_STATS_INIT};
    hpar_study_stats all = {HPAR_STUDY_STATS_INIT};
    hpar_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = hpar_parse(parser, &options.c, d->bytes, d->length, d->tree, &stats);
    Py_END_ALLOW_THREADS;
    if (status || !hp_py_keep_results(d, parser, &stats)) {
      hp_py_raise(state, status ? status : HPAR_ERROR_MEMORY, hpar_parser_error(parser)->text);
    } else {
      hpar_study_stats_of(parser, &all);
      result = hp_py_stats(d);
      bool fine = result && hp_py_put_number(result, "ns_prelude", all.ns.decode + all.ns.cut) &&
                  hp_py_put(result, "chunks", chunk_list(parser)) && hp_py_put(result, "events", event_list(parser));
      if (!fine) Py_CLEAR(result);
    }
    hp_py_return_parser(state, parser);
  }
  Py_XDECREF((PyObject *)d);
  return result;
}

/*** profiles ***/

static bool put_counts(PyObject *dict, const char *key, const char *(*name)(int), const uint64_t *counts, int count) {
  PyObject *d = PyDict_New();
  bool fine = d != NULL;
  for (int i = 0; i < count && fine; i++)
    if (counts[i]) fine = hp_py_put_number(d, name(i), counts[i]);
  if (!fine) Py_CLEAR(d);
  return hp_py_put(dict, key, d);
}

static const char *state_name(int state) { return hp_state_name((hp_state)state); }

static PyObject *profile_dict(const hp_profile *p) {
  PyObject *d = PyDict_New(), *states = PyDict_New();
  bool fine = d && states && hp_py_put_number(d, "pages", p->pages) && hp_py_put_number(d, "bytes", p->bytes) &&
              hp_py_put_number(d, "tokens", p->tokens) && hp_py_put_number(d, "start_tags", p->start_tags);
  for (int i = 0; i < HP_CUT_BY_BYTES && fine; i++)
    fine = put_counts(states, hpar_cut_policy_name((size_t)i), state_name, p->states[i], HP_STATES);
  fine = fine && hp_py_put(d, "states_at_cuts", Py_NewRef(states)) &&
         put_counts(d, "modes_at_cuts", hp_profile_mode_name, p->modes_at_cuts, HP_PROFILE_MODES) &&
         put_counts(d, "tokens_by_mode", hp_profile_mode_name, p->mode_tokens, HP_PROFILE_MODES) &&
         put_counts(d, "bytes_by_mode", hp_profile_mode_name, p->mode_bytes, HP_PROFILE_MODES);
  Py_XDECREF(states);
  if (!fine) Py_CLEAR(d);
  return d;
}

/* profile(data, cut_distance): returns the counters of a page. */
PyObject *hp_py_profile(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"data", "cut_distance"};
  static const hp_py_signature signature = {"profile", names, 2, 2, 2};
  hp_py_state *state = PyModule_GetState(module);
  PyObject *values[2], *result = NULL;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  hp_profile profile = {.cut_distance = PyLong_AsSize_t(values[1])};
  hp_py_options options = {.c = {HPAR_OPTIONS_INIT}, .copy = -1};
  if (PyErr_Occurred()) return NULL;
  if (!profile.cut_distance) {
    PyErr_SetString(PyExc_ValueError, "cut_distance must be at least 1");
    return NULL;
  }
  if (PyUnicode_Check(values[0])) options.c.encoding = "utf-8";
  hp_py_document *d = hp_py_new_document(state, values[0], &options);
  hpar_parser *parser = d ? hp_py_take_parser(state) : NULL;
  if (parser) {
    hpar_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = hp_profile_page(&profile, parser, d->tree, d->bytes, d->length, &options.c);
    Py_END_ALLOW_THREADS;
    if (status)
      hp_py_raise(state, status, hpar_parser_error(parser)->text);
    else
      result = profile_dict(&profile);
    hp_py_return_parser(state, parser);
  }
  hp_profile_free(&profile);
  Py_XDECREF((PyObject *)d);
  return result;
}

/*** schedules ***/

/* schedule(tasks, length, cores, prelude, wake): returns the projected time in nanoseconds. A task is
 * (parse, merge, exact, cut). */
PyObject *hp_py_schedule(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"tasks", "length", "cores", "prelude", "wake"};
  static const hp_py_signature signature = {"schedule", names, 5, 5, 5};
  PyObject *values[5], *result = NULL;
  (void)module;
  if (!hp_py_arguments(&signature, arguments, count, keywords, values)) return NULL;
  hp_schedule_input input = {.length = PyLong_AsSize_t(values[1]), .cores = (unsigned)PyLong_AsUnsignedLong(values[2])};
  if (!PyErr_Occurred()) input.prelude = PyLong_AsUnsignedLongLong(values[3]);
  if (!PyErr_Occurred()) input.wake = PyLong_AsUnsignedLongLong(values[4]);
  if (PyErr_Occurred()) return NULL;
  if (!PyList_Check(values[0]) || !input.cores || input.cores > HPAR_MAX_THREADS) {
    PyErr_Format(PyExc_ValueError, "tasks must be a list, and cores between 1 and %d", HPAR_MAX_THREADS);
    return NULL;
  }
  input.count = (size_t)PyList_Size(values[0]);
  input.tasks = calloc(input.count + 1, sizeof *input.tasks);
  uint64_t *workers = calloc(input.cores, sizeof *workers);
  bool fine = input.tasks && workers;
  if (!fine) PyErr_NoMemory();
  for (size_t i = 0; i < input.count && fine; i++) {
    unsigned long long parse, merge, exact, cut;
    fine = PyArg_ParseTuple(PyList_GetItem(values[0], (Py_ssize_t)i), "KKKK", &parse, &merge, &exact, &cut);
    if (fine) input.tasks[i] = (hp_scheduled_task){parse, merge, exact, (size_t)cut, 0};
  }
  if (fine) result = PyLong_FromUnsignedLongLong(hp_schedule(&input, workers));
  free(input.tasks);
  free(workers);
  return result;
}
