#ifndef HP_PROGRAMS_HPAR_PAGES_H
#define HP_PROGRAMS_HPAR_PAGES_H

/* The files of a command's operands. A folder stands for all *.html and *.htm files in it and
 * below, sorted by path, without those in symbolic links to folders. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_pages {
  char **paths;
  size_t count, capacity;
  /* unreadable operands and folders, and folders without a page; each has caused a message */
  size_t failures;
} hp_pages;

bool hp_pages_add(hp_pages *pages, const char *operand); /* false: out of memory */
void hp_pages_free(hp_pages *pages);

#endif
