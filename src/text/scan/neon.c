/* NEON, which every 64-bit ARM processor has: 16 bytes a step. There is no instruction that
 * gathers one bit a byte, so a narrowing shift leaves four. */

#include "text/scan/scan.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#define KERNELS hp_scan_neon
#define NAME "neon"
#define TARGET
#define NARROWER hp_scan_plain
#define LOOKUP

enum { WIDTH = 16, BIT_SHIFT = 2 };
typedef uint8x16_t vec;
typedef uint8x16_t hits;
typedef uint64_t bits;
#define ALL UINT64_MAX

HP_SCAN_INLINE vec load(const char *at) { return vld1q_u8((const uint8_t *)at); }
HP_SCAN_INLINE vec splat(char c) { return vdupq_n_u8((uint8_t)c); }
HP_SCAN_INLINE hits eq(vec a, vec b) { return vceqq_u8(a, b); }
HP_SCAN_INLINE hits at_most(vec a, int c) { return vcleq_u8(a, splat((char)c)); }
HP_SCAN_INLINE hits at_least(vec a, int c) { return vcgeq_u8(a, splat((char)c)); }
HP_SCAN_INLINE hits either(hits a, hits b) { return vorrq_u8(a, b); }
HP_SCAN_INLINE hits both(hits a, hits b) { return vandq_u8(a, b); }
HP_SCAN_INLINE hits unless(hits a, hits b) { return vbicq_u8(a, b); }
HP_SCAN_INLINE hits high(vec a) { return vcltzq_s8(vreinterpretq_s8_u8(a)); }
HP_SCAN_INLINE bits to_bits(hits a) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(a), 4)), 0);
}
HP_SCAN_INLINE bool any(hits a) { return to_bits(a) != 0; }
HP_SCAN_INLINE vec xor_(vec a, vec b) { return veorq_u8(a, b); }
HP_SCAN_INLINE vec subs(vec a, vec b) { return vqsubq_u8(a, b); }
HP_SCAN_INLINE vec shr4(vec a) { return vshrq_n_u8(a, 4); }
HP_SCAN_INLINE vec table(const uint8_t t[16]) { return vld1q_u8(t); }
HP_SCAN_INLINE vec lookup(vec t, vec a) { return vqtbl1q_u8(t, a); }
/* The index keeps the top bit, so that it is out of range from 0x80 on. */
HP_SCAN_INLINE vec entry(vec t, vec a) { return vqtbl1q_u8(t, both(a, splat((char)0x8F))); }
HP_SCAN_INLINE bool any_bit(vec a) { return vmaxvq_u8(a) != 0; }

#include "text/scan/kernels.inc"

#endif
