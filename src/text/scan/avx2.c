/* AVX2: 32 bytes a step. */

#if defined(__x86_64__)

#include "text/scan/scan.h"

#include <immintrin.h>
#include <stdint.h>

#define KERNELS hp_scan_avx2
#define NAME "avx2"
#define TARGET __attribute__((target("avx2,bmi,pclmul")))
#define NARROWER hp_scan_sse2
#define LOOKUP
#define BLOCKS
#define CARRYLESS

enum { WIDTH = 32, BIT_SHIFT = 0 };
typedef __m256i vec;
typedef __m256i hits;
typedef uint32_t bits;
#define ALL UINT32_MAX

HP_SCAN_INLINE vec load(const char *at) { return _mm256_loadu_si256((const void *)at); }
HP_SCAN_INLINE vec splat(char c) { return _mm256_set1_epi8(c); }
HP_SCAN_INLINE hits eq(vec a, vec b) { return _mm256_cmpeq_epi8(a, b); }
HP_SCAN_INLINE hits at_most(vec a, int c) { return eq(_mm256_min_epu8(a, splat((char)c)), a); }
HP_SCAN_INLINE hits at_least(vec a, int c) { return eq(_mm256_max_epu8(a, splat((char)c)), a); }
HP_SCAN_INLINE hits either(hits a, hits b) { return _mm256_or_si256(a, b); }
HP_SCAN_INLINE hits both(hits a, hits b) { return _mm256_and_si256(a, b); }
HP_SCAN_INLINE hits unless(hits a, hits b) { return _mm256_andnot_si256(b, a); }
HP_SCAN_INLINE hits high(vec a) { return a; }
HP_SCAN_INLINE bits to_bits(hits a) { return (bits)_mm256_movemask_epi8(a); }
HP_SCAN_INLINE bool any(hits a) { return _mm256_movemask_epi8(a) != 0; }
HP_SCAN_INLINE vec xor_(vec a, vec b) { return _mm256_xor_si256(a, b); }
HP_SCAN_INLINE vec subs(vec a, vec b) { return _mm256_subs_epu8(a, b); }
HP_SCAN_INLINE vec shr4(vec a) { return both(_mm256_srli_epi16(a, 4), splat(15)); }
HP_SCAN_INLINE vec table(const uint8_t t[16]) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)t)); }
HP_SCAN_INLINE vec lookup(vec t, vec a) { return _mm256_shuffle_epi8(t, a); }
HP_SCAN_INLINE vec entry(vec t, vec a) { return _mm256_shuffle_epi8(t, a); }
HP_SCAN_INLINE bool any_bit(vec a) { return !_mm256_testz_si256(a, a); }

#include "text/scan/kernels.inc"

#endif
