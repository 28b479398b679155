/* hpar text and hpar links: the text and the links of a page. */

#include "programs/hpar/json.h"
#include "programs/hpar/options.h"

#include <stdlib.h>
#include <string.h>

/* Output in pieces of 64 KB: a link takes less time to copy than stdio takes to be called. */
typedef struct sink {
  char bytes[1 << 16];
  size_t used;
  hpar_status status;
} sink;

static void flush(sink *to) {
  hpar_status status = hp_write_file(to->bytes, to->used, stdout);
  if (!to->status) to->status = status;
  to->used = 0;
}

static void put(sink *to, const char *bytes, size_t length) {
  if (length > sizeof to->bytes - to->used) flush(to);
  if (length > sizeof to->bytes) {
    hpar_status status = hp_write_file(bytes, length, stdout);
    if (!to->status) to->status = status;
    return;
  }
  memcpy(to->bytes + to->used, bytes, length);
  to->used += length;
}

static void put_text(sink *to, const char *text) { put(to, text, strlen(text)); }

/* Writes the contents of a JSON string. `text` is UTF-8. */
static void put_escaped(sink *to, const char *text, size_t length) {
  static const char digits[] = "0123456789abcdef";
  const char *at = text, *end = text + length, *run = text;
  for (; at < end; at++) {
    unsigned char byte = (unsigned char)*at;
    if (byte >= ' ' && byte != '"' && byte != '\\') continue;
    put(to, run, (size_t)(at - run));
    run = at + 1;
    char escape[] = {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    if (byte == '"' || byte == '\\') {
      escape[1] = (char)byte;
      put(to, escape, 2);
    } else if (byte == '\n') {
      put_text(to, "\\n");
    } else {
      put(to, escape, sizeof escape);
    }
  }
  put(to, run, (size_t)(end - run));
}

static void put_string(sink *to, const char *key, hpar_string string) {
  put_text(to, key);
  put_text(to, "\"");
  put_escaped(to, string.bytes, string.length);
  put_text(to, "\"");
}

/* Returns `{"file": "..."`, to be freed, or NULL. A file name may have bytes that are not UTF-8. */
static char *json_prefix(const char *path) {
  char *text = NULL;
  size_t length;
  hp_json json = {.file = open_memstream(&text, &length)};
  if (!json.file) return NULL;
  fputs("{\"file\": ", json.file);
  hp_json_text(&json, path);
  if (!fclose(json.file)) return text;
  free(text);
  return NULL;
}

enum { JSON = 1, ALL, KEEP, NO_BREAKS, BASE };

typedef struct request {
  const hp_command *command;
  int (*print)(struct request *request, const char *path, const hpar_document *document);
  hpar_options options;
  hpar_text_options text;
  hpar_link_options link;
  bool json;
  char **operands;
  size_t operand_count;
  const hpar_document *document;
  char *prefix; /* of a line of JSON */
  char last;    /* byte of the text */
  sink out;
} request;

static hpar_status put_piece(const char *bytes, size_t length, void *context) {
  request *r = context;
  if (r->json)
    put_escaped(&r->out, bytes, length);
  else
    put(&r->out, bytes, length);
  r->last = bytes[length - 1];
  return r->out.status;
}

static int print_text(request *r, const char *path, const hpar_document *document) {
  r->last = '\n';
  if (r->json) {
    put_text(&r->out, r->prefix);
    put_text(&r->out, ", \"text\": \"");
  }
  hpar_status status = hpar_text(document, hpar_document_root(document), &r->text, put_piece, r);
  if (r->json) put_text(&r->out, "\"}\n");
  if (!r->json && r->last != '\n') put_text(&r->out, "\n");
  return status && status != HPAR_ERROR_IO ? hp_complain_status(path, status) : -1;
}

static hpar_status put_link(const hpar_link *link, void *context) {
  request *r = context;
  sink *out = &r->out;
  if (!r->json) {
    if (!link->url.bytes) return HPAR_OK;
    put(out, link->url.bytes, link->url.length);
    put_text(out, "\n");
    return out->status;
  }
  put_text(out, r->prefix);
  put_string(out, ", \"element\": ", hpar_node_name(r->document, link->element));
  put_string(out, ", \"attribute\": ", link->attribute);
  put_string(out, ", \"value\": ", link->value);
  if (link->url.bytes)
    put_string(out, ", \"url\": ", link->url);
  else
    put_text(out, ", \"url\": null");
  if (link->host_not_converted) put_text(out, ", \"host_not_converted\": true");
  put_text(out, "}\n");
  return out->status;
}

static int print_links(request *r, const char *path, const hpar_document *document) {
  r->document = document;
  hpar_status status = hpar_links(document, hpar_document_root(document), &r->link, put_link, r);
  if (status == HPAR_ERROR_ARGUMENT)
    return hp_bad_usage(r->command, "--base: '%s' is not a valid absolute URL", r->link.document_url);
  return status && status != HPAR_ERROR_IO ? hp_complain_status(path, status) : -1;
}

static int take(const hp_arguments *arguments, int id, request *r) {
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      r->operands[r->operand_count++] = (char *)arguments->value; // NOLINT: fits
      return -1;
    case JSON: r->json = true; return -1;
    case ALL: r->text.all_elements = true; return -1;
    case KEEP: r->text.keep_white_space = true; return -1;
    case NO_BREAKS: r->text.no_breaks = true; return -1;
    case BASE: r->link.document_url = arguments->value; return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default: return hp_take_common(arguments, id, &r->options, NULL);
  }
}

/* Returns the exit code for one file, or -1 if all is well. */
static int run_file(request *r, const char *path, hpar_parser *parser, hpar_document *document) {
  size_t length;
  char *bytes = hp_load(path, 0, &length);
  if (!bytes) return HP_EXIT_FAILED;
  r->prefix = r->json ? json_prefix(path) : NULL;
  hpar_status status = r->json && !r->prefix ? HPAR_ERROR_MEMORY : HPAR_OK;
  if (!status) status = hpar_parse(parser, &r->options, bytes, length, document, NULL);
  int code = status ? hp_complain_call(path, parser, status) : r->print(r, path, document);
  hpar_document_clear(document);
  free(r->prefix);
  free(bytes);
  return code;
}

static int run_files(request *r) {
  if (!r->operand_count) return hp_bad_usage(r->command, "name a FILE, or - for standard input");
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  int code = HP_EXIT_FINE;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (status) code = hp_complain_status(NULL, status);
  for (size_t i = 0; !status && !r->out.status && i < r->operand_count && code != HP_EXIT_USAGE; i++) {
    int one = run_file(r, r->operands[i], parser, document);
    if (one > code) code = one;
  }
  flush(&r->out);
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  return hp_finish_output(code);
}

static int run(const hp_command *command, int (*print)(request *, const char *, const hpar_document *), int count,
               char **items) {
  hp_arguments arguments = {.command = command, .count = count, .items = items};
  request *r = calloc(1, sizeof *r);
  char **operands = calloc((size_t)count + 1, sizeof *operands);
  int code = r && operands ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  if (code < 0) {
    r->command = command;
    r->print = print;
    r->operands = operands;
    r->options.size = sizeof r->options;
    r->text.size = sizeof r->text;
    r->link.size = sizeof r->link;
  }
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, r);
  if (code < 0) code = run_files(r);
  free(operands);
  free(r);
  return code;
}

#define SHARED_OPTIONS                                                                                   \
  {HP_OPTION_THREADS, "threads", "N", "threads for the parallel parser (0: one a core)"},                \
      {HP_OPTION_SCRIPTING, "scripting", "on|off", "the scripting flag (off); no script is ever run"}, { \
    HP_OPTION_ENCODING, "encoding", "LABEL", "the encoding that FILE came with (default: found in FILE)" \
  }

int hp_run_text(int count, char **items) {
  static const hp_option options[] = {
      {JSON, "json", NULL, "print a line of JSON for each FILE: {\"file\", \"text\"}"},
      {ALL, "all", NULL, "include script, style, hidden elements and others that browsers\ndo not render"},
      {KEEP, "keep-white-space", NULL, "do not collapse white space"},
      {NO_BREAKS, "no-breaks", NULL, "break no lines at block elements"},
      SHARED_OPTIONS,
      {0, NULL, NULL, NULL},
  };
  static const hp_command command = {
      "text", "FILE|-...",
      "Prints the text of each FILE, or of standard input for -: one line for each block, white\n"
      "space collapsed, without elements that browsers do not render.",
      options};
  return run(&command, print_text, count, items);
}

int hp_run_links(int count, char **items) {
  static const hp_option options[] = {
      {JSON, "json", NULL,
       "print a line of JSON for each link: {\"file\", \"element\", \"attribute\",\n\"value\", \"url\"}; the url is "
       "null "
       "if it is not valid"},
      {BASE, "base", "URL", "the URL of each FILE, against which relative links are resolved"},
      SHARED_OPTIONS,
      {0, NULL, NULL, NULL},
  };
  static const hp_command command = {
      "links", "FILE|-...",
      "Prints the links of each FILE, or of standard input for -: one URL for each line, resolved\n"
      "against the page's base element and --base. Links without a valid URL are left out.",
      options};
  return run(&command, print_links, count, items);
}
