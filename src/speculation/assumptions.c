/* The outer context of the speculative builder. It logs every read. Every write poisons the
 * segment. */

#include "speculation/dispositions.h"
#include "tree/context.h"

static void poison(hp_builder *b) {
  hp_outer_give_up(hp_outer_of(b));
  b->speculative.plain_limit = NULL;
}

static uint8_t mode(const hp_builder *b) { return hp_outer_of(b)->base_mode; }

static void log_assumption(hp_builder *b, hp_assumption question, hp_atom name) {
  hp_segment *s = &hp_outer_of(b)->now;
  b->speculative.assumed |= 1u << question;
  switch (question) {
    case HP_ASSUME_NOT_IN_SCOPE:
      switch (name) {
        case HP_ATOM_SELECT: s->assumes.in_scope |= HP_SCOPE_SELECT; return;
        case HP_ATOM_BUTTON: s->assumes.in_scope |= HP_SCOPE_BUTTON; return;
        case HP_ATOM_NOBR: s->assumes.in_scope |= HP_SCOPE_NOBR; return;
        case HP_ATOM_RUBY: s->assumes.in_scope |= HP_SCOPE_RUBY; return;
        default: poison(b); return;
      }
    case HP_ASSUME_TOP_NOT_IMPLIED:
      s->assumes.top |= name == HP_ATOM_H1 ? HP_TOP_HEADING : name == HP_ATOM_OPTION ? HP_TOP_OPTION : HP_TOP_OPTGROUP;
      return;
    case HP_ASSUME_NO_FORMATTING: {
      int index = hp_formatting_index(name);
      if (index < 0)
        poison(b);
      else
        s->assumes.formatting_names |= (uint16_t)(1u << index);
      return;
    }
    default: return;
  }
}

static void log_ark(hp_builder *b, hp_atom name, uint32_t ours) {
  hp_segment *s = &hp_outer_of(b)->now;
  int index = hp_formatting_index(name);
  if (index < 0) {
    poison(b);
    return;
  }
  if (ours > UINT8_MAX) ours = UINT8_MAX;
  b->speculative.ark_assumed[index] = (uint8_t)ours;
  if (s->assumes.formatting_names >> index & 1) return; /* there is none, as assumed */
  b->speculative.assumed |= 1u << HP_ASSUME_NOAHS_ARK;
  if (s->assumes.ark[index] < ours) s->assumes.ark[index] = (uint8_t)ours;
}

static bool goes_on(hp_builder *b, const hp_token *t) {
  const hp_outer_context *outer = hp_outer_of(b);
  if (b->mode != outer->base_mode || outer->poisoned || t->end - outer->now.start >= outer->checkpoint_bytes)
    return false;
  b->stack.entries[0].kind = (uint8_t)hp_outer_kind(b);
  return true;
}

static bool takes(hp_builder *b, const hp_token *t) {
  hp_outer_context *outer = hp_outer_of(b);
  outer->disposition = hp_disposition_of(b, t);
  if (outer->disposition != HP_DISPOSITION_LOCAL) {
    outer->token = *t;
    return true;
  }
  if (b->stack.depth == 0) {
    outer->now.assumes.modes &= hp_modes_for(b, t);
    if (t->kind == HP_TOKEN_TEXT && b->mode != HP_IN_BODY) hp_outer_assume(b, HP_ASSUME_FORMATTING_CLEAN, 0);
  } else if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML && b->mode == outer->base_mode)
    outer->now.assumes.modes &= hp_modes_inside_foreign(b, t);
  return false;
}

void hp_outer_open(hp_outer_context *outer, hp_builder *b) {
  static const hp_outer_owner owner = {log_assumption, log_ark, poison, mode, takes, goes_on};
  b->speculative = (hp_speculative_state){.owner = &owner, .outer = outer};
}

void hp_outer_begin(hp_outer_context *outer, uint32_t start, uint8_t mode, uint8_t ns) {
  outer->now = (hp_segment){
      .start = start, .end = start, .assumes = {.modes = ~0u, .base_mode = mode, .ns = ns}, .ark_known = true};
  outer->base_mode = mode;
  outer->poisoned = HP_HAZARD_NONE;
}

void hp_outer_check_mode(hp_outer_context *outer, const hp_builder *b) {
  if (b->stack.depth == 0 && b->mode != outer->base_mode && b->mode != HP_IN_TEXT) hp_outer_give_up(outer);
}
