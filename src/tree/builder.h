#ifndef HP_TREE_BUILDER_H
#define HP_TREE_BUILDER_H

/* The tree builder: the "tree construction" stage of the standard, for documents and fragments.
 *
 * All builders are instances of one template (tree/tree_builder.inc). The *exact* builder (exact.c)
 * has all open elements on its own stack: index 0 is unused and index 1 is html. Below the stack of
 * the *speculative* builder (speculative.c) is an outer context of unknown elements: index 0 is its
 * current node, and tree/context.inc reads the rest. */

#include "base/arena.h"
#include "base/atom.h"
#include "base/error.h"
#include "base/target.h"
#include "dom/node.h"
#include "dom/tag.h"
#include "text/encoding/encoding.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

/* How the fused loop (tree/fused.inc) processes a tag. The kind of a start tag determines which
 * links of the stack the element changes. */
typedef enum hp_fused_kind {
  HP_FUSED_OTHER, /* the loop leaves the tag to its caller */
  HP_FUSED_ORDINARY,
  HP_FUSED_DIV,   /* special: closes a p */
  HP_FUSED_BLOCK, /* also bounds the search for an open li */
  HP_FUSED_HEADING,
  HP_FUSED_ITEM, /* li, dd, dt */
  HP_FUSED_FORMATTING,
  HP_FUSED_VOID,
  HP_FUSED_CELL, /* td, th */
  HP_FUSED_ROW   /* tr */
} hp_fused_kind;

/* By name: the kind of the start tag. */
extern const uint8_t hp_fused_starts[HP_KNOWN_ATOMS];
/* By the name of the current node: the kind of its end tag. Most are ORDINARY. */
extern const uint8_t hp_fused_ends[HP_TESTED_TAGS];

typedef enum hp_insertion_mode {
  HP_INITIAL,
  HP_BEFORE_HTML,
  HP_BEFORE_HEAD,
  HP_IN_HEAD,
  HP_IN_HEAD_NOSCRIPT,
  HP_AFTER_HEAD,
  HP_IN_BODY,
  HP_IN_TEXT,
  HP_IN_TABLE,
  HP_IN_CAPTION,
  HP_IN_COLUMN_GROUP,
  HP_IN_TABLE_BODY,
  HP_IN_ROW,
  HP_IN_CELL,
  HP_IN_TEMPLATE,
  HP_AFTER_BODY,
  HP_IN_FRAMESET,
  HP_AFTER_FRAMESET,
  HP_AFTER_AFTER_BODY,
  HP_AFTER_AFTER_FRAMESET,
  HP_INSERTION_MODES
} hp_insertion_mode;
/* "In table text" is no mode here: text comes as maximal runs, so a run is classified when it
 * arrives. */

/* An entry of the stack of open elements. With index i of the entry and 0 for none:
 *   previous_same   the next lower HTML element of this name
 *   scope           the highest index <= i of an element that bounds the default scope
 *   special         ... of a special element;   li_barrier  ... other than address, div and p
 * so that scope questions cost no walk (`last` of the stack holds the highest index by name).
 *
 * An element that leaves the middle of the stack leaves a tombstone, so that the elements above it
 * keep their indices. Adjacent tombstones form a run. The run's length is in `scope` of its lowest
 * entry and in previous_same of its highest entry. The element above the run has
 * HP_OPEN_ABOVE_TOMBSTONE. The lowest entry and the highest entry of the stack are never
 * tombstones.
 *
 * Special elements only move down. Therefore `special` and `li_barrier` may lead to an index
 * that no longer holds such an element. The link of the entry there then continues the search. */
typedef struct hp_open_element { // value
  hp_ref node;                   /* 0: a tombstone */
  hp_atom name;
  uint8_t ns;
  uint8_t kind;    /* hp_open_kind */
  uint16_t tag;    /* HP_TAG_ bits, HP_OPEN_ABOVE_TOMBSTONE */
  uint32_t listed; /* of a formatting element: index + 1 of its entry, if that stands for it */
  uint32_t previous_same, scope, special, li_barrier;
} hp_open_element;

/* The kinds of current nodes on which the fused loop (tree/fused.inc) can build. */
typedef enum hp_open_kind {
  HP_OPEN_OTHER, /* foreign, template, table, or the outer context */
  HP_OPEN_PLAIN,
  HP_OPEN_ROW,    /* tr */
  HP_OPEN_SECTION /* tbody, thead, tfoot */
} hp_open_kind;

enum { HP_OPEN_ABOVE_TOMBSTONE = HP_TAG_VOID }; /* void elements are never open */

/* An entry of the list of active formatting elements of a tree. A marker has node 0, a removed
 * entry has HP_FORMATTING_TOMBSTONE. The last entry is never a removed one. Entries of open
 * elements have the order of the stack. Links are the index + 1 of another entry, or 0. */
enum { HP_FORMATTING_TOMBSTONE = 1 };
typedef struct hp_formatting { // value
  hp_ref node;
  hp_atom name;
  hp_ref attributes;
  uint32_t open; /* index in the stack, while the element is open */
  /* Of linked entries. A marker leads to the previous marker. All other entries of the name that
   * precede this one have an index below `previous`. The entry before that index may have another
   * name, because entries move. */
  uint32_t previous;
  uint32_t unused;      /* An index of an entry is one shift. */
  uint32_t hash, alike; /* of name and attributes; the previous entry in the hash bucket */
} hp_formatting;

typedef struct hp_place {
  hp_ref parent;
  hp_ref next; /* 0: after the last child */
} hp_place;

/* The state of a walk over an open select in tree order, for its selectedcontent. The walk
 * continues from option to option, because the parser appends. Where the parser changes elements
 * that the walk has passed, the builder drops the state. Each option then walks by itself, until
 * such walks have taken as many steps as the dropped walk. */
typedef struct hp_selection {
  hp_ref select;    /* 0: no state */
  hp_ref seen;      /* the walk has passed this element and its descendants; 0: no element */
  hp_ref first;     /* the first option that is not disabled; 0: none */
  hp_ref selected;  /* the last option with the attribute `selected`; 0: none */
  hp_ref content;   /* the first selectedcontent; 0: none */
  hp_ref group;     /* the optgroup at the current position; 0: none */
  hp_ref excluding; /* here, the outermost element whose descendants are not its options */
  hp_ref disabling; /* here, the outermost element that disables a selectedcontent below it */
  bool disabled;    /* `content` */
} hp_selection;

/* An open select, and whether an open element below it disables its selectedcontent elements. */
typedef struct hp_known_select {
  hp_ref node;
  uint32_t index; /* in the stack */
  bool is_disabled;
} hp_known_select;

/* The contents of a template, to be cloned into those of its clone. */
typedef struct hp_clone {
  hp_ref from, to;
} hp_clone;

/* Links of an open element for end tags in foreign content. They are built once an end tag finds
 * no element near the top. */
typedef struct hp_foreign_link {
  hp_ref node;
  hp_atom name;
  uint32_t previous_same; /* the next lower foreign element of this name */
  uint32_t html;          /* the highest index <= this one of an HTML element */
  bool foreign;
} hp_foreign_link;

/* The next higher HTML element of the name of an open element. hp_stack_take notes it. It is out of
 * date if previous_same of the higher element differs. */
typedef struct hp_same_name_link {
  hp_ref node; /* the element */
  uint32_t same;
} hp_same_name_link;

/* Sees the start tags that make elements with certain names. The element may have no parent yet. Of
 * the tags that the fused loop builds, the listener sees only img and embed: the loop leaves rows
 * and cells with `background` to the rules. */
typedef struct hp_tag_listener { // value
  void (*see)(struct hp_tag_listener *listener, hp_ref element, uint32_t start);
  /* Sees an img that the fused loop has built. It has a parent. */
  void (*see_image)(struct hp_tag_listener *listener, hp_ref image, uint32_t start);
  void (*before_script)(struct hp_tag_listener *listener); /* a script may change the tree now */
  /* by atom with a fixed meaning: 1 if the listener sees elements of the name */
  const uint8_t *names;
  bool text_is_written; /* by a script; the token begins in this text */
  /* The img or embed that the fused loop has built and not shown yet; 0: none. */
  hp_ref image;
  uint32_t image_start;
} hp_tag_listener;

static inline bool hp_listens_to(const hp_tag_listener *listener, hp_atom name) {
  return name < HP_KNOWN_ATOMS && listener->names[name];
}

/* The links of hp_same_name_link, of the stack up to `top`. */
typedef struct hp_same_name_links {
  hp_same_name_link *links;
  uint32_t top, capacity;
} hp_same_name_links;

/* The links of hp_foreign_link, of the stack up to `top` as it was at the last search. */
typedef struct hp_foreign_links {
  hp_foreign_link *links;
  uint32_t top, capacity;
  uint32_t *last; /* by atom: the highest index of a foreign element there, 0: none */
  uint32_t last_capacity;
} hp_foreign_links;

/* The stack of open elements. tree/stack.h has its functions. */
typedef struct hp_open_stack {
  hp_open_element *entries, *top; /* [0] is the outer; `top` points to the current node, [depth] */
  uint32_t depth, capacity;
  uint32_t room; /* <= capacity: limit of the number of entries, with [0] */
  uint32_t max_depth;
  uint32_t *last; /* by atom: highest index of an HTML element of that name, 0: none */
  uint32_t last_capacity;
  /* In a builder whose `last` has only the names with fixed atoms: the same for the other names. */
  uint32_t *last_own;
  uint32_t last_own_capacity;
  uint32_t tombstones;
  hp_same_name_links higher;
  hp_foreign_links foreign;
} hp_open_stack;

/* Returns where the stack notes the highest index of this name. */
static inline uint32_t *hp_last_slot(const hp_open_stack *s, hp_atom name) {
  return s->last_own && name >= HP_KNOWN_ATOMS ? &s->last_own[name - HP_KNOWN_ATOMS] : &s->last[name];
}

/* Limits the number of open elements. The next element unwinds with HPAR_LIMIT_DEPTH. */
static inline void hp_stack_limit_depth(hp_open_stack *s, uint32_t depth) {
  s->max_depth = depth;
  uint64_t room = (uint64_t)depth + s->tombstones + 1;
  s->room = room < s->capacity ? (uint32_t)room : s->capacity;
}

/* The list of active formatting elements. tree/active_formatting.h has its functions. */
typedef struct hp_active_formatting {
  union {
    hp_formatting *entries;
    struct hp_outline_listed *outline_entries; /* of an outline */
  };
  uint32_t count, capacity;
  uint32_t linked; /* number of entries that have links */
  uint32_t marker; /* index + 1 of the last linked marker, or 0 */
  /* By name: index + 1 of the last linked entry, which is not removed, or 0. */
  uint32_t last[HP_FORMATTING_NAMES];
  uint32_t *alike;                     /* hash table: index + 1 of the last entry of a bucket */
  uint32_t alike_capacity, alike_size; /* number of buckets, or 0 while there is no table */
  uint32_t *attribute_places;          /* scratch of a comparison, by atom; else all 0 */
  uint32_t attribute_place_capacity;
} hp_active_formatting;

/* The state of tree/rules_select.inc for the selects of a document. Exact builder only, except
 * `has_selectedcontent`. */
typedef struct hp_select_walk {
  bool has_selectedcontent; /* some selectedcontent element exists */
  hp_selection walk;
  /* a select whose open descendants differ from the stack, because a clone replaced some */
  hp_ref stale;
  hp_clone *clones;
  uint32_t clone_count, clone_capacity;
  hp_known_select *known; /* from the bottom of the stack up; some may have left it */
  uint32_t known_count, known_capacity;
  uint64_t walk_steps, steps_since; /* of the walk, and since the walk was dropped */
} hp_select_walk;

/* The attributes that html and body have, once a later tag has added to them. Exact builder
 * only. */
typedef struct hp_merged_attributes {
  uint8_t *marks; /* by atom: bit 0, html has this attribute; bit 1, body has it */
  uint32_t capacity;
  /* bits as in `marks`: the elements that have marks; times 4: those whose block has grown */
  uint8_t targets;
} hp_merged_attributes;

typedef struct hp_script_state {
  bool scripting; /* the scripting flag. The rest is for the exact builder only */
  /* Called after the end tag of a script element, which has left the stack. The function may
   * process other tokens before it returns. NULL: scripts never run. */
  void (*ended)(void *context, hp_ref script);
  void *context;
  bool tree_changed; /* a script has changed the tree, so it may contradict the stack */
  bool text_written; /* the text of a script has left another state than the script found */
  /* The rest of the page that is there belongs to a token that begins in written text. That token
   * is incomplete, so the tokenizer's end is at its position. */
  bool page_is_used_up;
} hp_script_state;

/* Assumptions of a builder about the elements that were opened before its text, and other
 * conditions of its work. */
typedef enum hp_assumption {
  HP_ASSUME_NO_P_IN_BUTTON_SCOPE,
  HP_ASSUME_NOT_IN_SCOPE,
  HP_ASSUME_NO_LI,
  HP_ASSUME_NO_DD_DT,
  HP_ASSUME_FORMATTING_CLEAN,
  HP_ASSUME_NOAHS_ARK,
  HP_ASSUME_NO_FORMATTING,
  HP_ASSUME_NO_TEMPLATE,
  HP_ASSUME_FORM_NULL,
  HP_ASSUME_NO_SELECTEDCONTENT,
  HP_ASSUME_TOP_NOT_IMPLIED,
  HP_ASSUME_NAMESPACE,
  HP_ASSUME_MODE,
  HP_ASSUME_START_STATE, /* the token boundary or tokenizer state at which the segment begins */
  HP_ASSUMPTION_KINDS
} hp_assumption;

struct hp_builder;

/* The functions of the owner of the outer context. */
typedef struct hp_outer_owner {
  /* Log an assumption of hp_outer_assume; of hp_outer_assume_ark. */
  void (*log)(struct hp_builder *builder, hp_assumption question, hp_atom name);
  void (*log_ark)(struct hp_builder *builder, hp_atom name, uint32_t ours);
  /* The builder would have changed the outer context, or read it without a default answer. */
  void (*poison)(struct hp_builder *builder);
  /* Returns the insertion mode that applies if the builder's own elements do not determine one. */
  uint8_t (*mode)(const struct hp_builder *builder);
  /* Returns true if the builder must ignore the token, because the owner processes it. */
  bool (*takes)(struct hp_builder *builder, const hp_token *token);
  /* Returns true if the builder may go on after the token, which has left no own element open. */
  bool (*goes_on)(struct hp_builder *builder, const hp_token *token);
} hp_outer_owner;

/* What only a speculative builder uses. */
typedef struct hp_speculative_state { // value
  const hp_outer_owner *owner;
  void *outer;      /* the owner's */
  uint32_t assumed; /* bit q: assumption q was made since the segment began */
  /* Bit q: the default answer of assumption q is probably wrong. The owner of the outer context
   * decides on special start tags until it is assumed. */
  uint32_t likely_false;
  bool foreign_base;   /* the top of the outer context is assumed to be a foreign element */
  bool outer_a_likely; /* the owner of the outer context decides on each <a> */
  bool defers_scripts; /* the exact builder runs scripts */
  bool has_raw_text;   /* some run has built raw text of the chunk's own */
  /* Since the segment began, the builder has foster-parented a node, removed an element from the
   * middle of the stack, removed an entry of the list by Noah's Ark clause, or closed a heading
   * before another. */
  bool misnested;
  bool fostered;  /* since then, the builder has foster-parented a node */
  bool a_assumed; /* since then, both assumptions about an <a> as first entry were made */
  /* By formatting element: the number of the builder's own entries for which the Noah's Ark
   * assumption was made since then. */
  uint8_t ark_assumed[HP_FORMATTING_NAMES];
  uint32_t run_tokens; /* that this run has built before the current token; 0 between segments */
  /* The limit of the current run of plain tokens; NULL: the outer context was poisoned in it */
  const char *plain_limit;
} hp_speculative_state;

typedef struct hp_template_modes {
  uint8_t *modes;
  uint32_t count, capacity;
} hp_template_modes;

/* What a parse reports beside the tree. The fused loop and the usual insertion need none of it. */
typedef struct hp_observers {
  hp_errors *errors;         /* NULL: errors are not requested */
  hp_tag_listener *listener; /* NULL: none */
  /* NULL, or with a listener after all text. The fused loop compares the end of a tag of a row or
   * cell with it. With a listener, it then looks for a background. Otherwise that costs no
   * instruction. */
  const char *rows_to;
} hp_observers;

/* One load of the eight bytes serves the conditions that need several. */
typedef struct hp_builder_flags {
  bool foster_parenting, frameset_ok, ignore_lf;
  bool prepared; /* the merger has run the first half of the next token */
  bool source_offsets;
  bool takes_slowly;   /* for errors or source offsets */
  bool inserts_slowly; /* for source offsets or a listener */
  bool is_special;     /* for errors, source offsets or a listener */
} hp_builder_flags;

/* The element pointers, with 0 for null. */
typedef struct hp_element_pointers {
  hp_ref head, form;
  /* always in the exact builder; else: the worker itself has written the form pointer */
  bool form_known;
} hp_element_pointers;

//§ changing-the-encoding-while-parsing
typedef struct hp_encoding_change {
  const hp_encoding *tentative; /* of the text, while a meta element may change it; else NULL */
  const hp_encoding *declared;  /* by that meta element; NULL: none, or it equals `tentative` */
  /* the text differs in the declared encoding: the parse unwinds and restarts */
  bool restarts;
} hp_encoding_change;

typedef struct hp_fragment_case { // value
  bool is_parsed;                 /* a fragment, not a document */
  hp_open_element context;
} hp_fragment_case;

/* The limit of time, for loops whose length the input determines. */
typedef struct hp_clock_limit {
  uint64_t deadline; /* by hp_now; 0: none */
  uint32_t steps;    /* of such loops */
} hp_clock_limit;

/* What a segment leaves to the next one, beside its elements. */
typedef struct hp_segment_state { // value
  uint64_t nodes;
  hp_ref form;
  uint8_t mode;      /* at the begin of raw text: the mode after it */
  bool mode_is_base; /* `mode` is that of the outer context */
  bool frameset_not_ok, form_written;
} hp_segment_state;

typedef struct hp_builder { // NOLINT: related fields are adjacent
  hpar_document *document;
  char *base; /* of the document's range */
  hp_unwind *unwind;
  hp_arena *nodes, *bytes;
  hp_tokenizer *tokenizer;

  hp_open_stack stack;
  hp_builder_flags flags;
  uint8_t mode, original_mode;
  bool acknowledged; /* the self-closing flag that the token may have */
  hp_element_pointers pointers;
  hp_active_formatting formatting;
  hp_template_modes templates;
  hp_observers observers;
  hp_fragment_case fragment;
  uint64_t node_count;
  hp_clock_limit clock;
  hp_encoding_change encoding;
  hp_select_walk select;
  hp_merged_attributes merged;
  hp_script_state script;
  hp_speculative_state speculative;
} hp_builder;

/*** what other modules read and set ***/

/* Returns what the owner of the outer context and the speculative builder share. */
static inline hp_speculative_state *hp_speculative_of(hp_builder *b) { return &b->speculative; }
static inline const hp_speculative_state *hp_read_speculative(const hp_builder *b) { return &b->speculative; }

/* The next token's first line feed is ignored. */
static inline bool hp_ignores_lf(const hp_builder *b) { return b->flags.ignore_lf; }
static inline bool hp_takes_slowly(const hp_builder *b) { return b->flags.takes_slowly; }
/* Errors, source offsets or a listener are requested. */
static inline bool hp_builds_specially(const hp_builder *b) { return b->flags.is_special; }

static inline hp_ref hp_form_pointer(const hp_builder *b) { return b->pointers.form; }
static inline bool hp_knows_form(const hp_builder *b) { return b->pointers.form_known; }
static inline uint32_t hp_linked_marker(const hp_builder *b) { return b->formatting.marker; }
static inline uint32_t hp_tombstones(const hp_builder *b) { return b->stack.tombstones; }
static inline bool hp_has_selectedcontent(const hp_builder *b) { return b->select.has_selectedcontent; }

static inline hp_errors *hp_observed_errors(const hp_builder *b) { return b->observers.errors; }
static inline void hp_observe_errors(hp_builder *b, hp_errors *errors) { b->observers.errors = errors; }
static inline hp_tag_listener *hp_listener_of(const hp_builder *b) { return b->observers.listener; }

static inline uint64_t hp_node_count(const hp_builder *b) { return b->node_count; }
static inline void hp_set_node_count(hp_builder *b, uint64_t count) { b->node_count = count; }
static inline void hp_count_nodes(hp_builder *b, uint64_t more) { b->node_count += more; }
static inline void hp_uncount_node(hp_builder *b) { b->node_count--; }

/* Returns the encoding for which the parse restarts, or that agrees with the tentative one. */
static inline const hp_encoding *hp_changed_encoding(const hp_builder *b) { return b->encoding.declared; }

static inline bool hp_script_has_written(const hp_builder *b) { return b->script.text_written; }
static inline void hp_note_written_text(hp_builder *b) { b->script.text_written = true; }
static inline bool hp_page_is_used_up(const hp_builder *b) { return b->script.page_is_used_up; }
static inline void hp_note_page_is_used_up(hp_builder *b, bool is_used_up) { b->script.page_is_used_up = is_used_up; }

static inline void hp_outer_forget_names(hp_builder *b) {
  memset(b->speculative.ark_assumed, 0, sizeof b->speculative.ark_assumed);
  b->speculative.a_assumed = false;
}

/* Sets the state of a new document, and keeps the memory of an earlier use. Reserves `room` entries
 * of the stack. The builder then has no document and no tokenizer. */
void hp_builder_reset(hp_builder *builder, uint32_t room, hp_unwind *unwind);
/* Opens the builder. `tokenizer`, `nodes` and `bytes` belong to the same thread. The builder keeps
 * the memory of an earlier use. */
void hp_builder_open(hp_builder *builder, hpar_document *document, hp_tokenizer *tokenizer, hp_unwind *unwind);
/* Sets the listener of the start tags; NULL: none. Requires: the other options are set. */
void hp_builder_set_listener(hp_builder *builder, hp_tag_listener *listener);
void hp_builder_close(hp_builder *builder);

/* Returns the encoding that a meta start tag declares, or NULL. */
const hp_encoding *hp_declared_encoding(const hp_builder *builder, const hp_token *token);

/* Sets the context of a fragment parse: "div", "svg path", "math mi". Returns false if the name is
 * invalid. */
HP_SHARED bool hp_builder_parse_context(hp_builder *builder, const char *context);
/* Reads the namespace and the local name of a context. Returns false if the text names none. */
bool hp_read_context(const char *text, uint8_t *ns, const char **name);

//§ html-fragment-parsing-algorithm
HP_SHARED void hp_exact_begin_fragment(hp_builder *builder);

/* Processes one token. The speculative builder ignores a token that the owner of its outer context
 * takes over. */
HP_SHARED void hp_exact_token(hp_builder *builder, const hp_token *token);
void hp_speculative_token(hp_builder *builder, const hp_token *token);
typedef enum hp_plain_end {
  HP_PLAIN_OVER,  /* `limit` is reached, or the outer context is poisoned */
  HP_PLAIN_LEFT,  /* the owner of the outer context looks at `token` first; nothing has changed */
  HP_PLAIN_TAKEN, /* that owner has taken `token` */
  HP_PLAIN_BUILT  /* `token` is built but not counted, no element is open, and the run must end */
} hp_plain_end;

/* Processes the next tokens until the owner of the outer context has to act. Plain tokens take few
 * steps: content inside the worker's own elements that leaves one of them open. Requires: the
 * builder takes no token slowly. */
typedef struct hp_plain_run {
  uint32_t tokens; /* number of built tokens */
  int kind;        /* of `token`, unless `end` is HP_PLAIN_OVER */
  hp_plain_end end;
  const char *from; /* end of the built input */
} hp_plain_run;
hp_plain_run hp_speculative_plain_tokens(hp_builder *builder, hp_token *token, const char *limit);

/* The way in which the exact builder would process text now. */
typedef enum hp_text_use {
  HP_TEXT_BY_CHARACTER,
  HP_TEXT_WHITE_FIRST, /* white space by character, then the rest as a whole run */
  HP_TEXT_WHOLE        /* pending table characters: as a whole run */
} hp_text_use;
hp_text_use hp_exact_use_of_text(const hp_builder *builder);

/* Nodes that scripts make and change (tree/exact.c). The bytes stay in place. A new node
 * has no parent. */
hp_ref hp_exact_create_element(hp_builder *builder, hp_atom name, uint8_t ns);
hp_ref hp_exact_create_data(hp_builder *builder, hpar_node_type kind, const char *data, uint32_t length);
void hp_exact_set_data(hp_builder *builder, hp_ref node, const char *data, uint32_t length);
hp_ref hp_exact_clone(hp_builder *builder, hp_ref node, bool deep);
/* Returns a document node that is not the document's root. */
hp_ref hp_exact_create_root(hp_builder *builder);
/* Drops what the builder remembers about the tree, which a script changes. */
void hp_exact_forget_tree(hp_builder *builder);
/* Returns true if each open element is a child of the one below it, or of its contents: no script
 * has changed the tree, and no copy of an option has replaced open elements. */
bool hp_exact_stack_is_in_tree(const hp_builder *builder);
/* Sets the context of a fragment parse to an element of the document. */
void hp_exact_set_context(hp_builder *builder, hp_ref element);

/* Runs the steps of the token "in body" that precede its insertion, for the merger. Sets
 * `prepared`, so that the token then omits them. */
void hp_exact_prepare(hp_builder *builder, const hp_token *token);
void hp_speculative_prepare(hp_builder *builder, const hp_token *token);
/* Does the same for <tr> in a cell, a row or a table. The rules for "in table body" process the
 * rest of it. */
void hp_exact_prepare_row(hp_builder *builder, const hp_token *token);

/* Pushes an element that a worker left open onto the true stack, for the merger. */
void hp_exact_push(hp_builder *builder, const hp_open_element *element);
void hp_exact_push_template_mode(hp_builder *builder, uint8_t mode);
//§ reconstruct-the-active-formatting-elements
void hp_exact_reconstruct(hp_builder *builder);
/* Pops elements until `depth` elements are open. */
void hp_exact_pop_to(hp_builder *builder, uint32_t depth);
/* Appends the bytes of the text node `more` to those of `text`. */
void hp_exact_join_text(hp_builder *builder, hp_ref text, const hp_node *more);
//§ appropriate-place-for-inserting-a-node
HP_SHARED hp_place hp_exact_appropriate_place(hp_builder *builder);
/* Adds the modes and pointers that a segment has left to the true ones. */
void hp_exact_adopt_state(hp_builder *builder, const hp_segment_state *state, bool has_open_elements);

/* Removes all own elements, formatting entries and template modes, without the effects of popping
 * elements. */
void hp_speculative_clear(hp_builder *builder);
/* Begins a segment on an outer context in this mode, with this current node. Requires: the builder
 * is clear. */
void hp_speculative_begin_segment(hp_builder *builder, hp_ref outer, uint8_t mode, uint8_t ns);
hp_segment_state hp_speculative_state_of(const hp_builder *builder, uint8_t base_mode, bool before_raw_text);
/* Continues a segment that has left this state. Requires: the segment has begun anew. */
void hp_speculative_resume(hp_builder *builder, const hp_segment_state *state);

//§ adjusted-current-node
HP_SHARED const hp_open_element *hp_exact_adjusted_current_node(const hp_builder *builder);
bool hp_exact_adjusted_current_node_is_foreign(void *builder);
bool hp_speculative_adjusted_current_node_is_foreign(void *builder);

#endif
