/* Maximal runs of text. The data state needs one pass. For other contents, a fast search finds the
 * end of the run first. It also finds the first position that may need rewriting. */

#include "text/scan/scan.h"
#include "tokenizer/parts.h"
#include "tokenizer/tokenizer.h"

static int emit_text(hp_tokenizer *t, hp_token *token, hp_span_builder *span, unsigned flags, const char *start,
                     const char *stop) {
  uint32_t length;
  const char *data = hp_span_end(span, stop, &length);
  const char *p = data, *end = data + length;
  while (p < end && p - data < 32 && (hp_class(*p) & HP_BYTE_WHITE)) p++;
  if (p - data == 32) p = t->scan->not_white(p, end);
  if (p == end) flags |= HP_TEXT_WHITE;
  return hp_emit_data(t, token, HP_TOKEN_TEXT, flags, data, length, start, stop);
}

/* The meaning of a '<' in the data state. */
typedef enum tag_start {
  IS_TEXT,      /* a character of text, or a malformed tag that the tokenizer ignores */
  IS_MARKUP,    /* the beginning of the next token */
  IS_SECTION,   /* the beginning of a CDATA section */
  IS_INCOMPLETE /* the input ends too early to tell */
} tag_start;

/* Reads "<!" at *at. */
static tag_start read_declaration_open(hp_tokenizer *t, hp_span_builder *span, const char **at) {
  const char *p = *at;
  size_t left = (size_t)(t->end - p), known = left < 9 ? left : 9;
  if (!t->cdata.is_foreign || memcmp(p, "<![CDATA[", known) != 0) return IS_MARKUP;
  if (known < 9) return t->last ? IS_MARKUP : IS_INCOMPLETE;
  t->cdata.pending_text = !hp_span_empty(span, p);
  if (!t->cdata.is_foreign(t->cdata.context)) return IS_MARKUP;
  hp_span_skip(span, p, p + 9);
  *at = p + 9;
  return IS_SECTION;
}

/* Reads the '<' at *at. If the text continues after it, moves *at there. */
//§ tag-open-state
static inline tag_start read_tag_open(hp_tokenizer *t, hp_span_builder *span, const char **at) {
  const char *p = *at, *end = t->end;
  //§ end-tag-open-state
  if (p + 1 == end || (p[1] == '/' && p + 2 == end)) {
    hp_error_at(t, HP_ERROR_EOF_BEFORE_TAG_NAME, end);
    return IS_INCOMPLETE;
  }
  if (p[1] == '/') {
    if (p[2] != '>') return IS_MARKUP;
    hp_error_at(t, HP_ERROR_MISSING_END_TAG_NAME, p + 2);
    hp_span_skip(span, p, p + 3);
    *at = p + 3;
    return IS_TEXT;
  }
  if (p[1] == '!') return read_declaration_open(t, span, at);
  if (hp_ascii_is_letter(p[1]) || p[1] == '?') return IS_MARKUP;
  hp_error_at(t, HP_ERROR_INVALID_FIRST_CHARACTER_OF_TAG_NAME, p + 1);
  *at = p + 1;
  return IS_TEXT;
}

/* The position after a CDATA section, and the flags of its text. */
typedef struct section_end {
  const char *at;
  unsigned flags;
} section_end;

/* Reads the content of a CDATA section from `p`. */
//§ cdata-section-state
static section_end read_section(hp_tokenizer *t, hp_span_builder *span, const char *p) {
  const char *end = t->end;
  unsigned flags = 0;
  for (;; p++) {
    const char *bracket = t->scan->byte(p, end, ']');
    while (p < bracket && (p = t->scan->raw(p, bracket)) < bracket) {
      if (*p == '\r') {
        p = hp_span_replace(span, t, p, end);
      } else {
        if (!*p) flags |= HP_TEXT_NUL;
        p++;
      }
    }
    if (p == end) {
      hp_error_at(t, HP_ERROR_EOF_IN_CDATA, end);
      return (section_end){end, flags};
    }
    //§ cdata-section-bracket-state
    //§ cdata-section-end-state
    if (end - p >= 3 && p[1] == ']' && p[2] == '>') {
      hp_span_skip(span, p, p + 3);
      return (section_end){p + 3, flags};
    }
  }
}

/* Releases the memory of an incomplete run. Returns HP_TOKEN_NEED_MORE. */
static int need_more_data(hp_tokenizer *t, const hp_span_builder *span) {
  if (span->start) {
    hp_arena mark = *t->bytes;
    mark.at = span->start;
    if (t->bytes->at == span->limit) hp_arena_return(t->bytes, &mark);
  }
  return HP_TOKEN_NEED_MORE;
}

//§ data-state
static int read_data(hp_tokenizer *t, hp_token *token, const char **at, const char *p, bool in_section) {
  const char *start = *at, *end = t->end;
  hp_span_builder span = {.arena = t->bytes, .from = start};
  unsigned flags = 0;
  if (in_section) {
    section_end section = read_section(t, &span, p);
    p = section.at;
    flags = section.flags;
  }
  for (;;) {
    p = t->scan->text(p, end);
    if (p == end) {
      if (!t->last) return need_more_data(t, &span);
      break;
    }
    if (*p == '&') {
      p = hp_span_reference(&span, t, p, false);
    } else if (*p == '\r') {
      p = hp_span_replace(&span, t, p, end);
    } else if (!*p) {
      hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, p++);
      flags |= HP_TEXT_NUL;
    } else {
      tag_start found = read_tag_open(t, &span, &p);
      if (found == IS_MARKUP) break;
      if (found == IS_INCOMPLETE) p = end;
      if (found == IS_SECTION) {
        section_end section = read_section(t, &span, p);
        p = section.at;
        flags |= section.flags;
      }
    }
  }
  if (hp_span_empty(&span, p)) {
    *at = p;
    return HP_TOKEN_EOF;
  }
  t->content = HP_TEXT_STATE_DATA;
  return emit_text(t, token, &span, flags, start, p);
}

bool hp_is_appropriate_end_tag(const hp_tokenizer *t, const char *at) {
  if (t->end - at < 3 || at[1] != '/') return false;
  hp_name name = hp_atom_name(t->interner->atoms, t->last_start_tag);
  if (t->end - at < (ptrdiff_t)name.length + 3 || !name.length) return false;
  at += 2;
  for (uint32_t i = 0; i < name.length; i++)
    if ((at[i] | 0x20) != name.bytes[i] || !hp_ascii_is_letter(at[i])) return false;
  return hp_class(at[name.length]) & HP_BYTE_TAG_STOP;
}

/* Returns true if raw text that begins at `start` can end in the available input. Searches only
 * the bytes that are new since the last search. */
static bool may_end(hp_tokenizer *t, const char *start) {
  const char *p = t->searched;
  if (t->last || !p || p <= start) return true;
  for (; (p = t->scan->byte(p, t->end, '<')) < t->end; p++)
    if (hp_is_appropriate_end_tag(t, p)) return true;
  return false;
}

/* Returns HP_TOKEN_NEED_MORE. Notes the searched bytes, except a possibly incomplete end tag. */
static int need_more_raw_text(hp_tokenizer *t, const char *start) {
  size_t part = hp_atom_name(t->interner->atoms, t->last_start_tag).length + 2;
  t->searched = (size_t)(t->end - start) > part ? t->end - part : start;
  return HP_TOKEN_NEED_MORE;
}

/* The end of a run of raw text, and the first position from which it may need rewriting. */
typedef struct raw_text {
  const char *stop, *clean;
} raw_text;

//§ rcdata-state
//§ rcdata-less-than-sign-state
//§ rcdata-end-tag-open-state
//§ rcdata-end-tag-name-state
//§ rawtext-less-than-sign-state
//§ rawtext-end-tag-open-state
//§ rawtext-end-tag-name-state
static raw_text find_raw_end(const hp_tokenizer *t, const char *p, bool references) {
  const char *(*scan)(const char *, const char *) = references ? t->scan->text : t->scan->raw;
  const char *end = t->end;
  for (;; p++) {
    p = scan(p, end);
    if (p == end) return (raw_text){end, end};
    if (*p != '<') break;
    if (hp_is_appropriate_end_tag(t, p)) return (raw_text){p, p};
  }
  raw_text found = {p, p};
  for (;; p++) {
    found.stop = p = t->scan->byte(p, end, '<');
    if (p == end || hp_is_appropriate_end_tag(t, p)) return found;
  }
}

/* Reads the letters from `p` on and a delimiter. Sets `*is_script` if they are "script". Returns
 * where the input continues. */
static const char *read_script_word(const hp_tokenizer *t, const char *p, bool *is_script) {
  const char *word = p;
  while (p < t->end && hp_ascii_is_letter(*p)) p++;
  *is_script = false;
  if (p == t->end || !(hp_class(*p) & HP_BYTE_TAG_STOP)) return p;
  if (p - word == 6) {
    *is_script = true;
    for (int i = 0; i < 6; i++)
      if ((word[i] | 0x20) != "script"[i]) *is_script = false;
  }
  return p + 1;
}

//§ script-data-state
static raw_text find_script_end(hp_tokenizer *t, const char *p) {
  const char *end = t->end, *clean = NULL, *tag = NULL, *dash = NULL;
  bool is_double = t->escape == HP_SCRIPT_DOUBLE_ESCAPED, is_script;
  if (__builtin_expect(t->escape, 0)) {
    clean = p;
    goto escaped;
  }
plain:
  for (;; p++) {
    p = clean ? t->scan->byte(p, end, '<') : t->scan->raw(p, end);
    if (p == end) return (raw_text){end, clean ? clean : end};
    if (*p != '<') {
      clean = p;
      continue;
    }
    //§ script-data-less-than-sign-state
    //§ script-data-end-tag-open-state
    //§ script-data-end-tag-name-state
    if (hp_is_appropriate_end_tag(t, p)) return (raw_text){p, clean ? clean : p};
    //§ script-data-escape-start-state
    //§ script-data-escape-start-dash-state
    if (end - p >= 4 && !memcmp(p, "<!--", 4)) break;
  }
  if (!clean) clean = p;
  p += 4;
  is_double = false;
  //§ script-data-escaped-dash-dash-state
  //§ script-data-double-escaped-dash-dash-state
dashes:
  while (p < end && *p == '-') p++;
  if (p < end && *p == '>') {
    p++;
    goto plain;
  }
escaped:
  //§ script-data-escaped-state
  //§ script-data-double-escaped-state
  if (!tag || tag < p) tag = t->scan->byte(p, end, '<');
  if (!dash || dash < p) dash = t->scan->byte(p, tag, '-');
  if (dash < tag) {
    //§ script-data-escaped-dash-state
    //§ script-data-double-escaped-dash-state
    p = dash + 1;
    if (p < end && *p == '-') goto dashes;
    goto escaped;
  }
  p = tag;
  if (p == end) {
    if (t->last) hp_error_at(t, HP_ERROR_EOF_IN_SCRIPT_HTML_COMMENT_LIKE_TEXT, end);
    return (raw_text){end, clean};
  }
  if (is_double) {
    //§ script-data-double-escaped-less-than-sign-state
    p++;
    if (p == end || *p != '/') goto escaped;
    //§ script-data-double-escape-end-state
    p = read_script_word(t, p + 1, &is_script);
    is_double = !is_script;
    goto escaped;
  }
  //§ script-data-escaped-less-than-sign-state
  //§ script-data-escaped-end-tag-open-state
  //§ script-data-escaped-end-tag-name-state
  if (hp_is_appropriate_end_tag(t, p)) return (raw_text){p, clean};
  //§ script-data-double-escape-start-state
  p = read_script_word(t, p + 1, &is_double);
  goto escaped;
}

int hp_read_text(hp_tokenizer *t, hp_token *token, const char **at, const char *clean) {
  const char *start = *at, *end = t->end;
  bool references = false;
  raw_text run;
  if (start == end) {
    if (!t->last) return HP_TOKEN_NEED_MORE;
    if (t->content == HP_TEXT_STATE_CDATA_SECTION) {
      hp_error_at(t, HP_ERROR_EOF_IN_CDATA, end);
      t->content = HP_TEXT_STATE_DATA;
    }
    return hp_emit_end_of_input(t, token);
  }
  if (t->content != HP_TEXT_STATE_DATA && t->content != HP_TEXT_STATE_CDATA_SECTION && !may_end(t, start))
    return need_more_raw_text(t, start);
  switch (t->content) {
    case HP_TEXT_STATE_RCDATA:
      references = true;
      run = find_raw_end(t, start, true);
      break;
    //§ rawtext-state
    case HP_TEXT_STATE_RAWTEXT: run = find_raw_end(t, start, false); break;
    case HP_TEXT_STATE_SCRIPT_DATA: run = find_script_end(t, start); break;
    //§ plaintext-state
    case HP_TEXT_STATE_PLAINTEXT: run = (raw_text){end, start}; break;
    default: return read_data(t, token, at, clean, t->content == HP_TEXT_STATE_CDATA_SECTION);
  }
  if (run.stop == end && !t->last) return need_more_raw_text(t, start);
  t->escape = HP_SCRIPT_PLAIN;
  if (run.stop == start) return HP_TOKEN_EOF;
  hp_span_builder span = {.arena = t->bytes, .from = start};
  for (const char *p = run.clean; p < run.stop;) {
    p = references ? t->scan->text(p, run.stop) : t->scan->raw(p, run.stop);
    if (p == run.stop) break;
    if (*p == '<')
      p++;
    else if (*p == '&')
      p = hp_span_reference(&span, t, p, false);
    else
      p = hp_span_replace(&span, t, p, end);
  }
  return emit_text(t, token, &span, 0, start, run.stop);
}

/* The errors of preprocessing the input stream. The tokenizer does not report them, because few
 * callers request errors. */

/* Returns the error of the character at `p`, where the scanner has stopped. */
static hp_error_code error_at(const unsigned char *p, size_t left) {
  unsigned char c = *p;
  if (c < 0x80) return HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM;
  if (c == 0xC2 && left > 1 && p[1] < 0xA0) return HP_ERROR_CONTROL_CHARACTER_IN_INPUT_STREAM;
  if (c == 0xEF && left > 2 && ((p[1] == 0xB7 && p[2] >= 0x90 && p[2] <= 0xAF) || (p[1] == 0xBF && p[2] >= 0xBE)))
    return HP_ERROR_NONCHARACTER_IN_INPUT_STREAM;
  if (c >= 0xF0 && left > 3 && (p[1] & 0x0F) == 0x0F && p[2] == 0xBF && p[3] >= 0xBE)
    return HP_ERROR_NONCHARACTER_IN_INPUT_STREAM;
  return HP_ERROR_CODES;
}

//§ preprocessing-the-input-stream
void hp_find_input_errors(const char *bytes, size_t n, hp_errors *errors) {
  const char *(*scan)(const char *, const char *) = hp_scan()->control;
  uint64_t found = 0;
  for (const char *p = bytes, *end = bytes + n; (p = scan(p, end)) < end; p++) {
    hp_error_code code = error_at((const unsigned char *)p, (size_t)(end - p));
    if (code == HP_ERROR_CODES) continue;
    if (found++ < errors->limit)
      hp_errors_add(errors, code, (size_t)(p - bytes));
    else
      errors->seen++;
  }
}
