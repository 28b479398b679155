/* The HTML fragment serialisation algorithm. The serialiser copies the text between escaped
 * characters in one piece. A table of 256 entries finds these characters. */

#include "base/names.h"
#include "dom/document.h"
#include "dom/serialize_out.h"

enum { PLAIN, AMPERSAND, LESS, GREATER, QUOTE, TWO_BYTES };

static const unsigned char special[256] = {
    /* U+00A0 is C2 A0. */
    ['&'] = AMPERSAND,
    ['<'] = LESS,
    ['>'] = GREATER,
    ['"'] = QUOTE,
    [0xC2] = TWO_BYTES};

//§ escapingString
static void write_escaped(hp_out *out, hpar_string string, bool attribute) {
  const char *at = string.bytes, *end = at + string.length, *run = at;
  for (; at < end; at++) {
    unsigned char class = special[(unsigned char)*at];
    if (class == PLAIN || (class == QUOTE && !attribute)) continue;
    if (class == TWO_BYTES && (end - at < 2 || (unsigned char)at[1] != 0xA0)) continue;
    hp_out_bytes(out, run, (size_t)(at - run));
    switch (class) {
      case AMPERSAND: HP_OUT_LITERAL(out, "&amp;"); break;
      case LESS: HP_OUT_LITERAL(out, "&lt;"); break;
      case GREATER: HP_OUT_LITERAL(out, "&gt;"); break;
      case QUOTE: HP_OUT_LITERAL(out, "&quot;"); break;
      default:
        HP_OUT_LITERAL(out, "&nbsp;");
        at++;
        break;
    }
    run = at + 1;
  }
  hp_out_bytes(out, run, (size_t)(end - run));
}

static hp_atom html_name(const hpar_document *document, hpar_node node) {
  if (hpar_node_namespace(document, node) != HPAR_NAMESPACE_HTML) return HP_NO_ATOM;
  return hp_node_at(document->range.base, node)->name;
}

//§ serializes-as-void
static bool serializes_as_void(const hpar_document *document, hpar_node node) {
  switch (html_name(document, node)) {
    case HP_ATOM_AREA:
    case HP_ATOM_BASE:
    case HP_ATOM_BR:
    case HP_ATOM_COL:
    case HP_ATOM_EMBED:
    case HP_ATOM_HR:
    case HP_ATOM_IMG:
    case HP_ATOM_INPUT:
    case HP_ATOM_LINK:
    case HP_ATOM_META:
    case HP_ATOM_SOURCE:
    case HP_ATOM_TRACK:
    case HP_ATOM_WBR:
    case HP_ATOM_BASEFONT:
    case HP_ATOM_BGSOUND:
    case HP_ATOM_FRAME:
    case HP_ATOM_KEYGEN:
    case HP_ATOM_PARAM: return true;
    default: return false;
  }
}

static bool holds_raw_text(const hpar_document *document, hpar_node parent, bool scripting) {
  switch (html_name(document, parent)) {
    case HP_ATOM_STYLE:
    case HP_ATOM_SCRIPT:
    case HP_ATOM_XMP:
    case HP_ATOM_IFRAME:
    case HP_ATOM_NOEMBED:
    case HP_ATOM_NOFRAMES:
    case HP_ATOM_PLAINTEXT: return true;
    case HP_ATOM_NOSCRIPT: return scripting;
    default: return false;
  }
}

static void write_start_tag(hp_out *out, const hpar_document *document, hpar_node element) {
  hp_out_byte(out, '<');
  hp_out_string(out, hpar_node_name(document, element));
  hpar_attribute attribute;
  for (size_t i = 0; hpar_node_attribute_at(document, element, i, &attribute); i++) {
    hp_out_byte(out, ' ');
    if (attribute.prefix.length) {
      hp_out_string(out, attribute.prefix);
      hp_out_byte(out, ':');
    }
    hp_out_string(out, attribute.local_name);
    HP_OUT_LITERAL(out, "=\"");
    write_escaped(out, attribute.value, true);
    hp_out_byte(out, '"');
  }
  hp_out_byte(out, '>');
}

static void write_node(hp_out *out, const hpar_document *document, hpar_node node, bool scripting) {
  switch (hpar_node_kind(document, node)) {
    case HPAR_NODE_ELEMENT: write_start_tag(out, document, node); break;
    case HPAR_NODE_TEXT:
      if (holds_raw_text(document, hpar_node_parent(document, node), scripting)) {
        hp_out_string(out, hpar_node_data(document, node));
      } else {
        write_escaped(out, hpar_node_data(document, node), false);
      }
      break;
    case HPAR_NODE_COMMENT:
      HP_OUT_LITERAL(out, "<!--");
      hp_out_string(out, hpar_node_data(document, node));
      HP_OUT_LITERAL(out, "-->");
      break;
    case HPAR_NODE_PROCESSING_INSTRUCTION:
      HP_OUT_LITERAL(out, "<?");
      hp_out_string(out, hpar_node_name(document, node));
      hp_out_byte(out, ' ');
      hp_out_string(out, hpar_node_data(document, node));
      hp_out_byte(out, '>');
      break;
    case HPAR_NODE_DOCTYPE:
      HP_OUT_LITERAL(out, "<!DOCTYPE ");
      hp_out_string(out, hpar_node_name(document, node));
      hp_out_byte(out, '>');
      break;
    case HPAR_NODE_NONE:
    case HPAR_NODE_DOCUMENT:
    case HPAR_NODE_FRAGMENT: break;
  }
}

static void write_end_tag(hp_out *out, const hpar_document *document, hpar_node element) {
  HP_OUT_LITERAL(out, "</");
  hp_out_string(out, hpar_node_name(document, element));
  hp_out_byte(out, '>');
}

//§ html-fragment-serialisation-algorithm
static void write_children(hp_out *out, const hpar_document *document, hpar_node node, bool scripting) {
  hpar_node contents = hpar_node_template_contents(document, node);
  if (serializes_as_void(document, node)) return;
  hp_tour tour;
  hp_tour_open(&tour, document, contents ? contents : node);
  while (!out->status && hp_tour_step(&tour, &out->status)) {
    if (!tour.leaving) {
      write_node(out, document, tour.node, scripting);
      if (serializes_as_void(document, tour.node)) tour.leaving = true;
    } else if (hpar_node_kind(document, tour.node) == HPAR_NODE_ELEMENT) {
      write_end_tag(out, document, tour.node);
    }
  }
  hp_tour_close(&tour);
}

hpar_status hpar_serialize_html(const hpar_document *document, hpar_node node, unsigned flags,
                                hpar_write_callback write, void *context) {
  const bool scripting = flags & HPAR_HTML_SCRIPTING, outer = flags & HPAR_HTML_OUTER;
  hp_out out;
  if (flags & ~(unsigned)(HPAR_HTML_OUTER | HPAR_HTML_SCRIPTING)) return HPAR_ERROR_ARGUMENT;
  if (!hp_out_open(&out, document, write, context)) return HPAR_ERROR_ARGUMENT;
  if (outer) write_node(&out, document, node, scripting);
  write_children(&out, document, node, scripting);
  if (outer && hpar_node_kind(document, node) == HPAR_NODE_ELEMENT && !serializes_as_void(document, node))
    write_end_tag(&out, document, node);
  return hp_out_close(&out);
}

size_t hpar_serialize_html_copy(const hpar_document *document, hpar_node node, unsigned flags, char *buffer,
                                size_t capacity) {
  hp_copy c = {buffer, 0, buffer ? capacity : 0};
  hpar_serialize_html(document, node, flags, hp_copy_piece, &c);
  return c.length;
}
