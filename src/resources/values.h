#ifndef HP_RESOURCES_VALUES_H
#define HP_RESOURCES_VALUES_H

/* The attributes of an element that resources depend on, read in one pass. */

#include "dom/node.h"

#include <hpar/resources.h>
#include <stddef.h>
#include <string.h>

/* A tree to read, also while a parse builds it. */
typedef struct hp_tree_view {
  const hpar_document *document;
  const char *text; /* of the input */
  hp_arena *bytes;  /* for decoded attribute values; NULL: the parse has ended */
} hp_tree_view;

typedef enum hp_resource_attribute {
  HP_RESOURCE_OTHER, /* any other attribute */
  HP_RESOURCE_AS,
  HP_RESOURCE_ASYNC,
  HP_RESOURCE_CHARSET,
  HP_RESOURCE_CONTENT,
  HP_RESOURCE_CROSSORIGIN,
  HP_RESOURCE_DEFER,
  HP_RESOURCE_DISABLED,
  HP_RESOURCE_EVENT,
  HP_RESOURCE_FETCHPRIORITY,
  HP_RESOURCE_FOR,
  HP_RESOURCE_HREF,
  HP_RESOURCE_HTTP_EQUIV,
  HP_RESOURCE_IMAGESIZES,
  HP_RESOURCE_IMAGESRCSET,
  HP_RESOURCE_INTEGRITY,
  HP_RESOURCE_LANGUAGE,
  HP_RESOURCE_LOADING,
  HP_RESOURCE_MEDIA,
  HP_RESOURCE_NAME,
  HP_RESOURCE_NOMODULE,
  HP_RESOURCE_NONCE,
  HP_RESOURCE_POSTER,
  HP_RESOURCE_REFERRERPOLICY,
  HP_RESOURCE_REL,
  HP_RESOURCE_SHADOWROOTMODE,
  HP_RESOURCE_SIZES,
  HP_RESOURCE_SRC,
  HP_RESOURCE_SRCSET,
  HP_RESOURCE_TYPE,
  HP_RESOURCE_XLINK_HREF,
  HP_RESOURCE_DATA,
  HP_RESOURCE_SRCDOC,
  HP_RESOURCE_TITLE,
  HP_RESOURCE_BACKGROUND,
  HP_RESOURCE_ATTRIBUTES
} hp_resource_attribute;

#define HP_RESOURCE_BIT(attribute) (UINT64_C(1) << (attribute))
/* The attributes whose values are strings of hpar_resource. */
#define HP_RESOURCE_FIELDS                                                                                             \
  (HP_RESOURCE_BIT(HP_RESOURCE_AS) | HP_RESOURCE_BIT(HP_RESOURCE_CHARSET) | HP_RESOURCE_BIT(HP_RESOURCE_CROSSORIGIN) | \
   HP_RESOURCE_BIT(HP_RESOURCE_FETCHPRIORITY) | HP_RESOURCE_BIT(HP_RESOURCE_INTEGRITY) |                               \
   HP_RESOURCE_BIT(HP_RESOURCE_MEDIA) | HP_RESOURCE_BIT(HP_RESOURCE_NONCE) |                                           \
   HP_RESOURCE_BIT(HP_RESOURCE_REFERRERPOLICY) | HP_RESOURCE_BIT(HP_RESOURCE_SIZES) |                                  \
   HP_RESOURCE_BIT(HP_RESOURCE_SRC) | HP_RESOURCE_BIT(HP_RESOURCE_SRCSET) | HP_RESOURCE_BIT(HP_RESOURCE_TYPE))

/* The values of the attributes. Most values are where the resources of the element need them, in
 * `resource`. */
typedef struct hp_resource_values {
  uint64_t present; /* bit i: the element has attribute i */
  hpar_resource resource;
  hpar_string others[HP_RESOURCE_ATTRIBUTES]; /* by attribute; those that are present */
} hp_resource_values;

/* Returns bit i if the element has attribute i. */
static inline uint64_t hp_present_values(const hp_resource_values *values) { return values->present; }

#define HP_RESOURCE_FIELD(attribute, field) [attribute] = offsetof(hp_resource_values, resource.field)
#define HP_RESOURCE_OTHER_VALUE(attribute) [attribute] = offsetof(hp_resource_values, others[attribute])

/* By attribute: the place of its value in hp_resource_values. */
static const uint16_t hp_resource_places[HP_RESOURCE_ATTRIBUTES] = {
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_OTHER),
    HP_RESOURCE_FIELD(HP_RESOURCE_AS, as),
    HP_RESOURCE_FIELD(HP_RESOURCE_CHARSET, charset),
    HP_RESOURCE_FIELD(HP_RESOURCE_CROSSORIGIN, crossorigin),
    HP_RESOURCE_FIELD(HP_RESOURCE_FETCHPRIORITY, fetchpriority),
    HP_RESOURCE_FIELD(HP_RESOURCE_INTEGRITY, integrity),
    HP_RESOURCE_FIELD(HP_RESOURCE_MEDIA, media),
    HP_RESOURCE_FIELD(HP_RESOURCE_NONCE, nonce),
    HP_RESOURCE_FIELD(HP_RESOURCE_REFERRERPOLICY, referrerpolicy),
    HP_RESOURCE_FIELD(HP_RESOURCE_SIZES, sizes),
    HP_RESOURCE_FIELD(HP_RESOURCE_SRC, url),
    HP_RESOURCE_FIELD(HP_RESOURCE_SRCSET, srcset),
    HP_RESOURCE_FIELD(HP_RESOURCE_TYPE, type),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_ASYNC),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_CONTENT),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_DEFER),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_DISABLED),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_EVENT),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_FOR),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_HREF),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_HTTP_EQUIV),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_IMAGESIZES),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_IMAGESRCSET),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_LANGUAGE),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_LOADING),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_NAME),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_NOMODULE),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_POSTER),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_REL),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_SHADOWROOTMODE),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_XLINK_HREF),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_DATA),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_SRCDOC),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_TITLE),
    HP_RESOURCE_OTHER_VALUE(HP_RESOURCE_BACKGROUND),
};
#undef HP_RESOURCE_FIELD
#undef HP_RESOURCE_OTHER_VALUE

/* Returns the attribute of this name, which is in lower case. `atom` is its atom, or one without a
 * fixed meaning. */
hp_resource_attribute hp_resource_attribute_of(hp_atom atom, const char *name, size_t length);

/* Two words that one instruction stores. A load of 16 bytes takes about 15 cycles more if two
 * stores have written these bytes just before. */
typedef uint64_t hp_two_words __attribute__((vector_size(16), aligned(8), may_alias));

static inline void hp_put_string(void *to, const char *bytes, size_t length) {
  *(hp_two_words *)to = (hp_two_words){(uint64_t)(uintptr_t)bytes, length};
}

/* Removes the strings of the resource. The compilers make vector stores of short calls of memset.
 * They make `rep stos` of a long one, which takes longer. */
static inline void hp_clear_strings(hpar_resource *resource) {
  enum { STRINGS = (offsetof(hpar_resource, content) - offsetof(hpar_resource, url)) / sizeof(hpar_string) + 1 };
  hpar_string *strings = &resource->url;
  _Static_assert(STRINGS == 13, "the calls below clear all strings");
  memset(strings, 0, 4 * sizeof *strings);
  memset(strings + 4, 0, 4 * sizeof *strings);
  memset(strings + 8, 0, 5 * sizeof *strings);
}

/* Removes all values. */
static inline void hp_clear_values(hp_resource_values *values) {
  values->present = 0;
  values->resource.picture = 0;
  hp_clear_strings(&values->resource);
  memset(values->resource.reserved, 0, sizeof values->resource.reserved);
}

static inline void hp_set_value(hp_resource_values *values, hp_resource_attribute attribute, hpar_string value) {
  values->present |= HP_RESOURCE_BIT(attribute);
  hp_put_string((char *)values + hp_resource_places[attribute], value.bytes, value.length);
}

static inline bool hp_has_value(const hp_resource_values *values, hp_resource_attribute attribute) {
  return values->present >> attribute & 1;
}

/* Returns the value. `bytes` is NULL if the attribute is missing. */
static inline hpar_string hp_resource_value(const hp_resource_values *values, hp_resource_attribute attribute) {
  hpar_string value = {NULL, 0};
  if (hp_has_value(values, attribute))
    memcpy(&value, (const char *)values + hp_resource_places[attribute], sizeof value);
  return value;
}

/* By atom: the attribute. */
extern const uint8_t hp_resource_attributes[HP_KNOWN_ATOMS];

/* Returns the attribute of a name that has no fixed atom. */
hp_resource_attribute hp_unknown_resource_attribute(const hpar_document *document, hp_atom name);

static inline hp_resource_attribute hp_resource_attribute_at(const hpar_document *document, hp_atom name,
                                                             bool skips_unknown) {
  if (!skips_unknown && name >= HP_KNOWN_ATOMS) return hp_unknown_resource_attribute(document, name);
  return (hp_resource_attribute)hp_resource_attributes[name < HP_KNOWN_ATOMS ? name : 0];
}

static inline bool hp_has_deferred(const hp_attributes *block) {
  return atomic_load_explicit(&block->deferred, memory_order_acquire) & ~HP_SHARED_BLOCK;
}

/* Sets the values of a block that has deferred ones. Decodes those that resources depend on. */
void hp_set_deferred_values(const hp_tree_view *view, const hp_attributes *block, bool skips_unknown,
                            hp_resource_values *values);

/* Sets the values of a block without deferred ones. `skips_unknown`: no resource of the element
 * depends on an attribute without an atom. Stores other values, too: a test of each attribute takes
 * longer. */
static inline void hp_set_block_values(const hpar_document *document, const hp_attributes *block, bool skips_unknown,
                                       hp_resource_values *values) {
  uint64_t present = 0;
  for (uint32_t i = 0, count = block->count; i < count; i++) {
    const hp_attribute *item = &block->items[i];
    hp_resource_attribute attribute = hp_resource_attribute_at(document, item->name, skips_unknown);
    present |= UINT64_C(1) << (attribute & 63);
    hp_put_string((char *)values + hp_resource_places[attribute], item->value, item->length);
  }
  values->present = present;
}

/* Reads the attributes of an element. */
static inline void hp_read_resource_values(const hp_tree_view *view, hp_ref element, hp_resource_values *values) {
  const char *memory = view->document->range.base;
  const hp_node *node = hp_node_at(memory, element);
  bool skips_unknown = node->name == HP_ATOM_IMG || node->name == HP_ATOM_META || node->name == HP_ATOM_INPUT ||
                       node->name == HP_ATOM_SOURCE;
  hp_clear_values(values);
  if (!node->attributes) return;
  const hp_attributes *block = hp_at(memory, node->attributes);
  if (hp_has_deferred(block))
    hp_set_deferred_values(view, block, skips_unknown, values);
  else
    hp_set_block_values(view->document, block, skips_unknown, values);
}

#endif
