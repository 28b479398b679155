#ifndef HP_PROGRAMS_CRAWL_SUFFIXES_H
#define HP_PROGRAMS_CRAWL_SUFFIXES_H

/* The public suffix list (https://publicsuffix.org/list/), in the version of Debian's package
 * publicsuffix. Only the part of the registries counts, so that "a.github.io" has the registered
 * domain "github.io". */

#include "programs/crawl/tally.h"

typedef struct hp_suffixes {
  hp_tally_table rules; /* the names of the rules; the counts are bits of their kinds */
} hp_suffixes;

/* Reads the list, and writes the SHA-256 of the file to `digits`. HPAR_ERROR_IO: errno.
 * HPAR_ERROR_MEMORY. The caller calls hp_suffixes_free in each case. */
hpar_status hp_suffixes_read(hp_suffixes *suffixes, const char *path, char digits[65]);
void hp_suffixes_free(hp_suffixes *suffixes);

/* Returns the registered domain, a part of the host. Its length is 0 if the host is a public suffix
 * or an address. */
hpar_string hp_registered_domain(const hp_suffixes *suffixes, hpar_string host);
/* Returns the last label of a host. Its length is 0 if the host is an address. */
hpar_string hp_top_level_domain(hpar_string host);

#endif
