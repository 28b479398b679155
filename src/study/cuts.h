#ifndef HP_STUDY_CUTS_H
#define HP_STUDY_CUTS_H

/* The cut policies of a study, of which the library has the first. */

#include "speculation/cut.h"

enum {
  HP_CUT_SMART,
  HP_CUT_BEFORE_TAG,              /* HPar 4.2.1(a) */
  HP_CUT_AFTER_TAG,               /* as the prototype of HPar's authors */
  HP_CUT_EVEN,                    /* at equal distances, between characters */
  HP_CUT_BY_BYTES,                /* number of policies that need only bytes */
  HP_CUT_EXACT = HP_CUT_BY_BYTES, /* at a token boundary, by a sequential parse before */
  HP_CUT_POLICIES
};

extern const hp_cut_policy hp_cuts_before_tags;
extern const hp_cut_policy *const hp_cut_policies[HP_CUT_POLICIES];

/* Returns the policy of this name, or NULL. */
const hp_cut_policy *hp_cut_policy_named(const char *name);

#endif
