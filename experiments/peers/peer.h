#ifndef PEER_H
#define PEER_H

/* An adapter for hpar-peers: a program that receives a list of files, reads them all, and follows
 * commands on standard input (README.md). An adapter in C is a `peer` and a main that passes it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct peer {
  const char *version;
  void *(*parse)(const char *bytes, size_t length); /* a new document; NULL: failed */
  void (*destroy)(void *document);
  /* Parses into a kept document and returns it. The member is NULL if the parser cannot. */
  void *(*parse_again)(const char *bytes, size_t length);
  /* Parses with a new parser into a new document and destroys both; NULL: the parser cannot. */
  bool (*parse_new)(const char *bytes, size_t length);
  /* Reads the name and the value of every attribute in tree order, except in templates. Returns
   * their lengths and last bytes, added up. NULL: the adapter cannot. */
  size_t (*read)(void *document);
  /* Writes the tree in the format of html5lib-tests; NULL: the parser does not conform. */
  void (*dump)(void *document, FILE *out);
} peer;

int peer_run(const peer *peer, int count, char **arguments);

/* Writes "| " and the indent; the caller writes the rest of the line. */
void peer_line(FILE *out, unsigned depth);

/* An attribute with its displayed name ("xlink href"). The parser owns the bytes. */
typedef struct peer_attribute {
  const char *prefix; /* "" or "xlink " */
  const char *name;
  size_t name_length;
  const char *value;
  size_t value_length;
} peer_attribute;

/* Sorts the attributes and writes each on a line. */
void peer_attributes(FILE *out, unsigned depth, peer_attribute *attributes, size_t count);

#endif
