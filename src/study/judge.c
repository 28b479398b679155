#include "study/judge.h"

#include "base/memory.h"
#include "study/hpar2013.h"

static hpar_status open(hp_part_state *state) {
  if (!state->memory) state->memory = hp_allocate(sizeof(hp_judgement));
  state->destroy = hp_free;
  if (!state->memory) return HPAR_ERROR_MEMORY;
  *(hp_judgement *)state->memory = (hp_judgement){0};
  return HPAR_OK;
}

static void forget_chunk(hp_judgement *j) {
  j->undetected = 0;
  j->after_end_tag = false;
  j->boundary = HP_BOUNDARY_DATA;
  j->raw_name = 0;
}

static void classify(hp_merger *m, const hp_chunk_result *chunk, uint32_t first) {
  hp_judgement *j = m->judgement;
  const hp_engine *truth = m->engine;
  forget_chunk(j);
  j->boundary = hp_classify_boundary(&j->tag_search, truth->tokenizer.base, chunk->cut, first,
                                     truth->builder.script.scripting, &j->raw_name);
  j->in_comment += j->boundary == HP_BOUNDARY_COMMENT;
  j->in_raw_text += j->boundary == HP_BOUNDARY_RAW_TEXT;
  j->in_markup += j->boundary == HP_BOUNDARY_MARKUP;
}

static void end_chunk(hp_merger *m) {
  hp_judgement *j = m->judgement;
  j->chunks_with_undetected_errors += j->undetected != 0;
  for (int i = 0; j->undetected >> i; i++) j->undetected_errors_by_kind[i] += j->undetected >> i & 1;
  forget_chunk(j); /* the merger does not classify the next chunk if it was rescued */
}

static const hp_merge_judge by_boundary = {.open = open, .classify = classify};
static const hp_merge_judge by_audit = {.open = open,
                                        .classify = classify,
                                        .at_chunk_boundary = hp_hpar2013_at_chunk_boundary,
                                        .at_wrong_assumption = hp_hpar2013_at_wrong_assumption,
                                        .before_splice = hp_hpar2013_before_splice,
                                        .after_entry = hp_hpar2013_after_entry,
                                        .end_chunk = end_chunk};

const hp_merge_judge *hp_judge_of(const hp_strategy *strategy) {
  return strategy->parse == hp_hpar2013_parse ? &by_audit : &by_boundary;
}

const hp_judgement *hp_judgement_of(const hp_team *team) { return team->job.merger.judgement; }
