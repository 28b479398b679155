#include "resources/values.h"

#include "dom/value.h"

#include <string.h>

const uint8_t hp_resource_attributes[HP_KNOWN_ATOMS] = {
    [HP_ATOM_AS] = HP_RESOURCE_AS,
    [HP_ATOM_ASYNC] = HP_RESOURCE_ASYNC,
    [HP_ATOM_BACKGROUND] = HP_RESOURCE_BACKGROUND,
    [HP_ATOM_CHARSET] = HP_RESOURCE_CHARSET,
    [HP_ATOM_CONTENT] = HP_RESOURCE_CONTENT,
    [HP_ATOM_CROSSORIGIN] = HP_RESOURCE_CROSSORIGIN,
    [HP_ATOM_DATA] = HP_RESOURCE_DATA,
    [HP_ATOM_DEFER] = HP_RESOURCE_DEFER,
    [HP_ATOM_DISABLED] = HP_RESOURCE_DISABLED,
    [HP_ATOM_FETCHPRIORITY] = HP_RESOURCE_FETCHPRIORITY,
    [HP_ATOM_FOR] = HP_RESOURCE_FOR,
    [HP_ATOM_HREF] = HP_RESOURCE_HREF,
    [HP_ATOM_HTTP_EQUIV] = HP_RESOURCE_HTTP_EQUIV,
    [HP_ATOM_INTEGRITY] = HP_RESOURCE_INTEGRITY,
    [HP_ATOM_LOADING] = HP_RESOURCE_LOADING,
    [HP_ATOM_MEDIA] = HP_RESOURCE_MEDIA,
    [HP_ATOM_NAME] = HP_RESOURCE_NAME,
    [HP_ATOM_NONCE] = HP_RESOURCE_NONCE,
    [HP_ATOM_REFERRERPOLICY] = HP_RESOURCE_REFERRERPOLICY,
    [HP_ATOM_REL] = HP_RESOURCE_REL,
    [HP_ATOM_SIZES] = HP_RESOURCE_SIZES,
    [HP_ATOM_SRC] = HP_RESOURCE_SRC,
    [HP_ATOM_SRCSET] = HP_RESOURCE_SRCSET,
    [HP_ATOM_TITLE] = HP_RESOURCE_TITLE,
    [HP_ATOM_TYPE] = HP_RESOURCE_TYPE,
    [HP_ATOM_ADJUSTED_XLINK_HREF] = HP_RESOURCE_XLINK_HREF,
};

typedef struct named_attribute {
  const char *name;
  hp_resource_attribute attribute;
} named_attribute;

/* Returns the attribute of a name that has no fixed atom. Most such names differ in length. */
static hp_resource_attribute find_unknown(const char *name, size_t length) {
  static const named_attribute names[] = {
      {"event", HP_RESOURCE_EVENT},       {"imagesizes", HP_RESOURCE_IMAGESIZES},
      {"poster", HP_RESOURCE_POSTER},     {"imagesrcset", HP_RESOURCE_IMAGESRCSET},
      {"language", HP_RESOURCE_LANGUAGE}, {"shadowrootmode", HP_RESOURCE_SHADOWROOTMODE},
      {"nomodule", HP_RESOURCE_NOMODULE}, {"srcdoc", HP_RESOURCE_SRCDOC},
  };
  enum { LENGTHS = 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11 | 1 << 14 };
  if (length > 14 || !(LENGTHS >> length & 1)) return HP_RESOURCE_OTHER;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length)) return names[i].attribute;
  return HP_RESOURCE_OTHER;
}

hp_resource_attribute hp_resource_attribute_of(hp_atom atom, const char *name, size_t length) {
  return atom < HP_KNOWN_ATOMS ? (hp_resource_attribute)hp_resource_attributes[atom] : find_unknown(name, length);
}

hp_resource_attribute hp_unknown_resource_attribute(const hpar_document *document, hp_atom name) {
  hp_name unknown = hp_atom_name(&document->atoms, name);
  return find_unknown(unknown.bytes, unknown.length);
}

static hpar_string read_value(const hp_tree_view *view, const hp_attributes *block, uint32_t index) {
  const hp_attribute *item = &block->items[index];
  if (!hp_is_deferred(block, index)) return (hpar_string){item->value, item->length};
  return view->bytes ? hp_read_value(block, index, view->bytes) : hp_attribute_value(view->document, block, item);
}

void hp_set_deferred_values(const hp_tree_view *view, const hp_attributes *block, bool skips_unknown,
                            hp_resource_values *values) {
  for (uint32_t i = 0; i < block->count; i++) {
    hp_resource_attribute attribute = hp_resource_attribute_at(view->document, block->items[i].name, skips_unknown);
    if (attribute != HP_RESOURCE_OTHER) hp_set_value(values, attribute, read_value(view, block, i));
  }
}
