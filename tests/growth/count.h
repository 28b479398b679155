#ifndef TESTS_GROWTH_COUNT_H
#define TESTS_GROWTH_COUNT_H

/* Counts the work of the library. The library of this program is compiled with
 * -fsanitize-coverage=trace-pc, so that each basic block calls a function. The C library's
 * functions on memory count the bytes that they read, 16 as one. The count depends on the input
 * only: neither load nor caches change it. One thread may count. */

#include <stdint.h>

extern uint64_t count_work;

#endif
