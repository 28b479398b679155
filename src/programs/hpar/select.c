/* hpar select: the elements that CSS selectors match. */

#include "programs/hpar/json.h"
#include "programs/hpar/machine.h"
#include "programs/hpar/options.h"
#include "programs/hpar/pages.h"
#include "programs/hpar/select_stream.h"

#include <hpar/study.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SELECTOR = 1, PRINT, COUNT, STREAM, MODE, MANY, THREADS, REQUIRE, FRAGMENT, SCRIPTING, ENCODING };

typedef enum form { FORM_OUTER, FORM_INNER, FORM_TEXT, FORM_POSITION, FORM_JSON, FORM_ATTRIBUTE } form;

static const hp_option options[] = {
    {SELECTOR, "selector", "SELECTOR", "a further selector; with it, all operands are FILEs"},
    {PRINT, "print", "FORM",
     "outer (default), inner, text, attribute:NAME, position (bytes of the\nstart tag), json (one object a line)"},
    {COUNT, "count", NULL, "print the number of matches of each FILE only"},
    {STREAM, "stream", NULL,
     "select while the page is read, without a tree and in bounded memory;\nprints positions, or --count. Elements "
     "without a tag do not match.\nSelectors that depend on later input are refused"},
    {MODE, "mode", "auto|parallel|sequential",
     "read and search a page with several threads if it is large (auto, the\ndefault), always, or never; the output "
     "is the same"},
    {MANY, "many", NULL, "read several FILEs at once, one on each thread; the output is the same"},
    {THREADS, "threads", "N", "the threads of a page or, with --many, of all pages (0: one on each usable\ncore)"},
    {REQUIRE, "require", NULL, "exit with 1 if a selector matches nothing"},
    {FRAGMENT, "fragment", "CONTEXT", "parse as the contents of this element"},
    {SCRIPTING, "scripting", "on|off", "the scripting flag (off)"},
    {ENCODING, "encoding", "LABEL", "the encoding of FILE (default: found in FILE)"},
    {0, NULL, NULL, NULL},
};
static const hp_command command = {
    "select", "SELECTOR FILE|FOLDER|-...",
    "Prints the elements of each FILE, or of the pages of a FOLDER, that the CSS selector matches,\nin document order.",
    options};

typedef struct request {
  hpar_options options;
  hpar_selectors *selectors;
  const char **texts;        /* of the selectors */
  _Atomic uint64_t *matches; /* of each of them */
  const char **operands;
  size_t operand_count;
  form form;
  const char *attribute;
  bool counts, requires_all, many, streams, sets_mode, sets_form;
  bool names_files; /* each line begins with the file's name */
} request;

/* A page, and the output of its matches. */
typedef struct page {
  const request *request;
  const char *path;
  FILE *out;
  const hpar_document *document;
  unsigned threads; /* that search the tree; 0: one on each usable core */
  uint64_t matches;
  hpar_status status;
} page;

static int add_selector(request *r, const char *text) {
  hpar_error error;
  uint32_t number = hpar_selectors_count(r->selectors);
  hpar_status status = hpar_selectors_add(r->selectors, text, strlen(text), &error);
  if (status == HPAR_ERROR_MEMORY) return hp_complain_status(NULL, status);
  if (status) {
    hp_bad_usage(&command, "selector, byte %zu: %s", error.offset + 1, error.text);
    fprintf(stderr, "  %s\n  %*s^\n", text, (int)error.offset, "");
    return HP_EXIT_USAGE;
  }
  r->texts[number] = text;
  return -1;
}

static int take_form(const hp_arguments *arguments, request *r) {
  static const char *const forms[] = {"outer", "inner", "text", "position", "json", NULL};
  static const char prefix[] = "attribute:";
  size_t index = 0;
  if (!strncmp(arguments->value, prefix, sizeof prefix - 1)) {
    r->form = FORM_ATTRIBUTE;
    r->attribute = arguments->value + sizeof prefix - 1;
    return *r->attribute ? -1 : hp_bad_usage(&command, "--print attribute: needs a name, as in attribute:href");
  }
  while (forms[index] && strcmp(forms[index], arguments->value) != 0) index++;
  if (!forms[index])
    return hp_bad_usage(&command, "--print: '%s' is not outer, inner, text, attribute:NAME, position or json",
                        arguments->value);
  r->form = (form)index;
  return -1;
}

/* Returns an exit code, or -1 to go on. */
static int take(const hp_arguments *arguments, int id, request *r) {
  static const char *const switches[] = {"on", "off", NULL};
  static const char *const modes[] = {"auto", "sequential", "parallel", NULL}; /* as hpar_mode */
  size_t index = 0;
  uint64_t number;
  switch (id) {
    case HP_ARGUMENT_OPERAND: r->operands[r->operand_count++] = arguments->value; return -1;
    case SELECTOR: return add_selector(r, arguments->value);
    case PRINT: r->sets_form = true; return take_form(arguments, r);
    case COUNT: r->counts = true; return -1;
    case STREAM: r->streams = true; return -1;
    case MODE:
      if (!hp_value_word(arguments, modes, &index)) return HP_EXIT_USAGE;
      r->options.mode = (hpar_mode)index;
      r->sets_mode = true;
      return -1;
    case MANY: r->many = true; return -1;
    case THREADS:
      if (!hp_value_number(arguments, 0, HPAR_MAX_THREADS, &number)) return HP_EXIT_USAGE;
      r->options.threads = (unsigned)number;
      return -1;
    case REQUIRE: r->requires_all = true; return -1;
    case FRAGMENT: r->options.fragment = hp_value_fragment(arguments); return r->options.fragment ? -1 : HP_EXIT_USAGE;
    case SCRIPTING:
      if (!hp_value_word(arguments, switches, &index)) return HP_EXIT_USAGE;
      r->options.scripting = index == 0;
      return -1;
    case ENCODING: r->options.encoding = hp_value_encoding(arguments); return r->options.encoding ? -1 : HP_EXIT_USAGE;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    default: return HP_EXIT_USAGE;
  }
}

static hpar_status print_text(const page *p, hpar_node element) {
  hpar_status status = HPAR_OK;
  for (hpar_node node = element; !status && (node = hpar_node_walk(p->document, element, node));) {
    if (hpar_node_kind(p->document, node) != HPAR_NODE_TEXT) continue;
    hpar_string data = hpar_node_data(p->document, node);
    status = hp_write_file(data.bytes, data.length, p->out);
  }
  return status;
}

static hpar_status write_json_text(const char *bytes, size_t length, void *context) {
  return fwrite(bytes, 1, length, context) == length ? HPAR_OK : HPAR_ERROR_IO;
}

static void add_range(hp_json *json, const char *start_key, uint64_t start, const char *end_key, uint64_t end) {
  hp_json_key(json, start_key);
  hp_json_number(json, start);
  hp_json_key(json, end_key);
  hp_json_number(json, end);
}

static hpar_status attribute_key(hp_json *json, const hpar_attribute *attribute) {
  char *name = NULL;
  if (asprintf(&name, "%.*s%s%.*s", (int)attribute->prefix.length, attribute->prefix.bytes,
               attribute->prefix.length ? ":" : "", (int)attribute->local_name.length, attribute->local_name.bytes) < 0)
    return HPAR_ERROR_MEMORY;
  hp_json_key(json, name);
  free(name);
  return HPAR_OK;
}

/* Adds the source positions of the element's tags and of its attributes. */
static hpar_status add_positions(hp_json *json, const hpar_document *document, hpar_node element) {
  uint64_t start, end;
  if (hpar_node_start_tag_range(document, element, &start, &end)) add_range(json, "start", start, "end", end);
  if (hpar_node_end_tag_range(document, element, &start, &end)) {
    hp_json_key(json, "end_tag");
    hp_json_open(json, '{');
    add_range(json, "start", start, "end", end);
    hp_json_close(json, '}');
  }
  size_t count = hpar_node_attribute_count(document, element);
  hpar_attribute_range *ranges = calloc(count + 1, sizeof *ranges);
  if (!ranges) return HPAR_ERROR_MEMORY;
  count = hpar_node_attribute_ranges(document, element, 0, count, ranges);
  if (count) {
    hp_json_key(json, "attribute_positions");
    hp_json_open(json, '{');
  }
  hpar_attribute attribute;
  hpar_status status = HPAR_OK;
  for (size_t i = 0; i < count && hpar_node_attribute_at(document, element, i, &attribute); i++) {
    if (attribute_key(json, &attribute)) status = HPAR_ERROR_MEMORY;
    hp_json_open(json, '{');
    add_range(json, "name_start", ranges[i].name_start, "name_end", ranges[i].name_end);
    add_range(json, "value_start", ranges[i].value_start, "value_end", ranges[i].value_end);
    hp_json_close(json, '}');
  }
  if (count) hp_json_close(json, '}');
  free(ranges);
  return status;
}

/* Prints one object: file, selector, name, attributes, positions and outer HTML. */
static hpar_status print_json(const page *p, hpar_node element, uint32_t selector) {
  char *html = NULL;
  size_t length = 0;
  FILE *buffer = open_memstream(&html, &length);
  if (!buffer) return HPAR_ERROR_MEMORY;
  const request *r = p->request;
  hpar_status status =
      hpar_serialize_html(p->document, element, HPAR_HTML_OUTER | (r->options.scripting ? HPAR_HTML_SCRIPTING : 0),
                          write_json_text, buffer);
  if (fclose(buffer)) status = HPAR_ERROR_MEMORY;
  hp_json json = {.file = p->out};
  hp_json_open(&json, '{');
  hp_json_key(&json, "file");
  hp_json_text(&json, p->path);
  hp_json_key(&json, "selector");
  hp_json_text(&json, r->texts[selector]);
  hp_json_key(&json, "name");
  hp_json_string(&json, hpar_node_name(p->document, element));
  hp_json_key(&json, "attributes");
  hp_json_open(&json, '{');
  hpar_attribute attribute;
  for (size_t i = 0; hpar_node_attribute_at(p->document, element, i, &attribute); i++) {
    if (attribute_key(&json, &attribute)) status = HPAR_ERROR_MEMORY;
    hp_json_string(&json, attribute.value);
  }
  hp_json_close(&json, '}');
  if (!status) status = add_positions(&json, p->document, element);
  hp_json_key(&json, "html");
  hp_json_string(&json, (hpar_string){html ? html : "", length});
  hp_json_close(&json, '}');
  free(html);
  return status;
}

static hpar_status print_position(const page *p, hpar_node element) {
  uint64_t start, end;
  if (hpar_node_start_tag_range(p->document, element, &start, &end))
    fprintf(p->out, "%llu-%llu", (unsigned long long)start, (unsigned long long)end);
  else
    fputs("implied", p->out);
  return HPAR_OK;
}

static hpar_status print_match(const page *p, hpar_node element, uint32_t selector) {
  const request *r = p->request;
  hpar_string value;
  switch (r->form) {
    case FORM_OUTER:
      return hpar_serialize_html(p->document, element,
                                 HPAR_HTML_OUTER | (r->options.scripting ? HPAR_HTML_SCRIPTING : 0), hp_write_file,
                                 p->out);
    case FORM_INNER:
      return hpar_serialize_html(p->document, element, r->options.scripting ? HPAR_HTML_SCRIPTING : 0, hp_write_file,
                                 p->out);
    case FORM_TEXT: return print_text(p, element);
    case FORM_POSITION: return print_position(p, element);
    case FORM_JSON: return print_json(p, element, selector);
    case FORM_ATTRIBUTE:
      value = hpar_node_attribute_value(p->document, element, r->attribute);
      return hp_write_file(value.bytes ? value.bytes : "", value.length, p->out);
  }
  return HPAR_OK;
}

static hpar_status report(hpar_node element, uint32_t selector, void *context) {
  page *p = context;
  const request *r = p->request;
  atomic_fetch_add_explicit(&r->matches[selector], 1, memory_order_relaxed);
  p->matches++;
  if (r->counts) return HPAR_OK;
  if (r->form == FORM_ATTRIBUTE && !hpar_node_attribute_value(p->document, element, r->attribute).bytes) return HPAR_OK;
  if (r->names_files && r->form != FORM_JSON) fprintf(p->out, "%s: ", hp_shown_name(p->path));
  p->status = print_match(p, element, selector);
  if (!p->status && putc('\n', p->out) == EOF) p->status = HPAR_ERROR_IO;
  return p->status;
}

/* Prints the matches, or their number. */
static hpar_status print_page(page *p) {
  const request *r = p->request;
  const hpar_select_options options = {HPAR_SELECT_OPTIONS_INIT, .mode = HPAR_MODE_PARALLEL, .threads = p->threads};
  hpar_status status = hpar_select(r->selectors, p->document, hpar_document_root(p->document), &options, report, p);
  if (!status) status = p->status;
  if (status || !r->counts) return status;
  if (r->names_files) fprintf(p->out, "%s: ", hp_shown_name(p->path));
  fprintf(p->out, "%llu\n", (unsigned long long)p->matches);
  return HPAR_OK;
}

/* Returns an exit code. */
static int select_in(const request *r, const char *path, hpar_parser *parser, hpar_document *document) {
  size_t length;
  char *bytes = hp_load(path, UINT64_MAX, &length);
  if (!bytes) return HP_EXIT_FAILED;
  page p = {.request = r, .path = path, .out = stdout, .document = document, .threads = r->options.threads};
  if (r->options.mode == HPAR_MODE_SEQUENTIAL) p.threads = 1;
  hpar_status status = hpar_parse(parser, &r->options, bytes, length, document, NULL);
  if (!status) status = print_page(&p);
  hpar_document_clear(document);
  free(bytes);
  return !status || status == HPAR_ERROR_IO ? HP_EXIT_FINE : hp_complain_call(path, parser, status);
}

/* One page after the other. Returns an exit code. */
static int select_in_turn(const request *r, const hp_pages *pages, hpar_parser *parser) {
  hpar_document *document = NULL;
  hpar_status status = hpar_document_create(&document);
  int code = status ? hp_complain_status(NULL, status) : HP_EXIT_FINE;
  for (size_t i = 0; !status && i < pages->count && !ferror(stdout); i++) {
    int page_code = select_in(r, pages->paths[i], parser, document);
    if (page_code > code) code = page_code;
  }
  hpar_document_destroy(document);
  return code;
}

/*** several pages at once ***/

/* Pages that are in memory at once, with their outputs. */
enum { BATCH = 256 };

typedef struct batch {
  const request *request;
  const char *paths[BATCH];
  hpar_input inputs[BATCH];
  char *outputs[BATCH];
  size_t lengths[BATCH], count;
} batch;

/* Selects on the thread that has parsed the page. */
static void select_in_parsed(size_t index, hpar_input *input, const hpar_document *document, const hpar_parser *parser,
                             const hpar_stats *stats, unsigned thread, void *context) {
  batch *b = context;
  (void)parser, (void)stats, (void)thread;
  if (input->status) return;
  page p = {.request = b->request,
            .path = b->paths[index],
            .out = open_memstream(&b->outputs[index], &b->lengths[index]),
            .document = document,
            .threads = 1};
  input->status = p.out ? print_page(&p) : HPAR_ERROR_MEMORY;
  if (p.out && fclose(p.out)) input->status = HPAR_ERROR_MEMORY;
}

/* Prints and frees the outputs. Returns an exit code. */
static int finish_batch(batch *b, hpar_parser *parser) {
  int code = HP_EXIT_FINE;
  hpar_status status = hpar_parse_many(parser, &b->request->options, b->inputs, b->count, NULL, select_in_parsed, b);
  if (status) code = hp_complain_call(NULL, parser, status);
  for (size_t i = 0; i < b->count; i++) {
    if (!status && b->inputs[i].status) {
      int failed = hp_complain_status(b->paths[i], b->inputs[i].status);
      if (failed > code) code = failed;
    } else if (!status && b->outputs[i]) {
      hp_write_file(b->outputs[i], b->lengths[i], stdout);
    }
    free(b->outputs[i]);
    free((void *)b->inputs[i].bytes);
  }
  memset(b, 0, offsetof(batch, lengths));
  b->count = 0;
  return code;
}

static int select_in_many(const request *r, const hp_pages *pages, hpar_parser *parser) {
  batch *b = calloc(1, sizeof *b);
  int code = b ? HP_EXIT_FINE : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (size_t i = 0; b && i < pages->count && !ferror(stdout); i++) {
    size_t at = b->count;
    b->request = r;
    b->paths[at] = pages->paths[i];
    b->inputs[at].size = sizeof b->inputs[at];
    b->inputs[at].bytes = hp_load(pages->paths[i], UINT64_MAX, &b->inputs[at].length);
    int page_code = b->inputs[at].bytes ? HP_EXIT_FINE : HP_EXIT_FAILED;
    b->count += page_code == HP_EXIT_FINE;
    if (page_code > code) code = page_code;
    if (b->count < BATCH && i + 1 < pages->count) continue;
    page_code = finish_batch(b, parser);
    if (page_code > code) code = page_code;
  }
  free(b);
  return code;
}

/* Parses each page. Returns an exit code. */
static int select_in_trees(const request *r, const hp_pages *pages) {
  hpar_parser *parser = NULL;
  hpar_status status = hpar_parser_create(&parser);
  int code = status ? hp_complain_status(NULL, status) : HP_EXIT_FINE;
  if (!status) code = r->many ? select_in_many(r, pages, parser) : select_in_turn(r, pages, parser);
  hpar_parser_destroy(parser);
  return code;
}

static int select_in_streams(const request *r, const hp_pages *pages) {
  const hp_stream_query query = {.command = &command,
                                 .texts = r->texts,
                                 .count = hpar_selectors_count(r->selectors),
                                 .matches = r->matches,
                                 .options = {HPAR_REWRITE_OPTIONS_INIT, .encoding = r->options.encoding,
                                             .fragment = r->options.fragment, .no_scripting = !r->options.scripting,
                                             .quirks = true, .utf16 = HPAR_UTF16_REFUSE, .mode = r->options.mode,
                                             .threads = r->options.threads ? r->options.threads : hp_default_threads()},
                                 .prints_count = r->counts,
                                 .names_files = r->names_files};
  return hp_select_stream(&query, (const char *const *)pages->paths, pages->count);
}

static int select_in_all(request *r, const hp_pages *pages) {
  r->names_files = pages->count > 1;
  int code = r->streams ? select_in_streams(r, pages) : select_in_trees(r, pages);
  if (pages->failures && code == HP_EXIT_FINE) code = HP_EXIT_FAILED;
  for (uint32_t i = 0; r->requires_all && !code && i < hpar_selectors_count(r->selectors); i++) {
    if (r->matches[i]) continue;
    hp_complain("the selector %s matches nothing", r->texts[i]);
    code = HP_EXIT_FAILED;
  }
  return hp_finish_output(code);
}

static int run(request *r) {
  if (!hpar_selectors_count(r->selectors)) {
    if (!r->operand_count) return hp_bad_usage(&command, "name a SELECTOR and a FILE, or - for standard input");
    int code = add_selector(r, *r->operands);
    if (code >= 0) return code;
    r->operands++;
    r->operand_count--;
  }
  if (r->sets_mode && r->many) return hp_bad_usage(&command, "--mode and --many exclude each other");
  if (r->options.mode == HPAR_MODE_PARALLEL && !r->streams && !hpar_predictor_name(0)) {
    hp_complain(
        "--mode parallel: this build has no parallel parser; build with -DHPAR_PARALLEL=ON or leave the option out");
    return HP_EXIT_USAGE;
  }
  if (r->streams && r->many) return hp_bad_usage(&command, "--stream and --many exclude each other");
  if (r->streams && r->sets_form && r->form != FORM_POSITION)
    return hp_bad_usage(&command, "--stream prints positions only");
  if (!r->operand_count) return hp_bad_usage(&command, "name a FILE after the SELECTOR, or - for standard input");
  r->options.source_offsets = r->form == FORM_POSITION || r->form == FORM_JSON;
  hp_pages pages = {0};
  int code = -1;
  for (size_t i = 0; i < r->operand_count && code < 0; i++)
    if (!hp_pages_add(&pages, r->operands[i])) code = hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  if (code < 0) code = select_in_all(r, &pages);
  hp_pages_free(&pages);
  return code;
}

int hp_run_select(int count, char **items) {
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  size_t most = (size_t)count + 1;
  const char **operands = calloc(most, sizeof *operands);
  request r = {.options = {HPAR_OPTIONS_INIT},
               .texts = calloc(most, sizeof *r.texts),
               .matches = calloc(most, sizeof *r.matches),
               .operands = operands};
  bool memory = r.texts && r.matches && operands && !hpar_selectors_create(&r.selectors);
  int code = memory ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, &r);
  if (code < 0) code = run(&r);
  hpar_selectors_destroy(r.selectors);
  free(r.texts);
  free(r.matches);
  free(operands);
  return code;
}
