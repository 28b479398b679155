#ifndef HP_RESOURCES_DESCRIBE_H
#define HP_RESOURCES_DESCRIBE_H

/* The resources that one element refers to (include/hpar/resources.h). */

#include "resources/values.h"

#include <hpar/resources.h>

/* Returns true if HTML elements of this name may have a background attribute. */
static inline bool hp_may_have_background(hp_atom name) {
  switch (name) {
    case HP_ATOM_BODY:
    case HP_ATOM_TABLE:
    case HP_ATOM_THEAD:
    case HP_ATOM_TBODY:
    case HP_ATOM_TFOOT:
    case HP_ATOM_TR:
    case HP_ATOM_TD:
    case HP_ATOM_TH: return true;
    default: return false;
  }
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

#endif
