#ifndef HP_URL_URL_H
#define HP_URL_URL_H

/* URLs by the URL Standard's basic URL parser (https://url.spec.whatwg.org/).
 *
 * One difference: without ICU, a host name keeps its characters beyond ASCII. No other part of a
 * URL has such characters. */

#include "text/encoding/encoding.h"

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
typedef struct hp_url {
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

/*** for the parts of the parser ***/

/* The percent-encode sets, each a bit of hp_url_encoded. */
enum {
  HP_ENCODE_CONTROL = 1,
  HP_ENCODE_FRAGMENT = 2,
  HP_ENCODE_QUERY = 4,
  HP_ENCODE_SPECIAL_QUERY = 8,
  HP_ENCODE_PATH = 16,
  HP_ENCODE_USERINFO = 32
};
extern const uint8_t hp_url_encoded[256];

/* Reserves memory for `more` bytes. Returns their address, or NULL. */
char *hp_url_reserve(hp_url *url, size_t more);
void hp_url_add(hp_url *url, const char *bytes, size_t length);
/* Appends the bytes, those of the set as %XX. */
void hp_url_add_encoded(hp_url *url, const char *bytes, size_t length, uint8_t set);

/* Appends a query in the encoding of queries, as hp_url_add_encoded does. */
void hp_url_add_query(hp_url *url, const char *bytes, size_t length, uint8_t set);

/* Appends the serialised host. Returns false if it is not valid. */
bool hp_url_add_host(hp_url *url, const char *at, size_t length, bool special);

#endif
