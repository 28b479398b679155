#ifndef HP_DRIVERS_PIPELINED_HAZARD_H
#define HP_DRIVERS_PIPELINED_HAZARD_H

/* The hazard detector (HPar 3.2), on the tree builder's side. Behind each token the tokenizer has noted what it took
 * for granted: the content that it goes on in, in hp_token.content, and in hp_token.notes what there is to look at. */

#include "html/tree/builder.h"

#include <hpar/stats.h>

enum {
  HP_NOTE_ASKED = 1,         /* at "<![CDATA[": is the adjusted current node foreign? */
  HP_NOTE_YES = 2,           /* ... the answer taken */
  HP_NOTE_ASKED_PENDING = 4, /* the same with text pending */
  HP_NOTE_YES_PENDING = 8,
  HP_NOTE_RAW_TEXT = 16,    /* a start tag that in HTML switches the tokenizer's state */
  HP_NOTE_SELF_CLOSING = 32 /* a start tag with the self-closing flag */
};

/* The notes on "<![CDATA[" as they should be before the token is built, of those that were asked. */
static inline unsigned hp_cdata_notes(hp_tokenizer *engine, unsigned asked) {
  bool pending = engine->pending_text;
  unsigned notes = 0;
  if (asked & HP_NOTE_ASKED) {
    engine->pending_text = false;
    notes |= HP_NOTE_ASKED | (engine->foreign(engine->context) ? HP_NOTE_YES : 0);
  }
  if (asked & HP_NOTE_ASKED_PENDING) {
    engine->pending_text = true;
    notes |= HP_NOTE_ASKED_PENDING | (engine->foreign(engine->context) ? HP_NOTE_YES_PENDING : 0);
  }
  engine->pending_text = pending;
  return notes;
}

/* What a start tag of the element was, with HP_NOTE_RAW_TEXT; `switched`: the tree builder has switched the state. */
hpar_pipeline_hazard hp_switch_hazard(const hp_builder *builder, hp_atom element, bool switched);

/* Has the tree builder acknowledged the self-closing flag of the start tag that it has just processed? */
bool hp_self_closing_acknowledged(const hp_builder *builder, hp_atom element);

#endif
