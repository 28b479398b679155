/* The links of a subtree: one walk, and short ways to resolve simple URLs. */

#include <hpar/resources.h>

#include "base/call.h"
#include "dom/value.h"
#include "url/link_values.h"
#include "url/plain.h"

#include <string.h>

typedef struct walk {
  const hpar_document *document;
  const char *memory; /* of the document's range */
  hp_url base, url;
  hp_plain_base plain;
  hpar_link_callback callback;
  void *context;
  hpar_status status; /* what it has returned */
  bool ended;
} walk;

static void report(walk *w, hpar_link *link) {
  if (w->ended) return;
  const char *value = link->value.bytes;
  size_t length = link->value.length;
  if (!hp_plain_resolve(&w->plain, &w->url, value, length, &link->url)) {
    bool fine = hp_url_parse(&w->url, value, length, w->base.length ? &w->base : NULL);
    link->url = fine ? (hpar_string){w->url.bytes, w->url.length} : (hpar_string){NULL, 0};
    for (size_t i = 0; fine && i < w->url.length; i++)
      link->host_not_converted |= (unsigned char)w->url.bytes[i] >= 0x80;
  }
  if (!w->url.failed) w->status = w->callback(link, w->context);
  w->ended = w->url.failed || w->status != HPAR_OK;
}

static void report_attribute(walk *w, hp_ref element, const hp_attributes *block, const hp_attribute *attribute,
                             uint16_t bit) {
  hp_name name = hp_atom_name(&w->document->atoms, attribute->name);
  hpar_link link = {.element = element, .attribute = {name.bytes, name.length}};
  hpar_string read = hp_attribute_value(w->document, block, attribute);
  const char *value = read.length ? read.bytes : "", *end = value + read.length;
  while (hp_next_link(bit, &value, end, &link.value)) report(w, &link);
}

static void visit(walk *w, hp_ref ref, const hp_node *element) {
  uint16_t wanted = hp_wanted_links(element);
  if (!wanted) return;
  const hp_attributes *block = hp_at(w->memory, element->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    uint16_t bit = hp_link_bit(w->document, block->items[i].name);
    if (wanted & bit) report_attribute(w, ref, block, &block->items[i], bit);
  }
}

hpar_status hp_report_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                            hpar_link_callback callback, void *context, hpar_error *error) {
  if (!document || !callback)
    return hp_explain(error, HPAR_ERROR_ARGUMENT, "%s is NULL", document ? "callback" : "document");
  const hp_encoding *queries = document->input.encoding;
  const char *label = options->query_encoding;
  if (label && !(queries = hp_encoding_for_label(label, strlen(label))))
    return hp_explain(error, HPAR_ERROR_ARGUMENT,
                      "hpar_link_options.query_encoding is \"%.60s\"; accepted: a label of the Encoding Standard",
                      label);
  hp_begin_use(&document->use);
  walk w = {.document = document, .memory = document->range.base, .callback = callback, .context = context};
  w.base.queries = w.url.queries = queries;
  hpar_status status = hp_find_link_base(document, options->document_url, &w.base);
  if (status == HPAR_ERROR_ARGUMENT)
    hp_explain(error, status, "hpar_link_options.document_url is \"%.100s\"; accepted: an absolute URL",
               options->document_url);
  hp_plain_base_open(&w.plain, &w.base);
  for (hp_ref ref = status ? 0 : top; ref && !w.ended; ref = hp_next_in_tree(w.memory, top, ref)) {
    const hp_node *node = hp_node_at(w.memory, ref);
    if (node->kind == HPAR_NODE_ELEMENT && node->attributes) visit(&w, ref, node);
  }
  if (!status) status = hp_end_of_walk(w.status);
  if (w.url.failed) status = HPAR_ERROR_MEMORY;
  hp_url_close(&w.base);
  hp_url_close(&w.url);
  hp_document_end_use(document);
  return status;
}

hpar_status hpar_links(const hpar_document *document, hpar_node top, const hpar_link_options *options,
                       hpar_link_callback callback, void *context) {
  hpar_link_options own = {HPAR_LINK_OPTIONS_INIT};
  hpar_status status =
      hp_read_options(&own, sizeof own, options, "hpar_link_options", "HPAR_LINK_OPTIONS_INIT", &own.error);
  if (status == HPAR_OK) status = hp_report_links(document, top, &own, callback, context, own.error);
  return hp_explain_status(own.error, status);
}
