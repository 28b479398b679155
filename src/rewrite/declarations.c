/* Comments and doctypes become tokens of the outline builder. */

#include "base/bytes.h"
#include "rewrite/speculation.h"
#include "tokenizer/probe.h"

#include <string.h>

void hp_rewriter_take_comment(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  hp_rewriter_end_text(r, s->token_start);
  r->token.start = s->token_start;
  r->token.end = r->token.inserted_to = hp_scanner_position(s, s->event.to);
  hp_edits_mark(&r->edits, r->token.start);
  hp_outline_take_comment(&r->outline);
  if (hp_speculates(r)) hp_speculation_take_comment(r);
  if (r->running.comments && s->captures.token)
    hp_rewriter_deliver_comment(r, &(hp_comment_place){r->token.start, r->token.end,
                                                       hp_scanner_position(s, s->event.data_from),
                                                       hp_scanner_position(s, s->event.data_to), s->comment.kind});
  hp_scratch_clear(&r->scratch);
}

static const char *skip_white(const char *p, const char *end) {
  while (p < end && hp_class(*p) & HP_BYTE_WHITE) p++;
  return p;
}

/* Reads a quoted identifier. Returns NULL if its quote is missing at the end. */
static const char *read_identifier(const char *p, const char *end, hp_name *to) {
  const char *stop = memchr(p + 1, *p, (size_t)(end - p - 1));
  *to = (hp_name){p + 1, (uint32_t)((stop ? stop : end) - p - 1)};
  return stop ? stop + 1 : NULL;
}

static bool is_keyword(const char *p, const char *end, const char *word) {
  return end - p >= 6 && hp_ascii_equal(p, word, 6);
}

static bool is_quote(const char *p, const char *end) { return p < end && (*p == '"' || *p == '\''); }

/* Reads a doctype from the end of "<!doctype". Returns whether it forces quirks. */
//§ doctype-state
static bool read_doctype(const char *p, const char *end, bool is_closed, hp_doctype *type) {
  p = skip_white(p, end);
  if (p == end) return true;
  const char *name = p;
  while (p < end && !(hp_class(*p) & HP_BYTE_WHITE)) p++;
  type->name = (hp_name){name, (uint32_t)(p - name)};
  p = skip_white(p, end);
  if (p == end) return !is_closed;
  bool is_public = is_keyword(p, end, "public");
  if (!is_public && !is_keyword(p, end, "system")) return true;
  p = skip_white(p + 6, end);
  if (!is_quote(p, end)) return true;
  p = read_identifier(p, end, is_public ? &type->public_id : &type->system_id);
  if (!p) return true;
  if (is_public) {
    p = skip_white(p, end);
    if (p == end) return !is_closed;
    if (!is_quote(p, end)) return true;
    if (!read_identifier(p, end, &type->system_id)) return true;
  }
  return !is_closed && skip_white(p, end) == end;
}

void hp_rewriter_take_doctype(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  hp_rewriter_end_text(r, s->token_start);
  r->token.start = s->token_start;
  r->token.end = hp_scanner_position(s, s->event.to);
  hp_edits_mark(&r->edits, r->token.start);
  hp_doctype type = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  bool forces =
      s->captures.token && read_doctype(s->event.data_from, s->event.data_to, s->event.data_to < s->event.to, &type);
  if (type.name.bytes) {
    hp_name name = hp_lower_name(type.name.bytes, type.name.length, &hp_utf8, &r->scratch);
    hp_doctype lower = type;
    lower.name = name;
    hp_outline_take_doctype(&r->outline, &lower, forces);
  } else {
    hp_outline_take_doctype(&r->outline, &type, forces);
  }
  if (r->running.doctypes && s->captures.token) hp_rewriter_deliver_doctype(r, &type);
  hp_scratch_clear(&r->scratch);
}
