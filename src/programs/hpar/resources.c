/* hpar resources: the resources that pages refer to, and the events of a parse that finds them. */

#include "base/process.h"
#include "programs/hpar/json.h"
#include "programs/hpar/options.h"
#include "url/url.h"

#include <hpar/study.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An event or a resource, with copies of its texts. */
typedef struct row {
  uint64_t time; /* by hp_now */
  hpar_resource_event event;
  hpar_resource_kind kind;
  bool removed;
  unsigned thread;
  uint64_t offset;
  char *url;     /* NULL: none */
  char *details; /* ` key="value"` or `, "key": "value"` for each other attribute */
} row;

typedef struct request {
  const hp_command *command;
  hpar_options options;
  const char *base;
  bool json, early, scan;
  char **operands;
  size_t operand_count;
  /* of the current page */
  pthread_mutex_t lock; /* of the fields below, during a parse */
  row *rows;
  size_t count, capacity;
  size_t removed_to; /* after the last removed row */
  bool failed;       /* memory ran out */
  uint64_t begin;
  hp_url document_url, base_url;
} request;

/*** collecting ***/

static const struct {
  const char *name;
  size_t offset;
} texts[] = {
    {"srcset", offsetof(hpar_resource, srcset)},
    {"sizes", offsetof(hpar_resource, sizes)},
    {"media", offsetof(hpar_resource, media)},
    {"type", offsetof(hpar_resource, type)},
    {"as", offsetof(hpar_resource, as)},
    {"crossorigin", offsetof(hpar_resource, crossorigin)},
    {"integrity", offsetof(hpar_resource, integrity)},
    {"referrerpolicy", offsetof(hpar_resource, referrerpolicy)},
    {"fetchpriority", offsetof(hpar_resource, fetchpriority)},
    {"charset", offsetof(hpar_resource, charset)},
    {"nonce", offsetof(hpar_resource, nonce)},
    {"content", offsetof(hpar_resource, content)},
};
static const struct {
  const char *name;
  unsigned flag;
} flags[] = {{"async", HPAR_RESOURCE_ASYNC},
             {"defer", HPAR_RESOURCE_DEFER},
             {"lazy", HPAR_RESOURCE_LAZY},
             {"source", HPAR_RESOURCE_SOURCE},
             {"alternate", HPAR_RESOURCE_ALTERNATE}};

/* Writes the flags and the attributes, as members of a JSON object or as they are in a tag. */
static void write_details(FILE *file, const hpar_resource *resource, bool json) {
  hp_json writer = {.file = file};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (resource->flags & flags[i].flag) fprintf(file, json ? ", \"%s\": true" : " %s", flags[i].name);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const hpar_string *text = (const void *)((const char *)resource + texts[i].offset);
    if (!text->bytes) continue;
    fprintf(file, json ? ", \"%s\": " : " %s=", texts[i].name);
    writer.comma = writer.line = false;
    hp_json_string(&writer, *text);
  }
}

/* Appends a row. Requires: the lock is held, or the parse has ended. */
static void add_row(request *r, const hpar_resource *resource, row one) {
  if (r->count == r->capacity) {
    size_t capacity = r->capacity ? 2 * r->capacity : 64;
    row *rows = realloc(r->rows, capacity * sizeof *rows);
    if (!rows) {
      r->failed = true;
      return;
    }
    r->rows = rows;
    r->capacity = capacity;
  }
  size_t length;
  one.kind = resource->kind;
  one.thread = resource->thread;
  one.offset = resource->offset;
  one.url = resource->url.bytes ? strndup(resource->url.bytes, resource->url.length) : NULL;
  FILE *file = open_memstream(&one.details, &length);
  if (file) write_details(file, resource, r->json);
  r->failed |= (resource->url.bytes && !one.url) || !file || fclose(file);
  r->rows[r->count++] = one;
}

static void free_row(row *one) {
  free(one->url);
  free(one->details);
}

/* Removes the row of a resource that a scan has confirmed and then cancels. Parts that are scanned
 * again cancel their resources in order, so the search begins after the last removed row. */
static void remove_row(request *r, const hpar_resource *resource) {
  for (size_t n = 0; n < r->count; n++) {
    size_t i = (r->removed_to + n) % r->count;
    row *one = &r->rows[i];
    if (one->removed || one->offset != resource->offset || one->kind != resource->kind) continue;
    one->removed = true;
    r->removed_to = i + 1;
    return;
  }
}

static void note_event(const hpar_resource *resource, hpar_resource_event event, void *context) {
  request *r = context;
  row one = {.time = hp_now(), .event = event};
  pthread_mutex_lock(&r->lock);
  if (r->early || event == HPAR_RESOURCE_CONFIRMED)
    add_row(r, resource, one);
  else if (event == HPAR_RESOURCE_CANCELLED)
    remove_row(r, resource);
  pthread_mutex_unlock(&r->lock);
}

/* Sets the base URL from the value of the first base element, if it is valid. */
static void set_base(request *r, const char *value, size_t length) {
  const hp_url *document_url = r->document_url.length ? &r->document_url : NULL;
  hp_url *base = &r->base_url;
  bool fine = hp_url_parse(base, value, length, document_url);
  bool refused = fine && ((base->scheme_end == 5 && !memcmp(base->bytes, "data:", 5)) ||
                          (base->scheme_end == 11 && !memcmp(base->bytes, "javascript:", 11)));
  if (!fine || refused) base->length = 0;
}

static hpar_status find_base(const hpar_resource *resource, void *context) {
  if (resource->kind != HPAR_RESOURCE_BASE) return HPAR_OK;
  set_base(context, resource->url.bytes, resource->url.length);
  return HPAR_STOP;
}

/* Finds the base element among the rows of a scan. */
static void find_scanned_base(request *r) {
  for (size_t i = 0; i < r->count; i++) {
    const row *one = &r->rows[i];
    if (one->removed || one->kind != HPAR_RESOURCE_BASE || one->event != HPAR_RESOURCE_CONFIRMED || !one->url) continue;
    set_base(r, one->url, strlen(one->url));
    return;
  }
}

static hpar_status note_resource(const hpar_resource *resource, void *context) {
  request *r = context;
  add_row(r, resource, (row){.event = HPAR_RESOURCE_CONFIRMED});
  return !r->failed ? HPAR_OK : HPAR_STOP;
}

/*** printing ***/

static const char *event_name(hpar_resource_event event) {
  static const char *const names[] = {"found", "confirmed", "cancelled"};
  return names[event];
}

static double milliseconds(const request *r, const row *one) { return (double)(one->time - r->begin) / 1e6; }

/* Returns true if the specifier of an import is not a relative URL. */
static bool is_bare(const row *one) {
  if (one->kind != HPAR_RESOURCE_MODULE_IMPORT || !one->url) return false;
  return *one->url != '/' && strncmp(one->url, "./", 2) != 0 && strncmp(one->url, "../", 3) != 0;
}

/* Resolves the URL of a row. Returns NULL if it has no valid URL. */
static const hp_url *resolve(const request *r, const row *one, hp_url *url) {
  const hp_url *base = r->base_url.length ? &r->base_url : r->document_url.length ? &r->document_url : NULL;
  if (is_bare(one)) base = NULL;
  return one->url && hp_url_parse(url, one->url, strlen(one->url), base) ? url : NULL;
}

static void print_json(const request *r, const char *path, const row *one, const hp_url *url) {
  hp_json json = {.file = stdout};
  fputs("{\"file\": ", stdout);
  hp_json_text(&json, path);
  if (r->early)
    printf(", \"event\": \"%s\", \"ms\": %.4f, \"thread\": %u, \"offset\": %llu", event_name(one->event),
           milliseconds(r, one), one->thread, (unsigned long long)one->offset);
  printf(", \"kind\": \"%s\", \"value\": ", hpar_resource_kind_name(one->kind));
  json.comma = json.line = false;
  hp_json_text(&json, one->url);
  fputs(", \"url\": ", stdout);
  json.comma = json.line = false;
  if (url)
    hp_json_string(&json, (hpar_string){url->bytes, url->length});
  else
    hp_json_text(&json, NULL);
  printf("%s}\n", one->details);
}

/* A URL that cannot be resolved is printed as it is in the page. */
static void print_line(const request *r, const row *one, const hp_url *url) {
  if (r->early)
    printf("%9.4f  %-9s  %6u  %10llu  ", milliseconds(r, one), event_name(one->event), one->thread,
           (unsigned long long)one->offset);
  printf("%-13s  ", hpar_resource_kind_name(one->kind));
  if (url)
    hp_write_file(url->bytes, url->length, stdout);
  else
    fputs(one->url ? one->url : "-", stdout);
  puts(one->details);
}

static void print_rows(request *r, const char *path) {
  if (!r->json && r->operand_count > 1) printf("%s\n", hp_shown_name(path));
  if (!r->json && r->early) printf("%9s  %-9s  %6s  %10s  ", "ms", "event", "thread", "offset");
  if (!r->json) printf("%-13s  url\n", "kind");
  hp_url url = {0};
  for (size_t i = 0; i < r->count && !ferror(stdout); i++) {
    if (r->rows[i].removed) continue;
    const hp_url *resolved = resolve(r, &r->rows[i], &url);
    if (r->json)
      print_json(r, path, &r->rows[i], resolved);
    else
      print_line(r, &r->rows[i], resolved);
  }
  hp_url_close(&url);
}

/*** the command ***/

enum { JSON = 1, EARLY, IN_ORDER, SCAN, BASE };

static int take(const hp_arguments *arguments, int id, request *r) {
  switch (id) {
    case HP_ARGUMENT_OPERAND:
      r->operands[r->operand_count++] = (char *)arguments->value; // NOLINT: fits
      return -1;
    case JSON: r->json = true; return -1;
    case EARLY: r->early = true; return -1;
    case IN_ORDER: r->early = r->options.resources.in_order = true; return -1;
    case SCAN: r->scan = true; return -1;
    case BASE: r->base = arguments->value; return -1;
    case HP_ARGUMENT_HELP: return hp_finish_output(HP_EXIT_FINE);
    case HP_ARGUMENT_BAD: return HP_EXIT_USAGE;
    default: return hp_take_common(arguments, id, &r->options, NULL);
  }
}

static void forget_rows(request *r) {
  for (size_t i = 0; i < r->count; i++) free_row(&r->rows[i]);
  r->count = r->removed_to = 0;
  r->base_url.length = 0;
}

/* Returns the exit code for one file, or -1 if all is well. */
static int run_file(request *r, const char *path, hpar_parser *parser, hpar_document *document) {
  size_t length;
  char *bytes = hp_load(path, 0, &length);
  if (!bytes) return HP_EXIT_FAILED;
  r->begin = hp_now();
  hpar_status status = r->scan ? hpar_scan_resources(parser, &r->options, bytes, length)
                               : hpar_parse(parser, &r->options, bytes, length, document, NULL);
  int code = status ? hp_complain_call(path, parser, status) : -1;
  if (!status) {
    hpar_node root = hpar_document_root(document);
    if (r->scan)
      find_scanned_base(r);
    else
      hpar_resources(document, root, find_base, r);
    if (!r->scan && !r->early) hpar_resources(document, root, note_resource, r);
    if (r->failed)
      code = hp_complain_status(path, HPAR_ERROR_MEMORY);
    else
      print_rows(r, path);
  }
  hpar_document_clear(document); /* waits for a late thread, which may report */
  forget_rows(r);
  free(bytes);
  return code;
}

static int run_files(request *r) {
  if (!r->operand_count) return hp_bad_usage(r->command, "name a FILE, or - for standard input");
  if (r->base && !hp_url_parse(&r->document_url, r->base, strlen(r->base), NULL))
    return hp_bad_usage(r->command, "--base: '%s' is not a valid absolute URL", r->base);
  if (r->early || r->scan) {
    r->options.resources.callback = note_event;
    r->options.resources.context = r;
    /* A build may have no parallel parser. */
    bool parallel = hpar_predictor_name(0) && r->options.threads != 1;
    r->options.mode = parallel ? HPAR_MODE_PARALLEL : HPAR_MODE_SEQUENTIAL;
  }
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  int code = HP_EXIT_FINE;
  hpar_status status = hpar_parser_create(&parser);
  if (!status) status = hpar_document_create(&document);
  if (!status && (r->early || r->scan)) status = hpar_parser_prepare(parser, &r->options);
  if (status) code = hp_complain_status(NULL, status);
  for (size_t i = 0; !status && !ferror(stdout) && i < r->operand_count && code != HP_EXIT_USAGE; i++) {
    int one = run_file(r, r->operands[i], parser, document);
    if (one > code) code = one;
  }
  hpar_parser_destroy(parser);
  hpar_document_destroy(document);
  return hp_finish_output(code);
}

int hp_run_resources(int count, char **items) {
  static const hp_option options[] = {
      {JSON, "json", NULL, "print a line of JSON for each resource"},
      {EARLY, "early", NULL,
       "print the events of the parse: found by a thread, confirmed, cancelled;\nwith the time from its begin"},
      {IN_ORDER, "in-order", NULL, "print the events as --early does; threads find resources in document order"},
      {SCAN, "scan", NULL, "scan FILE without building a tree; with --early, print the events of the scan"},
      {BASE, "base", "URL", "the URL of each FILE, against which relative URLs are resolved"},
      {HP_OPTION_THREADS, "threads", "N", "threads of the parallel parser (0: one for each core)"},
      {HP_OPTION_SCRIPTING, "scripting", "on|off", "the scripting flag (off); no script is ever run"},
      {HP_OPTION_ENCODING, "encoding", "LABEL", "the encoding that FILE came with (default: found in FILE)"},
      {0, NULL, NULL, NULL},
  };
  static const hp_command command = {
      "resources", "FILE|-...",
      "Prints the resources of each FILE, or of standard input for -: scripts, styles and their imports,\n"
      "images, posters, media, tracks, frames, objects, refreshes, icons, manifests, preloads and\n"
      "prefetches, and base, policies and viewport. Of inline modules, the static imports are\n"
      "printed. A specifier that needs an import map is printed as it is. Left out are what other scripts\n"
      "name, and URLs in CSS except of imports. URLs are resolved against the page's base element and\n"
      "--base.",
      options};
  hp_arguments arguments = {.command = &command, .count = count, .items = items};
  request r = {.command = &command, .options = {HPAR_OPTIONS_INIT}, .lock = PTHREAD_MUTEX_INITIALIZER};
  r.operands = calloc((size_t)count + 1, sizeof *r.operands);
  int code = r.operands ? -1 : hp_complain_status(NULL, HPAR_ERROR_MEMORY);
  for (int id; code < 0 && (id = hp_next_argument(&arguments)) != HP_ARGUMENTS_END;) code = take(&arguments, id, &r);
  if (code < 0) code = run_files(&r);
  hp_url_close(&r.document_url);
  hp_url_close(&r.base_url);
  free(r.rows);
  free(r.operands);
  return code;
}
