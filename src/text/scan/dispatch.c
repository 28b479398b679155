/* Chooses the kernels once, by the processor. There are none for AVX-512: a comparison through a
 * mask register takes longer to become an integer. Short texts were slower by that, and long
 * texts were not faster. */

#include "text/scan/scan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const hp_scan_kernels *hp_scan_at(size_t index) {
  const hp_scan_kernels *sets[4] = {0};
  size_t count = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("pclmul"))
    sets[count++] = &hp_scan_avx2;
  sets[count++] = &hp_scan_sse2;
#elif defined(__aarch64__)
  sets[count++] = &hp_scan_neon;
#endif
  sets[count++] = &hp_scan_plain;
  return index < count ? sets[index] : NULL;
}

/* Relaxed, and chosen perhaps twice: the tables are constants, and every thread chooses the
 * same. */
static _Atomic(const hp_scan_kernels *) chosen;

static __attribute__((noinline, cold)) const hp_scan_kernels *choose(void) {
  const hp_scan_kernels *kernels = hp_scan_at(0);
  const char *wish = getenv("HPAR_SIMD");
  for (size_t i = 0; wish && hp_scan_at(i); i++) {
    if (!strcmp(hp_scan_at(i)->name, wish)) // NOLINT: not past the last
      kernels = hp_scan_at(i);
  }
  atomic_store_explicit(&chosen, kernels, memory_order_relaxed);
  return kernels;
}

const hp_scan_kernels *hp_scan(void) {
  const hp_scan_kernels *kernels = atomic_load_explicit(&chosen, memory_order_relaxed);
  return kernels ? kernels : choose();
}
