/* The calls for the simple case: one page, one selector, no callback. */

#include "base/call_error.h"
#include "base/memory.h"
#include "base/sized.h"

#include <hpar/hpar.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Sets `error`, unless it is NULL. Returns `status`. */
__attribute__((format(printf, 4, 5))) static hpar_status explain(hpar_error *error, hpar_status status, uint64_t offset,
                                                                 const char *format, ...) {
  if (!error) return status;
  error->status = status;
  error->offset = offset;
  va_list values;
  va_start(values, format);
  vsnprintf(error->text, sizeof error->text, format, values);
  va_end(values);
  return status;
}

static hpar_status explain_status(hpar_error *error, hpar_status status) {
  return explain(error, status, 0, "%s", status ? hpar_status_text(status) : "");
}

/*** parsing ***/

/* Parses with a parser of its own. Destroying the parser waits for its late threads. */
static hpar_status parse_into(hpar_document *document, const char *bytes, size_t length, const hpar_options *options,
                              hpar_error *error) {
  hpar_parser *parser = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (status) return explain_status(error, status);
  status = hpar_parse(parser, options, bytes, length, document, NULL);
  explain(error, status, 0, "%s", hpar_parser_error(parser));
  hpar_parser_destroy(parser);
  return status;
}

hpar_document *hpar_parse_bytes(const char *bytes, size_t length, const hpar_options *options, hpar_error *error) {
  hpar_document *document = NULL;
  hpar_status status = hpar_document_create(&document);
  if (status) {
    explain_status(error, status);
    return NULL;
  }
  status = parse_into(document, bytes, length, options, error);
  if (status == HPAR_OK || status >= HPAR_LIMIT_DEPTH) return document;
  hpar_document_destroy(document);
  return NULL;
}

/* Reads all of a file into `*bytes`, which the caller frees. */
static hpar_status read_file(FILE *file, char **bytes, size_t *length) {
  size_t capacity = 0;
  for (*length = 0;; *length += fread(*bytes + *length, 1, capacity - *length, file)) {
    if (ferror(file)) return HPAR_ERROR_IO;
    if (feof(file)) return HPAR_OK;
    if (*length > HPAR_MAX_INPUT) return HPAR_ERROR_TOO_LARGE;
    if (*length < capacity) continue;
    capacity = capacity ? 2 * capacity : 64 << 10;
    char *more = hp_reallocate(*bytes, capacity);
    if (!more) return HPAR_ERROR_MEMORY;
    *bytes = more;
  }
}

/* Parses bytes that do not stay: the document copies them. The options get the library's own size,
 * because an older program's size leaves copy_input out, and a newer one's reaches beyond `own`. */
static hpar_document *parse_copy(const char *bytes, size_t length, const hpar_options *options, hpar_error *error) {
  hpar_options own = {HPAR_OPTIONS_INIT};
  hp_call_error reason;
  hpar_status status = HPAR_OK;
  if (options) status = hp_read_sized(&own, sizeof own, options, "hpar_options", "HPAR_OPTIONS_INIT", &reason);
  if (status) {
    explain(error, status, 0, "%s", reason.bytes);
    return NULL;
  }
  own.size = sizeof own;
  own.copy_input = true;
  return hpar_parse_bytes(bytes, length, &own, error);
}

hpar_document *hpar_parse_file(const char *path, const hpar_options *options, hpar_error *error) {
  FILE *file = path ? fopen(path, "rbe") : NULL;
  if (!path) {
    explain(error, HPAR_ERROR_ARGUMENT, 0, "path is NULL");
    return NULL;
  }
  char *bytes = NULL;
  size_t length = 0;
  hpar_status status = file ? read_file(file, &bytes, &length) : HPAR_ERROR_IO;
  int reason = errno;
  if (file) fclose(file);
  hpar_document *document = NULL;
  if (status == HPAR_OK) {
    document = parse_copy(bytes, length, options, error);
  } else {
    explain(error, status, 0, "%.150s: %.90s", path,
            status == HPAR_ERROR_IO ? strerror(reason) : hpar_status_text(status));
  }
  hp_free(bytes);
  return document;
}

/*** selecting ***/

/* What a walk over the matches collects. */
typedef struct collection {
  hpar_node *nodes;
  size_t count, capacity, most;
  hpar_status status;
} collection;

static bool collect(hpar_node element, uint32_t selector, void *context) {
  collection *c = context;
  (void)selector;
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? 2 * c->capacity : c->most < 16 ? c->most : 16;
    hpar_node *more = hp_reallocate(c->nodes, capacity * sizeof *more);
    if (!more) c->status = HPAR_ERROR_MEMORY;
    if (!more) return false;
    c->nodes = more;
    c->capacity = capacity;
  }
  c->nodes[c->count++] = element;
  return c->count < c->most;
}

/* Selects with a set of its own. The caller frees c->nodes. */
static hpar_status select_into(collection *c, const hpar_document *document, hpar_node top, const char *selector,
                               hpar_error *error) {
  if (!document || !selector)
    return explain(error, HPAR_ERROR_ARGUMENT, 0, "%s is NULL", document ? "selector" : "document");
  hpar_selectors *set = NULL;
  hpar_status status = hpar_selectors_create(&set);
  if (status) return explain_status(error, status);
  hpar_selector_error wrong = {0};
  status = hpar_selectors_add(set, selector, strlen(selector), &wrong);
  if (status == HPAR_ERROR_ARGUMENT) {
    explain(error, status, wrong.offset, "selector \"%.100s\": %s", selector, wrong.reason);
  } else {
    if (status == HPAR_OK) status = hpar_select(set, document, top, collect, c);
    if (status == HPAR_OK) status = c->status;
    explain_status(error, status);
  }
  hpar_selectors_destroy(set);
  return status;
}

hpar_node hpar_select_first(const hpar_document *document, hpar_node top, const char *selector, hpar_error *error) {
  collection c = {.most = 1};
  hpar_status status = select_into(&c, document, top, selector, error);
  hpar_node first = status == HPAR_OK && c.count ? c.nodes[0] : HPAR_NO_NODE;
  hp_free(c.nodes);
  return first;
}

hpar_node_list *hpar_select_all(const hpar_document *document, hpar_node top, const char *selector, hpar_error *error) {
  collection c = {.most = SIZE_MAX};
  hpar_status status = select_into(&c, document, top, selector, error);
  hpar_node_list *list = status == HPAR_OK ? hp_allocate(sizeof *list) : NULL;
  if (list) {
    *list = (hpar_node_list){c.count, c.nodes};
    return list;
  }
  if (status == HPAR_OK) explain_status(error, HPAR_ERROR_MEMORY);
  hp_free(c.nodes);
  return NULL;
}

void hpar_node_list_destroy(hpar_node_list *list) {
  if (list) hp_free((void *)(uintptr_t)list->nodes);
  hp_free(list);
}
