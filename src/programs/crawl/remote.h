#ifndef HP_PROGRAMS_CRAWL_REMOTE_H
#define HP_PROGRAMS_CRAWL_REMOTE_H

/* Files of other machines, which curl (http://, https://) or aws (s3://) reads as a stream. A
 * transfer that breaks continues at the next byte. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the program that reads a path, or NULL if the path is one of this machine. */
const char *hp_remote_program(const char *path);

typedef struct hp_remote {
  const char *path;
  uint64_t position;
  pid_t process; /* 0: none */
  int file;
  unsigned tries; /* since the last byte */
  int status;     /* of the last process */
} hp_remote;

void hp_remote_open(hp_remote *remote, const char *path, uint64_t position);
/* Reads as read(2) does. Returns -1 after several tries without a byte. */
ssize_t hp_remote_read(hp_remote *remote, char *bytes, size_t length);
/* Ends the transfer. */
void hp_remote_close(hp_remote *remote);

#endif
