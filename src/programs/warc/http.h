#ifndef HP_PROGRAMS_WARC_HTTP_H
#define HP_PROGRAMS_WARC_HTTP_H

/* The HTTP message in the block of a record: its head, and its body without the chunked transfer
 * coding and the content codings gzip, deflate and br. */

#include "programs/warc/octets.h"

#include <hpar/node.h>

typedef enum hp_http_problem {
  HP_HTTP_FINE = 0,
  HP_HTTP_HEAD,      /* the block is no HTTP message */
  HP_HTTP_CODING,    /* an unknown content coding, or one that the build lacks */
  HP_HTTP_DAMAGED,   /* the coded body is not valid, or ends early; the body is what came before */
  HP_HTTP_TOO_LARGE, /* the decoded body is above the limit */
  HP_HTTP_PROBLEMS
} hp_http_problem;

/* Returns a stable lower-case name. */
const char *hp_http_problem_name(hp_http_problem problem);

typedef struct hp_http_message {
  hp_http_problem problem;
  unsigned status;          /* 200; 0 if there is none */
  hpar_string head;         /* with the status line */
  hpar_string content_type; /* the media type without parameters; may be empty */
  char charset[64];         /* the label in Content-Type, or "" */
  char coding[64];          /* the content codings as they were given, or "" */
  bool chunked;             /* the body had the chunked transfer coding */
  bool not_coded;           /* the head names a coding, but the archive has the plain body */
  hpar_string body;
} hp_http_message;

/* Memory for decoded bodies, which a caller uses again. Zero is empty. */
typedef struct hp_http_memory {
  hp_octets joined, decoded[2];
} hp_http_memory;

/* Reads a response. The message refers to the block and to the memory. `limit` bounds what the
 * memory has at once, in bytes: the decoded body and what it is decoded from. Returns
 * HPAR_ERROR_MEMORY, or HPAR_OK with a problem in the message. */
hpar_status hp_http_read(hpar_string block, size_t limit, hp_http_memory *memory, hp_http_message *message);
/* Drops the contents, and gives memory beyond `keep` bytes back. */
void hp_http_memory_clear(hp_http_memory *memory, size_t keep);
void hp_http_memory_free(hp_http_memory *memory);

#endif
