/* The disposition of each token. A worker defers a token that reads or writes the outer context
 * other than through an assumption with a default. Deferring is always exact, so every doubtful
 * token is deferred. The rules follow the insertion modes of the standard one by one. A token that
 * they miss reaches hp_outer_poison. */

#include "speculation/dispositions.h"

#include "base/bytes.h"
#include "tree/active_formatting.h"
#include "tree/stack.h"

#include <string.h>

/*** elements open before an offset ***/

enum { REACH = 2048 };

/* Returns whether the tag with this name ends an open p, if it is in no scope of its own. */
static bool is_block(const char *name) {
  const unsigned char *letters = (const unsigned char *)name;
#define LETTERS(a, b) ((a) << 8 | (b))
  switch (LETTERS(letters[0] | 0x20, letters[1] | 0x20)) {
    case LETTERS('a', 'r'): /* article */
    case LETTERS('b', 'o'): /* body */
    case LETTERS('d', 'd'):
    case LETTERS('d', 'i'): /* div */
    case LETTERS('d', 'l'):
    case LETTERS('d', 't'):
    case LETTERS('h', '1'):
    case LETTERS('h', '2'):
    case LETTERS('h', '3'):
    case LETTERS('h', '4'):
    case LETTERS('h', 'e'): /* header */
    case LETTERS('l', 'i'):
    case LETTERS('n', 'a'): /* nav */
    case LETTERS('o', 'l'):
    case LETTERS('s', 'e'): /* section */
    case LETTERS('t', 'a'): /* table */
    case LETTERS('t', 'd'):
    case LETTERS('t', 'r'):
    case LETTERS('u', 'l'): return true;
    default: return false;
  }
#undef LETTERS
}

/* Returns whether the last tag with this name of one letter is a start tag. A block ends a p. */
static bool follows_open(const char *text, uint32_t offset, char name) {
  const char *end = text + offset, *begin = offset > REACH ? end - REACH : text;
  for (const char *at = end; at - begin > 3;) {
    const char *tag = memrchr(begin, '<', (size_t)(at - begin));
    if (!tag) return false;
    at = tag++;
    bool is_end = tag < end && *tag == '/';
    tag += is_end;
    if (end - tag < 2) continue;
    if ((*tag | 0x20) == name && (tag[1] == '>' || hp_ascii_is_white(tag[1]))) return !is_end;
    if (name == 'p' && is_block(tag)) return false;
  }
  return false;
}

bool hp_follows_open_a(const char *text, uint32_t offset) { return follows_open(text, offset, 'a'); }

/*** dispositions ***/

static bool has(const hp_builder *b, hp_atom name) { return last_of(b, name) != 0; }
/* The casts are safe: both queries change nothing but stale links of the stack, which they
 * shorten. */
static bool has_special(const hp_builder *b) { return special_barrier((hp_open_stack *)&b->stack) != 0; }
static bool has_li_barrier(const hp_builder *b) { return li_barrier((hp_open_stack *)&b->stack) != 0; }
static bool has_any_cell(const hp_builder *b) { return b->stack.last[HP_ATOM_TD] || b->stack.last[HP_ATOM_TH]; }
static bool has_any_section(const hp_builder *b) {
  return b->stack.last[HP_ATOM_TBODY] || b->stack.last[HP_ATOM_THEAD] || b->stack.last[HP_ATOM_TFOOT];
}

#define QUESTION(name) (1u << HP_ASSUME_##name)

enum {
  P = QUESTION(NO_P_IN_BUTTON_SCOPE),
  LI = QUESTION(NO_LI),
  DD = QUESTION(NO_DD_DT),
  CLEAN = QUESTION(FORMATTING_CLEAN),
  LISTED_A = QUESTION(NO_FORMATTING),
  SCOPE = QUESTION(NOT_IN_SCOPE),
  TOP = QUESTION(TOP_NOT_IMPLIED)
};

uint32_t hp_questions_of(const hp_builder *b, const hp_token *t) {
  if (t->kind == HP_TOKEN_TEXT) return CLEAN;
  if (t->kind != HP_TOKEN_START_TAG) return 0;
  switch (t->name) {
    case HP_ANY_BLOCK:
    case HP_ANY(FORM, LISTING, P, PRE, TABLE): return P;
    case HP_ANY_HEADING: return P | TOP;
    case HP_ATOM_LI: return LI | P;
    case HP_ANY(DD, DT): return DD | P;
    case HP_ATOM_HR: return P | SCOPE;
    case HP_ATOM_XMP: return P | CLEAN;
    case HP_ATOM_A: return LISTED_A | CLEAN;
    case HP_ANY(BUTTON, NOBR, INPUT, SELECT): return SCOPE | CLEAN;
    case HP_ANY(OPTION, OPTGROUP): return TOP | CLEAN;
    case HP_ATOM_NOSCRIPT: return b->script.scripting ? 0 : CLEAN;
    case HP_ANY_METADATA:
    case HP_ANY(FRAME, PARAM, SOURCE, TRACK, TEXTAREA, IFRAME, NOEMBED):
    case HP_ATOM_PLAINTEXT: /* this and the next are deferred if there is an answer */
    case HP_ANY(RB, RP, RT, RTC): return 0;
    default: return CLEAN;
  }
}

static bool defers_table_part(const hp_builder *b, hp_atom name) {
  if (has(b, HP_ATOM_TABLE)) return false;
  /* It pops foreign elements of the outer context. */
  if (hp_read_speculative(b)->foreign_base) return true;
  const bool is_cell = name == HP_ATOM_TD || name == HP_ATOM_TH, is_row = name == HP_ATOM_TR;
  const bool is_section = name == HP_ATOM_TBODY || name == HP_ATOM_THEAD || name == HP_ATOM_TFOOT;
  if (!is_cell && !is_row && !is_section) return true;
  switch (b->mode) {
    case HP_IN_TABLE: return false;
    case HP_IN_TABLE_BODY: return is_section && !has_any_section(b);
    case HP_IN_ROW:
      if (is_cell) return b->stack.depth > 0 && !has(b, HP_ATOM_TR);
      return (is_section && !has_any_section(b)) || !has(b, HP_ATOM_TR);
    case HP_IN_CELL:
      if (is_section ? !has_any_section(b) : !has_any_cell(b)) return true;
      return !is_cell && !has(b, HP_ATOM_TR);
    default: return true;
  }
}

static bool defers_start_tag(const hp_builder *b, const hp_token *t) {
  if (b->encoding.tentative && t->name == HP_ATOM_META && hp_declared_encoding(b, t)) return true;
  if (b->stack.last[HP_ATOM_TEMPLATE]) return t->name == HP_ATOM_SELECTEDCONTENT;
  bool fosters = hp_is_table_mode(b->mode) && !has(b, HP_ATOM_TABLE);
  switch (t->name) {
    case HP_ANY(HTML, HEAD, BODY, FRAMESET, SELECTEDCONTENT): return true;
    case HP_ATOM_SCRIPT: return hp_read_speculative(b)->defers_scripts;
    case HP_ANY(STYLE, TEMPLATE): return false;
    case HP_ANY(CAPTION, COL, COLGROUP, TBODY, THEAD, TFOOT, TR, TD, TH): return defers_table_part(b, t->name);
    default: break;
  }
  if (fosters) return true;
  switch (t->name) {
    case HP_ANY(PLAINTEXT, OPTGROUP): return b->stack.depth == 0; /* depends on a select in scope */
    case HP_ATOM_FORM: return !hp_knows_form(b) && hp_outer_of(b)->form_may_be_open;
    case HP_ATOM_SELECT: return b->stack.depth == 0 && !(hp_outer_of(b)->confident & SCOPE);
    case HP_ANY(RB, RP, RT, RTC): return b->stack.depth == 0 || !current(b)->scope;
    default: return false;
  }
}

/* Returns whether the end tag may close an element of the outer context. Requires: the worker has
 * open elements. */
static bool defers_end_tag(const hp_builder *b, const hp_token *t) {
  if (b->stack.last[HP_ATOM_TEMPLATE]) return false;
  uint32_t scope = current(b)->scope, found = last_of(b, t->name);
  bool marker;
  switch (t->name) {
    case HP_ANY(TEMPLATE, BODY, HTML): return true;
    case HP_ANY(TD, TH, TR, TBODY, THEAD, TFOOT, TABLE):
      return !has(b, HP_ATOM_TABLE) && (!found || t->name == HP_ATOM_TABLE);
    case HP_ANY(CAPTION, COL, COLGROUP): return !has(b, HP_ATOM_TABLE);
    default: break;
  }
  if (hp_is_table_mode(b->mode) && !has(b, HP_ATOM_TABLE)) return true;
  switch (t->name) {
    case HP_ATOM_FORM: return !hp_knows_form(b);
    case HP_ATOM_P:
      return !found && !higher(scope, b->stack.last[HP_ATOM_BUTTON]) && !(hp_read_speculative(b)->assumed & P);
    case HP_ATOM_LI: return !found && !higher(scope, higher(b->stack.last[HP_ATOM_OL], b->stack.last[HP_ATOM_UL]));
    case HP_ANY_HEADING:
      for (hp_atom name = HP_ATOM_H1; name <= HP_ATOM_H6; name++)
        if (has(b, name)) return false;
      return !scope;
    case HP_ATOM_BR: return false;
    case HP_ANY_PHRASE:
    case HP_ANY(A, NOBR):
      if (hp_has_listed(b, t->name, &marker)) return false;
      return !marker || (!found && !has_special(b)); /* above a marker: any other end tag */
    case HP_ANY_BLOCK:
    case HP_ANY(BUTTON, LISTING, PRE, SELECT, DD, DT, APPLET, MARQUEE, OBJECT): return !found && !scope;
    default: return !found && !has_special(b);
  }
}

/* Returns whether the tag may run a script of SVG: its end tag, or its start tag with a solidus.
 * Scripts in a template of the worker never run. */
static bool may_run_script(const hp_builder *b, const hp_token *t) {
  if (!hp_read_speculative(b)->defers_scripts || t->name != HP_ATOM_SCRIPT || b->stack.last[HP_ATOM_TEMPLATE])
    return false;
  return t->kind == HP_TOKEN_END_TAG ? current(b)->name == HP_ATOM_SCRIPT
                                     : current(b)->ns == HPAR_NAMESPACE_SVG && (t->flags & HP_TOKEN_SELF_CLOSING);
}

/* Returns whether the worker defers the token. Requires: the current node is the worker's and
 * foreign. */
static bool defers_in_foreign(const hp_builder *b, const hp_token *t) {
  if (t->kind == HP_TOKEN_END_TAG && may_run_script(b, t)) return true;
  if (t->kind == HP_TOKEN_START_TAG) {
    if (html_rules(current(b), t)) return defers_start_tag(b, t);
    if (!breaks_out(b, t)) return may_run_script(b, t);
  } else if (!breaks_out(b, t)) {
    for (uint32_t i = b->stack.depth; i > 0; i--) {
      if (b->stack.entries[i].ns == HPAR_NAMESPACE_HTML && i < b->stack.depth) // NOLINT: no limit
        return defers_end_tag(b, t);
      if (named(&b->stack.entries[i], t->name)) return false;
    }
    return true;
  }
  /* The tag pops to the first element that accepts HTML. That element must be the worker's. */
  for (uint32_t i = b->stack.depth; i > 0; i--) {
    const hp_open_element *e = &b->stack.entries[i];
    if (e->ns == HPAR_NAMESPACE_HTML || (e->tag & (HP_TAG_HTML_INTEGRATION | HP_TAG_TEXT_INTEGRATION)))
      return t->kind == HP_TOKEN_START_TAG ? defers_start_tag(b, t) : defers_end_tag(b, t);
  }
  return true;
}

/* Returns whether the worker defers the token. Requires: the worker has no open element. */
static bool defers_at_outer_level(const hp_builder *b, const hp_token *t) {
  uint8_t mode = hp_outer_of(b)->base_mode;
  if (hp_outer_of(b)->fostered) return true;
  if (mode != HP_IN_BODY && mode != HP_IN_HEAD && !hp_is_table_mode(mode)) return true;
  if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML) {
    if (t->kind == HP_TOKEN_END_TAG) return true;
    return t->kind == HP_TOKEN_START_TAG && (breaks_out(b, t) || may_run_script(b, t));
  }
  switch (t->kind) {
    case HP_TOKEN_TEXT:
      if (mode != HP_IN_BODY) return !(t->flags & HP_TEXT_WHITE);
      return t->flags & HP_TEXT_NUL;
    case HP_TOKEN_START_TAG: return defers_start_tag(b, t) || (mode == HP_IN_HEAD && !hp_is_head_tag(t->name));
    case HP_TOKEN_END_TAG: return true;
    default: return false;
  }
}

/* Returns whether the tag may close an li, a dd or a dt of the outer context, and the merger has
 * not run the first half of such a tag. Requires: the worker has open elements. */
static bool may_close_outer_item(const hp_builder *b, const hp_token *t) {
  if (t->name != HP_ATOM_LI && t->name != HP_ATOM_DD && t->name != HP_ATOM_DT) return false;
  return hp_questions_of(b, t) & ~hp_outer_of(b)->confident & (LI | DD) && !has_li_barrier(b) &&
         !b->stack.last[HP_ATOM_TEMPLATE];
}

/* Returns whether the token is the only text before a deferred end tag. Deferring it, too, takes
 * one entry of the log. Splicing it takes two entries, one of which is an assumption. */
static bool is_lone_text(const hp_builder *b, const hp_token *t) {
  const hp_tokenizer *tokenizer = b->tokenizer;
  const hp_outer_context *outer = hp_outer_of(b);
  if (t->kind != HP_TOKEN_TEXT || outer->now.tokens || hp_read_speculative(b)->run_tokens || !outer->minimise_log ||
      !tokenizer)
    return false;
  return tokenizer->end - tokenizer->at > 1 && tokenizer->at[0] == '<' && tokenizer->at[1] == '/';
}

bool hp_must_defer(const hp_builder *b, const hp_token *t) {
  if (b->mode == HP_IN_TEXT) return false;
  if (t->kind == HP_TOKEN_EOF) return true;
  if (b->stack.depth == 0 && is_lone_text(b, t)) return true;
  if (b->stack.depth == 0) return defers_at_outer_level(b, t);
  switch (t->kind) {
    case HP_TOKEN_TEXT:
      return hp_is_table_mode(b->mode) && !has(b, HP_ATOM_TABLE) && !has(b, HP_ATOM_TEMPLATE) &&
             !(t->flags & HP_TEXT_WHITE);
    case HP_TOKEN_START_TAG:
      return current(b)->ns == HPAR_NAMESPACE_HTML ? defers_start_tag(b, t) || may_close_outer_item(b, t)
                                                   : defers_in_foreign(b, t);
    case HP_TOKEN_END_TAG:
      return current(b)->ns == HPAR_NAMESPACE_HTML ? defers_end_tag(b, t) : defers_in_foreign(b, t);
    default: return false;
  }
}

/* Returns the questions about the own open elements, which belong to the outer context after the
 * segment. */
static uint32_t own_questions(const hp_builder *b) {
  uint32_t questions = b->stack.depth ? TOP : 0;
  if (b->stack.last[HP_ATOM_P]) questions |= P;
  if (b->stack.last[HP_ATOM_LI]) questions |= LI;
  if (b->stack.last[HP_ATOM_DD] || b->stack.last[HP_ATOM_DT]) questions |= DD;
  if (b->stack.last[HP_ATOM_SELECT] || b->stack.last[HP_ATOM_BUTTON] || b->stack.last[HP_ATOM_NOBR]) questions |= SCOPE;
  return questions;
}

/* Returns the questions whose answers may change after a segment: those about `own` elements, and
 * about elements that a deferred end tag may expose. */
static uint32_t reopened(const hp_builder *b, const hp_token *t, uint32_t own) {
  uint32_t questions = own | (b->formatting.count ? CLEAN | LISTED_A : 0);
  if (!t || t->kind != HP_TOKEN_END_TAG) return questions;
  switch (t->name) {
    case HP_ANY(TD, TH, CAPTION, TABLE, TEMPLATE, OBJECT, APPLET, MARQUEE): return ~0u;
    case HP_ANY(SELECT, BUTTON): return questions | P | SCOPE | LI | DD | TOP;
    case HP_ANY_PHRASE:
    case HP_ANY(A, NOBR): return questions | TOP | CLEAN; /* its other entries are reconstructed */
    default: return questions | TOP | (hp_html_tag(t->name) & HP_TAG_SPECIAL ? LI | DD : 0);
  }
}

uint32_t hp_questions_reopened(const hp_builder *b, const hp_token *t) { return reopened(b, t, own_questions(b)); }

/* Updates the questions whose default answer is probably wrong by the deferred token. */
static __attribute__((noinline)) void update_likely_false(hp_builder *b, const hp_token *t) {
  bool is_scoped = t->name == HP_ATOM_SELECT || t->name == HP_ATOM_BUTTON || t->name == HP_ATOM_NOBR;
  if (t->kind == HP_TOKEN_START_TAG) {
    if (is_scoped) hp_speculative_of(b)->likely_false |= SCOPE;
  } else if (t->kind == HP_TOKEN_END_TAG) {
    if (is_scoped)
      hp_speculative_of(b)->likely_false &= ~(uint32_t)SCOPE;
    else if (hp_html_tag(t->name) & (HP_TAG_SCOPE | HP_TAG_TABLE_PART))
      hp_speculative_of(b)->likely_false = 0;
    else if (hp_html_tag(t->name) & HP_TAG_SPECIAL)
      hp_speculative_of(b)->likely_false &= ~(uint32_t)P;
  }
}

void hp_reopen_questions(hp_builder *b, const hp_token *t) {
  hp_outer_context *outer = hp_outer_of(b);
  uint32_t own = own_questions(b);
  outer->confident &= ~reopened(b, t, own);
  if (own & (P | SCOPE)) {
    hp_speculative_of(b)->likely_false |= own & (P | SCOPE);
    if (own & P) outer->p_search_from = 0;
  }
  if (t && (hp_speculative_of(b)->likely_false || t->kind == HP_TOKEN_START_TAG)) update_likely_false(b, t);
}

bool hp_splits_row(const hp_token *t) { return t->kind == HP_TOKEN_START_TAG && t->name == HP_ATOM_TR; }

/* Returns whether to split a <tr> instead of deferring it. After a deferred <tr> the row belongs to
 * the outer context. The worker would then have to defer every row without an end tag. */
static bool should_split_row(const hp_builder *b) {
  uint8_t mode = hp_outer_of(b)->base_mode;
  return hp_outer_of(b)->minimise_log && (mode == HP_IN_ROW || mode == HP_IN_BODY) &&
         !b->stack.last[HP_ATOM_TEMPLATE] && b->stack.entries[0].ns == HPAR_NAMESPACE_HTML;
}

/* Returns whether the worker splits an <a> inside its own elements, because the list of the outer
 * context probably has an `a`. The adoption agency would move or close the worker's elements. */
static bool should_split_a(const hp_builder *b, const hp_token *t) {
  bool marker;
  if (!hp_read_speculative(b)->outer_a_likely || !is_start(t, HP_ATOM_A) || b->mode != HP_IN_BODY ||
      hp_outer_of(b)->base_mode != HP_IN_BODY)
    return false;
  if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML || current(b)->ns != HPAR_NAMESPACE_HTML) return false;
  return !hp_has_listed(b, HP_ATOM_A, &marker) && !marker;
}

/* Returns whether the worker splits a tag inside its own elements, because the outer context
 * probably has an element that the tag closes: a p, or a select, button or nobr. The tag would
 * close the worker's elements, too. */
static __attribute__((noinline)) bool should_split_inside(hp_builder *b, const hp_token *t) {
  hp_outer_context *outer = hp_outer_of(b);
  if (t->kind != HP_TOKEN_START_TAG || current(b)->scope || b->stack.entries[0].ns != HPAR_NAMESPACE_HTML) return false;
  uint32_t questions = hp_questions_of(b, t) & hp_speculative_of(b)->likely_false & ~hp_speculative_of(b)->assumed;
  if (b->stack.last[HP_ATOM_P] || b->stack.last[HP_ATOM_BUTTON]) questions &= ~(uint32_t)P;
  if (!questions || b->mode != HP_IN_BODY || outer->base_mode != HP_IN_BODY) return false;
  if (questions & P && outer->p_search_from) {
    if (!follows_open(b->tokenizer->base, outer->p_search_from, 'p'))
      hp_speculative_of(b)->likely_false &= ~(uint32_t)P;
    outer->p_search_from = 0;
  }
  return questions & hp_speculative_of(b)->likely_false;
}

static inline bool is_default_in_doubt(const hp_builder *b) {
  return hp_read_speculative(b)->likely_false & ~hp_read_speculative(b)->assumed &&
         current(b)->ns == HPAR_NAMESPACE_HTML;
}

hp_disposition hp_disposition_of(hp_builder *b, const hp_token *t) {
  if (hp_must_defer(b, t)) return hp_splits_row(t) && should_split_row(b) ? HP_DISPOSITION_SPLIT : HP_DISPOSITION_DEFER;
  if (b->stack.depth && (should_split_a(b, t) || (is_default_in_doubt(b) && should_split_inside(b, t))))
    return HP_DISPOSITION_SPLIT;
  if (b->stack.depth || hp_outer_of(b)->base_mode != HP_IN_BODY || b->stack.entries[0].ns != HPAR_NAMESPACE_HTML)
    return HP_DISPOSITION_LOCAL;
  uint32_t questions = hp_questions_of(b, t) & ~hp_outer_of(b)->confident;
  hp_outer_of(b)->confident |= questions;
  hp_speculative_of(b)->likely_false &= ~questions;
  return questions ? HP_DISPOSITION_SPLIT : HP_DISPOSITION_LOCAL;
}

#define BIT(mode) (1u << (mode))

enum {
  CONTENT_MODES = BIT(HP_IN_BODY) | BIT(HP_IN_CELL) | BIT(HP_IN_CAPTION),
  TABLE_MODES = BIT(HP_IN_TABLE) | BIT(HP_IN_TABLE_BODY) | BIT(HP_IN_ROW),
  HEAD_TAG_MODES = CONTENT_MODES | BIT(HP_IN_HEAD) | BIT(HP_IN_TEMPLATE),
  COMMENT_MODES = HEAD_TAG_MODES | TABLE_MODES | BIT(HP_BEFORE_HEAD) | BIT(HP_AFTER_HEAD) | BIT(HP_IN_COLUMN_GROUP) |
                  BIT(HP_IN_HEAD_NOSCRIPT) | BIT(HP_IN_FRAMESET) | BIT(HP_AFTER_FRAMESET),
  TABLE_TAG_MODES = HEAD_TAG_MODES | TABLE_MODES,
  WHITE_MODES = TABLE_TAG_MODES | BIT(HP_AFTER_HEAD) | BIT(HP_IN_FRAMESET) | BIT(HP_AFTER_FRAMESET) |
                BIT(HP_IN_HEAD_NOSCRIPT) | BIT(HP_IN_COLUMN_GROUP),
  RECONSTRUCTING_MODES = CONTENT_MODES | BIT(HP_IN_TEMPLATE)
};

/* Returns whether the list has an own entry although no element is open, because a marker remains.
 */
static bool is_to_be_reconstructed(const hp_builder *b) {
  return b->formatting.count && hp_listed_name_of(b, b->formatting.count - 1) != UINT32_MAX;
}

uint32_t hp_modes_for(const hp_builder *b, const hp_token *t) {
  uint8_t mode = hp_outer_of(b)->base_mode;
  if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML) return ~(uint32_t)BIT(HP_IN_TEXT);
  bool comment = t->kind == HP_TOKEN_COMMENT || t->kind == HP_TOKEN_PROCESSING_INSTRUCTION;
  if (comment) return COMMENT_MODES;
  if (t->kind == HP_TOKEN_TEXT && t->flags & HP_TEXT_WHITE) {
    if (!is_to_be_reconstructed(b)) return WHITE_MODES;
    return mode == HP_IN_BODY ? RECONSTRUCTING_MODES : WHITE_MODES & ~(uint32_t)RECONSTRUCTING_MODES;
  }
  if (t->kind == HP_TOKEN_START_TAG) switch (t->name) {
      case HP_ANY(SCRIPT, STYLE, TEMPLATE): return TABLE_TAG_MODES;
      default:
        if (hp_is_head_tag(t->name) && !hp_is_table_mode(mode)) return HEAD_TAG_MODES;
        break;
    }
  if (t->kind == HP_TOKEN_DOCTYPE) return COMMENT_MODES;
  return hp_is_table_mode(mode) ? BIT(mode) : CONTENT_MODES;
}

uint32_t hp_modes_inside_foreign(const hp_builder *b, const hp_token *t) {
  bool start = t->kind == HP_TOKEN_START_TAG, end = t->kind == HP_TOKEN_END_TAG;
  bool by_mode = current(b)->ns == HPAR_NAMESPACE_HTML || html_rules(current(b), t) ||
                 ((start || end) && breaks_out(b, t)) || (end && last_of(b, t->name));
  if (!by_mode) return ~0u;
  return hp_outer_of(b)->base_mode == HP_IN_BODY ? CONTENT_MODES : BIT(hp_outer_of(b)->base_mode);
}

hp_open_kind hp_outer_kind(const hp_builder *b) {
  const hp_outer_context *outer = hp_outer_of(b);
  uint32_t modes = outer->now.assumes.modes;
  if (b->stack.entries[0].ns != HPAR_NAMESPACE_HTML || b->mode != outer->base_mode || outer->fostered)
    return HP_OPEN_OTHER;
  switch (outer->base_mode) {
    case HP_IN_BODY: return modes & ~(uint32_t)CONTENT_MODES ? HP_OPEN_OTHER : HP_OPEN_PLAIN;
    case HP_IN_TABLE_BODY: return modes & ~(uint32_t)BIT(HP_IN_TABLE_BODY) ? HP_OPEN_OTHER : HP_OPEN_SECTION;
    case HP_IN_ROW: return modes & ~(uint32_t)BIT(HP_IN_ROW) ? HP_OPEN_OTHER : HP_OPEN_ROW;
    default: return HP_OPEN_OTHER;
  }
}
