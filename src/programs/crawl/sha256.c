#include "programs/crawl/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned by) { return word >> by | word << (32 - by); }

static void take_block(hp_sha256 *sha) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) {
    const unsigned char *b = sha->block + 4 * i;
    w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(s, sha->state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t e = s[4], a = s[0];
    uint32_t first =
        s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
    uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; i++) sha->state[i] += s[i];
}

void hp_sha256_open(hp_sha256 *sha) {
  *sha = (hp_sha256){
      .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void hp_sha256_add(hp_sha256 *sha, const void *bytes, size_t length) {
  const unsigned char *at = bytes;
  while (length) {
    size_t used = sha->length % sizeof sha->block, space = sizeof sha->block - used;
    size_t now = length < space ? length : space;
    memcpy(sha->block + used, at, now);
    sha->length += now;
    at += now;
    length -= now;
    if (now == space) take_block(sha);
  }
}

void hp_sha256_finish(hp_sha256 *sha, char digits[65]) {
  static const char hexadecimal[] = "0123456789abcdef";
  uint64_t bits = sha->length * 8;
  unsigned char end[8];
  for (int i = 0; i < 8; i++) end[i] = (unsigned char)(bits >> (56 - 8 * i));
  hp_sha256_add(sha, "\x80", 1);
  while (sha->length % sizeof sha->block != 56) hp_sha256_add(sha, "", 1);
  hp_sha256_add(sha, end, sizeof end);
  for (int i = 0; i < 64; i++) digits[i] = hexadecimal[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
  digits[64] = 0;
}

bool hp_sha256_of_file(const char *path, char digits[65]) {
  char bytes[1 << 14];
  FILE *file = fopen(path, "rbe");
  if (!file) return false;
  hp_sha256 sha;
  hp_sha256_open(&sha);
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;) hp_sha256_add(&sha, bytes, got);
  bool fine = !ferror(file);
  int error = errno;
  fclose(file);
  errno = error;
  hp_sha256_finish(&sha, digits);
  return fine;
}
