#ifndef HP_WARC_FIELDS_H
#define HP_WARC_FIELDS_H

#include <hpar/document.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the head has a Content-Length. Several equal lengths count as one. */
bool hp_warc_length(hpar_string head, uint64_t *length);

/* Returns whether the head has two types: the end of a head is missing, and the fields of the next
 * record follow. */
bool hp_warc_is_joined(hpar_string head);

/* The beginning of a record within a block: an empty line, and the version. */
enum { HP_WARC_EMPTY_LINE = 4, HP_WARC_BEGINNING = 11 };
extern const char hp_warc_beginning[HP_WARC_BEGINNING + 1];

/* Returns the position in a block where a record begins after an empty line, or `length`. With
 * `continues`, other bytes follow the block, and its last bytes may be a part of the beginning. */
size_t hp_warc_find_beginning(const char *bytes, size_t length, bool continues);

#endif
