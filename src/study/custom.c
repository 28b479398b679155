#include "study/custom.h"

#include "base/ascii.h"
#include "speculation/start/markup.h"
#include "tree/mode_name.h"

#include <hpar/study.h>
#include <string.h>

static uint8_t mode_named(const char *name) {
  for (uint8_t mode = 0; name && mode < HP_INSERTION_MODES; mode++) {
    if (strcmp(hp_mode_name(mode), name) != 0) continue;
    switch (mode) {
      case HP_INITIAL: /* ends before the first cut */
      case HP_IN_CELL:
      case HP_IN_CAPTION:
      case HP_IN_TEMPLATE:
      case HP_IN_TEXT: return HP_IN_BODY;
      default: return mode;
    }
  }
  return HP_IN_BODY;
}

static void inside_raw_text(const hp_request *request, const char *element, hp_start_state *state) {
  const hp_raw_text *raw = element ? hp_raw_text_named(element, request->scripting) : NULL;
  if (raw) {
    state->content = raw->content;
    state->raw_name = raw->atom;
  } else if (element && hp_ascii_equal_strings(element, "plaintext")) {
    state->first = HP_START_BEYOND;
  }
}

static void predict(const hp_predictor_input *input, hp_start_state *state) {
  const hp_request *request = input->request;
  const hpar_cut cut = {request->text, request->length, input->cut, input->limit, request->scripting};
  hpar_guess guess = {.ns = HPAR_NAMESPACE_HTML};
  const hpar_predictor *custom = input->data;
  custom->predict(&cut, &guess, custom->context);
  switch (guess.context) {
    case HPAR_CONTEXT_COMMENT: state->inside = HP_INSIDE_COMMENT; break;
    case HPAR_CONTEXT_TAG: state->inside = HP_INSIDE_TAG; break;
    case HPAR_CONTEXT_DOUBLE_QUOTES: state->inside = HP_INSIDE_DOUBLE_QUOTES; break;
    case HPAR_CONTEXT_SINGLE_QUOTES: state->inside = HP_INSIDE_SINGLE_QUOTES; break;
    case HPAR_CONTEXT_RAW_TEXT: inside_raw_text(request, guess.element, state); break;
    case HPAR_CONTEXT_CDATA: state->content = HP_CONTENT_CDATA_SECTION; break;
    default: break;
  }
  if (guess.ns == HPAR_NAMESPACE_SVG || guess.ns == HPAR_NAMESPACE_MATHML) state->ns = (uint8_t)guess.ns;
  state->mode = mode_named(guess.mode);
  if (guess.first >= input->limit)
    state->first = HP_START_BEYOND;
  else if (guess.first >= input->cut)
    state->first = (uint32_t)guess.first;
}

const hp_predictor *hp_custom_predictor(bool partial_context) {
  static const hp_predictor predictors[] = {{"custom", "the caller's", predict, false, false},
                                            {"custom", "the caller's, with partial context", predict, true, false}};
  return &predictors[partial_context];
}
