/* Hashes of resources, and shadow roots. */

#include "resources/describe.h"

#include "base/bytes.h"
#include "base/process.h"

#include <string.h>

/* Returns true if the string is `word`, which is in lower case. Ignores the case of the string. */
static bool is(hpar_string s, const char *word) {
  return s.length == strlen(word) && hp_ascii_equal(s.bytes, word, s.length);
}

static const hp_node *node_of(const hp_tree_view *view, hp_ref ref) {
  return hp_node_at(view->document->range.base, ref);
}

static uint64_t hash_text(uint64_t hash, hpar_string text) {
  uint64_t word = 0;
  hash = hp_hash_mix(hash + text.length);
  for (; text.length >= sizeof word; text.bytes += sizeof word, text.length -= sizeof word) {
    memcpy(&word, text.bytes, sizeof word);
    hash = hp_hash_mix(hash ^ word);
  }
  word = 0;
  if (text.length) memcpy(&word, text.bytes, text.length);
  return hp_hash_mix(hash ^ word);
}

uint64_t hp_hash_resource(uint64_t hash, const hpar_resource *resource) {
  return hash_text(hash_text(hash + resource->kind, resource->url), resource->srcset);
}

//§ valid-shadow-host-name
bool hp_is_shadow_host(hp_atom name, hp_name text) {
  switch (name) {
    case HP_ATOM_ARTICLE:
    case HP_ATOM_ASIDE:
    case HP_ATOM_BLOCKQUOTE:
    case HP_ATOM_BODY:
    case HP_ATOM_DIV:
    case HP_ATOM_FOOTER:
    case HP_ATOM_H1:
    case HP_ATOM_H2:
    case HP_ATOM_H3:
    case HP_ATOM_H4:
    case HP_ATOM_H5:
    case HP_ATOM_H6:
    case HP_ATOM_HEADER:
    case HP_ATOM_MAIN:
    case HP_ATOM_NAV:
    case HP_ATOM_P:
    case HP_ATOM_SECTION:
    case HP_ATOM_SPAN: return true;
    default: break;
  }
  return name >= HP_KNOWN_ATOMS && memchr(text.bytes, '-', text.length);
}

static bool is_host(const hp_tree_view *view, hp_ref ref) {
  const hp_node *node = node_of(view, ref);
  if (node->kind != HPAR_NODE_ELEMENT || node->ns != HPAR_NAMESPACE_HTML) return false;
  return hp_is_shadow_host(node->name, hp_atom_name(&view->document->atoms, node->name));
}

//§ parsing-main-inhead
hp_shadow_root hp_is_shadow_root(const hp_tree_view *view, hp_ref template) {
  hp_resource_values values;
  hp_read_resource_values(view, template, &values);
  hpar_string mode = hp_resource_value(&values, HP_RESOURCE_SHADOWROOTMODE);
  hp_ref parent = hp_parent_of(view->document->range.base, node_of(view, template));
  if (!is(mode, "open") && !is(mode, "closed")) return HP_SHADOW_NO;
  if (!parent) return HP_SHADOW_UNSURE;
  return is_host(view, parent) ? HP_SHADOW_YES : HP_SHADOW_NO;
}
