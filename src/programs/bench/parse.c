/* Measures the sequential parser. All benchmarks keep the parser.
 *
 * - fresh: creates, parses and destroys a document for each page, like a program that reads each
 *   page once; memory comes from the system or from jemalloc
 * - reused: one document for all pages
 * - kept: the same, and the document keeps a copy of the page, as in a feed
 * - fresh_read, reused_read: the first two with a walk that reads every attribute once, and so
 *   decodes its character references
 * - fresh_at_once, reused_at_once: the first two with these references decoded during the parse */

#include "programs/bench/suite.h"

#include <hpar/study.h>

static const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL};
static const hpar_options keeping = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .copy_input = true};
static const hpar_options at_once = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL,
                                     .value_decoding = HPAR_VALUES_AT_ONCE};

/* Reads the name and the value of every attribute. */
static void read_attributes(const hpar_document *document) {
  size_t length = 0;
  hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node)) {
    hpar_attribute attribute;
    for (size_t i = 0; hpar_node_attribute_at(document, node, i, &attribute); i++)
      length += attribute.local_name.length + attribute.value.length;
  }
  hp_bench_keep(&length);
}

enum { READS = 1, DECODES = 2 }; /* arguments[1] */

static void parse_fresh(hp_bench_run *run, const hp_bench *self) {
  const hp_subject *subject = self->subject;
  hpar_options with = self->arguments[1] == DECODES ? at_once : options;
  with.allocator = (hpar_allocator)self->arguments[0];
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, &with)) return;
  hpar_status status = HPAR_OK;
  while (!status && hp_bench_next(run)) {
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      hpar_document *document = NULL;
      status = hpar_document_create(&document);
      if (!status) status = hpar_parse(bed.parser, &with, page->bytes, page->length, document, NULL);
      if (!status && self->arguments[1] == READS) read_attributes(document);
      hpar_document_destroy(document);
    }
  }
  if (status) hp_bench_fail(run, hpar_status_text(status));
  hp_bench_close_bed(&bed);
}

static void parse_again(hp_bench_run *run, const hp_subject *subject, const hpar_options *with, bool reads) {
  hp_bench_bed bed;
  if (!hp_bench_open_bed(&bed, run, subject, with)) return;
  hpar_status status = HPAR_OK;
  uint64_t nodes = 0;
  size_t memory = 0;
  while (!status && hp_bench_next(run)) {
    nodes = 0;
    memory = 0;
    for (size_t i = 0; i < subject->count && !status; i++) {
      const hp_page *page = hp_subject_page(subject, i);
      hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
      status = hpar_study_parse(bed.parser, with, page->bytes, page->length, bed.document, &stats);
      if (status) break;
      if (reads) read_attributes(bed.document);
      nodes += stats.nodes;
      memory += hpar_document_memory(bed.document);
    }
  }
  if (status) {
    hp_bench_fail(run, hpar_status_text(status));
  } else {
    hp_bench_counter(run, "nodes", (double)nodes);
    hp_bench_counter(run, "memory_per_byte", (double)memory / (double)hp_subject_bytes(subject));
  }
  hp_bench_close_bed(&bed);
}

static void parse_reused(hp_bench_run *run, const hp_bench *self) { parse_again(run, self->subject, &options, false); }
static void parse_and_read(hp_bench_run *run, const hp_bench *self) { parse_again(run, self->subject, &options, true); }
static void parse_at_once(hp_bench_run *run, const hp_bench *self) { parse_again(run, self->subject, &at_once, false); }
static void parse_kept(hp_bench_run *run, const hp_bench *self) { parse_again(run, self->subject, &keeping, false); }

void hp_bench_add_parse(void) {
  hp_bench_add_subjects("parse/fresh", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_fresh});
  if (hpar_allocator_name(HPAR_ALLOCATOR_JEMALLOC))
    hp_bench_add_subjects("parse/fresh_jemalloc", HP_SETS,
                          &(hp_bench){.function = parse_fresh, .arguments = {HPAR_ALLOCATOR_JEMALLOC}});
  hp_bench_add_subjects("parse/reused", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_reused});
  hp_bench_add_subjects("parse/fresh_read", HP_SETS | HP_SINGLE_PAGES,
                        &(hp_bench){.function = parse_fresh, .arguments = {0, READS}});
  hp_bench_add_subjects("parse/reused_read", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_and_read});
  hp_bench_add_subjects("parse/fresh_at_once", HP_SETS | HP_SINGLE_PAGES,
                        &(hp_bench){.function = parse_fresh, .arguments = {0, DECODES}});
  hp_bench_add_subjects("parse/reused_at_once", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_at_once});
  hp_bench_add_subjects("parse/kept", HP_SETS | HP_SINGLE_PAGES, &(hp_bench){.function = parse_kept});
}
