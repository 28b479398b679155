#ifndef HP_RESOURCES_VALUES_H
#define HP_RESOURCES_VALUES_H

/* The attributes of an element that resources depend on, read in one pass. */

#include "html/dom/document.h"

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
  HP_RESOURCE_ATTRIBUTES
} hp_resource_attribute;

typedef struct hp_resource_values {
  uint32_t present; /* bit i: the element has attribute i. Only its entry of `of` is set */
  hpar_string of[HP_RESOURCE_ATTRIBUTES];
} hp_resource_values;

/* Returns the attribute of this name, which is in lower case. `atom` is its atom, or one without a
 * fixed meaning. */
hp_resource_attribute hp_resource_attribute_of(hp_atom atom, const char *name, size_t length);

/* Reads the attributes of an element. */
void hp_read_resource_values(const hp_tree_view *view, hp_ref element, hp_resource_values *values);

static inline bool hp_has_value(const hp_resource_values *values, hp_resource_attribute attribute) {
  return values->present >> attribute & 1;
}

/* Returns the value. `bytes` is NULL if the attribute is missing. */
static inline hpar_string hp_resource_value(const hp_resource_values *values, hp_resource_attribute attribute) {
  return hp_has_value(values, attribute) ? values->of[attribute] : (hpar_string){NULL, 0};
}

#endif
