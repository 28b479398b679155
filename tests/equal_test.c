/* Checks how `hpar compare` finds that two trees differ, and how it describes the first
 * difference. */

#include "check.h"
#include "programs/hpar/equal.h"

#include <hpar/hpar.h>
#include <string.h>

static hpar_parser *parser;
static hpar_document *first, *second;

static bool parse(const char *text, hpar_document *document) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .encoding = "utf-8"};
  return CHECK_EQ(hpar_parse(parser, &options, text, strlen(text), document, NULL), HPAR_OK);
}

static void equal(const char *text) {
  hp_difference difference;
  if (!parse(text, first) || !parse(text, second)) return;
  if (!CHECK(hp_trees_equal(first, second, &difference))) printf("  %s\n", text);
}

static void differ(const char *a, const char *b, uint64_t node, const char *says, const char *beside) {
  hp_difference difference;
  if (!parse(a, first) || !parse(b, second)) return;
  for (int turn = 0; turn < 2; turn++) {
    if (!CHECK(!hp_trees_equal(turn ? second : first, turn ? first : second, &difference))) {
      printf("  %s and %s are not told apart\n", a, b);
      return;
    }
    if (!CHECK_EQ(difference.node, node)) printf("  %s and %s\n", a, b);
    CHECK_STRING(difference.first, turn ? beside : says);
    CHECK_STRING(difference.second, turn ? says : beside);
  }
}

#define D "<!DOCTYPE html>"

int main(void) {
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&first), HPAR_OK) ||
      !CHECK_EQ(hpar_document_create(&second), HPAR_OK))
    return check_report();
  equal("");
  equal(D "<p a=1 b>x<!--c--><?pi d?><svg><a xlink:href=e>f</svg><math><mi>g</math>");
  equal(D "<template><template><p>x</template>y</template>z<template></template>");
  for (int i = 0; i < 2; i++) { /* more nested templates than the initial capacity */
    char deep[1024] = D;
    for (int n = 0; n < 40; n++) strcat(deep, "<template>");
    strcat(deep, i ? "<p>x" : "<p>y");
    equal(deep);
  }

  differ("<p>", D "<p>", 0, "quirks mode", "no-quirks mode");
  differ(D "<p>", "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Frameset//'><p>", 0, "no-quirks mode",
         "limited-quirks mode");
  differ(D, "<!DOCTYPE html SYSTEM 'about:legacy-compat'>", 1, "<!DOCTYPE html>", "<!DOCTYPE html>");
  differ("<!DOCTYPE html PUBLIC 'a'>", "<!DOCTYPE html PUBLIC 'b'>", 1, "<!DOCTYPE html>", "<!DOCTYPE html>");
  differ("<!DOCTYPE x>", "<!DOCTYPE y>", 1, "<!DOCTYPE x>", "<!DOCTYPE y>");
  differ(D "<p>", D "<p>x", 5, "nothing", "\"x\"");
  differ(D "<p>", D "<p><b>", 5, "nothing", "<b>");
  differ(D "<p></p><b>", D "<p></p>", 5, "<b>", "nothing");
  differ(D "<p>x", D "<p>y", 6, "\"x\"", "\"y\"");
  differ(D "<p>x", D "<p><!--x-->", 6, "\"x\"", "<!-- x -->");
  differ(D "<p><!--x-->", D "<p><!--xy-->", 6, "<!-- x -->", "<!-- xy -->");
  differ(D "<p><?a b>", D "<p><?a c>", 6, "<?a b?>", "<?a c?>");
  differ(D "<p><?a b>", D "<p><?c b>", 6, "<?a b?>", "<?c b?>");
  differ(D "<p a=1>", D "<p a=2>", 5, "<p a=\"1\">", "<p a=\"2\">");
  differ(D "<p a=1>", D "<p b=1>", 5, "<p a=\"1\">", "<p b=\"1\">");
  differ(D "<p a=1>", D "<p a=1 b>", 5, "<p a=\"1\">", "<p a=\"1\" b=\"\">");
  differ(D "<svg><a xlink:href=x>", D "<svg><a xlink:title=x>", 6, "<svg a xlink href=\"x\">",
         "<svg a xlink title=\"x\">");
  differ(D "<svg><a>", D "<math><a>", 5, "<svg svg>", "<math math>");
  differ(D "<svg><desc><title>", D "<svg><title><title>", 6, "<svg desc>", "<svg title>");
  differ(D "<svg><font>", D "<svg><font size=1>", 5, "<svg font>", "nothing");
  differ(D "<template>x</template>y", D "<template>x</template>z", 8, "\"y\"", "\"z\"");
  differ(D "<template>x</template>", D "<template>y</template>", 6, "\"x\"", "\"y\"");
  differ(D "<template>x</template>", D "<template></template>", 5, "\"x\"", "nothing");
  differ(D "<p>\n\t\x7F", D "<p>x", 6, "\"   \"", "\"x\"");
  char a[2000] = D "<p>", b[2000] = D "<p>";
  memset(a + strlen(a), 'x', 1000);
  memset(b + strlen(b), 'x', 999);
  hp_difference difference;
  if (parse(a, first) && parse(b, second)) {
    CHECK(!hp_trees_equal(first, second, &difference));
    /* the first part, up to the capacity */
    CHECK_EQ(strlen(difference.first), sizeof difference.first - 1);
  }
  hpar_document_destroy(second);
  hpar_document_destroy(first);
  hpar_parser_destroy(parser);
  return check_report();
}
