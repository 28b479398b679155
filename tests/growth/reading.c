/* Entries that read the tree of a page. */

#include "growth/entries.h"

#include <string.h>

enum { MOST_SELECTORS = 6 };

static const char *const sets[SELECT_VARIANTS][MOST_SELECTORS] = {
    {"p", ".c", "#d", "[k]"},
    {"div div div", "b b p", "x1 x2", "table *"},
    {"div > p", "b > b > *", "* > * > * > *"},
    {"p + p", "a + b + *", "* + * + *"},
    {"p ~ a", "b ~ b ~ *", "* ~ * ~ *"},
    {":nth-child(2n+1)", ":first-child", ":nth-of-type(3)", ":nth-child(2 of p)"},
    {":nth-last-child(2)", ":last-child", ":nth-last-of-type(2)", ":only-of-type", ":nth-last-child(2 of p)"},
    {":has(p)", ":has(> p)", ":has(b b)", ":has(:not(b))"},
    {":has(+ p)", ":has(~ a)", ":has(> p ~ a)", ":has(+ b > *)", ":not(:has(+ *))"},
    {":lang(en)", ":enabled", ":disabled", ":checked", ":empty", ":link"},
    {":not(:is(a, b)) :where(span, p)", ":is(div, b):not(:nth-child(2)) ~ *", ":root > *", ":scope > *"},
    {"p:nth-child(2) ~ b > :has(i)", ":is(* > *, * + *) *", ":not(* *)", ":only-child", "svg|*", "[class~=c7]"},
};
static hpar_selectors *selectors[SELECT_VARIANTS];

bool open_selectors(void) {
  for (unsigned set = 0; set < SELECT_VARIANTS; set++) {
    if (hpar_selectors_create(&selectors[set]) != HPAR_OK) return false;
    for (unsigned i = 0; i < MOST_SELECTORS && sets[set][i]; i++)
      if (hpar_selectors_add(selectors[set], sets[set][i], strlen(sets[set][i]), NULL) != HPAR_OK) return false;
  }
  return true;
}

void close_selectors(void) {
  for (unsigned set = 0; set < SELECT_VARIANTS; set++) hpar_selectors_destroy(selectors[set]);
}

static hpar_status count_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(uint64_t *)context;
  return HPAR_OK;
}

uint64_t run_select(const page *of, unsigned variant) {
  uint64_t matches = 0;
  hpar_select(selectors[variant], of->document, hpar_document_root(of->document), NULL, count_match, &matches);
  return matches;
}

static hpar_status count_bytes(const char *bytes, size_t length, void *context) {
  (void)bytes;
  *(uint64_t *)context += length;
  return HPAR_OK;
}

uint64_t run_text(const page *of, unsigned variant) {
  hpar_text_options options = {HPAR_TEXT_OPTIONS_INIT, .all_elements = variant != 0};
  uint64_t bytes = 0;
  hpar_text(of->document, hpar_document_root(of->document), &options, count_bytes, &bytes);
  return bytes;
}

uint64_t run_serialize(const page *of, unsigned variant) {
  uint64_t bytes = 0;
  hpar_node root = hpar_document_root(of->document);
  if (variant)
    hpar_serialize_tree(of->document, root, count_bytes, &bytes);
  else
    hpar_serialize_html(of->document, root, 0, count_bytes, &bytes);
  return bytes;
}

static hpar_status count_link(const hpar_link *link, void *context) {
  *(uint64_t *)context += 1 + link->url.length;
  return HPAR_OK;
}

uint64_t run_links(const page *of, unsigned variant) {
  hpar_link_options options = {HPAR_LINK_OPTIONS_INIT, .document_url = "http://a/b/c"};
  uint64_t size = 0;
  (void)variant;
  hpar_links(of->document, hpar_document_root(of->document), &options, count_link, &size);
  return size;
}

static hpar_status count_resource(const hpar_resource *resource, void *context) {
  (void)resource;
  ++*(uint64_t *)context;
  return HPAR_OK;
}

uint64_t run_resources(const page *of, unsigned variant) {
  uint64_t count = 0;
  (void)variant;
  hpar_resources(of->document, hpar_document_root(of->document), count_resource, &count);
  return count;
}

/* Reads all there is of each node. */
uint64_t run_walk(const page *of, unsigned variant) {
  const hpar_document *d = of->document;
  hpar_node root = hpar_document_root(d);
  uint64_t size = 0, start, end;
  (void)variant;
  for (hpar_node node = root; node; node = hpar_node_walk(d, root, node)) {
    hpar_attribute attribute;
    size += hpar_node_name(d, node).length + hpar_node_data(d, node).length;
    for (size_t i = 0; hpar_node_attribute_at(d, node, i, &attribute); i++) size += attribute.value.length;
    size += hpar_node_attribute_value(d, node, "k").length;
    hpar_node_start_tag_range(d, node, &start, &end);
    size += hpar_node_last_child(d, node) != 0;
  }
  return size;
}
