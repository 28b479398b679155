/* Checks trees in Turkish locales. There, strncasecmp takes "I" and "i" for different letters, and
 * other letters have other cases. The test generates the locales with localedef. Without localedef
 * it counts as skipped. */

#include "check.h"
#include "support/buffer.h"
#include "support/mode.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <locale.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* Each document has a name or a value in capital letters that the standard compares without regard
 * to case. */
static const char *const documents[] = {
    "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.0 TRANSITIONAL//EN'><p><table>x",
    "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01 TRANSITIONAL//EN' 'a'><p><table>x",
    "<!DOCTYPE HTML PUBLIC 'html'><p><table>x",
    "<!DOCTYPE HTML SYSTEM 'HTTP://WWW.IBM.COM/DATA/DTD/V11/IBMXHTML1-TRANSITIONAL.DTD'><p><table>x",
    "<table><INPUT TYPE=HIDDEN><input type=Hidden>x",
    "<math><ANNOTATION-XML ENCODING=TEXT/HTML><p>x</p></annotation-xml>y",
    "<math><annotation-xml encoding=APPLICATION/XHTML+XML><DIV>x</div></annotation-xml>y",
    "<META HTTP-EQUIV=CONTENT-TYPE CONTENT='TEXT/HTML; CHARSET=ISO-8859-5'><p>\xd0\xd1",
    "<META CHARSET=ISO-8859-9><p>\xdd\xfd",
    "<META CHARSET=WINDOWS-1251><p>\xdd\xfd",
    "<SCRIPT>if (a < b) '<p>'</SCRIPT><TITLE>x</TITLE><LISTING>\ny</LISTING><STYLE>z</STYLE>w",
    "<DIV><LI>a<LI>b<SVG><TITLE><I>c</I></TITLE></SVG><IFRAME><p></IFRAME><NOSCRIPT>d</NOSCRIPT>",
    "<p TITLE='&NotInInvalid;&DIAM;&dIamond;'>&LEFTRIGHTARROW;&int;</P><PLAINTEXT>e",
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static hpar_parser *parser;
static hpar_document *document;

static hpar_status collect(const char *bytes, size_t length, void *context) {
  buffer_add(context, bytes, length);
  return HPAR_OK;
}

static hpar_status count_token(const hpar_token *token, void *context) {
  (void)token;
  ++*(unsigned *)context;
  return HPAR_OK;
}

/* Appends the quirks mode and the tree of `text` in each mode. */
static void add_trees(const char *text, buffer *to) {
  static const int modes[] = {HPAR_MODE_SEQUENTIAL, HPAR_MODE_PARALLEL, MODE_PIPELINED};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    hpar_options options = {HPAR_OPTIONS_INIT};
    hpar_study study = {HPAR_STUDY_INIT};
    mode_choose(&options, &study, modes[i]);
    options.parallel.executor = HPAR_EXECUTOR_INLINE;
    options.parallel.chunk_size = 24;
    hpar_status status = hpar_parse(parser, &options, text, strlen(text), document, NULL);
    if (status == HPAR_ERROR_UNSUPPORTED) continue;
    CHECK_EQ(status, HPAR_OK);
    buffer_format(to, "%d\n", hpar_document_quirks(document));
    CHECK_EQ(hpar_serialize_tree(document, hpar_document_root(document), collect, to), HPAR_OK);
  }
  unsigned tokens = 0;
  CHECK_EQ(hpar_tokenize(parser, "SCRIPT DATA STATE", "SCRIPT", 0, text, strlen(text), count_token, &tokens), HPAR_OK);
  buffer_format(to, "%u tokens\n", tokens);
}

/* Generates the locale `name` in `folder` and sets it. Returns false if the system cannot. */
static bool enter_locale(const char *folder, const char *name, const char *charset) {
  buffer command = {0};
  buffer_format(&command, "localedef -i tr_TR -f %s '%s/%s' >'%s/log' 2>&1", charset, folder, name, folder);
  int failed = system(command.bytes); // NOLINT: fixed names only
  buffer_free(&command);
  return !failed && setlocale(LC_ALL, name) && strcasecmp("I", "i") != 0;
}

static void remove_folder(const char *folder) {
  buffer command = {0};
  buffer_format(&command, "rm -rf '%s'", folder);
  if (system(command.bytes)) printf("%s remains\n", folder); // NOLINT
  buffer_free(&command);
}

int main(void) {
  static const char *const locales[][2] = {{"tr_TR.UTF-8", "UTF-8"}, {"tr_TR.ISO-8859-9", "ISO-8859-9"}};
  static buffer expected[DOCUMENTS], got;
  char folder[] = "/tmp/hpar-locale-XXXXXX";
  if (!mkdtemp(folder) || setenv("LOCPATH", folder, 1)) return CHECK_SKIPPED;
  if (!CHECK_EQ(hpar_parser_create(&parser), HPAR_OK) || !CHECK_EQ(hpar_document_create(&document), HPAR_OK))
    return check_report();
  for (size_t i = 0; i < DOCUMENTS; i++) add_trees(documents[i], &expected[i]);
  size_t entered = 0;
  for (size_t k = 0; k < sizeof locales / sizeof *locales; k++) {
    if (!enter_locale(folder, locales[k][0], locales[k][1])) {
      printf("skipped: localedef makes no %s in which strcasecmp distinguishes I from i\n", locales[k][0]);
      continue;
    }
    entered++;
    for (size_t i = 0; i < DOCUMENTS; i++) {
      buffer_clear(&got);
      add_trees(documents[i], &got);
      CHECK_BYTES(got.bytes, got.length, expected[i].bytes, expected[i].length);
    }
    setlocale(LC_ALL, "C");
  }
  remove_folder(folder);
  for (size_t i = 0; i < DOCUMENTS; i++) buffer_free(&expected[i]);
  buffer_free(&got);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  int result = check_report();
  return result || entered ? result : CHECK_SKIPPED;
}
