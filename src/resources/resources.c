/* The resources of a finished tree: one walk. */

#include "resources/describe.h"

#include "base/call.h"
#include "base/memory.h"

#include <string.h>

/* An audio or video element that the walk has passed. */
typedef struct passed_media {
  hp_ref element;
  unsigned bits; /* hp_media_of */
} passed_media;

typedef struct walk {
  hp_tree_view view;
  hpar_resource_callback callback;
  void *context;
  /* The subtrees that the walk is in. Those above [0] are contents of templates. */
  hp_ref tops[HP_MAX_SHADOW_DEPTH + 1], templates[HP_MAX_SHADOW_DEPTH + 1];
  unsigned depth;
  /* Among them are the media elements around the current node, from the outside to the inside. Each
   * is read once, so that many source elements in one with many attributes take linear time. */
  passed_media *media;
  size_t media_count, media_capacity;
  hpar_status status;
} walk;

static bool report(const hpar_resource *resource, void *context) {
  walk *w = context;
  w->status = w->callback(resource, w->context);
  return w->status == HPAR_OK;
}

/* Returns the node after `node`. Returns from the contents of a template to its next sibling. */
static hp_ref next_node(walk *w, hp_ref node) {
  hp_ref next = hpar_node_walk(w->view.document, w->tops[w->depth], node);
  while (!next && w->depth) {
    hp_ref template = w->templates[w->depth--];
    next = hpar_node_walk(w->view.document, w->tops[w->depth], template);
  }
  return next;
}

/* Enters the contents of a template that are a shadow root. Returns their first node, or 0. */
static hp_ref enter_shadow_root(walk *w, hp_ref template) {
  hp_ref contents = hpar_node_template_contents(w->view.document, template);
  hp_ref first = hpar_node_first_child(w->view.document, contents);
  if (!first || w->depth == HP_MAX_SHADOW_DEPTH || hp_is_shadow_root(&w->view, template) != HP_SHADOW_YES) return 0;
  w->depth++;
  w->tops[w->depth] = contents;
  w->templates[w->depth] = template;
  return first;
}

static unsigned read_media(const walk *w, hp_ref media) {
  hp_resource_values values;
  hp_read_resource_values(&w->view, media, &values);
  return hp_media_of(&values);
}

/* Returns false if memory is short. */
static bool pass_media(walk *w, hp_ref media) {
  if (w->media_count == w->media_capacity) {
    size_t capacity = w->media_capacity ? 2 * w->media_capacity : 16;
    passed_media *items = hp_reallocate(w->media, capacity * sizeof *items);
    if (!items) {
      w->status = HPAR_ERROR_MEMORY;
      return false;
    }
    w->media = items;
    w->media_capacity = capacity;
  }
  w->media[w->media_count++] = (passed_media){media, read_media(w, media)};
  return true;
}

/* Reports the resource of a source element in a media element. The elements that the walk has
 * passed after its parent are not around it. */
static bool report_source(walk *w, hp_ref source) {
  hp_ref media = hp_media_around(&w->view, source);
  if (!media) return true;
  while (w->media_count && w->media[w->media_count - 1].element != media) w->media_count--;
  unsigned bits = w->media_count ? w->media[w->media_count - 1].bits : read_media(w, media);
  return hp_describe_source_in(&w->view, source, media, bits, (hp_resource_origin){0, 0, 0}, report, w);
}

/* Returns true if an element of the tree has the attribute. Pages have many cells. */
static bool has_background(const walk *w, const hp_node *node) {
  if (!node->attributes) return false;
  const hp_attributes *block = hp_at(w->view.document->range.base, node->attributes);
  for (uint32_t i = 0; i < block->count; i++)
    if (block->items[i].name == HP_ATOM_BACKGROUND) return true;
  return false;
}

/* Reports the resources of an element. Returns false if the walk ends. */
static bool visit_element(walk *w, hp_ref element, const hp_node *node) {
  if (!hp_may_have_resources(node->name) && (!hp_may_have_background(node->name) || !has_background(w, node)))
    return true;
  if (node->ns == HPAR_NAMESPACE_HTML) {
    if (node->name == HP_ATOM_SOURCE) return report_source(w, element);
    if ((node->name == HP_ATOM_AUDIO || node->name == HP_ATOM_VIDEO) && node->first && !pass_media(w, element))
      return false;
  }
  return hp_describe_resources(&w->view, element, (hp_resource_origin){0, 0, 0}, report, w);
}

hpar_status hpar_resources(const hpar_document *document, hpar_node top, hpar_resource_callback callback,
                           void *context) {
  if (!document || !callback) return HPAR_ERROR_ARGUMENT;
  walk w = {.view = {document, document->input.bytes, NULL}, .callback = callback, .context = context, .tops = {top}};
  hp_begin_use(&document->use);
  for (hp_ref at = top; at;) {
    const hp_node *node = hp_node_at(document->range.base, at);
    hp_ref inside = 0;
    if (node->kind == HPAR_NODE_ELEMENT) {
      if (node->flags & HP_FLAG_TEMPLATE)
        inside = enter_shadow_root(&w, at);
      else if (!visit_element(&w, at, node))
        break;
    }
    at = inside ? inside : next_node(&w, at);
  }
  hp_document_end_use(document);
  hp_free(w.media);
  return hp_end_of_walk(w.status);
}

const char *hpar_resource_kind_name(size_t kind) {
  static const char *const names[HPAR_RESOURCE_KINDS] = {
      [HPAR_RESOURCE_SCRIPT] = "script",
      [HPAR_RESOURCE_MODULE] = "module",
      [HPAR_RESOURCE_STYLE] = "style",
      [HPAR_RESOURCE_IMPORT] = "import",
      [HPAR_RESOURCE_IMAGE] = "image",
      [HPAR_RESOURCE_POSTER] = "poster",
      [HPAR_RESOURCE_PRELOAD] = "preload",
      [HPAR_RESOURCE_MODULE_PRELOAD] = "modulepreload",
      [HPAR_RESOURCE_PRECONNECT] = "preconnect",
      [HPAR_RESOURCE_DNS_PREFETCH] = "dns-prefetch",
      [HPAR_RESOURCE_ICON] = "icon",
      [HPAR_RESOURCE_MANIFEST] = "manifest",
      [HPAR_RESOURCE_BASE] = "base",
      [HPAR_RESOURCE_POLICY] = "policy",
      [HPAR_RESOURCE_REFERRER] = "referrer",
      [HPAR_RESOURCE_VIEWPORT] = "viewport",
      [HPAR_RESOURCE_FRAME] = "frame",
      [HPAR_RESOURCE_OBJECT] = "object",
      [HPAR_RESOURCE_MEDIA] = "media",
      [HPAR_RESOURCE_TRACK] = "track",
      [HPAR_RESOURCE_PREFETCH] = "prefetch",
      [HPAR_RESOURCE_REFRESH] = "refresh",
      [HPAR_RESOURCE_MODULE_IMPORT] = "module-import",
      [HPAR_RESOURCE_IMPORT_MAP] = "importmap",
  };
  return kind < HPAR_RESOURCE_KINDS ? names[kind] : NULL;
}
