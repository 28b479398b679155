#ifndef HP_SPECULATION_STRATEGIES_HPAR2013_H
#define HP_SPECULATION_STRATEGIES_HPAR2013_H

/* The speculation of HPar (Zhao et al., ACM TACO 10(4), 2013), section 4.2, on this builder, as a strategy.
 *
 * hpar2013.c makes the scheme's decisions, on the worker; hpar2013_judge.c looks, at the merger, at each of them that
 * the scheme would not have looked at again, and counts as a *silent error* what would have made another tree. The
 * merger's own checks are the usual ones, so that the tree is the sequential one whatever is counted.
 *
 * The scheme, by the numbers of the paper's sections, with [ours] where it says nothing and something had to be chosen.
 * The choice is always the one that makes fewer trees wrong.
 *
 * - Cut before a tag (4.2.1a), begin in the data state (b).
 * - "-->" in text that nothing in the chunk opened (c1): a second reading of the chunk begins behind it, and both are
 *   kept. [ours] Only the first such counts; one in raw text or in a tag is not seen.
 * - An end tag of script, style and the like that nothing opened (c2, c3): the chunk began inside; it begins once more,
 *   behind the tag. The same with "</svg>" and "</math>": once more from the cut, in that namespace [ours: the paper
 *   says "similarly"]. Each once in a chunk.
 * - The last tag before the cut, if it is a start tag, is the bottom of the open stack (4.2.2a): what it implies to
 *   close, li by li, p by div, is closed. [ours] It is looked for in 4 KB; a void element is no such tag.
 * - Unpaired end tags are kept (a). At the merge each closes the nearest open element of its name, with all that is
 *   open inside of it, or is dropped. What the chunk itself has open stays open: it hangs beside them. [ours] The
 *   paper's Temppa looks at the lowest only; end tags of html and body follow the standard.
 * - Insertion mode Initial (b): a chunk may begin with head content; anything else brings the body. At the merge
 *   the chunk's own html, head and body are dissolved. [ours] So does an unpaired end tag.
 * - A table end tag without a start tag before it in the chunk (c, Table III): once more from the cut, in cell after
 *   "</td>" and "</th>", in row after "</tr>", in table body after those of the sections. Start tags of table parts in
 *   body are ignored, as the standard has it. Once in a chunk.
 * - "<meta>" in body, with nothing of the chunk's own open (c): once more from the cut, in head; and back once more
 *   where what precedes it cannot stand there.
 * - Auto-correction that hits the bottom of the open stack (a): the chunk is given up. [ours] That is where something
 *   must be open to be closed: a anchor, a row or a section by a start tag that ends it, foreign content by one that
 *   breaks out. A search that finds nothing to close ends at the chunk's own body, so it hits no bottom.
 * - The merge knows what the tree before ends in: an open comment, an open script (4.2.1c). With a reading for that it
 *   takes it; a comment or script that fills the chunk goes by itself; otherwise it is a rollback, "when the correct
 *   starting states become explicit" (4.2.2c). The mode, the current node and where in the chunk the reading
 *   begins are not compared. */

#include "speculation/strategies/strategy.h"

struct hp_worker;
struct hp_chunk_work;
struct hp_segment;

void hp_hpar2013_parse(struct hp_worker *worker, const hp_request *task, const hp_plan *plan,
                       struct hp_chunk_work *chunk);
bool hp_hpar2013_stops(struct hp_worker *worker, const hp_request *task, const hp_token *token,
                       struct hp_chunk_work *chunk);
uint8_t hp_hpar2013_mode_after(const struct hp_worker *worker, uint8_t mode, const hp_token *token);

bool hp_hpar2013_at_chunk_boundary(const hp_engine *truth, const struct hp_chunk_work *chunk, int reading,
                                   hp_audit *audit);
void hp_hpar2013_at_wrong_assumption(const hp_engine *truth, const struct hp_chunk_work *chunk,
                                     const struct hp_segment *segment, hpar_assumption wrong, hp_audit *audit);
void hp_hpar2013_before_splice(const hp_engine *truth, const struct hp_chunk_work *chunk,
                               const struct hp_segment *segment, hp_audit *audit);
void hp_hpar2013_after_entry(const hp_engine *truth, const struct hp_chunk_work *chunk,
                             const struct hp_segment *segment, hp_audit *audit);

#endif
