#ifndef HP_BASE_ERROR_H
#define HP_BASE_ERROR_H

/* Parse errors: the codes of the standard, and a list of the first ones by offset. A parser without
 * a list passes NULL, which costs one test per malformed construct. */

#include "base/memory.h"
#include "base/target.h"

#include <stddef.h>
#include <stdint.h>

//§ parse-errors
#define HP_ERRORS(X)                                                                                                \
  X(ABRUPT_CLOSING_OF_EMPTY_COMMENT, "abrupt-closing-of-empty-comment")                                             \
  X(ABRUPT_DOCTYPE_PUBLIC_IDENTIFIER, "abrupt-doctype-public-identifier")                                           \
  X(ABRUPT_DOCTYPE_SYSTEM_IDENTIFIER, "abrupt-doctype-system-identifier")                                           \
  X(ABSENCE_OF_DIGITS, "absence-of-digits-in-numeric-character-reference")                                          \
  X(CDATA_IN_HTML_CONTENT, "cdata-in-html-content")                                                                 \
  X(CHARACTER_REFERENCE_OUTSIDE_UNICODE_RANGE, "character-reference-outside-unicode-range")                         \
  X(CONTROL_CHARACTER_IN_INPUT_STREAM, "control-character-in-input-stream")                                         \
  X(CONTROL_CHARACTER_REFERENCE, "control-character-reference")                                                     \
  X(DISALLOWED_PI_TARGET, "disallowed-processing-instruction-target")                                               \
  X(DUPLICATE_ATTRIBUTE, "duplicate-attribute")                                                                     \
  X(END_TAG_WITH_ATTRIBUTES, "end-tag-with-attributes")                                                             \
  X(END_TAG_WITH_TRAILING_SOLIDUS, "end-tag-with-trailing-solidus")                                                 \
  X(EOF_BEFORE_TAG_NAME, "eof-before-tag-name")                                                                     \
  X(EOF_IN_CDATA, "eof-in-cdata")                                                                                   \
  X(EOF_IN_COMMENT, "eof-in-comment")                                                                               \
  X(EOF_IN_DOCTYPE, "eof-in-doctype")                                                                               \
  X(EOF_IN_PI, "eof-in-processing-instruction")                                                                     \
  X(EOF_IN_SCRIPT_HTML_COMMENT_LIKE_TEXT, "eof-in-script-html-comment-like-text")                                   \
  X(EOF_IN_TAG, "eof-in-tag")                                                                                       \
  X(INCORRECTLY_CLOSED_COMMENT, "incorrectly-closed-comment")                                                       \
  X(INCORRECTLY_OPENED_COMMENT, "incorrectly-opened-comment")                                                       \
  X(INVALID_CHARACTER_SEQUENCE_AFTER_DOCTYPE_NAME, "invalid-character-sequence-after-doctype-name")                 \
  X(INVALID_FIRST_CHARACTER_OF_PI_TARGET, "invalid-first-character-of-processing-instruction-target")               \
  X(INVALID_FIRST_CHARACTER_OF_TAG_NAME, "invalid-first-character-of-tag-name")                                     \
  X(INVALID_PI_TARGET, "invalid-processing-instruction-target")                                                     \
  X(MISSING_ATTRIBUTE_VALUE, "missing-attribute-value")                                                             \
  X(MISSING_DOCTYPE_NAME, "missing-doctype-name")                                                                   \
  X(MISSING_DOCTYPE_PUBLIC_IDENTIFIER, "missing-doctype-public-identifier")                                         \
  X(MISSING_DOCTYPE_SYSTEM_IDENTIFIER, "missing-doctype-system-identifier")                                         \
  X(MISSING_END_TAG_NAME, "missing-end-tag-name")                                                                   \
  X(MISSING_QUOTE_BEFORE_DOCTYPE_PUBLIC_IDENTIFIER, "missing-quote-before-doctype-public-identifier")               \
  X(MISSING_QUOTE_BEFORE_DOCTYPE_SYSTEM_IDENTIFIER, "missing-quote-before-doctype-system-identifier")               \
  X(MISSING_SEMICOLON_AFTER_CHARACTER_REFERENCE, "missing-semicolon-after-character-reference")                     \
  X(MISSING_WHITESPACE_AFTER_DOCTYPE_PUBLIC_KEYWORD, "missing-whitespace-after-doctype-public-keyword")             \
  X(MISSING_WHITESPACE_AFTER_DOCTYPE_SYSTEM_KEYWORD, "missing-whitespace-after-doctype-system-keyword")             \
  X(MISSING_WHITESPACE_BEFORE_DOCTYPE_NAME, "missing-whitespace-before-doctype-name")                               \
  X(MISSING_WHITESPACE_BETWEEN_ATTRIBUTES, "missing-whitespace-between-attributes")                                 \
  X(MISSING_WHITESPACE_BETWEEN_DOCTYPE_IDENTIFIERS,                                                                 \
    "missing-whitespace-between-doctype-public-and-system-identifiers")                                             \
  X(NESTED_COMMENT, "nested-comment")                                                                               \
  X(NONCHARACTER_CHARACTER_REFERENCE, "noncharacter-character-reference")                                           \
  X(NONCHARACTER_IN_INPUT_STREAM, "noncharacter-in-input-stream")                                                   \
  X(NON_VOID_HTML_ELEMENT_START_TAG_WITH_TRAILING_SOLIDUS, "non-void-html-element-start-tag-with-trailing-solidus") \
  X(NULL_CHARACTER_REFERENCE, "null-character-reference")                                                           \
  X(SURROGATE_CHARACTER_REFERENCE, "surrogate-character-reference")                                                 \
  X(SURROGATE_IN_INPUT_STREAM, "surrogate-in-input-stream")                                                         \
  X(UNEXPECTED_CHARACTER_AFTER_DOCTYPE_SYSTEM_IDENTIFIER, "unexpected-character-after-doctype-system-identifier")   \
  X(UNEXPECTED_CHARACTER_IN_ATTRIBUTE_NAME, "unexpected-character-in-attribute-name")                               \
  X(UNEXPECTED_CHARACTER_IN_UNQUOTED_ATTRIBUTE_VALUE, "unexpected-character-in-unquoted-attribute-value")           \
  X(UNEXPECTED_EQUALS_SIGN_BEFORE_ATTRIBUTE_NAME, "unexpected-equals-sign-before-attribute-name")                   \
  X(UNEXPECTED_NULL_CHARACTER, "unexpected-null-character")                                                         \
  X(UNEXPECTED_SOLIDUS_IN_TAG, "unexpected-solidus-in-tag")                                                         \
  X(UNKNOWN_NAMED_CHARACTER_REFERENCE, "unknown-named-character-reference")                                         \
  X(TREE_CONSTRUCTION, "tree-construction")

typedef enum hp_error_code {
#define X(name, text) HP_ERROR_##name,
  HP_ERRORS(X)
#undef X
      HP_ERROR_CODES
} hp_error_code;

typedef struct hp_error {
  uint32_t offset;
  uint32_t code;
} hp_error;

/* `seen` also counts the errors that are not in the list. The errors of one token have no order, so
 * that the list may have more than `limit` errors before hp_errors_finish. */
typedef struct hp_errors {
  hp_error *items;
  uint32_t count, capacity;
  uint32_t greatest; /* at least the offset of each item */
  uint64_t limit, seen;
  hp_unwind *unwind;
} hp_errors;

const char *hp_error_text(hp_error_code code);
/* Prepares a list for a parse. Keeps its memory. */
static inline void hp_errors_open(hp_errors *errors, uint64_t limit, hp_unwind *unwind) {
  errors->count = errors->greatest = 0;
  errors->seen = 0;
  errors->limit = limit;
  errors->unwind = unwind;
}
/* Forgets the errors since `before`, a copy of the list. */
static inline void hp_errors_restore(hp_errors *errors, const hp_errors *before) {
  errors->count = before->count;
  errors->greatest = before->greatest;
  errors->limit = before->limit;
  errors->seen = before->seen;
}
HP_SHARED void hp_errors_add(hp_errors *errors, hp_error_code code, size_t offset);
/* Sorts the errors by offset and keeps the first `limit`. Errors at the same offset keep their
 * order. */
HP_SHARED void hp_errors_finish(hp_errors *errors);

/*** the trace ***/

/* The trace of a parse or of a rewrite: the modules that do the work emit events, and a study
 * receives them. The pointer is NULL if nobody asked for events. Offsets are offsets in the text,
 * and times are those of hp_now. */

/* hpar_event_kind of the public header has the same values. */
typedef enum hp_event_kind {
  HP_EVENT_DECODE,
  HP_EVENT_CUT,
  HP_EVENT_PRESCAN,
  HP_EVENT_PARSE,
  HP_EVENT_EXACT,
  HP_EVENT_MERGE,
  HP_EVENT_ROLL_BACK,
  HP_EVENT_WAIT,
  HP_EVENT_COMPOSE,
  HP_EVENT_TOKENIZE,
  HP_EVENT_SCRIPT
} hp_event_kind;

typedef struct hp_trace hp_trace;
struct hp_trace {
  /* Adds an event in the range [begin, end) of the text. `chunk` is UINT32_MAX if the event belongs
   * to no chunk. Any thread may call it. */
  void (*event)(hp_trace *trace, hp_event_kind kind, unsigned thread, uint32_t chunk, uint64_t begin_ns,
                uint64_t end_ns, size_t begin, size_t end);
};

#endif
