#ifndef HP_BENCH_SUBJECTS_H
#define HP_BENCH_SUBJECTS_H

/* What is parsed: the generated pages always, the shared corpus where it is. A subject is a list of pages, and one
 * iteration goes through all of them, so that with many none is learnt by heart. Pages are read when first asked for.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_page {
  char *bytes;
  size_t length;
} hp_page;

typedef struct hp_subject {
  char *name;      /* "generated", "generated/manual", "paper", "large/maxima-manual" */
  size_t *members; /* numbers of pages, for hp_subject_page */
  size_t count;
} hp_subject;

/* Whole sets, or each page of the generated ones, of the paper's and of the large ones, or both. */
enum { HP_SETS = 1, HP_SINGLE_PAGES = 2 };

void hp_subjects_open(void);
void hp_subjects_close(void);

/* The subjects of these kinds, one a call, NULL past the last; they live until hp_subjects_close. */
const hp_subject *hp_subject_at(size_t index, unsigned kinds);
const hp_subject *hp_subject_named(const char *name); /* NULL: there is none */

/* NULL where it cannot be read, after a line that says so. */
const hp_page *hp_subject_page(const hp_subject *subject, size_t index);

/* All bytes of a subject; 0 if some page cannot be read. */
size_t hp_subject_bytes(const hp_subject *subject);

#endif
