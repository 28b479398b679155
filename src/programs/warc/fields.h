#ifndef HP_PROGRAMS_WARC_FIELDS_H
#define HP_PROGRAMS_WARC_FIELDS_H

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the name of the next field of a head, as hp_warc_field has it, and moves `*at` after it.
 * `*at` is NULL at first. The name is empty at the end. */
hpar_string hp_warc_next_field(hpar_string head, const char **at, hpar_string *value);

/* Returns whether the head has a Content-Length. Several equal lengths count as one. */
bool hp_warc_length(hpar_string head, uint64_t *length);

/* Returns the URI of the target, without the angle brackets of old archives. */
hpar_string hp_warc_uri(hpar_string head);

/* Returns whether the head has two types: the end of a head is missing, and the fields of the next
 * record follow. */
bool hp_warc_is_joined(hpar_string head);

#endif
