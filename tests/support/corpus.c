#include "support/corpus.h"

#include "support/random.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const nouns[] = {"harbour", "engine",  "window",   "garden",  "signal",  "river",
                                    "market",  "letter",  "bridge",   "season",  "kitchen", "station",
                                    "mirror",  "valley",  "festival", "copper",  "library", "orchard",
                                    "lantern", "journey", "compass",  "theatre", "village", "pattern"};
static const char *const verbs[] = {"opens",   "carries",    "follows",    "measures", "repeats", "remembers",
                                    "crosses", "builds",     "gathers",    "leaves",   "answers", "records",
                                    "divides", "returns to", "looks past", "paints"};
static const char *const adjectives[] = {"quiet",   "early",  "broken", "northern", "wide",    "familiar",
                                         "patient", "hollow", "bright", "narrow",   "distant", "careful",
                                         "second",  "wooden", "empty",  "common"};
static const char *const people[] = {"Ada", "Marek", "Ines", "Tomas", "Yuki", "Omar", "Lena", "Priya", "Jonas", "Mei"};
static const char *const icons[] = {"M2 2h20v20H2z", "M12 2l10 20H2z", "M4 12h16M12 4v16", "M3 6h18M3 12h18M3 18h18"};

typedef struct author {
  buffer *page;
  random_state random;
} author;

static const char *noun(author *by) { return RANDOM_OF(&by->random, nouns); }
static const char *adjective(author *by) { return RANDOM_OF(&by->random, adjectives); }
static const char *person(author *by) { return RANDOM_OF(&by->random, people); }
static unsigned number(author *by, unsigned limit) { return (unsigned)random_below(&by->random, limit); }
static void text(author *by, const char *bytes) { buffer_text(by->page, bytes); }

/* Strings to draw from. */
typedef struct list {
  const char *const *items;
  size_t count;
} list;

#define LIST(strings) ((list){strings, sizeof(strings) / sizeof *(strings)})

/* What a conversion of `fill` stands for. */
typedef struct filling {
  char kind;
  const char *text;
  unsigned base, step, limit;
  list from;
} filling;

static filling read_filling(char kind, va_list *arguments) {
  filling f = {.kind = kind, .step = 1};
  switch (kind) {
    case 's': f.text = va_arg(*arguments, const char *); break;
    case 'u': f.base = va_arg(*arguments, unsigned); break;
    case 'n': f.from = LIST(nouns); break;
    case 'a': f.from = LIST(adjectives); break;
    case 'v': f.from = LIST(verbs); break;
    case 'p': f.from = LIST(people); break;
    case 'o': f.from = va_arg(*arguments, list); break;
    case 'c': f.limit = 26; break;
    case 'R':
      f.base = va_arg(*arguments, unsigned);
      f.step = va_arg(*arguments, unsigned);
      f.limit = va_arg(*arguments, unsigned);
      break;
    case 'r':
    case '2':
    case 'x': f.limit = va_arg(*arguments, unsigned); break;
    default: abort();
  }
  return f;
}

static void draw(author *by, filling *f) {
  if (f->from.count) f->text = f->from.items[random_below(&by->random, f->from.count)];
  if (f->limit) f->base += f->step * number(by, f->limit);
}

static void add_filling(author *by, const filling *f) {
  switch (f->kind) {
    case '2': buffer_format(by->page, "%02u", f->base); break;
    case 'x': buffer_format(by->page, "%06x", f->base); break;
    case 'c': buffer_byte(by->page, (char)('a' + f->base)); break;
    case 'u':
    case 'R':
    case 'r': buffer_format(by->page, "%u", f->base); break;
    default: buffer_text(by->page, f->text);
  }
}

/* Writes the format with its conversions replaced. All random ones are drawn before the first is
 * written, from the last to the first: the recorded results depend on this order.
 *   %n %a %v %p  a noun, an adjective, a verb, a person
 *   %o           an item of a list
 *   %r %2 %x     a number below a limit, in decimal, with two digits, with six hexadecimal digits
 *   %R           base + step * a number below a limit
 *   %c           a letter
 *   %s %u %%     as printf */
static void fill(author *by, const char *format, ...) {
  enum { MAX_FILLINGS = 8 };
  filling fillings[MAX_FILLINGS];
  size_t count = 0;
  va_list arguments;
  va_start(arguments, format);
  for (const char *at = format; (at = strchr(at, '%')); at += 2)
    if (at[1] != '%') {
      if (count == MAX_FILLINGS) abort();
      fillings[count++] = read_filling(at[1], &arguments);
    }
  va_end(arguments);
  for (size_t i = count; i--;) draw(by, &fillings[i]);
  count = 0;
  for (const char *at = format; *at; at++) {
    if (*at != '%')
      buffer_byte(by->page, *at);
    else if (*++at == '%')
      buffer_byte(by->page, '%');
    else
      add_filling(by, &fillings[count++]);
  }
}

static void words(author *by, size_t count) {
  for (size_t i = 0; i < count; i++)
    buffer_format(by->page, "%s%s", i ? " " : "", random_chance(&by->random, 50) ? noun(by) : adjective(by));
}

static void sentence(author *by) {
  fill(by, "The %a %n %v the %a %n");
  if (random_chance(&by->random, 40)) fill(by, ", and the %n %v it");
  text(by, ". ");
}

static void sentences(author *by, size_t count) {
  while (count--) sentence(by);
}

/* Writes the contents of a paragraph with the markup of running text. */
static void prose(author *by, size_t count) {
  while (count--) {
    switch (number(by, 9)) {
      case 0: fill(by, "<a href=\"/%n/%r\" title=\"%n\">%n</a> ", 999u); break;
      case 1: buffer_format(by->page, "<em>%s</em> &mdash; ", adjective(by)); break;
      case 2: fill(by, "<strong>%a %n</strong> "); break;
      case 3: fill(by, "<code>%a_%n()</code> &amp; "); break;
      default: break;
    }
    sentence(by);
  }
}

static void head(author *by, const char *title) {
  buffer_format(
      by->page,
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"stylesheet\" href=\"/main.css\">\n",
      title);
}

static void style(author *by, size_t rules) {
  text(by, "<style>\n");
  while (rules--) fill(by, ".%a-%n > .%n:hover { margin: %rpx %rem; color: #%x }\n", 40u, 5u, 0x1000000u);
  text(by, "</style>\n");
}

static void script(author *by, size_t lines) {
  text(by, "<script>\n");
  while (lines--) {
    switch (number(by, 5)) {
      case 0:
        buffer_format(by->page, "  for (var i = 0; i < %u && i<limit; i++) { total += data[i]; }\n", number(by, 900));
        break;
      case 1: fill(by, "  var %n = \"<div class='%n'>\" + name + \"<\\/div>\";\n"); break;
      case 2: fill(by, "  // when the %n %v, a < b and b > c\n"); break;
      case 3: fill(by, "  document.getElementById('%n').innerHTML = '<b>%a</b>';\n"); break;
      default: fill(by, "  window.%n = window.%n || { id: %r, tags: [\"%a\"] };\n", 9999u);
    }
  }
  text(by, "</script>\n");
}

static void icon(author *by) {
  fill(by,
       "<svg class=\"icon\" viewBox=\"0 0 24 24\" width=\"%R\" xmlns=\"http://www.w3.org/2000/svg\"><title>%n</title>"
       "<path fill-rule=\"evenodd\" d=\"%o\"/><circle cx=\"12\" cy=\"12\" r=\"%r\"/></svg>",
       16u, 8u, 3u, LIST(icons), 12u);
}

static void note(buffer *page) {
  author by = {page, {1}};
  head(&by, "A note");
  text(&by, "</head>\n<body>\n<h1>A note</h1>\n<p>");
  prose(&by, 11);
  text(&by, "</p>\n<ul>\n");
  for (int i = 0; i < 4; i++) fill(&by, "  <li>%a %n</li>\n");
  text(&by, "</ul>\n</body>\n</html>\n");
}

static void article(buffer *page) {
  author by = {page, {2}};
  head(&by, "Harbours of the north");
  style(&by, 40);
  script(&by, 25);
  text(&by, "</head>\n<body class=\"article\">\n<header><nav><ul>");
  for (int i = 0; i < 9; i++) fill(&by, "<li><a href=\"/%n\">%n</a></li>");
  text(&by, "</ul></nav></header>\n<main><article>\n");
  for (int section = 0; section < 14; section++) {
    fill(&by, "<section id=\"s%u\">\n<h2>%a %n</h2>\n", section);
    for (unsigned i = 0, n = 3 + number(&by, 5); i < n; i++) {
      text(&by, "<p>");
      prose(&by, 3 + number(&by, 6));
      text(&by, "</p>\n");
    }
    if (section % 3 == 1) {
      fill(&by, "<figure><img src=\"/i/%r.jpg\" alt=\"%n\"><figcaption>", 500u);
      words(&by, 8);
      text(&by, "</figcaption></figure>\n<blockquote><p>");
      sentences(&by, 2);
      text(&by, "</p></blockquote>\n");
    }
    text(&by, "</section>\n");
  }
  text(&by, "</article></main>\n<footer><p>&copy; 2026</p></footer>\n</body>\n</html>\n");
}

static void portal(buffer *page) {
  author by = {page, {3}};
  head(&by, "Everything today");
  style(&by, 120);
  script(&by, 150);
  text(&by, "</head>\n<body>\n<div id=\"wrap\"><div class=\"top\"><div class=\"bar\">");
  for (int i = 0; i < 5; i++) icon(&by);
  text(&by, "<form action=\"/find\"><input type=\"search\" name=\"q\"><select name=\"in\"><option>all<option "
            "selected>news</select>"
            "<button type=\"submit\">Find</button></form></div></div>\n");
  for (int block = 0; block < 160; block++) {
    fill(&by,
         "<div class=\"row r%u\" data-id=\"%r\">\n <div class=\"col\">\n  <div class=\"card\" "
         "style=\"width:%r%%;top:%rpx\">\n",
         block, 99999u, 100u, 300u);
    fill(&by, "   <h3><a href=\"/n/%r?s=%r&amp;t=%r\">", 9999u, 99u, 99u);
    words(&by, 5);
    text(&by, "</a></h3>\n   ");
    icon(&by);
    text(&by, "\n   <ul class=\"links\">\n");
    for (unsigned i = 0, n = 4 + number(&by, 8); i < n; i++) {
      fill(&by, "    <li class=\"%s\"><span><a href=\"/l/%r\" onclick=\"go('%n', %u)\">", i % 2 ? "odd" : "even",
           99999u, i);
      words(&by, 3);
      text(&by, "</a></span> <i class=\"fa\"></i></li>\n");
    }
    text(&by, "   </ul>\n");
    if (block % 12 == 5) script(&by, 12);
    if (block % 20 == 7)
      text(&by, "   <!-- advertisement <div> -->\n   <iframe src=\"/ad\"><p>no frames</p></iframe>\n");
    text(&by, "  </div>\n </div>\n</div>\n");
  }
  text(&by, "</div>\n");
  script(&by, 60);
  text(&by, "</body>\n</html>\n");
}

static void table(buffer *page) {
  author by = {page, {4}};
  head(&by, "Measurements");
  text(&by, "</head>\n<body>\n<h1>Measurements</h1>\n<table class=\"data\">\n<caption>All stations</caption>\n"
            "<thead><tr><th>Station<th>Day<th>Low<th>High<th>Note</tr></thead>\n<tbody>\n");
  for (unsigned row = 0; row < 15400; row++) {
    fill(&by,
         "<tr><td><a href=\"#s%u\">%n</a></td><td>%u</td><td class=\"num\">%r.%r</td><td class=\"num\">%R.%r</td><td>",
         row, row % 365 + 1, 30u, 10u, 30u, 1u, 30u, 10u);
    if (random_chance(&by.random, 15)) buffer_format(page, "<b>%s</b> ", adjective(&by));
    words(&by, number(&by, 4));
    text(&by, "</td></tr>\n");
    if (row % 3500 == 3499) text(&by, "</tbody>\n<tbody>\n");
  }
  text(&by, "</tbody>\n</table>\n</body>\n</html>\n");
}

static void forum(buffer *page) {
  author by = {page, {5}};
  head(&by, "Thread: the second engine");
  style(&by, 30);
  text(&by, "</head>\n<body>\n<table width=\"100%\" cellpadding=4 border=0><tr><td>\n");
  for (unsigned post = 0; post < 700; post++) {
    fill(&by,
         "<table class=post id=p%u><tr><td width=120 valign=top><b>%p</b><br><font size=1 "
         "color=\"#888888\">Posts: %r</font>"
         "</td><td><font size=2>",
         post, 5000u);
    if (post && random_chance(&by.random, 45)) {
      buffer_format(page, "<blockquote><b>%s</b> wrote:<br>", person(&by));
      if (random_chance(&by.random, 40)) {
        text(&by, "<blockquote><i>");
        sentence(&by);
        text(&by, "</i></blockquote>");
      }
      sentences(&by, 2);
      text(&by, "</blockquote>\n");
    }
    for (unsigned i = 0, n = 1 + number(&by, 4); i < n; i++) {
      prose(&by, 2);
      text(&by, "<br><br>\n");
    }
    if (random_chance(&by.random, 20)) buffer_format(page, "<img src=smile%u.gif alt=\":)\">", number(&by, 9));
    text(&by, "</font><hr noshade size=1><font size=1><a href=reply>Reply</a> | <a "
              "href=quote>Quote</a></font></td></tr></table>\n");
  }
  text(&by, "</td></tr></table>\n</body>\n</html>\n");
}

static void manual(buffer *page) {
  author by = {page, {6}};
  head(&by, "Reference manual");
  text(&by, "</head>\n<body>\n<div class=\"toc\"><ul>\n");
  for (unsigned i = 0; i < 900; i++)
    buffer_format(page, "<li><a href=\"#f%u\"><code>%s_%s</code></a>\n", i, nouns[i % 24], adjectives[i / 24 % 16]);
  text(&by, "</ul></div>\n");
  for (unsigned i = 0; i < 2600; i++) {
    if (i % 100 == 0) buffer_format(page, "<hr>\n<h2 id=\"c%u\">%u. %s</h2>\n<p>\n", i / 100, i / 100 + 1, noun(&by));
    buffer_format(page,
                  "<div class=\"def\"><dl id=\"f%u\"><dt><code>int <b>%s_%s</b>(int <var>a</var>, char "
                  "*<var>b</var>)</code>\n<dd><p>",
                  i, nouns[i % 24], adjectives[i / 24 % 16]);
    prose(&by, 2 + number(&by, 4));
    text(&by, "\n<p>Returns &minus;1 if <var>a</var> &lt; 0 or <var>b</var> is <code>NULL</code>.\n");
    if (i % 4 == 0)
      fill(&by, "<pre class=\"example\">\nif (%n_%a (1, \"x\") &lt; 0)\n  return &amp;<b>%n</b>[%u];\n</pre>\n", i);
    if (i % 9 == 0) {
      text(&by, "<ul><li>");
      sentence(&by);
      text(&by, "<li>");
      sentence(&by);
      text(&by, "</ul>\n");
    }
    text(&by, "</dl></div>\n");
  }
  text(&by, "</body>\n</html>\n");
}

static void products(buffer *page) {
  author by = {page, {7}};
  head(&by, "All lanterns");
  style(&by, 60);
  text(&by, "</head>\n<body>\n<div class=\"grid\">\n");
  for (unsigned i = 0; i < 480; i++) {
    buffer_format(page,
                  "<div class=\"item\" data-sku='{\"id\":%u,\"cat\":\"%s\"}'><a href=\"/p/%u\"><img src=\"/t/%u.jpg\" "
                  "alt=\"\" loading=lazy>",
                  i, noun(&by), i, i);
    fill(&by, "<h4>%a %n</h4></a><span class=\"price\">&euro;%r.%2</span><del>&euro;%R</del>", 90u, 100u, 90u, 1u, 50u);
    text(&by, "<div class=\"stars\">");
    for (unsigned star = 0; star < 5; star++) icon(&by);
    text(&by, "</div><form method=post action=/cart><label>Colour <select name=colour>");
    for (unsigned k = 0, n = 2 + number(&by, 4); k < n; k++)
      buffer_format(page, "<option value=%u%s>%s", k, k ? "" : " selected", adjective(&by));
    buffer_format(page, "</select></label><input type=hidden name=id value=%u><button>Add</button></form></div>\n", i);
  }
  text(&by, "</div>\n<template id=card><tr><td>{{name}}</td><td>{{price}}</td></tr></template>\n</body>\n</html>\n");
}

static void unclosed(buffer *page) {
  author by = {page, {8}};
  text(&by, "<html><head><title>Old pages</title><body bgcolor=white text=black>\n<center><h1>Old "
            "pages</h1></center>\n<ul>\n");
  for (unsigned i = 0; i < 1500; i++) {
    switch (number(&by, 6)) {
      case 0:
        text(&by, "<li>");
        sentence(&by);
        fill(&by, "\n<ul><li>%n<li>%n\n</ul>\n");
        break;
      case 1:
        text(&by, "<p>");
        prose(&by, 3);
        text(&by, "\n");
        break;
      case 2: fill(&by, "<dl><dt>%n<dd>%a %n<dt>%n<dd>%n</dl>\n"); break;
      case 3: fill(&by, "<table border><tr><td>%n<td>%r<tr><td>%n<td>%r</table>\n", 99u, 99u); break;
      case 4: fill(&by, "<select><option>%n<option>%n<option>%n</select>\n"); break;
      default: text(&by, "<li>"); sentences(&by, 2);
    }
  }
}

static void malformed(buffer *page) {
  author by = {page, {9}};
  text(&by, "<title>Nothing nests</title>\n<script>var open = '<b>';</script>\n");
  for (unsigned i = 0; i < 2200; i++) {
    switch (number(&by, 12)) {
      case 0:
        text(&by, "<b><i>");
        sentence(&by);
        text(&by, "</b></i>\n");
        break;
      case 1: fill(&by, "<font color=red><p>%n</font> %n</p>\n"); break;
      case 2: fill(&by, "<a href=%u>%n<a href=%u>%n</a></a>\n", i, i + 1); break;
      case 3: fill(&by, "<table><tr>%n<td><b>%n<td>%n</table></b>\n"); break;
      case 4: buffer_format(page, "<div><span>%s</div></span></p>\n", noun(&by)); break;
      case 5: fill(&by, "<h2>%n<h3>%n</h2></h3>\n"); break;
      case 6: fill(&by, "<p class=a class=b id=\"x%u>%n</p>\" title='>'>%n\n", i); break;
      case 7: fill(&by, "<svg><path d=%u><p>%n</svg><em>%n</p></em>\n", i); break;
      case 8: fill(&by, "<form><table><form><tr><td><input name=%n></form></table>%n</form>\n"); break;
      case 9: fill(&by, "</div></b></table><br/>%n & %n &copy\n"); break;
      default: text(&by, "<p>"); prose(&by, 2);
    }
  }
}

static void minified(buffer *page) {
  author by = {page, {10}};
  text(&by, "<!doctype html><meta charset=utf-8><title>x</title><div id=a>");
  for (unsigned i = 0; i < 9000; i++)
    fill(&by, "<div class=c%u><a href=/%u data-k=%r><img src=%u.png><b>%n</b></a><p>%n<p>%a %n</div>", i % 40, i, 99u,
         i);
  text(&by, "</div>");
}

static void scripts(buffer *page) {
  author by = {page, {11}};
  head(&by, "An application");
  for (unsigned i = 0; i < 6; i++) script(&by, 2500);
  text(&by, "<script type=\"application/json\">{\"items\":[");
  for (unsigned i = 0; i < 3000; i++)
    buffer_format(page, "%s{\"id\":%u,\"html\":\"<p>%s<\\/p>\"}", i ? "," : "", i, noun(&by));
  text(&by, "]}</script>\n<script><!--\n  if (old) { write('<script>start()</script>'); "
            "}\n//--></script>\n</head>\n<body><div id=\"app\"></div>\n");
  script(&by, 900);
  text(&by, "<noscript><p>This page needs scripts.</p></noscript>\n</body>\n</html>\n");
}

static void commented(buffer *page) {
  author by = {page, {12}};
  head(&by, "Out of a template engine");
  text(&by, "</head>\n<body>\n");
  for (unsigned i = 0; i < 1400; i++) {
    buffer_format(
        page, "<!-- begin module %s-%u -->\n<!--[if lt IE 9]><div class=\"old\"><![endif]-->\n<div class=\"module\">\n",
        noun(&by), i);
    text(&by, "  <!--\n    ");
    sentences(&by, 2);
    buffer_format(page, "\n    <div class=\"%s\"><p>disabled</p></div>\n  -->\n  <p>", noun(&by));
    sentence(&by);
    text(&by, "<!---->\n</div>\n<!-- end module -->\n");
  }
  text(&by, "</body>\n</html>\n");
}

static void international(buffer *page) {
  static const char *const greetings[] = {"\xC3\xA9t\xC3\xA9 fran\xC3\xA7"
                                          "ais",
                                          "gr\xC3\xBC\xC3\x9F"
                                          "e",
                                          "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 \xD0\xBC\xD0\xB8\xD1\x80",
                                          "\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C",
                                          "\xE3\x81\x93\xE3\x82\x93\xE3\x81\xAB\xE3\x81\xA1\xE3\x81\xAF",
                                          "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7",
                                          "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87",
                                          "\xF0\x9F\x8C\x8D\xF0\x9F\x8E\x89",
                                          "\xCE\xBA\xCE\xB1\xCE\xBB\xCE\xB7\xCE\xBC\xCE\xAD\xCF\x81\xCE\xB1",
                                          "\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4"};
  static const char *const references[] = {
      "&eacute;",  "&auml;",  "&#8212;", "&#x2014;", "&hellip;",
      "&nbsp;",    "&laquo;", "&raquo;", "&alpha;",  "&amp;",
      "&lt;b&gt;", "&copy",   "&notin;", "&#128;",   "&CounterClockwiseContourIntegral;"};
  author by = {page, {13}};
  text(&by, "\xEF\xBB\xBF");
  head(&by, "&Uuml;bersicht");
  text(&by, "</head>\n<body>\n");
  for (unsigned i = 0; i < 5200; i++) {
    fill(&by, "<p lang=\"%c%c\" title=\"%o &amp; %o\">", LIST(greetings), LIST(greetings));
    for (unsigned k = 0, n = 3 + number(&by, 6); k < n; k++) fill(&by, "%o %o ", LIST(greetings), LIST(references));
    text(&by, i % 7 ? "</p>\n" : "</p>\r\n");
    if (i % 25 == 3)
      text(&by, "<ruby>\xE6\xBC\xA2<rp>(</rp><rt>\xE3\x81\x8B\xE3\x82\x93</rt><rp>)</rp></ruby> "
                "<math><mi>x</mi><mo>&le;</mo><mn>3</mn></math>\n");
  }
  text(&by, "</body>\n</html>\n");
}

const corpus_page corpus_pages[] = {
    {"note", note},
    {"article", article},
    {"portal", portal},
    {"table", table},
    {"forum", forum},
    {"manual", manual},
    {"products", products},
    {"unclosed", unclosed},
    {"malformed", malformed},
    {"minified", minified},
    {"scripts", scripts},
    {"comments", commented},
    {"international", international},
};

const size_t corpus_page_count = sizeof corpus_pages / sizeof corpus_pages[0];
