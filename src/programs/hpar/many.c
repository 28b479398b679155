#include "programs/hpar/many.h"

#include "programs/hpar/pages.h"
#include "programs/hpar/report.h"

#include <stdlib.h>
#include <string.h>

typedef struct many {
  hp_pages pages;
  hpar_input *inputs; /* of those pages that could be read */
  const char **paths;
  hp_text *outputs;
  size_t count;
  const hpar_options *options;
  hp_format format;
} many;

/* On the thread that has parsed it: serialising is done side by side, too. */
static void serialize(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                      const hpar_stats *stats, unsigned thread, void *context) {
  many *m = context;
  (void)parser;
  (void)stats;
  (void)thread;
  if (m->format == HP_FORMAT_NONE || (input->status && input->status < HPAR_LIMIT_DEPTH)) return;
  hpar_node root = hpar_document_root(document);
  hpar_status status = m->format == HP_FORMAT_TREE
                           ? hpar_serialize_tree(document, root, hp_append_text, &m->outputs[index])
                           : hpar_serialize_html(document, root, m->options->scripting ? HPAR_HTML_SCRIPTING : 0,
                                                 hp_append_text, &m->outputs[index]);
  if (status) input->status = status;
}

static bool load(many *m, int *code) {
  size_t pages = m->pages.count ? m->pages.count : 1;
  m->inputs = calloc(pages, sizeof *m->inputs);
  m->paths = calloc(pages, sizeof *m->paths);
  m->outputs = calloc(pages, sizeof *m->outputs);
  if (!m->inputs || !m->paths || !m->outputs) return false;
  if (m->pages.failures) *code = HP_EXIT_FAILED;
  for (size_t i = 0; i < m->pages.count; i++) {
    hpar_input *input = &m->inputs[m->count];
    input->size = sizeof *input;
    input->bytes = hp_load(m->pages.paths[i], m->options->limits.input, &input->length);
    if (input->bytes)
      m->paths[m->count++] = m->pages.paths[i];
    else
      *code = HP_EXIT_FAILED;
  }
  return true;
}

static int print_trees(const many *m, int code) {
  for (size_t i = 0; i < m->count; i++) {
    hpar_status status = m->inputs[i].status;
    bool limit = status >= HPAR_LIMIT_DEPTH;
    if (limit) hp_complain("%s: %s; the tree ends there", hp_shown_name(m->paths[i]), hpar_status_text(status));
    if (limit && !code) code = HP_EXIT_FAILED;
    if (status && !limit) {
      int failed = hp_complain_status(m->paths[i], status);
      if (failed > code) code = failed;
    } else if (m->format != HP_FORMAT_NONE) {
      printf("%s==> %s <==\n", i ? "\n" : "", hp_shown_name(m->paths[i]));
      if (hp_write_file(m->outputs[i].bytes, m->outputs[i].length, stdout)) break;
    }
  }
  return hp_finish_output(code);
}

static int print_report(const hpar_many_stats *stats, hp_format format, hp_report report, int code) {
  FILE *file = format == HP_FORMAT_NONE ? stdout : stderr;
  if (report == HP_REPORT) hp_report_many(file, stats);
  if (report == HP_REPORT_JSON) {
    hp_json json = {.file = file};
    hp_report_many_json(&json, stats);
    fputc('\n', file);
  }
  return hp_finish_output(code);
}

static void close_all(many *m) {
  for (size_t i = 0; i < m->count; i++) {
    free((void *)m->inputs[i].bytes);
    free(m->outputs[i].bytes);
  }
  free(m->inputs);
  free(m->paths);
  free(m->outputs);
  hp_pages_free(&m->pages);
}

int hp_parse_many_files(char **operands, size_t count, const hpar_options *options, hp_format format,
                        hp_report report) {
  many m = {.options = options, .format = format};
  int code = HP_EXIT_FINE;
  bool memory = true;
  for (size_t i = 0; i < count && memory; i++) memory = hp_pages_add(&m.pages, operands[i]);
  hpar_parser *parser = NULL;
  hpar_many_stats stats = {HPAR_MANY_STATS_INIT};
  hpar_status status = memory && load(&m, &code) ? hpar_parser_create(&parser) : HPAR_ERROR_MEMORY;
  if (!status) status = hpar_parse_many(parser, options, m.inputs, m.count, &stats, serialize, &m);
  if (status)
    code = hp_complain_call(NULL, parser, status);
  else
    code = print_report(&stats, format, report, print_trees(&m, code));
  hpar_parser_destroy(parser);
  close_all(&m);
  return code;
}
