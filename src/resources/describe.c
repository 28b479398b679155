#include "resources/describe.h"

#include "base/ascii.h"
#include "resources/css_imports.h"

#include <stddef.h>
#include <string.h>

static hpar_string trim(hpar_string s) {
  while (s.length && hp_ascii_is_white(*s.bytes)) s.bytes++, s.length--;
  while (s.length && hp_ascii_is_white(s.bytes[s.length - 1])) s.length--;
  return s;
}

/* Returns true if the string is `word`, which is in lower case. Ignores the case of the string.
 * Inlined calls compare the length with a constant. */
static inline bool is(hpar_string s, const char *word) {
  return s.length == strlen(word) && hp_ascii_equal(s.bytes, word, s.length);
}

static inline bool begins_with(hpar_string s, const char *word) {
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

static hpar_string get(const hp_described *d, hp_resource_attribute attribute) {
  return hp_resource_value(d->values, attribute);
}

/* Attributes that have the same meaning for all kinds, and their places in hpar_resource. */
#define COMMON_ATTRIBUTES(X)                    \
  X(HP_RESOURCE_MEDIA, media)                   \
  X(HP_RESOURCE_TYPE, type)                     \
  X(HP_RESOURCE_AS, as)                         \
  X(HP_RESOURCE_CROSSORIGIN, crossorigin)       \
  X(HP_RESOURCE_INTEGRITY, integrity)           \
  X(HP_RESOURCE_REFERRERPOLICY, referrerpolicy) \
  X(HP_RESOURCE_FETCHPRIORITY, fetchpriority)   \
  X(HP_RESOURCE_CHARSET, charset)               \
  X(HP_RESOURCE_NONCE, nonce)

#define MASK(attribute, field) | UINT32_C(1) << attribute
#define PLACE(attribute, field) [attribute] = offsetof(hpar_resource, field),
static const uint32_t common_mask = 0 COMMON_ATTRIBUTES(MASK);
static const uint8_t common_places[HP_RESOURCE_ATTRIBUTES] = {COMMON_ATTRIBUTES(PLACE)};
#undef MASK
#undef PLACE

/* Sets a resource of this kind with the common attributes of the element. Few are present. */
static inline void begin_resource(const hp_described *d, hpar_resource_kind kind, hpar_resource *resource) {
  memset(resource, 0, sizeof *resource);
  resource->kind = kind;
  resource->flags = d->origin.flags;
  resource->element = d->element;
  resource->offset = d->origin.offset;
  resource->thread = d->origin.thread;
  for (uint32_t left = d->values->present & common_mask; left; left &= left - 1) {
    unsigned attribute = (unsigned)__builtin_ctz(left);
    memcpy((char *)resource + common_places[attribute], &d->values->of[attribute], sizeof(hpar_string));
  }
}

static bool report(const hp_described *d, const hpar_resource *resource) { return d->callback(d->context, resource); }

static bool report_url(const hp_described *d, hpar_resource_kind kind, hpar_string url) {
  if (!url.length) return true;
  hpar_resource resource;
  begin_resource(d, kind, &resource);
  resource.url = url;
  return report(d, &resource);
}

static hpar_string svg_href(const hp_described *d) {
  return get(d, hp_has_value(d->values, HP_RESOURCE_HREF) ? HP_RESOURCE_HREF : HP_RESOURCE_XLINK_HREF);
}

/* Returns true if the attributes `for` and `event` let the script run. */
static bool runs_at_load(const hp_described *d) {
  if (!hp_has_value(d->values, HP_RESOURCE_FOR) || !hp_has_value(d->values, HP_RESOURCE_EVENT)) return true;
  hpar_string event = trim(get(d, HP_RESOURCE_EVENT));
  return is(trim(get(d, HP_RESOURCE_FOR)), "window") && (is(event, "onload") || is(event, "onload()"));
}

//§ prepare-the-script-element
static bool describe_script(const hp_described *d, bool svg) {
  hpar_string type = trim(get(d, HP_RESOURCE_TYPE)), language = get(d, HP_RESOURCE_LANGUAGE);
  bool has_type = hp_has_value(d->values, HP_RESOURCE_TYPE), module = is(type, "module");
  hpar_string url = svg ? svg_href(d) : get(d, HP_RESOURCE_SRC);
  if (!url.length) return true;
  if (has_type && get(d, HP_RESOURCE_TYPE).length && !module && !is_script_type(type)) return true;
  if (!has_type && language.length && !is_script_language(language)) return true;
  if (!module && (hp_has_value(d->values, HP_RESOURCE_NOMODULE) || !runs_at_load(d))) return true;
  hpar_resource resource;
  begin_resource(d, module ? HPAR_RESOURCE_MODULE : HPAR_RESOURCE_SCRIPT, &resource);
  resource.url = url;
  if (hp_has_value(d->values, HP_RESOURCE_ASYNC)) resource.flags |= HPAR_RESOURCE_ASYNC;
  if (hp_has_value(d->values, HP_RESOURCE_DEFER)) resource.flags |= HPAR_RESOURCE_DEFER;
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

/* Returns the bit of a link type; 0: another type. */
static unsigned rel_bit(hpar_string word) {
  switch (word.length) {
    case 4: return is(word, "icon") ? REL_ICON : 0;
    case 7: return is(word, "preload") ? REL_PRELOAD : 0;
    case 8: return is(word, "manifest") ? REL_MANIFEST : 0;
    case 9: return is(word, "alternate") ? REL_ALTERNATE : 0;
    case 10: return is(word, "stylesheet") ? REL_STYLESHEET : is(word, "preconnect") ? REL_PRECONNECT : 0;
    case 12: return is(word, "dns-prefetch") ? REL_DNS_PREFETCH : 0;
    case 13: return is(word, "modulepreload") ? REL_MODULE_PRELOAD : 0;
    default: return 0;
  }
}

//§ linkTypes
static unsigned read_rel(hpar_string list) {
  unsigned types = 0;
  for (hpar_string word; (word = next_word(&list)).bytes;) types |= rel_bit(word);
  return types;
}

static bool describe_preload(const hp_described *d, hpar_string url) {
  hpar_resource resource;
  begin_resource(d, HPAR_RESOURCE_PRELOAD, &resource);
  resource.url = url;
  if (is(resource.as, "image")) {
    resource.srcset = get(d, HP_RESOURCE_IMAGESRCSET);
    resource.sizes = get(d, HP_RESOURCE_IMAGESIZES);
  }
  if ((!url.length && !resource.srcset.length) || !is_preload(resource.as, essence(resource.type))) return true;
  return report(d, &resource);
}

static bool describe_link(const hp_described *d) {
  unsigned rel = read_rel(get(d, HP_RESOURCE_REL));
  hpar_string url = get(d, HP_RESOURCE_HREF), type = essence(get(d, HP_RESOURCE_TYPE));
  bool sheet = (rel & REL_STYLESHEET) && !(rel & REL_ALTERNATE) && !hp_has_value(d->values, HP_RESOURCE_DISABLED) &&
               (!type.length || is(type, "text/css"));
  if (!rel || matches_nothing(get(d, HP_RESOURCE_MEDIA))) return true;
  return (!sheet || report_url(d, HPAR_RESOURCE_STYLE, url)) && (!(rel & REL_PRELOAD) || describe_preload(d, url)) &&
         (!(rel & REL_MODULE_PRELOAD) || report_url(d, HPAR_RESOURCE_MODULE_PRELOAD, url)) &&
         (!(rel & REL_PRECONNECT) || report_url(d, HPAR_RESOURCE_PRECONNECT, url)) &&
         (!(rel & REL_DNS_PREFETCH) || report_url(d, HPAR_RESOURCE_DNS_PREFETCH, url)) &&
         (!(rel & REL_ICON) || report_url(d, HPAR_RESOURCE_ICON, url)) &&
         (!(rel & REL_MANIFEST) || report_url(d, HPAR_RESOURCE_MANIFEST, url));
}

static bool describe_image(const hp_described *d) {
  hpar_string url = get(d, HP_RESOURCE_SRC), srcset = get(d, HP_RESOURCE_SRCSET);
  if (!url.length && !srcset.length) return true;
  hpar_resource resource;
  begin_resource(d, HPAR_RESOURCE_IMAGE, &resource);
  resource.picture = d->picture;
  resource.url = url;
  resource.srcset = srcset;
  resource.sizes = get(d, HP_RESOURCE_SIZES);
  if (is(get(d, HP_RESOURCE_LOADING), "lazy")) resource.flags |= HPAR_RESOURCE_LAZY;
  return report(d, &resource);
}

bool hp_describe_source(const hp_described *d, const hp_resource_values *img) {
  hpar_string srcset = get(d, HP_RESOURCE_SRCSET), type = essence(get(d, HP_RESOURCE_TYPE));
  if (!srcset.length || (type.length && !begins_with(type, "image/"))) return true;
  if (matches_nothing(get(d, HP_RESOURCE_MEDIA))) return true;
  hpar_resource resource;
  begin_resource(d, HPAR_RESOURCE_IMAGE, &resource);
  resource.flags |=
      HPAR_RESOURCE_SOURCE | (is(hp_resource_value(img, HP_RESOURCE_LOADING), "lazy") ? HPAR_RESOURCE_LAZY : 0u);
  resource.picture = d->picture;
  resource.srcset = srcset;
  resource.sizes = get(d, HP_RESOURCE_SIZES);
  resource.crossorigin = hp_resource_value(img, HP_RESOURCE_CROSSORIGIN);
  resource.referrerpolicy = hp_resource_value(img, HP_RESOURCE_REFERRERPOLICY);
  resource.fetchpriority = hp_resource_value(img, HP_RESOURCE_FETCHPRIORITY);
  return report(d, &resource);
}

static bool describe_style(const hp_described *d) {
  hpar_string type = get(d, HP_RESOURCE_TYPE);
  if (!d->sheet.length || (type.length && !is(type, "text/css")) || matches_nothing(get(d, HP_RESOURCE_MEDIA)))
    return true;
  hp_css_import import;
  for (size_t at = 0; hp_next_css_import(d->sheet, &at, &import);) {
    if (matches_nothing(import.rest)) continue;
    hpar_resource resource;
    begin_resource(d, HPAR_RESOURCE_IMPORT, &resource);
    resource.url = import.url;
    resource.content = import.rest;
    if (!report(d, &resource)) return false;
  }
  return true;
}

static bool describe_meta(const hp_described *d) {
  hpar_string name = get(d, HP_RESOURCE_NAME), pragma = get(d, HP_RESOURCE_HTTP_EQUIV);
  hpar_resource resource;
  begin_resource(d, HPAR_RESOURCE_POLICY, &resource);
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

static bool describe_svg(const hp_described *d, hp_atom name) {
  switch (name) {
    case HP_SCRIPT: return describe_script(d, true);
    case HP_IMAGE: return report_url(d, HPAR_RESOURCE_IMAGE, svg_href(d));
    case HP_STYLE: return describe_style(d);
    default: return true;
  }
}

bool hp_describe(const hp_described *d, uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) return describe_svg(d, name);
  if (ns != HPAR_NAMESPACE_HTML) return true;
  switch (name) {
    case HP_SCRIPT: return describe_script(d, false);
    case HP_LINK: return describe_link(d);
    case HP_IMG: return describe_image(d);
    case HP_INPUT:
      return !is(get(d, HP_RESOURCE_TYPE), "image") || report_url(d, HPAR_RESOURCE_IMAGE, get(d, HP_RESOURCE_SRC));
    case HP_VIDEO: return report_url(d, HPAR_RESOURCE_POSTER, get(d, HP_RESOURCE_POSTER));
    case HP_STYLE: return describe_style(d);
    case HP_BASE: return report_url(d, HPAR_RESOURCE_BASE, get(d, HP_RESOURCE_HREF));
    case HP_META: return describe_meta(d);
    default: return true;
  }
}
