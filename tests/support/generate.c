#include "support/generate.h"

#include "support/random.h"

#include <string.h>

/* A document uses one or two subjects, so that their parts meet often enough to disturb each
 * other. */
typedef enum subject {
  BLOCKS,
  LISTS,
  FORMATTING,
  TABLES,
  FOREIGN,
  SELECTS,
  TEMPLATES,
  RAW,
  FRAMES,
  HEAD,
  FORMS,
  TEXT,
  FLAT,
  SUBJECTS
} subject;

typedef struct writer {
  random_state random;
  buffer *out;
  const char *open[64]; /* names of written start tags, newest last; end tags may follow */
  size_t open_count;
  size_t limit;
  subject main, other;
} writer;

static const char *const blocks[] = {"p",       "p",  "p",    "div",      "div",    "section", "blockquote", "center",
                                     "address", "h1", "h2",   "h3",       "pre",    "listing", "article",    "details",
                                     "summary", "hr", "main", "fieldset", "figure", "dir",     "menu",       "dialog"};
static const char *const lists[] = {"ul", "ol", "li", "li",  "li",   "dl",     "dt",
                                    "dd", "dd", "p",  "div", "span", "address"};
static const char *const formatting[] = {"b",      "i", "b",    "i",    "a",  "a",     "u",   "em",
                                         "strong", "s", "font", "nobr", "tt", "small", "big", "code"};
static const char *const tables[] = {"table", "table", "tr",    "tr",    "td",      "td",       "td",
                                     "th",    "tbody", "thead", "tfoot", "caption", "colgroup", "col"};
static const char *const foreign[] = {
    "svg", "svg",   "math",           "g",      "path",       "title",  "desc",   "foreignObject", "mi",
    "mo",  "mtext", "annotation-xml", "mglyph", "malignmark", "circle", "script", "style",         "font",
    "a",   "p",     "lineargradient", "SVG"};
static const char *const selects[] = {"select", "select", "option",          "option", "option",  "optgroup",
                                      "hr",     "button", "selectedcontent", "input",  "datalist"};
static const char *const forms[] = {"form",     "form",   "input",    "button", "button", "label",
                                    "textarea", "select", "fieldset", "object", "keygen", "p"};
static const char *const heads[] = {"head",     "title",    "meta", "link", "base",    "style",    "script",
                                    "noscript", "template", "body", "html", "bgsound", "basefont", "noframes"};
static const char *const frames[] = {"frameset", "frameset", "frame", "noframes", "body", "html", "p", "head", "br"};
static const char *const inlines[] = {"span",   "span",    "cite",  "abbr", "br",     "img",   "wbr",     "object",
                                      "applet", "marquee", "ruby",  "rt",   "rp",     "rb",    "rtc",     "x-y",
                                      "label",  "image",   "embed", "area", "iframe", "video", "noembed", "param"};
static const char *const names[] = {"p", "b", "table", "td", "svg", "template", "select", "li", "a", "form", "body"};

static const char *const words[] = {
    "a", "b ", " c",    "lorem", " ipsum ", "x", "7", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x9D",
    ".", "-",  "d e f", "z\n",   "--",      ">", "'", "\"",       "]]>",          "/"};
static const char *const blanks[] = {" ", "\n", "\t", "\r\n", "\r", "\f", "  ", "\n\n", " \n "};
static const char *const entities[] = {"&amp;", "&lt",    "&gt;",        "&copy",  "&notit;",         "&not",
                                       "&#65;", "&#x3c;", "&#0;",        "&#x80;", "&#xD800;",        "&#x110000;",
                                       "&",     "&;",     "&x;",         "&nbsp;", "&NotEqualTilde;", "&#",
                                       "&#x",   "&ampx",  "&lang;&rang", "&acE;"};
static const char *const attributes[] = {"a=1",
                                         "b=\"2\"",
                                         "c='3'",
                                         "d",
                                         "class=x",
                                         "class=x",
                                         "id=y",
                                         "href=z",
                                         "A=4",
                                         "a",
                                         "e=<p>",
                                         "f='<b>'",
                                         "g=\">\"",
                                         "h=a=b",
                                         "=i",
                                         "'",
                                         "\"j",
                                         "<k",
                                         "l=&lt;",
                                         "m=&copy=1",
                                         "n=\"\r\n\"",
                                         "/",
                                         "selected",
                                         "multiple",
                                         "type=hidden",
                                         "type=HIDDEN",
                                         "encoding=text/html",
                                         "encoding=application/xhtml+xml",
                                         "color=red",
                                         "size=1",
                                         "face",
                                         "xlink:href=#",
                                         "xml:lang=q",
                                         "definitionurl=r",
                                         "viewbox=0",
                                         "charset=x",
                                         "content='text/html;charset=y'",
                                         "xmlns=z",
                                         "checked"};
static const char *const doctypes[] = {"<!doctype html>",
                                       "<!DOCTYPE html>",
                                       "<!doctype>",
                                       "<!DOCTYPE htm",
                                       "<!DOCTYPE html SYSTEM 'about:legacy-compat'>",
                                       "<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">",
                                       "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 3.2//EN'>",
                                       "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Frameset//EN\" \"x\">",
                                       "<!doctype html bogus <p>>",
                                       "<!DOCTYPE x y>"};
static const char *const contexts[] = {"div",
                                       "p",
                                       "body",
                                       "html",
                                       "table",
                                       "tbody",
                                       "tr",
                                       "td",
                                       "select",
                                       "template",
                                       "caption",
                                       "colgroup",
                                       "head",
                                       "form",
                                       "title",
                                       "script",
                                       "style",
                                       "textarea",
                                       "svg svg",
                                       "svg desc",
                                       "math mi",
                                       "math math",
                                       "noscript",
                                       "frameset",
                                       "a",
                                       "li",
                                       "svg foreignObject",
                                       "math annotation-xml",
                                       "button",
                                       "plaintext"};
static const char *const comments[] = {"<!--x-->",
                                       "<!-- <p> -->",
                                       "<!--<b>x</b>-->",
                                       "<!-->",
                                       "<!--->",
                                       "<!--a--!>",
                                       "<!x>",
                                       "<!--</script>-->",
                                       "<!--<!--y-->",
                                       "<!-- <svg> <table> -->",
                                       "<!---x- --y-->",
                                       "<![CDATA[x<y>]]>",
                                       "</ x>",
                                       "<?z w?>",
                                       "<?xml v?>",
                                       "<?a",
                                       "<!-",
                                       "<!--\r\n<i>\r-->"};
static const char *const raw_names[] = {"script", "script", "style",   "title",    "textarea",
                                        "xmp",    "iframe", "noembed", "noframes", "noscript"};
static const char *const raw_parts[] = {"x",
                                        " y ",
                                        "<p>",
                                        "<b>",
                                        "</b>",
                                        "<!--",
                                        "-->",
                                        "<script>",
                                        "</scrip",
                                        "</p>",
                                        "if (a<b)",
                                        "'<td>'",
                                        "\"</div>\"",
                                        "<!--<script>",
                                        "</style",
                                        "</title>x",
                                        "\n",
                                        "&lt;",
                                        "--",
                                        "<\\/script>",
                                        "/* <a href=x> */",
                                        "->",
                                        "<!-- <script> </script> ",
                                        "<",
                                        "</",
                                        "\r\n",
                                        "<svg>",
                                        "<![CDATA["};

static void text(writer *to, const char *bytes) { buffer_text(to->out, bytes); }

static void attribute_list(writer *to) {
  while (random_chance(&to->random, 25)) {
    text(to, random_chance(&to->random, 90) ? " " : RANDOM_OF(&to->random, blanks));
    text(to, RANDOM_OF(&to->random, attributes));
  }
}

static void start_tag(writer *to, const char *name) {
  buffer_byte(to->out, '<');
  text(to, name);
  attribute_list(to);
  text(to, random_chance(&to->random, 4) ? "/>" : ">");
  if (to->open_count == sizeof to->open / sizeof to->open[0]) {
    memmove(to->open, to->open + 1, sizeof to->open - sizeof to->open[0]);
    to->open_count--;
  }
  to->open[to->open_count++] = name;
}

static void end_tag(writer *to, const char *name) {
  text(to, "</");
  text(to, name);
  if (random_chance(&to->random, 3)) attribute_list(to);
  buffer_byte(to->out, '>');
}

/* Writes the end tag of the newest element, or of an older one, which then crosses others. */
static void close_tag(writer *to) {
  if (!to->open_count) return;
  size_t back = random_chance(&to->random, 65) ? 0 : random_below(&to->random, to->open_count < 5 ? to->open_count : 5);
  size_t at = to->open_count - 1 - back;
  end_tag(to, to->open[at]);
  if (random_chance(&to->random, 85)) {
    memmove(to->open + at, to->open + at + 1, (to->open_count - at - 1) * sizeof to->open[0]);
    to->open_count--;
  }
}

static const char *name_of(writer *to, subject of) {
  random_state *random = &to->random;
  switch (of) {
    case BLOCKS: return RANDOM_OF(random, blocks);
    case LISTS: return RANDOM_OF(random, lists);
    case FORMATTING: return RANDOM_OF(random, formatting);
    case TABLES: return RANDOM_OF(random, tables);
    case FOREIGN: return RANDOM_OF(random, foreign);
    case SELECTS: return RANDOM_OF(random, selects);
    case TEMPLATES: return random_chance(random, 40) ? "template" : RANDOM_OF(random, tables);
    case FRAMES: return RANDOM_OF(random, frames);
    case HEAD: return RANDOM_OF(random, heads);
    case FORMS: return RANDOM_OF(random, forms);
    default: return RANDOM_OF(random, inlines);
  }
}

static void characters(writer *to) {
  random_state *random = &to->random;
  for (size_t n = 1 + random_below(random, 4); n; n--) {
    size_t kind = random_below(random, 100);
    if (kind < 62)
      text(to, RANDOM_OF(random, words));
    else if (kind < 84)
      text(to, RANDOM_OF(random, blanks));
    else if (kind < 95)
      text(to, RANDOM_OF(random, entities));
    else if (kind < 98)
      buffer_byte(to->out, 0);
    else
      text(to, "\xEF\xBF\xBD");
  }
}

static void raw_text(writer *to) {
  random_state *random = &to->random;
  const char *name = RANDOM_OF(random, raw_names);
  buffer_byte(to->out, '<');
  text(to, name);
  attribute_list(to);
  buffer_byte(to->out, '>');
  for (size_t n = random_below(random, 6); n; n--) text(to, RANDOM_OF(random, raw_parts));
  if (random_chance(random, 88)) end_tag(to, name);
  if (random_chance(random, 2)) text(to, "<plaintext>");
}

/* Writes a few siblings of one kind, so that the merger can splice. */
static void siblings(writer *to) {
  static const char *const parts[] = {"<p>x</p>",
                                      "<div><b>y</b></div>",
                                      "<li>z",
                                      "<tr><td>1<td>2</tr>",
                                      "<td>w</td>",
                                      "<i>v</i>u",
                                      "<br>",
                                      "<span>t</span> ",
                                      "<option>s</option>",
                                      "<dd>r",
                                      "<circle/>",
                                      "<a href=q>p</a>",
                                      "<p><b>o</p>",
                                      "</x>n",
                                      "<col>",
                                      "<frame>",
                                      "<!--m-->",
                                      "<input>",
                                      "<mi>l</mi>",
                                      "<script>k</script>",
                                      "<rt>j",
                                      "<button>i</button>"};
  const char *part = RANDOM_OF(&to->random, parts);
  for (size_t n = 2 + random_below(&to->random, 7); n; n--) text(to, part);
}

static void item(writer *to, subject of) {
  random_state *random = &to->random;
  size_t kind = random_below(random, 100);
  if (of == RAW) {
    if (kind < 60)
      raw_text(to);
    else if (kind < 80)
      text(to, RANDOM_OF(random, comments));
    else
      start_tag(to, name_of(to, random_chance(random, 50) ? HEAD : BLOCKS));
    return;
  }
  if (of == FLAT) {
    siblings(to);
    return;
  }
  if (of == TEXT) {
    characters(to);
    return;
  }
  if (kind < 48)
    start_tag(to, name_of(to, of));
  else if (kind < 72)
    close_tag(to);
  else if (kind < 78)
    end_tag(to, name_of(to, of));
  else if (kind < 92)
    characters(to);
  else if (kind < 95)
    text(to, RANDOM_OF(random, comments));
  else if (kind < 97)
    raw_text(to);
  else
    siblings(to);
}

/* Writes bytes that no author intends. */
static void damage(writer *to) {
  static const char *const bits[] = {"<",  ">",  "</", "\"", "'", "&", "<!--", "-->",
                                     "\r", "\n", "/",  "<p", "=", "-", "]]>"};
  buffer *out = to->out;
  for (size_t n = 1 + random_below(&to->random, 3); n && out->length; n--) {
    size_t at = random_below(&to->random, out->length);
    size_t kind = random_below(&to->random, 10);
    if (kind < 4) {
      const char *bit = RANDOM_OF(&to->random, bits);
      memcpy(out->bytes + at, bit, strlen(bit) < out->length - at ? strlen(bit) : 1);
    } else if (kind < 6) {
      static const char invalid[] = {'\x80', '\xFF', '\xC3', '\xE2', '\xF0', '\xED', '\xC0'};
      out->bytes[at] = RANDOM_OF(&to->random, invalid);
    } else if (kind < 7) {
      out->bytes[at] = 0;
    } else {
      size_t length = 1 + random_below(&to->random, 12);
      if (length > out->length - at) length = out->length - at;
      memmove(out->bytes + at, out->bytes + at + length, out->length - at - length);
      out->length -= length;
    }
  }
}

void generate(uint64_t seed, generated *document) {
  writer to = {.random = {seed * UINT64_C(0xD1342543DE82EF95) + 1}, .out = &document->text};
  random_state *random = &to.random;
  buffer_clear(to.out);
  document->scripting = random_chance(random, 30);
  document->fragment = random_chance(random, 15) ? RANDOM_OF(random, contexts) : NULL;
  to.main = (subject)random_below(random, SUBJECTS);
  to.other = (subject)random_below(random, SUBJECTS);
  to.limit = (size_t)40 << random_below(random, 7);
  to.limit += random_below(random, to.limit / 5 * 2);

  if (random_chance(random, 1)) text(&to, "\xEF\xBB\xBF");
  if (random_chance(random, 8)) text(&to, RANDOM_OF(random, blanks));
  if (random_chance(random, 5)) text(&to, RANDOM_OF(random, comments));
  if (!document->fragment && random_chance(random, 50)) text(&to, RANDOM_OF(random, doctypes));
  if (random_chance(random, 12)) text(&to, "<html><head><title>t</title></head>");
  if (random_chance(random, 15)) text(&to, "<body>");
  static const char *const openers[SUBJECTS] = {
      [TABLES] = "table", [FOREIGN] = "svg", [SELECTS] = "select", [TEMPLATES] = "template", [FRAMES] = "frameset"};
  if (openers[to.main] && random_chance(random, 60)) start_tag(&to, openers[to.main]);
  while (to.out->length < to.limit) {
    size_t kind = random_below(random, 100);
    item(&to, kind < 55 ? to.main : kind < 80 ? to.other : (subject)random_below(random, SUBJECTS));
    if (random_chance(random, 1)) end_tag(&to, random_chance(random, 50) ? "body" : "html");
    if (random_chance(random, 1)) end_tag(&to, RANDOM_OF(random, names));
    if (random_chance(random, 30)) characters(&to);
    while (to.open_count && random_chance(random, 25)) close_tag(&to);
  }
  if (random_chance(random, 50))
    while (to.open_count) close_tag(&to);
  if (random_chance(random, 20)) text(&to, "</body></html>");
  if (random_chance(random, 12)) damage(&to);
  if (random_chance(random, 20)) to.out->length = 1 + random_below(random, to.out->length);
}

void generate_free(generated *document) { buffer_free(&document->text); }
