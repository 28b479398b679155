/* A library for LD_PRELOAD: a system with pages of HPAR_TEST_PAGE bytes, a multiple of the real
 * page size. sysconf and getpagesize report this size. mmap returns addresses of whole pages and
 * fills the rest of a last page. munmap, madvise and mprotect act on whole pages. They end the
 * process if an address is not the beginning of a page. */

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t page_bytes(void) {
  static size_t bytes;
  const char *given = getenv("HPAR_TEST_PAGE");
  if (!bytes) bytes = given ? strtoul(given, NULL, 10) : 4096;
  return bytes;
}

static size_t whole(size_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

static void need_page(const char *call, const void *address) {
  if (!((uintptr_t)address & (page_bytes() - 1))) return;
  fprintf(stderr, "pages: %s of %p, which is no page of %zu bytes\n", call, address, page_bytes());
  abort();
}

long sysconf(int name) {
  static long (*next)(int);
  if (name == _SC_PAGESIZE) return (long)page_bytes();
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
  return next(name);
}

int getpagesize(void) { return (int)page_bytes(); }

/* Returns an address of a whole page: maps a page more and unmaps what is outside. */
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (flags & MAP_FIXED || address || file >= 0)
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
  size_t size = whole(bytes), spare = page_bytes();
  char *base = (char *)syscall(SYS_mmap, NULL, size + spare, protection, flags, file, offset);
  if (base == MAP_FAILED) return MAP_FAILED;
  char *from = (char *)(((uintptr_t)base + spare - 1) & ~(uintptr_t)(spare - 1));
  if (from > base) syscall(SYS_munmap, base, (size_t)(from - base));
  if (from < base + spare) syscall(SYS_munmap, from + size, (size_t)(base + spare - from));
  return from;
}

int munmap(void *address, size_t bytes) {
  need_page("munmap", address);
  return (int)syscall(SYS_munmap, address, whole(bytes));
}

int madvise(void *address, size_t bytes, int advice) {
  need_page("madvise", address);
  return (int)syscall(SYS_madvise, address, whole(bytes), advice);
}

int mprotect(void *address, size_t bytes, int protection) {
  need_page("mprotect", address);
  return (int)syscall(SYS_mprotect, address, whole(bytes), protection);
}
