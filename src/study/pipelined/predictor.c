#include "study/pipelined/predictor.h"

#include "base/bytes.h"
#include "dom/tag.h"

#include <hpar/parse.h>
#include <hpar/study.h>
#include <string.h>

static const struct {
  const char *name, *summary;
} predictors[HP_PIPELINE_PREDICTORS] = {
    [HP_PREDICT_OPTIMISTIC] = {"optimistic", "no hazard will happen, as in the paper"},
    [HP_PREDICT_FEEDBACK] = {"feedback", "what the tree builder does, from tag names and a stack of namespaces"},
};

const char *hp_pipeline_predictor_name(hp_pipeline_predictor predictor) { return predictors[predictor].name; }

hp_pipeline_predictor hp_pipeline_predictor_named(const char *name) {
  unsigned i = 0;
  if (!name) return HP_PREDICT_FEEDBACK;
  while (i < HP_PIPELINE_PREDICTORS && strcmp(predictors[i].name, name) != 0) i++;
  return (hp_pipeline_predictor)i;
}

const char *hpar_pipeline_predictor_name(size_t index) {
  return index < HP_PIPELINE_PREDICTORS ? predictors[index].name : NULL;
}
const char *hpar_pipeline_predictor_summary(size_t index) {
  return index < HP_PIPELINE_PREDICTORS ? predictors[index].summary : NULL;
}

static void push(hp_feedback *f, uint8_t ns, hp_atom name) {
  if (f->depth == HP_FEEDBACK_DEPTH) {
    memmove(f->open, f->open + 1, (HP_FEEDBACK_DEPTH - 1) * sizeof *f->open);
    f->depth--;
  }
  f->open[f->depth++] = (struct hp_feedback_entry){ns, name};
}

/* Notes an open element in the namespace at the top, or in the namespace that it begins. */
static void open_foreign(hp_feedback *f, uint8_t ns, hp_atom name, uint16_t tag) {
  if (hp_feedback_namespace(f) != ns || name == HP_ATOM_SVG || name == HP_ATOM_MATH) push(f, ns, name);
  if (tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION)) push(f, HPAR_NAMESPACE_HTML, name);
}

static bool is_foreign(uint8_t ns) { return ns == HPAR_NAMESPACE_SVG || ns == HPAR_NAMESPACE_MATHML; }

void hp_feedback_read(hp_feedback *f, const hp_builder *b) {
  f->depth = 0;
  if (b->fragment.is_parsed && is_foreign(b->fragment.context.ns))
    open_foreign(f, b->fragment.context.ns, b->fragment.context.name, b->fragment.context.tag);
  for (uint32_t i = 0; i <= b->stack.depth; i++) {
    const hp_open_element *e = &b->stack.entries[i];
    if (is_foreign(e->ns)) open_foreign(f, e->ns, e->name, e->tag);
  }
}

static void leave_foreign(hp_feedback *f) {
  while (is_foreign(hp_feedback_namespace(f))) f->depth--;
}

static const hp_attributes *attributes_of(const hp_token *t, const char *base) {
  return t->attributes ? hp_at(base, t->attributes) : NULL;
}

//§ parsing-main-inforeign
static bool breaks_out(const hp_token *t, const char *base) {
  if (hp_html_tag(t->name) & HP_TAG_BREAKOUT) return true;
  const hp_attributes *block = t->name == HP_ATOM_FONT ? attributes_of(t, base) : NULL;
  for (uint32_t i = 0; block && i < block->count; i++) {
    hp_atom name = block->items[i].name;
    if (name == HP_ATOM_COLOR || name == HP_ATOM_FACE || name == HP_ATOM_SIZE) return true;
  }
  return false;
}

//§ html-integration-point
static bool holds_html(const hp_token *t, const char *base) {
  const hp_attributes *block = attributes_of(t, base);
  for (uint32_t i = 0; block && i < block->count; i++) {
    const hp_attribute *a = &block->items[i];
    if (a->name != HP_ATOM_ENCODING) continue;
    return (a->length == 9 && hp_ascii_equal(a->value, "text/html", 9)) ||
           (a->length == 21 && hp_ascii_equal(a->value, "application/xhtml+xml", 21));
  }
  return false;
}

hp_text_state hp_feedback_start_tag(hp_feedback *f, const hp_token *t, hp_text_state of_name, const char *base) {
  uint8_t ns = hp_feedback_namespace(f);
  if (is_foreign(ns)) {
    if (breaks_out(t, base)) {
      leave_foreign(f);
      return hp_feedback_start_tag(f, t, of_name, base);
    }
  } else if (t->name == HP_ATOM_SVG || t->name == HP_ATOM_MATH) {
    /* In a text integration point both elements are HTML. The prediction is the same. */
    ns = t->name == HP_ATOM_SVG ? HPAR_NAMESPACE_SVG : HPAR_NAMESPACE_MATHML;
  } else if (f->depth && (t->name == HP_ATOM_MGLYPH || t->name == HP_ATOM_MALIGNMARK)) {
    return HP_TEXT_STATE_DATA;
  } else {
    return of_name;
  }
  if (t->flags & HP_TOKEN_SELF_CLOSING) return HP_TEXT_STATE_DATA;
  bool annotation = ns == HPAR_NAMESPACE_MATHML && t->name == HP_ATOM_ANNOTATION_XML;
  if (annotation && !holds_html(t, base)) return HP_TEXT_STATE_DATA;
  hp_atom name = ns == HPAR_NAMESPACE_SVG ? hp_svg_tag_name(t->name) : t->name;
  uint16_t tag = hp_foreign_tag(ns, name);
  open_foreign(f, ns, t->name, annotation ? tag | HP_TAG_HTML_INTEGRATION : tag);
  return HP_TEXT_STATE_DATA;
}

/* Returns to the nearest change of namespace that the tag ends. Names in svg are stored as the
 * tags spell them. */
void hp_feedback_end_tag(hp_feedback *f, const hp_token *t) {
  if (is_foreign(hp_feedback_namespace(f)) && (t->name == HP_ATOM_P || t->name == HP_ATOM_BR)) {
    leave_foreign(f);
    return;
  }
  for (uint32_t i = f->depth; i > 0; i--) {
    hp_atom name = f->open[i - 1].name;
    if (name != t->name && (name >= HP_KNOWN_ATOMS || name != hp_svg_tag_name(t->name))) continue;
    f->depth = i - 1;
    return;
  }
}
