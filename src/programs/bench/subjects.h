#ifndef HP_PROGRAMS_BENCH_SUBJECTS_H
#define HP_PROGRAMS_BENCH_SUBJECTS_H

/* The input of the benchmarks: the generated pages always, the shared corpus if it exists. A
 * subject is a list of pages. One iteration parses all of them, so that the processor cannot learn
 * one page. The first use of a page reads it. */

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

/* Whole sets; each page of the generated, paper and large sets; or both. */
enum { HP_SETS = 1, HP_SINGLE_PAGES = 2 };

void hp_subjects_open(void);
void hp_subjects_close(void);

/* Returns a subject of these kinds, or NULL for an index past the last one. It lives until
 * hp_subjects_close. */
const hp_subject *hp_subject_at(size_t index, unsigned kinds);
/* Returns NULL if no subject has this name. */
const hp_subject *hp_subject_named(const char *name);

/* Prints a line and returns NULL if the page cannot be read. */
const hp_page *hp_subject_page(const hp_subject *subject, size_t index);

/* Returns the bytes of all pages; 0 if a page cannot be read. */
size_t hp_subject_bytes(const hp_subject *subject);

#endif
