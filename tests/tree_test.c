/* Runs every tree-construction test of html5lib-tests, except those that need a script engine. The
 * test parses sequentially, with scripting on and off if the fixture does not fix it. It adds a few
 * trees for cases without a fixture. The dumps must be equal to the byte, and the number of parse
 * errors that of the fixture. */

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/dat.h"
#include "support/shared.h"

#include <hpar/hpar.h>
#include <stdio.h>
#include <string.h>

static unsigned long passed, failed;

/* Tests of html5lib-tests before 2026-06-26 that expect a comment for "<?". The standard now makes
 * processing instructions (§ tag-open-state, § processing-instruction-target-state). */
#define REST "| <html>\n|   <head>\n|   <body>\n"
static const struct {
  const char *input, *older, *tree;
} older_rules[] = {
    {"<?", "| <!-- ? -->\n" REST, REST},
    {"<?COMMENT?>", "| <!-- ?COMMENT? -->\n" REST, "| <?COMMENT ?>\n" REST},
    {"<?COM--MENT?>", "| <!-- ?COM--MENT? -->\n" REST, "| <?COM--MENT ?>\n" REST},
    {"<?import namespace=\"foo\" implementation=\"#bar\">",
     "| <!-- ?import namespace=\"foo\" implementation=\"#bar\" -->\n" REST,
     "| <?import namespace=\"foo\" implementation=\"#bar\"?>\n" REST},
};

static bool equals(const char *bytes, size_t length, const char *text) {
  return length == strlen(text) && !memcmp(bytes, text, length);
}

/* Returns true for a test with a tree of the older rule, if the dump is that of the new rule. */
static bool has_new_tree(const dat_test *test, const buffer *dump) {
  for (size_t i = 0; i < sizeof older_rules / sizeof *older_rules; i++)
    if (equals(test->data, test->data_length, older_rules[i].input) &&
        equals(test->expected, test->expected_length, older_rules[i].older))
      return equals(dump->bytes, dump->length, older_rules[i].tree);
  return false;
}

static void run(hpar_parser *parser, hpar_document *document, const char *path, size_t number, const dat_test *test,
                bool scripting) {
  static buffer dump;
  hpar_options options = {HPAR_OPTIONS_INIT};
  options.mode = HPAR_MODE_SEQUENTIAL;
  options.scripting = scripting;
  options.fragment = test->fragment;
  options.encoding = "utf-8";
  hpar_status status = hpar_parse(parser, &options, test->data, test->data_length, document, NULL);
  bool same = !status && compare_dump(document, &dump) && dump.length == test->expected_length &&
              (!dump.length || !memcmp(dump.bytes, test->expected, dump.length));
  if (same || (!status && has_new_tree(test, &dump))) {
    passed++;
    return;
  }
  failed++;
  printf("%s:%u: test %zu, scripting %s%s%s\ninput:\n%.*s\nexpected:\n%.*s", path, test->line, number,
         scripting ? "on" : "off", test->fragment ? ", fragment " : "", test->fragment ? test->fragment : "",
         (int)test->data_length, test->data, (int)test->expected_length, test->expected);
  if (status)
    printf("got: %s\n\n", hpar_status_text(status));
  else
    printf("got:\n%.*s\n", (int)dump.length, dump.length ? dump.bytes : "");
}

static bool holds(const char *bytes, size_t length, const char *text) {
  return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* Counts the errors of a fixture. The fixtures count each character of a text that is in the wrong
 * place, HPar the text: so a fixture states the most, and one such error is the least. */
static void count_expected(const dat_test *test, size_t *least, size_t *most) {
  static const char *const of_characters[] = {
      "foster-parenting-character",
      "foster-parenting text",
      "Character tokens",
      "unexpected-char-in-frameset",
      "unexpected-char-after-frameset",
      "unexpected-character-in-colgroup",
      "expected-eof-but-got-char",
      "invalid-codepoint",
  };
  const char *at = test->errors, *end = at + test->errors_length;
  size_t characters = 0;
  for (*most = 0; at < end; ++*most) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    bool is_one = false;
    for (size_t i = 0; i < sizeof of_characters / sizeof *of_characters; i++)
      is_one |= holds(at, (size_t)(stop - at), of_characters[i]);
    characters += is_one;
    at = stop + 1;
  }
  *least = *most - characters + (characters > 0);
}

/* Compares the numbers of errors. Fixtures without any are left out: most have no list yet. */
static void run_errors(hpar_parser *parser, hpar_document *document, const char *path, const dat_test *test) {
  enum { ALL = 1 << 20 };
  /* The older rule for </table>: an error where the current node is another element. */
  if (equals(test->data, test->data_length, "<nobr><table><marquee></table><nobr>")) return;
  size_t least, most;
  count_expected(test, &least, &most);
  if (!most) return;
  const hpar_options options = {
      HPAR_OPTIONS_INIT,          .mode = HPAR_MODE_SEQUENTIAL, .scripting = test->scripting == DAT_ON,
      .fragment = test->fragment, .encoding = "utf-8",          .max_errors = ALL};
  hpar_status status = hpar_parse(parser, &options, test->data, test->data_length, document, NULL);
  size_t count = hpar_parse_error_count(parser);
  if (!status && count >= least && count <= most) {
    passed++;
    return;
  }
  failed++;
  printf("%s:%u: %zu errors instead of %zu to %zu\ninput:\n%.*s\n%.*s", path, test->line, count, least, most,
         (int)test->data_length, test->data, (int)test->errors_length, test->errors);
}

/* Runs the fixtures. Returns false if they do not exist. */
static bool fixtures(hpar_parser *parser, hpar_document *document) {
  char directory[4096];
  if (!shared_path(directory, sizeof directory, "html5lib-tests/tree-construction")) return false;
  shared_list files;
  if (!shared_files(directory, ".dat", &files)) {
    failed++;
    return true;
  }
  for (size_t i = 0; i < files.count; i++) {
    dat_file file;
    if (!dat_read(files.paths[i], &file)) {
      failed++;
      continue;
    }
    unsigned long passed_before = passed, failed_before = failed;
    for (size_t k = 0; k < file.count; k++) {
      const dat_test *test = &file.tests[k];
      if (test->scripting != DAT_ON) run(parser, document, files.paths[i], k + 1, test, false);
      if (test->scripting != DAT_OFF) run(parser, document, files.paths[i], k + 1, test, true);
      run_errors(parser, document, files.paths[i], test);
    }
    if (failed > failed_before)
      printf("%s: %lu passed, %lu failed\n\n", files.paths[i], passed - passed_before, failed - failed_before);
    dat_free(&file);
  }
  if (!files.count) printf("%s: no tests\n", directory);
  shared_list_free(&files);
  return true;
}

/* Data, context, tree. */
#define OWN(data, fragment, expected) \
  { data, sizeof(data) - 1, "", 0, (char *)(uintptr_t)(fragment), DAT_BOTH, expected, sizeof(expected) - 1, __LINE__ }

static const dat_test own[] = {
    /* in column group, the parser handles text character by character */
    OWN("<!doctype html><template><col> x y<table>a b", NULL,
        "| <!DOCTYPE html>\n| <html>\n|   <head>\n|     <template>\n|       content\n|         <col>\n"
        "|         \"   \"\n|   <body>\n"),
    OWN(" x y", "colgroup", "| \"  \"\n"),
    OWN(" x<col>\ny<tr>z ", "colgroup", "| \" \"\n| <col>\n| \"\n \"\n"),
    /* the parser disables a selectedcontent in an option, in another selectedcontent or in two
     * selects */
    OWN("<select><option><selectedcontent>", "div", "| <select>\n|   <option>\n|     <selectedcontent>\n"),
    OWN("<select><option>a<selectedcontent>b</option></select>c", "div",
        "| <select>\n|   <option>\n|     \"a\"\n|     <selectedcontent>\n|       \"b\"\n| \"c\"\n"),
    /* and an option without a select has none */
    OWN("<option>a</option><selectedcontent>", "div", "| <option>\n|   \"a\"\n| <selectedcontent>\n"),
    OWN("<option><select><selectedcontent><option>x", "div",
        "| <option>\n|   <select>\n|     <selectedcontent>\n|       <option>\n|         \"x\"\n"),
    OWN("<selectedcontent><select><selectedcontent></selectedcontent><option>x", "div",
        "| <selectedcontent>\n|   <select>\n|     <selectedcontent>\n|     <option>\n|       \"x\"\n"),
    OWN("<select><object><select><selectedcontent></selectedcontent><option>x", "div",
        "| <select>\n|   <object>\n|     <select>\n|       <selectedcontent>\n|       <option>\n|         \"x\"\n"),
    /* options in a datalist, in an option or in two optgroups are not options of the select */
    OWN("<select><selectedcontent></selectedcontent><datalist><option>a", "div",
        "| <select>\n|   <selectedcontent>\n|   <datalist>\n|     <option>\n|       \"a\"\n"),
    OWN("<select><selectedcontent></selectedcontent><datalist><option>a</datalist><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"b\"\n|   <datalist>\n|     <option>\n|       \"a\"\n|   "
        "<option>\n|     \"b\"\n"),
    OWN("<select><selectedcontent></selectedcontent><option disabled>a<div><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|   <option>\n|     disabled=\"\"\n|     \"a\"\n|     <div>\n|       "
        "<option>\n|         \"b\"\n"),
    OWN("<select><optgroup><selectedcontent><optgroup><option>", "div",
        "| <select>\n|   <optgroup>\n|     <selectedcontent>\n|       <optgroup>\n|         <option>\n"),
    /* the default selection needs a display size of 1; the attribute does not */
    OWN("<select size=3><button><selectedcontent></button><option>a", "div",
        "| <select>\n|   size=\"3\"\n|   <button>\n|     <selectedcontent>\n|   <option>\n|     \"a\"\n"),
    OWN("<select size=3><button><selectedcontent></button><option>a<option selected>b", "div",
        "| <select>\n|   size=\"3\"\n|   <button>\n|     <selectedcontent>\n|       \"b\"\n|   <option>\n|     "
        "\"a\"\n|   <option>\n|     selected=\"\"\n|     \"b\"\n"),
    OWN("<select size=' +01x'><selectedcontent></selectedcontent><option>a", "div",
        "| <select>\n|   size=\" +01x\"\n|   <selectedcontent>\n|     \"a\"\n|   <option>\n|     \"a\"\n"),
    OWN("<select size=-2><selectedcontent></selectedcontent><option>a", "div",
        "| <select>\n|   size=\"-2\"\n|   <selectedcontent>\n|     \"a\"\n|   <option>\n|     \"a\"\n"),
    OWN("<select size=0><selectedcontent></selectedcontent><option>a", "div",
        "| <select>\n|   size=\"0\"\n|   <selectedcontent>\n|   <option>\n|     \"a\"\n"),
    OWN("<select size=12><selectedcontent></selectedcontent><option>a", "div",
        "| <select>\n|   size=\"12\"\n|   <selectedcontent>\n|   <option>\n|     \"a\"\n"),
    /* the clone of a template has the contents of the template */
    OWN("<select><selectedcontent></selectedcontent><option>a<template>q</template></option>", "div",
        "| <select>\n|   <selectedcontent>\n|     \"a\"\n|     <template>\n|       content\n|         \"q\"\n|   "
        "<option>\n|     \"a\"\n|     <template>\n|       content\n|         \"q\"\n"),
    OWN("<select><selectedcontent></selectedcontent><option><template>q<b>r<template>z</template></b></"
        "template><template>y",
        "div",
        "| <select>\n|   <selectedcontent>\n|     <template>\n|       content\n|         \"q\"\n|         <b>\n|       "
        "    \"r\"\n|           <template>\n|             content\n|               \"z\"\n|     <template>\n|       "
        "content\n|         \"y\"\n|   <option>\n|     <template>\n|       content\n|         \"q\"\n|         <b>\n|  "
        "         \"r\"\n|           <template>\n|             content\n|               \"z\"\n|     <template>\n|     "
        "  content\n|         \"y\"\n"),
    /* a selectedcontent after the selected option receives its clone at once */
    OWN("<select><option>a<b>c</b><option>d</option><selectedcontent>x<b>y</selectedcontent>", "div",
        "| <select>\n|   <option>\n|     \"a\"\n|     <b>\n|       \"c\"\n|   <option>\n|     \"d\"\n|   "
        "<selectedcontent>\n|     \"a\"\n|     <b>\n|       \"c\"\n|     \"x\"\n|     <b>\n|       \"y\"\n"),
    OWN("<select><option>a<option selected>b<option>c</option><button><selectedcontent>", "div",
        "| <select>\n|   <option>\n|     \"a\"\n|   <option>\n|     selected=\"\"\n|     \"b\"\n|   <option>\n|     "
        "\"c\"\n|   <button>\n|     <selectedcontent>\n|       \"b\"\n"),
    OWN("<select size=2><option>a</option><selectedcontent>", "div",
        "| <select>\n|   size=\"2\"\n|   <option>\n|     \"a\"\n|   <selectedcontent>\n"),
    /* an option in a disabled optgroup is no default; in a datalist, it is none of the select */
    OWN("<select><selectedcontent></selectedcontent><optgroup disabled><option>a</optgroup><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"b\"\n|   <optgroup>\n|     disabled=\"\"\n|     <option>\n|       "
        "\"a\"\n|   <option>\n|     \"b\"\n"),
    OWN("<select><selectedcontent></selectedcontent><datalist><optgroup><option>a</optgroup></datalist><option>b",
        "div",
        "| <select>\n|   <selectedcontent>\n|     \"b\"\n|   <datalist>\n|     <optgroup>\n|       <option>\n|         "
        "\"a\"\n|   <option>\n|     \"b\"\n"),
    /* the last selected option counts, also after an element was fostered into the select */
    OWN("<select><selectedcontent></selectedcontent><option>a</option><table><b></b></table><optgroup><option "
        "selected>b"
        "<option selected>c</optgroup><option>d",
        "div",
        "| <select>\n|   <selectedcontent>\n|     \"c\"\n|   <option>\n|     \"a\"\n|   <b>\n|   <table>\n|   "
        "<optgroup>\n"
        "|     <option>\n|       selected=\"\"\n|       \"b\"\n|     <option>\n|       selected=\"\"\n|       \"c\"\n"
        "|   <option>\n|     \"d\"\n"),
    /* its clone replaces an option in an open selectedcontent; later ones count by the tree */
    OWN("<select><selectedcontent><option>a</option><datalist><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"a\"\n|     <datalist>\n|       <option>\n|         \"b\"\n"),
    OWN("<select><selectedcontent><option>a</option><optgroup><div><optgroup><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"a\"\n|     <optgroup>\n|       <div>\n|         <optgroup>\n"
        "|           <option>\n|             \"b\"\n"),
    OWN("<select><selectedcontent><option>a</option><object><select><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"a\"\n|     <object>\n|       <select>\n|         <option>\n"
        "|           \"b\"\n"),
    OWN("<select><selectedcontent><option>a</option></selectedcontent><object><select><option>b", "div",
        "| <select>\n|   <selectedcontent>\n|     \"a\"\n|   <object>\n|     <select>\n|       <option>\n|         "
        "\"b\"\n"),
    OWN("<select><selectedcontent><option>a</option></selectedcontent><option>x<div><option>y</option>", "div",
        "| <select>\n|   <selectedcontent>\n|     \"x\"\n|     <div>\n|       <option>\n|         \"y\"\n|   <option>\n"
        "|     \"x\"\n|     <div>\n|       <option>\n|         \"y\"\n"),
    /* each NUL of a run counts */
    OWN("<svg>\0\0</svg>\0a\0", "div", "| <svg svg>\n|   \"\xEF\xBF\xBD\xEF\xBF\xBD\"\n| \"a\"\n"),
    /* a cell leaves the svg that was fostered before its table */
    OWN("<table><tbody><svg><desc><th>x", "div",
        "| <svg svg>\n|   <svg desc>\n| <table>\n|   <tbody>\n|     <tr>\n|       <th>\n|         \"x\"\n"),
    /* after eight steps of the adoption agency, the b is listed after the i */
    OWN("<b><i><div><div><div><div><div><div><div><div><div><div>x</b>y</div></"
        "div></div></div></div></div></div></div></div></div>z",
        "div",
        "| <b>\n|   <i>\n| <i>\n|   <div>\n|     <b>\n|     <div>\n|       <b>\n|       <div>\n"
        "|         <b>\n|         <div>\n|           <b>\n|           <div>\n|             <b>\n"
        "|             <div>\n|               <b>\n|               <div>\n|                 <b>\n"
        "|                 <div>\n|                   <b>\n|                     <div>\n"
        "|                       <div>\n|                         \"xy\"\n|   <b>\n|     \"z\"\n"),
    /* a table hides the parts of the table around it */
    OWN("<table><thead><tr><td><table><tbody></thead><tr>", "div",
        "| <table>\n|   <thead>\n|     <tr>\n|       <td>\n|         <table>\n|           <tbody>\n"
        "|             <tr>\n"),
    /* a name is before a longer one that begins with it */
    OWN("<p zz-ab=1 zz-a=2 zz-a0=3>", "div", "| <p>\n|   zz-a=\"2\"\n|   zz-a0=\"3\"\n|   zz-ab=\"1\"\n"),
    OWN("<p zz-a=1 zz-ab=2 zz-a0=3>", "div", "| <p>\n|   zz-a=\"1\"\n|   zz-a0=\"3\"\n|   zz-ab=\"2\"\n"),
    /* white space before the doctype, and around it */
    OWN(" \n<!doctype html> \n<!--a--> <p>x", NULL,
        "| <!DOCTYPE html>\n| <!-- a -->\n| <html>\n|   <head>\n|   <body>\n|     <p>\n|       \"x\"\n"),
    OWN("<!--a-->\n\t<!doctype html>\r\n", NULL, "| <!-- a -->\n| <!DOCTYPE html>\n| <html>\n|   <head>\n|   <body>\n"),
    /* the attribute that counts is not the first one */
    OWN("<input value=1 type=hidden><frameset>", NULL, "| <html>\n|   <head>\n|   <frameset>\n"),
    OWN("<table><input value=1 type=hidden><input value=2 type=text></table>", "div",
        "| <input>\n|   type=\"text\"\n|   value=\"2\"\n| <table>\n|   <input>\n|     type=\"hidden\"\n"
        "|     value=\"1\"\n"),
    OWN("<svg><font id=a color=b>", "div", "| <svg svg>\n| <font>\n|   color=\"b\"\n|   id=\"a\"\n"),
    /* references without their semicolon before a tag */
    OWN("&lt<b>&gt<b>&amp<b>&quot<b>&nbsp<b>x", "div",
        "| \"<\"\n| <b>\n|   \">\"\n|   <b>\n|     \"&\"\n|     <b>\n|       \"\"\"\n|       <b>\n"
        "|         \"\xC2\xA0\"\n|         <b>\n|           \"x\"\n"),
    /* CR and VT are a line break and a character, also in the fused loop */
    OWN("<p>x<i></i>\r\vy<i>text that is longer than what the fast ways of the tokenizer read beyond a tag</i>", "div",
        "| <p>\n|   \"x\"\n|   <i>\n|   \"\n\vy\"\n|   <i>\n"
        "|     \"text that is longer than what the fast ways of the tokenizer read beyond a tag\"\n"),
    /* both elements keep the names of their own attributes */
    OWN("<html a=1><body b=2><html c=3><body d=4><html a=5 c=6 e=7><body b=8 d=9 f=0><html e=1 b=2>", NULL,
        "| <html>\n|   a=\"1\"\n|   b=\"2\"\n|   c=\"3\"\n|   e=\"7\"\n|   <head>\n|   <body>\n|     b=\"2\"\n"
        "|     d=\"4\"\n|     f=\"0\"\n"),
    /* a second body's attributes come in the order in which they were first seen; the first
     * value stays */
    OWN("<body b=1><body a=2 b=3><html c=4><body c=5>", NULL,
        "| <html>\n|   c=\"4\"\n|   <head>\n|   <body>\n|     a=\"2\"\n|     b=\"1\"\n|     c=\"5\"\n"),
    /* values with and without references are equal for Noah's Ark clause */
    OWN("<p><b c='&euro; x'><b c='\xE2\x82\xAC x'><b c='&euro; x'><b c='\xE2\x82\xAC x'></p>x", "div",
        "| <p>\n|   <b>\n|     c=\"\xE2\x82\xAC x\"\n|     <b>\n|       c=\"\xE2\x82\xAC x\"\n|       <b>\n"
        "|         c=\"\xE2\x82\xAC x\"\n|         <b>\n|           c=\"\xE2\x82\xAC x\"\n"
        "| <b>\n|   c=\"\xE2\x82\xAC x\"\n|   <b>\n|     c=\"\xE2\x82\xAC x\"\n|     <b>\n"
        "|       c=\"\xE2\x82\xAC x\"\n|       \"x\"\n"),
    /* an object within a cell keeps its marker when the cell is closed from outside */
    OWN("<p><i></p><table><tr><td><object></table>k", NULL,
        "| <html>\n|   <head>\n|   <body>\n|     <p>\n|       <i>\n|     <table>\n|       <tbody>\n|         <tr>\n"
        "|           <td>\n|             <object>\n|     \"k\"\n"),
    OWN("<?Name  some ?data?><?xml x?><?a?><?-b?>", "div",
        "| <?Name some ?data?>\n| <!-- ?xml x? -->\n| <?a ?>\n| <!-- ?-b? -->\n"),
};

/* Each rule of the standard for the quirks of a document. Of its list of prefixes, one is here. */
static void quirks(hpar_parser *parser, hpar_document *document) {
  static const struct {
    const char *doctype;
    hpar_quirks quirks;
  } cases[] = {
      {"", HPAR_QUIRKS},
      {"<!doctype html>", HPAR_NO_QUIRKS},
      {"<!doctype x>", HPAR_QUIRKS},
      {"<!doctype html public \"-//W3O//DTD W3 HTML Strict 3.0//EN//\" \"\">", HPAR_QUIRKS},
      {"<!doctype html public \"-//W3O//DTD W3 HTML Strict 3.0//EN//x\" \"\">", HPAR_NO_QUIRKS},
      {"<!doctype html public \"-/w3c/dtd html 4.0 transitional/en\" \"\">", HPAR_QUIRKS},
      {"<!doctype html public \"html\" \"x\">", HPAR_QUIRKS},
      {"<!doctype html system \"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd\">", HPAR_QUIRKS},
      {"<!doctype html public \"-//ietf//dtd html//en\" \"x\">", HPAR_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD HTML 4.01 Frameset//EN\">", HPAR_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD HTML 4.01 Frameset//EN\" \"\">", HPAR_LIMITED_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD HTML 4.01 Transitional//EN\">", HPAR_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD HTML 4.01 Transitional//EN\" \"x\">", HPAR_LIMITED_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD HTML 4.01//EN\">", HPAR_NO_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD XHTML 1.0 Frameset//EN\">", HPAR_LIMITED_QUIRKS},
      {"<!doctype html public \"-//W3C//DTD XHTML 1.0 Transitional//EN\">", HPAR_LIMITED_QUIRKS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = cases[i].doctype;
    if (!hpar_parse(parser, NULL, text, strlen(text), document, NULL) &&
        hpar_document_quirks(document) == cases[i].quirks) {
      passed++;
      continue;
    }
    failed++;
    printf("%s: quirks %d\n", text, (int)hpar_document_quirks(document));
  }
}

/* Returns the name of the parent of the text "y", or "" without the text. */
static hpar_string parent_of_y(const hpar_document *document) {
  const hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; node; node = hpar_node_walk(document, root, node))
    if (hpar_node_kind(document, node) == HPAR_NODE_TEXT && *hpar_node_data(document, node).bytes == 'y')
      return hpar_node_name(document, hpar_node_parent(document, node));
  return (hpar_string){"", 0};
}

static void check_parent_of_y(hpar_parser *parser, hpar_document *document, const char *text, const char *expected) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .fragment = "div",
                                .encoding = "utf-8"};
  const hpar_status status = hpar_parse(parser, &options, text, strlen(text), document, NULL);
  const hpar_string found = parent_of_y(document);
  if (!status && found.length == strlen(expected) && !memcmp(found.bytes, expected, found.length)) {
    passed++;
    return;
  }
  failed++;
  printf("%s: y is in %.*s, not in %s\n", text, (int)found.length, found.bytes, expected);
}

/* A special element stops the search for the element that an end tag closes. Those that begin a
 * scope also stop the search for an open p. */
static void special_elements(hpar_parser *parser, hpar_document *document) {
  static const char *const names[] = {"address", "article",  "aside", "blockquote", "button",     "center", "details",
                                      "dir",     "div",      "dl",    "fieldset",   "figcaption", "figure", "footer",
                                      "form",    "h1",       "h6",    "header",     "hgroup",     "main",   "menu",
                                      "nav",     "noscript", "ol",    "pre",        "listing",    "search", "section",
                                      "summary", "ul",       "p",     "li",         "dd",         "dt",     NULL};
  static const char *const scopes[] = {"applet",
                                       "marquee",
                                       "object",
                                       "table><td",
                                       "table><caption",
                                       "math><mi",
                                       "math><mo",
                                       "math><mn",
                                       "math><ms",
                                       "math><mtext",
                                       "svg><foreignObject",
                                       "svg><desc",
                                       "svg><title",
                                       "math><annotation-xml encoding=text/html",
                                       NULL};
  char text[100];
  for (size_t i = 0; names[i]; i++) {
    snprintf(text, sizeof text, "<x><%s></x>y", names[i]);
    check_parent_of_y(parser, document, text, names[i]);
  }
  for (size_t i = 0; scopes[i]; i++) {
    const char *last = strrchr(scopes[i], '<') ? strrchr(scopes[i], '<') + 1 : scopes[i];
    char name[24];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(last, " "), last);
    snprintf(text, sizeof text, "<x><%s></x>y", scopes[i]);
    check_parent_of_y(parser, document, text, name);
    snprintf(text, sizeof text, "<p><%s><b></p>y", scopes[i]); /* </p> makes a p */
    check_parent_of_y(parser, document, text, "b");
  }
}

static void check_errors(hpar_parser *parser, hpar_document *document, const char *text, size_t length,
                         uint64_t expected) {
  const hpar_options options = {HPAR_OPTIONS_INIT, .mode = HPAR_MODE_SEQUENTIAL, .max_errors = 9};
  if (!hpar_parse(parser, &options, text, length, document, NULL) && hpar_parse_error_count(parser) == expected) {
    passed++;
    return;
  }
  failed++;
  printf("%.60s: %zu errors\n", text, (size_t)hpar_parse_error_count(parser));
}

/* The end of a p is an error if an element is open in it whose end tag may not be omitted. */
static void paragraphs(hpar_parser *parser, hpar_document *document) {
  static const char fine[] = "<!doctype html><div><p><option></p></div><div><p><option><p></div>";
  static const char wrong[] = "<!doctype html><div><p><span></p></div><div><p><span><p></div>";
  check_errors(parser, document, fine, sizeof fine - 1, 0);
  check_errors(parser, document, wrong, sizeof wrong - 1, 2);
}

/* An element whose end tag may not be omitted is an error at </body>, if it is among the 1,000
 * uppermost ones. */
static void unclosed(hpar_parser *parser, hpar_document *document) {
  static buffer text;
  for (size_t rts = 998; rts < 1002; rts++) {
    buffer_clear(&text);
    buffer_add(&text, "<!doctype html><div>", 20);
    for (size_t i = 0; i < rts; i++) buffer_add(&text, "<rt>", 4);
    buffer_add(&text, "</body>", 7);
    check_errors(parser, document, text.bytes, text.length, rts < 1000);
  }
}

/* Noah's Ark clause: four elements with the same attributes in other orders, of which one may have
 * another value or another name. */
static void many_attributes(hpar_parser *parser, hpar_document *document) {
  enum { EQUAL, OTHER_VALUE, OTHER_NAME, CASES };
  static buffer text;
  for (int difference = EQUAL; difference < CASES; difference++)
    for (unsigned attributes = 15; attributes < 20; attributes++) {
      buffer_clear(&text);
      buffer_text(&text, "<p>");
      for (unsigned i = 0; i < 4; i++) {
        buffer_text(&text, "<b");
        for (unsigned k = 0; k < attributes; k++) {
          unsigned which = i % 2 ? attributes - 1 - k : (k + i) % attributes;
          bool differs = i == 3 && which == 7;
          buffer_format(&text, " %s%u='%s&amp;'", differs && difference == OTHER_NAME ? "x" : "a", which,
                        differs && difference == OTHER_VALUE ? "&lt;" : "");
        }
        buffer_text(&text, ">");
      }
      buffer_text(&text, "<p>x");
      size_t found = 0, expected = difference == EQUAL ? 4 + 3 : 4 + 4;
      if (!hpar_parse(parser, NULL, text.bytes, text.length, document, NULL)) {
        const hpar_node root = hpar_document_root(document);
        for (hpar_node node = root; node; node = hpar_node_walk(document, root, node))
          found += hpar_node_tag(document, node) == HPAR_TAG_B;
      }
      if (found == expected) {
        passed++;
        continue;
      }
      failed++;
      printf("%u attributes, case %d: %zu elements\n", attributes, difference, found);
    }
}

int main(int count, char **arguments) {
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  if (hpar_parser_create(&parser) || hpar_document_create(&document)) {
    printf("cannot create a parser\n");
    return 1;
  }
  bool found = true;
  if (check_part(count, arguments, "fixtures")) {
    found = fixtures(parser, document);
  } else {
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
      run(parser, document, __FILE__, i + 1, &own[i], false);
      run(parser, document, __FILE__, i + 1, &own[i], true);
    }
    quirks(parser, document);
    special_elements(parser, document);
    paragraphs(parser, document);
    unclosed(parser, document);
    many_attributes(parser, document);
  }
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  if (!found) return CHECK_SKIPPED;
  printf("%lu passed, %lu failed\n", passed, failed);
  return failed || !passed;
}
