#include "tokenizer/state.h"

#include "base/bytes.h"

#include <string.h>

static const char *const states[HP_STATES] = {
    [HP_STATE_DATA] = "data",
    [HP_STATE_RCDATA] = "RCDATA",
    [HP_STATE_RAWTEXT] = "RAWTEXT",
    [HP_STATE_SCRIPT_DATA] = "script data",
    [HP_STATE_SCRIPT_DATA_ESCAPED] = "script data escaped",
    [HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED] = "script data double escaped",
    [HP_STATE_PLAINTEXT] = "PLAINTEXT",
    [HP_STATE_CDATA_SECTION] = "CDATA section",
    [HP_STATE_CHARACTER_REFERENCE] = "character reference",
    [HP_STATE_TAG_OPEN] = "tag open",
    [HP_STATE_END_TAG_OPEN] = "end tag open",
    [HP_STATE_TAG_NAME] = "tag name",
    [HP_STATE_BEFORE_ATTRIBUTE_NAME] = "before attribute name",
    [HP_STATE_ATTRIBUTE_NAME] = "attribute name",
    [HP_STATE_AFTER_ATTRIBUTE_NAME] = "after attribute name",
    [HP_STATE_BEFORE_ATTRIBUTE_VALUE] = "before attribute value",
    [HP_STATE_DOUBLE_QUOTED] = "attribute value (double-quoted)",
    [HP_STATE_SINGLE_QUOTED] = "attribute value (single-quoted)",
    [HP_STATE_UNQUOTED] = "attribute value (unquoted)",
    [HP_STATE_AFTER_QUOTED] = "after attribute value (quoted)",
    [HP_STATE_SELF_CLOSING] = "self-closing start tag",
    [HP_STATE_MARKUP_DECLARATION_OPEN] = "markup declaration open",
    [HP_STATE_COMMENT] = "comment",
    [HP_STATE_BOGUS_COMMENT] = "bogus comment",
    [HP_STATE_PROCESSING_INSTRUCTION] = "processing instruction",
    [HP_STATE_DOCTYPE] = "DOCTYPE",
};

const char *hp_state_name(hp_state state) { return (unsigned)state < HP_STATES ? states[state] : "unknown"; }

static bool begins(const char *at, const char *end, const char *with) {
  size_t length = strlen(with);
  return (size_t)(end - at) >= length && hp_ascii_equal(at, with, length);
}

/* Returns whether the name "script" and a delimiter are at `at`. */
static bool script_name(const char *at, const char *end) {
  return begins(at, end, "script") && end - at > 6 && (hp_ascii_is_white(at[6]) || at[6] == '/' || at[6] == '>');
}

//§ script-data-escaped-state
static hp_state in_script(hp_state state, const char *at, const char *end) {
  unsigned dashes = 0;
  for (; at < end; at++) {
    if (state == HP_STATE_SCRIPT_DATA) {
      if (!begins(at, end, "<!--")) continue;
      state = HP_STATE_SCRIPT_DATA_ESCAPED;
      at += 3;
      dashes = 2;
      continue;
    }
    if (*at == '-') {
      dashes++;
      continue;
    }
    if (*at == '>' && dashes >= 2) state = HP_STATE_SCRIPT_DATA;
    dashes = 0;
    if (*at != '<') continue;
    if (state == HP_STATE_SCRIPT_DATA_ESCAPED && script_name(at + 1, end))
      state = HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED;
    else if (state == HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED && begins(at, end, "</") && script_name(at + 2, end))
      state = HP_STATE_SCRIPT_DATA_ESCAPED;
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

/* Returns whether the text ends within a character reference. */
static bool in_reference(const char *begin, const char *end) {
  enum { LONGEST = 40 };
  for (const char *at = end; at > begin && end - at < LONGEST;) {
    char c = *--at;
    if (c == '&') return true;
    if (!hp_ascii_is_letter(c) && (unsigned char)(c - '0') >= 10 && c != '#') return false;
  }
  return false;
}

static hp_state in_text(const char *at, const char *end) {
  for (const char *from = at; (from = memchr(from, '<', (size_t)(end - from)));) {
    if (begins(from, end, "<![CDATA[")) {
      from += 9;
      const char *close = memmem(from, (size_t)(end - from), "]]>", 3);
      if (!close) return HP_STATE_CDATA_SECTION;
      at = from = close + 3;
    } else {
      from++;
    }
  }
  return in_reference(at, end) ? HP_STATE_CHARACTER_REFERENCE : HP_STATE_DATA;
}

static hp_state of_content(hp_content content) {
  switch (content) {
    case HP_CONTENT_RCDATA: return HP_STATE_RCDATA;
    case HP_CONTENT_RAWTEXT: return HP_STATE_RAWTEXT;
    case HP_CONTENT_SCRIPT_DATA: return HP_STATE_SCRIPT_DATA;
    case HP_CONTENT_PLAINTEXT: return HP_STATE_PLAINTEXT;
    case HP_CONTENT_CDATA_SECTION: return HP_STATE_CDATA_SECTION;
    default: return HP_STATE_DATA;
  }
}

hp_state hp_state_at(const char *text, uint32_t start, hp_content content, uint32_t place) {
  const char *at = text + start, *end = text + place;
  if (at == end) return of_content(content);
  if (content != HP_CONTENT_DATA) {
    if (content == HP_CONTENT_SCRIPT_DATA) return in_script(HP_STATE_SCRIPT_DATA, at, end);
    return content == HP_CONTENT_RCDATA && in_reference(at, end) ? HP_STATE_CHARACTER_REFERENCE : of_content(content);
  }
  if (*at != '<') return in_text(at, end);
  if (end - at == 1) return HP_STATE_TAG_OPEN;
  if (hp_ascii_is_letter(at[1])) return hp_state_of_tag(HP_STATE_TAG_NAME, at + 1, end);
  switch (at[1]) {
    case '/':
      if (end - at == 2) return HP_STATE_END_TAG_OPEN;
      return hp_ascii_is_letter(at[2]) ? hp_state_of_tag(HP_STATE_TAG_NAME, at + 2, end) : HP_STATE_BOGUS_COMMENT;
    case '?': return HP_STATE_PROCESSING_INSTRUCTION;
    case '!':
      if (begins(at, end, "<!--")) return HP_STATE_COMMENT;
      if (begins(at, end, "<!doctype")) return HP_STATE_DOCTYPE;
      if (begins(at, end, "<![CDATA[")) return in_text(at, end);
      return end - at < 9 ? HP_STATE_MARKUP_DECLARATION_OPEN : HP_STATE_BOGUS_COMMENT;
    default: return in_text(at, end);
  }
}

hp_script_escape hp_script_escape_at(hp_script_escape from, const char *at, const char *end) {
  static const hp_state states_from[] = {HP_STATE_SCRIPT_DATA, HP_STATE_SCRIPT_DATA_ESCAPED,
                                         HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED};
  switch (in_script(states_from[from], at, end)) {
    case HP_STATE_SCRIPT_DATA_ESCAPED: return HP_SCRIPT_ESCAPED;
    case HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED: return HP_SCRIPT_DOUBLE_ESCAPED;
    default: return HP_SCRIPT_PLAIN;
  }
}
