/* Measures hpar_select on complete trees: one selector a walk, 100 selectors in one walk, and a set
 * with look-ahead tests. All trees of a subject exist at the same time. */

#include "programs/bench/suite.h"

#include <hpar/select.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100 };

static const char *const selectors[] = {"a",     ".nav",          "#content",      "[href]",
                                        "div p", "a[href^=http]", "li:last-child", "div:has(> p)"};
static const char *const labels[] = {"type", "class", "id", "attribute", "descendant", "prefix", "last-child", "has"};
enum { SELECTORS = sizeof selectors / sizeof *selectors };

static hpar_status count(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(uint64_t *)context;
  return HPAR_OK;
}

static hpar_status compile(hpar_selectors **set, int64_t which) {
  char text[64];
  hpar_status status = hpar_selectors_create(set);
  if (which < SELECTORS)
    return status ? status : hpar_selectors_add(*set, selectors[which], strlen(selectors[which]), NULL);
  for (int i = 0; i < MANY && !status; i++) {
    snprintf(text, sizeof text, i % 2 ? "div.c%d a" : "#i%d > p", i);
    status = hpar_selectors_add(*set, text, strlen(text), NULL);
  }
  return status;
}

static void close_all(hpar_document **documents, size_t number) {
  for (size_t i = 0; documents && i < number; i++) hpar_document_destroy(documents[i]);
  free(documents);
}

static void select_all(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &options)) return;
  hpar_selectors *set = NULL;
  hpar_document **documents = calloc(subject->count, sizeof *documents);
  hpar_status status = documents ? compile(&set, self->arguments[0]) : HPAR_ERROR_MEMORY;
  for (size_t i = 0; i < subject->count && !status; i++) {
    const hp_page *page = hp_subject_page(subject, i);
    status = hpar_document_create(&documents[i]);
    if (!status) status = hpar_parse(bed.parser, &options, page->bytes, page->length, documents[i], NULL);
  }
  uint64_t matches = 0;
  while (!status && hp_bench_next(run)) {
    matches = 0;
    for (size_t i = 0; i < subject->count && !status; i++)
      status = hpar_select(set, documents[i], hpar_document_root(documents[i]), NULL, count, &matches);
  }
  if (status)
    hp_bench_fail(run, hpar_status_text(status));
  else
    hp_bench_counter(run, "matches", (double)matches);
  hpar_selectors_destroy(set);
  close_all(documents, subject->count);
  hp_bench_close_bed(&bed);
}

void hp_bench_add_select(void) {
  for (int64_t i = 0; i <= SELECTORS; i++) {
    char prefix[64];
    snprintf(prefix, sizeof prefix, "select/%s", i < SELECTORS ? labels[i] : "100-selectors");
    hp_bench_add_subjects(prefix, HP_SETS, &(hp_bench){.function = select_all, .arguments = {i}});
  }
}
