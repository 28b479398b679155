#ifndef HP_REWRITE_READABLE_H
#define HP_REWRITE_READABLE_H

/* A text as finds see it: with character references and newlines replaced, in the page's encoding.
 * A text without them is its own bytes. */

#include "rewrite/state.h"

/* Bytes of the readable text that differ from those of the input, or a marker, which does not. */
typedef struct hp_shift {
  uint32_t at, length; /* in the readable text */
  uint32_t from, to;   /* in the input's text */
  bool opens, closes;  /* a CDATA section */
} hp_shift;

typedef struct hp_readable {
  const char *bytes;
  size_t length;
  hp_shift *shifts;
  uint32_t count;
  uint32_t next;   /* the first shift after the last place */
  bool in_section; /* there */
} hp_readable;

/* Returns the first place of the text from `at` on that begins with a character; NULL: none.
 * `*whole` is where one begins, up to `at`; the first time, the begin of the text. */
const char *hp_find_whole(const hpar_rewriter *rewriter, const char **whole, const char *at, const char *end,
                          hpar_string wanted);
void hp_readable_open(hp_readable *text, hpar_rewriter *rewriter, const hp_text_piece *piece);
/* Replaces [from, to), unless an earlier action has edited it, or it is a part of a reference. The
 * places of all calls ascend. */
void hp_readable_replace(hp_readable *text, hpar_rewriter *rewriter, size_t from, size_t to, hpar_string by,
                         hpar_content format);

/* Returns the place in the input's text, or SIZE_MAX inside of a reference. */
size_t hp_readable_place(const hp_readable *text, size_t at);

/* Returns the last place up to `to` of a long text that no find is around, whichever rules run. A
 * find, or a chain of finds that overlap, that is longer than the text between gives `to`. */
const char *hp_find_boundary(hpar_rewriter *rewriter, const char *from, const char *to);

/* A run is a sequence of texts with inline tags and comments between them. A rule with across_tags
 * finds in a run as in one text. */
void hp_runs_open(hpar_rewriter *rewriter);
void hp_runs_close(hp_units *units);
size_t hp_runs_memory(const hp_units *units);
/* Returns false if the window may lack a part of the run around `from`, where text is. */
bool hp_run_is_complete(hpar_rewriter *rewriter, const char *from);
/* Adds the finds of an action in the current text, as its run has them. Returns false if the text
 * is the whole run. */
bool hp_find_in_run(hpar_rewriter *rewriter, const hp_rule *rule, const hpar_action *action, hpar_string wanted);

/* Returns how many places FIND replaces in the callback's text, without earlier edits. */
size_t hp_count_finds(const hpar_text_piece *text, const hpar_action *find);

/* Returns where FIND looks for a text, as hp_text_place bits and HP_FINDS_COMMENTS; 0: the list is
 * invalid. NULL is the default. */
enum { HP_FINDS_COMMENTS = 32, HP_FINDS_ALL = 63 };
unsigned hp_find_places(const char *list);
static inline bool hp_is_comment_unit(hpar_unit unit) {
  return unit == HPAR_UNIT_COMMENT || unit >= HPAR_UNIT_CONDITIONAL;
}
static inline bool hp_finds_in_comments(const hpar_action *a) {
  return a->kind == HPAR_ACTION_FIND && hp_find_places(a->name) & HP_FINDS_COMMENTS;
}

#endif
