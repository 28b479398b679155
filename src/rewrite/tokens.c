/* Scanner events become tokens of the outline builder. */

#include "base/atom.h"
#include "base/bytes.h"
#include "base/process.h"
#include "rewrite/readable.h"
#include "rewrite/speculation.h"
#include "rewrite/urls.h"
#include "text/references/references.h"
#include "tokenizer/parts.h"

#include <string.h>

/*** texts ***/

/* Returns the end of the whole characters and references before `to`. */
static const char *whole_upto(const hpar_rewriter *r, const char *from, const char *to) {
  enum { MAX_REFERENCE = 40 };
  if (hp_rewriter_encoding(r)->kind == HP_ENCODING_UTF8) {
    const char *p = to;
    while (p > from && to - p < 4 && ((unsigned char)p[-1] & 0xC0) == 0x80) p--;
    if (p > from && (unsigned char)p[-1] >= 0xC0) {
      unsigned char lead = (unsigned char)p[-1];
      if (to - p < (lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1)) to = p - 1;
    }
  } else if (hp_rewriter_has_codes(r)) {
    const char *p = from;
    for (size_t length; p < to && (length = hp_encoding_length_at(hp_rewriter_encoding(r), p, to)); p += length)
      continue;
    to = p;
  }
  for (const char *p = to; p > from && to - p < MAX_REFERENCE; p--) {
    if (p[-1] == '&') return p - 1;
    if (!hp_ascii_is_letter(p[-1]) && !hp_ascii_is_digit(p[-1]) && p[-1] != '#') break;
  }
  return to;
}

/* Returns true if the text is CSS whose URLs rules may edit. A cut would hide some of them. */
static bool is_sheet(const hpar_rewriter *r) {
  return r->rules->edits_urls && hp_rewriter_text_place(r) == HP_TEXT_IN_STYLE;
}

/* Returns true if [from, to) may begin what ends raw text or changes the state of a script. */
static bool begins_raw_tag(const hpar_rewriter *r, const char *from, const char *to) {
  const hp_name name = hp_atom_name(r->names.fixed, r->scanner.raw_name);
  const size_t length = (size_t)(to - from), tag = length - 1 - (length > 1 && from[1] == '/');
  if (length > 1 && from[1] != '/' && r->text.content != HP_TEXT_STATE_SCRIPT_DATA) return false;
  if (length <= 4 && !memcmp(from, "<!--", length)) return true;
  return tag <= name.length && hp_ascii_equal(to - tag, name.bytes, tag);
}

/* Returns the end of the piece of raw text that begins at `from`, near `to`: an edit of the next
 * piece must not complete a tag that begins in this one. NULL: more input decides. */
static const char *end_before_tag(const hpar_rewriter *r, const char *from, const char *to, const char *end) {
  enum { MOST = sizeof "</textarea" - 1 };
  const char *at = to;
  while (at > from && to - at < MOST && *--at != '<') continue;
  if (at == to || *at != '<' || !begins_raw_tag(r, at, to)) return to;
  if (at > from) return at;
  while (to < end && begins_raw_tag(r, from, to)) to++;
  return begins_raw_tag(r, from, to) ? NULL : to;
}

/* The same for the data state: no piece has a part of "</>" or of an end of a CDATA section. */
static const char *end_before_marker(const hpar_rewriter *r, const char *from, const char *to, const char *end) {
  enum { MOST = sizeof "<![CDATA" - 1 };
  const char *at = to;
  while (at > from && to - at < MOST && *--at != '<' && *at != ']') continue;
  if (at == to || (*at != '<' && *at != ']')) return to;
  hp_scanner s = hp_rewriter_scan_piece(r, from, (size_t)(end - from));
  hp_scan_event event = HP_SCAN_TEXT;
  while (s.at < to && event != HP_SCAN_NEEDS_INPUT) event = hp_scanner_next(&s);
  if (event != HP_SCAN_MARKER || s.event.from >= to) return to;
  return s.event.from > from ? s.event.from : s.event.to;
}

/* Delivers pieces of a text that is longer than max_text. */
static void deliver_long(hpar_rewriter *r, uint64_t position) {
  while (r->running.texts && position - r->text.start >= r->options.max_text) {
    const char *from = hp_rewriter_at(r, r->text.start), *part = from + r->options.max_text;
    const char *whole = whole_upto(r, from, part), *end = hp_rewriter_at(r, position);
    whole = hp_find_boundary(r, from, whole > from ? whole : part);
    if (is_sheet(r)) whole = hp_urls_boundary(r, from, whole);
    if (whole > from) part = whole;
    part = r->text.content == HP_TEXT_STATE_DATA ? end_before_marker(r, from, part, end)
                                                 : end_before_tag(r, from, part, end);
    if (!part) return;
    hp_rewriter_deliver_text(r, hp_scanner_position(&r->scanner, part), false);
    if (!r->token.is_tag) hp_scratch_clear(&r->scratch);
  }
}

/* Writes references in parts, so that the list of edits stays short. */
static __attribute__((noinline)) void escape_text(hpar_rewriter *r, const char *from, const char *to) {
  enum { PART = 1024 };
  hp_scanner *s = &r->scanner;
  for (const char *at = from, *end; at < to; at = end) {
    end = to - at > PART ? at + PART : to;
    const uint64_t position = hp_scanner_position(s, end);
    hp_rewriter_escape_raw_text(r, hp_scanner_position(s, at), position, r->text.content);
    hp_rewriter_flush(r, position);
  }
}

/* Escapes the rest of a text whose last rule has retired in it. */
static void escape_rest(hpar_rewriter *r, uint64_t position) {
  if (r->running.texts || !r->text.is_escaped || r->text.content == HP_TEXT_STATE_DATA || r->text.start >= position)
    return;
  escape_text(r, hp_rewriter_at(r, r->text.start), hp_rewriter_at(r, position));
  r->text.start = position;
}

void hp_rewriter_end_text(hpar_rewriter *r, uint64_t position) {
  if (!r->text.is_open) return;
  const bool had_rules = r->running.texts;
  deliver_long(r, position);
  if (r->running.texts) hp_rewriter_deliver_text(r, position, true);
  if (had_rules) escape_rest(r, position);
  r->text.start = position;
  r->text.is_first = true;
  r->text.is_open = false;
}

static void begin_text(hpar_rewriter *r, uint64_t position) {
  if (r->text.is_open) return;
  r->text.is_open = r->text.is_first = true;
  r->text.start = position;
  r->text.content = r->scanner.content;
  r->text.state = (hp_piece_state){0};
  r->text.after_cr = false;
  r->text.changed_end = 0;
  memset(r->text.seen, 0, sizeof r->text.seen);
}

/* Notes that the stack had entries up to this index. */
static void note_depth(hpar_rewriter *r, uint32_t highest) {
  uint32_t depth = highest - hp_tombstones(&r->outline.builder);
  if (depth > r->stats.depth) r->stats.depth = depth;
}

static void take_kind(hpar_rewriter *r, hp_outline_text kind, const char *at) {
  if (r->text.seen[kind]) return;
  uint64_t start = r->text.start;
  bool in_text = r->text.is_open;
  r->text.seen[kind] = true;
  r->token.start = r->token.end = hp_scanner_position(&r->scanner, at);
  hp_edits_mark(&r->edits, r->running.texts && in_text ? start : r->token.start);
  hp_outline_take_text(&r->outline, kind);
  if (hp_speculates(r)) hp_speculation_take_text(r, kind);
  note_depth(r, r->outline.builder.stack.depth);
  if (kind == HP_OUTLINE_NUL) r->text.seen[HP_OUTLINE_WHITE] = false;
  if (in_text && !r->text.is_open) { /* the text begins another node here */
    r->text.is_open = r->text.is_first = true;
    r->text.start = r->token.start > start ? r->token.start : start;
  }
}

typedef enum reference_kind { REFERENCE_OTHER, REFERENCE_WHITE, REFERENCE_NEWLINE, REFERENCE_CUT } reference_kind;

/* Returns the kind of the character of the reference at `at`. Sets its end. */
static reference_kind classify_reference(const char *at, const char *end, bool last, const char **stop) {
  const char *p = at + 1;
  *stop = p;
  /* "&Tab;", "&NewLine;" and numbers may be white space. */
  if (p < end && !strchr("TN#", *p)) return REFERENCE_OTHER;
  while (p < end && (hp_ascii_is_letter(*p) || hp_ascii_is_digit(*p) || *p == '#')) p++;
  if (p == end && !last && hp_reference_may_continue(at + 1, end)) return REFERENCE_CUT;
  const hp_reference found = hp_read_reference(at, end, false, at, NULL);
  if (found.length != 1) return REFERENCE_OTHER;
  *stop = found.end;
  if (*found.bytes == '\n') return REFERENCE_NEWLINE;
  return hp_ascii_is_white(*found.bytes) ? REFERENCE_WHITE : REFERENCE_OTHER;
}

static bool is_settled(const hpar_rewriter *r) {
  return (r->text.seen[HP_OUTLINE_OTHER] && r->text.seen[HP_OUTLINE_WHITE]) || !hp_outline_text_matters(&r->outline);
}

/* Gives the kinds of the characters to the outline, each once, while they matter. Returns where it
 * stopped: `to`, or an incomplete character reference. */
static __attribute__((noinline)) const char *classify(hpar_rewriter *r, const char *from, const char *to) {
  bool references = r->scanner.content == HP_TEXT_STATE_DATA && !hp_scanner_is_in_section(&r->scanner);
  bool first = !r->text.seen[0] && !r->text.seen[1] && !r->text.seen[2] && !r->text.seen[3];
  for (const char *p = from, *next; p < to && !is_settled(r); p = next, first = false) {
    hp_outline_text kind = HP_OUTLINE_OTHER;
    next = p + 1;
    if (r->text.after_cr && *p == '\n') {
      r->text.after_cr = false;
      continue;
    }
    r->text.after_cr = false;
    if (*p == '&' && references) {
      reference_kind found = classify_reference(p, to, r->scanner.last || to < r->scanner.end, &next);
      if (found == REFERENCE_CUT) return p;
      if (found == REFERENCE_NEWLINE) kind = first ? HP_OUTLINE_NEWLINE : HP_OUTLINE_WHITE;
      if (found == REFERENCE_WHITE) kind = HP_OUTLINE_WHITE;
    } else if (hp_class(*p) & HP_BYTE_WHITE) {
      bool newline = *p == '\n' || *p == '\r';
      kind = newline && first ? HP_OUTLINE_NEWLINE : HP_OUTLINE_WHITE;
      r->text.after_cr = first && *p == '\r';
    } else if (!*p) {
      kind = HP_OUTLINE_NUL;
    }
    take_kind(r, kind, p);
    if (kind == HP_OUTLINE_OTHER)
      while (next < to && *next && *next != '&' && !(hp_class(*next) & HP_BYTE_WHITE)) next++;
    else if (kind == HP_OUTLINE_WHITE)
      while (next < to && hp_class(*next) & HP_BYTE_WHITE) next++;
  }
  return to;
}

/* Delivers what need not wait for the end of the text. */
static void deliver_parts(hpar_rewriter *r, const char *to) {
  uint64_t position = hp_scanner_position(&r->scanner, to);
  deliver_long(r, position);
  if (!r->running.texts || r->running.whole_texts || position == r->text.start || is_sheet(r)) return;
  const char *whole = whole_upto(r, hp_rewriter_at(r, r->text.start), to);
  position = hp_scanner_position(&r->scanner, whole);
  if (position > r->text.start) hp_rewriter_deliver_text(r, position, false);
}

/* What the confirmer has read of a page that has declared no encoding so far: names and values in
 * UTF-8 or not, their references, and a section whose end depends on the encoding. */
enum { HAS_UTF8 = 1, HAS_OTHER = 2, HAS_REPLACED = 4, HAS_SECTION = 8 };

static void confirm_section(hpar_rewriter *r, const char *from, const char *to) {
  if (!r->encoding.used && r->running.confirms && !hp_is_ascii(from, (size_t)(to - from)))
    r->encoding.undeclared |= HAS_SECTION;
}

/* Returns false if the scanner needs more input to continue. */
static bool take_text(hpar_rewriter *r) {
  const char *from = r->scanner.event.from, *to = r->scanner.event.to;
  if (hp_speculates(r) && r->running.texts && to == r->scanner.end) { /* the text may continue */
    r->scanner.at = from;
    return false;
  }
  if (r->running.across && !hp_run_is_complete(r, from)) {
    r->scanner.at = from;
    return false;
  }
  begin_text(r, hp_scanner_position(&r->scanner, from));
  if (hp_scanner_is_in_section(&r->scanner)) confirm_section(r, from, to);
  const char *stop = is_settled(r) ? to : classify(r, from, to);
  if (stop < to) r->scanner.at = stop;
  if (r->running.texts) {
    deliver_parts(r, stop);
    escape_rest(r, hp_scanner_position(&r->scanner, stop));
  } else if (stop == to && r->text.is_escaped && r->scanner.content != HP_TEXT_STATE_DATA) {
    escape_text(r, from, to);
  }
  return stop == to;
}

/*** comments and doctypes ***/

static void take_comment(hpar_rewriter *r) {
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

static void take_doctype(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  hp_rewriter_end_text(r, s->token_start);
  r->token.start = s->token_start;
  r->token.end = hp_scanner_position(s, s->event.to);
  hp_edits_mark(&r->edits, r->token.start);
  hp_doctype type = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  bool forces =
      s->captures.token && read_doctype(s->event.data_from, s->event.data_to, s->event.data_to < s->event.to, &type);
  hp_doctype lower = type;
  if (type.name.bytes) lower.name = hp_lower_name(type.name.bytes, type.name.length, &hp_utf8, &r->scratch);
  hp_outline_take_doctype(&r->outline, &lower, forces);
  if (r->running.doctypes && s->captures.token) hp_rewriter_deliver_doctype(r, &type);
  hp_scratch_clear(&r->scratch);
}

/*** tags ***/

/* Returns true if the outline reads attributes of this start tag. The list of formatting elements
 * never has two equal entries of `a` after a marker. */
static bool outline_reads(const hpar_rewriter *r, hp_atom name) {
  if (name >= HP_KNOWN_ATOMS) return false;
  switch (name) {
    case HP_ATOM_A: return false;
    case HP_ATOM_INPUT:
    case HP_ATOM_ANNOTATION_XML: return true;
    case HP_ATOM_META: return !r->encoding.is_certain;
    default: return hp_html_tag(name) & HP_TAG_FORMATTING;
  }
}

/* Returns the atom of a common name, or HP_NO_ATOM. */
static hp_atom find_short_name(const hp_scanner *s) {
  if (s->end - s->event.from < 16) return HP_NO_ATOM;
  unsigned n = probe_tag_name(s->event.from);
  return n == s->event.to - s->event.from ? hp_short_name_atom(s->event.from, n) : HP_NO_ATOM;
}

static size_t count_high(const char *at, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += (unsigned char)at[i] >= 0x80;
  return count;
}

static _Noreturn void refuse_undeclared(hpar_rewriter *r) {
  hp_edits_mark(&r->edits, r->scanner.token_start); /* the output ends before the tag */
  hp_rewriter_fail(r, HPAR_ERROR_UNSUPPORTED, "`filter` must know the encoding to compare names of this page");
}

/* Takes bytes into account that mean this text in a page that has declared no encoding. The page is
 * UTF-8 or windows-1252, and in both, names and values are equal if their bytes are. But the
 * confirmer must know the encoding to compare UTF-8 with other bytes, or with references. */
static __attribute__((noinline, cold)) void note_undeclared(hpar_rewriter *r, const char *bytes, size_t length,
                                                            hp_name text) {
  const size_t high = count_high(bytes, length);
  if (hp_scan()->invalid_utf8(bytes, bytes + length) < bytes + length)
    r->encoding.undeclared |= HAS_OTHER;
  else
    r->encoding.undeclared |= (high ? HAS_UTF8 : 0) | (count_high(text.bytes, text.length) > high ? HAS_REPLACED : 0);
  if (r->encoding.undeclared & HAS_UTF8 && r->encoding.undeclared & (HAS_OTHER | HAS_REPLACED)) refuse_undeclared(r);
}

void hp_rewriter_declare_encoding(hpar_rewriter *r, const hp_encoding *encoding) {
  uint8_t same = HAS_REPLACED;
  if (encoding->kind == HP_ENCODING_UTF8) same |= HAS_UTF8;
  if (encoding == &hp_windows1252) same |= HAS_OTHER;
  if (!hp_encoding_has_bracket_trails(encoding)) same |= HAS_SECTION;
  if (r->encoding.undeclared & ~same) refuse_undeclared(r);
  hp_rewriter_use_encoding(r, encoding, true);
}

static inline void confirm_bytes(hpar_rewriter *r, const char *bytes, size_t length, hp_name text) {
  if (!r->encoding.used && r->running.confirms && !hp_is_ascii(text.bytes, text.length))
    note_undeclared(r, bytes, length, text);
}

static hp_atom read_name(hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  size_t length = (size_t)(s->event.to - s->event.from);
  hp_atom atom = find_short_name(s);
  if (atom) return atom;
  hp_name name = hp_lower_name(s->event.from, length, r->encoding.used, &r->scratch);
  confirm_bytes(r, s->event.from, length, name);
  return s->is_end_tag ? hp_names_find(&r->names, name.bytes, name.length)
                       : hp_names_add(&r->names, name.bytes, name.length);
}

static void take_name(hpar_rewriter *r, hp_atom atom) {
  hp_scanner *s = &r->scanner;
  hp_rewriter_end_text(r, s->token_start);
  r->token.name_length = (uint32_t)(s->event.to - s->event.from);
  r->token.tag = (hp_outline_tag){.is_end = s->is_end_tag, .name = atom};
  r->token.has_spans = false;
  bool reads = !s->is_end_tag && (outline_reads(r, atom) || hp_matching_reads_tag(&r->matching, atom));
  s->captures.token = reads || r->ends.open || r->running.ends || r->window.keeps_tags;
  r->token.has_spans = reads;
}

/* Sums two hashes of each attribute, so that their order has no effect. */
static void hash_attributes(hpar_rewriter *r, hp_outline_tag *tag) {
  uint64_t sums[2] = {0, 0};
  const uint64_t key = UINT64_C(0xD6E8FEB86659FD93);
  for (uint32_t i = 0; i < r->token.spans.count; i++) {
    const hp_span *span = &r->token.spans.items[i];
    if (span->is_duplicate) continue;
    hp_name name = hp_span_name(&r->token.spans, span, &r->scratch);
    hp_name value = hp_span_value(&r->token.spans, span, r->encoding.used, &r->scratch);
    confirm_bytes(r, r->token.spans.tag + span->name, span->name_end - span->name, name);
    confirm_bytes(r, r->token.spans.tag + span->value, span->value_end - span->value, value);
    sums[0] += hp_hash_bytes(hp_hash_bytes(key, name.bytes, name.length), value.bytes, value.length);
    sums[1] += hp_hash_bytes(hp_hash_bytes(~key, value.bytes, value.length), name.bytes, name.length);
    tag->has_attributes = true;
  }
  for (int i = 0; i < 4; i++) tag->hash[i] = (uint32_t)(sums[i / 2] >> 32 * (i % 2));
}

static bool has_value(hpar_rewriter *r, const char *name, const char *wanted) {
  const hp_span *span = hp_spans_find(&r->token.spans, name, strlen(name), &r->scratch);
  if (!span) return false;
  hp_name value = hp_span_value(&r->token.spans, span, r->encoding.used, &r->scratch);
  return value.length == strlen(wanted) && hp_ascii_equal(value.bytes, wanted, value.length);
}

static void read_attributes(hpar_rewriter *r) {
  hp_outline_tag *tag = &r->token.tag;
  hp_spans_begin(&r->token.spans, r->scanner.event.from, r->scanner.event.to, 1 + r->token.name_length, r->scanner.end,
                 r->encoding.used);
  if (!outline_reads(r, tag->name)) return;
  hp_spans_complete(&r->token.spans, &r->scratch);
  if (!r->token.spans.count) return;
  if (tag->name == HP_ATOM_INPUT) tag->is_hidden = has_value(r, "type", "hidden");
  if (tag->name == HP_ATOM_ANNOTATION_XML)
    tag->html_integration = has_value(r, "encoding", "text/html") || has_value(r, "encoding", "application/xhtml+xml");
  if (tag->name == HP_ATOM_FONT)
    tag->breaks_out = hp_spans_find(&r->token.spans, "color", 5, &r->scratch) ||
                      hp_spans_find(&r->token.spans, "face", 4, &r->scratch) ||
                      hp_spans_find(&r->token.spans, "size", 4, &r->scratch);
  if (tag->name != HP_ATOM_A && (hp_html_tag(tag->name) & HP_TAG_FORMATTING)) hash_attributes(r, tag);
}

/* body and html end at the first end tag that leaves their mode. */
static void end_body(hpar_rewriter *r, uint8_t mode) {
  const hp_builder *b = &r->outline.builder;
  if (!r->ends.open || b->mode == mode || (r->token.tag.name != HP_ATOM_BODY && r->token.tag.name != HP_ATOM_HTML))
    return;
  bool ends_html = b->mode == HP_AFTER_AFTER_BODY || b->mode == HP_AFTER_AFTER_FRAMESET;
  if (!ends_html && b->mode != HP_AFTER_BODY) return;
  if (b->stack.depth >= 2 && b->stack.entries[2].node) hp_rewriter_end_at_tag(r, b->stack.entries[2].node);
  if (ends_html && b->stack.depth >= 1) hp_rewriter_end_at_tag(r, b->stack.entries[1].node);
}

static void sweep_names(hpar_rewriter *r) {
  const hp_builder *b = &r->outline.builder;
  hp_names_mark(&r->names, b->fragment.context.name);
  for (uint32_t i = 1; i <= b->stack.depth; i++) hp_names_mark(&r->names, b->stack.entries[i].name);
  for (uint32_t i = 1; i < r->matching.types.count; i++)
    hp_names_mark(&r->names, (hp_atom)r->matching.types.counters[i].type);
  hp_names_sweep(&r->names, b->stack.depth);
}

/* Returns true if the raw text that begins here loses its tags. */
static bool loses_tags(hpar_rewriter *r) {
  const hp_builder *b = &r->outline.builder;
  const uint32_t index = hp_outline_node(&r->outline, b->stack.top->node)->previous;
  if (!index || !(r->ends.items[index].ending.unwraps || r->ends.items[index].ending.renames)) return false;
  /* a plaintext stays open */
  if (hp_speculates(r) && b->mode != HP_IN_TEXT) hp_speculation_give_up(r);
  return true;
}

static __attribute__((noinline)) void set_content(hpar_rewriter *r, hp_text_state content) {
  hp_scanner_set_content(&r->scanner, content, r->token.tag.name);
  r->text.is_escaped = content != HP_TEXT_STATE_DATA && !r->token.tag.is_end && loses_tags(r);
}

static inline __attribute__((always_inline)) void update_content(hpar_rewriter *r) {
  hp_text_state content = hp_outline_content(&r->outline);
  if (content != HP_TEXT_STATE_DATA || r->scanner.content != HP_TEXT_STATE_DATA) set_content(r, content);
  hp_rewriter_set_captures(r);
}

/* Returns whether the rewriter passes the input on after the next tag. */
static bool is_done(const hpar_rewriter *r) {
  return !r->running.active && !r->options.filter && !r->ends.open && !r->running.texts && !r->running.comments;
}

static void apply_many(hpar_rewriter *r) {
  enum { MANY = 6 };
  if (r->edits.count < MANY && r->edits.text.length < HP_SINK_BYTES) return;
  hp_rewriter_flush(r, r->token.end);
}

/* A filter drops a start tag that the parser ignores: after edits, or in the page around a
 * fragment, it could have an effect. An html or body that only ends svg or changes the mode of a
 * template loses its attributes, also if edits have made the tag. */
static __attribute__((noinline)) void drop_ignored_tag(hpar_rewriter *r, uint8_t mode) {
  const hp_current_token *t = &r->token;
  if (t->tag.is_end || t->opens) return;
  if (!t->closes && r->outline.builder.mode == mode && !r->running.confirms) {
    hp_rewriter_separate(r, t->start, NULL);
    hp_rewriter_drop(r, t->start, t->end);
  } else if (t->tag.name == HP_ATOM_HTML || t->tag.name == HP_ATOM_BODY) {
    hp_rewriter_drop(r, t->start + 1 + t->name_length, t->end - 1);
  }
}

static void take_tag(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  r->token.start = s->token_start;
  r->token.end = hp_scanner_position(s, s->event.to);
  if (!r->token.is_halved) hp_edits_mark(&r->edits, r->token.start);
  r->token.tag.self_closing = s->self_closing;
  r->stats.tags++;
  if (!r->token.tag.is_end) r->token.inserted_to = r->token.end;
  if (r->token.has_spans) read_attributes(r);
  hp_matcher_ignore_case(&r->matching.matcher, r->options.quirks && hp_outline_quirks(&r->outline) == HPAR_QUIRKS);
  uint8_t mode = r->outline.builder.mode;
  if (hp_speculates(r) && hp_speculation_defers_tag(r)) return;
  r->token.is_tag = true;
  r->token.opens = r->token.closes = r->token.is_edited = false;
  hp_outline_take_tag(&r->outline, &r->token.tag);
  if (hp_speculates(r) && !hp_speculation_take_tag(r)) return;
  r->outline.builder.flags.prepared = false;
  if (r->token.tag.is_end) end_body(r, mode);
  if (r->options.filter || r->running.confirms) drop_ignored_tag(r, mode);
  r->token.is_tag = false;
  for (; r->ends.unmute_after_tag; r->ends.unmute_after_tag--) hp_edits_unmute(&r->edits, r->token.end, &r->unwind);
  hp_rewriter_insert(r, r->token.end, &r->ends.after_tag);
  r->ends.after_tag.length = 0;
  update_content(r);
  hp_scratch_clear(&r->scratch);
  if (hp_names_are_many(&r->names)) sweep_names(r);
  note_depth(r, r->outline.builder.stack.depth);
  hp_edits_mark(&r->edits, r->token.end);
  if (r->progress.deadline && r->stats.tags % 64 == 0 && hp_now() >= r->progress.deadline)
    hp_rewriter_fail(r, HPAR_LIMIT_TIME, NULL);
  apply_many(r);
  if (!is_done(r)) return;
  r->progress.phase = HP_PHASE_PASSES;
  r->stats.retired = true;
}

/*** the loop ***/

/* Returns true if the loop must not process the next token. */
static inline bool is_over(hpar_rewriter *r) {
  if (r->sink.status != HPAR_OK || r->progress.phase != HP_PHASE_RUNS) return true;
  if (!r->window.limit) return false;
  return hp_speculates(r) ? !hp_speculation_goes_on(r) : r->scanner.at >= r->window.limit;
}

static inline bool is_long(const hpar_rewriter *r, const char *to) {
  uint64_t length = hp_scanner_position(&r->scanner, to) - r->scanner.token_start;
  return __builtin_expect(length > r->options.max_token, 0);
}

/* Fails because of a token above max_token. The place of the failure, which is the beginning of the
 * token, does not depend on the division of the input. */
static __attribute__((cold)) void refuse_token(hpar_rewriter *r) {
  const uint64_t start = r->scanner.token_start;
  if (hp_speculates(r)) {
    hp_speculation_give_up(r);
    return;
  }
  hp_edits_mark(&r->edits, r->text.is_open && r->running.texts && r->text.start < start ? r->text.start : start);
  hp_rewriter_fail(r, HPAR_LIMIT_MEMORY, "a tag, comment or doctype is longer than hpar_rewrite_options.max_token");
}

/* The same if the window keeps the token. A worker does not know whether it does: an element around
 * the chunk may decide that. */
static __attribute__((cold)) void refuse_kept_token(hpar_rewriter *r) {
  if (r->scanner.captures.token || hp_speculates(r)) refuse_token(r);
}

/* Processes text and plain tags that no rule concerns. Returns true if a start tag follows that is
 * complete and has a common name, and processes it, too. With `may_be_long`, a token of the window
 * may be longer than max_token: the loop then sees so many bytes at once. */
static bool run_fast(hpar_rewriter *r, bool may_be_long) {
  enum { DEADLINE_BYTES = 64 << 10 };
  hp_scanner *s = &r->scanner;
  const hp_outline_fast fast = {r->rules->starts, r->rules->needs_frames};
  const char *end = s->end, *limit = r->window.limit ? r->window.limit : end;
  if (__builtin_expect(may_be_long, 0) && (size_t)(end - s->at) > r->options.max_token) {
    end = s->at + r->options.max_token;
    if (limit > end) limit = end;
  }
  if (r->running.texts || !r->rules->skips_tags || !hp_scanner_is_in_data(s) || is_done(r)) return false;
  if (r->progress.deadline && limit - s->at > DEADLINE_BYTES) limit = s->at + DEADLINE_BYTES;
  hp_outline_run run = hp_outline_run_fast(&r->outline, &fast, s->at, limit, end);
  if (run.at > s->at) {
    s->at = run.at;
    r->text.is_open = false;
    r->stats.tags += run.tags;
    if (run.highest > r->stats.depth) note_depth(r, run.highest);
    hp_edits_mark(&r->edits, hp_scanner_position(s, s->at));
    if (hp_speculates(r)) hp_speculation_run(r);
    if (r->progress.deadline && hp_now() >= r->progress.deadline) hp_rewriter_fail(r, HPAR_LIMIT_TIME, NULL);
  }
  if (!run.name || !hp_scanner_begin_tag(s, run.length)) return false;
  if (may_be_long && (size_t)(s->event.data_to - s->at) > r->options.max_token) return false;
  take_name(r, run.name);
  hp_scanner_finish_tag(s);
  take_tag(r);
  return true;
}

void hp_rewriter_check_unfinished(hpar_rewriter *r) {
  if (hp_scanner_keeps_token(&r->scanner) && is_long(r, r->scanner.end)) refuse_token(r);
}

void hp_rewriter_scan(hpar_rewriter *r) {
  hp_scanner *s = &r->scanner;
  /* The window has each kept token from its beginning. */
  const bool may_be_long = (size_t)(s->end - s->begin) > r->options.max_token;
  for (;;) {
    while (run_fast(r, may_be_long))
      if (is_over(r)) return;
    if (r->window.limit && s->at >= r->window.limit && is_over(r)) return;
    const hp_scan_event event = hp_scanner_next(s);
    const bool is_too_long = may_be_long && event >= HP_SCAN_NAME && is_long(r, s->event.to);
    if (is_too_long && event == HP_SCAN_NAME) refuse_token(r); /* the window keeps names */
    if (is_too_long && event > HP_SCAN_NAME) refuse_kept_token(r);
    switch (event) {
      case HP_SCAN_NEEDS_INPUT: return;
      case HP_SCAN_TEXT:
        if (!take_text(r)) return;
        break;
      case HP_SCAN_MARKER: begin_text(r, hp_scanner_position(s, s->event.from)); break;
      case HP_SCAN_NAME: take_name(r, read_name(r)); break;
      case HP_SCAN_TAG: take_tag(r); break;
      case HP_SCAN_COMMENT: take_comment(r); break;
      case HP_SCAN_DOCTYPE:
        take_doctype(r);
        update_content(r);
        break;
    }
    if (is_over(r)) return;
  }
}

const char hp_solidus_closer[] = ">&lt;/";

bool hp_rewriter_is_after_solidus(const hpar_rewriter *r, uint64_t position) {
  const hp_scanner *s = &r->scanner;
  if (!s->last || position != hp_scanner_position(s, s->end)) return false;
  return s->end - s->begin >= 2 && !memcmp(s->end - 2, "</", 2);
}

/* Returns what keeps content at the end of the input out of what is open there; NULL: nothing. */
static const char *find_closer(const hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  if (hp_scanner_is_in_section(s)) return s->lead && hp_encoding_takes_bracket(s->wide, s->lead) ? "]]]>" : "]]>";
  if (s->comment.closer || s->content != HP_TEXT_STATE_DATA || hp_scanner_is_in_tag(s)) return s->comment.closer;
  /* "</" is text here, unless it is a removed comment's. */
  const uint64_t end = hp_scanner_position(s, s->end);
  return r->token.end < end && hp_rewriter_is_after_solidus(r, end) ? hp_solidus_closer : NULL;
}

void hp_rewriter_end(hpar_rewriter *r) {
  const hp_scanner *s = &r->scanner;
  const char *closer = r->edits.mute_depth ? NULL : find_closer(r);
  uint64_t end = hp_scanner_position(s, s->end);
  if (hp_scanner_is_in_tag(s) && hp_scanner_retained(s) <= s->token_start) end = s->token_start;
  const bool had_text = r->text.is_open;
  hp_rewriter_end_text(r, end);
  if (closer == hp_solidus_closer && had_text && r->text.changed_end) closer = NULL;
  r->token.closer = closer;
  r->token.start = r->token.end = end;
  r->token.at_end = true;
  hp_outline_take_end(&r->outline);
  hp_rewriter_deliver_end(r);
  if (!r->options.filter) return;
  /* What follows the output on the way to a browser must not complete a comment or a tag. */
  if (r->token.closer) hp_edits_insert(&r->edits, end, r->token.closer, strlen(r->token.closer), &r->unwind);
  hp_rewriter_drop(r, end, r->window.received);
}
