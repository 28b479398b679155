/* The resources of a finished tree: one walk. */

#include "resources/describe.h"

#include <string.h>

typedef struct walk {
  hp_tree_view view;
  hpar_resource_callback callback;
  void *context;
  /* The subtrees that the walk is in. Those above [0] are contents of templates. */
  hp_ref tops[HP_MAX_SHADOW_DEPTH + 1], templates[HP_MAX_SHADOW_DEPTH + 1];
  unsigned depth;
} walk;

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
      else if (hp_may_have_resources(node->name) &&
               !hp_describe_resources(&w.view, at, (hp_resource_origin){0, 0, 0}, callback, context))
        break;
    }
    at = inside ? inside : next_node(&w, at);
  }
  hp_document_end_use(document);
  return HPAR_OK;
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
  };
  return kind < HPAR_RESOURCE_KINDS ? names[kind] : NULL;
}
