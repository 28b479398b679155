#ifndef HP_URL_PLAIN_H
#define HP_URL_PLAIN_H

/* Short ways for URLs whose characters all stay as they are. Most links of a page need no other. */

#include "url/url.h"

#include <hpar/node.h>

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

/* The scheme and the host of a URL without its path, query and fragment. */
typedef enum hp_origin_kind {
  HP_ORIGIN_UNKNOWN, /* only hp_url_parse can tell */
  HP_ORIGIN_BASE,    /* of the base URL; the URL is valid */
  HP_ORIGIN_OWN      /* http or https; the URL is valid */
} hp_origin_kind;

typedef struct hp_origin {
  hp_origin_kind kind;
  bool secure;      /* HP_ORIGIN_OWN: https */
  hpar_string host; /* HP_ORIGIN_OWN: in the input, in lower case, without a port */
} hp_origin;

/* Returns the origin of the URL that the input becomes, without a look at its path: a path, a query
 * and a fragment are valid whatever characters they have. */
hp_origin hp_plain_origin(const hp_plain_base *plain, const char *input, size_t length);

#endif
