#include "resources/describe.h"

#include "base/bytes.h"
#include "base/call.h"
#include "base/memory.h"
#include "base/process.h"
#include "dom/value.h"
#include "resources/imports.h"

#include <string.h>

/*** values of attributes ***/

#define NOTHING(...)
#define OF_ATOM(attribute, ...) [HP_ATOM_##attribute] = HP_RESOURCE_##attribute,
const uint8_t hp_resource_attributes[HP_KNOWN_ATOMS] = {HP_RESOURCE_ATTRIBUTE_NAMES(OF_ATOM, OF_ATOM, NOTHING)};

/* Returns the attribute of a name that has no fixed atom. Most such names differ in length. */
static hp_resource_attribute find_unknown(const char *name, size_t length) {
#define OF_NAME(attribute, name) {name, HP_RESOURCE_##attribute},
#define LENGTH(attribute, name) | 1 << (sizeof name - 1)
  static const struct {
    const char *name;
    hp_resource_attribute attribute;
  } names[] = {HP_RESOURCE_ATTRIBUTE_NAMES(NOTHING, NOTHING, OF_NAME)};
  enum { LENGTHS = 0 HP_RESOURCE_ATTRIBUTE_NAMES(NOTHING, NOTHING, LENGTH) };
  if (length > 14 || !(LENGTHS >> length & 1)) return HP_RESOURCE_OTHER;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length)) return names[i].attribute;
  return HP_RESOURCE_OTHER;
}

#undef NOTHING
#undef OF_ATOM
#undef OF_NAME
#undef LENGTH

hp_resource_attribute hp_resource_attribute_of(hp_atom atom, const char *name, size_t length) {
  return atom < HP_KNOWN_ATOMS ? (hp_resource_attribute)hp_resource_attributes[atom] : find_unknown(name, length);
}

hp_resource_attribute hp_unknown_resource_attribute(const hpar_document *document, hp_atom name) {
  hp_name unknown = hp_atom_name(&document->atoms, name);
  return find_unknown(unknown.bytes, unknown.length);
}

static hpar_string read_value(const hp_tree_view *view, const hp_attributes *block, uint32_t index) {
  const hp_attribute *item = &block->items[index];
  if (!hp_is_deferred(block, index)) return (hpar_string){item->value, item->length};
  return view->bytes ? hp_read_value(block, index, view->bytes) : hp_attribute_value(view->document, block, item);
}

void hp_set_deferred_values(const hp_tree_view *view, const hp_attributes *block, bool skips_unknown,
                            hp_resource_values *values) {
  for (uint32_t i = 0; i < block->count; i++) {
    hp_resource_attribute attribute = hp_resource_attribute_at(view->document, block->items[i].name, skips_unknown);
    if (attribute != HP_RESOURCE_OTHER) hp_set_value(values, attribute, read_value(view, block, i));
  }
}

/*** descriptions ***/

static inline bool begins_with(hpar_string s, const char *word) {
  size_t length = strlen(word);
  return s.length >= length && hp_ascii_equal(s.bytes, word, length);
}

/* Returns a MIME type without its parameters. */
static hpar_string essence(hpar_string type) {
  const char *semicolon = type.length ? memchr(type.bytes, ';', type.length) : NULL;
  if (semicolon) type.length = (size_t)(semicolon - type.bytes);
  return hp_trim(type);
}

/*** types ***/

/* Returns true if JavaScript has this type after "text/", or after "application/". */
//§ javascript-mime-type
static bool is_script_subtype(hpar_string type, bool of_text) {
  static const char *const names[] = {"ecmascript",    "javascript",    "x-ecmascript",  "x-javascript",
                                      "javascript1.0", "javascript1.1", "javascript1.2", "javascript1.3",
                                      "javascript1.4", "javascript1.5", "jscript",       "livescript"};
  for (size_t i = 0; i < (of_text ? sizeof names / sizeof *names : 4); i++)
    if (hp_is_word(type, names[i])) return true;
  return false;
}

bool hp_is_script_type(hpar_string type) {
  const bool is_text = begins_with(type, "text/");
  const size_t prefix = is_text ? 5 : 12;
  if (!is_text && !begins_with(type, "application/")) return false;
  return is_script_subtype((hpar_string){type.bytes + prefix, type.length - prefix}, is_text);
}

bool hp_is_script_language(hpar_string language) { return is_script_subtype(language, true); }

static bool is_font_type(hpar_string type) {
  return begins_with(type, "font/") || begins_with(type, "application/font-") ||
         begins_with(type, "application/x-font-") || hp_is_word(type, "application/vnd.ms-fontobject");
}

/* Returns true if a preload for this use may have this type. An empty type fits. */
//§ translate-a-preload-destination
static bool is_preload(hpar_string as, hpar_string type) {
  if (hp_is_word(as, "fetch")) return true;
  if (hp_is_word(as, "image")) return !type.length || begins_with(type, "image/");
  if (hp_is_word(as, "style")) return !type.length || hp_is_word(type, "text/css");
  if (hp_is_word(as, "script")) return !type.length || hp_is_script_type(type);
  if (hp_is_word(as, "font")) return !type.length || is_font_type(type);
  return hp_is_word(as, "track") && (!type.length || hp_is_word(type, "text/vtt"));
}

/* Returns true if each media query of the list is "not all". */
static bool matches_nothing(hpar_string media) {
  static const char all[] = "all";
  if (!media.bytes || !hp_trim(media).length) return false;
  for (size_t at = 0; at <= media.length;) {
    const char *from = media.bytes + at, *comma = memchr(from, ',', media.length - at);
    hpar_string query = hp_trim((hpar_string){from, comma ? (size_t)(comma - from) : media.length - at});
    at += (comma ? (size_t)(comma - from) : media.length - at) + 1;
    if (!begins_with(query, "not") || query.length < 7 || !hp_ascii_is_white(query.bytes[3])) return false;
    if (!hp_is_word(hp_trim((hpar_string){query.bytes + 3, query.length - 3}), all)) return false;
  }
  return true;
}

static void skip_white(hpar_string *s) {
  while (s->length && hp_ascii_is_white(*s->bytes)) s->bytes++, s->length--;
}

/* Returns the next word of a list with white space between words. `bytes` is NULL at its end. */
static hpar_string next_word(hpar_string *list) {
  skip_white(list);
  hpar_string word = {list->length ? list->bytes : NULL, 0};
  while (list->length && !hp_ascii_is_white(*list->bytes)) list->bytes++, list->length--, word.length++;
  return word;
}

/*** elements ***/

static hpar_string value_of(const hp_described *d, hp_resource_attribute attribute) {
  return hp_resource_value(d->values, attribute);
}

/* Gives the resource, which the attributes have set, its origin. NULL: there is none. */
static hpar_resource *complete(const hp_described *d, hpar_resource *resource) {
  if (!resource) return NULL;
  resource->flags |= d->origin.flags;
  resource->picture = d->picture;
  hp_set_origin(resource, d->element, d->origin);
  return resource;
}

/* Returns the resource of the element with its URL and candidates. The values of the attributes
 * have set the other strings. */
static hpar_resource *begin_resource(const hp_described *d, hpar_resource_kind kind, hpar_string url,
                                     hpar_string srcset, hpar_string sizes) {
  hpar_resource *resource = &d->values->resource;
  resource->kind = kind;
  resource->flags = 0;
  resource->url = url;
  resource->srcset = srcset;
  resource->sizes = sizes;
  return complete(d, resource);
}

static hpar_resource *begin_url(const hp_described *d, hpar_resource_kind kind, hpar_string url) {
  const hpar_string none = {NULL, 0};
  return begin_resource(d, kind, url, none, none);
}

static hpar_resource *script_of(const hp_described *d, hpar_string url) {
  d->values->resource.url = url;
  return complete(d, hp_script_in(d->values));
}

const uint8_t hp_resource_names[HP_KNOWN_ATOMS] = {
    [HP_ATOM_SCRIPT] = 1, [HP_ATOM_LINK] = 1,   [HP_ATOM_IMG] = 1,           [HP_ATOM_IMAGE] = 1, [HP_ATOM_INPUT] = 1,
    [HP_ATOM_VIDEO] = 1,  [HP_ATOM_STYLE] = 1,  [HP_ATOM_BASE] = 1,          [HP_ATOM_META] = 1,  [HP_ATOM_IFRAME] = 1,
    [HP_ATOM_FRAME] = 1,  [HP_ATOM_OBJECT] = 1, [HP_ATOM_EMBED] = 1,         [HP_ATOM_AUDIO] = 1, [HP_ATOM_TRACK] = 1,
    [HP_ATOM_SOURCE] = 1, [HP_ATOM_USE] = 1,    [HP_ATOM_FEIMAGE_MIXED] = 1, [HP_ATOM_BODY] = 2,  [HP_ATOM_TABLE] = 2,
    [HP_ATOM_THEAD] = 2,  [HP_ATOM_TBODY] = 2,  [HP_ATOM_TFOOT] = 2,         [HP_ATOM_TR] = 2,    [HP_ATOM_TD] = 2,
    [HP_ATOM_TH] = 2,
};

/* Reports the resource unless it is NULL. */
static bool report_resource(const hp_described *d, const hpar_resource *resource) {
  return !resource || d->callback(resource, d->context);
}

static bool report_url(const hp_described *d, hpar_resource_kind kind, hpar_string url) {
  return !url.length || report_resource(d, begin_url(d, kind, url));
}

static hpar_string svg_href(const hp_described *d) {
  return value_of(d, hp_has_value(d->values, HP_RESOURCE_HREF) ? HP_RESOURCE_HREF : HP_RESOURCE_ADJUSTED_XLINK_HREF);
}

bool hp_runs_at_load(hpar_string target, hpar_string event) {
  event = hp_trim(event);
  return hp_is_word(hp_trim(target), "window") && (hp_is_word(event, "onload") || hp_is_word(event, "onload()"));
}

//§ prepare-the-script-element
hpar_resource_kind hp_uncommon_script_kind(const hp_resource_values *values) {
  hpar_string given = hp_resource_value(values, HP_RESOURCE_TYPE), type = hp_trim(given);
  hpar_string language = hp_resource_value(values, HP_RESOURCE_LANGUAGE);
  bool has_type = hp_has_value(values, HP_RESOURCE_TYPE);
  if (hp_is_word(type, "module")) return HPAR_RESOURCE_MODULE;
  if (given.length && !hp_is_script_type(type)) return HPAR_RESOURCE_KINDS;
  if (!has_type && language.length && !hp_is_script_language(language)) return HPAR_RESOURCE_KINDS;
  if (hp_has_value(values, HP_RESOURCE_NOMODULE)) return HPAR_RESOURCE_KINDS;
  if (!hp_has_value(values, HP_RESOURCE_FOR) || !hp_has_value(values, HP_RESOURCE_EVENT)) return HPAR_RESOURCE_SCRIPT;
  return hp_runs_at_load(hp_resource_value(values, HP_RESOURCE_FOR), hp_resource_value(values, HP_RESOURCE_EVENT))
             ? HPAR_RESOURCE_SCRIPT
             : HPAR_RESOURCE_KINDS;
}

static bool is_inline_type(hpar_string type) { return hp_is_word(type, "module") || hp_is_word(type, "importmap"); }

bool hp_may_be_inline_script(const hp_attributes *block) {
  const hp_attribute *type = hp_find_attribute(block, HP_ATOM_TYPE);
  return type &&
         (hp_is_item_deferred(block, type) || is_inline_type(hp_trim((hpar_string){type->value, type->length})));
}

bool hp_is_inline_script(const hp_resource_values *values) {
  return !hp_has_value(values, HP_RESOURCE_SRC) && is_inline_type(hp_trim(hp_resource_value(values, HP_RESOURCE_TYPE)));
}

/* Reports the imports of a module, or an import map. */
static bool describe_inline_script(const hp_described *d) {
  const hpar_string none = {NULL, 0};
  if (!d->sheet.length) return true;
  if (!hp_is_word(hp_trim(value_of(d, HP_RESOURCE_TYPE)), "module")) {
    hpar_resource *map = begin_url(d, HPAR_RESOURCE_IMPORT_MAP, none);
    map->content = d->sheet;
    return report_resource(d, map);
  }
  hp_js_import import;
  for (hp_js_place place = {0}; hp_next_js_import(d->sheet, &place, &import);)
    if (!report_url(d, HPAR_RESOURCE_MODULE_IMPORT, import.specifier)) return false;
  return true;
}

static bool describe_script(const hp_described *d) {
  if (hp_is_inline_script(d->values)) return describe_inline_script(d);
  return report_resource(d, script_of(d, value_of(d, HP_RESOURCE_SRC)));
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
  REL_MANIFEST = 128,
  REL_PREFETCH = 256
};

/* Returns the bit of a link type; 0: another type. */
static unsigned rel_bit(hpar_string word) {
  switch (word.length) {
    case 4: return hp_is_word(word, "icon") ? REL_ICON : 0;
    case 7: return hp_is_word(word, "preload") ? REL_PRELOAD : 0;
    case 8: return hp_is_word(word, "manifest") ? REL_MANIFEST : hp_is_word(word, "prefetch") ? REL_PREFETCH : 0;
    case 9: return hp_is_word(word, "alternate") ? REL_ALTERNATE : 0;
    case 10:
      return hp_is_word(word, "stylesheet") ? REL_STYLESHEET : hp_is_word(word, "preconnect") ? REL_PRECONNECT : 0;
    case 12: return hp_is_word(word, "dns-prefetch") ? REL_DNS_PREFETCH : 0;
    case 13: return hp_is_word(word, "modulepreload") ? REL_MODULE_PRELOAD : 0;
    default: return 0;
  }
}

//§ linkTypes
static unsigned read_rel(hpar_string list) {
  unsigned types = rel_bit(list); /* most lists have one word */
  if (types) return types;
  for (hpar_string word; (word = next_word(&list)).bytes;) types |= rel_bit(word);
  return types;
}

bool hp_may_be_watched_link(const hp_attributes *block) {
  const hp_attribute *rel = hp_find_attribute(block, HP_ATOM_REL);
  return rel && (hp_is_item_deferred(block, rel) || read_rel((hpar_string){rel->value, rel->length}));
}

static bool describe_preload(const hp_described *d, hpar_string url) {
  hpar_string as = value_of(d, HP_RESOURCE_AS), srcset = {NULL, 0}, sizes = {NULL, 0};
  if (hp_is_word(as, "image")) {
    srcset = value_of(d, HP_RESOURCE_IMAGESRCSET);
    sizes = value_of(d, HP_RESOURCE_IMAGESIZES);
  }
  if ((!url.length && !srcset.length) || !is_preload(as, essence(value_of(d, HP_RESOURCE_TYPE)))) return true;
  return report_resource(d, begin_resource(d, HPAR_RESOURCE_PRELOAD, url, srcset, sizes));
}

/* Returns true if the link has a style sheet: an alternate one needs a title. */
static bool has_sheet(const hp_described *d, unsigned rel, hpar_string type) {
  if (!(rel & REL_STYLESHEET) || hp_has_value(d->values, HP_RESOURCE_DISABLED)) return false;
  if ((rel & REL_ALTERNATE) && !value_of(d, HP_RESOURCE_TITLE).length) return false;
  return !type.length || hp_is_word(type, "text/css");
}

static bool describe_sheet(const hp_described *d, unsigned rel, hpar_string url) {
  if (!url.length) return true;
  hpar_resource *resource = begin_url(d, HPAR_RESOURCE_STYLE, url);
  if (rel & REL_ALTERNATE) resource->flags |= HPAR_RESOURCE_ALTERNATE;
  return report_resource(d, resource);
}

static bool describe_link(const hp_described *d) {
  unsigned rel = read_rel(value_of(d, HP_RESOURCE_REL));
  hpar_string url = value_of(d, HP_RESOURCE_HREF), type = essence(value_of(d, HP_RESOURCE_TYPE));
  if (!rel || matches_nothing(value_of(d, HP_RESOURCE_MEDIA))) return true;
  return (!has_sheet(d, rel, type) || describe_sheet(d, rel, url)) &&
         (!(rel & REL_PRELOAD) || describe_preload(d, url)) &&
         (!(rel & REL_MODULE_PRELOAD) || report_url(d, HPAR_RESOURCE_MODULE_PRELOAD, url)) &&
         (!(rel & REL_PREFETCH) || report_url(d, HPAR_RESOURCE_PREFETCH, url)) &&
         (!(rel & REL_PRECONNECT) || report_url(d, HPAR_RESOURCE_PRECONNECT, url)) &&
         (!(rel & REL_DNS_PREFETCH) || report_url(d, HPAR_RESOURCE_DNS_PREFETCH, url)) &&
         (!(rel & REL_ICON) || report_url(d, HPAR_RESOURCE_ICON, url)) &&
         (!(rel & REL_MANIFEST) || report_url(d, HPAR_RESOURCE_MANIFEST, url));
}

bool hp_describe_source(const hp_described *d, const hp_resource_values *img) {
  hpar_string srcset = value_of(d, HP_RESOURCE_SRCSET), type = essence(value_of(d, HP_RESOURCE_TYPE)), none = {NULL, 0};
  if (!srcset.length || (type.length && !begins_with(type, "image/"))) return true;
  if (matches_nothing(value_of(d, HP_RESOURCE_MEDIA))) return true;
  hpar_resource *resource = begin_resource(d, HPAR_RESOURCE_IMAGE, none, srcset, value_of(d, HP_RESOURCE_SIZES));
  resource->flags |= HPAR_RESOURCE_SOURCE | hp_lazy_flag(img);
  resource->crossorigin = hp_resource_value(img, HP_RESOURCE_CROSSORIGIN);
  resource->referrerpolicy = hp_resource_value(img, HP_RESOURCE_REFERRERPOLICY);
  resource->fetchpriority = hp_resource_value(img, HP_RESOURCE_FETCHPRIORITY);
  return report_resource(d, resource);
}

/* Returns true if the element is audio or video. */
static bool is_media(uint8_t ns, hp_atom name) {
  return ns == HPAR_NAMESPACE_HTML && (name == HP_ATOM_AUDIO || name == HP_ATOM_VIDEO);
}

//§ concept-media-load-algorithm
unsigned hp_media_of(const hp_resource_values *media) {
  if (hp_has_value(media, HP_RESOURCE_SRC)) return 0;
  if (!hp_has_value(media, HP_RESOURCE_CROSSORIGIN)) return HP_MEDIA_HAS_SOURCES;
  return hp_is_word(hp_resource_value(media, HP_RESOURCE_CROSSORIGIN), "use-credentials")
             ? HP_MEDIA_HAS_SOURCES | HP_MEDIA_CORS | HP_MEDIA_CREDENTIALS
             : HP_MEDIA_HAS_SOURCES | HP_MEDIA_CORS;
}

static hpar_string media_crossorigin(unsigned media) {
  static const char credentials[] = "use-credentials";
  if (!(media & HP_MEDIA_CORS)) return (hpar_string){NULL, 0};
  return media & HP_MEDIA_CREDENTIALS ? (hpar_string){credentials, sizeof credentials - 1} : (hpar_string){"", 0};
}

bool hp_describe_media_source(const hp_described *d, unsigned media) {
  hpar_string url = value_of(d, HP_RESOURCE_SRC), type = essence(value_of(d, HP_RESOURCE_TYPE));
  if (!(media & HP_MEDIA_HAS_SOURCES) || !url.length || matches_nothing(value_of(d, HP_RESOURCE_MEDIA))) return true;
  if (type.length && !begins_with(type, "audio/") && !begins_with(type, "video/") && !begins_with(type, "application/"))
    return true;
  hpar_resource *resource = begin_url(d, HPAR_RESOURCE_MEDIA, url);
  resource->flags |= HPAR_RESOURCE_SOURCE;
  resource->crossorigin = media_crossorigin(media);
  return report_resource(d, resource);
}

static bool describe_style(const hp_described *d) {
  hpar_string type = value_of(d, HP_RESOURCE_TYPE);
  if (!d->sheet.length || (type.length && !hp_is_word(type, "text/css")) ||
      matches_nothing(value_of(d, HP_RESOURCE_MEDIA)))
    return true;
  hp_css_import import;
  for (size_t at = 0; hp_next_css_import(d->sheet, &at, &import);) {
    if (matches_nothing(import.rest)) continue;
    hpar_resource *resource = begin_url(d, HPAR_RESOURCE_IMPORT, import.url);
    resource->content = import.rest;
    if (!report_resource(d, resource)) return false;
  }
  return true;
}

static void skip_bytes(hpar_string *s, size_t count) { s->bytes += count, s->length -= count; }

//§ shared-declarative-refresh-steps
hpar_string hp_refresh_url(hpar_string s) {
  const hpar_string none = {NULL, 0};
  skip_white(&s);
  if (!s.length || (!hp_ascii_is_digit(*s.bytes) && *s.bytes != '.')) return none;
  while (s.length && (hp_ascii_is_digit(*s.bytes) || *s.bytes == '.')) skip_bytes(&s, 1);
  if (s.length && *s.bytes != ';' && *s.bytes != ',' && !hp_ascii_is_white(*s.bytes)) return none;
  skip_white(&s);
  if (s.length && (*s.bytes == ';' || *s.bytes == ',')) skip_bytes(&s, 1);
  skip_white(&s);
  if (begins_with(s, "url")) {
    hpar_string after = s;
    skip_bytes(&after, 3);
    skip_white(&after);
    if (!after.length || *after.bytes != '=') return s; /* "url" begins the URL itself */
    skip_bytes(&after, 1);
    skip_white(&after);
    s = after;
  }
  if (s.length && (*s.bytes == '"' || *s.bytes == '\'')) {
    char quote = *s.bytes;
    skip_bytes(&s, 1);
    const char *end = s.length ? memchr(s.bytes, quote, s.length) : NULL;
    if (end) s.length = (size_t)(end - s.bytes);
  }
  return s;
}

static bool describe_refresh(const hp_described *d, hpar_string content) {
  hpar_string url = hp_refresh_url(content);
  if (!url.length) return true;
  hpar_resource *resource = begin_url(d, HPAR_RESOURCE_REFRESH, url);
  resource->content = content;
  return report_resource(d, resource);
}

static bool describe_meta(const hp_described *d) {
  hpar_string name = value_of(d, HP_RESOURCE_NAME), content = value_of(d, HP_RESOURCE_CONTENT),
              pragma = value_of(d, HP_RESOURCE_HTTP_EQUIV), none = {NULL, 0};
  hpar_resource_kind kind;
  if (hp_is_word(pragma, "refresh") && !describe_refresh(d, content)) return false;
  if (hp_is_word(pragma, "content-security-policy"))
    kind = HPAR_RESOURCE_POLICY;
  else if (hp_is_word(name, "referrer"))
    kind = HPAR_RESOURCE_REFERRER;
  else if (hp_is_word(name, "viewport"))
    kind = HPAR_RESOURCE_VIEWPORT;
  else
    return true;
  hpar_resource *resource = begin_url(d, kind, none);
  resource->content = content;
  return !content.length || report_resource(d, resource);
}

static bool describe_frame(const hp_described *d) {
  hpar_string url = value_of(d, HP_RESOURCE_SRC);
  if (!url.length || hp_has_value(d->values, HP_RESOURCE_SRCDOC)) return true;
  hpar_resource *resource = begin_url(d, HPAR_RESOURCE_FRAME, url);
  resource->flags |= hp_lazy_flag(d->values);
  return report_resource(d, resource);
}

/* The poster's resource replaces the URL in `values->resource`, so `src` is read first. */
static bool describe_video(const hp_described *d) {
  hpar_string media = value_of(d, HP_RESOURCE_SRC);
  return report_url(d, HPAR_RESOURCE_POSTER, value_of(d, HP_RESOURCE_POSTER)) &&
         report_url(d, HPAR_RESOURCE_MEDIA, media);
}

/* Reports the URL of a use or feImage element, which loads nothing if it is in the document. */
static bool report_reference(const hp_described *d) {
  hpar_string url = svg_href(d);
  return (url.length && *url.bytes == '#') || report_url(d, HPAR_RESOURCE_IMAGE, url);
}

static bool describe_svg(const hp_described *d, hp_atom name) {
  switch (name) {
    case HP_ANY(USE, FEIMAGE_MIXED): return report_reference(d);
    case HP_ATOM_SCRIPT: return report_resource(d, script_of(d, svg_href(d)));
    case HP_ATOM_IMAGE: return report_url(d, HPAR_RESOURCE_IMAGE, svg_href(d));
    case HP_ATOM_STYLE: return describe_style(d);
    default: return true;
  }
}

bool hp_describe(const hp_described *d, uint8_t ns, hp_atom name) {
  if (ns == HPAR_NAMESPACE_SVG) return describe_svg(d, name);
  if (ns != HPAR_NAMESPACE_HTML) return true;
  switch (name) {
    case HP_ATOM_SCRIPT: return describe_script(d);
    case HP_ATOM_LINK: return describe_link(d);
    case HP_ATOM_IMG: return report_resource(d, complete(d, hp_image_in(d->values)));
    case HP_ATOM_INPUT:
      return !hp_is_word(value_of(d, HP_RESOURCE_TYPE), "image") ||
             report_url(d, HPAR_RESOURCE_IMAGE, value_of(d, HP_RESOURCE_SRC));
    case HP_ATOM_VIDEO: return describe_video(d);
    case HP_ATOM_AUDIO: return report_url(d, HPAR_RESOURCE_MEDIA, value_of(d, HP_RESOURCE_SRC));
    case HP_ATOM_TRACK: return report_url(d, HPAR_RESOURCE_TRACK, value_of(d, HP_RESOURCE_SRC));
    case HP_ATOM_IFRAME: return describe_frame(d);
    case HP_ATOM_FRAME: return report_url(d, HPAR_RESOURCE_FRAME, value_of(d, HP_RESOURCE_SRC));
    case HP_ATOM_OBJECT: return report_url(d, HPAR_RESOURCE_OBJECT, value_of(d, HP_RESOURCE_DATA));
    case HP_ATOM_EMBED: return report_url(d, HPAR_RESOURCE_OBJECT, value_of(d, HP_RESOURCE_SRC));
    case HP_ATOM_STYLE: return describe_style(d);
    case HP_ATOM_BASE: return report_url(d, HPAR_RESOURCE_BASE, value_of(d, HP_RESOURCE_HREF));
    case HP_ATOM_META: return describe_meta(d);
    default:
      return !hp_may_have_background(name) || report_url(d, HPAR_RESOURCE_IMAGE, value_of(d, HP_RESOURCE_BACKGROUND));
  }
}

/*** elements of a tree ***/

static const hp_node *node_of(const hp_tree_view *view, hp_ref ref) {
  return hp_node_at(view->document->range.base, ref);
}

static bool is_html(const hp_tree_view *view, hp_ref ref, hp_atom name) {
  if (!ref) return false;
  const hp_node *node = node_of(view, ref);
  return node->kind == HPAR_NODE_ELEMENT && node->ns == HPAR_NAMESPACE_HTML && node->name == name;
}

/* Reports the source elements between the previous img element of the picture and this one. All
 * img elements of a picture together take linear time. */
static bool describe_sources(const hp_tree_view *view, const hp_described *img) {
  hp_ref from = node_of(view, img->element)->previous;
  while (from && !is_html(view, from, HP_ATOM_IMG)) from = node_of(view, from)->previous;
  hp_ref at = from ? node_of(view, from)->next : node_of(view, img->picture)->first;
  hp_resource_values values;
  for (; at != img->element; at = node_of(view, at)->next) {
    if (!is_html(view, at, HP_ATOM_SOURCE)) continue;
    hp_described source = *img;
    source.element = at;
    source.values = &values;
    hp_read_resource_values(view, at, &values);
    if (!hp_describe_source(&source, img->values)) return false;
  }
  return true;
}

/* Returns the audio or video element around the node; 0: its parent is none. */
static hp_ref media_around(const hp_tree_view *view, hp_ref node) {
  hp_ref parent = hp_parent_of(view->document->range.base, node_of(view, node));
  if (!parent || node_of(view, parent)->kind != HPAR_NODE_ELEMENT) return 0;
  return is_media(node_of(view, parent)->ns, node_of(view, parent)->name) ? parent : 0;
}

/* Reports the resource of a source element of a tree in a media element with these bits. */
static bool describe_source_in(const hp_tree_view *view, hp_ref source, hp_ref media, unsigned bits,
                               hp_resource_origin origin, hp_resource_fn callback, void *context) {
  hp_resource_values values;
  if (!(bits & HP_MEDIA_HAS_SOURCES)) return true;
  hp_read_resource_values(view, source, &values);
  hp_described d = {.origin = origin,
                    .element = source,
                    .picture = media,
                    .values = &values,
                    .callback = callback,
                    .context = context};
  return hp_describe_media_source(&d, bits);
}

bool hp_describe_resources(const hp_tree_view *view, hp_ref element, hp_resource_origin origin, hp_resource_fn callback,
                           void *context) {
  const hp_node *node = node_of(view, element);
  hp_resource_values values;
  if (node->name == HP_ATOM_SOURCE) {
    hp_ref media = node->ns == HPAR_NAMESPACE_HTML ? media_around(view, element) : 0;
    unsigned bits = media ? node_of(view, media)->flags >> HP_FLAG_MEDIA_SHIFT & HP_MEDIA_BITS : 0;
    return describe_source_in(view, element, media, bits, origin, callback, context);
  }
  hp_read_resource_values(view, element, &values);
  hp_described d = {.origin = origin, .element = element, .values = &values, .callback = callback, .context = context};
  if (node->name == HP_ATOM_IMG && node->ns == HPAR_NAMESPACE_HTML) {
    hp_ref parent = hp_parent_of(view->document->range.base, node);
    if (is_html(view, parent, HP_ATOM_PICTURE)) {
      d.picture = parent;
      if (!describe_sources(view, &d)) return false;
    }
    return report_resource(&d, complete(&d, hp_image_in(d.values)));
  }
  bool has_text = node->name == HP_ATOM_STYLE || (node->name == HP_ATOM_SCRIPT && node->ns == HPAR_NAMESPACE_HTML);
  if (has_text && node->first && node_of(view, node->first)->kind == HPAR_NODE_TEXT)
    d.sheet = hp_text_of(view->document->range.base, view->text, node_of(view, node->first));
  return hp_describe(&d, node->ns, node->name);
}

/*** hashes and shadow roots ***/

uint64_t hp_hash_resource(uint64_t hash, const hpar_resource *resource) {
  hash = hp_hash_bytes(hash + resource->kind, resource->url.bytes, resource->url.length);
  return hp_hash_bytes(hash, resource->srcset.bytes, resource->srcset.length);
}

//§ valid-shadow-host-name
bool hp_is_shadow_host(hp_atom name, hp_name text) {
  switch (name) {
    case HP_ANY(ARTICLE, ASIDE, BLOCKQUOTE, BODY, DIV, FOOTER, HEADER, MAIN, NAV, P, SECTION, SPAN):
    case HP_ANY(H1, H2, H3, H4, H5, H6): return true;
    default: break;
  }
  return name >= HP_KNOWN_ATOMS && memchr(text.bytes, '-', text.length);
}

static bool is_host(const hp_tree_view *view, hp_ref ref) {
  const hp_node *node = node_of(view, ref);
  if (node->kind != HPAR_NODE_ELEMENT || node->ns != HPAR_NAMESPACE_HTML) return false;
  return hp_is_shadow_host(node->name, hp_atom_name(&view->document->atoms, node->name));
}

//§ parsing-main-inhead
hp_shadow_root hp_is_shadow_root(const hp_tree_view *view, hp_ref template) {
  hp_resource_values values;
  hp_read_resource_values(view, template, &values);
  hpar_string mode = hp_resource_value(&values, HP_RESOURCE_SHADOWROOTMODE);
  hp_ref parent = hp_parent_of(view->document->range.base, node_of(view, template));
  if (!hp_is_word(mode, "open") && !hp_is_word(mode, "closed")) return HP_SHADOW_NO;
  if (!parent) return HP_SHADOW_UNSURE;
  return is_host(view, parent) ? HP_SHADOW_YES : HP_SHADOW_NO;
}

/*** the resources of a finished tree ***/

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
  uint32_t media_count, media_capacity;
  hpar_status status;
} walk;

static bool report_to_caller(const hpar_resource *resource, void *context) {
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
  if (!hp_reserve(&w->media, &w->media_capacity, (size_t)w->media_count + 1, sizeof *w->media)) {
    w->status = HPAR_ERROR_MEMORY;
    return false;
  }
  w->media[w->media_count++] = (passed_media){media, read_media(w, media)};
  return true;
}

/* Reports the resource of a source element in a media element. The elements that the walk has
 * passed after its parent are not around it. */
static bool report_source(walk *w, hp_ref source) {
  hp_ref media = media_around(&w->view, source);
  if (!media) return true;
  while (w->media_count && w->media[w->media_count - 1].element != media) w->media_count--;
  unsigned bits = w->media_count ? w->media[w->media_count - 1].bits : read_media(w, media);
  return describe_source_in(&w->view, source, media, bits, (hp_resource_origin){0, 0, 0}, report_to_caller, w);
}

/* Returns true if an element of the tree has the attribute. Pages have many cells. */
static bool has_background(const walk *w, const hp_node *node) {
  const char *base = w->view.document->range.base;
  return node->attributes && hp_find_attribute(hp_at(base, node->attributes), HP_ATOM_BACKGROUND);
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
  return hp_describe_resources(&w->view, element, (hp_resource_origin){0, 0, 0}, report_to_caller, w);
}

hpar_status hpar_resources(const hpar_document *document, hpar_node top, hpar_resource_callback callback,
                           void *context) {
  if (!document || !callback) return HPAR_ERROR_ARGUMENT;
  walk w = {.view = {document, document->input.bytes, NULL}, .callback = callback, .context = context, .tops = {top}};
  hp_begin_reading(&document->use);
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
  hp_document_end_reading(document);
  hp_free(w.media);
  return hp_end_of_walk(w.status);
}

const char *hpar_resource_kind_name(size_t kind) {
  static const char *const names[HPAR_RESOURCE_KINDS] = {[HPAR_RESOURCE_SCRIPT] = "script",
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
                                                         [HPAR_RESOURCE_IMPORT_MAP] = "importmap"};
  return kind < HPAR_RESOURCE_KINDS ? names[kind] : NULL;
}
