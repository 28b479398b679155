#include "tokenizer/state.h"

#include "base/bytes.h"

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

hp_script_escape hp_script_escape_at(hp_script_escape from, const char *at, const char *end) {
  static const hp_state states_from[] = {HP_STATE_SCRIPT_DATA, HP_STATE_SCRIPT_DATA_ESCAPED,
                                         HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED};
  switch (in_script(states_from[from], at, end)) {
    case HP_STATE_SCRIPT_DATA_ESCAPED: return HP_SCRIPT_ESCAPED;
    case HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED: return HP_SCRIPT_DOUBLE_ESCAPED;
    default: return HP_SCRIPT_PLAIN;
  }
}
