/* AVX-512 with its byte instructions: 64 bytes a step, and masked loads for what is shorter. */

#include "text/scan/scan.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define KERNELS hp_scan_avx512
#define NAME "avx512"
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,bmi,pclmul")))
#define LOOKUP
#define BLOCKS
#define CARRYLESS
#define PARTIAL

enum { WIDTH = 64, BIT_SHIFT = 0 };
typedef __m512i vec;
typedef __mmask64 hits;
typedef uint64_t bits;
#define ALL UINT64_MAX

HP_SCAN_INLINE vec load(const char *at) { return _mm512_loadu_si512((const void *)at); }
HP_SCAN_INLINE vec load_part(const char *at, size_t n) {
  return _mm512_maskz_loadu_epi8(ALL >> (64 - n), (const void *)at);
}
HP_SCAN_INLINE vec splat(char c) { return _mm512_set1_epi8(c); }
HP_SCAN_INLINE hits eq(vec a, vec b) { return _mm512_cmpeq_epi8_mask(a, b); }
HP_SCAN_INLINE hits at_most(vec a, int c) { return _mm512_cmple_epu8_mask(a, splat((char)c)); }
HP_SCAN_INLINE hits at_least(vec a, int c) { return _mm512_cmpge_epu8_mask(a, splat((char)c)); }
HP_SCAN_INLINE hits either(hits a, hits b) { return a | b; }
HP_SCAN_INLINE hits both(hits a, hits b) { return a & b; }
HP_SCAN_INLINE hits unless(hits a, hits b) { return a & ~b; }
HP_SCAN_INLINE hits high(vec a) { return _mm512_movepi8_mask(a); }
HP_SCAN_INLINE bits to_bits(hits a) { return a; }
HP_SCAN_INLINE bool any(hits a) { return a != 0; }
HP_SCAN_INLINE vec or_(vec a, vec b) { return _mm512_or_si512(a, b); }
HP_SCAN_INLINE vec and_(vec a, vec b) { return _mm512_and_si512(a, b); }
HP_SCAN_INLINE vec xor_(vec a, vec b) { return _mm512_xor_si512(a, b); }
HP_SCAN_INLINE vec subs(vec a, vec b) { return _mm512_subs_epu8(a, b); }
HP_SCAN_INLINE vec shr4(vec a) { return and_(_mm512_srli_epi16(a, 4), splat(15)); }
HP_SCAN_INLINE vec table(const uint8_t t[16]) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)t)); }
HP_SCAN_INLINE vec lookup(vec t, vec a) { return _mm512_shuffle_epi8(t, a); }
HP_SCAN_INLINE vec entry(vec t, vec a) { return _mm512_shuffle_epi8(t, a); }
HP_SCAN_INLINE bool any_bit(vec a) { return _mm512_test_epi8_mask(a, a) != 0; }

#include "text/scan/kernels.inc"

#endif
