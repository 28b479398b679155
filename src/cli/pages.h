#ifndef HP_CLI_PAGES_H
#define HP_CLI_PAGES_H

/* The files that a command's operands stand for: files as they are, folders by the *.html and *.htm in them
 * and below, sorted by path. Links to folders are not followed. */

#include <stdbool.h>
#include <stddef.h>

typedef struct hp_pages {
  char **paths;
  size_t count, capacity;
  size_t failures; /* operands and folders that could not be read, or held no page; each has been complained about */
} hp_pages;

bool hp_pages_add(hp_pages *pages, const char *operand); /* false: out of memory */
void hp_pages_free(hp_pages *pages);

#endif
