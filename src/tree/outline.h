#ifndef HP_TREE_OUTLINE_H
#define HP_TREE_OUTLINE_H

/* The outline builder: the tree builder's rules without a tree. It has the stack of open elements,
 * the list of formatting elements, the modes and the pointers. Its memory is proportional to the
 * open elements and the list.
 *
 * A node (hp_node) stands for an open element, or for a closed one in the list. Its fields have
 * these meanings:
 *   kind, ns, name, flags   as in a tree
 *   parent                  the parent at the moment of insertion
 *   previous, next          two values of the owner, initially 0
 *   last                    the node of children that the owner ignores, if the element has a value
 *                           `next`; 0: such children have nodes of their own. The owner sets this
 *   first                   number of elements and closed entries of the list that share the node,
 *                           less 1
 * Most elements without owner values have one node in common. An element with a value `next` may
 * share the node of another element with that value (`twin`).
 * Nodes are in one array that may move: a reference stays valid, a pointer does not. */

#include "tree/builder.h"

enum { HP_OUTLINE_SLOT = 32 }; /* bytes */

typedef struct hp_outline_listed hp_outline_listed; /* see tree/active_formatting.h */

/* How an element came into the tree. */
typedef struct hp_outline_insertion { // value
  hp_ref node;
  hp_ref parent; /* the document node, or an element. Of template contents: the template */
  hp_ref before; /* the table before which the element was foster parented; 0: none */
  hp_ref origin; /* the element of which it is a clone; 0: none */
  bool from_tag; /* the token is its start tag */
  bool is_open;  /* it was pushed onto the stack; otherwise `node` is valid during the call only */
} hp_outline_insertion;

typedef struct hp_outline_events {
  void (*inserted)(void *context, const hp_outline_insertion *insertion);
  void (*popped)(void *context, hp_ref node);
  void (*freed)(void *context, hp_ref node); /* only for nodes with owner values */
  /* the attributes of the current tag reach the open body, or the open html; NULL: not requested */
  void (*merged)(void *context, bool is_body);
  void *context;
} hp_outline_events;

typedef union hp_outline_slot {
  hp_node node;
  char bytes[HP_OUTLINE_SLOT];
} hp_outline_slot;

struct hp_outline;
struct hp_outline_tag;
struct hp_outline_fast;

/* Texts of one kind, in any number of pieces. The kinds of a run come in the order of their first
 * characters. A NUL can end the mode, for example "in column group". White space that follows it in
 * the run therefore comes again. */
typedef enum hp_outline_text {
  HP_OUTLINE_NEWLINE, /* one, at the beginning of a run */
  HP_OUTLINE_WHITE,
  HP_OUTLINE_NUL,
  HP_OUTLINE_OTHER
} hp_outline_text;

typedef struct hp_outline_run { // value
  const char *at;               /* where the first token begins that is not processed */
  uint64_t tags;
  uint32_t highest; /* index of the highest entry of the stack; 0: nothing was processed */
  hp_atom name;     /* of the start tag at `at`, whose name has `length` bytes; or HP_NO_ATOM */
  uint32_t length;
} hp_outline_run;

/* The functions that process tokens. Those of a speculative outline have an outer context. */
typedef struct hp_outline_parts {
  void (*take_tag)(struct hp_outline *outline, const struct hp_outline_tag *tag);
  void (*take_text)(struct hp_outline *outline, hp_outline_text text);
  void (*take_doctype)(struct hp_outline *outline, const hp_doctype *doctype, bool force_quirks);
  hp_outline_run (*run_fast)(struct hp_outline *outline, const struct hp_outline_fast *fast, const char *at,
                             const char *limit, const char *end);
  bool (*text_matters)(const struct hp_outline *outline);
  bool (*takes_cdata)(struct hp_outline *outline);
} hp_outline_parts;

typedef struct hp_outline {
  hp_builder builder; /* first */
  const hp_outline_parts *parts;
  hp_outline_events events;
  hpar_quirks quirks;
  hp_text_state content; /* of the text that follows */
  hp_outline_slot *slots;
  uint8_t *uses; /* by slot: slot_use of outline_nodes.inc */
  uint32_t slot_capacity, use_capacity, slot_count;
  uint32_t free_nodes;              /* a slot index, linked by node.parent; 0: none */
  uint32_t loose, loose_limit;      /* nodes that a sweep may free */
  hp_ref origin;                    /* of the next clone */
  hp_ref root, unpushed;            /* the document; the node of elements that are not open */
  hp_ref plain;                     /* the node of all open elements that need none of their own */
  hp_ref block;                     /* of the attributes that the rules read of the current tag */
  hp_ref twin;                      /* see hp_outline_set_twin; else 0 */
  const struct hp_outline_tag *tag; /* the current tag, while the rules run */
} hp_outline;

/* A tag. The values are those that the rules of the standard read. */
typedef struct hp_outline_tag { // value
  bool is_end, self_closing;
  bool is_hidden;        /* an input of the type "hidden" */
  bool breaks_out;       /* a font with color, face or size */
  bool html_integration; /* an annotation-xml with an HTML encoding */
  bool has_attributes;   /* of a formatting element; `hash` represents them */
  hp_atom name;
  uint32_t hash[4]; /* of the set of attributes */
} hp_outline_tag;

/* Prepares the outline for a document. Keeps the memory of an earlier use. Requires: all fields are
 * zero before the first use. Unwinds through `unwind`, whose frame the caller has set. */
void hp_outline_open(hp_outline *outline, const hp_outline_events *events, bool scripting, hp_unwind *unwind);
/* Begins a fragment with this context element. */
void hp_outline_begin_fragment(hp_outline *outline, hp_atom name, uint8_t ns);
void hp_outline_close(hp_outline *outline);

static inline void hp_outline_take_tag(hp_outline *s, const hp_outline_tag *tag) { s->parts->take_tag(s, tag); }
static inline void hp_outline_take_text(hp_outline *s, hp_outline_text text) { s->parts->take_text(s, text); }
static inline void hp_outline_take_comment(hp_outline *s) { s->builder.flags.ignore_lf = false; }
static inline void hp_outline_take_doctype(hp_outline *s, const hp_doctype *doctype, bool force_quirks) {
  s->parts->take_doctype(s, doctype, force_quirks);
}
void hp_outline_take_end(hp_outline *outline);

/* What hp_outline_run_fast may process. */
typedef struct hp_outline_fast {
  const uint8_t *starts; /* by name: hp_fused_kind of the start tag, or OTHER to leave it */
  bool inherits_next;    /* an element has the node `last` of its parent if that has `next` */
} hp_outline_fast;

/* Processes text and plain tags in [at, end) without events, up to the first other token, or the
 * first tag that begins at `limit` or later. The tokenizer is in the data state at `at`. */
static inline hp_outline_run hp_outline_run_fast(hp_outline *s, const hp_outline_fast *fast, const char *at,
                                                 const char *limit, const char *end) {
  return s->parts->run_fast(s, fast, at, limit, end);
}

/* Returns true if text here can change the state. */
static inline bool hp_outline_text_matters(const hp_outline *s) { return s->parts->text_matters(s); }
static inline hp_text_state hp_outline_content(const hp_outline *outline) { return outline->content; }
static inline hpar_quirks hp_outline_quirks(const hp_outline *outline) { return outline->quirks; }
/* Returns true if "<![CDATA[" begins a section here. */
static inline bool hp_outline_takes_cdata(hp_outline *s) { return s->parts->takes_cdata(s); }

static inline hp_node *hp_outline_node(const hp_outline *outline, hp_ref node) {
  return hp_node_at((const char *)outline->slots, node);
}
/* Ends one use of the node. A sweep frees a node without uses, because an open table may have it as
 * the parent. */
static inline void hp_outline_release(hp_outline *s, hp_ref ref) {
  if (ref != s->plain && !hp_outline_node(s, ref)->first--) s->loose++;
}
/* Returns true if another element may share the node. */
bool hp_outline_may_share(const hp_outline *outline, hp_ref node);
/* Gives the element that is being inserted the node of an open element with the same `next`, for
 * which hp_outline_may_share is true. Requires: the event of an insertion is running. */
static inline void hp_outline_set_twin(hp_outline *outline, hp_ref node) { outline->twin = node; }
/* Returns true if the closed element with this node is in the list of active formatting elements.
 * Requires: it was the only element with this node. */
bool hp_outline_lists(const hp_outline *outline, hp_ref node);
/* Returns the bytes of heap memory. */
size_t hp_outline_memory(const hp_outline *outline);

/* The elements that a speculative outline leaves open at the end of a segment. The outline with the
 * true state adopts them.
 *
 * A speculative outline has an outer context of unknown elements below its own stack
 * (tree/context.inc). The node of entry 0 stands for the current node of the outer context. Its
 * value `next` belongs to the owner. */

/* An open element, or a closed element in the list of formatting elements. */
typedef struct hp_outline_entry { // value
  hp_open_element element;        /* name, ns, tag. hp_outline_adopt sets `node` */
  uint32_t parent;                /* index of the entry + 1; 0: the outer current node */
  uint16_t flags;
  uint32_t previous, next; /* values of the owner */
  bool last;               /* children that the owner ignores share the node */
} hp_outline_entry;

/* An entry of the list of formatting elements. */
typedef struct hp_saved_formatting {
  uint32_t entry; /* index of the entry + 1 in its state; 0: a marker */
  uint32_t fingerprint[3];
} hp_saved_formatting;

/* Saved states, each after the other. */
typedef struct hp_outline_log { // value
  HP_ARRAY(hp_outline_entry) entries;
  HP_ARRAY(hp_saved_formatting) formatting;
  HP_ARRAY(uint8_t) template_modes;
} hp_outline_log;

typedef struct hp_outline_state {            // value
  uint32_t entries, entry_count, open_count; /* the open elements come first */
  uint32_t formatting, formatting_count;
  uint32_t template_modes, template_count;
  uint8_t mode;
  bool mode_is_base, frameset_not_ok, form_written;
  uint32_t form; /* index of the entry + 1; 0: none; UINT32_MAX: an element that is not open */
} hp_outline_state;

void hp_outline_log_clear(hp_outline_log *log);
void hp_outline_log_free(hp_outline_log *log);

/* Makes the outline speculative. hp_outline_begin_segment must follow. Requires: the builder has an
 * outer context. */
void hp_outline_speculate(hp_outline *outline);
/* Drops all own elements without events, and begins a segment on an outer context in this mode and
 * namespace. */
void hp_outline_begin_segment(hp_outline *outline, uint8_t mode, uint8_t ns);
/* Children of the outer current node that the owner ignores share a node with this value `next`,
 * for the rest of the segment. Returns the node. */
hp_ref hp_outline_share_outer_child(hp_outline *outline, uint32_t next);
/* Saves the own elements. Returns false if another outline cannot adopt them. */
bool hp_outline_save(hp_outline *outline, uint8_t base_mode, hp_outline_log *log, hp_outline_state *state);

/* Pushes the elements of the state, whose names and owner values are those of this outline. */
void hp_outline_adopt(hp_outline *outline, hp_outline_log *log, const hp_outline_state *state);
/* Runs the steps of a start tag of this name that precede its insertion. The tag then omits them.
 * Requires: the tag belongs to the body, or is a tr. */
void hp_outline_prepare(hp_outline *outline, hp_atom name);

#endif
