/* The tags that the scanner of the rewriter reports are those that the parser takes, by offset, and
 * the state of the outline builder after each tag is that of the tree builder. The same holds for
 * the states at the ends of longer pieces, whose tags the rewriter skips, and the output equals the
 * input. Documents: those of
 * the project, generated ones, and with the argument "fixtures" those of html5lib-tests, of LOL
 * HTML, and outside pages. HPAR_TEST_DOCUMENTS sets the number of generated documents,
 * HPAR_TEST_SEED the first. */

#include "check.h"
#include "support/dat.h"
#include "support/documents.h"
#include "support/generate.h"
#include "support/shared.h"
#include "support/tags.h"

#include <hpar/hpar.h>
#include <stdlib.h>

static tag_reader *reader;
static uint64_t tags, compared;

static void check_document(const compare_case *document, bool each_byte, uint64_t number) {
  const char *difference = tag_difference(reader, document, each_byte, &tags);
  compared++;
  if (CHECK(!difference)) return;
  buffer shown = {0};
  buffer_escaped(&shown, document->bytes, document->length < 2000 ? document->length : 2000);
  printf("  document %llu: %s\n  %s\n", (unsigned long long)number, difference, shown.bytes ? shown.bytes : "");
  buffer_free(&shown);
}

static void check_both(const compare_case *document, uint64_t number) {
  check_document(document, false, number);
  check_document(document, true, number);
}

static void check_file(const char *path) {
  dat_file file;
  if (!CHECK(dat_read(path, &file))) return;
  for (size_t i = 0; i < file.count; i++) {
    const dat_test *test = &file.tests[i];
    compare_case of = {.bytes = test->data, .length = test->data_length, .fragment = test->fragment};
    if (test->scripting != DAT_ON) check_both(&of, i);
    of.scripting = true;
    if (test->scripting != DAT_OFF) check_both(&of, i);
  }
  dat_free(&file);
}

/* Checks a sample of the pages of a folder. */
static void check_pages(const char *below, size_t step) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, below) || !CHECK(shared_files(directory, ".html", &files))) return;
  for (size_t i = 0; i < files.count; i += step) {
    compare_case of = {0};
    char *bytes = shared_read(files.paths[i], &of.length);
    of.bytes = bytes;
    if (bytes) check_document(&of, false, i);
    free(bytes);
  }
  shared_list_free(&files);
}

static bool fixtures(void) {
  char directory[4096];
  shared_list files;
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  if (!CHECK(shared_files(directory, ".dat", &files))) return false;
  for (size_t i = 0; i < files.count; i++) check_file(files.paths[i]);
  shared_list_free(&files);
  check_pages("corpus/pages", compare_full() ? 1 : 8);
  check_pages("corpus/paper", compare_full() ? 1 : 4);
  if (compare_full()) check_pages("corpus/large", 1);
  return true;
}

static uint64_t number_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void generated_documents(void) {
  uint64_t count = number_of("HPAR_TEST_DOCUMENTS", compare_full() ? 1000000 : 100 * (uint64_t)compare_scale());
  uint64_t first = number_of("HPAR_TEST_SEED", 0);
  generated made = {0};
  for (uint64_t seed = first; seed < first + count && check_failed < 10; seed++) {
    generate(seed, &made);
    compare_case of = {
        .bytes = made.text.bytes, .length = made.text.length, .fragment = made.fragment, .scripting = made.scripting};
    check_document(&of, seed % 64 == 0, seed);
  }
  generate_free(&made);
}

int main(int count, char **arguments) {
  bool skipped = false;
  reader = tag_reader_create();
  if (check_part(count, arguments, "fixtures")) {
    skipped = !fixtures();
  } else {
    for (size_t i = 0; i < document_count; i++) check_both(&documents[i], i);
    generated_documents();
  }
  uint64_t stops = tag_reader_stops(reader);
  tag_reader_destroy(reader);
  CHECK(skipped || stops);
  printf("%llu tags of %llu documents, %llu states at the ends of pieces\n", (unsigned long long)tags,
         (unsigned long long)compared, (unsigned long long)stops);
  return skipped ? CHECK_SKIPPED : check_report();
}
