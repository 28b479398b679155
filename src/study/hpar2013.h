#ifndef HP_STUDY_HPAR2013_H
#define HP_STUDY_HPAR2013_H

/* The speculation of HPar (Zhao et al., ACM TACO 10(4), 2013), section 4.2, as a strategy of this
 * builder.
 *
 * hpar2013.c makes the decisions of the scheme on the worker. hpar2013_audit.c examines, on the
 * merger's thread, each decision that the scheme itself would not examine again. If the decision
 * would have changed the tree, the audit counts a silent error. The merger's own checks are the
 * usual ones, so the tree is the sequential one.
 *
 * The scheme follows, by the paper's section numbers. [ours] marks a choice where the paper is
 * silent. Each such choice makes the fewest trees wrong.
 *
 *   - Cut before a tag (4.2.1a), begin in the data state (b).
 *   - "-->" in text that nothing in the chunk opened (c1): a second start hypothesis begins after
 *     it, and the worker keeps both. [ours] Only the first such "-->" counts. The worker does not
 *     see one in raw text or in a tag.
 *   - An end tag of script, style and the like without a start tag (c2, c3): the chunk began
 *     inside. The worker starts again after the tag. After "</svg>" and "</math>" it starts again
 *     from the cut, in that namespace. [ours: the paper has "similarly"]. Each happens once in a
 *     chunk.
 *   - The last tag before the cut, if it is a start tag, is the bottom of the open stack (4.2.2a).
 *     The worker closes what it implies to close: li by li, p by div. [ours] The search covers 4
 *     KB. A void element is no such tag.
 *   - Unpaired end tags (a): at the merge each closes the nearest open element of its name, with
 *     all elements inside it, or is dropped. The chunk's own open elements stay open beside them.
 *     [ours] The paper's Temppa checks the lowest one only. End tags of html and body follow the
 *     standard.
 *   - Insertion mode Initial (b): a chunk may begin with head content. Any other content starts the
 *     body. The merge dissolves the chunk's own html, head and body. [ours] An unpaired end tag
 *     starts the body, too.
 *   - A table end tag without a start tag before it in the chunk (c, Table III): the worker starts
 *     again from the cut, in cell after "</td>" and "</th>", in row after "</tr>", in table body
 *     after the end tags of sections. It ignores start tags of table parts in body, as the standard
 *     does. Once in a chunk.
 *   - "<meta>" in body, while the chunk has no open element (c): the worker starts again from the
 *     cut, in head. It returns to body if the content before the tag cannot be in a head.
 *   - Auto-correction that reaches the bottom of the open stack (a): the worker gives the chunk up.
 *     [ours] This applies where a tag must close an open element: a cell, a row or a section by a
 *     start tag that ends it, foreign content by a tag that breaks out. A search that finds no
 *     element ends at the chunk's own body, so it does not reach the bottom.
 *   - The merge has the end of the tree before: an open comment or an open script (4.2.1c). If a
 *     start hypothesis fits, the merge uses it. A comment or script that fills the chunk needs
 *     none. Any other case is a rollback, "when the correct starting states become explicit"
 *     (4.2.2c). The merge does not compare the mode, the current node and the begin of the
 *     hypothesis. */

#include "merge/merge.h"

#include <hpar/study.h>
#include <string.h>

/* What the worker has guessed: the notes of a chunk, which the audit reads. */
typedef struct hp_hpar2013_guess {
  hp_atom raw_name;    /* hypothesis 0 begins after this end tag; or 0 */
  hp_atom top;         /* assumed current node of the outer context; or 0 */
  uint8_t end_comment; /* the hypothesis that begins after a comment; 0: none */
  bool noscript;       /* a noscript element was closed early, as in a head */
} hp_hpar2013_guess;

static inline hp_hpar2013_guess hp_hpar2013_guess_of(const hp_chunk_result *chunk) {
  hp_hpar2013_guess guess;
  _Static_assert(sizeof guess <= sizeof chunk->notes, "the guess fits into the notes");
  memcpy(&guess, chunk->notes, sizeof guess);
  return guess;
}

static inline void hp_hpar2013_keep_guess(hp_chunk_result *chunk, hp_hpar2013_guess guess) {
  memcpy(chunk->notes, &guess, sizeof guess);
}

/* The hooks of hp_strategy. */
void hp_hpar2013_parse(hp_worker *worker, const hp_request *request, const hp_plan *plan, hp_chunk_result *chunk);
bool hp_hpar2013_stops(hp_worker *worker, const hp_request *request, const hp_token *token, hp_chunk_result *chunk);
uint8_t hp_hpar2013_mode_after(const hp_worker *worker, uint8_t mode, const hp_token *token);

/* The audit: functions of hp_merge_judge, with the memory of judge.h. */
bool hp_hpar2013_at_chunk_boundary(hp_merger *merger, const hp_chunk_result *chunk, int hypothesis);
void hp_hpar2013_at_wrong_assumption(hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment,
                                     hp_assumption wrong);
void hp_hpar2013_before_splice(hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment);
void hp_hpar2013_after_entry(hp_merger *merger, const hp_chunk_result *chunk, const hp_segment *segment);

#endif
