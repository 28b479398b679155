/* A document as XML, from which libxml2 makes the same tree in less time than a call for each node
 * takes. XML lacks some names and characters of HTML: hpar.trees says what stands in their places. */

#include "module.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
  hp_py_walk walk;
  hp_py_buffer buffer;
  hpar_node top;
} writer;

static bool add(writer *w, const char *bytes, size_t length) { return !hp_py_write(bytes, length, &w->buffer); }
#define ADD(w, text) add((w), (text), sizeof(text) - 1)

/*** texts ***/

typedef enum byte_class { PLAIN, MARKUP, QUOTE, SPACE, CONTROL, HIGH } byte_class;

/* The texts and values of most bytes are PLAIN. HIGH begins U+FFFE and U+FFFF, among others. */
static byte_class class_of(char byte) {
  const unsigned char c = (unsigned char)byte;
  if (c > '>') return c == 0xEF ? HIGH : PLAIN;
  switch (c) {
    case '\t':
    case '\n': return SPACE;
    case '\r':
    case '&':
    case '<':
    case '>': return MARKUP;
    case '"': return QUOTE;
    default: return c < ' ' ? CONTROL : PLAIN;
  }
}

/* Adds what stands for the character at the start of the bytes. Returns its length, or 0 if memory is
 * short. */
static size_t add_special(writer *w, const char *bytes, size_t length, byte_class kind) {
  char reference[] = "&#00;";
  const bool missing = kind == HIGH && length >= 3 && bytes[1] == '\xBF' && (unsigned char)bytes[2] >= 0xBE;
  if (missing) return ADD(w, "\xEF\xBF\xBD") ? 3 : 0;
  if (kind == HIGH) return add(w, bytes, 1);
  if (kind == CONTROL) return *bytes == '\f' ? ADD(w, " ") : ADD(w, "\xEF\xBF\xBD");
  reference[2] = (char)('0' + *bytes / 10);
  reference[3] = (char)('0' + *bytes % 10);
  return add(w, reference, 5);
}

/* Adds characters, with references for those that `escaped` and earlier classes have. */
static bool add_text(writer *w, hpar_string s, byte_class escaped) {
  size_t plain = 0, i = 0;
  while (i < s.length) {
    const byte_class kind = class_of(s.bytes[i]);
    if (kind == PLAIN || (kind > escaped && kind < CONTROL)) {
      i++;
      continue;
    }
    size_t taken = add(w, s.bytes + plain, i - plain) ? add_special(w, s.bytes + i, s.length - i, kind) : 0;
    if (!taken) return false;
    plain = i += taken;
  }
  return add(w, s.bytes + plain, i - plain);
}

/* Adds the text of a comment or a processing instruction, in which `first` and `second` must not be
 * neighbours. XML has no references there. With `at_end`, `first` must not be the last byte. */
static bool add_parted(writer *w, hpar_string s, char first, char second, bool at_end) {
  for (size_t i = 0; i < s.length; i++) {
    const byte_class kind = class_of(s.bytes[i]);
    const bool last = i + 1 == s.length;
    if (kind < CONTROL) {
      if (s.bytes[i] == '\r' ? !ADD(w, "\n") : !add(w, s.bytes + i, 1)) return false;
    } else {
      size_t taken = add_special(w, s.bytes + i, s.length - i, kind);
      if (!taken) return false;
      i += taken - 1;
    }
    if (s.bytes[i] == first && (last ? at_end : s.bytes[i + 1] == second) && !ADD(w, " ")) return false;
  }
  return true;
}

/*** names ***/

static bool is_letter(unsigned char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }
static bool continues_name(unsigned char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

/* Returns the character at the start of the bytes, and sets its length. */
static uint32_t character_at(const char *bytes, size_t left, size_t *length) {
  const unsigned char *b = (const unsigned char *)bytes;
  *length = b[0] < 0xC0 ? 1 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
  if (*length > left) *length = left;
  uint32_t c = *length == 1 ? b[0] : b[0] & (0x7Fu >> *length);
  for (size_t i = 1; i < *length; i++) c = c << 6 | (b[i] & 0x3Fu);
  return c;
}

/* Adds a name. A character that it cannot have becomes U and five hexadecimal digits, as in html5lib. */
static bool add_name(writer *w, hpar_string s) {
  size_t i = 0, length;
  while (i < s.length && continues_name((unsigned char)s.bytes[i])) i++;
  if (i == s.length && i && is_letter((unsigned char)*s.bytes)) return add(w, s.bytes, s.length);
  for (i = 0; i < s.length; i += length) {
    char code[16];
    const uint32_t c = character_at(s.bytes + i, s.length - i, &length);
    const bool fits = c < 0x80 && (i ? continues_name((unsigned char)c) : is_letter((unsigned char)c));
    const int digits = snprintf(code, sizeof code, "U%05X", (unsigned)c);
    if (!(fits ? add(w, s.bytes + i, 1) : add(w, code, (size_t)digits))) return false;
  }
  return s.length || ADD(w, "U");
}

static bool is_same(hpar_string s, const char *text, size_t length) {
  return s.length == length && !memcmp(s.bytes, text, length);
}

/*** nodes ***/

static bool add_attribute(writer *w, const hpar_attribute *a) {
  if (a->ns == HPAR_NAMESPACE_XMLNS || is_same(a->local_name, "xmlns", 5)) return true;
  if (!ADD(w, " ") || (a->prefix.length && !(add(w, a->prefix.bytes, a->prefix.length) && ADD(w, ":")))) return false;
  return add_name(w, a->local_name) && ADD(w, "=\"") && add_text(w, a->value, SPACE) && ADD(w, "\"");
}

/* Adds the declaration of the element's namespace where it begins. Elements of HTML have none. */
static bool add_namespace(writer *w, hpar_node element) {
  const hpar_document *tree = w->walk.tree;
  const hpar_namespace ns = hpar_node_namespace(tree, element);
  const hpar_node parent = element == w->top ? HPAR_NO_NODE : hpar_node_parent(tree, element);
  hpar_namespace outer = hpar_node_namespace(tree, parent);
  if (outer != HPAR_NAMESPACE_SVG && outer != HPAR_NAMESPACE_MATHML) outer = HPAR_NAMESPACE_HTML;
  if (ns == outer) return true;
  if (ns == HPAR_NAMESPACE_SVG) return ADD(w, " xmlns=\"http://www.w3.org/2000/svg\"");
  if (ns == HPAR_NAMESPACE_MATHML) return ADD(w, " xmlns=\"http://www.w3.org/1998/Math/MathML\"");
  return ADD(w, " xmlns=\"\"");
}

static bool enter_element(writer *w, hpar_node element) {
  const hpar_document *tree = w->walk.tree;
  hpar_attribute a;
  bool fine = ADD(w, "<") && add_name(w, hpar_node_name(tree, element)) && add_namespace(w, element), linked = false;
  for (size_t i = 0; fine && hpar_node_attribute_at(tree, element, i, &a); i++) {
    fine = add_attribute(w, &a);
    linked = linked || a.ns == HPAR_NAMESPACE_XLINK;
  }
  if (linked) fine = fine && ADD(w, " xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
  return fine && ADD(w, ">");
}

static bool enter_instruction(writer *w, hpar_node node) {
  const hpar_document *tree = w->walk.tree;
  const hpar_string target = hpar_node_name(tree, node);
  const bool reserved = target.length == 3 && (target.bytes[0] | 0x20) == 'x' && (target.bytes[1] | 0x20) == 'm' &&
                        (target.bytes[2] | 0x20) == 'l';
  return ADD(w, "<?") && (!reserved || ADD(w, "_")) && add_name(w, target) && ADD(w, " ") &&
         add_parted(w, hpar_node_data(tree, node), '?', '>', false) && ADD(w, "?>");
}

static bool enter(hp_py_walk *walk, hpar_node node) {
  writer *w = (writer *)walk;
  switch (hpar_node_kind(walk->tree, node)) {
    case HPAR_NODE_ELEMENT: return enter_element(w, node);
    case HPAR_NODE_TEXT: return add_text(w, hpar_node_data(walk->tree, node), MARKUP);
    case HPAR_NODE_COMMENT:
      return ADD(w, "<!--") && add_parted(w, hpar_node_data(walk->tree, node), '-', '-', true) && ADD(w, "-->");
    case HPAR_NODE_PROCESSING_INSTRUCTION: return enter_instruction(w, node);
    default: return true;
  }
}

static bool leave(hp_py_walk *walk, hpar_node node) {
  writer *w = (writer *)walk;
  if (hpar_node_kind(walk->tree, node) != HPAR_NODE_ELEMENT) return true;
  return ADD(w, "</") && add_name(w, hpar_node_name(walk->tree, node)) && ADD(w, ">");
}

PyObject *hp_py_xml(hp_py_document *d, hpar_node top) {
  writer w = {.walk = {.tree = d->tree, .enter = enter, .leave = leave}, .top = top};
  if (!top) return Py_NewRef(Py_None);
  PyThreadState *saved = hp_py_begin_read(d);
  bool fine = enter(&w.walk, top) && hp_py_walk_below(&w.walk, top) && leave(&w.walk, top);
  hp_py_end_read(d, saved);
  return hp_py_buffer_bytes(&w.buffer, fine ? HPAR_OK : HPAR_ERROR_MEMORY);
}
