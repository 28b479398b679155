/* Measures serialization into a sink that only counts. All trees of a subject exist at the same
 * time. */

#include "programs/bench/suite.h"

#include <stdlib.h>

enum { HTML, TREE };

static hpar_status count(const char *bytes, size_t length, void *context) {
  (void)bytes;
  *(size_t *)context += length;
  return HPAR_OK;
}

static void close_all(hpar_document **documents, size_t number) {
  for (size_t i = 0; documents && i < number; i++) hpar_document_destroy(documents[i]);
  free(documents);
}

static void serialize(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_document **documents = calloc(subject->count, sizeof *documents);
  hpar_status status = documents ? HPAR_OK : HPAR_ERROR_MEMORY;
  for (size_t i = 0; i < subject->count && !status; i++) {
    const hp_page *page = hp_subject_page(subject, i);
    status = hpar_document_create(&documents[i]);
    if (!status) status = hpar_parse(bed.parser, &options, page->bytes, page->length, documents[i], NULL);
  }
  size_t written = 0;
  while (!status && hp_bench_next(run)) {
    written = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      hpar_node root = hpar_document_root(documents[i]);
      if (self->arguments[0] == HTML)
        status = hpar_serialize_html(documents[i], root, 0, count, &written);
      else
        status = hpar_serialize_tree(documents[i], root, count, &written);
    }
  }
  if (status)
    hp_bench_fail(run, hpar_status_text(status));
  else
    hp_bench_bytes(run, written);
  close_all(documents, subject->count);
  hp_bench_close_bed(&bed);
}

void hp_bench_add_serialize(void) {
  hp_bench_add_subjects("serialize/html", HP_SETS, &(hp_bench){.function = serialize, .arguments = {HTML}});
  hp_bench_add_subjects("serialize/tree", HP_SETS, &(hp_bench){.function = serialize, .arguments = {TREE}});
}
