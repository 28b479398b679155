#ifndef HP_BASE_TARGET_H
#define HP_BASE_TARGET_H

/* The systems that the library supports. */

#if !defined(__linux__)
#error "HPar needs Linux: it uses futexes, membarrier and the CPU affinity of threads."
#endif
#if !defined(__SIZEOF_POINTER__) || __SIZEOF_POINTER__ != 8
#error "HPar needs a 64-bit system: each parse reserves 32 GB of address space."
#endif
#if !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "HPar needs a little-endian or big-endian system: load.h loads names as 64-bit words."
#endif

#endif
