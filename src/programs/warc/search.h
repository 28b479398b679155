#ifndef HP_PROGRAMS_WARC_SEARCH_H
#define HP_PROGRAMS_WARC_SEARCH_H

/* The search for the beginning of a record, after damage and within a block. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first bytes of each record. */
enum { HP_WARC_SIGNATURE = 5 };
extern const char hp_warc_signature[HP_WARC_SIGNATURE + 1];

/* The beginning of a record within a block: an empty line, and the version. */
enum { HP_WARC_EMPTY_LINE = 4, HP_WARC_BEGINNING = 11 };
extern const char hp_warc_beginning[HP_WARC_BEGINNING + 1];

/* Returns the position in a block where a record begins after an empty line, or `length`. With
 * `continues`, other bytes follow the block, and its last bytes may be a part of the beginning. */
size_t hp_warc_find_beginning(const char *bytes, size_t length, bool continues);

/* Continue a search with these bytes: for a line that begins with the signature, and for the
 * beginning of a record within a block. They return the number of bytes up to its end, or `length`.
 * `*matched` is 0 at first, and 1 for the first search if a line begins. It is the state between
 * calls, and HP_WARC_SIGNATURE + 1 or HP_WARC_BEGINNING after a success. */
size_t hp_warc_search_line(uint32_t *matched, const char *bytes, size_t length);
size_t hp_warc_search_beginning(uint32_t *matched, const char *bytes, size_t length);

#endif
