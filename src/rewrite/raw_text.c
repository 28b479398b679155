/* Raw text: text without tags, up to its end tag. In a script, comments hide end tags. */

#include "rewrite/scan.h"
#include "tokenizer/states.h"

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
  answer found = s->script == SCRIPT_DOUBLE_ESCAPED ? NO : is_appropriate_end(s, at);
  *next = at + 1;
  if (found != NO) return found;
  switch ((script_state)s->script) {
    case SCRIPT_PLAIN:
      found = begins_comment(s, at);
      if (found == UNDECIDED) return UNDECIDED;
      if (found == NO) return NO;
      s->script = SCRIPT_ESCAPED;
      s->dashes = 2;
      *next = at + 4;
      return NO;
    case SCRIPT_ESCAPED:
      found = is_word(s, at + 1, script, 6);
      if (found == UNDECIDED) return UNDECIDED;
      s->dashes = 0;
      if (found == NO) return NO;
      s->script = SCRIPT_DOUBLE_ESCAPED;
      *next = at + 8;
      return NO;
    default:
      if (at + 1 == s->end) return UNDECIDED;
      found = at[1] == '/' ? is_word(s, at + 2, script, 6) : NO;
      if (found == UNDECIDED) return UNDECIDED;
      s->dashes = 0;
      if (found == NO) return NO;
      s->script = SCRIPT_ESCAPED;
      *next = at + 9;
      return NO;
  }
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

hp_scan_event hp_scan_raw_text(hp_scanner *s) {
  const char *at = s->at;
  bool script = s->content == HP_CONTENT_SCRIPT_DATA;
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
