/* page: prints the title, the text of main, and the links of a page. README.md shows it. */
#include <hpar/hpar.h>
#include <stdio.h>
int main(void) {
  hpar_document *page = hpar_parse_bytes("<title>Pets</title><main>A <a href=c>cat", 40, NULL, NULL);
  hpar_node_list *found = hpar_select_all(page, hpar_document_root(page), "title, main, a[href]", NULL);
  for (size_t i = 0; found && i < found->count; i++) {
    char text[80] = ""; /* a longer text is cut off, and still ends with a zero */
    hpar_text_copy(page, found->nodes[i], NULL, text, sizeof text - 1);
    hpar_string url = hpar_node_attribute_value(page, found->nodes[i], "href");
    printf("%s %.*s\n", text, (int)url.length, url.bytes);
  }
  hpar_list_destroy(found);
  hpar_document_destroy(page);
}
