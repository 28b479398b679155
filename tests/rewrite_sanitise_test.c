/* The recipe of examples/sanitise.c against generated mutation XSS: the output of a page that it
 * accepts has, parsed with the scripting flag, no element and no attribute beyond its lists. */

#define SANITISE_WITHOUT_MAIN
#include "../examples/sanitise.c"

#include "check.h"
#include "support/buffer.h"
#include "support/compare.h"
#include "support/random.h"

static const char *const parts[] = {"<svg>",
                                    "</svg>",
                                    "<math>",
                                    "</math>",
                                    "<mtext>",
                                    "<mglyph>",
                                    "<malignmark>",
                                    "<annotation-xml encoding=text/html>",
                                    "<foreignObject>",
                                    "<desc>",
                                    "<title>",
                                    "</title>",
                                    "<style>",
                                    "</style>",
                                    "<script>",
                                    "</script>",
                                    "<noscript>",
                                    "</noscript>",
                                    "<template>",
                                    "</template>",
                                    "<table>",
                                    "<tr><td>",
                                    "</table>",
                                    "<select>",
                                    "<option>",
                                    "</select>",
                                    "<form>",
                                    "</form>",
                                    "<p>",
                                    "</p>",
                                    "<a href=https://a.b/>",
                                    "<a href='java&#10;script:x()'>",
                                    "<b>",
                                    "</b>",
                                    "<br>",
                                    "</p/x>",
                                    "<!--",
                                    "-->",
                                    "--!>",
                                    "<!-->",
                                    "<![CDATA[",
                                    "]]>",
                                    "<?x",
                                    ">",
                                    "<img src=x onerror=y>",
                                    "<textarea>",
                                    "</textarea>",
                                    "<xmp>",
                                    "</xmp>",
                                    "<iframe>",
                                    "</iframe>",
                                    "<noembed>",
                                    "<plaintext>",
                                    "<frameset>",
                                    "<body onload=x>",
                                    "<html onclick=y>",
                                    "<head onload=z>",
                                    "<p title=\"--><img src=x onerror=y>\">",
                                    "<p id=\"</title><img onerror=x>\">",
                                    "<x-y is=z>",
                                    "<li>",
                                    "<ul>",
                                    "<h1 class=a>",
                                    "<pre>",
                                    "\n",
                                    "&lt;img onerror=x&gt;",
                                    "<",
                                    "</",
                                    "<img",
                                    " onerror=x",
                                    "\"",
                                    "'",
                                    "=",
                                    "<p class='",
                                    "&amp",
                                    "text",
                                    "<col>",
                                    "<caption>",
                                    "<object>",
                                    "<button>",
                                    "<nobr>",
                                    "<font color=x>"};

static hpar_status keep(const char *bytes, size_t length, void *out) {
  buffer_add(out, bytes, length);
  return HPAR_OK;
}

/* Returns true if the tree has listed elements and attributes only. */
static bool is_clean(const hpar_document *document) {
  const hpar_node root = hpar_document_root(document);
  for (hpar_node node = root; (node = hpar_node_walk(document, root, node));) {
    hpar_attribute a;
    const int kind = (int)hpar_node_kind(document, node);
    if (kind != HPAR_NODE_ELEMENT) continue;
    if (hpar_node_namespace(document, node) != HPAR_NAMESPACE_HTML ||
        !is_one_of(hpar_node_name(document, node), elements))
      return false;
    for (size_t i = 0; hpar_node_attribute_at(document, node, i, &a); i++) {
      hpar_attribute_unit unit = {.name = a.local_name, .value = a.value};
      keep_attribute(&unit, NULL);
      if (unit.removes) return false;
    }
  }
  return true;
}

int main(void) {
  buffer page = {0}, out = {0};
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  unsigned accepted = 0, count = 40 * (unsigned)compare_scale();
  CHECK(!hpar_parser_create(&parser) && !hpar_document_create(&document));
  for (uint64_t seed = 1; seed <= count && check_failed < 3; seed++) {
    random_state random = {seed * 977};
    buffer_clear(&page);
    buffer_clear(&out);
    for (size_t n = 3 + random_below(&random, 14); n > 0; n--) buffer_format(&page, "%s", RANDOM_OF(&random, parts));
    if (sanitise(page.bytes, page.length, keep, &out)) continue; /* its output is not used */
    accepted++;
    const hpar_options options = {HPAR_OPTIONS_INIT, .encoding = "utf-8", .scripting = true};
    CHECK_EQ(hpar_parse(parser, &options, out.length ? out.bytes : "", out.length, document, NULL), HPAR_OK);
    if (!CHECK(is_clean(document)))
      printf("  %.*s\n  gives %.*s\n", (int)page.length, page.bytes, (int)out.length, out.bytes);
  }
  printf("%u of %u pages accepted\n", accepted, count);
  CHECK(accepted > count / 2);
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
  buffer_free(&page);
  buffer_free(&out);
  return check_report();
}
