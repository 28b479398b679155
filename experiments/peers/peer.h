#ifndef PEER_H
#define PEER_H

/* A parser as hpar-peers drives it: a program that is given a list of files, reads them all, and does on standard
 * input's word what README.md says. The adapters in C are a `peer` and a main that hands it over. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct peer {
  const char *version;
  void *(*parse)(const char *bytes, size_t length); /* a new document; NULL: failed */
  void (*destroy)(void *document);
  bool (*parse_again)(const char *bytes, size_t length); /* into one that is kept; NULL: the parser cannot */
  void (*dump)(void *document, FILE *out);               /* as html5lib-tests write trees; NULL: it does not conform */
} peer;

int peer_run(const peer *peer, int count, char **arguments);

/* For dumps: "| ", the indent, and what follows is the caller's. */
void peer_line(FILE *out, unsigned depth);

/* An attribute under the name that it is shown by ("xlink href"). The bytes are the parser's. */
typedef struct peer_attribute {
  const char *prefix; /* "" or "xlink " */
  const char *name;
  size_t name_length;
  const char *value;
  size_t value_length;
} peer_attribute;

/* Sorts and writes them, each on a line of its own. */
void peer_attributes(FILE *out, unsigned depth, peer_attribute *attributes, size_t count);

#endif
