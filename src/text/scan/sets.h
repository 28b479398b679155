#ifndef HP_TEXT_SCAN_SETS_H
#define HP_TEXT_SCAN_SETS_H

/* The kernels of each instruction set that this architecture has; to be called only where the
 * processor can. */

#include "text/scan/scan.h"

extern const hp_scan_kernels hp_scan_plain;
#if defined(__x86_64__)
extern const hp_scan_kernels hp_scan_sse2, hp_scan_avx2, hp_scan_avx512;
#elif defined(__aarch64__)
extern const hp_scan_kernels hp_scan_neon;
#endif

#define HP_SCAN_INLINE static inline __attribute__((always_inline)) TARGET

#endif
