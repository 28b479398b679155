/* The default language of a document. */

#include "base/bytes.h"
#include "select/walk.h"

/* Sets `*language` if the element is a meta element that declares the default language.
 * Source: HTML, "Content language state (http-equiv="content-language")". */
static void read_pragma(const hpar_document *document, const hp_subject *s, hpar_string *language) {
  static const char pragma[] = "content-language";
  const hp_attribute *http = hp_find_attribute(s->attributes, HP_ATOM_HTTP_EQUIV),
                     *content = hp_find_attribute(s->attributes, HP_ATOM_CONTENT);
  if (!http || !content) return;
  hpar_string name = hp_attribute_value(document, s->attributes, http);
  hpar_string value = hp_attribute_value(document, s->attributes, content);
  if (name.length != sizeof pragma - 1 || !hp_ascii_equal(name.bytes, pragma, name.length)) return;
  if (!value.length || memchr(value.bytes, ',', value.length)) return;
  size_t from = 0, to;
  while (from < value.length && hp_ascii_is_white(value.bytes[from])) from++;
  for (to = from; to < value.length && !hp_ascii_is_white(value.bytes[to]);) to++;
  if (to > from) *language = (hpar_string){value.bytes + from, to - from};
}

hpar_string hp_default_language(const hpar_document *document) {
  const char *base = document->range.base;
  hpar_string language = {NULL, 0};
  for (hp_ref ref = hp_node_at(base, document->root)->first; ref;) {
    const hp_node *node = hp_node_at(base, ref);
    bool is_element = node->kind == HPAR_NODE_ELEMENT;
    if (is_element && node->name == HP_ATOM_META && node->ns == HPAR_NAMESPACE_HTML) {
      hp_subject subject = hp_subject_of(base, ref);
      read_pragma(document, &subject, &language);
    }
    ref = is_element && node->first ? node->first : hp_node_after(base, ref, document->root);
  }
  return language;
}
