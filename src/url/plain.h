#ifndef HP_URL_PLAIN_H
#define HP_URL_PLAIN_H

/* Short ways for URLs whose characters all stay as they are. Most links of a page need no other. */

#include "url/url.h"

#include <hpar/document.h>

/* The parts of a base URL that the short ways copy. */
typedef struct hp_plain_base {
  const hp_url *base; /* NULL: no short way for relative URLs */
  size_t folder;      /* after the last slash of the path */
} hp_plain_base;

/* `base` without bytes means that there is no base URL. */
void hp_plain_base_open(hp_plain_base *plain, const hp_url *base);

/* Sets `*result` to the URL that hp_url_parse makes of the input, in `url` or in the input itself.
 * Returns false, with `url` unspecified, if only hp_url_parse can tell. */
bool hp_plain_resolve(const hp_plain_base *plain, hp_url *url, const char *input, size_t length, hpar_string *result);

#endif
