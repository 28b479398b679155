/* SSE2, which every x86-64 processor has: 16 bytes a step. */

#include "text/scan/scan.h"

#if defined(__x86_64__)

#include <emmintrin.h>
#include <stdint.h>

#define KERNELS hp_scan_sse2
#define NAME "sse2"
#define TARGET
#define NARROWER hp_scan_plain
#define BLOCKS

enum { WIDTH = 16, BIT_SHIFT = 0 };
typedef __m128i vec;
typedef __m128i hits;
typedef uint32_t bits;
#define ALL (UINT32_MAX >> 16)

HP_SCAN_INLINE vec load(const char *at) { return _mm_loadu_si128((const void *)at); }
HP_SCAN_INLINE vec splat(char c) { return _mm_set1_epi8(c); }
HP_SCAN_INLINE hits eq(vec a, vec b) { return _mm_cmpeq_epi8(a, b); }
HP_SCAN_INLINE hits at_most(vec a, int c) { return eq(_mm_min_epu8(a, splat((char)c)), a); }
HP_SCAN_INLINE hits at_least(vec a, int c) { return eq(_mm_max_epu8(a, splat((char)c)), a); }
HP_SCAN_INLINE hits either(hits a, hits b) { return _mm_or_si128(a, b); }
HP_SCAN_INLINE hits both(hits a, hits b) { return _mm_and_si128(a, b); }
HP_SCAN_INLINE hits unless(hits a, hits b) { return _mm_andnot_si128(b, a); }
HP_SCAN_INLINE hits high(vec a) { return a; }
HP_SCAN_INLINE bits to_bits(hits a) { return (bits)_mm_movemask_epi8(a); }
HP_SCAN_INLINE bool any(hits a) { return _mm_movemask_epi8(a) != 0; }

#include "text/scan/kernels.inc"

#endif
