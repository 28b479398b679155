/* The confirmer of a filter: a second rewriter that reads the output of the first one and passes it
 * on. Edits can give later input another meaning, so that the output has elements that no rule has
 * seen. The confirmer therefore applies the same rules to the elements of the output. It fails at
 * the start tag of an element that a rule would still remove, replace or unwrap, or whose attribute
 * it would remove. It does not write that tag and what follows. */

#include "rewrite/state.h"

hpar_status hp_confirm_open(hpar_rewriter *r, hpar_write_callback write, void *context) {
  hpar_status status = r->confirmer ? HPAR_OK : hpar_rewriter_create(&r->confirmer);
  if (status != HPAR_OK) return status;
  r->confirmer->running.confirms = true;
  r->confirmer->progress.phase = HP_PHASE_NONE;
  hp_sink_open(&r->confirmer->sink, write, context);
  return HPAR_OK;
}

/* The encoding of the output is known with the first output only. */
static hpar_status begin(hpar_rewriter *r) {
  const hp_stream_options *o = &r->options;
  const bool is_utf8 =
      r->encoding.decoder || (o->encoding && r->encoding.used && r->encoding.used->kind == HP_ENCODING_UTF8);
  const hpar_rewrite_options options = {HPAR_REWRITE_OPTIONS_INIT,   .encoding = is_utf8 ? "utf-8" : o->encoding,
                                        .fragment = o->fragment,     .no_scripting = !o->scripting,
                                        .quirks = o->quirks,         .utf16 = HPAR_UTF16_REFUSE,
                                        .max_memory = o->max_memory, .max_token = o->max_token,
                                        .max_depth = o->max_depth,   .max_time_ns = o->max_time_ns,
                                        .mode = HPAR_MODE_SEQUENTIAL};
  return hpar_rewriter_begin(r->confirmer, r->rules, &options, r->confirmer->sink.write, r->confirmer->sink.context);
}

hpar_status hp_confirm_take(const char *bytes, size_t length, void *context) {
  hpar_rewriter *r = context;
  hpar_status status = r->confirmer->progress.phase == HP_PHASE_NONE ? begin(r) : HPAR_OK;
  return status == HPAR_OK ? hpar_rewriter_feed(r->confirmer, bytes, length) : status;
}

hpar_status hp_confirm_finish(hpar_rewriter *r) {
  return r->confirmer->progress.phase == HP_PHASE_NONE ? HPAR_OK : hpar_rewriter_finish(r->confirmer, NULL);
}

void hp_confirm_element(hpar_rewriter *r, const hp_element *e) {
  static const char removes[] = "the edits let the page have an element that a rule removes: see `filter` in rewrite.h",
                    unsets[] = "the edits let an element have an attribute that a rule removes: see `filter` in "
                               "rewrite.h";
  if (!e->has_tag) return;
  if (e->muting == HP_MUTES_ELEMENT || e->unwraps) hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, removes);
  for (uint32_t i = 0; i < e->edit_count; i++)
    if (e->edits[i].unsets && e->edits[i].span != UINT32_MAX) hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, unsets);
}
