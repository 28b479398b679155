#ifndef HP_TOKENIZER_TOKENIZER_H
#define HP_TOKENIZER_TOKENIZER_H

/* The tokenizer: each call reads valid UTF-8 and returns one token. It reads an incomplete token
 * again from its first byte when more input is available, and keeps no state inside a token. The
 * caller retries only after the input after `at` has grown by half, so the total time is linear. */

#include "base/arena.h"
#include "base/atom.h"
#include "base/error.h"
#include "base/target.h"
#include "dom/node.h"

#include <stdbool.h>

/* hpar_token_kind of the study has the same values. */
typedef enum hp_token_kind {
  HP_TOKEN_EOF,
  HP_TOKEN_TEXT,
  HP_TOKEN_START_TAG,
  HP_TOKEN_END_TAG,
  HP_TOKEN_COMMENT,
  HP_TOKEN_DOCTYPE,
  HP_TOKEN_PROCESSING_INSTRUCTION,
  HP_TOKEN_NEED_MORE = 100 /* the input ends inside a token, and more may come */
} hp_token_kind;

enum {
  HP_TOKEN_SELF_CLOSING = 1,
  HP_TOKEN_FORCE_QUIRKS = 2,
  HP_TEXT_WHITE = 4, /* only tab, LF, FF, CR (as LF), space */
  HP_TEXT_NUL = 8    /* contains U+0000 */
};

/* Text is always a maximal run: the next token is never text. Fields that a kind does not use are
 * not set. */
typedef struct hp_token { // value
  uint8_t kind;           /* hp_token_kind */
  uint8_t flags;
  uint8_t content, notes; /* of a token that another thread read: study/pipelined/packed.h */
  hp_atom name;           /* tag; target of a processing instruction */
  hp_ref attributes;      /* hp_attributes, duplicates removed; 0: none */
  uint32_t length;
  union {
    const char *data; /* text, comment, instruction: newlines, references replaced */
    const hp_doctype *doctype;
  };
  uint32_t start, end; /* offsets in the input; end is where the next token begins */
} hp_token;

_Static_assert(sizeof(void *) > 8 || sizeof(hp_token) <= 32, "two tokens to a cache line");

/* Forces inlining also where the compiler would prefer a call. */
#define HP_INLINE inline __attribute__((always_inline))

typedef enum hp_text_state {
  HP_TEXT_STATE_DATA,
  HP_TEXT_STATE_RCDATA,
  HP_TEXT_STATE_RAWTEXT,
  HP_TEXT_STATE_SCRIPT_DATA,
  HP_TEXT_STATE_PLAINTEXT,
  HP_TEXT_STATE_CDATA_SECTION
} hp_text_state;

/* The state of a script's text, between the bytes of markup-like text. */
typedef enum hp_script_escape { HP_SCRIPT_PLAIN, HP_SCRIPT_ESCAPED, HP_SCRIPT_DOUBLE_ESCAPED } hp_script_escape;

enum { HP_CACHED_NAMES = 256, HP_CACHED_LONG_NAMES = 64 };

/* The errors, and where they were at the start of the token, for undo. */
typedef struct hp_error_state {
  hp_errors *list; /* NULL: errors are not requested */
  uint32_t count_before;
  uint64_t seen_before;
} hp_error_state;

/* How the tokenizer learns what "<![CDATA[" begins. */
typedef struct hp_cdata_question {
  /* Returns true if the adjusted current node is foreign. NULL: false. The tokenizer calls it only
   * at "<![CDATA[". While `pending_text` is set, text before the section is not emitted yet. False
   * then ends that text, and the tokenizer calls the function again. */
  bool (*is_foreign)(void *context);
  void *context;
  bool pending_text;
} hp_cdata_question;

/* The tags that had an attribute, to find a second one of its name. */
typedef struct hp_seen_attributes {
  uint32_t *serials; /* by atom: serial of the tag that had this attribute */
  uint32_t capacity;
  uint32_t serial; /* of the current tag */
} hp_seen_attributes;

/* See tokenizer/tokenizer.c. */
typedef struct hp_name_cache {
  struct hp_cached_name *short_names;     /* atoms of names of up to 15 bytes; NULL: no names */
  struct hp_cached_long_name *long_names; /* the same for 16 to 31 bytes */
  uint64_t generation;                    /* of the interner's atoms */
  /* The bit of each entry of `short_names` that belongs to the interner's atoms. */
  uint64_t of_document[HP_CACHED_NAMES / 64];
} hp_name_cache;

/* See tokenizer/parts.h. */
typedef struct hp_tag_cache {
  struct hp_cached_tag *cached, *memory; /* NULL: none */
  uint32_t generation;
  size_t from; /* where the fused loop allocates the cache */
} hp_tag_cache;

typedef struct hp_tokenizer {
  const char *base; /* the input; never moves; nodes borrow it */
  const char *at, *end;
  bool last; /* `end` is the end of the input, not only of the available input */
  /* of script text whose beginning was read by hp_flush_text; else HP_SCRIPT_PLAIN */
  hp_script_escape escape;
  hp_text_state content;  /* set by the tree builder after a start tag; data after an end tag */
  hp_atom last_start_tag; /* decides which end tag is appropriate */
  /* In an incomplete run of raw text, no appropriate end tag begins before it. NULL: unknown. */
  const char *searched;
  hp_arena *nodes, *bytes; /* attribute blocks and doctypes; rewritten strings */
  hp_interner *interner;
  hp_error_state errors;
  bool may_defer;        /* values with references may stay undecoded (dom/value.h) */
  size_t deferred_bytes; /* the maximal length of all decoded values that this tokenizer deferred */
  hp_cdata_question cdata;
  hp_seen_attributes seen;
  const struct hp_scan_kernels *scan;
  hp_name_cache names;
  hp_tag_cache tags;
} hp_tokenizer;

/* Sets the list to which the tokenizer reports errors; NULL: none. */
static inline void hp_tokenizer_report_errors(hp_tokenizer *t, hp_errors *errors) { t->errors.list = errors; }
static inline const hp_errors *hp_tokenizer_errors(const hp_tokenizer *t) { return t->errors.list; }
/* The errors of the next token begin after the first `count` of the list. */
static inline void hp_tokenizer_begin_errors(hp_tokenizer *t, uint32_t count) { t->errors.count_before = count; }

/* Sets the function that hp_cdata_question describes. */
static inline void hp_tokenizer_ask_foreign(hp_tokenizer *t, bool (*is_foreign)(void *context), void *context) {
  t->cdata.is_foreign = is_foreign;
  t->cdata.context = context;
}
/* Returns whether text before "<![CDATA[" is not emitted yet. */
static inline bool hp_tokenizer_holds_text(const hp_tokenizer *t) { return t->cdata.pending_text; }

/* Continues in the contents of an element of this name. */
static inline void hp_tokenizer_begin_raw_text(hp_tokenizer *t, hp_text_state content, hp_atom name) {
  t->content = content;
  t->last_start_tag = name;
}
/* Returns whether the end tag of this name is appropriate, outside of a script's escapes. */
static inline bool hp_tokenizer_is_before(const hp_tokenizer *t, hp_atom name) {
  return !t->escape && t->last_start_tag == name;
}

/* Prepares the tokenizer for an input. Keeps the memory of an earlier use. Requires: all fields
 * are zero before the first use. Unwinds through the interner if memory is short. */
HP_SHARED void hp_tokenizer_open(hp_tokenizer *tokenizer, hp_arena *nodes, hp_arena *bytes, hp_interner *interner);
HP_SHARED void hp_tokenizer_close(hp_tokenizer *tokenizer);

/* Reads the next token. Returns HP_TOKEN_NEED_MORE if it consumed nothing. After EOF it returns
 * EOF again. `current` is the name of the current node, or HP_NO_ATOM. An end tag with this name
 * needs no look-up; the result is the same for all values. */
HP_SHARED int hp_next_token_inside(hp_tokenizer *tokenizer, hp_token *token, hp_atom current);
static inline int hp_next_token(hp_tokenizer *tokenizer, hp_token *token) {
  return hp_next_token_inside(tokenizer, token, HP_NO_ATOM);
}

/* Returns the offset of the next token. */
static inline uint32_t hp_tokenizer_offset(const hp_tokenizer *t) { return (uint32_t)(t->at - t->base); }
/* The first `length` bytes of the input are there. */
static inline void hp_tokenizer_extend(hp_tokenizer *t, size_t length, bool is_complete) {
  t->end = t->base + length;
  t->last = is_complete;
}
/* Continues in the data state at this offset, before or after the present one. */
static inline void hp_tokenizer_move(hp_tokenizer *t, uint32_t offset) {
  t->at = t->base + offset;
  t->searched = NULL;
  t->content = HP_TEXT_STATE_DATA;
}
/* Continues after a token that another tokenizer has read in the same input. */
static inline void hp_tokenizer_pass(hp_tokenizer *t, const hp_token *token) {
  t->at = t->base + token->end;
  if (token->kind == HP_TOKEN_START_TAG) t->last_start_tag = token->name;
}

/* The tokenizer's input, while it reads another one. */
typedef struct hp_tokenizer_input {
  const char *base, *at, *end, *searched;
  bool last;
  struct hp_cached_tag *cached_tags; /* their offsets are those of `base` */
  size_t cache_from;
} hp_tokenizer_input;

/* Lets the tokenizer read [at, end). Returns its input so far. */
hp_tokenizer_input hp_tokenizer_set_input(hp_tokenizer *tokenizer, const char *at, const char *end, bool last);
void hp_tokenizer_restore_input(hp_tokenizer *tokenizer, const hp_tokenizer_input *input);

/* Reads raw text up to its end tag. Returns the kind of the last token. */
int hp_read_raw_text(hp_tokenizer *tokenizer);
/* Does the same without reporting errors. */
void hp_skip_raw_text(hp_tokenizer *tokenizer);

/* The end of a tag. */
typedef struct hp_tag_end {
  const char *at;    /* after the tag; NULL: the input ends inside it */
  hp_ref attributes; /* 0: none */
  uint32_t flags;    /* HP_TOKEN_SELF_CLOSING, or 0 */
} hp_tag_end;

/* Reads the attributes of the tag `name` from `at`, the end of the name, to the end of the tag. The
 * position of the tokenizer stays. `start` is a place in the tag, at most `at`: the search for
 * quotation marks begins there. `mark` is 0 or HP_SHARED_BLOCK, for the block. */
hp_tag_end hp_read_attributes(hp_tokenizer *tokenizer, hp_atom name, const char *start, const char *at, uint32_t mark);

/* Adds the errors of preprocessing: controls and noncharacters. The tokenizer does not find them.
 * Requires: the caller sorts the errors afterwards. */
HP_SHARED void hp_find_input_errors(const char *bytes, size_t n, hp_errors *errors);

/*** state.c: text before the end of an unfinished run, for scripts ***/

/* Reads the text from `at` on that no later input can change, as a token that is not a maximal run.
 * Returns false if there is no such text. Then `at` may be after each "</>" at the beginning, which
 * later input cannot change either. Nothing else changes. `only_white`: reads only the white
 * space at the beginning. Requires: the last call of hp_next_token returned HP_TOKEN_NEED_MORE for
 * this input. */
bool hp_flush_text(hp_tokenizer *tokenizer, hp_token *token, bool only_white);

/* The state of the tokenizer after the start tag of an HTML element, if the tree builder inserts
 * that element. */
static inline hp_text_state hp_text_state_of(hp_atom element, bool scripting) {
  switch (element) {
    case HP_ANY(TITLE, TEXTAREA): return HP_TEXT_STATE_RCDATA;
    case HP_ANY(STYLE, XMP, IFRAME, NOEMBED, NOFRAMES): return HP_TEXT_STATE_RAWTEXT;
    case HP_ATOM_NOSCRIPT: return scripting ? HP_TEXT_STATE_RAWTEXT : HP_TEXT_STATE_DATA;
    case HP_ATOM_SCRIPT: return HP_TEXT_STATE_SCRIPT_DATA;
    case HP_ATOM_PLAINTEXT: return HP_TEXT_STATE_PLAINTEXT;
    default: return HP_TEXT_STATE_DATA;
  }
}

/*** state.c: the states of the standard ***/

/* The states of the standard's state machine. A state describes a place inside of a token. The
 * tokenizer keeps none of them between tokens; it finds the state where the input ends. */

/* States that differ only within dashes, less-than signs or the end of a name are one state here.
 */
typedef enum hp_state {
  HP_STATE_DATA,
  HP_STATE_RCDATA,
  HP_STATE_RAWTEXT,
  HP_STATE_SCRIPT_DATA,
  HP_STATE_SCRIPT_DATA_ESCAPED,
  HP_STATE_SCRIPT_DATA_DOUBLE_ESCAPED,
  HP_STATE_PLAINTEXT,
  HP_STATE_CDATA_SECTION,
  HP_STATE_CHARACTER_REFERENCE,
  HP_STATE_TAG_OPEN,
  HP_STATE_END_TAG_OPEN,
  HP_STATE_TAG_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_NAME,
  HP_STATE_ATTRIBUTE_NAME,
  HP_STATE_AFTER_ATTRIBUTE_NAME,
  HP_STATE_BEFORE_ATTRIBUTE_VALUE,
  HP_STATE_DOUBLE_QUOTED,
  HP_STATE_SINGLE_QUOTED,
  HP_STATE_UNQUOTED,
  HP_STATE_AFTER_QUOTED,
  HP_STATE_SELF_CLOSING,
  HP_STATE_MARKUP_DECLARATION_OPEN,
  HP_STATE_COMMENT,
  HP_STATE_BOGUS_COMMENT,
  HP_STATE_PROCESSING_INSTRUCTION,
  HP_STATE_DOCTYPE,
  HP_STATES
} hp_state;

/* Returns the state after the bytes of a tag, of which none ends it. The tag is in `state` before
 * them, and in HP_STATE_TAG_NAME before its name. */
HP_SHARED hp_state hp_state_of_tag(hp_state state, const char *at, const char *end);

/* Returns the state after the script text [at, end), which begins in the state `from`. Requires:
 * the text does not end inside of a dash run or of a tag. */
HP_SHARED hp_script_escape hp_script_escape_at(hp_script_escape from, const char *at, const char *end);

#endif
