/* Comments, doctypes and processing instructions. The search for the end of a comment checks the
 * dashes before each '>'. The result equals that of the standard's states. */

#include "base/bytes.h"
#include "tokenizer/parts.h"

static bool is_quote(char c) { return c == '"' || c == '\''; }

/* Returns true if the input at `at` continues with this word, given in lower case. */
static bool goes_on_with(const hp_tokenizer *t, const char *at, const char *word, size_t length) {
  if ((size_t)(t->end - at) < length) return false;
  for (size_t i = 0; i < length; i++)
    if ((at[i] | 0x20) != word[i]) return false;
  return true;
}

//§ bogus-comment-state
int hp_read_bogus_comment(hp_tokenizer *t, hp_token *token, const char *at, const char *data) {
  const char *stop = t->scan->byte(data, t->end, '>');
  if (stop == t->end && !t->last) return HP_TOKEN_NEED_MORE;
  uint32_t length;
  const char *bytes = hp_plain_data(t, data, stop, &length);
  return hp_emit_data(t, token, HP_TOKEN_COMMENT, 0, bytes, length, at, stop + (stop < t->end));
}

/* Reports each "<!--" inside the comment, unless it is part of the comment's end. */
static void report_nested(hp_tokenizer *t, const char *data, const char *stop) {
  //§ comment-less-than-sign-state
  for (const char *p = data; stop - p >= 4; p++) {
    p = t->scan->byte(p, stop - 3, '<');
    if (p == stop - 3) break;
    //§ comment-less-than-sign-bang-state
    //§ comment-less-than-sign-bang-dash-state
    //§ comment-less-than-sign-bang-dash-dash-state
    if (!memcmp(p, "<!--", 4) && p + 4 < t->end && p[4] != '>') hp_error_at(t, HP_ERROR_NESTED_COMMENT, p + 4);
  }
}

//§ comment-start-state
static int read_comment(hp_tokenizer *t, hp_token *token, const char *at) {
  const char *data = at + 4, *end = t->end, *stop = data, *upto;
  for (;; stop++) {
    //§ comment-state
    stop = t->scan->byte(stop, end, '>');
    if (stop == end) {
      if (!t->last) return HP_TOKEN_NEED_MORE;
      upto = end;
      if (upto - data >= 3 && upto[-3] == '-' && upto[-2] == '-' && upto[-1] == '!') {
        upto -= 3;
      } else {
        if (upto > data && upto[-1] == '-') upto--;
        if (upto > data && upto < end && upto[-1] == '-') upto--;
      }
      break;
    }
    //§ comment-end-state
    if (stop - data >= 2 && stop[-1] == '-' && stop[-2] == '-') {
      upto = stop - 2;
      break;
    }
    //§ comment-end-bang-state
    if (stop - data >= 3 && stop[-1] == '!' && stop[-2] == '-' && stop[-3] == '-') {
      upto = stop - 3;
      break;
    }
    //§ comment-start-dash-state
    if (stop == data || (stop == data + 1 && *data == '-')) {
      upto = data;
      break;
    }
    //§ comment-end-dash-state
  }
  uint32_t length;
  const char *bytes = hp_plain_data(t, data, upto, &length);
  if (t->errors.list) {
    report_nested(t, data, stop);
    if (stop == end)
      hp_error_at(t, HP_ERROR_EOF_IN_COMMENT, end);
    else if (stop - data < 2)
      hp_error_at(t, HP_ERROR_ABRUPT_CLOSING_OF_EMPTY_COMMENT, stop);
    else if (stop[-1] == '!')
      hp_error_at(t, HP_ERROR_INCORRECTLY_CLOSED_COMMENT, stop);
  }
  return hp_emit_data(t, token, HP_TOKEN_COMMENT, 0, bytes, length, at, stop + (stop < end));
}

/* Reads a quoted identifier that begins at `p`. Returns its end: the quote, '>' or the end of the
 * input. */
static const char *read_identifier(hp_tokenizer *t, const char *p, char quote, hp_name *identifier) {
  hp_span_builder span = {.arena = t->bytes, .from = p};
  while (p < t->end && *p != quote && *p != '>') {
    if (!*p || *p == '\r')
      p = hp_span_replace(&span, t, p, t->end);
    else
      p++;
  }
  identifier->bytes = hp_span_end(&span, p, &identifier->length);
  return p;
}

/* Reads a name that begins at `p`. Returns its end. */
static const char *read_doctype_name(hp_tokenizer *t, const char *p, hp_name *name) {
  hp_span_builder span = {.arena = t->bytes, .from = p};
  for (; p < t->end && *p != '>' && !hp_ascii_is_white(*p);) {
    if (!*p) {
      p = hp_span_replace(&span, t, p, t->end);
    } else if (*p >= 'A' && *p <= 'Z') {
      char lower = (char)(*p | 0x20);
      hp_span_skip(&span, p, p + 1);
      hp_span_put(&span, &lower, 1);
      p++;
    } else {
      p++;
    }
  }
  name->bytes = hp_span_end(&span, p, &name->length);
  return p;
}

/* A doctype during its reading: its strings, the next byte and the flags of its token. */
typedef struct doctype_parts {
  hp_doctype type;
  const char *at;
  unsigned flags;
} doctype_parts;

/* The part of a doctype that follows. */
typedef enum doctype_rest {
  REST_NONE,   /* `at` is the '>' or the end of the input */
  REST_SYSTEM, /* the system identifier */
  REST_BOGUS   /* bytes to ignore */
} doctype_rest;

/* Reports an error at the next byte. The document is in quirks mode. Returns `rest`. */
static doctype_rest doctype_error(hp_tokenizer *t, doctype_parts *parts, hp_error_code code, doctype_rest rest) {
  hp_error_at(t, code, parts->at);
  parts->flags = HP_TOKEN_FORCE_QUIRKS;
  return rest;
}

/* Skips white space. Returns true if there was any. */
static bool skip_white(const hp_tokenizer *t, doctype_parts *parts) {
  const char *from = parts->at;
  while (parts->at < t->end && hp_ascii_is_white(*parts->at)) parts->at++;
  return parts->at > from;
}

/* Reads from the keyword PUBLIC up to the system identifier. */
static doctype_rest read_public_part(hp_tokenizer *t, doctype_parts *parts) {
  //§ after-doctype-public-keyword-state
  parts->at += 6;
  //§ before-doctype-public-identifier-state
  bool white = skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return doctype_error(t, parts, HP_ERROR_MISSING_DOCTYPE_PUBLIC_IDENTIFIER, REST_NONE);
  if (!is_quote(*parts->at))
    return doctype_error(t, parts, HP_ERROR_MISSING_QUOTE_BEFORE_DOCTYPE_PUBLIC_IDENTIFIER, REST_BOGUS);
  if (!white) hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_AFTER_DOCTYPE_PUBLIC_KEYWORD, parts->at);
  //§ doctype-public-identifier-(double-quoted)-state
  //§ doctype-public-identifier-(single-quoted)-state
  parts->at = read_identifier(t, parts->at + 1, *parts->at, &parts->type.public_id);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return doctype_error(t, parts, HP_ERROR_ABRUPT_DOCTYPE_PUBLIC_IDENTIFIER, REST_NONE);
  //§ after-doctype-public-identifier-state
  parts->at++;
  //§ between-doctype-public-and-system-identifiers-state
  white = skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return REST_NONE;
  if (is_quote(*parts->at) && !white)
    hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_BETWEEN_DOCTYPE_IDENTIFIERS, parts->at);
  return REST_SYSTEM;
}

/* Reads from the keyword SYSTEM up to the system identifier. */
static doctype_rest read_system_keyword(hp_tokenizer *t, doctype_parts *parts) {
  //§ after-doctype-system-keyword-state
  parts->at += 6;
  //§ before-doctype-system-identifier-state
  bool white = skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return doctype_error(t, parts, HP_ERROR_MISSING_DOCTYPE_SYSTEM_IDENTIFIER, REST_NONE);
  if (is_quote(*parts->at) && !white)
    hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_AFTER_DOCTYPE_SYSTEM_KEYWORD, parts->at);
  return REST_SYSTEM;
}

/* Reads the system identifier and the white space after it. */
static doctype_rest read_system_identifier(hp_tokenizer *t, doctype_parts *parts) {
  if (!is_quote(*parts->at))
    return doctype_error(t, parts, HP_ERROR_MISSING_QUOTE_BEFORE_DOCTYPE_SYSTEM_IDENTIFIER, REST_BOGUS);
  //§ doctype-system-identifier-(double-quoted)-state
  //§ doctype-system-identifier-(single-quoted)-state
  parts->at = read_identifier(t, parts->at + 1, *parts->at, &parts->type.system_id);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return doctype_error(t, parts, HP_ERROR_ABRUPT_DOCTYPE_SYSTEM_IDENTIFIER, REST_NONE);
  //§ after-doctype-system-identifier-state
  parts->at++;
  skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return REST_NONE;
  hp_error_at(t, HP_ERROR_UNEXPECTED_CHARACTER_AFTER_DOCTYPE_SYSTEM_IDENTIFIER, parts->at);
  return REST_BOGUS;
}

/* Reads the name and the keyword after it. */
static doctype_rest read_name_part(hp_tokenizer *t, doctype_parts *parts) {
  if (parts->at < t->end && !hp_ascii_is_white(*parts->at) && *parts->at != '>')
    hp_error_at(t, HP_ERROR_MISSING_WHITESPACE_BEFORE_DOCTYPE_NAME, parts->at);
  //§ before-doctype-name-state
  skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return doctype_error(t, parts, HP_ERROR_MISSING_DOCTYPE_NAME, REST_NONE);
  //§ doctype-name-state
  parts->at = read_doctype_name(t, parts->at, &parts->type.name);
  //§ after-doctype-name-state
  skip_white(t, parts);
  if (parts->at == t->end) return doctype_error(t, parts, HP_ERROR_EOF_IN_DOCTYPE, REST_NONE);
  if (*parts->at == '>') return REST_NONE;
  if (goes_on_with(t, parts->at, "public", 6)) return read_public_part(t, parts);
  if (goes_on_with(t, parts->at, "system", 6)) return read_system_keyword(t, parts);
  return doctype_error(t, parts, HP_ERROR_INVALID_CHARACTER_SEQUENCE_AFTER_DOCTYPE_NAME, REST_BOGUS);
}

//§ bogus-doctype-state
static void skip_bogus_part(hp_tokenizer *t, doctype_parts *parts) {
  const char *stop = t->scan->byte(parts->at, t->end, '>');
  for (const char *p = parts->at; (p = t->scan->byte(p, stop, 0)) < stop; p++)
    hp_error_at(t, HP_ERROR_UNEXPECTED_NULL_CHARACTER, p);
  parts->at = stop;
}

//§ doctype-state
static int read_doctype(hp_tokenizer *t, hp_token *token, const char *at) {
  doctype_parts parts = {.at = at + 9};
  hp_arena bytes = *t->bytes;

  doctype_rest rest = read_name_part(t, &parts);
  if (rest == REST_SYSTEM) rest = read_system_identifier(t, &parts);
  if (rest == REST_BOGUS) skip_bogus_part(t, &parts);
  if (parts.at == t->end && !t->last) {
    hp_arena_return(t->bytes, &bytes);
    return HP_TOKEN_NEED_MORE;
  }
  hp_doctype *doctype = hp_arena_take(t->nodes, sizeof *doctype);
  *doctype = parts.type;
  token->doctype = doctype;
  return hp_emit(t, token, HP_TOKEN_DOCTYPE, parts.flags, at, parts.at + (parts.at < t->end));
}

//§ markup-declaration-open-state
int hp_read_markup_declaration(hp_tokenizer *t, hp_token *token, const char *at) {
  const char *data = at + 2;
  size_t left = (size_t)(t->end - data);
  if (left >= 2 && data[0] == '-' && data[1] == '-') return read_comment(t, token, at);
  if (goes_on_with(t, data, "doctype", 7)) return read_doctype(t, token, at);
  if (left >= 7 && !memcmp(data, "[CDATA[", 7))
    hp_error_at(t, HP_ERROR_CDATA_IN_HTML_CONTENT, data + 6);
  else
    hp_error_at(t, HP_ERROR_INCORRECTLY_OPENED_COMMENT, data);
  return hp_read_bogus_comment(t, token, at, data);
}

//§ processing-instruction-open-state
int hp_read_processing_instruction(hp_tokenizer *t, hp_token *token, const char *at) {
  const char *target = at + 2, *p = target, *end = t->end;
  if (p == end) goto end_of_file;
  if (!hp_ascii_is_letter(*p) && *p != '_') {
    hp_error_at(t, HP_ERROR_INVALID_FIRST_CHARACTER_OF_PI_TARGET, p);
    return hp_read_bogus_comment(t, token, at, at + 1);
  }
  //§ processing-instruction-target-state
  while (p < end && ((hp_class(*p) & (HP_BYTE_ALPHA | HP_BYTE_DIGIT)) || *p == '-' || *p == '_')) p++;
  if (p == end) goto end_of_file;
  size_t length = (size_t)(p - target);
  if (!hp_ascii_is_white(*p) && *p != '?' && *p != '>') {
    hp_error_at(t, HP_ERROR_INVALID_PI_TARGET, p);
    return hp_read_bogus_comment(t, token, at, at + 1);
  }
  if ((length == 3 && goes_on_with(t, target, "xml", 3)) ||
      (length == 14 && goes_on_with(t, target, "xml-stylesheet", 14))) {
    hp_error_at(t, HP_ERROR_DISALLOWED_PI_TARGET, p);
    return hp_read_bogus_comment(t, token, at, at + 1);
  }
  //§ after-processing-instruction-target-state
  p = t->scan->not_white(p, end);
  //§ processing-instruction-data-state
  const char *stop = t->scan->byte(p, end, '>');
  if (stop == end) goto end_of_file;
  //§ processing-instruction-questionable-state
  const char *upto = stop - (stop > p && stop[-1] == '?');
  token->name = hp_intern(t->interner, target, length);
  const char *data = hp_plain_data(t, p, upto, &token->length);
  return hp_emit_data(t, token, HP_TOKEN_PROCESSING_INSTRUCTION, 0, data, token->length, at, stop + 1);

end_of_file:
  if (!t->last) return HP_TOKEN_NEED_MORE;
  hp_error_at(t, HP_ERROR_EOF_IN_PI, end);
  return hp_emit_end_of_input(t, token);
}
