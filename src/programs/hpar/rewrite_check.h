#ifndef HP_PROGRAMS_HPAR_REWRITE_CHECK_H
#define HP_PROGRAMS_HPAR_REWRITE_CHECK_H

/* hpar rewrite --check: compares the tree of the output with the edited tree of the input. The
 * edited tree has the edits of elements and the inserted content, parsed as a fragment. Rules that
 * edit texts, comments, the doctype, elements without a tag or the end of the page are not
 * compared. */

#include "programs/hpar/rewrite_explain.h"

/* Prints the result. Returns an exit code: HP_EXIT_FAILED for a difference. */
int hp_check_rewrite(const hp_explanation *explanation, const hp_edit_rules *rules, const char *path,
                     const hpar_rewrite_options *options, const hp_text *input, const hp_text *output);

#endif
