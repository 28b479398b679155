#include "rewrite/scan.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "text/encoding/encoding.h"
#include "text/references/references.h"
#include "text/scan/scan.h"
#include "tokenizer/parts.h"

#include <string.h>

/*** raw text ***/

/* Raw text: text without tags, up to its end tag. In a script, comments hide end tags. */

typedef enum script_state { SCRIPT_PLAIN, SCRIPT_ESCAPED, SCRIPT_DOUBLE_ESCAPED } script_state;

typedef enum answer { NO, YES, UNDECIDED } answer;

/* Returns whether the bytes at `at` are this lower-case word, in any case, and a byte that ends a
 * tag name. */
static answer is_word(const hp_scanner *s, const char *at, const char *word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (at + i == s->end) return UNDECIDED;
    if ((at[i] | 0x20) != word[i] || !hp_ascii_is_letter(at[i])) return NO;
  }
  if (at + length == s->end) return UNDECIDED;
  return hp_class(at[length]) & HP_BYTE_TAG_STOP ? YES : NO;
}

static answer is_appropriate_end(const hp_scanner *s, const char *at) {
  const hp_known_name *name = &hp_known_names[s->raw_name];
  if (!s->raw_name) return NO;
  if (at + 1 == s->end) return UNDECIDED;
  return at[1] == '/' ? is_word(s, at + 2, name->bytes, name->length) : NO;
}

static answer begins_comment(const hp_scanner *s, const char *at) {
  for (int i = 1; i < 4; i++) {
    if (at + i == s->end) return UNDECIDED;
    if (at[i] != "<!--"[i]) return NO;
  }
  return YES;
}

/* Takes the "<" at `at` in a script into account. Returns UNDECIDED, YES if the end tag is there,
 * or NO; `*next` is then where the text continues. */
static answer take_less_than(hp_scanner *s, const char *at, const char **next) {
  static const char script[] = "script";
  const bool is_escaped = s->script == SCRIPT_ESCAPED;
  answer found = s->script == SCRIPT_DOUBLE_ESCAPED ? NO : is_appropriate_end(s, at);
  *next = at + 1;
  if (found != NO) return found;
  if (s->script == SCRIPT_PLAIN) {
    found = begins_comment(s, at);
    if (found != YES) return found;
    s->script = SCRIPT_ESCAPED;
    s->dashes = 2;
    *next = at + 4;
    return NO;
  }
  /* What changes the state here: "<script", or "</script" after that. */
  if (is_escaped)
    found = is_word(s, at + 1, script, 6);
  else if (at + 1 == s->end)
    found = UNDECIDED;
  else if (at[1] == '/')
    found = is_word(s, at + 2, script, 6);
  if (found == UNDECIDED) return UNDECIDED;
  s->dashes = 0;
  if (found == NO) return NO;
  s->script = is_escaped ? SCRIPT_DOUBLE_ESCAPED : SCRIPT_ESCAPED;
  *next = at + (is_escaped ? 8 : 9);
  return NO;
}

/* Returns the next byte from `at` on that matters, and counts dashes before it. */
static const char *skip_script(hp_scanner *s, const char *at) {
  if (s->script == SCRIPT_PLAIN) return s->kernels->byte(at, s->end, '<');
  for (; at < s->end && *at != '<'; at++) {
    if (*at == '-') {
      if (s->dashes < 2) s->dashes++;
    } else {
      if (*at == '>' && s->dashes == 2) {
        s->script = SCRIPT_PLAIN;
        return s->kernels->byte(at + 1, s->end, '<');
      }
      s->dashes = 0;
    }
  }
  return at;
}

/* Reads raw text up to its end tag, or to the end of the window. Returns HP_SCAN_TEXT, or
 * HP_SCAN_NAME if the end tag is at the place: `at` is at its "<" then. */
static hp_scan_event scan_raw_text(hp_scanner *s) {
  const char *at = s->at;
  bool script = s->content == HP_TEXT_STATE_SCRIPT_DATA;
  s->event.from = at;
  for (;;) {
    at = script ? skip_script(s, at) : s->kernels->byte(at, s->end, '<');
    if (at == s->end) break;
    const char *next = at + 1;
    answer found = script ? take_less_than(s, at, &next) : is_appropriate_end(s, at);
    if (found == YES || (found == UNDECIDED && !s->last)) break;
    if (found == UNDECIDED) next = at + 1;
    at = next;
  }
  s->event.to = s->at = at;
  if (at > s->event.from) return HP_SCAN_TEXT;
  return at < s->end && is_appropriate_end(s, at) == YES ? HP_SCAN_NAME : HP_SCAN_NEEDS_INPUT;
}

/*** the scanner ***/

/* The states of the standard inside a tag. */
typedef enum tag_state {
  BEFORE_ATTRIBUTE,
  IN_ATTRIBUTE,
  AFTER_ATTRIBUTE,
  BEFORE_VALUE,
  IN_DOUBLE_QUOTES,
  IN_SINGLE_QUOTES,
  IN_UNQUOTED,
  AFTER_QUOTES,
  AFTER_SOLIDUS
} tag_state;

void hp_scanner_open(hp_scanner *s) {
  *s = (hp_scanner){.begin = "", .at = "", .end = "", .kernels = hp_scan(), .comment.kind = 0};
  s->content = HP_TEXT_STATE_DATA;
}

void hp_scanner_set_content(hp_scanner *s, hp_text_state content, hp_atom raw_name) {
  s->content = content;
  s->raw_name = raw_name;
  s->script = s->dashes = 0;
}

bool hp_scanner_keeps_token(const hp_scanner *s) {
  return s->state == HP_SCAN_IN_NAME || (s->state > HP_SCAN_IN_NAME && s->captures.token);
}

uint64_t hp_scanner_retained(const hp_scanner *s) {
  return hp_scanner_keeps_token(s) ? s->token_start : hp_scanner_position(s, s->at);
}

bool hp_scanner_is_in_tag(const hp_scanner *s) { return s->state == HP_SCAN_IN_NAME || s->state == HP_SCAN_IN_TAG; }

static hp_scan_event emit(hp_scanner *s, hp_scan_event event, const char *from, const char *to) {
  s->event.from = from;
  s->event.to = s->at = to;
  return event;
}

static const char *token_begin(const hp_scanner *s) { return s->begin + (s->token_start - s->position); }

/* Completes the token that ends before `to`. */
static hp_scan_event end_token(hp_scanner *s, hp_scan_event event, const char *to) {
  s->state = HP_SCAN_IN_TEXT;
  return emit(s, event, s->captures.token ? token_begin(s) : to, to);
}

/*** tags ***/

static tag_state after_name(char c) {
  if (c == '/') return AFTER_SOLIDUS;
  return c == '=' ? BEFORE_VALUE : AFTER_ATTRIBUTE;
}

/* Begins an attribute at `c`, which is neither white nor ">". */
static tag_state begin_attribute(char c) { return c == '/' ? AFTER_SOLIDUS : IN_ATTRIBUTE; }

/* Returns the state after `c`, which does not end the tag. */
static tag_state next_state(tag_state state, char c) {
  switch (state) {
    case BEFORE_ATTRIBUTE:
    case AFTER_SOLIDUS:
    case AFTER_QUOTES: return hp_ascii_is_white(c) ? BEFORE_ATTRIBUTE : begin_attribute(c);
    case IN_ATTRIBUTE: return hp_class(c) & HP_BYTE_NAME_STOP ? after_name(c) : IN_ATTRIBUTE;
    case AFTER_ATTRIBUTE:
      if (hp_ascii_is_white(c)) return AFTER_ATTRIBUTE;
      return c == '=' ? BEFORE_VALUE : begin_attribute(c);
    case BEFORE_VALUE:
      if (hp_ascii_is_white(c)) return BEFORE_VALUE;
      if (c == '"') return IN_DOUBLE_QUOTES;
      return c == '\'' ? IN_SINGLE_QUOTES : IN_UNQUOTED;
    default: return hp_ascii_is_white(c) ? BEFORE_ATTRIBUTE : IN_UNQUOTED;
  }
}

static hp_scan_event scan_tag(hp_scanner *s) {
  const char *at = s->at, *end = s->end;
  tag_state state = s->tag_state;
  if (state == BEFORE_ATTRIBUTE) {
    const char *close = s->kernels->tag_end(at, end, &s->self_closing);
    if (close < end) return end_token(s, HP_SCAN_TAG, close + 1);
  }
  for (;;) {
    if (state == IN_DOUBLE_QUOTES || state == IN_SINGLE_QUOTES) {
      at = s->kernels->byte(at, end, state == IN_DOUBLE_QUOTES ? '"' : '\'');
      if (at == end) break;
      at++;
      state = AFTER_QUOTES;
    }
    if (at == end) break;
    if (state == IN_ATTRIBUTE)
      while (at < end && !(hp_class(*at) & HP_BYTE_NAME_STOP)) at++;
    else if (state == IN_UNQUOTED)
      while (at < end && !hp_ascii_is_white(*at) && *at != '>') at++;
    if (at == end) break;
    char c = *at++;
    if (c == '>') {
      s->self_closing = state == AFTER_SOLIDUS;
      return end_token(s, HP_SCAN_TAG, at);
    }
    state = next_state(state, c);
  }
  s->tag_state = (uint8_t)state;
  s->at = at;
  return HP_SCAN_NEEDS_INPUT;
}

static hp_scan_event scan_name(hp_scanner *s) {
  const char *at = s->at, *end = s->end;
  if (end - at >= 16) at += probe_tag_name(at);
  while (at < end && !(hp_class(*at) & HP_BYTE_TAG_STOP)) at++;
  s->at = at;
  if (at == end) return HP_SCAN_NEEDS_INPUT;
  s->state = HP_SCAN_IN_TAG;
  s->tag_state = BEFORE_ATTRIBUTE;
  s->captures.token = false;
  return emit(s, HP_SCAN_NAME, token_begin(s) + 1 + s->is_end_tag, at);
}

static hp_scan_event begin_tag(hp_scanner *s, const char *at, bool is_end) {
  s->state = HP_SCAN_IN_NAME;
  s->is_end_tag = is_end;
  s->token_start = hp_scanner_position(s, at);
  s->at = at + 1 + is_end;
  return scan_name(s);
}

bool hp_scanner_begin_tag(hp_scanner *s, uint32_t length) {
  const char *name = s->at + 1, *close = s->kernels->tag_end(name + length, s->end, &s->self_closing);
  if (close == s->end) return false;
  s->is_end_tag = s->captures.token = false;
  s->token_start = hp_scanner_position(s, s->at);
  s->event.from = name;
  s->event.to = name + length;
  s->event.data_to = close + 1;
  return true;
}

void hp_scanner_finish_tag(hp_scanner *s) {
  s->event.from = s->at;
  s->event.to = s->at = s->event.data_to;
}

/*** comments and declarations ***/

/* Remembers the last bytes of [from, to). */
static void note_tail(hp_scanner *s, const char *from, const char *to) {
  for (const char *p = to - from > 3 ? to - 3 : from; p < to; p++) {
    if (s->comment.length == 3) memmove(s->comment.tail, s->comment.tail + 1, 2);
    s->comment.tail[s->comment.length == 3 ? 2 : s->comment.length] = *p;
    if (s->comment.length < 3) s->comment.length++;
  }
}

/* Returns the length of the end before ">", or -1 if the comment continues. */
static int comment_end(const hp_scanner *s) {
  const char *tail = s->comment.tail;
  unsigned n = s->comment.length;
  if (n >= 2 && tail[n - 1] == '-' && tail[n - 2] == '-') return 2;
  if (n == 3 && tail[2] == '!' && tail[1] == '-' && tail[0] == '-') return 3;
  if (n == 0) return 0;
  return n == 1 && tail[0] == '-' ? 1 : -1;
}

//§ comment-state
static hp_scan_event scan_comment(hp_scanner *s) {
  const char *at = s->at;
  for (;;) {
    const char *stop = s->kernels->byte(at, s->end, '>');
    note_tail(s, at, stop);
    if (stop == s->end) break;
    int end = comment_end(s);
    if (end >= 0) {
      s->event.data_to = stop - end;
      s->event.data_from = s->captures.token ? token_begin(s) + 4 : s->event.data_to;
      return end_token(s, HP_SCAN_COMMENT, stop + 1);
    }
    note_tail(s, stop, stop + 1);
    at = stop + 1;
  }
  s->at = s->end;
  if (!s->last) return HP_SCAN_NEEDS_INPUT;
  s->comment.closer = "-->";
  s->event.data_to = s->end;
  s->event.data_from = s->captures.token ? token_begin(s) + 4 : s->end;
  return end_token(s, HP_SCAN_COMMENT, s->end);
}

static hp_scan_event scan_declaration(hp_scanner *s) {
  const char *stop = s->kernels->byte(s->at, s->end, '>');
  s->at = stop;
  if (stop == s->end && !s->last) return HP_SCAN_NEEDS_INPUT;
  if (stop == s->end) s->comment.closer = ">";
  s->event.data_to = stop;
  s->event.data_from = s->captures.token ? token_begin(s) + s->comment.kind : stop;
  return end_token(s, s->state == HP_SCAN_IN_DOCTYPE ? HP_SCAN_DOCTYPE : HP_SCAN_COMMENT, stop + (stop < s->end));
}

/* Begins a comment or a declaration at `at`, whose data begins `skip` bytes later. */
static hp_scan_event begin_declaration(hp_scanner *s, const char *at, hp_scan_state state, unsigned skip) {
  s->state = (uint8_t)state;
  s->token_start = hp_scanner_position(s, at);
  s->captures.token = state == HP_SCAN_IN_DOCTYPE ? s->captures.doctypes : s->captures.comments;
  s->comment.length = 0;
  s->comment.kind = (uint8_t)skip;
  s->at = at + skip;
  return state == HP_SCAN_IN_COMMENT ? scan_comment(s) : scan_declaration(s);
}

/* Returns how many bytes of the word are at `at`. Letters of the word match in any case. */
static size_t common(const hp_scanner *s, const char *at, const char *word, size_t length) {
  size_t n = 0;
  for (; n < length && at + n < s->end; n++) {
    bool letter = word[n] >= 'a' && word[n] <= 'z';
    if ((letter ? at[n] | 0x20 : at[n]) != word[n]) break;
  }
  return n;
}

//§ markup-declaration-open-state
static hp_scan_event begin_markup(hp_scanner *s, const char *at) {
  size_t left = (size_t)(s->end - at);
  if (common(s, at, "<!--", 4) == 4) return begin_declaration(s, at, HP_SCAN_IN_COMMENT, 4);
  if (common(s, at, "<!doctype", 9) == 9) return begin_declaration(s, at, HP_SCAN_IN_DOCTYPE, 9);
  if (common(s, at, "<![CDATA[", 9) == 9) {
    if (!s->takes_cdata || !s->takes_cdata(s->cdata_context))
      return begin_declaration(s, at, HP_SCAN_IN_DECLARATION, 2);
    s->state = HP_SCAN_IN_SECTION;
    s->lead = 0;
    return emit(s, HP_SCAN_MARKER, at, at + 9);
  }
  bool undecided = common(s, at, "<!--", 4) == left || common(s, at, "<!doctype", 9) == left ||
                   common(s, at, "<![CDATA[", 9) == left;
  if (undecided && !s->last) {
    s->at = at;
    return HP_SCAN_NEEDS_INPUT;
  }
  return begin_declaration(s, at, HP_SCAN_IN_DECLARATION, 2);
}

hp_scanner hp_scanner_look_ahead(const hp_scanner *s, const char *at) {
  hp_scanner ahead = *s;
  ahead.at = at;
  ahead.state = HP_SCAN_IN_TEXT;
  ahead.content = HP_TEXT_STATE_DATA;
  ahead.takes_cdata = NULL;
  ahead.captures = (hp_scan_captures){0};
  return ahead;
}

bool hp_scanner_begins_markup(const hp_scanner *s, const char *at) {
  const size_t left = (size_t)(s->end - at);
  if (left < 3 || *at != '<') return false;
  if (at[1] == '/') return hp_ascii_is_letter(at[2]);
  return hp_ascii_is_letter(at[1]) || common(s, at, "<!--", 4) == 4 || common(s, at, "<!doctype", 9) == 9;
}

//§ cdata-section-state
//§ cdata-section-bracket-state
/* Keeps brackets at the end of the window: they may belong to the end of the section. */
static hp_scan_event scan_section(hp_scanner *s) {
  const char *from = s->at, *at = from;
  unsigned brackets = 0;
  for (; at < s->end; at++) {
    const unsigned char lead = s->lead, byte = (unsigned char)*at;
    s->lead = 0;
    if (lead && (byte >= 0x80 || (byte == ']' && hp_encoding_takes_bracket(s->wide, lead)))) continue;
    if (byte == ']') {
      if (brackets < 2) brackets++;
      continue;
    }
    if (byte == '>' && brackets == 2) {
      if (at - 2 > from) return emit(s, HP_SCAN_TEXT, from, at - 2);
      s->state = HP_SCAN_IN_TEXT;
      return emit(s, HP_SCAN_MARKER, from, at + 1);
    }
    brackets = 0;
    if (byte >= 0x80 && s->wide && hp_encoding_is_lead(s->wide, byte)) s->lead = byte;
  }
  if (!s->last) at -= brackets;
  return at == from ? HP_SCAN_NEEDS_INPUT : emit(s, HP_SCAN_TEXT, from, at);
}

/*** the data state ***/

/* Reads what begins with the "<" at `at`. Returns HP_SCAN_TEXT if it is a character. */
//§ tag-open-state
static hp_scan_event scan_markup(hp_scanner *s, const char *at) {
  size_t left = (size_t)(s->end - at);
  s->at = at;
  if (left > 1) {
    if (hp_ascii_is_letter(at[1])) return begin_tag(s, at, false);
    if (at[1] == '!') return begin_markup(s, at);
    if (at[1] == '?') return begin_declaration(s, at, HP_SCAN_IN_DECLARATION, 1);
    if (at[1] != '/') return emit(s, HP_SCAN_TEXT, at, at + 1);
  }
  //§ end-tag-open-state
  if (left > 2) {
    s->ends_raw_text = false;
    if (hp_ascii_is_letter(at[2])) return begin_tag(s, at, true);
    if (at[2] == '>') return emit(s, HP_SCAN_MARKER, at, at + 3);
    return begin_declaration(s, at, HP_SCAN_IN_DECLARATION, 2);
  }
  return s->last ? emit(s, HP_SCAN_TEXT, at, s->end) : HP_SCAN_NEEDS_INPUT;
}

static hp_scan_event scan_text(hp_scanner *s) {
  const char *at = s->at;
  if (at == s->end) return HP_SCAN_NEEDS_INPUT;
  if (s->content == HP_TEXT_STATE_PLAINTEXT) return emit(s, HP_SCAN_TEXT, at, s->end);
  if (s->content != HP_TEXT_STATE_DATA) {
    hp_scan_event event = scan_raw_text(s);
    if (event != HP_SCAN_NAME) return event;
    s->content = HP_TEXT_STATE_DATA;
    s->ends_raw_text = true;
    return begin_tag(s, s->at, true);
  }
  if (*at == '<') return scan_markup(s, at);
  return emit(s, HP_SCAN_TEXT, at, s->kernels->byte(at, s->end, '<'));
}

hp_scan_event hp_scanner_next(hp_scanner *s) {
  switch ((hp_scan_state)s->state) {
    case HP_SCAN_IN_TEXT: return scan_text(s);
    case HP_SCAN_IN_SECTION: return scan_section(s);
    case HP_SCAN_IN_NAME: return scan_name(s);
    case HP_SCAN_IN_TAG: return scan_tag(s);
    case HP_SCAN_IN_COMMENT: return scan_comment(s);
    case HP_SCAN_IN_DECLARATION:
    case HP_SCAN_IN_DOCTYPE: return scan_declaration(s);
  }
  return HP_SCAN_NEEDS_INPUT;
}

/*** attributes ***/

/* Returns the end of the attribute name around `p`. Clears `is_short` unless less than 16 bytes of
 * the name follow, without controls. */
static HP_INLINE const char *find_name_end(const char *p, const char *readable, bool *is_short) {
  unsigned n = readable - p >= 16 ? probe_attribute_end(p) : 16;
  p += n & 15;
  if (n < 16 && hp_class(*p) & HP_BYTE_NAME_STOP) return p;
  *is_short = false;
  while (!(hp_class(*p) & HP_BYTE_NAME_STOP)) p++;
  return p;
}

/* Returns the quote that ends the value at `p`. */
static HP_INLINE const char *find_quote(const char *p, const char *end, const char *readable, char quote) {
  if (readable - p >= 32) {
    unsigned n = probe_byte(p, quote);
    if (n == 16) n += probe_byte(p + 16, quote);
    p += n;
    if (n < 32) return p;
  }
  return memchr(p, quote, (size_t)(end - p));
}

/* Returns true if one of the 16 bytes is beyond ASCII. */
static HP_INLINE bool has_high(const char *at) {
#if defined(__SSE2__)
  return _mm_movemask_epi8(sixteen(at)) != 0;
#else
  return !hp_is_ascii(at, 16);
#endif
}

static __attribute__((noinline, cold)) uint8_t find_bit(const char *name, size_t length) {
  return !hp_is_ascii(name, length) || memchr(name, 0, length) ? HP_ODD_NAME_BIT : hp_attribute_bit(name, length);
}

/* Reads the attribute that begins at `name`, by the states of the standard. Returns its end.
 * Requires: `name` is neither white, "/" nor ">". */
static HP_INLINE const char *read_span(hp_span *span, const char *tag, const char *name, const char *end,
                                       const char *readable) {
  bool is_short = (signed char)*name > ' ';
  const char *name_end = find_name_end(name + 1, readable, &is_short), *value = name_end, *stop;
  const uint32_t from = (uint32_t)(name - tag), to = (uint32_t)(name_end - tag);
  uint8_t bit = hp_attribute_bit(name, to - from);
  if (!is_short || has_high(name + 1)) bit = find_bit(name, to - from);
  while (hp_ascii_is_white(*value)) value++;
  if (*value != '=') {
    *span = (hp_span){from, to, 0, 0, to, 0, bit, is_short, false, false};
    return name_end;
  }
  do value++;
  while (hp_ascii_is_white(*value));
  char quote = *value;
  if (quote == '"' || quote == '\'') {
    stop = find_quote(++value, end, readable, quote);
  } else {
    for (stop = value; !hp_ascii_is_white(*stop) && *stop != '>';) stop++;
    quote = 0;
  }
  const uint32_t value_end = (uint32_t)(stop - tag);
  stop += quote != 0;
  *span = (hp_span){from, to,   (uint32_t)(value - tag), value_end, (uint32_t)(stop - tag), quote, bit, is_short,
                    true, false};
  return stop;
}

static uint64_t hash_name(hp_name name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = 0; i < name.length; i++)
    hash = (hash ^ (unsigned char)hp_ascii_lower(name.bytes[i])) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 31;
}

static bool same_name(hp_name a, hp_name b) {
  return a.length == b.length && hp_ascii_equal(a.bytes, b.bytes, a.length);
}

/* Returns the name, in any case. */
static hp_name decoded_name(const hp_spans *s, const hp_span *span, hp_scratch *scratch) {
  if (span->name_bit == HP_ODD_NAME_BIT) return hp_span_name(s, span, scratch);
  return (hp_name){s->tag + span->name, span->name_end - span->name};
}

uint32_t *hp_spans_find_first(const hp_spans *s, hp_scratch *scratch) {
  uint32_t *first = hp_scratch_take(scratch, (s->count + 1) * sizeof *first);
  hp_name *names = hp_scratch_take(scratch, (s->count + 1) * sizeof *names);
  size_t slots = 32;
  while (slots < 2 * (size_t)s->count) slots *= 2;
  uint32_t *table = hp_scratch_take(scratch, slots * sizeof *table);
  memset(table, 0, slots * sizeof *table);
  for (uint32_t i = 0; i < s->count; i++) {
    names[i] = decoded_name(s, &s->items[i], scratch);
    size_t slot = hash_name(names[i]) & (slots - 1);
    while (table[slot] && !same_name(names[table[slot] - 1], names[i])) slot = (slot + 1) & (slots - 1);
    if (!table[slot]) table[slot] = i + 1;
    first[i] = table[slot] - 1;
  }
  return first;
}

/* Marks the duplicates in linear time. */
static void mark_duplicates(hp_spans *s, hp_scratch *scratch) {
  enum { FEW = 12 };
  if (s->count <= FEW && !(s->names >> HP_ODD_NAME_BIT & 1)) {
    for (uint32_t i = 1; i < s->count; i++)
      for (uint32_t j = 0; j < i && !s->items[i].is_duplicate; j++)
        s->items[i].is_duplicate =
            same_name(decoded_name(s, &s->items[i], scratch), decoded_name(s, &s->items[j], scratch));
    return;
  }
  const uint32_t *first = hp_spans_find_first(s, scratch);
  for (uint32_t i = 0; i < s->count; i++) s->items[i].is_duplicate = first[i] != i;
}

void hp_spans_begin(hp_spans *s, const char *tag, const char *end, uint32_t name_end, const char *readable,
                    const hp_encoding *encoding) {
  s->tag = tag;
  s->encoding = encoding;
  s->count = 0;
  s->name_end = name_end;
  s->names = 0;
  s->at = tag + name_end;
  s->end = end;
  s->readable = readable;
}

/* Reads one attribute. Returns its bit, or 0 at the end of the tag. */
static HP_INLINE uint64_t read_next(hp_spans *s, hp_scratch *scratch) {
  const char *p = s->at, *close = s->end - 1;
  while (p < close && (hp_ascii_is_white(*p) || *p == '/')) p++;
  if (p == close) {
    s->at = p;
    return 0;
  }
  hp_span *span = hp_push_tight(s, scratch->unwind);
  s->at = read_span(span, s->tag, p, s->end, s->readable);
  return (uint64_t)1 << span->name_bit;
}

void hp_spans_complete(hp_spans *s, hp_scratch *scratch) {
  bool may_repeat = false;
  if (s->at == s->end - 1) return;
  for (uint64_t bit; (bit = read_next(s, scratch)) != 0;) {
    may_repeat |= (s->names & bit) != 0;
    s->names |= bit;
  }
  if (may_repeat) mark_duplicates(s, scratch);
}

bool hp_spans_next(hp_spans *s, hp_scratch *scratch) {
  if (s->at == s->end - 1) return false;
  uint64_t bit = read_next(s, scratch);
  bool may_repeat = (s->names & bit) != 0;
  s->names |= bit;
  if (may_repeat) {
    hp_spans_complete(s, scratch);
    mark_duplicates(s, scratch);
  }
  return bit != 0;
}

static HP_INLINE bool is_named(const hp_spans *s, const hp_span *span, const char *name, size_t length,
                               hp_scratch *scratch) {
  /* no encoding decodes bytes beyond ASCII to ASCII alone */
  if (__builtin_expect(span->name_bit == HP_ODD_NAME_BIT, 0) && !hp_is_ascii(name, length))
    return same_name(hp_span_name(s, span, scratch), (hp_name){name, (uint32_t)length});
  return span->name_end - span->name == length && hp_ascii_equal(s->tag + span->name, name, length);
}

hp_span *hp_spans_find(const hp_spans *s, const char *name, size_t length, hp_scratch *scratch) {
  for (uint32_t i = 0; i < s->count; i++)
    if (is_named(s, &s->items[i], name, length, scratch)) return &s->items[i];
  return NULL;
}

/*** decoding ***/

static hpar_status copy_piece(const char *text, size_t length, void *context) {
  char **to = context;
  memcpy(*to, text, length);
  *to += length;
  return HPAR_OK;
}

/* Converts bytes to UTF-8, as if a delimiter followed: after an incomplete sequence of GB18030 it
 * gives back digits. */
static hp_name to_utf8(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch) {
  hp_name same = {from, (uint32_t)length};
  if (hp_is_ascii(from, length)) return same;
  if (encoding->kind == HP_ENCODING_UTF8 && hp_scan()->invalid_utf8(from, from + length) == from + length) return same;
  char *to = hp_scratch_take(scratch, 3 * length + 8), *end = to; /* first, because it may unwind */
  hp_decoder *decoder;
  hpar_status status = hp_decoder_create(&decoder, encoding);
  if (status != HPAR_OK) hp_unwind_now(scratch->unwind, status);
  /* After the first space, a byte order mark is a character. */
  status = hp_decoder_run(decoder, " ", 1, false, copy_piece, &end);
  if (status == HPAR_OK) status = hp_decoder_run(decoder, from, length, false, copy_piece, &end);
  if (status == HPAR_OK) status = hp_decoder_run(decoder, " ", 1, true, copy_piece, &end);
  hp_decoder_destroy(decoder);
  if (status != HPAR_OK) hp_unwind_now(scratch->unwind, status);
  return (hp_name){to + 1, (uint32_t)(end - to - 2)};
}

hp_name hp_decode_span(const char *from, size_t length, hp_references references, const hp_encoding *encoding,
                       hp_scratch *scratch) {
  hp_name text = to_utf8(from, length, encoding, scratch);
  const char *p = text.bytes, *end = p + text.length;
  if (hp_scan()->quoted(p, end, '&') == end) return text;
  size_t room = 3 * (size_t)text.length + 8;
  char *start = hp_scratch_take(scratch, room), *to = start;
  for (p = text.bytes; p < end;) {
    if (*p == '&' && references != HP_REFERENCES_NONE) {
      hp_reference r = hp_read_reference(p, end, references == HP_REFERENCES_ATTRIBUTE, text.bytes, NULL);
      if (r.length) {
        memcpy(to, r.bytes, r.length);
        to += r.length;
      } else {
        while (p < r.end) *to++ = *p++;
      }
      p = r.end;
    } else if (*p == '\r') {
      p += p + 1 < end && p[1] == '\n' ? 2 : 1;
      *to++ = '\n';
    } else if (!*p) {
      memcpy(to, "\xEF\xBF\xBD", 3);
      to += 3;
      p++;
    } else {
      *to++ = *p++;
    }
  }
  hp_scratch_shrink(scratch, start, room, (size_t)(to - start));
  return (hp_name){start, (uint32_t)(to - start)};
}

static const hp_encoding *known_encoding(const hp_encoding *encoding, const char *from, const char *to) {
  if (encoding) return encoding;
  return hp_scan()->invalid_utf8(from, to) == to ? &hp_utf8 : &hp_windows1252;
}

hp_name hp_lower_name(const char *from, size_t length, const hp_encoding *encoding, hp_scratch *scratch) {
  size_t i = 0;
  while (i < length && (unsigned char)from[i] < 0x80 && from[i] && (unsigned char)(from[i] - 'A') >= 26) i++;
  if (i == length) return (hp_name){from, (uint32_t)length};
  encoding = known_encoding(encoding, from, from + length);
  hp_name text = hp_decode_span(from, length, HP_REFERENCES_NONE, encoding, scratch);
  char *to = hp_scratch_take(scratch, text.length + 1);
  for (i = 0; i < text.length; i++) to[i] = hp_ascii_lower(text.bytes[i]);
  return (hp_name){to, text.length};
}

hp_name hp_span_name(const hp_spans *s, const hp_span *span, hp_scratch *scratch) {
  return hp_lower_name(s->tag + span->name, span->name_end - span->name, s->encoding, scratch);
}

hp_name hp_span_value(const hp_spans *s, const hp_span *span, const hp_encoding *encoding, hp_scratch *scratch) {
  if (!span->has_value) return (hp_name){"", 0};
  const char *from = s->tag + span->value, *to = s->tag + span->value_end;
  encoding = known_encoding(encoding, from, to);
  return hp_decode_span(from, (size_t)(to - from), HP_REFERENCES_ATTRIBUTE, encoding, scratch);
}
