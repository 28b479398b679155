#include "programs/hpar/equal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  hpar_node first, second;
} pair;

typedef struct walk {
  const hpar_document *first, *second;
  pair at;
  uint64_t number;
  pair *templates; /* the way back from the contents that the walk is in */
  size_t count, capacity;
} walk;

typedef struct line {
  char *at, *end;
} line;

static void put(line *out, const char *bytes, size_t length) {
  for (size_t i = 0; i < length && out->at < out->end; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    *out->at++ = byte < 0x20 || byte == 0x7F ? ' ' : bytes[i];
  }
  *out->at = 0;
}

static void put_text(line *out, const char *text) { put(out, text, strlen(text)); }
static void put_string(line *out, hpar_string string) { put(out, string.bytes, string.length); }

static void describe(const hpar_document *document, hpar_node node, char *text, size_t size) {
  line out = {text, text + size - 1};
  hpar_attribute attribute;
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_NONE: put_text(&out, "nothing"); break;
    case HPAR_NODE_DOCUMENT: put_text(&out, "the document"); break;
    case HPAR_NODE_FRAGMENT: put_text(&out, "template contents"); break;
    case HPAR_NODE_DOCTYPE:
      put_text(&out, "<!DOCTYPE ");
      put_string(&out, hpar_node_name(document, node));
      put_text(&out, ">");
      break;
    case HPAR_NODE_ELEMENT:
      put_text(&out, "<");
      if (hpar_node_namespace(document, node) == HPAR_NAMESPACE_SVG) put_text(&out, "svg ");
      if (hpar_node_namespace(document, node) == HPAR_NAMESPACE_MATHML) put_text(&out, "math ");
      put_string(&out, hpar_node_name(document, node));
      for (size_t i = 0; hpar_node_attribute_at(document, node, i, &attribute); i++) {
        put_text(&out, " ");
        put_string(&out, attribute.prefix);
        if (attribute.prefix.length) put_text(&out, " ");
        put_string(&out, attribute.local_name);
        put_text(&out, "=\"");
        put_string(&out, attribute.value);
        put_text(&out, "\"");
      }
      put_text(&out, ">");
      break;
    case HPAR_NODE_TEXT:
      put_text(&out, "\"");
      put_string(&out, hpar_node_data(document, node));
      put_text(&out, "\"");
      break;
    case HPAR_NODE_COMMENT:
      put_text(&out, "<!-- ");
      put_string(&out, hpar_node_data(document, node));
      put_text(&out, " -->");
      break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      put_text(&out, "<?");
      put_string(&out, hpar_node_name(document, node));
      put_text(&out, " ");
      put_string(&out, hpar_node_data(document, node));
      put_text(&out, "?>");
      break;
  }
}

static bool same(hpar_string a, hpar_string b) { return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length); }

static bool same_node(const walk *walk, hpar_node a, hpar_node b) {
  const hpar_document *first = walk->first, *second = walk->second;
  if (hpar_node_kind(first, a) != hpar_node_kind(second, b)) return false;
  if (hpar_node_namespace(first, a) != hpar_node_namespace(second, b)) return false;
  if (!same(hpar_node_name(first, a), hpar_node_name(second, b)) ||
      !same(hpar_node_data(first, a), hpar_node_data(second, b)))
    return false;
  if (!same(hpar_node_public_id(first, a), hpar_node_public_id(second, b))) return false;
  if (!same(hpar_node_system_id(first, a), hpar_node_system_id(second, b))) return false;
  size_t count = hpar_node_attribute_count(first, a);
  if (count != hpar_node_attribute_count(second, b)) return false;
  for (size_t i = 0; i < count; i++) {
    hpar_attribute x, y;
    hpar_node_attribute_at(first, a, i, &x);
    hpar_node_attribute_at(second, b, i, &y);
    if (x.ns != y.ns || !same(x.local_name, y.local_name) || !same(x.value, y.value)) return false;
  }
  return !hpar_node_template_contents(first, a) == !hpar_node_template_contents(second, b);
}

static bool differ(const walk *walk, pair at, hp_difference *difference) {
  difference->node = walk->number;
  describe(walk->first, at.first, difference->first, sizeof difference->first);
  describe(walk->second, at.second, difference->second, sizeof difference->second);
  return false;
}

static bool fail(const walk *walk, const char *first, const char *second, hp_difference *difference) {
  difference->node = walk->number;
  snprintf(difference->first, sizeof difference->first, "%s", first);
  snprintf(difference->second, sizeof difference->second, "%s", second);
  return false;
}

static bool links_hold(const hpar_document *document, hpar_node parent, hpar_node previous, hpar_node node) {
  if (!node) return hpar_node_last_child(document, parent) == previous;
  return hpar_node_parent(document, node) == parent && hpar_node_previous(document, node) == previous;
}

/* To `next`, which follows `previous` below `parent`; all of them may be 0 in both trees. */
static bool move(walk *walk, pair parent, pair previous, pair next, hp_difference *difference) {
  if (!next.first != !next.second) return differ(walk, next, difference);
  bool first = links_hold(walk->first, parent.first, previous.first, next.first);
  bool second = links_hold(walk->second, parent.second, previous.second, next.second);
  if (!first || !second)
    return fail(walk, first ? "links" : "broken links", second ? "links" : "broken links", difference);
  if (next.first) walk->at = next;
  return true;
}

static pair children(const walk *walk, pair at) {
  return (pair){hpar_node_first_child(walk->first, at.first), hpar_node_first_child(walk->second, at.second)};
}

static bool enter_template(walk *walk, pair contents, hp_difference *difference) {
  if (walk->count == walk->capacity) {
    size_t capacity = walk->capacity ? walk->capacity * 2 : 16;
    pair *grown = realloc(walk->templates, capacity * sizeof *grown);
    if (!grown) return fail(walk, "out of memory", "out of memory", difference);
    walk->templates = grown;
    walk->capacity = capacity;
  }
  walk->templates[walk->count++] = walk->at;
  walk->at = contents;
  return true;
}

static bool walk_both(walk *walk, hp_difference *difference) {
  const pair none = {0, 0}, top = walk->at;
  for (;; walk->number++) {
    if (!same_node(walk, walk->at.first, walk->at.second)) return differ(walk, walk->at, difference);
    pair contents = {hpar_node_template_contents(walk->first, walk->at.first),
                     hpar_node_template_contents(walk->second, walk->at.second)};
    if (contents.first) {
      if (!enter_template(walk, contents, difference)) return false;
      continue;
    }
    pair before = walk->at, child = children(walk, before);
    if (!move(walk, before, none, child, difference)) return false;
    while (!child.first) {
      before = walk->at;
      if (before.first == top.first) return true;
      if (walk->count && hpar_node_kind(walk->first, before.first) == HPAR_NODE_FRAGMENT) {
        walk->at = before = walk->templates[--walk->count];
        child = children(walk, before);
        if (!move(walk, before, none, child, difference)) return false;
        if (child.first) break;
      }
      pair parent = {hpar_node_parent(walk->first, before.first), hpar_node_parent(walk->second, before.second)};
      child = (pair){hpar_node_next(walk->first, before.first), hpar_node_next(walk->second, before.second)};
      if (!move(walk, parent, before, child, difference)) return false;
      if (!child.first) walk->at = parent;
    }
  }
}

bool hp_trees_equal(const hpar_document *first, const hpar_document *second, hp_difference *difference) {
  static const char *const quirks[] = {"no-quirks mode", "limited-quirks mode", "quirks mode"};
  walk walk = {.first = first, .second = second};
  if (hpar_document_quirks(first) != hpar_document_quirks(second)) {
    return fail(&walk, quirks[hpar_document_quirks(first)], quirks[hpar_document_quirks(second)], difference);
  }
  walk.at = (pair){hpar_document_root(first), hpar_document_root(second)};
  bool equal = walk_both(&walk, difference);
  free(walk.templates);
  return equal;
}
