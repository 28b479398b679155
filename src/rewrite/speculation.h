#ifndef HP_REWRITE_SPECULATION_H
#define HP_REWRITE_SPECULATION_H

/* The log of a worker that rewrites a chunk without the input before it.
 *
 * A worker is a rewriter whose outline is speculative. Its log is a sequence of segments, as that
 * of a parser's worker (speculation/log.h). A segment has the output of its input, the edits of the
 * elements that stay open, and all assumptions. The merger, which has the true state, checks the
 * assumptions before it changes anything. It rewrites the input between segments itself.
 *
 * The frame of the outer current node (select/match.h) is an assumption, too. The worker predicts
 * it, and notes each bit that an element could read. */

#include "rewrite/state.h"
#include "speculation/outer_context.h"
#include "tree/outline.h"

#include <stdatomic.h>

/* A part of the output. */
typedef struct hp_piece {
  const char *input;     /* bytes of the input; NULL: bytes of the block */
  size_t offset, length; /* `offset`: in the block */
} hp_piece;

/* A start tag that a rule edits if the outer current node has a near bit, or a number of earlier
 * children. Some pieces of the log are the edited tag. Otherwise, the bytes of the input are the
 * tag. */
typedef struct hp_rewrite_condition {
  uint32_t instruction; /* the near bit; UINT32_MAX: none */
  uint32_t test, index; /* the test + 1, and the number of children in the segment; 0: none */
  uint8_t ns;           /* of the element */
  hp_atom name;         /* for a test of a type */
  uint32_t versions;    /* in which the element matches; 0: it does in all of them */
  uint32_t piece, piece_count;
  uint64_t start, end;     /* of the tag in the input */
  uint64_t matches, edits; /* of the edited tag */
  uint32_t found, found_count;
} hp_rewrite_condition;

/* A place in the output of a segment, and what the segment has before it. */
typedef struct hp_log_place {
  uint32_t piece, found; /* the next ones */
  uint32_t mute_depth;
  uint64_t tags, matches, misplaced, depth;
  hp_edit_counts counts; /* since the note before */
} hp_log_place;

/* A text or a comment in [start, end) whose rules the merger runs. */
typedef struct hp_rewrite_note {
  uint64_t start, end;
  hp_log_place place;
  bool is_comment;
  hp_comment_place comment;
  hp_current_text text; /* with the following, of a text */
  hp_atom raw_name;
  bool is_last;
  uint32_t scopes, scope_count; /* rules with a scope in the segment, in `note_scopes` */
} hp_rewrite_note;

/* A name without a fixed atom, in `name_bytes`; length 0: the name has one. */
typedef struct hp_saved_name {
  uint32_t offset, length;
} hp_saved_name;

/* Children of one type in a frame. */
typedef struct hp_saved_type {
  uint32_t entry; /* of the outline's log; UINT32_MAX: the outer current node */
  uint8_t ns;
  hp_atom name;
  hp_saved_name own_name;
  uint32_t count;
} hp_saved_type;

/* A call of hpar_rule.found. */
typedef struct hp_reported_match {
  uint64_t start, end;
  uint32_t rule;
} hp_reported_match;

/* Matches of a rule that a match can end. */
typedef struct hp_rule_use {
  uint32_t rule;
  uint64_t matches;
} hp_rule_use;

/* The arrays of the log of which each segment has a range, and the others. */
#define HP_LOGGED_ARRAYS(ARRAY) \
  ARRAY(types) ARRAY(records) ARRAY(pieces) ARRAY(conditions) ARRAY(found) ARRAY(uses) ARRAY(notes)
#define HP_OTHER_ARRAYS(ARRAY) ARRAY(segments) ARRAY(names) ARRAY(bits) ARRAY(block) ARRAY(note_scopes)

typedef struct hp_rewrite_range {
  uint32_t first, end;
} hp_rewrite_range;

typedef struct hp_rewrite_ranges {
  hp_rewrite_range types, records, pieces, conditions, found, uses, notes;
} hp_rewrite_ranges;

typedef struct hp_rewrite_segment {
  hp_segment assumed;  /* the assumptions about the outer context */
  uint64_t start, end; /* positions in the input */
  struct {
    hp_atom name;
    uint64_t end;
  } split; /* the start tag whose first half the merger runs first; or 0 */
  hp_outline_state state;
  /* In `bits`: for each version the predicted near and heir bits of the outer frame, then the bits
   * that were read. If selectors count elements: then the outer frame of each version, with the
   * children of the segment. */
  uint32_t frame;
  uint32_t min_children; /* that the outer current node has at least before the segment */
  hp_rewrite_ranges logged;
  uint32_t scopes;     /* in `bits`, by rule: the worker predicts that its scope is open outside */
  bool begins_in_text; /* the bytes at `start` are no markup */
  bool has_comments, has_doctypes;
  bool reads_removal; /* a callback depends on the absence of a removed element around its own */
  hp_log_place last;
  uint64_t copied;      /* the output ends here: at the text at the end, if rules edit it */
  hp_current_text text; /* at the end */
} hp_rewrite_segment;

/* What a worker assumes about the page. */
typedef struct hp_assumed_page {
  const hp_encoding *encoding;
  bool is_certain;
  hpar_quirks quirks;
  bool frameset_ok;                /* the "frameset-ok" flag */
  const struct hp_base_href *base; /* of URLs; NULL: no base element so far */
} hp_assumed_page;

typedef struct hp_rewrite_log {
  hp_assumed_page page;
  HP_ARRAY(hp_rewrite_segment) segments;
  hp_outline_log outline;
  HP_ARRAY(hp_saved_name) names; /* by entry of the outline's log */
  hp_bytes name_bytes;           /* names without a fixed atom */
  HP_ARRAY(hp_saved_type) types;
  /* `next` of an entry is the index + 1 of its child and heir bits or, if selectors count elements,
   * of its frame, for each version */
  HP_ARRAY(hp_bits) bits;
  /* `previous` of an entry is the index + 1 of its record */
  HP_ARRAY(hp_end_record) records;
  HP_ARRAY(hp_rewrite_condition) conditions; /* in ascending order */
  HP_ARRAY(hp_piece) pieces;                 /* the output of all segments */
  HP_ARRAY(char) block;                      /* of pieces that are no input */
  HP_ARRAY(hp_reported_match) found;         /* in document order */
  HP_ARRAY(hp_rule_use) uses;
  HP_ARRAY(hp_rewrite_note) notes; /* in document order */
  HP_ARRAY(uint32_t) note_scopes;
  uint32_t versions;
  hp_unknown_counter counter;
} hp_rewrite_log;

/* A worker matches elements under several hypotheses, or versions, of the outer frame. */
enum { HP_MAX_VERSIONS = 4, HP_MAX_ALTERNATIVES = HP_MAX_VERSIONS - 1, HP_MAX_LESSONS = 16 };

/* Near and heir bits of the outer frame, for each version. */
typedef struct hp_predicted_frame {
  hp_bits *predicted, *later; /* for this segment; for later ones */
  hp_bits *next;              /* for the next one, if `knows_next` */
  bool knows_next;
  hp_bits *read;         /* that elements have read */
  hp_bits *learned_near; /* near bits and their values, see hp_assumed_sets */
} hp_predicted_frame;

typedef struct hp_speculation {
  hp_outer_context outer;
  const struct hp_speculation_input *input;
  const struct hp_rewrite_chunk *chunk;
  hp_rewrite_log *log; /* of the chunk */
  hp_rewrite_segment now;
  uint64_t limit;                 /* the end of the chunk */
  const _Atomic uint64_t *passed; /* that of the input */
  uint32_t joined_piece;          /* the first piece that more output may extend */
  bool seeks;                     /* the next segment begins after this token */
  bool has_ended;
  bool may_defer; /* a rule of the merger, or a declaration of the encoding, may follow */
  uint8_t next_mode, next_ns;
  hp_predicted_frame frame;
  uint32_t versions; /* hypotheses about the outer frame */
  hp_candidate_log candidate_logs[HP_MAX_VERSIONS];
  hp_bits *uncounted;        /* instructions that need numbers of children, and are no conditions */
  hp_bits *deferring;        /* instructions that accept for rules of the merger; NULL: none */
  uint32_t checked_segments; /* of the log, for pays_off */
  hp_bits *scopes;           /* see hp_rewrite_segment; the prediction for the next segment */
  hp_bits *memory;           /* of all sets here */
  uint32_t capacity;
} hp_speculation;

/* The state of the input that all chunks have in common. */
typedef struct hp_speculation_input {
  const hpar_rewriter *merger; /* its rules, options, and its state that does not change */
  const char *window;          /* begins at `position` in the input */
  size_t length;
  uint64_t position;
  struct hp_prescan *prescan; /* of the window; NULL: none */
  uint64_t min_limit;         /* see hp_rule_needs_merger */
  /* The least distance of two ends of segments without a deferred token. */
  uint32_t checkpoint_bytes;
  const _Atomic uint64_t *passed; /* results before this position are useless */
} hp_speculation_input;

/* What a worker assumes about the state of the merger. */
typedef struct hp_assumptions {
  hp_assumed_page page;
  uint32_t active_rules;          /* as in `retired` */
  uint32_t alternatives, lessons; /* in `prediction`; see hp_rewrite_lessons */
} hp_assumptions;

/* The same in sets, which follow each other. */
typedef struct hp_assumed_sets {
  hp_bits *retired; /* by rule: it is complete */
  hp_bits *scopes;  /* by rule: its scope is open at the beginning of segments */
  /* Near and heir bits of the outer frame. Then the near bits that segments of earlier chunks
   * have read, and the last true values of these. Then alternatives of the heir bits. */
  hp_bits *prediction;
} hp_assumed_sets;

/* A chunk of a worker. */
typedef struct hp_rewrite_chunk {
  size_t cut, limit; /* in the window */
  hp_assumptions assumed;
  hp_assumed_sets sets;
  hp_rewrite_log log;
} hp_rewrite_chunk;

/* What the merger learns of true outer frames. */
typedef struct hp_rewrite_lessons {
  hp_bits *read;         /* near bits that segments have read, then their true values */
  hp_bits *alternatives; /* HP_MAX_ALTERNATIVES sets of heir bits */
  uint32_t count;        /* of the sets */
  uint32_t total;        /* of the sets so far, of which later ones replace earlier ones */
  bool are_used;         /* a segment needed an alternative */
  hp_bits *scopes;       /* by rule: its scope was open at the beginning of the last segment */
} hp_rewrite_lessons;

void hp_rewrite_log_free(hp_rewrite_log *log);

/*** speculation.c ***/

/* Moves the edits before `position` to the log. Returns the place behind them. */
hp_log_place hp_speculation_place_at(hpar_rewriter *worker, uint64_t position);

/*** outer_state.c: scopes ***/

/* Returns the length of a set of rules for texts, comments or the doctype. */
static inline uint32_t hp_scope_words(const hpar_rules *rules) {
  return rules->unit_rule_count ? (rules->count + HP_BITS - 1) / HP_BITS : 0;
}
/* Predicts the scopes of the segment after the deferred token; NULL: none is deferred. */
void hp_speculation_predict_scopes(hpar_rewriter *worker, const hp_token *token);
/* Writes the rules whose scopes are open. */
void hp_rewriter_write_scopes(const hpar_rewriter *merger, hp_bits *to);
bool hp_rewriter_check_scopes(const hpar_rewriter *merger, const hp_rewrite_log *log, const hp_rewrite_segment *seg);
/* Runs the rules of a note, and passes on the result. The output before the note is passed on. */
void hp_rewriter_run_note(hpar_rewriter *merger, const hp_rewrite_log *log, const hp_rewrite_note *note);
void hp_rewriter_adopt_scopes(hpar_rewriter *merger, const hp_rewrite_log *log, const hp_rewrite_segment *seg);

/*** outer_state.c: versions ***/

bool hp_rule_edits_only_attributes(const hp_rule *rule);
/* Notes the heir bits of the merger's current node as an alternative. */
void hp_rewriter_learn_heir(hpar_rewriter *merger, hp_rewrite_lessons *lessons);
/* Sets alternatives before the merger has learned one: none of the bits, those that one ancestor
 * sets, and all. It leaves out compounds with a name that no tag at the beginning of the window
 * has. */
void hp_rewriter_guess_heir(const hpar_rewriter *merger, const hp_bits *after_heir, hp_rewrite_lessons *lessons);
/* The number of sets that the versions of a chunk need. */
enum { HP_VERSION_SETS = 12 + 7 * HP_MAX_VERSIONS };
/* Prepares the versions of a chunk. Their sets begin at `bits`. */
void hp_speculation_open_versions(hpar_rewriter *worker, hp_bits *bits);

/*** speculation.c: calls from the loop, where hp_speculates is true ***/

/* The tag is not local, and ends or divides the segment. */
bool hp_speculation_take_outer_tag(hpar_rewriter *rewriter);
/* The outline has processed the tag, or leaves it to the merger. Returns false if the loop must not
 * process the rest of the tag. */
static inline bool hp_speculation_take_tag(hpar_rewriter *r) {
  hp_outer_context *outer = &r->parallel.speculation->outer;
  if (!hp_outer_is_local(outer)) return hp_speculation_take_outer_tag(r);
  outer->now.tokens++;
  return true;
}
/* Leaves a start tag to the merger, if a rule or the encoding requires that. */
bool hp_speculation_defers_start_tag(hpar_rewriter *rewriter);
/* Returns true if the tag is left to the merger before the outline has seen it. */
static inline bool hp_speculation_defers_tag(hpar_rewriter *r) {
  return r->parallel.speculation->may_defer && !r->token.tag.is_end && hp_speculation_defers_start_tag(r);
}
/* The same for a text of one kind. */
void hp_speculation_take_text(hpar_rewriter *rewriter, hp_outline_text kind);
/* The current element matches a rule with `found`. */
void hp_speculation_note_found(hpar_rewriter *rewriter, uint32_t rule);
/* Returns true if the match of the last element is a condition of the outer current node. */
static inline bool hp_speculation_has_condition(const hpar_rewriter *r) {
  const hp_candidate_log *log = r->matching.matcher.log;
  return log && (log->condition || log->gives_up || r->matching.holding);
}
/* Writes the edits of the tag whose element matches under the `condition` of the matcher's log, or
 * in the `holding` versions. */
void hp_speculation_write_conditionally(hpar_rewriter *worker, const hp_outline_insertion *insertion, bool has_tag);
/* Returns true if the worker may run the rule for an element that matches, and notes the match.
 * Otherwise the segment is unusable. */
bool hp_speculation_may_run(hpar_rewriter *rewriter, uint32_t rule);
/* Only the merger can process the element: the segment is unusable. */
void hp_speculation_give_up(hpar_rewriter *rewriter);
/* A callback checks whether the element is inside removed content. */
static inline void hp_speculation_read_removal(hpar_rewriter *r) {
  if (r->parallel.speculation) r->parallel.speculation->now.reads_removal = true;
}
/* Leave a unit to the merger if a callback must run there. Return false if the worker runs its
 * rules. */
bool hp_speculation_leaves_text(hpar_rewriter *rewriter, uint64_t end, bool is_last);
bool hp_speculation_leaves_comment(hpar_rewriter *rewriter, const hp_comment_place *place);
bool hp_speculation_leaves_doctype(hpar_rewriter *rewriter);
static inline void hp_speculation_take_comment(hpar_rewriter *r) { r->parallel.speculation->now.has_comments = true; }
/* The fused loop has processed tags or text. */
static inline void hp_speculation_run(hpar_rewriter *r) { r->parallel.speculation->outer.now.tokens++; }
/* Processes the end of a segment or of the chunk, if it is here. Returns false at the end of the
 * chunk. */
bool hp_speculation_goes_on_outside(hpar_rewriter *rewriter);
/* An event is processed. Returns false at the end of the worker's chunk. */
static inline bool hp_speculation_goes_on(hpar_rewriter *r) {
  const hp_speculation *p = r->parallel.speculation;
  if (!r->outline.builder.stack.depth || p->seeks || hp_outer_is_poisoned(&p->outer) ||
      r->scanner.at >= r->window.limit)
    return hp_speculation_goes_on_outside(r);
  return atomic_load_explicit(p->passed, memory_order_relaxed) < p->limit;
}

/* Rewrites the chunk into its log. `worker` is a rewriter of its own. A failure shortens the log.
 */
void hp_speculation_run_chunk(hpar_rewriter *worker, hp_speculation *speculation, const hp_speculation_input *input,
                              hp_rewrite_chunk *chunk);

/*** adoption.c ***/

/* Adopts the segments of a chunk on the true state, and rewrites the rest of the chunk. Requires:
 * the window of `merger` is that of the chunk. `number` is that of the chunk in the window. Returns
 * the bytes that the merger has rewritten itself. */
size_t hp_rewriter_adopt(hpar_rewriter *merger, hp_rewrite_chunk *chunk, uint32_t number);
/* Rewrites up to the first token that ends at `to` in the window or later. */
void hp_rewriter_scan_until(hpar_rewriter *rewriter, size_t to);
/* Rewrites up to the end of the comment or of the raw text here, if there is one. */
void hp_rewriter_leave_raw_text(hpar_rewriter *rewriter);

#endif
