/* The state in which the input ends, and the text before the end of an unfinished run. */

#include "tokenizer/tokenizer.h"

#include "base/bytes.h"
#include "tokenizer/parts.h"

#include <string.h>

static bool begins(const char *at, const char *end, const char *with) {
  size_t length = strlen(with);
  return (size_t)(end - at) >= length && hp_ascii_equal(at, with, length);
}

/* Returns whether the name "script" and a delimiter are at `at`. */
static bool script_name(const char *at, const char *end) {
  return begins(at, end, "script") && end - at > 6 && (hp_ascii_is_white(at[6]) || at[6] == '/' || at[6] == '>');
}

//§ script-data-escaped-state
hp_script_escape hp_script_escape_at(hp_script_escape from, const char *at, const char *end) {
  hp_script_escape state = from;
  unsigned dashes = 0;
  for (; at < end; at++) {
    if (state == HP_SCRIPT_PLAIN) {
      if (!begins(at, end, "<!--")) continue;
      state = HP_SCRIPT_ESCAPED;
      at += 3;
      dashes = 2;
      continue;
    }
    if (*at == '-') {
      dashes++;
      continue;
    }
    if (*at == '>' && dashes >= 2) state = HP_SCRIPT_PLAIN;
    dashes = 0;
    if (*at != '<') continue;
    if (state == HP_SCRIPT_ESCAPED && script_name(at + 1, end))
      state = HP_SCRIPT_DOUBLE_ESCAPED;
    else if (state == HP_SCRIPT_DOUBLE_ESCAPED && begins(at, end, "</") && script_name(at + 2, end))
      state = HP_SCRIPT_ESCAPED;
  }
  return state;
}

hp_state hp_state_of_tag(hp_state state, const char *at, const char *end) {
  for (; at < end; at++) {
    char c = *at;
    switch (state) {
      case HP_STATE_DOUBLE_QUOTED:
        if (c == '"') state = HP_STATE_AFTER_QUOTED;
        continue;
      case HP_STATE_SINGLE_QUOTED:
        if (c == '\'') state = HP_STATE_AFTER_QUOTED;
        continue;
      case HP_STATE_UNQUOTED:
        if (hp_ascii_is_white(c)) state = HP_STATE_BEFORE_ATTRIBUTE_NAME;
        continue;
      case HP_STATE_BEFORE_ATTRIBUTE_VALUE:
        if (!hp_ascii_is_white(c))
          state = c == '"' ? HP_STATE_DOUBLE_QUOTED : c == '\'' ? HP_STATE_SINGLE_QUOTED : HP_STATE_UNQUOTED;
        continue;
      default: break;
    }
    bool name = state == HP_STATE_ATTRIBUTE_NAME;
    if (c == '/')
      state = HP_STATE_SELF_CLOSING;
    else if (hp_ascii_is_white(c))
      state = name || state == HP_STATE_AFTER_ATTRIBUTE_NAME ? HP_STATE_AFTER_ATTRIBUTE_NAME
                                                             : HP_STATE_BEFORE_ATTRIBUTE_NAME;
    else if (c == '=' && (name || state == HP_STATE_AFTER_ATTRIBUTE_NAME))
      state = HP_STATE_BEFORE_ATTRIBUTE_VALUE;
    else if (state != HP_STATE_TAG_NAME)
      state = HP_STATE_ATTRIBUTE_NAME;
  }
  return state;
}

/*** the text before the end of an unfinished run ***/

/* An unfinished run ends with bytes whose meaning depends on the next ones: a CR, a character
 * reference, the beginning of a tag. The text before these bytes is safe. */

enum { LONGEST_OPENING = 9 }; /* "<![CDATA[" */

/* Returns the last '<' in the last `most` bytes, or NULL. */
static const char *last_less_than(const char *at, const char *end, size_t most) {
  const char *first = (size_t)(end - at) > most ? end - most : at;
  for (const char *p = end; p > first;)
    if (*--p == '<') return p;
  return NULL;
}

/* Returns the start of a reference at the end that the next byte may continue, or `end`. */
static const char *unfinished_reference(const char *at, const char *end) {
  const char *p = end;
  while (p > at && ((hp_class(p[-1]) & (HP_BYTE_ALPHA | HP_BYTE_DIGIT)) || p[-1] == '#')) p--;
  if (p == at || p[-1] != '&') return end;
  return hp_reference_may_continue(p, end) ? p - 1 : end;
}

/* Returns the end of the safe text in the data state. */
static const char *safe_data(const hp_tokenizer *t, const char *at, const char *end) {
  const char *tag = last_less_than(at, end, LONGEST_OPENING);
  if (tag) {
    size_t n = (size_t)(end - tag);
    if (n == 1 || (n == 2 && tag[1] == '/')) return tag;
    if (t->cdata.is_foreign && n < LONGEST_OPENING && !memcmp(tag, "<![CDATA[", n)) return tag;
  }
  return unfinished_reference(at, end);
}

/* Returns the end of the safe text before a possible end tag. */
static const char *safe_raw(const hp_tokenizer *t, const char *at, const char *end) {
  hp_name name = hp_atom_name(t->interner->atoms, t->last_start_tag);
  const char *tag = last_less_than(at, end, (size_t)name.length + 2);
  if (!tag) return end;
  size_t n = (size_t)(end - tag);
  if (n == 1) return tag;
  return tag[1] == '/' && hp_ascii_equal(tag + 2, name.bytes, n - 2) ? tag : end;
}

static bool may_be_script_markup(char c) { return hp_ascii_is_letter(c) || c == '/' || c == '!' || c == '-'; }

/* Returns the end of the safe text of a script. The state there is one of three. */
static const char *safe_script(const char *at, const char *end) {
  const char *tag = last_less_than(at, end, sizeof "</script" - 1);
  if (tag) {
    const char *p = tag + 1;
    while (p < end && may_be_script_markup(*p)) p++;
    if (p == end) return tag;
  }
  for (int i = 0; i < 2 && end > at && end[-1] == '-'; i++) end--;
  return end;
}

/* Returns true if [at, end) ends inside a CDATA section. */
static bool ends_in_section(const hp_tokenizer *t, const char *at, const char *end) {
  bool inside = t->content == HP_TEXT_STATE_CDATA_SECTION;
  for (;;) {
    const char *p = inside ? memmem(at, (size_t)(end - at), "]]>", 3) : memmem(at, (size_t)(end - at), "<![CDATA[", 9);
    if (!p) return inside;
    at = p + (inside ? 3 : 9);
    inside = !inside;
  }
}

static const char *safe_section(const char *at, const char *end) {
  for (int i = 0; i < 2 && end > at && end[-1] == ']'; i++) end--;
  return end;
}

/* Returns the end of the safe text. */
static const char *safe_end(const hp_tokenizer *t, const char *at, const char *end, bool section) {
  if (end > at && end[-1] == '\r') end--;
  switch (t->content) {
    case HP_TEXT_STATE_PLAINTEXT: return end;
    case HP_TEXT_STATE_SCRIPT_DATA: return safe_script(at, end);
    case HP_TEXT_STATE_RAWTEXT: return safe_raw(t, at, end);
    case HP_TEXT_STATE_RCDATA: {
      const char *raw = safe_raw(t, at, end);
      return raw < end ? raw : unfinished_reference(at, end);
    }
    default: return section ? safe_section(at, end) : safe_data(t, at, end);
  }
}

/* Skips each "</>", which is neither markup nor text. */
static void skip_empty_end_tags(hp_tokenizer *t) {
  while (t->content == HP_TEXT_STATE_DATA && t->end - t->at >= 3 && !memcmp(t->at, "</>", 3)) {
    hp_error_at(t, HP_ERROR_MISSING_END_TAG_NAME, t->at + 2);
    t->at += 3;
  }
}

/* Returns true if the input begins with markup, not with text. */
static bool begins_with_markup(const hp_tokenizer *t) {
  const char *at = t->at;
  size_t n = (size_t)(t->end - at);
  if (n < 2 || *at != '<' || t->content == HP_TEXT_STATE_PLAINTEXT || t->content == HP_TEXT_STATE_CDATA_SECTION)
    return false;
  if (t->content != HP_TEXT_STATE_DATA)
    return hp_is_appropriate_end_tag(t, at) && t->escape != HP_SCRIPT_DOUBLE_ESCAPED;
  if (at[1] == '/') return n > 2;
  if (at[1] != '!') return hp_ascii_is_letter(at[1]) || at[1] == '?';
  return n < LONGEST_OPENING || memcmp(at, "<![CDATA[", LONGEST_OPENING) || !t->cdata.is_foreign ||
         !t->cdata.is_foreign(t->cdata.context);
}

/* Drops the errors since `before` that report the end of the safe text as the end of the input. */
static void drop_false_ends(hp_errors *errors, const hp_errors *before) {
  const uint32_t end = errors->count;
  hp_errors_restore(errors, before);
  for (uint32_t i = before->count; i < end; i++) {
    const hp_error error = errors->items[i];
    if (error.code != HP_ERROR_EOF_IN_CDATA && error.code != HP_ERROR_EOF_IN_SCRIPT_HTML_COMMENT_LIKE_TEXT)
      hp_errors_add(errors, (hp_error_code)error.code, error.offset);
  }
}

bool hp_flush_text(hp_tokenizer *t, hp_token *token, bool only_white) {
  skip_empty_end_tags(t);
  if (begins_with_markup(t)) return false;
  const char *at = t->at, *end = t->end;
  bool data = t->content == HP_TEXT_STATE_DATA || t->content == HP_TEXT_STATE_CDATA_SECTION;
  bool section = data && ends_in_section(t, at, end);
  const char *safe = safe_end(t, at, end, section);
  if (only_white) {
    const char *white = t->scan->not_white(at, safe);
    section = section && white == safe;
    safe = white;
  }
  if (safe == at) return false;
  const hp_text_state content = t->content;
  const hp_script_escape escape = t->escape;
  const hp_errors before = t->errors.list ? *t->errors.list : (hp_errors){0};
  if (t->errors.list) t->errors.list->limit = UINT64_MAX;
  t->end = safe;
  t->last = true;
  bool read = hp_next_token(t, token) == HP_TOKEN_TEXT;
  t->end = end;
  t->last = false;
  t->searched = NULL;
  if (!read) { /* the run has no characters, as "<![CDATA[]]>": what follows it waits, too */
    t->at = at;
    t->content = content;
    t->escape = escape;
    if (t->errors.list) hp_errors_restore(t->errors.list, &before);
    return false;
  }
  if (content == HP_TEXT_STATE_SCRIPT_DATA) t->escape = hp_script_escape_at(escape, at, safe);
  if (data) t->content = section ? HP_TEXT_STATE_CDATA_SECTION : HP_TEXT_STATE_DATA;
  if (t->errors.list) drop_false_ends(t->errors.list, &before);
  return true;
}
