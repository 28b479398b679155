#include "resources/values.h"

#include "html/dom/value.h"

#include <string.h>

static const hp_resource_attribute OTHER = HP_RESOURCE_ATTRIBUTES;

/* Returns the attribute with a name that has no fixed atom, or OTHER. */
static hp_resource_attribute find_unknown(hp_name name) {
  static const struct {
    const char *name;
    hp_resource_attribute attribute;
  } names[] = {
      {"event", HP_RESOURCE_EVENT},       {"imagesizes", HP_RESOURCE_IMAGESIZES},
      {"poster", HP_RESOURCE_POSTER},     {"imagesrcset", HP_RESOURCE_IMAGESRCSET},
      {"language", HP_RESOURCE_LANGUAGE}, {"shadowrootmode", HP_RESOURCE_SHADOWROOTMODE},
      {"nomodule", HP_RESOURCE_NOMODULE},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == name.length && !memcmp(names[i].name, name.bytes, name.length))
      return names[i].attribute;
  return OTHER;
}

static hp_resource_attribute find(const hpar_document *document, hp_atom name) {
  switch (name) {
    case HP_AS: return HP_RESOURCE_AS;
    case HP_ASYNC: return HP_RESOURCE_ASYNC;
    case HP_CHARSET: return HP_RESOURCE_CHARSET;
    case HP_CONTENT: return HP_RESOURCE_CONTENT;
    case HP_CROSSORIGIN: return HP_RESOURCE_CROSSORIGIN;
    case HP_DEFER: return HP_RESOURCE_DEFER;
    case HP_DISABLED: return HP_RESOURCE_DISABLED;
    case HP_FETCHPRIORITY: return HP_RESOURCE_FETCHPRIORITY;
    case HP_FOR: return HP_RESOURCE_FOR;
    case HP_HREF: return HP_RESOURCE_HREF;
    case HP_HTTP_EQUIV: return HP_RESOURCE_HTTP_EQUIV;
    case HP_INTEGRITY: return HP_RESOURCE_INTEGRITY;
    case HP_LOADING: return HP_RESOURCE_LOADING;
    case HP_MEDIA: return HP_RESOURCE_MEDIA;
    case HP_NAME: return HP_RESOURCE_NAME;
    case HP_NONCE: return HP_RESOURCE_NONCE;
    case HP_REFERRERPOLICY: return HP_RESOURCE_REFERRERPOLICY;
    case HP_REL: return HP_RESOURCE_REL;
    case HP_SIZES: return HP_RESOURCE_SIZES;
    case HP_SRC: return HP_RESOURCE_SRC;
    case HP_SRCSET: return HP_RESOURCE_SRCSET;
    case HP_TYPE: return HP_RESOURCE_TYPE;
    case HP_ADJUSTED_XLINK_HREF: return HP_RESOURCE_XLINK_HREF;
    default: return name < HP_KNOWN_ATOMS ? OTHER : find_unknown(hp_atom_name(&document->atoms, name));
  }
}

void hp_read_resource_values(const hp_tree_view *view, hp_ref element, hp_resource_values *values) {
  const hpar_document *document = view->document;
  const char *memory = document->range.base;
  const hp_node *node = hp_node_at(memory, element);
  values->present = 0;
  if (!node->attributes) return;
  const hp_attributes *block = hp_at(memory, node->attributes);
  for (uint32_t i = 0; i < block->count; i++) {
    hp_resource_attribute attribute = find(document, block->items[i].name);
    if (attribute == OTHER) continue;
    values->present |= UINT32_C(1) << attribute;
    values->of[attribute] =
        view->bytes ? hp_read_value(block, i, view->bytes) : hp_attribute_value(document, block, &block->items[i]);
  }
}
