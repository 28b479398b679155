#ifndef HP_URL_IDN_H
#define HP_URL_IDN_H

/* Internationalised host names in ASCII, by ICU. ICU is loaded when the first such name comes,
 * because to link it would double the time that a small program takes to start. */

#include <stddef.h>

typedef enum hp_idn_result {
  HP_IDN_CONVERTED,
  HP_IDN_INVALID,
  HP_IDN_MISSING /* this build or this machine lacks ICU, or memory is short */
} hp_idn_result;

/* Writes the name in ASCII to `to` and its length to `*used`. `name` is UTF-8. Any number of
 * threads may call the function. */
hp_idn_result hp_idn_to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used);

#endif
