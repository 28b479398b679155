#ifndef HP_PLATFORM_KERNEL_H
#define HP_PLATFORM_KERNEL_H

/* The constants of futex(2) and membarrier(2). Some C libraries, as musl in Debian, are installed
 * without the headers of the kernel. The values are part of the kernel's interface to programs. */

#if __has_include(<linux/futex.h>) && __has_include(<linux/membarrier.h>)
#include <linux/futex.h>
#include <linux/membarrier.h>
#else
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#define FUTEX_WAIT_BITSET_PRIVATE 137
#define FUTEX_WAKE_BITSET_PRIVATE 138
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED 8
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED 16
#endif

#endif
