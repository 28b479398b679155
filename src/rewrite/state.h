#ifndef HP_REWRITE_STATE_H
#define HP_REWRITE_STATE_H

/* The rewriter and the objects that callbacks receive.
 *
 *   rewriter.c   the interface: begin, feed, finish, options, encodings; callbacks that suspend
 *   window.c     the window over the input, failures, the second reading of a filter's output
 *   tokens.c     scanner events become tokens of the outline builder
 *   elements.c   insertions: rules, actions, callbacks, the edits of a start tag
 *   ends.c       records of open elements, and the edits where they end
 *   units.c      texts, comments, doctypes, the end of the document
 *   actions.c    what callbacks and actions do with elements
 *   urls.c       the URLs of elements and of style sheets
 *
 * team.h and speculation.h are for several threads: see docs/decisions/10-rewriter.md. */

#include "base/atom.h"
#include "base/call.h"
#include "base/error.h"
#include "base/memory.h"
#include "rewrite/edits.h"
#include "rewrite/matching.h"
#include "rewrite/scan.h"
#include "text/encoding/encoding.h"
#include "tree/outline.h"

/*** names.c ***/

/* Names of tags as atoms, in bounded memory. The names of the standard and of the rules have fixed
 * atoms. Other names have atoms while elements of that name are open. Such a name takes its bytes
 * and 16 more, and the spare bytes of the arrays. */

/* A name without a fixed atom. */
typedef struct hp_own_name {
  uint32_t place : 31;  /* in `bytes` of hp_names; 0: a free atom */
  uint32_t is_used : 1; /* mark of a sweep */
  uint32_t length;
  uint32_t next; /* in its hash chain, or of the free atoms: index + 1, or 0 */
} hp_own_name;

typedef struct hp_names {
  const hp_atoms *fixed; /* names of the rules */
  hp_own_name *own;
  uint32_t count, capacity, used, limit;
  uint32_t free, byte_limit;
  uint32_t *chains;     /* the first name of each hash chain, or 0 */
  uint32_t chain_count; /* at least half as many as names */
  char *bytes;          /* the first byte is unused */
  uint32_t byte_count, byte_capacity;
  hp_unwind *unwind;
} hp_names;

void hp_names_open(hp_names *names, const hp_atoms *fixed, hp_unwind *unwind);
void hp_names_close(hp_names *names);

/* Returns the atom of a name in lower case, or HP_NO_ATOM if no open element and no rule has it. */
hp_atom hp_names_find(const hp_names *names, const char *bytes, size_t length);
/* Does the same, but makes an atom. */
hp_atom hp_names_add(hp_names *names, const char *bytes, size_t length);
/* Returns the bytes of a name. They are valid until the next call of hp_names_add or
 * hp_names_sweep. */
hp_name hp_names_of(const hp_names *names, hp_atom atom);

/* Returns true for a name of the standard or of the rules. */
static inline bool hp_names_is_fixed(const hp_names *n, hp_atom atom) {
  return atom < HP_KNOWN_ATOMS + n->fixed->count;
}

static inline size_t hp_names_memory(const hp_names *n) {
  return n->capacity * sizeof *n->own + n->byte_capacity + n->chain_count * sizeof *n->chains;
}

/* Returns true if names are to be swept. The owner then marks those of all open elements, and calls
 * hp_names_sweep with their number. A sweep takes time for each of them and for the most names that
 * there ever were. The next one comes after a share of both in new names, or in their bytes. */
static inline bool hp_names_are_many(const hp_names *n) { return n->used > n->limit || n->byte_count > n->byte_limit; }
void hp_names_mark(hp_names *names, hp_atom atom);
void hp_names_sweep(hp_names *names, uint32_t depth);

/*** records of open elements ***/

typedef struct hp_end_call {
  hpar_element_end_callback callback;
  void *context;
  uint32_t rule; /* to retire; UINT32_MAX: none */
} hp_end_call;

typedef HP_ARRAY(hp_end_call) hp_end_calls;
typedef HP_ARRAY(uint32_t) hp_rule_list;

typedef enum hp_muting { HP_MUTES_NOTHING, HP_MUTES_CONTENT, HP_MUTES_ELEMENT } hp_muting;

/* What is to happen at the end of an element. */
typedef struct hp_ending {
  hp_bytes append, after, rename;
  hp_end_calls ends;
  hp_rule_list scopes; /* rules for the text and the comments inside */
  uint8_t muting;      /* hp_muting */
  bool renames, unwraps;
} hp_ending;

/* The ending of an open element. A node has the index of its record in `previous`. Clones of a
 * formatting element share its record. */
typedef struct hp_end_record {
  uint32_t users; /* nodes; 0: the record is free */
  uint32_t next_free;
  uint32_t scope_depth; /* open nodes whose texts and comments `scopes` receive */
  hp_ending ending;
  bool has_tag, has_ended;
  bool is_inert;     /* it has ended, and clones of the element need no edit */
  uint32_t moved_to; /* index + 1 in the log of a worker; 0: none */
} hp_end_record;

typedef struct hp_end_records {
  hp_end_record *items; /* index 0 is unused */
  uint32_t count, capacity;
  uint32_t free;             /* the first free record, or 0 */
  uint32_t open;             /* in use, and not inert */
  uint32_t unmute_after_tag; /* removed elements that the current tag ends */
  hp_bytes after_tag;        /* goes after the current end tag */
} hp_end_records;

void hp_ending_close(hp_ending *ending);

/* Empties the list, and frees what records have. */
void hp_end_records_reset(hp_end_records *records);
/* Empties the list. The records keep their buffers. */
void hp_end_records_forget(hp_end_records *records);
void hp_end_records_close(hp_end_records *records);
/* Moves a record of a log to the list, and leaves its index there. */
void hp_end_records_adopt(hp_end_records *records, hp_end_record *from, hp_unwind *unwind);

static inline size_t hp_end_records_memory(const hp_end_records *s) {
  return s->capacity * sizeof *s->items + s->after_tag.capacity;
}

/*** elements ***/

typedef struct hp_attribute_edit {
  uint32_t span; /* UINT32_MAX: a new attribute */
  bool unsets;
  bool drops_duplicates;                           /* some action has removed the attribute */
  uint32_t name, name_length, value, value_length; /* in `edit_text` */
} hp_attribute_edit;

typedef struct hp_kept_attribute {
  hp_atom name;
  uint32_t value, length; /* in `values` */
} hp_kept_attribute;

/* The open html or body element, as selectors have seen it. A later <html> or <body> tag adds
 * attributes to it, and rules then see the element again. */
typedef struct hp_merge_target {
  bool is_known; /* rules read such tags, and the element is open */
  uint32_t of_type;
  hp_bytes frame;                         /* the parent's frame before the element */
  HP_ARRAY(hp_kept_attribute) attributes; /* only names in selectors */
  hp_bytes values;
  hp_bytes matched; /* a bit for each rule that has run for the element */
} hp_merge_target;

/* What callbacks receive begins with its public part, which is filled before a callback and never
 * read: the callback may write to it. */

/* An element while its rules run. Its buffers serve all elements of the stream. */
typedef struct hp_element {
  hpar_element shown;
  hpar_rewriter *rewriter;
  hp_ref node;
  hp_atom merges_into;            /* html or body get attributes of the tag; 0: an element begins */
  hp_merge_target *merge_targets; /* html, body; or NULL */
  hp_merge_target *target;        /* of html and body; otherwise NULL */
  bool has_tag, is_open, is_removed, is_muted;
  uint64_t end; /* of the tag, which begins at token.start; without a tag, token.start as well */
  hp_bytes before, prepend, edit_text;
  hp_attribute_edit *edits;
  uint32_t edit_count, edit_capacity;
  hp_ending ending;
} hp_element;

typedef struct hp_element_end {
  hpar_element_end shown;
  hpar_rewriter *rewriter;
  hp_end_record *record;
  hp_ref node;
  bool is_match; /* its own end tag ends it */
  bool removes_tag;
} hp_element_end;

/* The edits of a text or a comment. */
typedef struct hp_unit_edits {
  hp_bytes before, after, replacement;
  bool is_removed;
} hp_unit_edits;

typedef struct hp_text_piece {
  hpar_text_piece shown;
  hpar_rewriter *rewriter;
  hpar_string raw;
  uint64_t offset;
  hpar_text_kind kind;
  bool is_first, is_last;
  bool in_section; /* where it begins */
  hp_unit_edits edits;
} hp_text_piece;

/* Where a comment and its data are in the input. `kind` is that of hp_scanned_comment. */
typedef struct hp_comment_place {
  uint64_t start, end, data_start, data_end;
  uint8_t kind;
} hp_comment_place;

typedef struct hp_comment {
  hpar_comment shown;
  hpar_rewriter *rewriter;
  hp_comment_place place;
  hpar_string data;
  bool is_instruction, is_conditional;
  bool is_plain; /* begins with "<!--", and another text may take the place of its own */
  bool is_changed;
  hp_bytes text; /* if `is_changed` */
  hp_unit_edits edits;
} hp_comment;

typedef struct hp_doctype_unit {
  hpar_doctype shown;
  bool is_removed;
} hp_doctype_unit;

struct hpar_document_end {
  hpar_rewriter *rewriter;
};

typedef enum hp_phase {
  HP_PHASE_NONE,  /* no stream */
  HP_PHASE_BEGIN, /* the first bytes may be a byte order mark */
  HP_PHASE_RUNS,
  HP_PHASE_PASSES, /* the input is passed on */
  HP_PHASE_FAILED
} hp_phase;

typedef struct hp_find {
  uint64_t from, to;
  uint32_t text, length; /* in find_text */
} hp_find;

/* The finds of an action in a run of texts: see readable.c. */
typedef struct hp_run_place {
  uint64_t from, to;
  bool is_first; /* of the find's pieces */
} hp_run_place;

typedef struct hp_run {
  uint64_t end; /* the run is before it */
  HP_ARRAY(hp_run_place) places;
  uint32_t next;   /* the first one in later texts */
  bool is_refused; /* the find whose first piece was last */
} hp_run;

/* A text of a run. */
typedef struct hp_text_of_run {
  uint64_t from;
  uint32_t length, at; /* in the input; where it begins in the text of the run */
} hp_text_of_run;

/* The text and the comment that rules edit. */
typedef struct hp_units {
  hp_text_piece piece;
  hp_comment comment;
  hp_find *finds;
  uint32_t find_count, find_capacity;
  uint32_t earlier_count, earlier; /* finds of earlier actions; the first one that may end later */
  hp_find *later;                  /* to sort the finds */
  uint32_t later_capacity;
  hp_bytes find_text;
  uint64_t run_end;  /* the window has all texts of the run before it */
  uint64_t run_wait; /* the window must end here or later to have more of the run */
  hp_run *runs;      /* by hp_rule.runs + index of the action */
  uint32_t run_capacity;
  HP_ARRAY(hp_text_of_run) run_texts;
  hp_bytes run_text;
  struct hp_urls *urls; /* NULL: no rule edits URLs */
} hp_units;

/* The token that the loop processes, or the end of the input. */
typedef struct hp_current_token {
  uint64_t start, end;
  hp_outline_tag tag;
  bool is_tag, has_spans, at_end;
  bool is_halved;       /* the merger has run the first half of the tag */
  bool opens;           /* the tag has opened an element, or added attributes to one */
  bool closes;          /* the tag has closed an element */
  bool is_edited;       /* the end tag; it may close an element and its clones */
  uint32_t name_length; /* of the tag's name in the input */
  uint64_t inserted_to; /* the end of the last start tag or comment since a rule is for texts */
  const char *closer;   /* closes what is open at the end of the input; NULL: none */
  hp_spans spans;       /* attributes of the tag, if `has_spans` */
} hp_current_token;

/* What is around a text. */
typedef enum hp_text_place {
  HP_TEXT_VISIBLE = 1,
  HP_TEXT_IN_SCRIPT = 2,
  HP_TEXT_IN_STYLE = 4,
  HP_TEXT_IN_TITLE = 8,
  HP_TEXT_ELSEWHERE = 16, /* in iframe, noembed, noframes, or noscript with scripting */
  HP_TEXT_UNKNOWN = 0     /* only the merger knows */
} hp_text_place;

/* The state of the scanner at the beginning of a piece of a text. */
typedef struct hp_piece_state {
  uint8_t script, dashes; /* `dashes`: brackets in a section */
  bool in_section;
  unsigned char lead;
} hp_piece_state;

/* The text here: rules see it in pieces, or whole when it ends. */
typedef struct hp_current_text {
  uint64_t start;        /* of the part that is not delivered */
  hp_text_state content; /* the scanner's content at the start of the text */
  bool is_open, is_first, after_cr;
  bool is_escaped;      /* raw text that loses its tags: its special characters become references */
  uint8_t changed_end;  /* bits of the last two bytes that are delivered: edits have changed them */
  uint8_t place;        /* hp_text_place, while rules edit the text */
  bool seen[4];         /* hp_outline_text */
  hp_piece_state state; /* at `start` */
} hp_current_text;

typedef struct hp_stream_progress {
  hp_phase phase;
  hpar_status status; /* of the failure */
  const char *error;  /* why the stream has failed */
  bool lacks_memory;  /* a callback has read no value, and cannot know that there is one */
  uint64_t deadline;  /* when options.max_time_ns ends; 0: never */
} hp_stream_progress;

/* The calls from outside. */
typedef struct hp_rewriter_calls {
  hp_in_use use;       /* of the running call */
  hpar_status last;    /* of the last call */
  const char *refusal; /* why the running call is refused; NULL: it is not */
  hpar_error *failure; /* of a call that failed; `refusal` may be its text; NULL without memory */
} hp_rewriter_calls;

/* The encoding of the input that the scanner reads. */
typedef struct hp_input_encoding {
  const hp_encoding *used; /* NULL: unknown */
  bool is_certain;
  uint8_t undeclared;  /* of tokens.c: what the confirmer has read, while `used` is NULL */
  hp_decoder *decoder; /* of UTF-16 */
} hp_input_encoding;

/* The input that waits for the scanner: see window.c. */
typedef struct hp_window {
  hp_bytes held; /* from the previous feeds */
  uint64_t received;
  const char *feed; /* the bytes of the running feed that follow the window */
  size_t feed_left;
  /* the loop stops after the token that ends here or later; NULL: none */
  const char *limit;
  char first[3]; /* `first_count` bytes that may be a part of a byte order mark */
  uint8_t first_count;
  uint8_t mark_bytes;   /* of a byte order mark, which is no text */
  bool keeps_tags;      /* the window has each tag up to its end */
  bool after_less_than; /* the byte before the window is "<" */
} hp_window;

/* The trace of a rewriter: the events of several threads that rewrite a window. Any thread adds
 * them. The feeding thread reports them after the window. */
typedef struct hp_rewrite_trace hp_rewrite_trace;
struct hp_rewrite_trace {
  hp_trace trace;
  void (*begin)(hp_rewrite_trace *);  /* a stream begins */
  void (*report)(hp_rewrite_trace *); /* a window has ended */
  void (*destroy)(hp_rewrite_trace *);
};

/* What a rewriter has if several threads rewrite one input. */
typedef struct hp_rewriter_parts {
  struct hp_speculation *speculation; /* of a worker; NULL: the rewriter has the true state */
  struct hp_rewrite_team *team;       /* of the merger: see team.h; NULL: none */
  hp_rewrite_trace *trace;            /* NULL: none */
} hp_rewriter_parts;

struct hpar_rewriter {
  hp_unwind unwind;
  void *owner; /* for callbacks of rules that several rewriters share */
  const hpar_rules *rules;
  hp_running_rules running;
  hpar_rewrite_options options; /* with defaults in place of zeros */
  hpar_rewrite_stats stats;     /* without what finish adds */
  hp_stream_progress progress;
  hp_rewriter_calls calls;

  hp_scanner scanner;
  hp_outline outline;
  hp_names names;
  hp_matching matching;
  hp_scratch scratch;
  hp_current_token token;
  hp_current_text text;
  hp_edits edits;
  hp_end_records ends;
  hp_sink sink;
  hp_window window;
  hp_input_encoding encoding;
  hp_rewriter_parts parallel;
  struct hp_suspension *suspension; /* NULL: callbacks may not suspend */
  hpar_rewriter *confirmer;         /* reads the output of this one: see window.c; NULL: none */

  hp_element element;
  hp_units *units; /* NULL unless a rule edits texts or comments */
};

/*** rewriter.c ***/

/* Opens a rewriter for a worker: it has the rules and the options of `merger`. */
hpar_status hp_rewriter_open_worker(hpar_rewriter *worker, const hpar_rewriter *merger, hpar_write_callback write,
                                    void *context);

/*** rewriter.c: callbacks whose answer comes later ***/

/* Callbacks whose answer comes later: hpar_rewrite_options.suspends.
 *
 * A callback may be deep inside the tree construction, which has no state between two halves of a
 * token. The calls of such a stream therefore run on a stack of the rewriter. They leave it to call
 * the caller's functions, on the caller's stack. If a callback suspends, the stack stays as it is
 * until the answer comes, and so do the input and the object that the callback received. */

/* Calls a function of the caller: `callback` holds it. */
typedef hpar_status (*hp_unit_call)(void *unit, const void *callback);

typedef struct hp_suspension {
  struct hp_coroutine *coroutine;
  bool waits; /* for the answer of a callback */
  /* What is to run on the caller's stack, and its result. */
  hp_unit_call call;
  void *unit;
  const void *callback;
  hpar_status answer;
  /* The call that runs on the own stack: its result, and the error of the caller or NULL. */
  hpar_status status;
  hpar_error *error;
  /* The caller's output function. */
  hpar_write_callback write;
  void *context;
} hp_suspension;

/* Calls it on the caller's stack, and returns its answer. Requires: there is a suspension. */
hpar_status hp_suspension_call(hpar_rewriter *rewriter, hp_unit_call call, void *unit, const void *callback);
static inline hpar_status hp_rewriter_call(hpar_rewriter *r, hp_unit_call call, void *unit, const void *callback) {
  if (__builtin_expect(r->suspension != NULL, 0)) return hp_suspension_call(r, call, unit, callback);
  return call(unit, callback);
}

/* Defines call_NAME, which calls the callback NAME of a rule. */
#define HP_DEFINE_CALL(name)                                         \
  static hpar_status call_##name(void *unit, const void *callback) { \
    const hpar_rule *rule = callback;                                \
    return rule->name(unit, rule->context);                          \
  }

/*** window.c ***/

/* Scans a window that begins at `position`. Several threads may scan the bytes of a feed. Returns
 * the position from which the input stays. */
uint64_t hp_window_scan(hpar_rewriter *rewriter, const char *bytes, size_t length, uint64_t position, bool is_feed);
/* Feeds bytes of an encoding that the scanner reads. */
hpar_status hp_window_feed(hpar_rewriter *rewriter, const char *bytes, size_t length);
/* Writes what is complete and ends the rewriting. With HPAR_FAIL_PASS passes on the rest. */
hpar_status hp_window_fail(hpar_rewriter *rewriter, hpar_status status);
void hp_window_check_memory(hpar_rewriter *rewriter);

/* Ends the stream with a failure. */
_Noreturn void hp_rewriter_fail(hpar_rewriter *rewriter, hpar_status status, const char *error);
/* Handles what a callback returns. */
void hp_rewriter_take_result(hpar_rewriter *rewriter, hpar_status result, uint32_t rule);
/* The rule matches no more elements. */
void hp_rewriter_complete_rule(hpar_rewriter *rewriter, uint32_t rule);
/* Returns the input at a position in the window. */
static inline const char *hp_rewriter_at(const hpar_rewriter *r, uint64_t position) {
  return r->scanner.begin + (position - r->scanner.position);
}
/* Returns the encoding that decodes values. */
const hp_encoding *hp_rewriter_encoding(const hpar_rewriter *rewriter);
/* Returns the encoding of inserted text; NULL: it is uncertain. */
static inline const hp_encoding *hp_rewriter_target(const hpar_rewriter *r) {
  return r->encoding.is_certain ? r->encoding.used : NULL;
}
/* Returns true if the encoding has characters of two or more bytes, and is not UTF-8. Their last
 * bytes may be ASCII, or begin a character at another place. */
static inline bool hp_rewriter_has_codes(const hpar_rewriter *r) {
  const hp_encoding_kind kind = hp_rewriter_encoding(r)->kind;
  return kind != HP_ENCODING_UTF8 && kind != HP_ENCODING_SINGLE_BYTE && kind != HP_ENCODING_X_USER_DEFINED;
}
/* Writes the output for the input before `position`. Its edits are complete. */
static inline void hp_rewriter_flush(hpar_rewriter *r, uint64_t position) {
  hp_edits_apply(&r->edits, &r->sink, r->scanner.begin, r->scanner.position, position);
  hp_edits_mark(&r->edits, position);
}
/* Sets the encoding of the input that follows; NULL: unknown. */
static inline void hp_rewriter_use_encoding(hpar_rewriter *r, const hp_encoding *encoding, bool is_certain) {
  r->encoding.used = encoding;
  r->encoding.is_certain = is_certain;
  r->scanner.wide = encoding && hp_encoding_has_bracket_trails(encoding) ? encoding : NULL;
}
static inline bool hp_rewriter_writes_utf8(const hpar_rewriter *r) {
  return r->encoding.is_certain && r->encoding.used->kind == HP_ENCODING_UTF8;
}

/*** tokens.c ***/

/* Processes the events of the window. */
void hp_rewriter_scan(hpar_rewriter *rewriter);
/* Fails if the token at the end of the window is longer than max_token already. */
void hp_rewriter_check_unfinished(hpar_rewriter *rewriter);
/* Sets which comments and doctypes the scanner captures. */
static inline void hp_rewriter_set_captures(hpar_rewriter *r) {
  r->scanner.captures.comments = r->running.comments != 0;
  r->scanner.captures.doctypes = r->running.doctypes || r->outline.builder.mode == HP_INITIAL;
}
/* A meta element declares the encoding: a browser reads the page again. The confirmer refuses the
 * page if what it has read means something else then. */
void hp_rewriter_declare_encoding(hpar_rewriter *rewriter, const hp_encoding *encoding);
/* Ends the input. */
void hp_rewriter_end(hpar_rewriter *rewriter);
/* Returns true for the end of an input that ends with "</", which is text there. What follows it
 * makes a tag or a comment of it, unless hp_solidus_closer is between: "</>" is no token. */
bool hp_rewriter_is_after_solidus(const hpar_rewriter *rewriter, uint64_t position);
extern const char hp_solidus_closer[];
/* Ends the current text at a position. */
void hp_rewriter_end_text(hpar_rewriter *rewriter, uint64_t position);
/* Ends the part of the current text before the token, if there is one. Pieces of it may already be
 * delivered: an empty last piece then follows. */
static inline void hp_rewriter_split_text(hpar_rewriter *r) {
  if (r->text.is_open && (r->token.start > r->text.start || !r->text.is_first)) hp_rewriter_end_text(r, r->token.start);
}

/*** elements.c ***/

void hp_rewriter_inserted(void *context, const hp_outline_insertion *insertion);
/* Runs the rules that the last step of the matcher found, and applies their edits. */
void hp_rewriter_apply_rules(hpar_rewriter *rewriter, const hp_outline_insertion *insertion, bool has_tag);
/* Returns the attributes of the current tag as the matcher reads them in an element of this
 * namespace, with decoded values. */
const hp_attributes *hp_rewriter_attributes(hpar_rewriter *rewriter, uint8_t ns);
/* Inserts text at a position of the input, unless it is inside removed content. Most insertions are
 * empty. */
void hp_rewriter_insert_text(hpar_rewriter *rewriter, uint64_t position, const char *text, size_t length);
static inline void hp_rewriter_insert(hpar_rewriter *r, uint64_t position, const hp_bytes *text) {
  if (text->length) hp_rewriter_insert_text(r, position, text->data, text->length);
}
void hp_rewriter_drop(hpar_rewriter *rewriter, uint64_t from, uint64_t to);
void hp_rewriter_write_separator(hpar_rewriter *rewriter, uint64_t position);
/* The same at any place of a text in the data state. */
void hp_rewriter_separate_text(hpar_rewriter *rewriter, uint64_t position);
/* Keeps a "<" that is text before `position` apart from what follows it in the output: inserts
 * "</>", which is no token. `first` is inserted there next; NULL: the input is dropped. */
static inline void hp_rewriter_separate(hpar_rewriter *r, uint64_t position, const hp_bytes *first) {
  if (!first || (first->length && *first->data != '<')) hp_rewriter_write_separator(r, position);
}

/* True for the rewriter of a worker. In a build without parallel parsers it is the constant 0. As
 * the first condition, it removes calls of what this build does not have. */
#define hp_speculates(rewriter) (HPAR_PARALLEL && (rewriter)->parallel.speculation != NULL)

void hp_merge_targets_reset(hpar_rewriter *rewriter);
void hp_merge_targets_close(hpar_rewriter *rewriter);
size_t hp_merge_targets_memory(const hpar_rewriter *rewriter);
void hp_rewriter_merged(void *context, bool is_body);

/*** ends.c ***/

void hp_rewriter_popped(void *context, hp_ref node);
void hp_rewriter_freed(void *context, hp_ref node);
/* Ends body or html at an end tag that the standard accepts for it. */
void hp_rewriter_end_at_tag(hpar_rewriter *rewriter, hp_ref node);
/* The scope of a rule begins or ends: its texts and comments receive the rule. */
void hp_rewriter_change_scope(hpar_rewriter *rewriter, uint32_t rule, bool opens);
/* Makes a record of the element for its end. */
void hp_rewriter_record(hpar_rewriter *rewriter, hp_element *element);
/* Ends an element without content, behind its tag. */
void hp_rewriter_end_empty(hpar_rewriter *rewriter, hp_element *element);
/* A clone of a formatting element shares its record. */
void hp_rewriter_share_record(hpar_rewriter *rewriter, hp_ref origin, hp_ref clone);

/*** window.c: the confirmer ***/

/* The output goes through the confirmer to `write`. */
hpar_status hp_confirm_open(hpar_rewriter *rewriter, hpar_write_callback write, void *context);
/* Takes output of the rewriter `context`. */
hpar_status hp_confirm_take(const char *bytes, size_t length, void *context);
/* The output is complete. Returns the status of the confirmer. */
hpar_status hp_confirm_finish(hpar_rewriter *rewriter);
/* Fails if the rules would edit an element of the output again. */
void hp_confirm_element(hpar_rewriter *confirmer, const hp_element *element);

/*** units.c ***/

/* Makes the units, unless they are there. */
void hp_units_open(hpar_rewriter *rewriter);
void hp_units_close(hpar_rewriter *rewriter);
size_t hp_units_memory(const hpar_rewriter *rewriter);
/* Writes character references for the special characters of raw text that loses its tags. */
void hp_rewriter_escape_raw_text(hpar_rewriter *rewriter, uint64_t from, uint64_t to, hp_text_state content);
/* Gives the text from text.start to `end` to the rules. */
void hp_rewriter_deliver_text(hpar_rewriter *rewriter, uint64_t end, bool is_last);
/* The same for a text whose text.place is known. */
void hp_rewriter_edit_text(hpar_rewriter *rewriter, uint64_t end, bool is_last);
/* The same without the rules, which the merger runs later. */
void hp_rewriter_leave_text(hpar_rewriter *rewriter, uint64_t end, bool is_last);
/* Returns a scanner for bytes that are in the place of the current piece of a text. */
hp_scanner hp_rewriter_scan_piece(const hpar_rewriter *rewriter, const char *bytes, size_t length);
/* Returns what is around the current text. */
hp_text_place hp_rewriter_text_place(const hpar_rewriter *rewriter);
/* Adds a find, which replaces the input in [from, to), unless an earlier action has a part of it.
 * The places between the two other calls ascend. Returns false if there is no find. */
void hp_units_begin_finds(hpar_rewriter *rewriter);
bool hp_units_add_find(hpar_rewriter *rewriter, uint64_t from, uint64_t to, hpar_string by, hpar_content format,
                       bool in_section);
void hp_units_end_finds(hpar_rewriter *rewriter);
void hp_rewriter_deliver_comment(hpar_rewriter *rewriter, const hp_comment_place *place);
void hp_rewriter_deliver_doctype(hpar_rewriter *rewriter, const hp_doctype *parts);
void hp_rewriter_deliver_end(hpar_rewriter *rewriter);

/*** actions.c ***/

/* Fills the part of the element that callbacks read. */
void hp_element_show(hp_element *element);
/* Returns the value of an attribute with its edits, valid until the next edit; `bytes` NULL: the
 * element lacks it. */
hpar_string hp_element_value(const hp_element *element, hpar_string name);
/* The same without the edits. */
hpar_string hp_element_tag_value(const hp_element *element, hpar_string name);
/* Sets an attribute whose name is in lower case. `bytes` NULL: removes those that the name, as a
 * pattern, matches. */
void hp_element_set_value(hp_element *element, hpar_string name, hpar_string value);
/* Adds edits for the duplicates of removed attributes: the standard drops them only after it. */
void hp_element_drop_duplicates(hp_element *element);
/* Applies an action that hpar_rules_add accepted. Unwinds if memory is short. */
hpar_status hp_element_act(hp_element *element, const hpar_action *action);
/* Appends the content at the end or, with `in_front`, at the beginning. */
hpar_status hp_content_add(hpar_rewriter *rewriter, hp_bytes *to, bool in_front, const char *content, size_t length,
                           hp_place_kind place);
/* Replaces the bytes by the content. Changes nothing if it fails. */
hpar_status hp_content_set(hpar_rewriter *rewriter, hp_bytes *to, const char *content, size_t length,
                           hp_place_kind place);
static inline bool hp_is_format(hpar_content format) {
  return format == HPAR_CONTENT_TEXT || format == HPAR_CONTENT_HTML;
}
/* Returns how the content is written between two tags. */
static inline hp_place_kind hp_place_of(hpar_content format) {
  return format == HPAR_CONTENT_TEXT ? HP_PLACE_TEXT : HP_PLACE_HTML;
}

/* Returns where the options let their call explain a failure, or NULL. Empties the error there. */
hpar_error *hp_rewrite_error_of(const hpar_rewrite_options *options);

/* Copies and checks the caller's options; NULL: the defaults. `error` may be NULL. */
hpar_status hp_read_rewrite_options(hpar_rewrite_options *full, const hpar_rewrite_options *given, hpar_error *error);

#endif
