#ifndef HP_RESOURCES_DESCRIBE_H
#define HP_RESOURCES_DESCRIBE_H

/* The resources that one element refers to (include/hpar/resources.h). */

#include "base/bytes.h"
#include "resources/values.h"
#include "url/links.h"

#include <hpar/resources.h>

#include <string.h>

/* Returns true if HTML elements of this name may have a background attribute. */
static inline bool hp_may_have_background(hp_atom name) {
  return name < HP_KNOWN_ATOMS && hp_url_attributes[name] & HP_LINK_BACKGROUND;
}

/* Returns true if HTML or SVG elements of this name may have resources other than a background. */
static inline bool hp_may_have_resources(hp_atom name) {
  switch (name) {
    case HP_ATOM_SCRIPT:
    case HP_ATOM_LINK:
    case HP_ATOM_IMG:
    case HP_ATOM_IMAGE:
    case HP_ATOM_INPUT:
    case HP_ATOM_VIDEO:
    case HP_ATOM_STYLE:
    case HP_ATOM_BASE:
    case HP_ATOM_META:
    case HP_ATOM_IFRAME:
    case HP_ATOM_FRAME:
    case HP_ATOM_OBJECT:
    case HP_ATOM_EMBED:
    case HP_ATOM_AUDIO:
    case HP_ATOM_TRACK:
    case HP_ATOM_SOURCE:
    case HP_ATOM_USE:
    case HP_ATOM_FEIMAGE_MIXED: return true;
    default: return false;
  }
}

/* Returns false if a link element with these attributes has no resources by its link types. */
bool hp_may_be_watched_link(const hp_attributes *block);

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

/* Returns the audio or video element around the node; 0: its parent is none. */
hp_ref hp_media_around(const hp_tree_view *view, hp_ref node);
/* Reports the resource of a source element of a tree in a media element with these bits. */
bool hp_describe_source_in(const hp_tree_view *view, hp_ref source, hp_ref media, unsigned bits,
                           hp_resource_origin origin, hp_resource_fn callback, void *context);

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

/* The parts of the description that the finder inlines: images, and scripts of the usual form. */

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
