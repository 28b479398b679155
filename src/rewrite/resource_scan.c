#include "rewrite/resource_scan.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "resources/describe.h"
#include "rewrite/state.h"
#include "runtime/units.h"

#include <string.h>

/* An open picture or media element. The resources of a picture's source elements wait for its next
 * img. */
typedef struct open_picture {
  hp_ref node;
  uint32_t number;
  unsigned media;   /* hp_media_of */
  uint32_t sources; /* its source elements have this index or a higher one */
} open_picture;

typedef struct waiting_source {
  hp_ref picture;
  hp_resource_values values;
} waiting_source;

struct hp_resource_scan {
  const hpar_rules *rules;
  hpar_rewriter *rewriter;
  const hp_scan_part *part;
  hp_resource_fn callback;
  void *context;
  bool has_stopped;
  uint64_t shift; /* from a position in the rewriter's input to one in the text; it may wrap */

  bool has_background; /* a tag has given the body this attribute */
  uint32_t templates;  /* open ones */
  uint32_t inert_from; /* the first of them that is no shadow root, counted from 1; 0: none */
  HP_ARRAY(open_picture) pictures;
  uint32_t picture_number;
  HP_ARRAY(waiting_source) sources;

  bool in_style; /* the text of a style element, a module or an import map is not complete */
  uint8_t style_ns;
  hp_atom style_name;
  uint64_t style_start, style_text; /* its start tag; the end of that tag */
  hp_resource_values style;
  hp_bytes sheet;  /* of a style element in SVG: its text so far */
  hp_scratch kept; /* values of sources and of the style element */
};

/*** attributes ***/

/* Reads the attributes of the tag that the rewriter processes. Their values are valid as long as
 * the tag is. */
static void read_values(hpar_rewriter *r, uint8_t ns, hp_resource_values *values) {
  hp_spans *s = &r->token.spans;
  hp_clear_values(values);
  if (!r->token.has_spans) return;
  hp_spans_complete(s, &r->scratch);
  for (uint32_t i = 0; i < s->count; i++) {
    const hp_span *span = &s->items[i];
    if (span->is_duplicate) continue;
    hp_name name = hp_span_name(s, span, &r->scratch);
    hp_atom atom = hp_names_find(&r->names, name.bytes, name.length);
    if (ns != HPAR_NAMESPACE_HTML) atom = hp_foreign_attribute_name(ns, atom);
    if (!atom) atom = HP_KNOWN_ATOMS;
    hp_resource_attribute attribute = hp_resource_attribute_of(atom, name.bytes, name.length);
    if (attribute == HP_RESOURCE_OTHER) continue;
    hp_name value = hp_span_value(s, span, r->encoding.used, &r->scratch);
    hp_set_value(values, attribute, (hpar_string){value.bytes, value.length});
  }
}

/* Copies the values, which then are valid until `kept` is cleared. */
static void keep_values(hp_resource_scan *s, hp_resource_values *to, const hp_resource_values *from) {
  hp_clear_values(to);
  for (uint64_t left = hp_present_values(from); left; left &= left - 1) {
    hp_resource_attribute attribute = (hp_resource_attribute)__builtin_ctzll(left);
    hpar_string value = hp_resource_value(from, attribute);
    hp_set_value(to, attribute, (hpar_string){hp_scratch_copy(&s->kept, value.bytes, value.length), value.length});
  }
}

/* Frees the kept values if none is in use. */
static void release_values(hp_resource_scan *s) {
  if (!s->sources.count && !s->in_style) hp_scratch_clear(&s->kept);
}

/*** elements ***/

static bool report_described(const hpar_resource *resource, void *context) {
  hp_resource_scan *s = context;
  if (!s->callback(resource, s->context)) s->has_stopped = true;
  return !s->has_stopped;
}

static hp_described described(hp_resource_scan *s, hp_resource_values *values, uint64_t start) {
  return (hp_described){
      .origin = {start + s->shift, s->part->thread, 0}, .values = values, .callback = report_described, .context = s};
}

/* Returns the open picture or media element that is this node, or NULL. The innermost one is almost
 * always the one: elements end from the inside, and only a table puts an img into an outer one. */
static open_picture *find_picture(hp_resource_scan *s, hp_ref node) {
  const hp_node *n = hp_outline_node(&s->rewriter->outline, node);
  if (n->name != HP_ATOM_PICTURE && n->name != HP_ATOM_AUDIO && n->name != HP_ATOM_VIDEO) return NULL;
  if (n->ns != HPAR_NAMESPACE_HTML) return NULL;
  for (uint32_t i = s->pictures.count; i-- > 0;)
    if (s->pictures.items[i].node == node) return &s->pictures.items[i];
  return NULL;
}

/* Removes the waiting sources of a picture. Reports them before `img`, unless it is NULL. */
static void take_sources(hp_resource_scan *s, const open_picture *picture, const hp_described *img) {
  const uint32_t first = picture->sources;
  uint32_t kept = first;
  for (uint32_t i = first; i < s->sources.count; i++) {
    if (s->sources.items[i].picture != picture->node) {
      s->sources.items[kept++] = s->sources.items[i];
      continue;
    }
    if (!img || s->has_stopped) continue;
    hp_described source = *img;
    source.values = &s->sources.items[i].values;
    hp_describe_source(&source, img->values);
  }
  s->sources.count = kept;
  for (open_picture *inner = s->pictures.items + s->pictures.count; --inner > picture;) inner->sources = first;
  release_values(s);
}

static hpar_status end_picture(hpar_element_end *given, void *context) {
  const hp_element_end *end = (const hp_element_end *)given;
  hp_resource_scan *s = end->rewriter->owner;
  (void)context;
  open_picture *picture = find_picture(s, end->node);
  if (!picture) return HPAR_OK;
  take_sources(s, picture, NULL);
  s->pictures.count--;
  memmove(picture, picture + 1, (size_t)(s->pictures.items + s->pictures.count - picture) * sizeof *picture);
  return HPAR_OK;
}

/* Registers the callback for the end of the element. */
static void add_end(hp_resource_scan *s, hp_element *e, hpar_element_end_callback callback) {
  hpar_status status = hpar_element_on_end(&e->shown, callback, NULL);
  if (status != HPAR_OK) hp_rewriter_fail(s->rewriter, status, NULL);
}

static void begin_picture(hp_resource_scan *s, hp_element *e, unsigned media) {
  *hp_push(&s->pictures, &s->rewriter->unwind) = (open_picture){e->node, ++s->picture_number, media, s->sources.count};
  add_end(s, e, end_picture);
}

static void add_source(hp_resource_scan *s, const hp_element *e, hp_ref parent, hp_resource_values *values) {
  const open_picture *picture = find_picture(s, parent);
  if (!picture) return;
  if (hp_outline_node(&s->rewriter->outline, parent)->name != HP_ATOM_PICTURE) {
    hp_described source = described(s, values, e->rewriter->token.start);
    source.picture = picture->number;
    hp_describe_media_source(&source, picture->media);
    return;
  }
  hp_grow(&s->sources.items, &s->sources.capacity, s->sources.count + 1, &s->rewriter->unwind);
  waiting_source *source = &s->sources.items[s->sources.count];
  source->picture = parent;
  keep_values(s, &source->values, values);
  s->sources.count++;
}

static hpar_status end_template(hpar_element_end *given, void *context) {
  const hp_element_end *end = (const hp_element_end *)given;
  hp_resource_scan *s = end->rewriter->owner;
  (void)context;
  if (s->inert_from == s->templates) s->inert_from = 0;
  s->templates--;
  return HPAR_OK;
}

/* Returns whether the contents of the template, which is the current node, are a shadow root. */
static bool is_shadow_root(const hp_resource_scan *s, const hp_resource_values *values) {
  const hp_builder *b = &s->rewriter->outline.builder;
  hpar_string mode = hp_resource_value(values, HP_RESOURCE_SHADOWROOTMODE);
  if ((!hp_is_word(mode, "open") && !hp_is_word(mode, "closed")) || b->stack.depth < 2) return false;
  const hp_open_element *parent = &b->stack.entries[b->stack.depth - 1];
  return parent->ns == HPAR_NAMESPACE_HTML &&
         hp_is_shadow_host(parent->name, hp_names_of(&s->rewriter->names, parent->name));
}

static void begin_template(hp_resource_scan *s, hp_element *e, const hp_resource_values *values) {
  bool is_root = ++s->templates <= HP_MAX_SHADOW_DEPTH && is_shadow_root(s, values);
  if (!is_root && !s->inert_from) s->inert_from = s->templates;
  add_end(s, e, end_template);
}

/*** style sheets ***/

/* Reports the imports of the sheet of the open style element. */
static void report_sheet(hp_resource_scan *s, hpar_string sheet) {
  hp_described d = described(s, &s->style, s->style_start);
  d.sheet = sheet;
  s->in_style = false;
  if (!s->has_stopped) hp_describe(&d, s->style_ns, s->style_name);
  release_values(s);
}

/* Reports the sheet of the last style element in SVG, unless it has been reported. The element
 * ends, or a node follows its text. An empty sheet has no imports. */
static void end_sheet(hp_resource_scan *s) {
  if (s->in_style) report_sheet(s, (hpar_string){s->sheet.data, s->sheet.length});
}

static hpar_status end_style(hpar_element_end *given, void *context) {
  const hp_element_end *end = (const hp_element_end *)given;
  hp_resource_scan *s = end->rewriter->owner;
  (void)context;
  end_sheet(s);
  return s->has_stopped ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

/* Requires: the sheet of an earlier style element has been reported. */
static void begin_style(hp_resource_scan *s, hp_element *e, uint8_t ns, hp_atom name,
                        const hp_resource_values *values) {
  if (!e->is_open) return;
  s->style_name = name;
  s->in_style = true;
  s->style_ns = ns;
  s->style_start = e->rewriter->token.start;
  s->style_text = e->end;
  s->sheet.length = 0;
  keep_values(s, &s->style, values);
  if (ns != HPAR_NAMESPACE_HTML) add_end(s, e, end_style);
}

static void add_sheet(hp_resource_scan *s, const char *from, const char *to, hp_references references) {
  hpar_rewriter *r = s->rewriter;
  hp_name text = hp_decode_span(from, (size_t)(to - from), references, hp_rewriter_encoding(r), &r->scratch);
  hp_bytes_append(&s->sheet, text.bytes, text.length, &r->unwind);
}

/* Appends a text of a style element in SVG to its sheet: without the ends of CDATA sections and
 * without "</>", which are no characters. */
static void add_foreign_sheet(hp_resource_scan *s, hpar_string raw) {
  static const char begin[] = "<![CDATA[";
  enum { BEGIN = sizeof begin - 1, END = 3 };
  const char *at = raw.bytes, *end = at + raw.length;
  while (at < end) {
    const char *stop = memchr(at, '<', (size_t)(end - at));
    if (!stop) stop = end;
    add_sheet(s, at, stop, HP_REFERENCES_TEXT);
    at = stop;
    if (end - at >= BEGIN && !memcmp(at, begin, BEGIN)) {
      const char *close = memmem(at + BEGIN, (size_t)(end - at) - BEGIN, "]]>", END);
      add_sheet(s, at + BEGIN, close ? close : end, HP_REFERENCES_NONE);
      at = close ? close + END : end;
    } else if (end - at >= END && !memcmp(at, "</>", END)) {
      at += END;
    } else if (at < end) {
      add_sheet(s, at, at + 1, HP_REFERENCES_NONE);
      at++;
    }
  }
}

/* Receives each text in style elements. The first child of the element is its sheet, if it is a
 * text. In SVG, several texts are one node if the tree builder inserts nothing between them: it
 * ignores an end tag there, or closes other elements. */
static hpar_status take_sheet(hpar_text_piece *given, void *context) {
  const hp_text_piece *text = (const hp_text_piece *)given;
  hp_resource_scan *s = text->rewriter->owner;
  (void)context;
  if (!s->in_style || s->style_name != HP_ATOM_STYLE) return HPAR_OK;
  if (text->rewriter->token.inserted_to != s->style_text)
    end_sheet(s);
  else if (s->style_ns == HPAR_NAMESPACE_HTML)
    report_sheet(s, hpar_text_piece_decoded(given));
  else
    add_foreign_sheet(s, text->raw);
  return s->has_stopped ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

/* Receives each text in modules and import maps. In HTML, a script element has no other child. */
static hpar_status take_module(hpar_text_piece *given, void *context) {
  const hp_text_piece *text = (const hp_text_piece *)given;
  hp_resource_scan *s = text->rewriter->owner;
  (void)context;
  if (s->in_style && s->style_name == HP_ATOM_SCRIPT) report_sheet(s, hpar_text_piece_decoded(given));
  return s->has_stopped ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

/*** rules ***/

static void describe_element(hp_resource_scan *s, hp_element *e, hp_resource_values *values) {
  const hp_node *node = hp_outline_node(&s->rewriter->outline, e->node);
  const hp_ref parent = node->parent;
  const uint8_t ns = node->ns;
  const hp_atom name = node->name;
  hp_described d = described(s, values, e->rewriter->token.start);
  if (ns == HPAR_NAMESPACE_HTML && name == HP_ATOM_IMG) {
    const open_picture *picture = s->pictures.count ? find_picture(s, parent) : NULL;
    if (picture && hp_outline_node(&s->rewriter->outline, parent)->name == HP_ATOM_PICTURE) {
      d.picture = picture->number;
      take_sources(s, picture, &d);
      if (s->has_stopped) return;
    }
  }
  hp_describe(&d, ns, name);
}

/* Takes a tag that gives attributes to the body. The first background counts. */
static void take_body(hp_resource_scan *s, const hp_element *e) {
  hp_resource_values values;
  read_values(s->rewriter, HPAR_NAMESPACE_HTML, &values);
  if (s->has_background || !hp_has_value(&values, HP_RESOURCE_BACKGROUND)) return;
  hp_described d = described(s, &values, e->rewriter->token.start);
  s->has_background = true;
  hp_describe(&d, HPAR_NAMESPACE_HTML, HP_ATOM_BODY);
}

static hpar_status take_element(hpar_element *given, void *context) {
  hp_element *e = (hp_element *)given;
  hpar_rewriter *r = e->rewriter;
  hp_resource_scan *s = r->owner;
  (void)context;
  hp_unit_call_hook();
  if (s->part->cancelled && atomic_load_explicit(s->part->cancelled, memory_order_relaxed)) s->has_stopped = true;
  end_sheet(s);
  if (s->has_stopped) return HPAR_ERROR_CALLBACK;
  const hp_node *node = hp_outline_node(&r->outline, e->node);
  const hp_ref parent = node->parent;
  const uint8_t ns = node->ns;
  const hp_atom name = node->name;
  bool html = ns == HPAR_NAMESPACE_HTML;
  if (e->merges_into || (html && name == HP_ATOM_BODY)) {
    take_body(s, e);
    return s->has_stopped ? HPAR_ERROR_CALLBACK : HPAR_OK;
  }
  if (name == HP_ATOM_META && hp_resource_scan_declared(s)) {
    s->has_stopped = true;
    return HPAR_ERROR_CALLBACK;
  }
  if (!html && ns != HPAR_NAMESPACE_SVG) return HPAR_OK;
  hp_resource_values values;
  read_values(r, ns, &values);
  if (html && name == HP_ATOM_TEMPLATE)
    begin_template(s, e, &values);
  else if (s->inert_from)
    return HPAR_OK;
  else if (html && name == HP_ATOM_PICTURE)
    begin_picture(s, e, 0);
  else if (html && name == HP_ATOM_SOURCE)
    add_source(s, e, parent, &values);
  else if (name == HP_ATOM_STYLE || (html && name == HP_ATOM_SCRIPT && hp_is_inline_script(&values)))
    begin_style(s, e, ns, name, &values);
  else
    describe_element(s, e, &values);
  if (html && (name == HP_ATOM_AUDIO || name == HP_ATOM_VIDEO)) begin_picture(s, e, hp_media_of(&values));
  return s->has_stopped ? HPAR_ERROR_CALLBACK : HPAR_OK;
}

/*** runs ***/

hpar_status hp_resource_rules(hpar_rules **rules) {
  static const char others[] = "script, link, img, image, input, video, base, meta, source, picture, template, "
                               "iframe, frame, object, embed, audio, track, use, feImage, body[background], "
                               "table[background], thead[background], tbody[background], tfoot[background], "
                               "tr[background], td[background], th[background]";
  const hpar_rule elements = {HPAR_RULE_INIT, .selector = others, .element = take_element};
  const hpar_rule style = {HPAR_RULE_INIT, .selector = "style", .element = take_element, .text = take_sheet};
  const hpar_rule inside = {HPAR_RULE_INIT,
                            .selector = "script[type*=module i]:not([src]), script[type*=importmap i]:not([src])",
                            .text = take_module};
  hpar_status status = hpar_rules_create(rules);
  if (status != HPAR_OK) return status;
  status = hpar_rules_add(*rules, &elements, NULL);
  if (status == HPAR_OK) status = hpar_rules_add(*rules, &style, NULL);
  if (status == HPAR_OK) status = hpar_rules_add(*rules, &inside, NULL);
  if (status == HPAR_OK) status = hpar_rules_compile(*rules);
  if (status != HPAR_OK) hpar_rules_destroy(*rules);
  return status;
}

hpar_status hp_resource_scan_create(hp_resource_scan **scan, const hpar_rules *rules) {
  hp_resource_scan *made = hp_allocate_zeroed(sizeof *made);
  if (!made) return HPAR_ERROR_MEMORY;
  hpar_status status = hpar_rewriter_create(&made->rewriter);
  if (status != HPAR_OK) {
    hp_free(made);
    return status;
  }
  made->rules = rules;
  made->rewriter->owner = made;
  made->kept.unwind = &made->rewriter->unwind;
  *scan = made;
  return HPAR_OK;
}

void hp_resource_scan_destroy(hp_resource_scan *s) {
  if (!s) return;
  hpar_rewriter_destroy(s->rewriter);
  hp_scratch_close(&s->kept);
  hp_bytes_free(&s->sheet);
  hp_free(s->pictures.items);
  hp_free(s->sources.items);
  hp_free(s);
}

static hpar_status run_scan(hp_resource_scan *s) {
  const hp_scan_part *part = s->part;
  hpar_rewriter *r = s->rewriter;
  size_t prefix = strlen(part->prefix);
  const hpar_rewrite_options options = {
      HPAR_REWRITE_OPTIONS_INIT,  .encoding = part->is_certain ? part->encoding->name : NULL,
      .fragment = part->fragment, .no_scripting = !part->scripting,
      .utf16 = HPAR_UTF16_REFUSE, .max_token = SIZE_MAX,
      .max_text = SIZE_MAX};
  hpar_status status = hpar_rewriter_begin(r, s->rules, &options, NULL, NULL);
  if (status == HPAR_OK && !part->is_certain) r->encoding.used = part->encoding;
  s->shift = part->from - prefix;
  if (status == HPAR_OK && prefix) status = hpar_rewriter_feed(r, part->prefix, prefix);
  size_t at = part->from;
  do {
    if (status == HPAR_OK) status = hpar_rewriter_feed(r, part->bytes + at, part->to - at);
    at = part->to;
  } while (status == HPAR_OK && part->extend && part->extend(s->context));
  if (status == HPAR_OK && part->is_last) status = hpar_rewriter_finish(r, NULL);
  return s->has_stopped ? HPAR_OK : status;
}

hpar_status hp_resource_scan_run(hp_resource_scan *s, const hp_scan_part *part, hp_resource_fn callback, void *context,
                                 const char **error) {
  s->part = part;
  s->callback = callback;
  s->context = context;
  s->has_stopped = s->in_style = s->has_background = false;
  s->templates = s->inert_from = 0;
  s->pictures.count = s->picture_number = s->sources.count = 0;
  hp_scratch_clear(&s->kept);
  hpar_status status = run_scan(s);
  if (status != HPAR_OK) *error = s->rewriter->progress.error;
  return status;
}

const hp_encoding *hp_resource_scan_declared(const hp_resource_scan *s) {
  const hp_encoding *now = s->rewriter->encoding.used; /* NULL: the scan lacked memory to begin */
  return now && !s->part->is_certain && strcmp(now->name, s->part->encoding->name) != 0 ? now : NULL;
}
