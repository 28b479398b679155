#ifndef HP_STUDY_BOUNDARY_H
#define HP_STUDY_BOUNDARY_H

/* Classification of chunk boundaries, for statistics and for strategies with an audit. */

#include "base/atom.h"

#include <stdbool.h>
#include <stdint.h>

/* The markup that a cut truly lies inside of. */
typedef enum hp_boundary {
  HP_BOUNDARY_DATA, /* a token begins here */
  HP_BOUNDARY_TEXT, /* a run of text */
  HP_BOUNDARY_COMMENT,
  HP_BOUNDARY_RAW_TEXT,
  HP_BOUNDARY_MARKUP /* a tag or other markup after "<" */
} hp_boundary;

/* The result of the last search for the tag that ends at a token boundary. Several cuts may lie
 * before the same token boundary. Zeros are no result. */
typedef struct hp_tag_search {
  uint32_t end; /* the searched text ends here */
  uint32_t tag; /* offset of the tag's "<"; UINT32_MAX: none */
} hp_tag_search;

/* Returns what the cut lies inside of. `first` is the first token boundary at or after the cut.
 * Sets *raw_name for HP_BOUNDARY_RAW_TEXT. Calls with ascending cuts and the same `search` read
 * each byte before a cut at most twice. Requires: `cut` is positive. */
hp_boundary hp_classify_boundary(hp_tag_search *search, const char *text, uint32_t cut, uint32_t first, bool scripting,
                                 hp_atom *raw_name);

#endif
