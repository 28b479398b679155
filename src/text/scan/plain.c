/* No instruction set assumed: 8 bytes a step in an integer, the first byte in its lowest bits.
 * Of each byte only the top bit is an answer, and the additions stay below it, so that no byte
 * disturbs its neighbour and answers are exact in both directions. */

#include "base/bytes.h"
#include "text/scan/scan.h"

#define KERNELS hp_scan_plain
#define NAME "plain"
#define TARGET
#define PARTIAL

enum { WIDTH = 8, BIT_SHIFT = 3 };
typedef uint64_t vec;
typedef uint64_t hits;
typedef uint64_t bits;

#define EACH UINT64_C(0x0101010101010101)
#define ALL (EACH * 0x80)
#define LOW7 (EACH * 0x7F)

HP_SCAN_INLINE vec load(const char *at) { return hp_load_64(at); }

/* Two loads that overlap, or three. */
HP_SCAN_INLINE vec load_part(const char *at, size_t n) {
  if (n >= 4) return hp_load_32(at) | (vec)hp_load_32(at + n - 4) << (8 * (n - 4));
  return (unsigned char)at[0] | (vec)(unsigned char)at[n / 2] << (8 * (n / 2)) |
         (vec)(unsigned char)at[n - 1] << (8 * (n - 1));
}

HP_SCAN_INLINE vec splat(char c) { return EACH * (unsigned char)c; }
HP_SCAN_INLINE hits eq(vec a, vec b) {
  vec v = a ^ b;
  return ~(((v & LOW7) + LOW7) | v) & ALL;
}
HP_SCAN_INLINE hits at_most(vec a, int c) { return ~(((a & LOW7) + EACH * (unsigned)(0x7F - c)) | a) & ALL; }
HP_SCAN_INLINE hits at_least(vec a, int c) { return ((a & LOW7) + EACH * (unsigned)(0x100 - c)) & a & ALL; }
HP_SCAN_INLINE hits either(hits a, hits b) { return a | b; }
HP_SCAN_INLINE hits both(hits a, hits b) { return a & b; }
HP_SCAN_INLINE hits unless(hits a, hits b) { return a & ~b; }
HP_SCAN_INLINE hits high(vec a) { return a & ALL; }
HP_SCAN_INLINE bits to_bits(hits a) { return a; }
HP_SCAN_INLINE bool any(hits a) { return a != 0; }

#include "text/scan/kernels.inc"
