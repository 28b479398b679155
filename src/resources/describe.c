#include "resources/describe.h"

#include "base/ascii.h"
#include "resources/css_imports.h"

#include <string.h>

static hpar_string trim(hpar_string s) {
  while (s.length && hp_ascii_is_white(*s.bytes)) s.bytes++, s.length--;
  while (s.length && hp_ascii_is_white(s.bytes[s.length - 1])) s.length--;
  return s;
}

/* Returns true if the string is `word`, which is in lower case. Ignores the case of the string. */
static bool is(hpar_string s, const char *word) {
  return s.length == strlen(word) && hp_ascii_equal(s.bytes, word, s.length);
}

static bool begins_with(hpar_string s, const char *word) {
  size_t length = strlen(word);
  return s.length >= length && hp_ascii_equal(s.bytes, word, length);
}

static bool is_one_of(hpar_string s, const char *const *words) {
  for (; *words; words++)
    if (is(s, *words)) return true;
  return false;
}

/* Returns a MIME type without its parameters. */
static hpar_string essence(hpar_string type) {
  const char *semicolon = type.length ? memchr(type.bytes, ';', type.length) : NULL;
  if (semicolon) type.length = (size_t)(semicolon - type.bytes);
  return trim(type);
}

/*** types ***/

//§ javascript-mime-type
static bool is_script_type(hpar_string type) {
  static const char *const types[] = {"text/javascript",
                                      "application/javascript",
                                      "application/ecmascript",
                                      "application/x-ecmascript",
                                      "application/x-javascript",
                                      "text/ecmascript",
                                      "text/javascript1.0",
                                      "text/javascript1.1",
                                      "text/javascript1.2",
                                      "text/javascript1.3",
                                      "text/javascript1.4",
                                      "text/javascript1.5",
                                      "text/jscript",
                                      "text/livescript",
                                      "text/x-ecmascript",
                                      "text/x-javascript",
                                      NULL};
  return is_one_of(type, types);
}

/* Returns true for a `language` that makes a script run: "text/" before it is a script type. */
static bool is_script_language(hpar_string language) {
  char type[32] = "text/";
  if (language.length > sizeof type - 5) return false;
  memcpy(type + 5, language.bytes, language.length);
  return is_script_type((hpar_string){type, language.length + 5});
}

static bool is_font_type(hpar_string type) {
  return begins_with(type, "font/") || begins_with(type, "application/font-") ||
         begins_with(type, "application/x-font-") || is(type, "application/vnd.ms-fontobject");
}

/* Returns true if a preload for this use may have this type. An empty type fits. */
//§ translate-a-preload-destination
static bool is_preload(hpar_string as, hpar_string type) {
  if (is(as, "fetch")) return true;
  if (is(as, "image")) return !type.length || begins_with(type, "image/");
  if (is(as, "style")) return !type.length || is(type, "text/css");
  if (is(as, "script")) return !type.length || is_script_type(type);
  if (is(as, "font")) return !type.length || is_font_type(type);
  return is(as, "track") && (!type.length || is(type, "text/vtt"));
}

/* Returns true if each media query of the list is "not all". */
static bool matches_nothing(hpar_string media) {
  static const char all[] = "all";
  if (!media.bytes || !trim(media).length) return false;
  for (size_t at = 0; at <= media.length;) {
    const char *from = media.bytes + at, *comma = memchr(from, ',', media.length - at);
    hpar_string query = trim((hpar_string){from, comma ? (size_t)(comma - from) : media.length - at});
    at += (comma ? (size_t)(comma - from) : media.length - at) + 1;
    if (!begins_with(query, "not") || query.length < 7 || !hp_ascii_is_white(query.bytes[3])) return false;
    if (!is(trim((hpar_string){query.bytes + 3, query.length - 3}), all)) return false;
  }
  return true;
}

/* Returns the next word of a list with white space between words. `bytes` is NULL at its end. */
static hpar_string next_word(hpar_string *list) {
  while (list->length && hp_ascii_is_white(*list->bytes)) list->bytes++, list->length--;
  hpar_string word = {list->length ? list->bytes : NULL, 0};
  while (list->length && !hp_ascii_is_white(*list->bytes)) list->bytes++, list->length--, word.length++;
  return word;
}

/*** elements ***/

typedef struct description {
  const hp_tree_view *view;
  hp_ref element;
  hpar_resource_callback callback;
  void *context;
  hp_resource_values values; /* of the element */
} description;

static hpar_string get(const description *d, hp_resource_attribute attribute) {
  return hp_resource_value(&d->values, attribute);
}

/* Returns a resource of this kind with all attributes of the element that are equal for all
 * kinds. */
static hpar_resource resource_of(const description *d, hpar_resource_kind kind) {
  return (hpar_resource){
      .kind = kind,
      .element = d->element,
      .media = get(d, HP_RESOURCE_MEDIA),
      .type = get(d, HP_RESOURCE_TYPE),
      .as = get(d, HP_RESOURCE_AS),
      .crossorigin = get(d, HP_RESOURCE_CROSSORIGIN),
      .integrity = get(d, HP_RESOURCE_INTEGRITY),
      .referrerpolicy = get(d, HP_RESOURCE_REFERRERPOLICY),
      .fetchpriority = get(d, HP_RESOURCE_FETCHPRIORITY),
      .charset = get(d, HP_RESOURCE_CHARSET),
      .nonce = get(d, HP_RESOURCE_NONCE),
  };
}

static bool report(const description *d, hpar_resource *resource) { return d->callback(d->context, resource); }

static bool report_url(const description *d, hpar_resource_kind kind, hpar_string url) {
  if (!url.length) return true;
  hpar_resource resource = resource_of(d, kind);
  resource.url = url;
  return report(d, &resource);
}

static hpar_string svg_href(const description *d) {
  return get(d, hp_has_value(&d->values, HP_RESOURCE_HREF) ? HP_RESOURCE_HREF : HP_RESOURCE_XLINK_HREF);
}

/* Returns true if the attributes `for` and `event` let the script run. */
static bool runs_at_load(const description *d) {
  if (!hp_has_value(&d->values, HP_RESOURCE_FOR) || !hp_has_value(&d->values, HP_RESOURCE_EVENT)) return true;
  hpar_string event = trim(get(d, HP_RESOURCE_EVENT));
  return is(trim(get(d, HP_RESOURCE_FOR)), "window") && (is(event, "onload") || is(event, "onload()"));
}

//§ prepare-the-script-element
static bool describe_script(const description *d, bool svg) {
  hpar_string type = trim(get(d, HP_RESOURCE_TYPE)), language = get(d, HP_RESOURCE_LANGUAGE);
  bool has_type = hp_has_value(&d->values, HP_RESOURCE_TYPE), module = is(type, "module");
  hpar_string url = svg ? svg_href(d) : get(d, HP_RESOURCE_SRC);
  if (!url.length) return true;
  if (has_type && get(d, HP_RESOURCE_TYPE).length && !module && !is_script_type(type)) return true;
  if (!has_type && language.length && !is_script_language(language)) return true;
  if (!module && (hp_has_value(&d->values, HP_RESOURCE_NOMODULE) || !runs_at_load(d))) return true;
  hpar_resource resource = resource_of(d, module ? HPAR_RESOURCE_MODULE : HPAR_RESOURCE_SCRIPT);
  resource.url = url;
  if (hp_has_value(&d->values, HP_RESOURCE_ASYNC)) resource.flags |= HPAR_RESOURCE_ASYNC;
  if (hp_has_value(&d->values, HP_RESOURCE_DEFER)) resource.flags |= HPAR_RESOURCE_DEFER;
  return report(d, &resource);
}

/* The link types of a link element, as bits. */
enum {
  REL_STYLESHEET = 1,
  REL_ALTERNATE = 2,
  REL_PRELOAD = 4,
  REL_MODULE_PRELOAD = 8,
  REL_PRECONNECT = 16,
  REL_DNS_PREFETCH = 32,
  REL_ICON = 64,
  REL_MANIFEST = 128
};

//§ linkTypes
static unsigned read_rel(hpar_string list) {
  static const char *const names[] = {"stylesheet", "alternate",    "preload", "modulepreload",
                                      "preconnect", "dns-prefetch", "icon",    "manifest"};
  unsigned types = 0;
  for (hpar_string word; (word = next_word(&list)).bytes;)
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
      if (is(word, names[i])) types |= 1u << i;
  return types;
}

static bool describe_preload(const description *d, hpar_string url) {
  hpar_resource resource = resource_of(d, HPAR_RESOURCE_PRELOAD);
  resource.url = url;
  if (is(resource.as, "image")) {
    resource.srcset = get(d, HP_RESOURCE_IMAGESRCSET);
    resource.sizes = get(d, HP_RESOURCE_IMAGESIZES);
  }
  if ((!url.length && !resource.srcset.length) || !is_preload(resource.as, essence(resource.type))) return true;
  return report(d, &resource);
}

static bool describe_link(const description *d) {
  unsigned rel = read_rel(get(d, HP_RESOURCE_REL));
  hpar_string url = get(d, HP_RESOURCE_HREF), type = essence(get(d, HP_RESOURCE_TYPE));
  bool sheet = (rel & REL_STYLESHEET) && !(rel & REL_ALTERNATE) && !hp_has_value(&d->values, HP_RESOURCE_DISABLED) &&
               (!type.length || is(type, "text/css"));
  if (!rel || matches_nothing(get(d, HP_RESOURCE_MEDIA))) return true;
  return (!sheet || report_url(d, HPAR_RESOURCE_STYLE, url)) && (!(rel & REL_PRELOAD) || describe_preload(d, url)) &&
         (!(rel & REL_MODULE_PRELOAD) || report_url(d, HPAR_RESOURCE_MODULE_PRELOAD, url)) &&
         (!(rel & REL_PRECONNECT) || report_url(d, HPAR_RESOURCE_PRECONNECT, url)) &&
         (!(rel & REL_DNS_PREFETCH) || report_url(d, HPAR_RESOURCE_DNS_PREFETCH, url)) &&
         (!(rel & REL_ICON) || report_url(d, HPAR_RESOURCE_ICON, url)) &&
         (!(rel & REL_MANIFEST) || report_url(d, HPAR_RESOURCE_MANIFEST, url));
}

static const hp_node *node_of(const hp_tree_view *view, hp_ref ref) {
  return hp_node_at(view->document->range.base, ref);
}

static bool is_html(const hp_tree_view *view, hp_ref ref, hp_atom name) {
  if (!ref) return false;
  const hp_node *node = node_of(view, ref);
  return node->kind == HPAR_NODE_ELEMENT && node->ns == HPAR_NAMESPACE_HTML && node->name == name;
}

static bool describe_image_source(const description *img, hp_ref source, hp_ref picture) {
  description d = {img->view, source, img->callback, img->context, {0}};
  hp_read_resource_values(d.view, source, &d.values);
  hpar_string srcset = get(&d, HP_RESOURCE_SRCSET), type = essence(get(&d, HP_RESOURCE_TYPE));
  if (!srcset.length || (type.length && !begins_with(type, "image/"))) return true;
  if (matches_nothing(get(&d, HP_RESOURCE_MEDIA))) return true;
  hpar_resource resource = resource_of(&d, HPAR_RESOURCE_IMAGE);
  resource.flags = HPAR_RESOURCE_SOURCE | (is(get(img, HP_RESOURCE_LOADING), "lazy") ? HPAR_RESOURCE_LAZY : 0u);
  resource.picture = picture;
  resource.srcset = srcset;
  resource.sizes = get(&d, HP_RESOURCE_SIZES);
  resource.crossorigin = get(img, HP_RESOURCE_CROSSORIGIN);
  resource.referrerpolicy = get(img, HP_RESOURCE_REFERRERPOLICY);
  resource.fetchpriority = get(img, HP_RESOURCE_FETCHPRIORITY);
  return report(&d, &resource);
}

/* Reports the source elements between the previous img element of the picture and this one. All
 * img elements of a picture together take linear time. */
static bool describe_sources(const description *d, hp_ref picture) {
  hp_ref from = node_of(d->view, d->element)->previous;
  while (from && !is_html(d->view, from, HP_IMG)) from = node_of(d->view, from)->previous;
  hp_ref at = from ? node_of(d->view, from)->next : node_of(d->view, picture)->first;
  for (; at != d->element; at = node_of(d->view, at)->next)
    if (is_html(d->view, at, HP_SOURCE) && !describe_image_source(d, at, picture)) return false;
  return true;
}

static bool describe_image(const description *d) {
  hpar_resource resource = resource_of(d, HPAR_RESOURCE_IMAGE);
  hp_ref parent = hp_parent_of(d->view->document->range.base, node_of(d->view, d->element));
  if (is_html(d->view, parent, HP_PICTURE)) {
    resource.picture = parent;
    if (!describe_sources(d, parent)) return false;
  }
  resource.url = get(d, HP_RESOURCE_SRC);
  resource.srcset = get(d, HP_RESOURCE_SRCSET);
  resource.sizes = get(d, HP_RESOURCE_SIZES);
  if (!resource.url.length && !resource.srcset.length) return true;
  if (is(get(d, HP_RESOURCE_LOADING), "lazy")) resource.flags |= HPAR_RESOURCE_LAZY;
  return report(d, &resource);
}

static bool describe_style(const description *d) {
  hp_ref child = node_of(d->view, d->element)->first;
  hpar_string type = get(d, HP_RESOURCE_TYPE);
  if (!child || node_of(d->view, child)->kind != HPAR_NODE_TEXT) return true;
  if ((type.length && !is(type, "text/css")) || matches_nothing(get(d, HP_RESOURCE_MEDIA))) return true;
  hpar_string sheet = hp_text_of(d->view->document->range.base, d->view->text, node_of(d->view, child));
  hpar_resource resource = resource_of(d, HPAR_RESOURCE_IMPORT);
  hp_css_import import;
  for (size_t at = 0; hp_next_css_import(sheet, &at, &import);) {
    resource.url = import.url;
    resource.content = import.rest;
    if (!matches_nothing(import.rest) && !report(d, &resource)) return false;
  }
  return true;
}

static bool describe_meta(const description *d) {
  hpar_string name = get(d, HP_RESOURCE_NAME), pragma = get(d, HP_RESOURCE_HTTP_EQUIV);
  hpar_resource resource = resource_of(d, HPAR_RESOURCE_POLICY);
  resource.content = get(d, HP_RESOURCE_CONTENT);
  if (!resource.content.length) return true;
  if (is(pragma, "content-security-policy")) return report(d, &resource);
  if (is(name, "referrer"))
    resource.kind = HPAR_RESOURCE_REFERRER;
  else if (is(name, "viewport"))
    resource.kind = HPAR_RESOURCE_VIEWPORT;
  else
    return true;
  return report(d, &resource);
}

static bool describe_svg(const description *d, hp_atom name) {
  switch (name) {
    case HP_SCRIPT: return describe_script(d, true);
    case HP_IMAGE: return report_url(d, HPAR_RESOURCE_IMAGE, svg_href(d));
    case HP_STYLE: return describe_style(d);
    default: return true;
  }
}

bool hp_describe_resources(const hp_tree_view *view, hp_ref element, hpar_resource_callback callback, void *context) {
  const hp_node *node = node_of(view, element);
  description d = {view, element, callback, context, {0}};
  hp_read_resource_values(view, element, &d.values);
  if (node->ns == HPAR_NAMESPACE_SVG) return describe_svg(&d, node->name);
  if (node->ns != HPAR_NAMESPACE_HTML) return true;
  switch (node->name) {
    case HP_SCRIPT: return describe_script(&d, false);
    case HP_LINK: return describe_link(&d);
    case HP_IMG: return describe_image(&d);
    case HP_INPUT:
      return !is(get(&d, HP_RESOURCE_TYPE), "image") || report_url(&d, HPAR_RESOURCE_IMAGE, get(&d, HP_RESOURCE_SRC));
    case HP_VIDEO: return report_url(&d, HPAR_RESOURCE_POSTER, get(&d, HP_RESOURCE_POSTER));
    case HP_STYLE: return describe_style(&d);
    case HP_BASE: return report_url(&d, HPAR_RESOURCE_BASE, get(&d, HP_RESOURCE_HREF));
    case HP_META: return describe_meta(&d);
    default: return true;
  }
}

//§ valid-shadow-host-name
static bool is_shadow_host(const hp_tree_view *view, hp_ref ref) {
  const hp_node *node = node_of(view, ref);
  if (node->kind != HPAR_NODE_ELEMENT || node->ns != HPAR_NAMESPACE_HTML) return false;
  switch (node->name) {
    case HP_ARTICLE:
    case HP_ASIDE:
    case HP_BLOCKQUOTE:
    case HP_BODY:
    case HP_DIV:
    case HP_FOOTER:
    case HP_H1:
    case HP_H2:
    case HP_H3:
    case HP_H4:
    case HP_H5:
    case HP_H6:
    case HP_HEADER:
    case HP_MAIN:
    case HP_NAV:
    case HP_P:
    case HP_SECTION:
    case HP_SPAN: return true;
    default: break;
  }
  hp_name name = hp_atom_name(&view->document->atoms, node->name);
  return node->name >= HP_KNOWN_ATOMS && memchr(name.bytes, '-', name.length);
}

//§ parsing-main-inhead
hp_shadow_root hp_is_shadow_root(const hp_tree_view *view, hp_ref template) {
  hp_resource_values values;
  hp_read_resource_values(view, template, &values);
  hpar_string mode = hp_resource_value(&values, HP_RESOURCE_SHADOWROOTMODE);
  hp_ref parent = hp_parent_of(view->document->range.base, node_of(view, template));
  if (!is(mode, "open") && !is(mode, "closed")) return HP_SHADOW_NO;
  if (!parent) return HP_SHADOW_UNSURE;
  return is_shadow_host(view, parent) ? HP_SHADOW_YES : HP_SHADOW_NO;
}
