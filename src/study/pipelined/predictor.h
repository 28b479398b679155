#ifndef HP_STUDY_PIPELINED_PREDICTOR_H
#define HP_STUDY_PIPELINED_PREDICTOR_H

/* Predicts the effect of the tree builder on the tokenizer. The tokenizer's thread continues with
 * the prediction instead of waiting.
 *
 * `optimistic` is the predictor of the paper (HPar 3.2): it predicts no effect and keeps the
 * context after the last token.
 *
 * `feedback` follows tag names and keeps a stack of namespaces, as LazyHTML and LOL HTML do. It is
 * wrong in these cases:
 *   - The tree builder drops a start tag of a raw-text element, for example in a frameset.
 *   - Open elements in an integration point make the tree builder ignore an end tag. The end
 *     tag is that of the point, or of the svg or math around it.
 *   - A CDATA section is a direct child of an integration point.
 *   - The end of a surrounding template or table cell closes foreign content.
 *   - The stack is deeper than HP_FEEDBACK_DEPTH.
 * A wrong prediction costs only time: the tree builder checks every prediction (hazard.h) and
 * rolls the tokenizer back. */

#include "tree/builder.h"

enum { HP_FEEDBACK_DEPTH = 32 };

typedef enum hp_pipeline_predictor {
  HP_PREDICT_OPTIMISTIC,
  HP_PREDICT_FEEDBACK,
  HP_PIPELINE_PREDICTORS
} hp_pipeline_predictor;

/* The open changes of namespace: svg, math and the integration points in them, which contain HTML.
 * An empty stack means HTML. */
typedef struct hp_feedback {
  uint32_t depth;
  struct hp_feedback_entry {
    uint8_t ns;
    hp_atom name;
  } open[HP_FEEDBACK_DEPTH];
} hp_feedback;

/* Sets the stack to the namespaces of the builder's open elements. */
void hp_feedback_read(hp_feedback *feedback, const hp_builder *builder);

static inline uint8_t hp_feedback_namespace(const hp_feedback *feedback) {
  return feedback->depth ? feedback->open[feedback->depth - 1].ns : HPAR_NAMESPACE_HTML;
}

/* Returns the predicted content state after a start tag. `base` is the base of the range with the
 * token's attributes. */
hp_text_state hp_feedback_start_tag(hp_feedback *feedback, const hp_token *token, hp_text_state of_name,
                                    const char *base);
void hp_feedback_end_tag(hp_feedback *feedback, const hp_token *token);

const char *hp_pipeline_predictor_name(hp_pipeline_predictor predictor);
/* Returns the predictor with this name; NULL: the default. HP_PIPELINE_PREDICTORS: unknown name. */
hp_pipeline_predictor hp_pipeline_predictor_named(const char *name);

#endif
