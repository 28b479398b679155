#include "support/corpus.h"

#include "support/random.h"

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

static void words(author *by, size_t count) {
  for (size_t i = 0; i < count; i++)
    buffer_format(by->page, "%s%s", i ? " " : "", random_chance(&by->random, 50) ? noun(by) : adjective(by));
}

static void sentence(author *by) {
  buffer_format(by->page, "The %s %s %s the %s %s", adjective(by), noun(by), RANDOM_OF(&by->random, verbs),
                adjective(by), noun(by));
  if (random_chance(&by->random, 40))
    buffer_format(by->page, ", and the %s %s it", noun(by), RANDOM_OF(&by->random, verbs));
  text(by, ". ");
}

static void sentences(author *by, size_t count) {
  while (count--) sentence(by);
}

/* Writes the contents of a paragraph with the markup of running text. */
static void prose(author *by, size_t count) {
  while (count--) {
    switch (number(by, 9)) {
      case 0:
        buffer_format(by->page, "<a href=\"/%s/%u\" title=\"%s\">%s</a> ", noun(by), number(by, 999), noun(by),
                      noun(by));
        break;
      case 1: buffer_format(by->page, "<em>%s</em> &mdash; ", adjective(by)); break;
      case 2: buffer_format(by->page, "<strong>%s %s</strong> ", adjective(by), noun(by)); break;
      case 3: buffer_format(by->page, "<code>%s_%s()</code> &amp; ", adjective(by), noun(by)); break;
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
  while (rules--)
    buffer_format(by->page, ".%s-%s > .%s:hover { margin: %upx %uem; color: #%06x }\n", adjective(by), noun(by),
                  noun(by), number(by, 40), number(by, 5), number(by, 0x1000000));
  text(by, "</style>\n");
}

static void script(author *by, size_t lines) {
  text(by, "<script>\n");
  while (lines--) {
    switch (number(by, 5)) {
      case 0:
        buffer_format(by->page, "  for (var i = 0; i < %u && i<limit; i++) { total += data[i]; }\n", number(by, 900));
        break;
      case 1:
        buffer_format(by->page, "  var %s = \"<div class='%s'>\" + name + \"<\\/div>\";\n", noun(by), noun(by));
        break;
      case 2:
        buffer_format(by->page, "  // when the %s %s, a < b and b > c\n", noun(by), RANDOM_OF(&by->random, verbs));
        break;
      case 3:
        buffer_format(by->page, "  document.getElementById('%s').innerHTML = '<b>%s</b>';\n", noun(by), adjective(by));
        break;
      default:
        buffer_format(by->page, "  window.%s = window.%s || { id: %u, tags: [\"%s\"] };\n", noun(by), noun(by),
                      number(by, 9999), adjective(by));
    }
  }
  text(by, "</script>\n");
}

static void icon(author *by) {
  buffer_format(
      by->page,
      "<svg class=\"icon\" viewBox=\"0 0 24 24\" width=\"%u\" xmlns=\"http://www.w3.org/2000/svg\"><title>%s</title>"
      "<path fill-rule=\"evenodd\" d=\"%s\"/><circle cx=\"12\" cy=\"12\" r=\"%u\"/></svg>",
      16 + 8 * number(by, 3), noun(by), RANDOM_OF(&by->random, icons), number(by, 12));
}

static void note(buffer *page) {
  author by = {page, {1}};
  head(&by, "A note");
  text(&by, "</head>\n<body>\n<h1>A note</h1>\n<p>");
  prose(&by, 11);
  text(&by, "</p>\n<ul>\n");
  for (int i = 0; i < 4; i++) buffer_format(page, "  <li>%s %s</li>\n", adjective(&by), noun(&by));
  text(&by, "</ul>\n</body>\n</html>\n");
}

static void article(buffer *page) {
  author by = {page, {2}};
  head(&by, "Harbours of the north");
  style(&by, 40);
  script(&by, 25);
  text(&by, "</head>\n<body class=\"article\">\n<header><nav><ul>");
  for (int i = 0; i < 9; i++) buffer_format(page, "<li><a href=\"/%s\">%s</a></li>", noun(&by), noun(&by));
  text(&by, "</ul></nav></header>\n<main><article>\n");
  for (int section = 0; section < 14; section++) {
    buffer_format(page, "<section id=\"s%d\">\n<h2>%s %s</h2>\n", section, adjective(&by), noun(&by));
    for (unsigned i = 0, n = 3 + number(&by, 5); i < n; i++) {
      text(&by, "<p>");
      prose(&by, 3 + number(&by, 6));
      text(&by, "</p>\n");
    }
    if (section % 3 == 1) {
      buffer_format(page, "<figure><img src=\"/i/%u.jpg\" alt=\"%s\"><figcaption>", number(&by, 500), noun(&by));
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
    buffer_format(page,
                  "<div class=\"row r%d\" data-id=\"%u\">\n <div class=\"col\">\n  <div class=\"card\" "
                  "style=\"width:%u%%;top:%upx\">\n",
                  block, number(&by, 99999), number(&by, 100), number(&by, 300));
    buffer_format(page, "   <h3><a href=\"/n/%u?s=%u&amp;t=%u\">", number(&by, 9999), number(&by, 99), number(&by, 99));
    words(&by, 5);
    text(&by, "</a></h3>\n   ");
    icon(&by);
    text(&by, "\n   <ul class=\"links\">\n");
    for (unsigned i = 0, n = 4 + number(&by, 8); i < n; i++) {
      buffer_format(page, "    <li class=\"%s\"><span><a href=\"/l/%u\" onclick=\"go('%s', %u)\">",
                    i % 2 ? "odd" : "even", number(&by, 99999), noun(&by), i);
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
    buffer_format(
        page,
        "<tr><td><a href=\"#s%u\">%s</a></td><td>%u</td><td class=\"num\">%u.%u</td><td class=\"num\">%u.%u</td><td>",
        row, noun(&by), row % 365 + 1, number(&by, 30), number(&by, 10), 30 + number(&by, 30), number(&by, 10));
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
    buffer_format(page,
                  "<table class=post id=p%u><tr><td width=120 valign=top><b>%s</b><br><font size=1 "
                  "color=\"#888888\">Posts: %u</font>"
                  "</td><td><font size=2>",
                  post, person(&by), number(&by, 5000));
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
      buffer_format(page,
                    "<pre class=\"example\">\nif (%s_%s (1, \"x\") &lt; 0)\n  return &amp;<b>%s</b>[%u];\n</pre>\n",
                    noun(&by), adjective(&by), noun(&by), i);
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
    buffer_format(page, "<h4>%s %s</h4></a><span class=\"price\">&euro;%u.%02u</span><del>&euro;%u</del>",
                  adjective(&by), noun(&by), number(&by, 90), number(&by, 100), 90 + number(&by, 50));
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
        buffer_format(page, "\n<ul><li>%s<li>%s\n</ul>\n", noun(&by), noun(&by));
        break;
      case 1:
        text(&by, "<p>");
        prose(&by, 3);
        text(&by, "\n");
        break;
      case 2:
        buffer_format(page, "<dl><dt>%s<dd>%s %s<dt>%s<dd>%s</dl>\n", noun(&by), adjective(&by), noun(&by), noun(&by),
                      noun(&by));
        break;
      case 3:
        buffer_format(page, "<table border><tr><td>%s<td>%u<tr><td>%s<td>%u</table>\n", noun(&by), number(&by, 99),
                      noun(&by), number(&by, 99));
        break;
      case 4:
        buffer_format(page, "<select><option>%s<option>%s<option>%s</select>\n", noun(&by), noun(&by), noun(&by));
        break;
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
      case 1: buffer_format(page, "<font color=red><p>%s</font> %s</p>\n", noun(&by), noun(&by)); break;
      case 2: buffer_format(page, "<a href=%u>%s<a href=%u>%s</a></a>\n", i, noun(&by), i + 1, noun(&by)); break;
      case 3: buffer_format(page, "<table><tr>%s<td><b>%s<td>%s</table></b>\n", noun(&by), noun(&by), noun(&by)); break;
      case 4: buffer_format(page, "<div><span>%s</div></span></p>\n", noun(&by)); break;
      case 5: buffer_format(page, "<h2>%s<h3>%s</h2></h3>\n", noun(&by), noun(&by)); break;
      case 6:
        buffer_format(page, "<p class=a class=b id=\"x%u>%s</p>\" title='>'>%s\n", i, noun(&by), noun(&by));
        break;
      case 7: buffer_format(page, "<svg><path d=%u><p>%s</svg><em>%s</p></em>\n", i, noun(&by), noun(&by)); break;
      case 8:
        buffer_format(page, "<form><table><form><tr><td><input name=%s></form></table>%s</form>\n", noun(&by),
                      noun(&by));
        break;
      case 9: buffer_format(page, "</div></b></table><br/>%s & %s &copy\n", noun(&by), noun(&by)); break;
      default: text(&by, "<p>"); prose(&by, 2);
    }
  }
}

static void minified(buffer *page) {
  author by = {page, {10}};
  text(&by, "<!doctype html><meta charset=utf-8><title>x</title><div id=a>");
  for (unsigned i = 0; i < 9000; i++)
    buffer_format(page, "<div class=c%u><a href=/%u data-k=%u><img src=%u.png><b>%s</b></a><p>%s<p>%s %s</div>", i % 40,
                  i, number(&by, 99), i, noun(&by), noun(&by), adjective(&by), noun(&by));
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
    buffer_format(page, "<p lang=\"%c%c\" title=\"%s &amp; %s\">", 'a' + (int)number(&by, 26),
                  'a' + (int)number(&by, 26), RANDOM_OF(&by.random, greetings), RANDOM_OF(&by.random, greetings));
    for (unsigned k = 0, n = 3 + number(&by, 6); k < n; k++)
      buffer_format(page, "%s %s ", RANDOM_OF(&by.random, greetings), RANDOM_OF(&by.random, references));
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
