#include "programs/bench/suite.h"

#include <stdio.h>

void hp_bench_add_subjects(const char *prefix, unsigned kinds, const hp_bench *like) {
  const hp_subject *subject;
  for (size_t i = 0; (subject = hp_subject_at(i, kinds)); i++) {
    char name[256];
    snprintf(name, sizeof name, "%s/%s", prefix, subject->name);
    hp_bench bench = *like;
    bench.name = name;
    bench.subject = subject;
    hp_bench_add(&bench);
  }
}

bool hp_bench_open_bed(hp_bench_bed *bed, hp_bench_run *run, const hp_subject *subject, const hpar_options *options) {
  *bed = (hp_bench_bed){.subject = subject};
  size_t bytes = hp_subject_bytes(subject);
  hpar_status status = bytes ? hpar_parser_create(&bed->parser) : HPAR_ERROR_IO;
  if (!status) status = hpar_document_create(&bed->document);
  for (size_t i = 0; i < subject->count && !status; i++) {
    const hp_page *page = hp_subject_page(subject, i);
    status = hpar_parse(bed->parser, options, page->bytes, page->length, bed->document, NULL);
  }
  if (!status) {
    hp_bench_bytes(run, bytes);
    return true;
  }
  hp_bench_close_bed(bed);
  hp_bench_fail(run, hpar_status_text(status));
  return false;
}

void hp_bench_close_bed(hp_bench_bed *bed) {
  hpar_document_destroy(bed->document);
  hpar_parser_destroy(bed->parser);
  *bed = (hp_bench_bed){0};
}
