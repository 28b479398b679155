#ifndef HP_BASE_TARGET_H
#define HP_BASE_TARGET_H

/* The systems that the library supports, and what its parts share. */

#if !defined(__linux__)
#error "HPar needs Linux: it uses futexes, membarrier and the CPU affinity of threads."
#endif
#if !defined(__SIZEOF_POINTER__) || __SIZEOF_POINTER__ != 8
#error "HPar needs a 64-bit system: each parse reserves 32 GB of address space."
#endif
#if !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "HPar needs a little-endian or big-endian system: load.h loads names as 64-bit words."
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

#endif
