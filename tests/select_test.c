/* Checks selectors on trees: cases with their expected elements, errors with their positions,
 * generated selectors against a simple right-to-left matcher, and shapes on which a backtracking
 * matcher would take hours. */

#include "check.h"
#include "support/plain_select.h"
#include "support/random.h"

#include <hpar/hpar.h>
#include <hpar/select.h>
#include <stdlib.h>
#include <string.h>

static hpar_parser *parser;
static hpar_document *document;

/* The values of the matches' id attributes, each followed by a space. */
typedef struct ids {
  char text[4096];
  size_t length;
} ids;

static hpar_status add_id(hpar_node element, uint32_t selector, void *context) {
  ids *list = context;
  (void)selector;
  hpar_string id = hpar_node_attribute_value(document, element, "id");
  if (!id.bytes || list->length + id.length + 2 > sizeof list->text) return HPAR_OK;
  memcpy(list->text + list->length, id.bytes, id.length);
  list->length += id.length;
  list->text[list->length++] = ' ';
  list->text[list->length] = 0;
  return HPAR_OK;
}

static bool parse(const char *html, size_t length) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  return CHECK_EQ(hpar_parse(parser, &options, html, length, document, NULL), HPAR_OK);
}

typedef struct outcome {
  hpar_status status;
  size_t offset;
  ids list;
} outcome;

static outcome outcome_of(const char *text, size_t length) {
  outcome of = {.list = {.length = 0}};
  hpar_selectors *set;
  hpar_error error = {.offset = 0};
  CHECK_EQ(hpar_selectors_create(&set), HPAR_OK);
  of.status = hpar_selectors_add(set, text, length, &error);
  of.offset = of.status ? error.offset : 0;
  if (!of.status) CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add_id, &of.list), HPAR_OK);
  hpar_selectors_destroy(set);
  return of;
}

/* The compiler reads nothing after a selector. */
static void check_ends(const char *selector) {
  static const char next[] = "a-\\|=*)]('\"/ 1n+:#\n";
  char text[512];
  for (size_t length = 1; length <= strlen(selector) && length < sizeof text - 1; length++) {
    memcpy(text, selector, length);
    text[length] = 0;
    const outcome expected = outcome_of(text, length);
    for (size_t i = 0; i < sizeof next - 1; i++) {
      text[length] = text[length + 1] = next[i];
      const outcome got = outcome_of(text, length);
      if (!CHECK(got.status == expected.status && got.offset == expected.offset &&
                 got.list.length == expected.list.length &&
                 !memcmp(got.list.text, expected.list.text, got.list.length)))
        printf("  %.*s before %c\n", (int)length, selector, next[i]);
    }
  }
}

static void check_matches(const char *html, const char *selector, const char *expected) {
  hpar_selectors *set = NULL;
  hpar_error error;
  ids list = {.length = 0};
  if (!parse(html, strlen(html)) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  hpar_status status = hpar_selectors_add(set, selector, strlen(selector), &error);
  if (!CHECK_EQ(status, HPAR_OK)) printf("  %s: %zu: %s\n", selector, error.offset, error.text);
  if (!status) {
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, add_id, &list), HPAR_OK);
    char wanted[512] = "";
    if (*expected) snprintf(wanted, sizeof wanted, "%s ", expected);
    if (!CHECK_STRING(list.text, wanted)) printf("  %s in %s\n", selector, html);
  }
  hpar_selectors_destroy(set);
  check_ends(selector);
}

#define LIST                                                                                                 \
  "<!DOCTYPE html><body id=body><ul id=ul class='x y'><li id=a class=odd>1<li id=b>2<li id=c class=odd>3"    \
  "<li id=d>4</ul><p id=p lang=en-GB>t<b id=b1></b><i id=i1> </i><b id=b2>x</b><!--c--></p><div id=e></div>" \
  "<div id=f><span id=s1><em id=em></em></span><span id=s2></span></div>"

static void check_cases(void) {
  static const char *const cases[][2] = {
      {"li", "a b c d"},
      {"LI", "a b c d"},
      {"*|li", "a b c d"},
      {"html|li", "a b c d"},
      {"svg|li", ""},
      {"|li", ""},
      {"#a", "a"},
      {"#A", ""},
      {".odd", "a c"},
      {".x.y", "ul"},
      {"li.odd#c", "c"},
      {"ul li", "a b c d"},
      {"body > li", ""},
      {"ul > li", "a b c d"},
      {"li + li", "b c d"},
      {"#b ~ li", "c d"},
      {"#a + li + li", "c"},
      {"#a ~ li + li", "c d"},
      {"li, p", "a b c d p"},
      {"p, li, li", "a b c d p"},
      {"div *", "s1 em s2"},
      {"[class]", "ul a c"},
      {"[class=odd]", "a c"},
      {"[class~=y]", "ul"},
      {"[class='x y']", "ul"},
      {"[class^=o]", "a c"},
      {"[class$=d]", "a c"},
      {"[class*=d]", "a c"},
      {"[class*='']", ""},
      {"[lang|=en]", "p"},
      {"a:active, b:focus, i:focus-within, em:focus-visible, p:hover, ul:visited, #b1", "b1"},
      {"p:lang(en):nth-child(2), b:lang(en):nth-of-type(2)", "p b2"},
      {"[lang|=en-gb]", "p"},
      {"[lang|=en-gb s]", ""},
      {"[class=ODD i]", "a c"},
      {"[CLASS]", "ul a c"},
      {":nth-child(2n+1 of li)", "a c"},
      {"li:nth-child(odd)", "a c"},
      {"li:nth-child(even)", "b d"},
      {"li:nth-child(n+3)", "c d"},
      {"li:nth-child(-n+2)", "a b"},
      {"li:nth-child( - 2n + 3 )", NULL},
      {"li:nth-child(-2n+3)", "a c"},
      {"li:nth-child(3)", "c"},
      {"li:nth-child(0)", ""},
      {"li:nth-child(2n)", "b d"},
      {"li:nth-last-child(1)", "d"},
      {"li:nth-last-child(2n+1)", "b d"},
      {":nth-child(2 of .odd)", "c"},
      {":nth-last-child(2 of .odd)", "a"},
      {":nth-child(1 of ul > .odd)", "a"},
      {":nth-last-child(1 of ul > .odd)", "c"},
      {"p > :nth-of-type(2)", "b2"},
      {"p > b:nth-last-of-type(2)", "b1"},
      {"p > :first-of-type", "b1 i1"},
      {"p > :last-of-type", "i1 b2"},
      {"p > :only-of-type", "i1"},
      {"span > :only-child", "em"},
      {"li:first-child", "a"},
      {"li:last-child", "d"},
      {":root > body", "body"},
      {"body:root", ""},
      {"div:empty", "e"},
      {":empty", "b1 e em s2"},
      {"p :not(b)", "i1"},
      {"li:not(.odd):not(#d)", "b"},
      {"li:not(.odd, #d)", "b"},
      {"li:not(#a + li)", "a c d"},
      {":is(ul, div) > :is(li.odd, span)", "a c s1 s2"},
      {":where(#a, #b) + li", "b c"},
      {":is()", ""},
      {":is(::x, #a, :y(, #b)", NULL},
      {":is(:y, #a)", "a"},
      {":is(::x/*,*), #b/*x*/", ""},
      {":is(::x/*,*/, #b/*)*/)", "b"},
      {":is(li{,},#b)", "b"},
      {":is(::x[(]), #b)", ""},
      {":is(::x{[(,)]}, [)},], \\,, #b)", "b"},
      {":is(::x '\\', ,', ', \f, #b)", "b"},
      {":is(::x ',\\\r\n,', #b)", "b"},
      {"li:nth-child(1/**/of #b)", "b"},
      {"[id='\\\r\nb'], [id='\\\fc']", "b c"},
      /* the end of the text closes what is open */
      {"li:not(.odd, #d", "b"},
      {"li:is(#a, #b", "a b"},
      {"li:is(", ""},
      {"[id='b\\\r\n", "b"},
      {"li:nth-child(2", "b"},
      {"li:nth-child(1 of #b", "b"},
      {"div:has(em", "f"},
      {"li[id", "a b c d"},
      {"li[id=b", "b"},
      {"li[id='b", "b"},
      {"li[id=\"B\" i", "b"},
      {"li\\", ""},
      {"li/*", "a b c d"},
      {":is(.x, li + :is(li + li))", "ul b c d"},
      {"div:has(em)", "f"},
      {"div:has(> em)", ""},
      {":has(> em)", "s1"},
      {"li:has(+ .odd)", "b"},
      {"li:has(~ .odd)", "a b"},
      {"body:has(ul > li + li)", "body"},
      {"ul:has(+ p > i)", "ul"},
      {":has(> :last-child:empty)", "f s1"},
      {":has(:nth-child(4))", "body ul"},
      {"div:not(:has(*))", "e"},
      {"div:has(span:not(:has(em)))", NULL},
      {":lang(en)", "p b1 i1 b2"},
      {"p:lang('en-gb')", "p"},
      {":lang(de)", ""},
      {":lang(e)", ""},
      {":lang('*')", "p b1 i1 b2"},
      {":lang('*-gb')", "p b1 i1 b2"},
      {"p:lang('')", ""},
      {"ul:lang('')", "ul"},
      {":scope > body", "body"},
      {":scope > html > body", ""},
      {"ul:hover", ""},
      {"li:not(:hover)", "a b c d"},
      {"\\6ci", "a b c d"},
      {"#\\61", "a"},
      {"li/**/.odd", "a c"},
      {"ul/**/li", NULL},
      {"ul /**/ li", "a b c d"},
      {"li#a.odd:first-child:nth-child(1)", "a"},
      {"html > body > div > span > em", "em"},
      {"* * * *", "a b c d b1 i1 b2 s1 em s2"},
      {"ul ~ div ~ div", "f"},
      {":nth-child(1)", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (cases[i][1]) check_matches(LIST, cases[i][0], cases[i][1]);
}

/* Checks the extended filtering of language ranges, by RFC 4647, 3.3.2. */
static void check_language_ranges(void) {
  static const struct {
    const char *tag, *matching, *others;
  } cases[] = {
      {"de-Latn-DE", ":lang(de):lang(de-de):lang('*-DE'):lang(de-latn):lang('de-*-DE'):lang('*-latn-*'):lang('*')",
       ":lang(de-AT), :lang('*-de-latn'), :lang(''), :lang(d), :lang('de-'), :lang('*-lat'), :lang(Latn)"},
      {"de-DE-x-goethe", ":lang(de-DE):lang('de-x-goethe'):lang('*-x')", ":lang(de-goethe), :lang('*-goethe')"},
      {"de", ":lang('de-*'):lang('*-*')", ":lang(de-DE), :lang('*-DE')"},
      {"", ":lang('')", ":lang('*'), :lang(en), :lang('*-*')"},
      {"x-lojban", ":lang(x)", ":lang(lojban), :lang('*-lojban-y')"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char page[64], text[256];
    snprintf(page, sizeof page, "<p id=a lang='%s'><b id=b></b>", cases[i].tag);
    snprintf(text, sizeof text, "p%s, b%s", cases[i].matching, cases[i].matching);
    check_matches(page, text, "a b");
    snprintf(text, sizeof text, ":is(p, b):is(%s)", cases[i].others);
    check_matches(page, text, "");
  }
}

/* Checks the language that a meta element declares for the document. */
static void check_default_language(void) {
  static const char *const cases[][3] = {
      {"<meta http-equiv=Content-Language content=' en-GB x'><p id=a><p id=b lang=de>", ":lang(en)", "a"},
      {"<meta http-equiv=content-language content=en><p id=a><p id=b lang=''>", ":lang(en)", "a"},
      {"<meta http-equiv=content-language content='en,de'><p id=a>", ":lang(en)", ""},
      {"<meta http-equiv=content-language content=de><p id=a><meta http-equiv=content-language content=en>",
       ":lang(en)", "a"},
      {"<meta http-equiv=content-language content=en><meta http-equiv=content-language content=' '><p id=a>",
       ":lang(en)", "a"},
      {"<meta name=content-language content=en><p id=a>", ":lang(en)", ""},
      {"<template><meta http-equiv=content-language content=en></template><p id=a>", ":lang(en)", ""},
      {"<meta http-equiv=content-language content=&#101;n><div lang=fr><p id=a><p id=b lang=en>", "p:lang(en, fr)",
       "a b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_matches(cases[i][0], cases[i][1], cases[i][2]);
}

/* Checks the first name of a document that is in no table. */
static void check_first_name(void) {
  hpar_document *kept = document;
  if (CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    check_matches("<!DOCTYPE html><p id=a z-w=1><p id=b>", "[*|z-w]", "a");
  hpar_document_destroy(document);
  document = kept;
}

static void check_contexts(void) {
  check_matches("<p id=A class=Q>", "#a.q", "A"); /* quirks mode */
  check_matches("<!DOCTYPE html><p id=A class=Q>", "#a.q", "");
  check_matches("<!DOCTYPE html><svg id=v viewBox=1><foreignObject id=o></svg>", "svg|foreignObject", "o");
  check_matches("<!DOCTYPE html><svg id=v viewBox=1><foreignObject id=o></svg>", "foreignobject", "");
  check_matches("<!DOCTYPE html><svg id=v viewBox=1><foreignObject id=o></svg>", "[viewBox]", "v");
  check_matches("<!DOCTYPE html><svg id=v viewBox=1><foreignObject id=o></svg>", "[viewbox]", "");
  check_matches("<!DOCTYPE html><svg><a id=a xlink:href=u></a></svg>", "[xlink|href]", "a");
  check_matches("<!DOCTYPE html><svg><a id=a xlink:href=u></a></svg>", "[*|href=u]", "a");
  check_matches("<!DOCTYPE html><svg><a id=a xlink:href=u></a></svg>", "[href]", "");
  check_matches("<!DOCTYPE html><svg id=a xmlns:xlink=u xlink:href=v></svg><svg id=b xlink:href=v></svg>",
                "[xmlns|xlink]", "a");
  check_matches("<!DOCTYPE html><div id=a><b></b></div><div id=b><p><i></i></p></div><div id=c></div>",
                "div:has(> b), div:has(i)", "a b");
  check_matches("<!DOCTYPE html><x-y id=a z-w=1><x-y id=b>", "x-y[z-w]", "a");
  check_matches("<!DOCTYPE html><template><p id=a></p></template><p id=b>", "p", "b");
  check_matches("<!DOCTYPE html><input id=a type=TEXT>", "[type=text]", "a");
  check_matches("<!DOCTYPE html><input id=a type=TEXT>", "[type=text s]", "");
  check_matches("<!DOCTYPE html><a id=a href></a><a id=b></a>", ":link", "a");
  check_matches("<!DOCTYPE html><svg><a id=a xlink:href=u></a><a id=b href=u></a><a id=c></a></svg>", ":link", "a b");
  check_matches("<!DOCTYPE html><input id=a type=checkbox checked><input id=b checked><option id=o selected>",
                ":checked", "a o");
  check_matches("<select><option id=a>1<option id=b>2</select>", ":checked", "a");
  check_matches("<select><option disabled>1<optgroup disabled><option>2</optgroup><option id=b>3</select>", ":checked",
                "b");
  check_matches("<select><option id=a selected>1<option id=b selected disabled>2<option id=c>3</select>", ":checked",
                "b");
  check_matches("<select size=2><option id=a>1<option id=b>2</select>", ":checked", "");
  check_matches("<select size=3><option id=a selected>1<option id=b selected>2</select>", ":checked", "b");
  check_matches("<select multiple><option id=a selected>1<option id=b selected>2<option id=c></select>", ":checked",
                "a b");
  /* Display sizes of 1, and others: "0", which parses, is 0. */
  check_matches("<select size=x><option id=a></select><select size=' +01y'><option id=b></select>", ":checked", "a b");
  check_matches("<select size=-1><option id=a></select><select size=''><option id=b></select>", ":checked", "a b");
  check_matches("<select size=0><option id=a></select><select size=-0x><option id=b></select>", ":checked", "");
  check_matches("<select size=' '><option id=a></select><select size=11><option id=b></select>", ":checked", "a");
  check_matches("<select></select><option id=a selected><option id=b>", ":checked", "a");
  check_matches("<select><option id=a><option id=b></select>", "option:not(:checked)", "b");
  check_matches("<select id=s><option id=a></select><select id=t></select>", "select:has(:checked)", "s");
  check_matches("<p id=p><select><option id=a></select>", "p:has(select > :checked)", "p");
  check_matches("<input type=radio id=a name=n checked><input type=RADIO id=b name=n checked>", ":checked", "b");
  check_matches("<input type=radio id=a checked><input type=radio id=b checked>", ":checked", "a b");
  check_matches("<input type=radio id=a name=n checked><input type=radio id=b name=N checked>", ":checked", "a b");
  check_matches(
      "<form><input type=radio id=a name=n checked></form><form><input type=radio id=b name=n checked></form>",
      ":checked", "a b");
  check_matches("<form id=f><input type=radio id=a name=n checked></form><input type=radio id=b name=n checked form=f>",
                ":checked", "b");
  check_matches("<form><input type=radio id=a name=n checked form=x></form><input type=radio id=b name=n checked>",
                ":checked", "b");
  check_matches("<!DOCTYPE html><fieldset id=f disabled><legend id=l><input id=a></legend><legend><input id=b></legend>"
                "<input id=c></fieldset><input id=d>",
                "input:disabled", "b c");
  check_matches("<!DOCTYPE html><fieldset id=f disabled><legend id=l><input id=a></legend><legend><input id=b></legend>"
                "<input id=c></fieldset><input id=d>",
                ":enabled", "a d");
  /* The second alternative needs the number of the child. */
  check_matches("<!DOCTYPE html><div id=a><u></u><i></i></div><div id=b><i></i><u></u></div>",
                "div:has(> :is(b, i:nth-child(2)))", "a");
  check_matches("<!DOCTYPE html><div id=a><u></u><i></i></div><div id=b><i></i><u></u><i></i></div>",
                "div:has(> :is(b, i:only-of-type))", "a");
  /* An optgroup disables its options, and a fieldset does not. */
  check_matches("<!DOCTYPE html><fieldset disabled><select><option id=a></select></fieldset>"
                "<select><optgroup disabled><option id=b></optgroup><option id=c disabled><option id=d></select>",
                "option:disabled", "b c");
  check_matches("<!DOCTYPE html><p id=0a><p id=aAb><p id=ag><p id=\"\xEF\xBF\xBD\">",
                "#\\30 a, #a\\000041 b, #\\61g, #\\0 ", "0a aAb ag \xEF\xBF\xBD");
  check_matches("<!DOCTYPE html><p id=a>x<p id=\"a b\"><p id=b>", "[id~=b]", "a b b");
}

/* Radio buttons in more groups than the first table has places: the last of a group is checked. */
static void check_groups(void) {
  enum { GROUPS = 300 };
  static char html[GROUPS * 96];
  char *at = html + sprintf(html, "<!DOCTYPE html>");
  for (int i = 0; i < GROUPS; i++)
    at += sprintf(at, "<input type=radio name=g%d checked><input id=i%d type=radio name=g%d checked>", i, i, i);
  check_matches(html, "[id]:not(:checked)", "");
}

static void check_errors(void) {
  static const struct {
    const char *text;
    size_t offset;
  } cases[] = {{"", 0},
               {"  ", 2},
               {"a,", 2},
               {",a", 0},
               {"a >", 3},
               {"> a", 0},
               {"a > > b", 4},
               {"a[", 2},
               {"a[b=", 4},
               {"a[b=]", 4},
               {"a[b='c\n']", 4},
               {"a[b='c\f']", 4},
               {"a[b='c\r']", 4},
               {"a\\\fb", 1},
               {"a\\\rb", 1},
               {"a[b=c ix]", 7},
               {"a[b!=c]", 3},
               {"a[b=c x]", 6},
               {"#", 0},
               {"#1", 0},
               {".", 0},
               {"a:", 1},
               {"a:foo", 1},
               {"a::before", 1},
               {"a:not", 1},
               {"a:not(", 6},
               {"a:not()", 6},
               {"a:nth-child", 1},
               {"a:nth-child()", 12},
               {"a:nth-child(2x)", 13},
               {"a:nth-child(1of a)", 13},
               {"a:nth-child(n+1of a)", 15},
               {"a:first-child()", 1},
               {"a)", 1},
               {"a:has()", 6},
               {"a:has(b:has(c))", 7},
               {"foo|a", 0},
               {"svg|", 4},
               {"[*]", 1},
               {"a&", 1},
               {"a b !c", 4},
               {"a:has(:is(b :last-child))", 23}};
  hpar_selectors *set = NULL;
  if (!CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  CHECK_EQ(hpar_selectors_add(set, "b", 1, NULL), HPAR_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_error error;
    bool fine = CHECK_EQ(hpar_selectors_add(set, cases[i].text, strlen(cases[i].text), &error), HPAR_ERROR_ARGUMENT) &&
                CHECK_EQ(error.offset, cases[i].offset) && CHECK(*error.text);
    if (!fine) printf("  %s: %s\n", cases[i].text, error.text);
    check_ends(cases[i].text);
  }
  char deep[400] = "a";
  for (int i = 0; i < 40; i++) strcat(deep, ":not(a");
  for (int i = 0; i < 40; i++) strcat(deep, ")");
  CHECK_EQ(hpar_selectors_add(set, deep, strlen(deep), NULL), HPAR_ERROR_ARGUMENT);
  static const char *const ends[][2] = {
      {"a)", "no parenthesis"}, {"a(", "a combinator"}, {"a/b", "a combinator"}, {"*a", "a combinator"}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    hpar_error error;
    CHECK_EQ(hpar_selectors_add(set, ends[i][0], strlen(ends[i][0]), &error), HPAR_ERROR_ARGUMENT);
    CHECK(!strncmp(error.text, ends[i][1], strlen(ends[i][1])));
  }
  CHECK_EQ(hpar_selectors_count(set), 1);
  CHECK_EQ(hpar_selectors_add(NULL, "a", 1, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_selectors_add(set, NULL, 1, NULL), HPAR_ERROR_ARGUMENT);
  CHECK_EQ(hpar_selectors_create(NULL), HPAR_ERROR_ARGUMENT);
  hpar_selectors_destroy(NULL);
  hpar_selectors_destroy(set);
}

static const char *const types[] = {"b", "i", "u", "div"}, *const words[] = {"x", "y", "z"};
static const plain_vocabulary vocabulary = {.types = types,
                                            .classes = words,
                                            .ids = words,
                                            .attributes = words,
                                            .type_count = 4,
                                            .class_count = 3,
                                            .id_count = 3,
                                            .attribute_count = 3,
                                            .has = true};

static void make_page(random_state *seed, char *to) {
  to += sprintf(to, "<!DOCTYPE html><body>");
  int open = 0;
  const char *stack[12];
  for (size_t n = 5 + random_below(seed, 30); n--;) {
    if (open && random_below(seed, 3) == 0) {
      to += sprintf(to, "</%s>", stack[--open]);
    } else if (open < 11) {
      const char *type = types[random_below(seed, 4)];
      stack[open++] = type;
      to += sprintf(to, "<%s", type);
      if (random_below(seed, 2))
        to += sprintf(to, " class='%s %s'", words[random_below(seed, 3)], words[random_below(seed, 3)]);
      if (!random_below(seed, 4)) to += sprintf(to, " id=%s", words[random_below(seed, 3)]);
      if (!random_below(seed, 4)) to += sprintf(to, " %s", words[random_below(seed, 3)]);
      to += sprintf(to, ">%s", random_below(seed, 4) ? "" : "t");
    }
  }
}

typedef struct results {
  hpar_node nodes[400];
  uint32_t selectors[400];
  size_t count;
} results;

static hpar_status add_result(hpar_node element, uint32_t selector, void *context) {
  results *r = context;
  if (r->count == 400) return HPAR_STOP;
  r->nodes[r->count] = element;
  r->selectors[r->count++] = selector;
  return HPAR_OK;
}

static void check_generated(uint64_t first, uint64_t count) {
  static char page[8000], text[60000];
  for (uint64_t number = first; number < first + count; number++) {
    random_state state = {number}, *seed = &state;
    plain_selector *selectors[3];
    hpar_selectors *set = NULL;
    plain_reset();
    make_page(seed, page);
    if (!parse(page, strlen(page)) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
    hpar_status status = HPAR_OK;
    plain_open(document);
    for (int i = 0; i < 3 && !status; i++) {
      hpar_error error;
      selectors[i] = plain_make(seed, &vocabulary, 2);
      *text = 0;
      plain_print(selectors[i], text);
      status = hpar_selectors_add(set, text, strlen(text), &error);
      if (!CHECK_EQ(status, HPAR_OK)) printf("  %" PRIu64 ": %s\n  %zu: %s\n", number, text, error.offset, error.text);
    }
    static results got, expected;
    got.count = expected.count = 0;
    hpar_node root = hpar_document_root(document);
    if (!status) CHECK_EQ(hpar_select(set, document, root, NULL, add_result, &got), HPAR_OK);
    for (hpar_node node = root; !status && (node = hpar_node_walk(document, root, node));)
      for (uint32_t i = 0; hpar_node_kind(document, node) == HPAR_NODE_ELEMENT && i < 3; i++)
        if (plain_matches(selectors[i], node)) add_result(node, i, &expected);
    bool same = CHECK_EQ(got.count, expected.count) &&
                CHECK(!memcmp(got.nodes, expected.nodes, got.count * sizeof *got.nodes)) &&
                CHECK(!memcmp(got.selectors, expected.selectors, got.count * sizeof *got.selectors));
    for (int i = 0; !same && i < 3; i++) {
      *text = 0;
      plain_print(selectors[i], text);
      printf("  %" PRIu64 ": %s\n", number, text);
    }
    if (!same) printf("  in %s\n", page);
    for (size_t k = 0; k < expected.count && k < 3 && same; k++) {
      bool matches = false;
      CHECK_EQ(hpar_matches(set, document, expected.nodes[k], expected.selectors[k], &matches), HPAR_OK);
      if (!CHECK(matches)) printf("  hpar_matches: %" PRIu64 "\n", number);
    }
    hpar_selectors_destroy(set);
    if (check_failed > 20) return;
  }
}

/* Checks that selectors below an inner element see its surroundings, and that :scope is that
 * element. */
static void check_tops(void) {
  static const char html[] =
      "<!DOCTYPE html><div class=o><b></b><p id=t><i id=i1><u id=u></u></i><i id=i2></i></p><i id=n></i></div>";
  static const char *const cases[][2] = {
      {"i", "i1 i2 "},     {".o i", "i1 i2 "},     {":scope > i", "i1 i2 "},          {"b + p > i", "i1 i2 "},
      {":scope u", "u "},  {"p:last-child i", ""}, {"div > p > i:last-child", "i2 "}, {"p:nth-child(2) u", "u "},
      {"i:has(u)", "i1 "}, {"#n, #t", ""}};
  if (!parse(html, strlen(html))) return;
  hpar_node root = hpar_document_root(document), top = root;
  while (hpar_node_attribute_value(document, top, "id").length != 1) top = hpar_node_walk(document, root, top);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hpar_selectors *set = NULL;
    ids list = {.length = 0};
    CHECK_EQ(hpar_selectors_create(&set), HPAR_OK);
    CHECK_EQ(hpar_selectors_add(set, cases[i][0], strlen(cases[i][0]), NULL), HPAR_OK);
    CHECK_EQ(hpar_select(set, document, top, NULL, add_id, &list), HPAR_OK);
    if (!CHECK_STRING(list.text, cases[i][1])) printf("  %s\n", cases[i][0]);
    bool matches;
    CHECK_EQ(hpar_matches(set, document, top, 0, &matches), HPAR_OK);
    CHECK_EQ(matches, !strcmp(cases[i][0], "#n, #t"));
    CHECK_EQ(hpar_matches(set, document, top, 1, &matches), HPAR_ERROR_ARGUMENT);
    CHECK_EQ(hpar_select(set, document, HPAR_NO_NODE, NULL, add_id, &list), HPAR_OK);
    CHECK_EQ(hpar_select(set, document, top, NULL, NULL, &list), HPAR_ERROR_ARGUMENT);
    hpar_selectors_destroy(set);
  }
}

static hpar_status count_match(hpar_node element, uint32_t selector, void *context) {
  (void)element, (void)selector;
  ++*(uint64_t *)context;
  return HPAR_OK;
}

/* Checks shapes on which a matcher that backtracks, or that walks siblings or subtrees again, would
 * take hours. */
static void check_hostile(void) {
  enum { N = 100000 };
  static const char *const shapes[][2] = {{"<div>", ""}, {"<b></b>", "<p>"}, {"<x-y><i></i>", ""}};
  static const char selector[] =
      "div div div div div div x, b ~ b ~ b ~ b ~ x, :has(b + x), div:has(x), b:nth-last-of-type(3), :has(~ x-z), "
      "i:nth-last-child(2 of b, i), :nth-child(7 of b), x-y :is(x-y x-y) i:only-of-type";
  char *html = malloc(N * 12 + 64);
  hpar_selectors *set = NULL;
  if (!CHECK(html) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  CHECK_EQ(hpar_selectors_add(set, selector, strlen(selector), NULL), HPAR_OK);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    size_t length = (size_t)sprintf(html, "<!DOCTYPE html>%s", shapes[i][1]), piece = strlen(shapes[i][0]);
    for (int n = 0; n < N; n++, length += piece) memcpy(html + length, shapes[i][0], piece);
    uint64_t matches = 0;
    if (!parse(html, length)) continue;
    CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, count_match, &matches), HPAR_OK);
    CHECK_EQ(matches, i == 0 ? 0 : i == 1 ? 2 : N - 1);
  }
  hpar_selectors_destroy(set);
  free(html);
}

/* Checks that many selectors in one walk find the same elements as each selector alone. */
static void check_many(void) {
  static char html[40000], text[64];
  size_t length = (size_t)sprintf(html, "<!DOCTYPE html>");
  for (int i = 0; i < 300; i++)
    length += (size_t)sprintf(html + length, "<p class='c%d d%d' id=e%d><b></b></p>", i, i % 7, i);
  hpar_selectors *set = NULL;
  if (!parse(html, length) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  for (int i = 0; i < 300; i++) {
    sprintf(text, i % 3 == 0 ? ".c%d > b" : i % 3 == 1 ? "#e%d + p" : "p.c%d", i);
    CHECK_EQ(hpar_selectors_add(set, text, strlen(text), NULL), HPAR_OK);
  }
  uint64_t matches = 0;
  CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, count_match, &matches), HPAR_OK);
  CHECK_EQ(matches, 300);
  hpar_selectors_destroy(set);
}

/* Counts the matches of a selector with the element whose id is the selector's number. */
static hpar_status count_own(hpar_node element, uint32_t selector, void *context) {
  char number[16];
  hpar_string id = hpar_node_attribute_value(document, element, "id");
  const size_t length = (size_t)snprintf(number, sizeof number, "%u", selector);
  *(uint64_t *)context += id.length == length && !memcmp(id.bytes, number, length);
  return HPAR_OK;
}

/* Checks that elements inherit what the ancestors of many selectors match, and many languages. */
static void check_many_inherited(void) {
  static char html[40000], text[64];
  size_t length = (size_t)sprintf(html, "<!DOCTYPE html>");
  for (int i = 0; i < 300; i++)
    length += (size_t)sprintf(html + length, "<div class=c%d lang=l%d-x><p><i><b id=%d></b></i></p></div>", i, i, i);
  hpar_selectors *set = NULL;
  if (!parse(html, length) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  for (int i = 0; i < 300; i++) {
    sprintf(text, i % 2 ? ".c%d b" : "b:lang(l%d)", i);
    CHECK_EQ(hpar_selectors_add(set, text, strlen(text), NULL), HPAR_OK);
  }
  uint64_t all = 0, own = 0;
  CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, count_match, &all), HPAR_OK);
  CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, count_own, &own), HPAR_OK);
  CHECK_EQ(all, 300);
  CHECK_EQ(own, 300);
  hpar_selectors_destroy(set);
}

/* Each radio button is alone in its group. :has() holds up to 64 selectors. */
static void check_bounds(void) {
  static char html[40000], text[400] = ":has(";
  size_t length = (size_t)sprintf(html, "<!DOCTYPE html>");
  for (int i = 0; i < 300; i++)
    length += (size_t)sprintf(html + length, "<input type=radio checked name=n%d id=%d>", i, i);
  hpar_selectors *set = NULL;
  uint64_t all = 0;
  if (!parse(html, length) || !CHECK_EQ(hpar_selectors_create(&set), HPAR_OK)) return;
  CHECK_EQ(hpar_selectors_add(set, ":checked", 8, NULL), HPAR_OK);
  CHECK_EQ(hpar_select(set, document, hpar_document_root(document), NULL, count_match, &all), HPAR_OK);
  CHECK_EQ(all, 300);
  hpar_selectors_destroy(set);
  for (int i = 0; i < 63; i++) strcat(text, "a,");
  strcat(text, "a)");
  CHECK_EQ(outcome_of(text, strlen(text)).status, HPAR_OK);
  text[strlen(text) - 1] = 0;
  strcat(text, ",a)");
  CHECK(outcome_of(text, strlen(text)).status != HPAR_OK);
}

int main(void) {
  const char *scale = getenv("HPAR_TEST_SCALE");
  uint64_t count = 4000 * (scale ? strtoull(scale, NULL, 10) : 100) / 100;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  check_cases();
  check_first_name();
  check_contexts();
  check_language_ranges();
  check_default_language();
  check_groups();
  check_errors();
  check_tops();
  check_many();
  check_many_inherited();
  check_bounds();
  check_generated(0, count < 200 ? 200 : count);
  check_hostile();
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  return check_report();
}
