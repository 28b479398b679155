/* libxml2's HTML parser follows no standard, so its trees are not compared. The adapter keeps the
 * context. */

#include "peer.h"

#include <libxml/HTMLparser.h>

static htmlParserCtxtPtr context;

static void *parse(const char *bytes, size_t length) {
  return htmlCtxtReadMemory(context, bytes, (int)length, NULL, "UTF-8",
                            HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                HTML_PARSE_COMPACT | XML_PARSE_HUGE);
}

static void destroy(void *document) { xmlFreeDoc(document); }

int main(int count, char **arguments) {
  xmlInitParser();
  context = htmlNewParserCtxt();
  if (!context) return 1;
  return peer_run(&(peer){"libxml2 " LIBXML_DOTTED_VERSION, parse, destroy, NULL, NULL, NULL, NULL}, count, arguments);
}
