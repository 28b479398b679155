/* Statistics and parse errors as Python values. */

#include "module.h"

#include <hpar/study.h>

static bool put_numbers(PyObject *dict, const char *key, const uint64_t *numbers, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; i++) {
    PyObject *number = PyLong_FromUnsignedLongLong(numbers[i]);
    if (!number || PyList_SetItem(list, (Py_ssize_t)i, number)) Py_CLEAR(list);
  }
  return hp_py_put(dict, key, list);
}

static bool put_by_log_kind(PyObject *dict, const hpar_study_stats *s) {
  PyObject *kinds = PyDict_New();
  bool fine = kinds != NULL;
  for (int i = 0; fine && i < HPAR_LOG_KINDS; i++)
    fine = hp_py_put_number(kinds, hpar_log_kind_name((hpar_log_kind)i), s->log_entries_by_kind[i]);
  if (!fine) Py_CLEAR(kinds);
  return hp_py_put(dict, "log_entries_by_kind", kinds);
}

static bool put_by_assumption(PyObject *dict, const hpar_study_stats *s) {
  PyObject *kinds = PyDict_New();
  bool fine = kinds != NULL;
  for (int i = 0; fine && i < HPAR_ASSUMPTIONS; i++)
    if (s->wrong_assumptions_by_kind[i])
      fine = hp_py_put_number(kinds, hpar_assumption_name((hpar_assumption)i), s->wrong_assumptions_by_kind[i]);
  if (!fine) Py_CLEAR(kinds);
  return hp_py_put(dict, "wrong_assumptions_by_kind", kinds);
}

/* Adds what only a parse with several threads has. */
static bool put_parallel(PyObject *d, const hpar_study_stats *s) {
  const struct {
    const char *name;
    uint64_t value;
  } numbers[] = {{"chunks", s->chunks},
                 {"chunks_exact", s->chunks_exact},
                 {"chunks_right_start", s->chunks_right_start},
                 {"chunks_right", s->chunks_right},
                 {"chunks_clean", s->chunks_clean},
                 {"log_entries", s->log_entries},
                 {"bytes_reparsed", s->bytes_reparsed},
                 {"respeculations", s->respeculations},
                 {"rollbacks", s->rollbacks},
                 {"ns_cut", s->ns.cut},
                 {"ns_merge", s->ns.merge},
                 {"ns_wait", s->ns.wait}};
  bool fine = hp_py_put_text(d, "strategy", s->strategy) && hp_py_put_text(d, "predictor", s->predictor) &&
              hp_py_put_text(d, "cut_policy", s->cut_policy) && hp_py_put_text(d, "affinity", s->affinity);
  for (size_t i = 0; fine && i < sizeof numbers / sizeof *numbers; i++)
    fine = hp_py_put_number(d, numbers[i].name, numbers[i].value);
  unsigned threads = s->threads < HPAR_MAX_THREADS ? s->threads : HPAR_MAX_THREADS;
  return fine && put_numbers(d, "ns_parse_per_worker", s->ns.parse_per_worker, threads) && put_by_log_kind(d, s) &&
         put_by_assumption(d, s);
}

PyObject *hp_py_stats(const hp_py_document *document) {
  const hp_py_summary *s = &document->summary;
  PyObject *d = PyDict_New();
  if (!d) return NULL;
  bool fine = hp_py_put_text(d, "mode", s->mode) && hp_py_put_text(d, "encoding", s->encoding) &&
              hp_py_put_text(d, "encoding_source", s->encoding_source) && hp_py_put_number(d, "bytes", s->bytes) &&
              hp_py_put_number(d, "tokens", s->tokens) && hp_py_put_number(d, "nodes", s->nodes) &&
              hp_py_put_number(d, "parse_errors", s->parse_errors) &&
              hp_py_put_number(d, "threads", s->all ? s->all->threads : 1) &&
              hp_py_put_number(d, "ns_total", s->ns_total) && hp_py_put_number(d, "ns_decode", s->ns_decode) &&
              hp_py_put_number(d, "memory", hpar_document_memory(document->tree)) &&
              (!s->all || put_parallel(d, s->all));
  if (!fine) Py_CLEAR(d);
  return d;
}

PyObject *hp_py_errors(const hp_py_document *document) {
  PyObject *list = PyList_New((Py_ssize_t)document->error_count);
  for (size_t i = 0; list && i < document->error_count; i++) {
    const hpar_parse_error *e = &document->errors[i];
    PyObject *pair = Py_BuildValue("(sK)", e->code, (unsigned long long)e->offset);
    if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair)) Py_CLEAR(list);
  }
  return list;
}
