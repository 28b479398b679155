#ifndef HP_SELECT_MATCH_H
#define HP_SELECT_MATCH_H

/* Steps through elements in document order and finds the instructions that match each of them.
 *
 * A *frame* belongs to an open element. It holds the instructions that are active for its children,
 * by the combinator that made them so:
 *   child   children of the frame's element
 *   heir    descendants of it
 *   next    the next child
 *   later   all later children
 * One step costs one AND per word of instructions and one test per candidate. */

#include "base/bytes.h"
#include "dom/value.h"
#include "select/program.h"

#include <stdatomic.h>

typedef uint64_t hp_bits;

enum { HP_BITS = 64 };

static inline bool hp_bit_is_set(const hp_bits *bits, uint32_t i) { return bits[i / HP_BITS] >> (i % HP_BITS) & 1; }
static inline void hp_set_bit(hp_bits *bits, uint32_t i) { bits[i / HP_BITS] |= (hp_bits)1 << (i % HP_BITS); }

/* A hash table from the hash of a key to a row of bits. A row may hold instructions of several
 * keys. */
typedef struct hp_row_table {
  struct hp_row_slot {
    uint64_t key; /* 0: free */
    uint32_t row;
  } * slots;                       /* NULL: there is no key */
  uint32_t mask;                   /* slots - 1 */
  uint32_t key_count;              /* 1: one key, exactly; 2 or more: several */
  uint32_t text, length, only_row; /* of the only key: a place in the set's text */
  hp_atom atom;                    /* of the only key */
} hp_row_table;

typedef struct hp_bound_name {
  hp_atom exact, lower; /* HP_NO_ATOM: no element of the document has the name */
} hp_bound_name;

/* Notes the candidates that a frame with unknown bits could activate, and what other frames have
 * for such candidates. All sets have `words` words. The *near* bits of a frame are those of child,
 * next and later: at most one of the three combinators can activate an instruction.
 *
 * The match of a child of the frame's element may depend on a near bit at the beginning, or on the
 * number of earlier children. If just one instruction depends on them, and it is in `resolvable`,
 * then `condition` is its number, plus 1. It is not in `matched`. Otherwise the near bits are
 * noted. `gives_up` is set if an instruction then still depends on the number of children. Other
 * instructions assume that they come after the first children, as most children do. */
typedef struct hp_candidate_log { // value
  /* the noted candidates that near or heir bits activate; NULL: no frame has unknown bits */
  hp_bits *near, *heir;
  hp_bits *learned; /* by candidate: the near bit of the last parent with known bits */
  /* instructions after these combinators */
  const hp_bits *after_near, *after_heir, *after_next;
  const hp_bits *resolvable; /* accepting instructions; NULL: no frame has unknown bits */
  hp_bits *own_later;        /* later bits that known children have set; NULL: no frame has any */
  const hp_bits *counting;   /* instructions that depend on numbers of children; NULL: none does */
  hp_bits *unknown, *maybe;  /* scratch: activated by unknown bits; may hold */
  uint32_t condition;        /* of the last step; 0: none */
  bool reads_bit;            /* `condition` depends on the near bit of its instruction */
  uint32_t test, index;      /* `condition` depends on this test + 1, with this number; 0: none */
  bool gives_up;
  bool knows_counts;     /* the numbers of children are known, unlike the bits */
  uint32_t earlier;      /* the part of the parent's number that comes from the assumption */
  bool assumes;          /* scratch: the tested instruction is not in `resolvable` */
  uint32_t min_children; /* the assumed number of earlier children */
  bool is_child;         /* the parent is the element with unknown bits */
} hp_candidate_log;

/* The instructions that a name or an attribute makes candidates. */
typedef struct hp_candidate_index {
  hp_bits *rows; /* each has the words of a set, and holds `universal` */
  uint32_t row_count, row_capacity;
  uint32_t *tag_rows; /* HP_KNOWN_ATOMS: of the names with fixed atoms */
  hp_row_table tags, ids, classes, attributes;
  bool reads_attributes; /* a table other than `tags` is used */
  hp_atom only_name;     /* the tables have one key, of this attribute; 0: more */
  uint32_t only_row;     /* of the key */
} hp_candidate_index;

typedef struct hp_instruction_sets {
  hp_bits *universal, *entries, *accepts;
  hp_bits *sure;             /* each candidate matches without a test */
  hp_atom *only_attribute;   /* of each instruction: its presence decides; 0: none */
  hp_bits *by_attribute;     /* filed under an id, a class or an attribute */
  hp_bits *by_combinator[5]; /* those that a combinator follows */
} hp_instruction_sets;

/* A hash table of the numbers of children by type. */
typedef struct hp_type_counts {
  struct hp_type_count {
    uint64_t key; /* parent, name and namespace; 0: free */
    uint32_t count;
  } * slots;
  uint32_t mask, count;
} hp_type_counts;

/* The selectors together with one document. */
typedef struct hp_matcher {
  const hpar_selectors *set;
  const hpar_document *document; /* NULL in a stream, whose attribute values are decoded */
  const char *base;              /* of the nodes */
  hp_ref scope;
  hpar_string language; /* if elements inherit none; the caller sets it */
  bool is_quirky;       /* ids and classes ignore ASCII case */
  bool reads_frames;    /* a combinator or a test needs the frames */
  uint32_t words;       /* of a set of instructions */
  hp_bound_name *names;
  hp_candidate_index index;
  hp_instruction_sets sets;
  hp_bits *matched;                 /* of the last step */
  hp_bits *active;                  /* scratch of a step */
  const hp_bits *ahead;             /* look-ahead tests that hold; NULL: none does */
  const struct hp_checked *checked; /* NULL, as in a stream: attributes decide */
  hp_candidate_log *log;            /* NULL: none */
  hp_type_counts types;
} hp_matcher;

typedef struct hp_frame {    // value
  hp_ref element;            /* 0: the document */
  hp_ref next;               /* the sibling after it; only hp_walk sets it */
  uint32_t children;         /* elements so far */
  uint32_t of_type;          /* children so far with the type of the last one, it included */
  bool is_disabled;          /* a fieldset around it disables its form controls */
  bool has_legend;           /* a legend child came */
  bool last_is_first_legend; /* it was the last child, and the first legend */
  bool is_uniform;           /* only the first version of rewrite/matching.h is valid */
  /* child, heir, next, later, `words` words each; counters; HP_TEST_LANG tests that hold */
  hp_bits bits[];
} hp_frame;

/* An element as the tests see it. */
typedef struct hp_subject { // value
  const hp_node *node;
  hp_ref ref;
  bool is_html;
  const hp_attributes *attributes; /* or NULL */
} hp_subject;

/* Binds the selectors to the document. HPAR_ERROR_MEMORY; the matcher may be closed after any
 * result. */
hpar_status hp_matcher_open(hp_matcher *matcher, const hpar_selectors *set, const hpar_document *document,
                            hp_ref scope);
void hp_matcher_close(hp_matcher *matcher);

static inline const hpar_selectors *hp_matcher_set(const hp_matcher *m) { return m->set; }
static inline void hp_matcher_ignore_case(hp_matcher *m, bool is_quirky) { m->is_quirky = is_quirky; }
/* Returns the instructions that accept a selector, which the caller may change. */
static inline hp_bits *hp_matcher_accepting(const hp_matcher *m) { return m->sets.accepts; }
/* Keeps them in the caller's memory from now on. */
static inline void hp_matcher_move_accepting(hp_matcher *m, hp_bits *to) { m->sets.accepts = to; }
/* Returns the instructions that a combinator follows. */
static inline const hp_bits *hp_matcher_followed_by(const hp_matcher *m, hp_combinator combinator) {
  return m->sets.by_combinator[combinator];
}
/* Returns the instructions that are candidates for each element. */
static inline const hp_bits *hp_matcher_universal(const hp_matcher *m) { return m->sets.universal; }
/* Returns true if an instruction is filed under the name, which has a fixed atom. */
static inline bool hp_matcher_has_tag(const hp_matcher *m, hp_atom name) { return m->index.tag_rows[name]; }
/* Returns true if an instruction is filed under an id, a class or an attribute. */
static inline bool hp_matcher_needs_attributes(const hp_matcher *m) { return m->index.reads_attributes; }

/* Returns the bytes of a frame. */
size_t hp_frame_size(const hp_matcher *matcher);
/* Makes the frame of the document, whose children are about to come. */
void hp_frame_open_root(const hp_matcher *matcher, hp_frame *frame);
/* Makes the frame of the element that the last step on `parent` was about. `above` is the frame
 * before `parent`, or NULL. */
void hp_frame_open(const hp_matcher *matcher, hp_frame *frame, const hp_frame *parent, const hp_frame *above,
                   const hp_subject *subject);

/* Returns a hash that ignores case; 0 is not among them. */
static inline uint64_t hp_word_hash(const char *bytes, size_t length) {
  const uint64_t fold = UINT64_C(0x2020202020202020);
  hp_name_key key = hp_name_key_of(bytes, length);
  uint64_t hash = hp_name_hash((hp_name_key){key.low | fold, key.high | fold}, length);
  return (hash ^ hash >> 29) | 1;
}

static inline uint64_t hp_atom_hash(hp_atom atom) { return (uint64_t)atom * HP_NAME_K1 | 1; }
static inline uint32_t hp_row_slot(const hp_row_table *table, uint64_t key) {
  return (uint32_t)(key >> 20) & table->mask;
}

/* Returns the row of a name without a fixed atom; 0: none. */
uint32_t hp_unknown_tag_row(const hp_matcher *matcher, hp_atom name);
static inline uint32_t hp_tag_row(const hp_matcher *matcher, hp_atom name) {
  return __builtin_expect(name < HP_KNOWN_ATOMS, 1) ? matcher->index.tag_rows[name] : hp_unknown_tag_row(matcher, name);
}

/* Adds the instructions that the attributes allow. */
void hp_add_attribute_candidates(const hp_matcher *matcher, hp_bits *candidates, const hp_attributes *attributes);
/* Returns true if the value of the attribute has the only id or class. Requires: `only_name` is id
 * or class, and the name of `item`. */
bool hp_only_value_holds(const hp_matcher *matcher, const hp_attributes *attributes, const hp_attribute *item);

/* Takes the next element child of the frame's element. matcher->matched then holds the
 * instructions that match it. Returns true if any accepts. HPAR_ERROR_MEMORY through `status`. */
bool hp_matcher_step(hp_matcher *matcher, hp_frame *parent, const hp_subject *subject, hpar_status *status);

/* Writes the instructions that the name and the attributes of the element allow, in
 * matcher->active. */
void hp_matcher_find_candidates(hp_matcher *matcher, const hp_subject *subject);

/* Does the same as hp_matcher_step, except that the caller has set parent->of_type. */
bool hp_matcher_match(hp_matcher *matcher, hp_frame *parent, const hp_subject *subject);

/* Tests matcher->active in ascending order, so that inner selectors come before their users. Writes
 * matcher->matched. Returns true if any accepts. */
bool hp_matcher_test(hp_matcher *matcher, hp_frame *parent, const hp_subject *subject);

/* Returns how many children of `parent` with the type of the subject came, it included; 0: no
 * memory. */
uint32_t hp_matcher_count_type(hp_matcher *matcher, hp_ref parent, const hp_subject *subject);
void hp_matcher_forget_types(hp_matcher *matcher);

bool hp_equal_bytes(const char *a, const char *b, size_t length, bool ignore_case);
/* Returns true if `word` is one of the words of the value. An empty word is in no value. */
bool hp_has_word(const char *value, size_t length, const char *word, size_t word_length, bool ignore_case);

/* Return true if the value of `id` is, or that of `class` has, the name at this place in the set's
 * text. */
static inline bool hp_value_is_id(const hp_matcher *m, hpar_string value, uint32_t place, uint32_t length) {
  return value.length == length && hp_equal_bytes(value.bytes, m->set->text + place, length, m->is_quirky);
}
static inline bool hp_value_has_class(const hp_matcher *m, hpar_string value, uint32_t place, uint32_t length) {
  return hp_has_word(value.bytes, value.length, m->set->text + place, length, m->is_quirky);
}

/* Returns true if the compound holds. `parent` may be NULL in a reverse walk. */
bool hp_compound_holds(const hp_matcher *matcher, uint32_t compound, const hp_subject *subject, const hp_frame *parent);
/* Whether a compound holds for a child of an element that may have earlier children. */
typedef enum hp_tristate { HP_NO, HP_YES, HP_MAYBE } hp_tristate;
hp_tristate hp_compound_may_hold(const hp_matcher *matcher, uint32_t compound, const hp_subject *subject,
                                 const hp_frame *parent);
/* Returns true for a test that counts siblings. */
static inline bool hp_test_counts(const hp_test *test) {
  return test->kind >= HP_TEST_NTH_CHILD && test->kind <= HP_TEST_NTH_CHILD_OF;
}
/* Returns true if the compound depends on the number of siblings; if it does so by one test of its
 * own. `counting` has this for earlier instructions. */
bool hp_compound_counts(const hpar_selectors *set, const hp_bits *counting, uint32_t compound);
bool hp_compound_counts_once(const hpar_selectors *set, const hp_bits *counting, uint32_t compound);
/* Returns true if the compound holds for the first children only. */
bool hp_compound_counts_first(const hpar_selectors *set, uint32_t compound);
/* Returns true if one of the choices holds. */
bool hp_choices_hold(const hp_matcher *matcher, uint32_t first, uint32_t count, const hp_subject *subject,
                     const hp_frame *parent);
/* Writes the language tests that hold for the element in its frame. Those of the parent's frame
 * remain if the element declares no language. */
void hp_find_languages(const hp_matcher *matcher, hp_frame *frame, const hp_frame *parent, const hp_subject *subject);
/* Writes the language tests that hold for a language tag. */
void hp_find_ranges(const hp_matcher *matcher, hp_frame *frame, hpar_string language);
/* Returns true if `index` is a·n + b for an n that is not negative. */
bool hp_nth_holds(int32_t a, int32_t b, uint32_t index);

/* Returns the instructions of word `w` that matched in the last step and accept a selector. */
static inline hp_bits hp_accepted(const hp_matcher *matcher, uint32_t w) {
  return matcher->matched[w] & matcher->sets.accepts[w];
}
/* Returns the selector that an instruction accepts. */
static inline uint32_t hp_selector_of(const hp_matcher *matcher, uint32_t instruction) {
  return matcher->set->instructions[instruction].selector;
}

static inline uint32_t hp_counter(const hp_matcher *matcher, const hp_frame *frame, uint32_t slot) {
  return (uint32_t)frame->bits[4 * matcher->words + slot];
}

/* Returns the language tests that hold for the element of the frame. */
static inline const hp_bits *hp_languages(const hp_matcher *matcher, const hp_frame *frame) {
  return frame->bits + 4 * matcher->words + matcher->set->counters;
}

/* Returns the place of an element's namespace among those of elements. */
static inline uint32_t hp_namespace_index(const hp_subject *subject) {
  return (uint32_t)subject->node->ns - HPAR_NAMESPACE_HTML;
}

static inline hpar_string hp_value_of(const hp_matcher *matcher, const hp_subject *subject,
                                      const hp_attribute *attribute) {
  return hp_attribute_value(matcher->document, subject->attributes, attribute);
}

static inline hp_subject hp_subject_of(const char *base, hp_ref ref) {
  const hp_node *node = hp_node_at(base, ref);
  return (hp_subject){node, ref, node->ns == HPAR_NAMESPACE_HTML,
                      node->attributes ? (const hp_attributes *)hp_at(base, node->attributes) : NULL};
}

/*** walks ***/

/* Walks the elements below a root in document order, with a frame for each open one. */

typedef struct hp_walk {
  hp_matcher *matcher;
  char *frames;
  size_t frame_size;
  uint32_t depth, capacity; /* frames in use, frames that there are */
  uint32_t floor;           /* the walk ends when only these frames are left */
  bool visits_all;          /* the visitor is called for each element, not for each match only */
} hp_walk;

/* Receives an element. Returns false to end the walk. `accepts` is true if a selector of the caller
 * matched. */
typedef bool (*hp_visit)(void *context, const hp_subject *subject, bool accepts);

void hp_walk_open(hp_walk *walk, hp_matcher *matcher);
void hp_walk_close(hp_walk *walk);
/* Goes to `top` without visiting: the frames are those of its open ancestors and its own. */
hpar_status hp_walk_enter(hp_walk *walk, hp_ref top);
/* Visits all elements below `top`, whose frame is the innermost. */
hpar_status hp_walk_below(hp_walk *walk, hp_ref top, hp_visit visit, void *context);
/* Goes to `first`, which is below `top`, without visiting. Requires: the walk has just been
 * opened. */
hpar_status hp_walk_start(hp_walk *walk, hp_ref top, hp_ref first);
/* Goes past the element that the walk has come to, or below it, or above its parent's last child,
 * without visiting. */
hpar_status hp_walk_skip(hp_walk *walk, hp_ref element);
hpar_status hp_walk_go_below(hp_walk *walk, hp_ref element);
static inline void hp_walk_go_above(hp_walk *walk) { walk->depth--; }
/* Lets `walk` go on where `from` is. Returns false if memory is short. */
bool hp_walk_copy(hp_walk *walk, const hp_walk *from);
/* Visits the elements below `top` from `at` on, in document order. Ends before `end`; 0: the end of
 * `top`. Requires: the walk has come to `at`. */
hpar_status hp_walk_on(hp_walk *walk, hp_ref top, hp_ref at, hp_ref end, hp_visit visit, void *context);
/* Visits elements from `*at` on, until another thread has set `*value` to something else than 0.
 * Sets `*at` to the next one; 0: none. */
hpar_status hp_walk_until(hp_walk *walk, hp_ref top, hp_ref *at, const _Atomic uint32_t *value, hp_visit visit,
                          void *context);

/* Test hook: only the tests link a parallel.c that is built with HPAR_TEST_HOOKS. Returns how many
 * nodes all threads have stepped over where they began at a range without its frames. */
uint64_t hp_begin_steps(void);

/* Does what hpar_select does on the calling thread alone. */
hpar_status hp_select_alone(const hpar_selectors *set, const hpar_document *document, hpar_node top,
                            hpar_match_callback callback, void *context);

/* Returns the first element from `node` on among it and its later siblings, or 0. */
static inline hp_ref hp_element_from(const char *base, hp_ref node) {
  while (node && hp_node_at(base, node)->kind != HPAR_NODE_ELEMENT) node = hp_node_at(base, node)->next;
  return node;
}

/* Returns the language that the last meta element of the document with http-equiv=content-language
 * declares, or an empty string. */
hpar_string hp_default_language(const hpar_document *document);
/* Returns the first element in document order that is not below `node`, or 0. */
hp_ref hp_element_after(const hpar_document *document, hp_ref node);
/* Reports each selector that the element of the last step matches once, in ascending order. Returns
 * what the callback returned at last. */
hpar_status hp_report_matches(const hp_matcher *matcher, hp_ref element, hpar_match_callback callback, void *context);
/* Returns the document or fragment, or the topmost element, around the node. */
hp_ref hp_root_of(const hpar_document *document, hp_ref node);

/*** checked elements ***/

/* The elements that are `:checked` after a parse. An option and a radio button depend on the others
 * of their select element or group. One walk finds all, in linear time.
 *
 * Source: HTML Standard, "selectedness setting algorithm", "list of options", "radio button group".
 * The form owner of a radio button is the element that its `form` attribute names, or the form
 * around it. */

typedef struct hp_checked {
  struct hp_named_element *slots; /* a hash table; NULL: no selector has the test */
  uint32_t mask, count;
} hp_checked;

/* Finds the elements below `root` if a selector of the set has the test. HPAR_ERROR_MEMORY;
 * hp_checked_close is to be called after any result. */
hpar_status hp_checked_open(hp_checked *checked, const hpar_selectors *set, const hpar_document *document, hp_ref root);
void hp_checked_close(hp_checked *checked);
bool hp_checked_has(const hp_checked *checked, hp_ref element);

#endif
