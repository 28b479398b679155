#ifndef HP_RESOURCES_DESCRIBE_H
#define HP_RESOURCES_DESCRIBE_H

/* The resources that one element refers to (include/hpar/resources.h). */

#include "base/bytes.h"
#include "dom/node.h"
#include "url/links.h"

#include <hpar/resources.h>
#include <stddef.h>
#include <string.h>

/*** values of attributes ***/

/* A tree to read, also while a parse builds it. */
typedef struct hp_tree_view {
  const hpar_document *document;
  const char *text; /* of the input */
  hp_arena *bytes;  /* for decoded attribute values; NULL: the parse has ended */
} hp_tree_view;

/* The attributes that resources depend on. FIELD: its value is a string of hpar_resource. OTHER:
 * any other one whose name has a fixed atom. UNKNOWN: one whose name has none. */
#define HP_RESOURCE_ATTRIBUTE_NAMES(FIELD, OTHER, UNKNOWN) \
  FIELD(AS, as)                                            \
  OTHER(ASYNC)                                             \
  OTHER(BACKGROUND)                                        \
  FIELD(CHARSET, charset)                                  \
  OTHER(CONTENT)                                           \
  FIELD(CROSSORIGIN, crossorigin)                          \
  OTHER(DATA)                                              \
  OTHER(DEFER)                                             \
  OTHER(DISABLED)                                          \
  UNKNOWN(EVENT, "event")                                  \
  FIELD(FETCHPRIORITY, fetchpriority)                      \
  OTHER(FOR)                                               \
  OTHER(HREF)                                              \
  OTHER(HTTP_EQUIV)                                        \
  UNKNOWN(IMAGESIZES, "imagesizes")                        \
  UNKNOWN(IMAGESRCSET, "imagesrcset")                      \
  FIELD(INTEGRITY, integrity)                              \
  UNKNOWN(LANGUAGE, "language")                            \
  OTHER(LOADING)                                           \
  FIELD(MEDIA, media)                                      \
  OTHER(NAME)                                              \
  UNKNOWN(NOMODULE, "nomodule")                            \
  FIELD(NONCE, nonce)                                      \
  UNKNOWN(POSTER, "poster")                                \
  FIELD(REFERRERPOLICY, referrerpolicy)                    \
  OTHER(REL)                                               \
  UNKNOWN(SHADOWROOTMODE, "shadowrootmode")                \
  FIELD(SIZES, sizes)                                      \
  FIELD(SRC, url)                                          \
  UNKNOWN(SRCDOC, "srcdoc")                                \
  FIELD(SRCSET, srcset)                                    \
  OTHER(TITLE)                                             \
  FIELD(TYPE, type)                                        \
  OTHER(ADJUSTED_XLINK_HREF)

#define HP_RESOURCE_NAME_OF(attribute, ...) HP_RESOURCE_##attribute,
typedef enum hp_resource_attribute {
  HP_RESOURCE_OTHER, /* any other attribute */
  HP_RESOURCE_ATTRIBUTE_NAMES(HP_RESOURCE_NAME_OF, HP_RESOURCE_NAME_OF, HP_RESOURCE_NAME_OF) HP_RESOURCE_ATTRIBUTES
} hp_resource_attribute;
#undef HP_RESOURCE_NAME_OF

#define HP_RESOURCE_BIT(attribute) (UINT64_C(1) << (attribute))
#define HP_RESOURCE_BIT_OF(attribute, field) | HP_RESOURCE_BIT(HP_RESOURCE_##attribute)
#define HP_RESOURCE_NOTHING(...)
/* The attributes whose values are strings of hpar_resource. */
static const uint64_t hp_resource_fields =
    0 HP_RESOURCE_ATTRIBUTE_NAMES(HP_RESOURCE_BIT_OF, HP_RESOURCE_NOTHING, HP_RESOURCE_NOTHING);
#undef HP_RESOURCE_BIT_OF
#undef HP_RESOURCE_NOTHING

/* The values of the attributes. Most values are where the resources of the element need them, in
 * `resource`. */
typedef struct hp_resource_values {
  uint64_t present; /* bit i: the element has attribute i */
  hpar_resource resource;
  hpar_string others[HP_RESOURCE_ATTRIBUTES]; /* by attribute; those that are present */
} hp_resource_values;

/* Returns bit i if the element has attribute i. */
static inline uint64_t hp_present_values(const hp_resource_values *values) { return values->present; }

#define HP_RESOURCE_FIELD(attribute, field) [HP_RESOURCE_##attribute] = offsetof(hp_resource_values, resource.field),
#define HP_RESOURCE_OTHER_VALUE(attribute, ...) \
  [HP_RESOURCE_##attribute] = offsetof(hp_resource_values, others[HP_RESOURCE_##attribute]),
/* By attribute: the place of its value in hp_resource_values. */
static const uint16_t hp_resource_places[HP_RESOURCE_ATTRIBUTES] = {HP_RESOURCE_OTHER_VALUE(
    OTHER) HP_RESOURCE_ATTRIBUTE_NAMES(HP_RESOURCE_FIELD, HP_RESOURCE_OTHER_VALUE, HP_RESOURCE_OTHER_VALUE)};
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

/*** descriptions ***/

/* By name: 1 if HTML or SVG elements of this name may have resources other than a background, 2 if
 * HTML elements may have a background only. */
extern const uint8_t hp_resource_names[HP_KNOWN_ATOMS];

static inline bool hp_may_have_resources(hp_atom name) { return name < HP_KNOWN_ATOMS && hp_resource_names[name] == 1; }
static inline bool hp_may_have_background(hp_atom name) {
  return name < HP_KNOWN_ATOMS && hp_resource_names[name] == 2;
}

/* Returns false if a link element with these attributes has no resources by its link types. */
bool hp_may_be_watched_link(const hp_attributes *block);

/* Returns true for a MIME type of JavaScript. */
bool hp_is_script_type(hpar_string type);
/* Returns true for a `language` that makes a script run: "text/" before it is a script type. */
bool hp_is_script_language(hpar_string language);
/* Returns true if the attributes `for` and `event`, which the element has, let a script run. */
bool hp_runs_at_load(hpar_string target, hpar_string event);

/* Returns false if an HTML script element with these attributes is no module and no import map. */
bool hp_may_be_inline_script(const hp_attributes *block);
/* Returns true if an HTML script element is a module without `src`, or an import map. Its text has
 * resources then. */
bool hp_is_inline_script(const hp_resource_values *values);

/* Returns the URL in the `content` of a meta refresh. It is empty if the value has none, or is not
 * valid. */
hpar_string hp_refresh_url(hpar_string content);

/* The start tag of an element, the thread that found it, and flags of its resources. All are 0
 * outside of a parse. */
typedef struct hp_resource_origin {
  uint64_t offset;
  unsigned thread, flags;
} hp_resource_origin;

/* Receives a resource. Returns false to end the walk. */
typedef bool (*hp_resource_fn)(const hpar_resource *resource, void *context);

/* An element whose resources are described. */
typedef struct hp_described {
  hp_resource_origin origin;
  hp_ref element;
  hp_ref picture;             /* of img and source: the picture or media around it; 0: none */
  hp_resource_values *values; /* the description changes its `resource` */
  hpar_string sheet;          /* of style and script: its text */
  hp_resource_fn callback;
  void *context;
} hp_described;

/* Reports the resources of an element that is no source. Returns false if the callback has returned
 * false. */
bool hp_describe(const hp_described *element, uint8_t ns, hp_atom name);
/* Reports the images of a source element before the img element with these values. */
bool hp_describe_source(const hp_described *source, const hp_resource_values *img);

/* What the source elements in an audio or video element need to know of it. */
enum { HP_MEDIA_HAS_SOURCES = 1, HP_MEDIA_CORS = 2, HP_MEDIA_CREDENTIALS = 4, HP_MEDIA_BITS = 7 };
unsigned hp_media_of(const hp_resource_values *media);
/* Reports the resource of a source element in a media element with these bits. */
bool hp_describe_media_source(const hp_described *source, unsigned media);

/* Reports the resources of an element of a tree, the images of a picture before the one of its img.
 * The text of a style or script element must be complete. Ignores templates around the element.
 * A source element of audio and video needs the flags that a finder gives them.
 * Returns false if the callback has returned false. */
bool hp_describe_resources(const hp_tree_view *view, hp_ref element, hp_resource_origin origin, hp_resource_fn callback,
                           void *context);

/* Adds the kind, the URL and the candidates of a resource to the hash. */
uint64_t hp_hash_resource(uint64_t hash, const hpar_resource *resource);

/* Returns true if an element of this name in HTML can be a shadow host. */
bool hp_is_shadow_host(hp_atom name, hp_name text);

typedef enum hp_shadow_root {
  HP_SHADOW_NO,
  HP_SHADOW_YES,
  HP_SHADOW_UNSURE /* the template has no parent, so the merger will give it one */
} hp_shadow_root;

/* Returns whether the contents of the template element become a shadow root of its parent, by the
 * attribute shadowrootmode. */
hp_shadow_root hp_is_shadow_root(const hp_tree_view *view, hp_ref template);

enum { HP_MAX_SHADOW_DEPTH = 16 };

/*** what the finder inlines ***/

/* Sets the flag if the attribute is there. */
static inline unsigned hp_flag_of(const hp_resource_values *values, hp_resource_attribute attribute, unsigned flag) {
  return hp_has_value(values, attribute) ? flag : 0;
}

static inline unsigned hp_lazy_flag(const hp_resource_values *values) {
  return hp_is_word(hp_resource_value(values, HP_RESOURCE_LOADING), "lazy") ? HPAR_RESOURCE_LAZY : 0;
}

/* Sets the element, the thread and the offset. */
static inline void hp_set_origin(hpar_resource *resource, hp_ref element, hp_resource_origin origin) {
  resource->element = element;
  resource->offset = origin.offset;
  resource->thread = origin.thread;
}

/* Returns the resource of an img element without its origin; NULL: it has none. The values of the
 * attributes have set all its strings. */
static inline hpar_resource *hp_image_in(hp_resource_values *values) {
  hpar_resource *resource = &values->resource;
  if (!resource->url.length && !resource->srcset.length) return NULL;
  resource->kind = HPAR_RESOURCE_IMAGE;
  resource->flags = hp_lazy_flag(values);
  return resource;
}

#define HP_USUAL_SCRIPT_TYPE "text/javascript"

static inline bool hp_is_usual_script_type(hpar_string type) {
  return type.length == strlen(HP_USUAL_SCRIPT_TYPE) && !memcmp(type.bytes, HP_USUAL_SCRIPT_TYPE, type.length);
}

/* Returns the kind of a script element with these attributes; HPAR_RESOURCE_KINDS: it does not run.
 */
hpar_resource_kind hp_uncommon_script_kind(const hp_resource_values *values);

static inline hpar_resource_kind hp_script_kind(const hp_resource_values *values) {
  const uint64_t uncommon =
      HP_RESOURCE_BIT(HP_RESOURCE_LANGUAGE) | HP_RESOURCE_BIT(HP_RESOURCE_NOMODULE) | HP_RESOURCE_BIT(HP_RESOURCE_FOR);
  hpar_string type = hp_resource_value(values, HP_RESOURCE_TYPE);
  if ((values->present & uncommon) || (type.length && !hp_is_usual_script_type(type)))
    return hp_uncommon_script_kind(values);
  return HPAR_RESOURCE_SCRIPT;
}

/* Returns the resource of a script element without its origin; NULL: it has none. The values of the
 * attributes have set all its strings. */
static inline hpar_resource *hp_script_in(hp_resource_values *values) {
  const uint64_t others = HP_RESOURCE_BIT(HP_RESOURCE_SRCSET) | HP_RESOURCE_BIT(HP_RESOURCE_SIZES);
  hpar_resource *resource = &values->resource;
  if (!resource->url.length) return NULL;
  resource->kind = hp_script_kind(values);
  if (resource->kind == HPAR_RESOURCE_KINDS) return NULL;
  resource->flags = hp_flag_of(values, HP_RESOURCE_ASYNC, HPAR_RESOURCE_ASYNC) |
                    hp_flag_of(values, HP_RESOURCE_DEFER, HPAR_RESOURCE_DEFER);
  if (__builtin_expect((values->present & others) != 0, 0)) resource->srcset = resource->sizes = (hpar_string){NULL, 0};
  return resource;
}

#endif
