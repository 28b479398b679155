#include "study/pipelined/hazard.h"

#include "dom/tag.h"

#include <hpar/study.h>

hpar_pipeline_hazard hp_switch_hazard(const hp_builder *b, hp_atom element, bool switched) {
  if (!switched) {
    uint8_t ns = b->stack.top->ns;
    bool foreign = ns == HPAR_NAMESPACE_SVG || ns == HPAR_NAMESPACE_MATHML;
    return foreign ? HPAR_PIPELINE_FOREIGN_RAW_TEXT : HPAR_PIPELINE_IGNORED_TAG;
  }
  switch (element) {
    case HP_ATOM_TITLE: return HPAR_PIPELINE_TITLE;
    case HP_ATOM_NOFRAMES: return HPAR_PIPELINE_NOFRAMES;
    case HP_ATOM_STYLE: return HPAR_PIPELINE_STYLE;
    case HP_ATOM_XMP: return HPAR_PIPELINE_XMP;
    case HP_ATOM_IFRAME: return HPAR_PIPELINE_IFRAME;
    case HP_ATOM_NOEMBED: return HPAR_PIPELINE_NOEMBED;
    case HP_ATOM_NOSCRIPT: return HPAR_PIPELINE_NOSCRIPT;
    case HP_ATOM_PLAINTEXT: return HPAR_PIPELINE_PLAINTEXT;
    case HP_ATOM_TEXTAREA: return HPAR_PIPELINE_TEXTAREA;
    default: return HPAR_PIPELINE_SCRIPT;
  }
}

//§ acknowledge-self-closing-flag
bool hp_self_closing_acknowledged(const hp_builder *b, hp_atom element) {
  const hp_open_element *top = b->stack.top;
  return (hp_html_tag(element) & HP_TAG_VOID) || top->ns != HPAR_NAMESPACE_HTML || top->name != element;
}
