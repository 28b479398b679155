#ifndef HP_STUDY_PROFILE_H
#define HP_STUDY_PROFILE_H

/* Counts properties of pages with the sequential parser, as a basis for speculation (HPar 3.1,
 * 3.2, 4.2.1(b), 4.2.2). A profile is a set of counters. Profiles of different pages can be added.
 * Only one thread at a time may use a profile.
 *
 * As JSON ("format": "hpar-profile-1", programs/hpar/profile.c) a profile is one object. Its
 * member "states_by_bytes" is the input of a predictor, with one entry in each line:
 *
 *   {"before":"white","at":"<a","states":{"data":617,"RAWTEXT":2}}
 *
 * "before" and "at" are those of hp_cut_key_at, the states those of hp_state_name. States with
 * count 0 are left out. */

#include "study/choices.h"
#include "study/cut_key.h"
#include "study/true_state.h"

#include <hpar/parse.h>

enum {
  HP_PROFILE_IN_TABLE_TEXT = HP_INSERTION_MODES, /* an additional mode of profiles */
  HP_PROFILE_MODES,
  HP_PROFILE_TABLE_TAGS = 10,
  HP_PROFILE_SWITCHES = 10,
  HP_PROFILE_LENGTHS = 10, /* of lists: the last entry counts that length and longer */
};

typedef struct hp_profile_row {
  hp_cut_key key;
  uint64_t states[HP_STATES];
} hp_profile_row;

/* Lists of active formatting elements: entries after the last marker, markers, and lists with an
 * entry that must be reconstructed. */
typedef struct hp_profile_lists {
  uint64_t lists, entries[HP_PROFILE_LENGTHS], markers[HP_PROFILE_LENGTHS], unclean;
} hp_profile_lists;

typedef struct hp_profile {
  size_t cut_distance; /* bytes between even cuts; set before use */
  uint64_t pages, bytes, tokens, start_tags;
  uint64_t states[HP_CUT_BY_BYTES][HP_STATES]; /* true state at cuts, by policy */
  uint64_t modes_at_cuts[HP_PROFILE_MODES];    /* true mode at cuts before tags */
  uint64_t mode_tokens[HP_PROFILE_MODES], mode_bytes[HP_PROFILE_MODES];
  /* Counts the first tag of a table part in the chunk after a cut before a tag, by the true mode
   * at the cut. Rows follow hp_profile_table_tags: start tags, end tags, no such tag. */
  uint64_t table_tags[2 * HP_PROFILE_TABLE_TAGS + 1][HP_PROFILE_MODES];
  uint64_t switches[HP_PROFILE_SWITCHES][HP_PROFILE_MODES]; /* by hp_profile_switch_tags and mode */
  struct {
    uint64_t void_plain, void_slash, foreign_plain, foreign_slash, other_slash;
  } self_closing;               /* start tags by kind; slash: with "/>" */
  uint8_t seen[HP_KNOWN_ATOMS]; /* start tags of HTML elements: 1; void ones: 2 */
  hp_profile_lists lists_at_tokens, lists_at_cuts;
  hp_profile_row *rows; /* true state by the bytes at cuts of all kinds */
  uint32_t row_count, row_capacity;
} hp_profile;

extern const hp_atom hp_profile_table_tags[HP_PROFILE_TABLE_TAGS], hp_profile_switch_tags[HP_PROFILE_SWITCHES];

/* Adds a page, which is parsed into `document`. After a failure the profile may hold part of it. */
hpar_status hp_profile_page(hp_profile *profile, hpar_parser *parser, hpar_document *document, const char *bytes,
                            size_t length, const hpar_options *options);
bool hp_profile_add(hp_profile *sum, const hp_profile *more); /* returns false if out of memory */
void hp_profile_free(hp_profile *profile);

const char *hp_profile_mode_name(int mode);

#endif
