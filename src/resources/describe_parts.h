#ifndef HP_RESOURCES_DESCRIBE_PARTS_H
#define HP_RESOURCES_DESCRIBE_PARTS_H

/* The parts of the description that the finder inlines: images, and scripts of the usual form. */

#include "resources/describe.h"

#include "base/bytes.h"

#include <string.h>

/* Returns true if the string is `word`, which is in lower case. Ignores the case of the string.
 * Inlined calls compare with a constant first. */
static inline bool hp_is_word(hpar_string s, const char *word) {
  if (s.length != strlen(word)) return false;
  return !memcmp(s.bytes, word, strlen(word)) || hp_ascii_equal(s.bytes, word, s.length);
}

static inline hpar_string hp_described_value(const hp_described *d, hp_resource_attribute attribute) {
  return hp_resource_value(d->values, attribute);
}

/* Returns the resource of the element with its URL and candidates. The values of the attributes
 * have set the other strings. */
static inline hpar_resource *hp_begin_resource(const hp_described *d, hpar_resource_kind kind, hpar_string url,
                                               hpar_string srcset, hpar_string sizes) {
  hpar_resource *resource = &d->values->resource;
  resource->kind = kind;
  resource->flags = d->origin.flags;
  resource->element = d->element;
  resource->url = url;
  resource->srcset = srcset;
  resource->sizes = sizes;
  resource->offset = d->origin.offset;
  resource->thread = d->origin.thread;
  return resource;
}

static inline hpar_resource *hp_begin_url(const hp_described *d, hpar_resource_kind kind, hpar_string url) {
  const hpar_string none = {NULL, 0};
  return hp_begin_resource(d, kind, url, none, none);
}

/* Sets the flag if the attribute is there. */
static inline unsigned hp_flag_of(const hp_resource_values *values, hp_resource_attribute attribute, unsigned flag) {
  return hp_has_value(values, attribute) ? flag : 0;
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
  resource->flags = hp_is_word(hp_resource_value(values, HP_RESOURCE_LOADING), "lazy") ? HPAR_RESOURCE_LAZY : 0;
  return resource;
}

/* Returns the resource of an img element; NULL: it has none. */
static inline hpar_resource *hp_image_of(const hp_described *d) {
  hpar_resource *resource = hp_image_in(d->values);
  if (!resource) return NULL;
  resource->flags |= d->origin.flags;
  resource->picture = d->picture;
  hp_set_origin(resource, d->element, d->origin);
  return resource;
}

/* Returns the resource of a script that runs. */
static inline hpar_resource *hp_begin_script(const hp_described *d, hpar_resource_kind kind, hpar_string url) {
  hpar_resource *resource = hp_begin_url(d, kind, url);
  resource->flags |= hp_flag_of(d->values, HP_RESOURCE_ASYNC, HPAR_RESOURCE_ASYNC) |
                     hp_flag_of(d->values, HP_RESOURCE_DEFER, HPAR_RESOURCE_DEFER);
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

/* Returns the resource of a script element with this URL; NULL: it has none. */
static inline hpar_resource *hp_script_of(const hp_described *d, hpar_string url) {
  if (!url.length) return NULL;
  hpar_resource_kind kind = hp_script_kind(d->values);
  return kind == HPAR_RESOURCE_KINDS ? NULL : hp_begin_script(d, kind, url);
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
