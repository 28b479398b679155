/* Measures the cost of a document without its parse: creating and destroying an empty document;
 * destroying a full document, which returns its pages; and clearing the tree of a document before
 * the next parse. */

#include "dom/node.h"

#include "programs/bench/suite.h"

enum { DESTROY, RESET };

static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};

static void create_and_destroy(hp_bench_run *run, const hp_bench *self) {
  (void)self;
  while (hp_bench_next(run)) {
    hpar_document *document = NULL;
    hpar_status status = hpar_document_create(&document);
    hpar_document_destroy(document);
    if (!status) continue;
    hp_bench_fail(run, hpar_status_text(status));
    return;
  }
}

static hpar_status end_of_page(hp_bench_bed *bed, const hp_page *page, int64_t how, uint64_t *nanoseconds) {
  hpar_document *document = bed->document;
  hpar_status status = how == DESTROY ? hpar_document_create(&document) : HPAR_OK;
  if (status) return status;
  status = hpar_parse(bed->parser, &options, page->bytes, page->length, document, NULL);
  uint64_t begin = hp_bench_now(CLOCK_THREAD_CPUTIME_ID);
  if (how == DESTROY)
    hpar_document_destroy(document);
  else if (!status)
    hp_document_reset(document);
  *nanoseconds += hp_bench_now(CLOCK_THREAD_CPUTIME_ID) - begin;
  return status;
}

static void end_of_document(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_status status = HPAR_OK;
  while (!status && hp_bench_next(run)) {
    uint64_t nanoseconds = 0;
    for (size_t i = 0; i < subject->count && !status; i++)
      status = end_of_page(&bed, hp_subject_page(subject, i), self->arguments[0], &nanoseconds);
    hp_bench_took(run, nanoseconds);
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_bench_counter(run, "documents", (double)subject->count);
  hp_bench_close_bed(&bed);
}

void hp_bench_add_document(void) {
  hp_bench_add(&(hp_bench){.name = "document/create_destroy", .function = create_and_destroy});
  hp_bench_add_subjects("document/destroy", HP_SETS,
                        &(hp_bench){.function = end_of_document, .arguments = {DESTROY}, .clock = HP_BENCH_MANUAL});
  hp_bench_add_subjects("document/reset", HP_SETS,
                        &(hp_bench){.function = end_of_document, .arguments = {RESET}, .clock = HP_BENCH_MANUAL});
}
