#ifndef HP_DRIVERS_PIPELINED_PREDICTOR_H
#define HP_DRIVERS_PIPELINED_PREDICTOR_H

/* What the tree builder will do to the tokenizer: the tokenizer's thread asks here instead, and goes on.
 *
 * `optimistic` is the paper's (HPar 3.2): nothing will be done; the context after the last token is kept.
 *
 * `feedback` follows tag names and keeps a stack of namespaces, as LazyHTML and LOL HTML do. It is wrong where
 *   - the tree builder drops a start tag that it takes for a raw-text element's, as in framesets;
 *   - elements are open inside an integration point when an end tag of that point, or of the svg or math around it,
 * comes, and the end tag is ignored for them; and at a CDATA section straight inside an integration point;
 *   - foreign content is closed by what it does not follow: the end of a template or table cell around it, a stack that
 * is deeper than HP_FEEDBACK_DEPTH. To be wrong costs time only: the tree builder looks at every answer (hazard.h) and
 * has the tokenizer go back. */

#include "html/tree/builder.h"

enum { HP_FEEDBACK_DEPTH = 32 };

typedef enum hp_pipeline_predictor {
  HP_PREDICT_OPTIMISTIC,
  HP_PREDICT_FEEDBACK,
  HP_PIPELINE_PREDICTORS
} hp_pipeline_predictor;

/* Changes of namespace that are open: svg and math, and the integration points in them, whose contents are HTML. None:
 * all is HTML. */
typedef struct hp_feedback {
  uint32_t depth;
  struct hp_feedback_entry {
    uint8_t ns;
    hp_atom name;
  } open[HP_FEEDBACK_DEPTH];
} hp_feedback;

/* As the builder's stack has it. */
void hp_feedback_read(hp_feedback *feedback, const hp_builder *builder);

static inline uint8_t hp_feedback_namespace(const hp_feedback *feedback) {
  return feedback->depth ? feedback->open[feedback->depth - 1].ns : HPAR_NAMESPACE_HTML;
}

/* `base` of the range that the token's attributes lie in. Answers the contents of the element that a start tag is for.
 */
hp_content hp_feedback_start_tag(hp_feedback *feedback, const hp_token *token, hp_content of_name, const char *base);
void hp_feedback_end_tag(hp_feedback *feedback, const hp_token *token);

const char *hp_pipeline_predictor_name(hp_pipeline_predictor predictor);
/* HP_PIPELINE_PREDICTORS: there is none of that name. NULL is the default. */
hp_pipeline_predictor hp_pipeline_predictor_named(const char *name);

#endif
