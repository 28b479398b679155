#ifndef HP_PLATFORM_ADDRESS_RANGE_H
#define HP_PLATFORM_ADDRESS_RANGE_H

/* Address space for documents and texts. A parse needs a range that grows without moving, so each
 * parse reserves far more than it uses. When the parse ends, the document keeps the used bytes and
 * gives the rest back.
 *
 * The process keeps a short list of free intervals, which stay mapped. A block takes a whole
 * interval, and its rest returns to the list. The next document therefore begins where the last
 * document ends. Documents are adjacent in few mappings of the kernel, and most parses make no
 * system call. One lock protects the list. A fork takes the lock, so the child finds the list
 * consistent.
 *
 * Intervals start with warm memory: pages that earlier blocks wrote to. An interval keeps at most
 * the bytes of the largest block of the last 5-10 s and 1 MB. All intervals together keep 64 MB.
 * The next call of a function below releases the memory of intervals without use for 10 s. */

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Reserves `bytes` bytes with undefined contents for a parse. The block grows in place if possible.
 * Otherwise it releases its memory and gets new memory. If an address space limit leaves less, the
 * block gets a quarter of the free space, and later blocks can use the rest. Returns false without
 * a change if that quarter is less than `least`.
 *
 * From the second parse on, the block keeps its reservation between parses. All kept reservations
 * together use at most a sixteenth of the address space. */
bool hp_block_open(hp_block *block, size_t bytes, size_t least);
/* Requests huge pages of 2 MB for a tree or text of about `bytes` bytes. At most half a huge page
 * is beyond these bytes. The request has no such bound if the bytes and the memory of all documents
 * are 16 MB for each open block. The unused part of the last page is then less than an eighth, and
 * the next document begins there. Requires: the block is open. */
void hp_block_expect(hp_block *block, size_t bytes);
/* Ends the parse: gives back all pages except those of the first `used` bytes. */
void hp_block_trim(hp_block *block, size_t used);
void hp_block_release(hp_block *block); /* gives back all pages; may have no memory */

/* Prepares the range for a parse: the range can grow, and it holds no objects. `by_jemalloc`:
 * jemalloc supplies the memory in proportion to `length`, the number of input bytes. Returns
 * HPAR_ERROR_MEMORY without a change if there is no address space. */
hpar_status hp_range_open(hp_range *range, size_t length, bool by_jemalloc);
/* Ends a parse: gives back the addresses after the objects. */
void hp_range_trim(hp_range *range);
void hp_range_release(hp_range *range);

/* Makes the range at least four times larger, up to the reach of a reference, and drops its limit.
 * If the addresses after the range are not free, the function copies the objects to other memory.
 * References then stay valid. Pointers to objects stay valid, too, but see the old bytes. The
 * function puts the left memory before `*former`. Returns HPAR_ERROR_MEMORY without a change if
 * there is no such memory. Requires: no other thread uses the range. */
hpar_status hp_range_grow(hp_range *range, hp_former_memory **former);
void hp_former_memory_release(hp_former_memory *former);

/* Maps address space that costs no memory until it is written to, outside the list of intervals.
 * NULL: failure. */
void *hp_map(size_t bytes);
void hp_unmap(void *base, size_t bytes);

/* Address ranges from jemalloc, if the build found it. The library links a private copy, so the
 * malloc and free of the program do not change. jemalloc keeps the pages of a returned range for
 * the next range. It returns unused pages to the system after a while. All ranges come from one
 * jemalloc arena, because a document takes only one range. */

bool hp_jemalloc_is_there(void);
/* Returns why the library cannot use jemalloc, or NULL. */
const char *hp_jemalloc_problem(void);
void *hp_jemalloc_take(size_t bytes); /* aligned to a page, not zeroed; NULL on failure */
void hp_jemalloc_give(void *memory);

#endif
