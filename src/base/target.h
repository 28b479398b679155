#ifndef HP_BASE_TARGET_H
#define HP_BASE_TARGET_H

/* The systems that the library supports, and what a build makes of its functions. */

#if !defined(__linux__)
#error "HPar needs Linux: it uses futexes, membarrier and the CPU affinity of threads."
#endif
#if !defined(__SIZEOF_POINTER__) || __SIZEOF_POINTER__ != 8
#error "HPar needs a 64-bit system: each parse reserves up to 80 GB of address space."
#endif
#if !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "HPar needs a little-endian or big-endian system: bytes.h loads names as 64-bit words."
#endif

/* Before functions and constants of libhpar that libhpar-study uses. Others are local to libhpar.
 * In libhpar itself, a call of a protected function is as direct as one of a local function. */
#if defined HPAR_STATIC
#define HP_SHARED
#elif HPAR_STUDY
#define HP_SHARED __attribute__((visibility("default")))
#else
#define HP_SHARED __attribute__((visibility("protected")))
#endif

/* A turn is a place where the next step of a thread depends on what other threads have done, and
 * where the thread does not read the clock. Only experiments that decide which thread runs next
 * need to know these places (experiments/work-span, experiments/memory). They build the files that
 * have turns with HPAR_TURNS, and define the function. */
#if HPAR_TURNS
void hp_turn(void);
#else
static inline void hp_turn(void) {}
#endif

#endif
