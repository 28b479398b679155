/* The URLs of elements and of style sheets. */

#include "rewrite/urls.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "resources/describe.h"
#include "rewrite/readable.h"
#include "url/links.h"

#include <stdio.h>
#include <string.h>

/*** the stream ***/

static hp_urls *urls_of(const hpar_rewriter *r) { return r->units->urls; }

static void out_of_memory(hpar_rewriter *r) { hp_unwind_now(&r->unwind, HPAR_ERROR_MEMORY); }

static void drop_bases(hp_urls *u) {
  for (hp_resolved_base *b = u->bases, *next; b; b = next) {
    next = b->next;
    hp_url_close(&b->url);
    hp_free(b);
  }
  u->bases = NULL;
}

void hp_urls_open(hpar_rewriter *r) {
  hp_units_open(r);
  if (!r->units->urls) r->units->urls = hp_allocate_zeroed(sizeof *r->units->urls);
  hp_urls *u = r->units->urls;
  if (!u) out_of_memory(r);
  hp_free(u->own);
  hp_free(u->own_document);
  u->base = u->own = NULL;
  u->document = u->own_document = NULL;
  drop_bases(u);
  u->css = (hp_css_place){0};
}

hpar_status hp_urls_name_document(hpar_rewriter *r, const char *url) {
  hp_urls *u = urls_of(r);
  const size_t size = strlen(url) + 1;
  u->own_document = hp_allocate(size);
  if (!u->own_document) return HPAR_ERROR_MEMORY;
  u->document = memcpy(u->own_document, url, size);
  return HPAR_OK;
}

void hp_urls_close(hp_urls *u) {
  if (!u) return;
  hp_free(u->own);
  hp_free(u->own_document);
  drop_bases(u);
  hp_url_close(&u->work);
  hp_url_close(&u->bare);
  hp_bytes_free(&u->value);
  hp_bytes_free(&u->made);
  hp_free(u);
}

size_t hp_urls_memory(const hp_urls *u) {
  if (!u) return 0;
  size_t bytes = sizeof *u + u->work.capacity + u->bare.capacity + u->value.capacity + u->made.capacity;
  for (const hp_resolved_base *b = u->bases; b; b = b->next) bytes += sizeof *b + b->url.capacity;
  return bytes + (u->own ? sizeof *u->own + u->own->length : 0) + (u->own_document ? strlen(u->own_document) + 1 : 0);
}

void hp_urls_assume(hpar_rewriter *worker, const hpar_rewriter *merger, const hp_base_href *base) {
  if (!worker->rules->edits_urls) return;
  urls_of(worker)->base = base;
  urls_of(worker)->document = urls_of(merger)->document;
}

hpar_status hp_urls_take_base(hpar_element *given, void *context) {
  const hp_element *e = (const hp_element *)given;
  hpar_rewriter *r = e->rewriter;
  hp_urls *u = urls_of(r);
  (void)context;
  /* The base element of a template's contents is in no document. */
  if (given->ns != HPAR_NAMESPACE_HTML || r->outline.builder.templates.count || u->own) return HPAR_OK;
  const hpar_string href = hp_element_tag_value(e, (hpar_string){"href", 4});
  hp_base_href *base = hp_allocate(sizeof *base + href.length);
  if (!base) return HPAR_ERROR_MEMORY;
  base->length = href.length;
  if (href.length) memcpy(base->bytes, href.bytes, href.length);
  u->base = u->own = base;
  return HPAR_RETIRE;
}

/*** resolving ***/

hpar_status hp_check_absolute_url(hpar_string url) {
  hp_url parsed = {0};
  const bool is_absolute = hp_url_parse(&parsed, url.bytes, url.length, NULL), failed = parsed.failed;
  hp_url_close(&parsed);
  return failed ? HPAR_ERROR_MEMORY : is_absolute ? HPAR_OK : HPAR_ERROR_ARGUMENT;
}

typedef struct parsing {
  hp_url *url;
  hpar_string input;
  bool is_valid;
} parsing;

static hpar_status parse_here(void *unit, const void *base) {
  parsing *p = unit;
  p->is_valid = hp_url_parse(p->url, p->input.bytes, p->input.length, base);
  return HPAR_OK;
}

/* Parses a URL on the caller's stack: the first host beyond ASCII loads ICU. */
static bool parse_url(hpar_rewriter *r, hp_url *url, hpar_string input, const hp_url *base) {
  parsing p = {url, input, false};
  hp_rewriter_call(r, parse_here, &p, base);
  return p.is_valid;
}

static hpar_string trim(hpar_string s) {
  while (s.length && (unsigned char)*s.bytes <= ' ') s.bytes++, s.length--;
  while (s.length && (unsigned char)s.bytes[s.length - 1] <= ' ') s.length--;
  return s;
}

/* Returns the next character of a URL, which the parser of URLs does not skip; 0 at the end. */
static char url_character(hpar_string url, size_t *at) {
  while (*at < url.length) {
    char c = url.bytes[(*at)++];
    if (c != '\t' && c != '\n' && c != '\r') return c;
  }
  return 0;
}

/* Returns how many slashes the URL begins with: 0, 1, or 2 for more. */
static unsigned leading_slashes(hpar_string url) {
  size_t at = 0;
  unsigned count = 0;
  for (char c; count < 2 && ((c = url_character(url, &at)) == '/' || c == '\\');) count++;
  return count;
}

/* Returns true if the base element may lead to another site. */
static bool leads_away(hpar_rewriter *r, const hp_base_href *base) {
  if (!base) return false;
  const hpar_string href = trim((hpar_string){base->bytes, base->length});
  if (leading_slashes(href) == 2) return true;
  const bool is_absolute_href = parse_url(r, &urls_of(r)->work, href, NULL);
  if (urls_of(r)->work.failed) out_of_memory(r);
  return is_absolute_href;
}

static bool has_scheme(const hp_url *url, const char *scheme) {
  return url->scheme_end == strlen(scheme) && !memcmp(url->bytes, scheme, url->scheme_end);
}

/* Sets the base URL: that of the base element, or else that of the document. */
//§ frozen-base-url
static void find_base(hpar_rewriter *r, hpar_string document, bool skips_base) {
  hp_urls *u = urls_of(r);
  const hp_encoding *queries = hp_rewriter_encoding(r);
  const hp_base_href *base = skips_base ? NULL : u->base;
  u->work.queries = queries;
  for (u->resolved = u->bases; u->resolved; u->resolved = u->resolved->next)
    if (u->resolved->base == base && u->resolved->document == document.bytes && u->resolved->queries == queries) return;
  hp_resolved_base *made = hp_allocate(sizeof *made);
  if (!made) out_of_memory(r);
  *made = (hp_resolved_base){.next = u->bases, .base = base, .document = document.bytes, .queries = queries};
  u->resolved = u->bases = made;
  hp_url fallback = {.queries = queries}, *url = &made->url;
  url->queries = queries;
  bool has_fallback = document.bytes && parse_url(r, &fallback, document, NULL);
  bool fine = base && !fallback.failed;
  if (fine) fine = parse_url(r, url, (hpar_string){base->bytes, base->length}, has_fallback ? &fallback : NULL);
  bool failed = fallback.failed || url->failed;
  if (fine && (has_scheme(url, "data:") || has_scheme(url, "javascript:"))) fine = false;
  hp_url_close(fine ? &fallback : url);
  if (!fine) *url = fallback;
  if (!fine && !has_fallback) {
    hp_url_close(url);
    *url = (hp_url){.queries = queries};
  }
  if (failed) out_of_memory(r);
  hp_plain_base_open(&made->plain, url);
  made->leads_away = leads_away(r, base);
}

/* Returns the absolute URL, which is valid until the next call; `bytes` NULL: there is none. */
static hpar_string resolve(hpar_rewriter *r, hpar_string raw) {
  hp_urls *u = urls_of(r);
  hpar_string found;
  if (hp_plain_resolve(&u->resolved->plain, &u->work, raw.bytes, raw.length, &found)) return found;
  bool fine = parse_url(r, &u->work, raw, u->resolved->url.length ? &u->resolved->url : NULL);
  if (u->work.failed) out_of_memory(r);
  return fine ? (hpar_string){u->work.bytes, u->work.length} : (hpar_string){NULL, 0};
}

/* Returns true if the URL has a scheme of its own. */
static bool is_absolute(hpar_rewriter *r, hpar_string raw) {
  hp_urls *u = urls_of(r);
  size_t i = 0;
  while (i < raw.length && !strchr(":/?#", raw.bytes[i])) i++;
  if (i == raw.length || raw.bytes[i] != ':') return false;
  bool fine = parse_url(r, &u->bare, raw, NULL);
  if (u->bare.failed) out_of_memory(r);
  /* "http:a" is relative to a base of its scheme. */
  const hp_url *base = &u->resolved->url;
  if (!fine || !base->length || base->scheme != u->bare.scheme || base->scheme == HP_SCHEME_OTHER) return fine;
  return raw.length - i > 1 && (raw.bytes[i + 1] == '/' || raw.bytes[i + 1] == '\\');
}

/*** one URL ***/

/* An edit of the URLs of an element or a sheet. */
typedef struct editing {
  hpar_rewriter *rewriter;
  hp_element *element; /* NULL: a sheet */
  const hp_rule *rule;
  const hpar_action *action; /* NULL: the callback */
  hpar_string attribute;
} editing;

HP_DEFINE_CALL(url)

static bool call_back(const editing *x, hpar_string raw) {
  hpar_rewriter *r = x->rewriter;
  hp_urls *u = urls_of(r);
  if (x->element) hp_element_show(x->element);
  hpar_url url = {.element = x->element ? &x->element->shown : NULL, .attribute = x->attribute, .raw = raw};
  url.resolved = resolve(r, raw);
  const uint32_t index = (uint32_t)(x->rule - r->rules->rules);
  hp_rewriter_take_result(r, hp_rewriter_call(r, call_url, &url, &x->rule->given), index);
  if (!url.replacement.bytes) return false;
  u->made.length = 0;
  hp_bytes_append(&u->made, url.replacement.bytes, url.replacement.length, &r->unwind);
  return true;
}

/* Writes the new URL to `made`. Returns false if the URL stays. */
static bool edit_url(const editing *x, hpar_string raw) {
  hpar_rewriter *r = x->rewriter;
  hp_urls *u = urls_of(r);
  const hpar_string trimmed = trim(raw);
  if (!trimmed.length || r->running.states[x->rule - r->rules->rules].is_retired) return false;
  if (!x->action) return call_back(x, raw);
  u->made.length = 0;
  if (x->action->kind == HPAR_ACTION_PREFIX_URLS) {
    if (leading_slashes(trimmed) != 1 || u->resolved->leads_away) return false;
    hp_bytes_append(&u->made, x->action->value.bytes, x->action->value.length, &r->unwind);
    hp_bytes_append(&u->made, trimmed.bytes, trimmed.length, &r->unwind);
    return true;
  }
  if (*trimmed.bytes == '#' || is_absolute(r, trimmed)) return false;
  const hpar_string made = resolve(r, raw);
  if (!made.bytes) return false;
  hp_bytes_append(&u->made, made.bytes, made.length, &r->unwind);
  return true;
}

/*** values of attributes ***/

static void put(hpar_rewriter *r, const char *bytes, size_t length) {
  hp_bytes_append(&urls_of(r)->value, bytes, length, &r->unwind);
}

/* Appends the new URL to a list: a space would end it, and a comma at its ends would be dropped. */
static void put_in_list(hpar_rewriter *r, bool has_commas) {
  const hp_bytes *made = &urls_of(r)->made;
  for (uint32_t i = 0; i < made->length; i++) {
    const char c = made->data[i];
    const bool is_outer = i == 0 || i + 1 == made->length;
    if (hp_ascii_is_white(c)) {
      static const char hex[] = "0123456789ABCDEF";
      put(r, (const char[]){'%', hex[(unsigned char)c >> 4], hex[c & 15]}, 3);
    } else if (c == ',' && has_commas && is_outer) {
      put(r, "%2C", 3);
    } else {
      put(r, &c, 1);
    }
  }
}

/* Appends the new URL to CSS. "<" must not end a style element. */
static void put_in_css(hpar_rewriter *r, char quote) {
  const hp_bytes *made = &urls_of(r)->made;
  for (uint32_t i = 0; i < made->length; i++) {
    const char c = made->data[i];
    const bool is_white = (unsigned char)c <= ' ' || c == 0x7F;
    if (c == '<' || (is_white && (!quote || c != ' '))) {
      char escape[8];
      put(r, escape, (size_t)snprintf(escape, sizeof escape, "\\%x ", (unsigned char)c));
      continue;
    }
    if (c == '\\' || c == quote || (!quote && strchr("\"'()", c))) put(r, "\\", 1);
    put(r, &c, 1);
  }
}

/* Edits the URLs of a list, or the only one. Returns true if the value has changed. */
static bool edit_list(const editing *x, uint16_t bit, hpar_string value) {
  const char *at = value.bytes, *end = at + value.length, *done = at;
  bool changed = false;
  hpar_string url;
  while (hp_next_link(bit, &at, end, &url)) {
    if (!edit_url(x, url)) continue;
    put(x->rewriter, done, (size_t)(url.bytes - done));
    if (bit & (HP_LINK_CANDIDATES | HP_LINK_PING))
      put_in_list(x->rewriter, bit & HP_LINK_CANDIDATES);
    else
      put(x->rewriter, urls_of(x->rewriter)->made.data, urls_of(x->rewriter)->made.length);
    done = url.bytes + url.length;
    changed = true;
  }
  put(x->rewriter, done, (size_t)(end - done));
  return changed;
}

static bool edit_refresh(const editing *x, hpar_string value) {
  const hpar_string url = hp_refresh_url(value);
  if (!url.length || !edit_url(x, url)) return false;
  const hp_bytes *made = &urls_of(x->rewriter)->made;
  const char before = url.bytes > value.bytes ? url.bytes[-1] : 0;
  put(x->rewriter, value.bytes, (size_t)(url.bytes - value.bytes));
  /* The quote before the URL would end it. */
  for (uint32_t i = 0; i < made->length; i++) {
    const char c = made->data[i];
    if (c == before && (c == '"' || c == '\''))
      put(x->rewriter, c == '"' ? "%22" : "%27", 3);
    else
      put(x->rewriter, &c, 1);
  }
  const char *rest = url.bytes + url.length;
  put(x->rewriter, rest, (size_t)(value.bytes + value.length - rest));
  return true;
}

/* Returns what hp_next_css_url fills. */
static hp_css_url open_css_url(hpar_rewriter *r, hpar_string css) {
  const bool escapes = css.length && memchr(css.bytes, '\\', css.length);
  return (hp_css_url){.text = escapes ? hp_scratch_take(&r->scratch, HP_CSS_TEXT(css.length)) : NULL};
}

static bool edit_css(const editing *x, hpar_string value) {
  hp_css_place place = {.is_last = true};
  hp_css_url url = open_css_url(x->rewriter, value);
  bool changed = false;
  size_t done = 0;
  while (hp_next_css_url(value, &place, &url)) {
    if (!edit_url(x, url.url)) continue;
    put(x->rewriter, value.bytes + done, url.from - done);
    put_in_css(x->rewriter, url.quote);
    done = url.to;
    changed = true;
  }
  put(x->rewriter, value.bytes + done, value.length - done);
  return changed;
}

static bool edit_value(const editing *x, uint16_t bit, hpar_string value) {
  urls_of(x->rewriter)->value.length = 0;
  if (bit == HP_URL_STYLE) return edit_css(x, value);
  return bit == HP_URL_REFRESH ? edit_refresh(x, value) : edit_list(x, bit, value);
}

/*** elements ***/

bool hp_urls_is_sheet(const hp_element *e) {
  const hp_node *node = hp_outline_node(&e->rewriter->outline, e->node);
  if (node->name != HP_ATOM_STYLE || node->ns == HPAR_NAMESPACE_MATHML) return false;
  hpar_string type = hp_element_value(e, (hpar_string){"type", 4});
  return !type.length || hp_is_word(trim(type), "text/css");
}

static hpar_string document_of(const hp_urls *u, const hpar_action *a) {
  if (a && a->kind == HPAR_ACTION_REBASE_URLS && a->value.length) return a->value;
  return (hpar_string){u->document, u->document ? strlen(u->document) : 0};
}

static void edit_attribute(editing *x, uint16_t bit) {
  hp_element *e = x->element;
  hpar_rewriter *r = x->rewriter;
  hpar_string value = hp_element_value(e, x->attribute);
  if (!value.length) return;
  if (bit == HP_URL_REFRESH && !hp_is_word(hp_element_value(e, (hpar_string){"http-equiv", 10}), "refresh")) return;
  /* A callback may edit the element, and move what the value is in. */
  value.bytes = hp_scratch_copy(&r->scratch, value.bytes, value.length);
  if (!edit_value(x, bit, value)) return;
  const hp_bytes *made = &urls_of(r)->value;
  hp_element_set_value(e, x->attribute, (hpar_string){made->length ? made->data : "", made->length});
}

void hp_urls_edit_element(hp_element *e, const hp_rule *rule, const hpar_action *action) {
  hpar_rewriter *r = e->rewriter;
  if (!e->has_tag || !r->token.has_spans) return;
  const hp_node *node = hp_outline_node(&r->outline, e->node);
  const uint8_t ns = e->merges_into ? HPAR_NAMESPACE_HTML : node->ns;
  const hp_atom name = e->merges_into ? e->merges_into : node->name;
  editing x = {.rewriter = r, .element = e, .rule = rule, .action = action};
  bool has_base = false;
  const uint32_t edit_count = e->edit_count;
  for (uint32_t i = 0; i < r->token.spans.count + edit_count; i++) {
    hp_name attribute;
    if (i < r->token.spans.count) {
      const hp_span *span = &r->token.spans.items[i];
      if (span->is_duplicate) continue;
      attribute = hp_span_name(&r->token.spans, span, &r->scratch);
    } else {
      const hp_attribute_edit *edit = &e->edits[i - r->token.spans.count];
      if (edit->span != UINT32_MAX) continue;
      attribute = (hp_name){e->edit_text.data + edit->name, edit->name_length};
    }
    const uint16_t bit = hp_url_bit(ns, name, attribute);
    if (!bit) continue;
    x.attribute = (hpar_string){hp_scratch_copy(&r->scratch, attribute.bytes, attribute.length), attribute.length};
    if (!has_base) find_base(r, document_of(urls_of(r), action), ns == HPAR_NAMESPACE_HTML && name == HP_ATOM_BASE);
    has_base = true;
    edit_attribute(&x, bit);
  }
}

/*** style sheets ***/

/* Returns the bytes as CSS: the second byte of a character may be "\\", "@" or "{". It is masked,
 * so that all bytes of the character belong to names. */
static hpar_string css_of(hpar_rewriter *r, hpar_string text) {
  if (!r->scanner.wide || hp_is_ascii(text.bytes, text.length)) return text;
  char *css = hp_scratch_take(&r->scratch, text.length);
  memcpy(css, text.bytes, text.length);
  for (size_t i = 0, length; i < text.length; i += length ? length : 1) {
    length = hp_encoding_length_at(r->scanner.wide, text.bytes + i, text.bytes + text.length);
    for (size_t k = 1; k < length; k++) css[i + k] |= (char)0x80;
  }
  return (hpar_string){css, text.length};
}

/* Returns the URL in UTF-8 without escapes. */
static hpar_string decode_css_url(hpar_rewriter *r, const hp_readable *sheet, const hp_css_url *url) {
  static const char begin[] = "url( ", end[] = " )";
  if (hp_rewriter_encoding(r)->kind == HP_ENCODING_UTF8 || hp_is_ascii(url->url.bytes, url->url.length))
    return url->url;
  const hp_name name = hp_decode_span(sheet->bytes + url->from, url->to - url->from, HP_REFERENCES_NONE,
                                      hp_rewriter_encoding(r), &r->scratch);
  if (!memchr(name.bytes, '\\', name.length)) return (hpar_string){name.bytes, name.length};
  char *css = hp_scratch_take(&r->scratch, name.length + sizeof begin + sizeof end), *to = css;
  to = (char *)memcpy(to, begin, sizeof begin - 1) + sizeof begin - 1;
  if (url->quote) to[-1] = url->quote;
  to = (char *)memcpy(to, name.bytes, name.length) + name.length;
  memcpy(to, end, sizeof end - 1);
  if (url->quote) *to = url->quote;
  const hpar_string whole = {css, (size_t)(to - css) + sizeof end - 1};
  hp_css_place place = {.is_last = true};
  hp_css_url decoded = open_css_url(r, whole);
  return hp_next_css_url(whole, &place, &decoded) ? decoded.url : (hpar_string){name.bytes, name.length};
}

void hp_urls_edit_sheet(hpar_rewriter *r, const hp_rule *rule, const hpar_action *action) {
  hp_text_piece *t = &r->units->piece;
  hp_urls *u = urls_of(r);
  const editing x = {.rewriter = r, .rule = rule, .action = action};
  hp_readable text;
  hp_readable_open(&text, r, t);
  if (t->is_first) u->css = (hp_css_place){0};
  hp_css_place place = u->css;
  place.is_last = t->is_last;
  const hpar_string css = css_of(r, (hpar_string){text.bytes, text.length});
  hp_css_url url = open_css_url(r, css);
  find_base(r, document_of(u, action), false);
  hp_units_begin_finds(r);
  while (hp_next_css_url(css, &place, &url)) {
    if (!edit_url(&x, decode_css_url(r, &text, &url))) continue;
    u->value.length = 0;
    put_in_css(r, url.quote);
    hp_readable_replace(&text, r, url.from, url.to, (hpar_string){u->value.data, u->value.length}, HPAR_CONTENT_TEXT);
  }
  hp_units_end_finds(r);
}

void hp_urls_pass_sheet(hpar_rewriter *r) {
  const hp_text_piece *t = &r->units->piece;
  hp_urls *u = urls_of(r);
  hp_readable text;
  if (t->is_first) u->css = (hp_css_place){0};
  if (t->is_last) return;
  hp_readable_open(&text, r, t);
  const hpar_string css = css_of(r, (hpar_string){text.bytes, text.length});
  u->css.at = 0;
  hp_css_url url = {.text = NULL};
  while (hp_next_css_url(css, &u->css, &url)) continue;
  u->css.at = 0;
}

const char *hp_urls_boundary(hpar_rewriter *r, const char *from, const char *to) {
  const hp_css_place begin = {0}, *place = r->text.is_first ? &begin : &urls_of(r)->css;
  const hpar_string css = css_of(r, (hpar_string){from, (size_t)(to - from)});
  return from + hp_css_boundary(css, place, css.length);
}
