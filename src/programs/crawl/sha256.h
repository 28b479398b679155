#ifndef HP_PROGRAMS_CRAWL_SHA256_H
#define HP_PROGRAMS_CRAWL_SHA256_H

/* SHA-256 by FIPS 180-4. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hp_sha256 {
  uint32_t state[8];
  uint64_t length;
  unsigned char block[64];
} hp_sha256;

void hp_sha256_open(hp_sha256 *sha);
void hp_sha256_add(hp_sha256 *sha, const void *bytes, size_t length);
/* Writes the digest as 64 hexadecimal digits and a NUL. */
void hp_sha256_finish(hp_sha256 *sha, char digits[65]);
/* Does the same for a whole file. Returns false with errno if it cannot be read. */
bool hp_sha256_of_file(const char *path, char digits[65]);

#endif
