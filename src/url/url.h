#ifndef HP_URL_URL_H
#define HP_URL_URL_H

/* URLs by the URL Standard's basic URL parser (https://url.spec.whatwg.org/).
 *
 * One difference: without ICU, a host name keeps its characters beyond ASCII. No other part of a
 * URL has such characters. */

#include "text/encoding/encoding.h"

#include <hpar/node.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hp_scheme {
  HP_SCHEME_OTHER,
  HP_SCHEME_HTTP,
  HP_SCHEME_HTTPS,
  HP_SCHEME_WS,
  HP_SCHEME_WSS,
  HP_SCHEME_FTP,
  HP_SCHEME_FILE
} hp_scheme;

/* A serialised URL and the offsets of its parts. All zero is no URL, with no memory. */
typedef struct hp_url { // value
  char *bytes;
  size_t length, capacity;
  size_t scheme_end;    /* after the colon */
  size_t authority_end; /* the end of "//" user, host and port; scheme_end without a host */
  size_t path;          /* where the path begins: authority_end, or 2 later after "/." */
  size_t query;         /* of "?"; without a query: of "#" or the end */
  size_t fragment;      /* of "#", or the end */
  hp_scheme scheme;
  const hp_encoding *queries; /* the encoding of queries; NULL: UTF-8. The caller may set it */
  bool has_host, opaque;      /* opaque: the path is not a list of segments */
  bool failed;                /* memory ran out */
} hp_url;

/* Sets `url` to `input`, resolved against `base` unless that is NULL. Keeps the memory of `url`.
 * Returns false if the input is not a valid URL, or if memory ran out: then `url->failed` is set.
 * Requires: `base` is not `url`. */
bool hp_url_parse(hp_url *url, const char *input, size_t length, const hp_url *base);
void hp_url_close(hp_url *url);

/* Reserves memory for `more` bytes. Returns their address, or NULL. */
char *hp_url_reserve(hp_url *url, size_t more);

/* Short ways for URLs whose characters all stay as they are. Most links of a page need no other. */

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
