/* hpar-audit search FRAGMENTS: searches for the shortest document with each kind of undetected
 * error of the 2013 scheme. Documents are sequences of up to FRAGMENTS fragments after <body>,
 * with one cut before a tag.
 *
 * hpar-audit pages CHUNKS FILE...: counts the undetected errors of the scheme on pages.
 *
 * Prints one JSON object. Exit status: 0 success, 1 failure, 2 wrong usage. */

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fragments[] = {
    "x",      "<a>",     "</a>",     "<b>",        "</b>",     "<p>",       "</p>",    "<div>",  "</div>",
    "<ul>",   "<li>",    "</li>",    "<h1>",       "</br>",    "<button>",  "<table>", "<tr>",   "<td>",
    "</td>",  "<form>",  "<select>", "<svg>",      "<g>",      "<!--x",     "-->",     "<a x='", "'>",
    "<head>", "</head>", "<base>",   "<noscript>", "<script>", "</script>",
};

static const char body[] = "<body>";

enum {
  FRAGMENTS = sizeof fragments / sizeof *fragments,
  MAX_FRAGMENTS = 5,
  MAX_BYTES = 128,
  BODY_BYTES = sizeof body - 1
};

typedef struct example {
  char text[MAX_BYTES];
  size_t length, cut;
} example;

static hpar_parser *parser;
static hpar_document *document;

static hpar_status parse(hpar_options *options, const hpar_study *study, const char *bytes, size_t length,
                         hpar_study_stats *stats) {
  options->mode = HPAR_MODE_PARALLEL;
  options->threads = 1;
  options->parallel.executor = HPAR_EXECUTOR_INLINE;
  options->study = study;
  return hpar_study_parse(parser, options, bytes, length, document, stats);
}

static bool audit_example(const example *e, hpar_study_stats *stats) {
  uint64_t cut = e->cut;
  const hpar_study study = {HPAR_STUDY_INIT, .strategy = "hpar2013", .cuts = &cut, .cut_count = 1};
  hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8"};
  return parse(&options, &study, e->text, e->length, stats) == HPAR_OK;
}

/* Writes the text of document `index` of those with `count` fragments. The cut comes after the
 * first `before` fragments. Returns false if the scheme does not cut there. */
static bool write_example(example *e, uint64_t index, unsigned count, unsigned before) {
  memcpy(e->text, body, BODY_BYTES);
  e->length = BODY_BYTES;
  for (unsigned i = 0; i < count; i++) {
    const char *fragment = fragments[index % FRAGMENTS];
    index /= FRAGMENTS;
    if (i == before) e->cut = e->length;
    memcpy(e->text + e->length, fragment, strlen(fragment));
    e->length += strlen(fragment);
  }
  const char *tag = e->text + e->cut;
  return tag[0] == '<' && tag[1] != '!';
}

static int search(unsigned most) {
  example shortest[HPAR_UNDETECTED_ERRORS] = {{{0}, 0, 0}};
  unsigned long long documents = 0, wrong = 0;
  uint64_t all = FRAGMENTS;
  for (unsigned count = 2; count <= most; count++) {
    all *= FRAGMENTS;
    for (uint64_t index = 0; index < all; index++) {
      for (unsigned before = 1; before < count; before++) {
        example e;
        hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
        if (!write_example(&e, index, count, before)) continue;
        if (!audit_example(&e, &stats)) return 1;
        documents++;
        wrong += stats.chunks_with_undetected_errors != 0;
        for (unsigned kind = 0; kind < HPAR_UNDETECTED_ERRORS; kind++)
          if (stats.undetected_errors_by_kind[kind] && (!shortest[kind].length || e.length < shortest[kind].length))
            shortest[kind] = e;
      }
    }
  }
  printf("{\"fragments\": %u, \"most\": %u, \"documents\": %llu, \"wrong\": %llu, \"kinds\": [", (unsigned)FRAGMENTS,
         most, documents, wrong);
  for (unsigned kind = 0; kind < HPAR_UNDETECTED_ERRORS; kind++) {
    const example *e = &shortest[kind];
    if (!e->length) {
      printf("%s\n{\"kind\": \"%s\"}", kind ? "," : "", hpar_undetected_error_name((hpar_undetected_error)kind));
      continue;
    }
    printf("%s\n{\"kind\": \"%s\", \"bytes\": %zu, \"before\": \"%.*s\", \"after\": \"%.*s\"}", kind ? "," : "",
           hpar_undetected_error_name((hpar_undetected_error)kind), e->length - BODY_BYTES, (int)(e->cut - BODY_BYTES),
           e->text + BODY_BYTES, (int)(e->length - e->cut), e->text + e->cut);
  }
  printf("\n]}\n");
  return 0;
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  if (file && !fseek(file, 0, SEEK_END)) {
    *length = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*length + 1);
    if (bytes && fread(bytes, 1, *length, file) != *length) {
      free(bytes);
      bytes = NULL;
    }
  }
  if (file) fclose(file);
  if (!bytes) perror(path);
  return bytes;
}

static int pages(size_t chunks, char **paths, size_t count) {
  hpar_study_stats sum = {HPAR_STUDY_STATS_INIT};
  size_t pages_wrong = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length = 0;
    char *bytes = read_file(paths[i], &length);
    const hpar_study study = {HPAR_STUDY_INIT, .strategy = "hpar2013"};
    hpar_options options = {HPAR_OPTIONS_INIT};
    hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
    options.parallel.chunks = chunks;
    bool parsed = bytes && parse(&options, &study, bytes, length, &stats) == HPAR_OK;
    free(bytes);
    if (!parsed) return 1;
    sum.chunks += stats.chunks;
    sum.rollbacks += stats.rollbacks;
    sum.aborts += stats.aborts;
    sum.respeculations += stats.respeculations;
    sum.chunks_with_undetected_errors += stats.chunks_with_undetected_errors;
    pages_wrong += stats.chunks_with_undetected_errors != 0;
    for (unsigned kind = 0; kind < HPAR_UNDETECTED_ERRORS; kind++)
      sum.undetected_errors_by_kind[kind] += stats.undetected_errors_by_kind[kind];
  }
  printf("{\"pages\": %zu, \"pages_wrong\": %zu, \"chunks\": %llu, \"chunks_wrong\": %llu, \"respeculations\": %llu,"
         " \"rollbacks\": %llu, \"aborts\": %llu, \"kinds\": {",
         count, pages_wrong, (unsigned long long)sum.chunks, (unsigned long long)sum.chunks_with_undetected_errors,
         (unsigned long long)sum.respeculations, (unsigned long long)sum.rollbacks, (unsigned long long)sum.aborts);
  for (unsigned kind = 0; kind < HPAR_UNDETECTED_ERRORS; kind++)
    printf("%s\"%s\": %llu", kind ? ", " : "", hpar_undetected_error_name((hpar_undetected_error)kind),
           (unsigned long long)sum.undetected_errors_by_kind[kind]);
  printf("}}\n");
  return 0;
}

int main(int count, char **arguments) {
  size_t number = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
  bool searches = count == 3 && !strcmp(arguments[1], "search") && number > 1 && number <= MAX_FRAGMENTS;
  if (!searches && (count < 4 || strcmp(arguments[1], "pages") != 0 || !number)) {
    fputs("usage: hpar-audit search FRAGMENTS\n       hpar-audit pages CHUNKS FILE...\n", stderr);
    return 2;
  }
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) return 1;
  int status = searches ? search((unsigned)number) : pages(number, arguments + 3, (size_t)count - 3);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  if (status) fputs("hpar-audit: a parse failed\n", stderr);
  return status;
}
