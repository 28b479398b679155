#include "merge/merge.h"

#define HP_HAS_NODES 1
#define HP_HAS_OUTER 1

#include "tokenizer/tokenizer.h"

#include "tree/context.inc"

#include "merge/check.inc"

/* Returns the next segment of a log that a composition can use, or NULL. */
static const hp_segment *next_segment(const hp_chunk_result *right) {
  if (right->failed || right->hypothesis_count != 1 || right->taken >= right->log.segments.count) return NULL;
  const hp_segment *s = &right->log.segments.items[right->taken];
  return s->ends == HP_ENDS_HAZARD || s->raw_name || s->begins_raw_text ? NULL : s;
}

/* Returns whether the segment assumes a form element pointer of null, although a form may be open.
 * The merger would parse the text of a whole composition again. */
static bool is_doubtful(const hp_segment *s, bool form_may_be_open) {
  return form_may_be_open && s->assumes.questions >> HP_ASSUME_FORM_NULL & 1;
}

bool hp_compose_begin(hp_composer *c, const hp_request *request, hp_chunk_result *left, const hp_chunk_result *right) {
  if (left->failed || left->hypothesis_count != 1 || left->taken >= left->log.segments.count) return false;
  const hp_segment *last = &left->log.segments.items[left->log.segments.count - 1], *next = next_segment(right);
  if (is_doubtful(last, last->form_may_be_open)) return false;
  if (last->ends != HP_ENDS_CLEAN || last->begins_raw_text || !last->open_elements.count || !next ||
      next->start != last->end)
    return false;
  c->left = left;
  c->position = last->end;
  left->hypotheses[0].end--; /* hp_worker_end_segment logs the segment again */
  hp_worker_resume(c->worker, request, &left->log);
  return true;
}

/* Logs the composed segment and ends the composition. Returns false. */
static bool end_composition(hp_composer *c, hp_segment_end ends) {
  hp_segment *s = &c->worker->outer.now;
  s->end = c->position;
  s->prepared = c->worker->engine.builder.flags.prepared;
  hp_worker_end_segment(c->worker, &c->left->log, ends);
  c->left->hypotheses[0].end++;
  c->left = NULL;
  return false;
}

void hp_compose_end(hp_composer *c) {
  if (c->left) end_composition(c, HP_ENDS_CLEAN);
}

/* Returns whether the tokenizer is in the data state after the token, and nothing is pending. */
static bool leaves_data(const hp_builder *b, const hp_token *t) {
  if (t->kind != HP_TOKEN_START_TAG) return true;
  return t->name != HP_ATOM_PRE && t->name != HP_ATOM_LISTING &&
         hp_text_state_of(t->name, b->script.scripting) == HP_TEXT_STATE_DATA;
}

/* Returns whether the tag begins a form, although one may be open. */
static bool begins_doubtful_form(const hp_composer *c, const hp_token *t) {
  return t->kind == HP_TOKEN_START_TAG && t->name == HP_ATOM_FORM && !hp_knows_form(&c->worker->engine.builder) &&
         c->worker->outer.form_may_be_open;
}

/* Builds the token that ends a segment of the right log. If the token depends on the outer context,
 * it ends the composed segment. Returns whether the composition continues. */
static bool build_token(hp_composer *c, const hp_token *t, hp_segment_end ends) {
  hp_outer_context *outer = &c->worker->outer;
  hp_builder *b = &c->worker->engine.builder;
  hp_disposition disposition = HP_DISPOSITION_LOCAL;
  if (begins_doubtful_form(c, t) || (ends == HP_ENDS_SPLIT && t->name == HP_ATOM_TR)) {
    disposition = HP_DISPOSITION_DEFER;
  } else if (ends == HP_ENDS_SPLIT) {
    if (can_run_first_half(b)) hp_speculative_prepare(b, t);
  } else if (leaves_data(b, t)) {
    hp_outer_take_disposition(outer); /* of an earlier token */
    hp_speculative_token(b, t);
    disposition = hp_outer_take_disposition(outer);
  } else {
    disposition = HP_DISPOSITION_DEFER;
  }
  if (disposition != HP_DISPOSITION_LOCAL) {
    outer->token = *t;
    return end_composition(c, ends);
  }
  if (ends == HP_ENDS_DEFER) {
    c->position = t->end;
    outer->now.tokens++;
  }
  c->level->tokens++;
  hp_outer_check_mode(outer, b);
  if (hp_outer_is_poisoned(outer)) return end_composition(c, HP_ENDS_HAZARD);
  return true;
}

/* Returns whether the merger can repair the run of the composed segment as well as those of its
 * parts (merge/merge.h). The flags of formatting elements count the equal entries of their
 * segment only, so that the left log must have none of these names. */
static bool keeps_repairs(hp_builder *b, const hp_segment *left, const hp_segment *s) {
  if (hp_speculative_of(b)->misnested != s->misnested || hp_speculative_of(b)->fostered != s->fostered ||
      left->ark_known != s->ark_known)
    return false;
  for (int i = 0; s->ark_known && b->formatting.count && i < HP_FORMATTING_NAMES; i++)
    if (s->assumes.ark[i] && count_listed(b, i)) return false;
  return true;
}

/* Returns whether all assumptions of the segment hold. Otherwise it does not change the log. */
static bool check_segment(hp_composer *c, const hp_segment *s) {
  hp_outer_context *outer = &c->worker->outer;
  hp_builder *b = &c->worker->engine.builder;
  hp_segment before = outer->now;
  uint32_t assumed = hp_speculative_of(b)->assumed;
  if (!hp_knows_form(b) && is_doubtful(s, outer->form_may_be_open)) return false;
  if (!keeps_repairs(b, &before, s) || first_wrong_assumption(b, s) != HP_ASSUMPTION_KINDS) {
    outer->now = before;
    hp_speculative_of(b)->assumed = assumed;
    hp_outer_forget_names(b);
    return false;
  }
  /* The mode may be that of the outer context. Then it must be one of the segment's modes. */
  if (b->mode == outer->base_mode && !b->stack.last[HP_ATOM_TEMPLATE]) outer->now.assumes.modes &= s->assumes.modes;
  return true;
}

bool hp_compose_chunk(hp_composer *c, hp_chunk_result *right) {
  hp_builder *b = &c->worker->engine.builder;
  for (;;) {
    const hp_segment *s = next_segment(right);
    if (!s && hp_is_composed(right)) return true;
    if (!s || b->stack.depth == 0 || s->start != c->position || !check_segment(c, s))
      return end_composition(c, HP_ENDS_CLEAN);
    b->flags.prepared = false;
    hp_adopt_segment(b, &right->log, right->taken++);
    c->worker->outer.now.tokens += s->tokens;
    c->position = s->end;
    c->level->segments++;
    bool ends_with_token = s->ends == HP_ENDS_DEFER || s->ends == HP_ENDS_SPLIT;
    if (ends_with_token && !build_token(c, &right->log.tokens.items[s->token], (hp_segment_end)s->ends)) return false;
  }
}
