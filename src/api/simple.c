/* The calls for the simple case: one page, one selector, no callback. */

#include "base/call.h"
#include "base/memory.h"
#include "session/parser.h"
#include "session/session.h"
#include "text/position.h"
#include "url/links.h"

#include <hpar/hpar.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static hpar_status explain_status(hpar_error *error, hpar_status status) {
  return hp_set_error(error, status, 0, "%s", status ? hpar_status_text(status) : "");
}

/*** parsing ***/

/* Parses with a parser of its own. Destroying the parser waits for its late threads. */
static hpar_status parse_into(hpar_document *document, const char *bytes, size_t length, const hpar_options *options,
                              hpar_error *error) {
  hpar_parser *parser = NULL;
  hpar_status status = hpar_parser_create(&parser);
  if (status) return explain_status(error, status);
  status = hp_parse_call_inside(parser, options, bytes, length, document);
  if (error) *error = *hpar_parser_error(parser);
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
  hp_begin_use(&document->use);
  status = parse_into(document, bytes, length, options, error);
  bool has_tree = status == HPAR_OK || hp_is_limit(status), is_destroyed = hp_is_destroyed(&document->use);
  if (has_tree && is_destroyed) hp_set_error(error, HPAR_ERROR_ARGUMENT, 0, "a callback destroyed the document");
  hp_document_end_use(document);
  if (has_tree && !is_destroyed) return document;
  if (!is_destroyed) hpar_document_destroy(document);
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
  hpar_error reason;
  hpar_status status = HPAR_OK;
  if (options) status = hp_read_sized(&own, sizeof own, options, "hpar_options", "HPAR_OPTIONS_INIT", &reason);
  if (status) {
    hp_set_error(error, status, 0, "%s", reason.text);
    return NULL;
  }
  own.size = sizeof own;
  own.copy_input = true;
  return hpar_parse_bytes(bytes, length, &own, error);
}

hpar_document *hpar_parse_file(const char *path, const hpar_options *options, hpar_error *error) {
  FILE *file = path ? fopen(path, "rbe") : NULL;
  if (!path) {
    hp_set_error(error, HPAR_ERROR_ARGUMENT, 0, "path is NULL");
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
    hp_set_error(error, status, 0, "%.150s: %.90s", path,
                 status == HPAR_ERROR_IO ? strerror(reason) : hpar_status_text(status));
  }
  hp_free(bytes);
  return document;
}

/*** places ***/

void hpar_positions(const char *bytes, size_t length, const uint64_t *offsets, size_t count, hpar_position *positions) {
  if ((!bytes && length) || !offsets || !positions) return;
  hp_line_finder finder;
  hp_line_open(&finder, bytes, length);
  for (size_t i = 0; i < count; i++) {
    hp_position position = hp_line_of_byte(&finder, offsets[i]);
    positions[i] = (hpar_position){position.line, position.column};
  }
}

/*** lists ***/

/* The first part of the block of a list. The items follow, then bytes of strings. */
typedef struct list {
  size_t count;
  const void *items;
} list;

/* The lists of the headers have this layout, and hpar_list_destroy frees any of them. */
_Static_assert(sizeof(hpar_node_list) == sizeof(list), "a list is a number and an address");
_Static_assert(sizeof(hpar_link_list) == sizeof(list), "a list is a number and an address");
_Static_assert(sizeof(hpar_resource_list) == sizeof(list), "a list is a number and an address");

typedef struct growing {
  char *bytes;
  size_t length, capacity;
} growing;

/* A list that a walk fills. */
typedef struct collection {
  growing items, text;
  size_t count;
} collection;

static bool append(growing *to, const void *bytes, size_t length) {
  if (to->capacity - to->length < length) {
    size_t capacity = 2 * to->capacity + length + 256;
    char *more = hp_reallocate(to->bytes, capacity);
    if (!more) return false;
    to->bytes = more;
    to->capacity = capacity;
  }
  if (length) memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
  return true;
}

/* Appends an item and the bytes of its text. */
static hpar_status collect(collection *c, const void *item, size_t size, hpar_string text) {
  static const list empty = {0, NULL};
  if ((c->count || append(&c->items, &empty, sizeof empty)) && append(&c->items, item, size) &&
      append(&c->text, text.bytes, text.length)) {
    c->count++;
    return HPAR_OK;
  }
  return HPAR_ERROR_MEMORY;
}

/* Makes one block of items and text, and sets `*text` to the text in it. After a failure, or
 * without memory, frees everything and returns NULL. */
static void *finish(collection *c, hpar_status status, char **text, hpar_error *error) {
  static const list empty = {0, NULL};
  if (status == HPAR_OK && !c->count && !append(&c->items, &empty, sizeof empty)) status = HPAR_ERROR_MEMORY;
  size_t length = c->items.length + c->text.length;
  list *block = status == HPAR_OK ? hp_reallocate(c->items.bytes, length) : NULL;
  if (block) {
    *text = (char *)block + c->items.length;
    if (c->text.length) memcpy(*text, c->text.bytes, c->text.length);
    *block = (list){c->count, block + 1};
  } else {
    explain_status(error, status == HPAR_OK ? HPAR_ERROR_MEMORY : status);
    hp_free(c->items.bytes);
  }
  hp_free(c->text.bytes);
  return block;
}

void hpar_list_destroy(void *of) { hp_free(of); }

/*** selecting ***/

static hpar_status collect_node(hpar_node element, uint32_t selector, void *context) {
  (void)selector;
  return collect(context, &element, sizeof element, (hpar_string){NULL, 0});
}

static hpar_status note_first(hpar_node element, uint32_t selector, void *context) {
  (void)selector;
  *(hpar_node *)context = element;
  return HPAR_STOP;
}

/* Selects with a set of its own. */
static hpar_status select_with(hpar_match_callback callback, void *context, const hpar_document *document,
                               hpar_node top, const char *selector, hpar_error *error) {
  if (!document || !selector)
    return hp_set_error(error, HPAR_ERROR_ARGUMENT, 0, "%s is NULL", document ? "selector" : "document");
  hpar_selectors *set = NULL;
  hpar_status status = hpar_selectors_create(&set);
  if (status) return explain_status(error, status);
  hpar_error wrong;
  status = hpar_selectors_add(set, selector, strlen(selector), &wrong);
  if (status == HPAR_ERROR_ARGUMENT) {
    hp_set_error(error, status, wrong.offset, "selector \"%.100s\": %.120s", selector, wrong.text);
  } else {
    if (status == HPAR_OK) status = hpar_select(set, document, top, NULL, callback, context);
    explain_status(error, status);
  }
  hpar_selectors_destroy(set);
  return status;
}

hpar_node hpar_select_first(const hpar_document *document, hpar_node top, const char *selector, hpar_error *error) {
  hpar_node first = HPAR_NO_NODE;
  select_with(note_first, &first, document, top, selector, error);
  return first;
}

hpar_node_list *hpar_select_all(const hpar_document *document, hpar_node top, const char *selector, hpar_error *error) {
  collection c = {.count = 0};
  char *text;
  hpar_status status = select_with(collect_node, &c, document, top, selector, error);
  hpar_error *later = status == HPAR_OK ? error : NULL; /* select_with has explained its failure */
  return finish(&c, status, &text, later);
}

/*** links and resources ***/

static hpar_status collect_link(const hpar_link *link, void *context) {
  return collect(context, link, sizeof *link, link->url);
}

hpar_link_list *hpar_links_all(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                               hpar_error *error) {
  collection c = {.count = 0};
  char *text;
  hpar_error reason = {.text = ""};
  hpar_link_options own = {HPAR_LINK_OPTIONS_INIT};
  hpar_status status = HPAR_OK;
  if (options)
    status = hp_read_sized(&own, sizeof own, options, "hpar_link_options", "HPAR_LINK_OPTIONS_INIT", &reason);
  if (status == HPAR_OK) status = hp_report_links(document, top, &own, collect_link, &c, &reason);
  list *made = finish(&c, status, &text, NULL);
  hp_explain_status(&reason, made || status ? status : HPAR_ERROR_MEMORY);
  if (error) *error = reason;
  if (own.error) *own.error = reason;
  hpar_link *links = made ? (hpar_link *)(made + 1) : NULL;
  for (size_t i = 0; made && i < made->count; i++) {
    if (links[i].url.bytes) links[i].url.bytes = text;
    text += links[i].url.length;
  }
  return (hpar_link_list *)made;
}

/* Returns whether the URL may be a string that only lasts for the callback: that of an import may
 * have escapes, which CSS and scripts decode. */
static bool has_decoded_url(const hpar_resource *resource) {
  return resource->kind == HPAR_RESOURCE_IMPORT || resource->kind == HPAR_RESOURCE_MODULE_IMPORT;
}

static hpar_status collect_resource(const hpar_resource *resource, void *context) {
  hpar_string none = {NULL, 0};
  return collect(context, resource, sizeof *resource, has_decoded_url(resource) ? resource->url : none);
}

hpar_resource_list *hpar_resources_all(const hpar_document *document, hpar_node top, hpar_error *error) {
  collection c = {.count = 0};
  char *text;
  hpar_status status = hpar_resources(document, top, collect_resource, &c);
  explain_status(error, status);
  list *made = finish(&c, status, &text, error);
  if (!document) hp_set_error(error, status, 0, "document is NULL");
  hpar_resource *resources = made ? (hpar_resource *)(made + 1) : NULL;
  for (size_t i = 0; made && i < made->count; i++) {
    if (!has_decoded_url(&resources[i])) continue;
    resources[i].url.bytes = text;
    text += resources[i].url.length;
  }
  return (hpar_resource_list *)made;
}
