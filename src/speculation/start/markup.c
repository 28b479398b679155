#include "speculation/start/markup.h"

#include "base/ascii.h"

#include <string.h>

static const hp_raw_text raw_texts[] = {
    {"script", HP_ATOM_SCRIPT, HP_CONTENT_SCRIPT_DATA}, {"style", HP_ATOM_STYLE, HP_CONTENT_RAWTEXT},
    {"textarea", HP_ATOM_TEXTAREA, HP_CONTENT_RCDATA},  {"title", HP_ATOM_TITLE, HP_CONTENT_RCDATA},
    {"xmp", HP_ATOM_XMP, HP_CONTENT_RAWTEXT},           {"iframe", HP_ATOM_IFRAME, HP_CONTENT_RAWTEXT},
    {"noembed", HP_ATOM_NOEMBED, HP_CONTENT_RAWTEXT},   {"noframes", HP_ATOM_NOFRAMES, HP_CONTENT_RAWTEXT},
    {"noscript", HP_ATOM_NOSCRIPT, HP_CONTENT_RAWTEXT},
};

static bool ends_name(char c) {
  return c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r';
}

bool hp_tag_goes_on(const char *at, const char *end, const char *name) {
  for (; *name; name++, at++)
    if (at >= end || (*at | 0x20) != *name) return false;
  return at < end && ends_name(*at);
}

const hp_raw_text *hp_raw_text_at(const char *at, const char *end, bool scripting) {
  enum { FIRST = 1 << ('s' - 'a') | 1 << ('t' - 'a') | 1 << ('x' - 'a') | 1 << ('i' - 'a') | 1 << ('n' - 'a') };
  unsigned letter = at < end ? (unsigned char)((*at | 0x20) - 'a') : 26;
  if (letter >= 26 || !(FIRST >> letter & 1)) return NULL;
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (at < end && (*at | 0x20) == raw_texts[i].name[0] && hp_tag_is(at, end, raw_texts[i].name))
      return raw_texts[i].atom == HP_ATOM_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

hp_atom hp_raw_text_name(const char *at, const char *end, bool scripting) {
  const hp_raw_text *raw = hp_raw_text_at(at, end, scripting);
  return raw ? raw->atom : 0;
}

const hp_raw_text *hp_raw_text_named(const char *name, bool scripting) {
  for (size_t i = 0; i < sizeof raw_texts / sizeof *raw_texts; i++)
    if (hp_ascii_equal_strings(name, raw_texts[i].name))
      return raw_texts[i].atom == HP_ATOM_NOSCRIPT && !scripting ? NULL : &raw_texts[i];
  return NULL;
}

const hp_raw_text *hp_raw_text_of_atom(hp_atom atom) {
  size_t i = 0;
  while (raw_texts[i].atom != atom) i++;
  return &raw_texts[i];
}

uint8_t hp_raw_text_index(const hp_raw_text *raw) { return (uint8_t)(raw - raw_texts); }

const hp_raw_text *hp_raw_text_of(uint8_t index) { return &raw_texts[index]; }

bool hp_is_self_closing(const char *at, const char *end) {
  const char *close = memchr(at, '>', (size_t)(end - at));
  return close && close[-1] == '/';
}

static const char *const html_names[26][12] = {
    ['a' - 'a'] = {"article", "aside", "abbr", "address", "area"},
    ['b' - 'a'] = {"b", "br", "button", "body", "blockquote", "big"},
    ['c' - 'a'] = {"center", "code", "cite"},
    ['d' - 'a'] = {"div", "dd", "dl", "dt", "del"},
    ['e' - 'a'] = {"em", "embed"},
    ['f' - 'a'] = {"form", "footer", "figure", "fieldset"},
    ['h' - 'a'] = {"h1", "h2", "h3", "h4", "h5", "h6", "hr", "header", "head"},
    ['i' - 'a'] = {"img", "i", "input", "iframe", "ins"},
    ['l' - 'a'] = {"li", "label", "link"},
    ['m' - 'a'] = {"meta", "main", "menu"},
    ['n' - 'a'] = {"nav", "noscript", "nobr"},
    ['o' - 'a'] = {"option", "ol"},
    ['p' - 'a'] = {"p", "pre", "picture"},
    ['r' - 'a'] = {"ruby"},
    ['s' - 'a'] = {"span", "strong", "section", "small", "select", "sup", "sub", "source", "s", "strike"},
    ['t' - 'a'] = {"td", "tr", "tbody", "table", "th", "thead", "tt", "textarea"},
    ['u' - 'a'] = {"ul", "u"},
    ['v' - 'a'] = {"var", "video"},
};
static const char *const svg_names[26][8] = {
    ['c' - 'a'] = {"circle", "clippath"},
    ['d' - 'a'] = {"defs"},
    ['e' - 'a'] = {"ellipse"},
    ['f' - 'a'] = {"fegaussianblur", "feoffset", "feblend", "feflood", "fecolormatrix", "fecomposite", "foreignobject"},
    ['g' - 'a'] = {"g"},
    ['l' - 'a'] = {"line", "lineargradient"},
    ['m' - 'a'] = {"mask"},
    ['p' - 'a'] = {"path", "polygon", "polyline", "pattern"},
    ['r' - 'a'] = {"rect", "radialgradient"},
    ['s' - 'a'] = {"symbol", "stop"},
    ['t' - 'a'] = {"tspan", "textpath"},
    ['u' - 'a'] = {"use"},
};
/* All names begin with m. Elements that may contain HTML are missing. */
static const char *const math_names[] = {"mrow",   "mi",     "mo",     "mn",       "mfrac",      "msup",     "msub",
                                         "mstyle", "msqrt",  "mroot",  "msubsup",  "munder",     "mover",    "mtable",
                                         "mtr",    "mtd",    "mspace", "mpadded",  "munderover", "mphantom", "mfenced",
                                         "mtext",  "merror", "ms",     "menclose", "maction"};

static bool is_one_of(const char *at, const char *end, const char *const *names, size_t count) {
  for (size_t i = 0; i < count && names[i]; i++)
    if (hp_tag_is(at, end, names[i])) return true;
  return false;
}

uint8_t hp_namespace_of_name(const char *at, const char *end) {
  unsigned letter = (unsigned char)((*at | 0x20) - 'a');
  if (letter >= 26) return HP_NO_NAMESPACE;
  if (is_one_of(at, end, html_names[letter], sizeof *html_names / sizeof **html_names)) return HPAR_NAMESPACE_HTML;
  if (is_one_of(at, end, svg_names[letter], sizeof *svg_names / sizeof **svg_names)) return HPAR_NAMESPACE_SVG;
  if (letter == 'm' - 'a' && is_one_of(at, end, math_names, sizeof math_names / sizeof *math_names))
    return HPAR_NAMESPACE_MATHML;
  return HP_NO_NAMESPACE;
}
