#ifndef HP_STUDY_PIPELINED_HAZARD_H
#define HP_STUDY_PIPELINED_HAZARD_H

/* The hazard detector (HPar 3.2), which the tree builder runs. The tokenizer notes its assumptions
 * in each token: hp_token.content is the content state after the token, hp_token.notes lists the
 * hazards to check. */

#include "tree/builder.h"

#include <hpar/study.h>

enum {
  HP_NOTE_CDATA = 1,         /* at "<![CDATA[": is the adjusted current node foreign? */
  HP_NOTE_CDATA_FOREIGN = 2, /* the predicted answer */
  HP_NOTE_CDATA_PENDING = 4, /* the same with text pending */
  HP_NOTE_CDATA_PENDING_FOREIGN = 8,
  HP_NOTE_RAW_TEXT = 16,    /* a start tag that in HTML switches the tokenizer's state */
  HP_NOTE_SELF_CLOSING = 32 /* a start tag with the self-closing flag */
};

/* Returns the correct notes on "<![CDATA[" for these questions. Requires: the tree builder has not
 * processed the token. */
static inline unsigned hp_cdata_notes(hp_tokenizer *engine, unsigned questions) {
  bool pending = engine->cdata.pending_text;
  unsigned notes = 0;
  if (questions & HP_NOTE_CDATA) {
    engine->cdata.pending_text = false;
    notes |= HP_NOTE_CDATA | (engine->cdata.is_foreign(engine->cdata.context) ? HP_NOTE_CDATA_FOREIGN : 0);
  }
  if (questions & HP_NOTE_CDATA_PENDING) {
    engine->cdata.pending_text = true;
    notes |=
        HP_NOTE_CDATA_PENDING | (engine->cdata.is_foreign(engine->cdata.context) ? HP_NOTE_CDATA_PENDING_FOREIGN : 0);
  }
  engine->cdata.pending_text = pending;
  return notes;
}

/* Returns the hazard of a start tag with HP_NOTE_RAW_TEXT. `switched`: the tree builder has
 * switched the state. */
hpar_pipeline_hazard hp_switch_hazard(const hp_builder *builder, hp_atom element, bool switched);

/* Returns true if the tree builder has acknowledged the self-closing flag of the last start tag. */
bool hp_self_closing_acknowledged(const hp_builder *builder, hp_atom element);

#endif
