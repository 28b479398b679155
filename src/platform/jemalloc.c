#include "platform/address_range.h"

#if HPAR_JEMALLOC
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Skips a check during initialisation that crashes if the system refuses a page. It concerns zeroed
 * memory, which the library does not need. */
extern const char *hp_je_malloc_conf;
const char *hp_je_malloc_conf = "trust_madvise:true";

/* Receives jemalloc's messages; NULL: jemalloc writes them to standard error. */
extern void (*hp_je_malloc_message)(void *context, const char *text);

/* The names that the build gives to jemalloc's mallocx, dallocx and mallctl. */
void *hp_je_mallocx(size_t bytes, int flags);
void hp_je_dallocx(void *memory, int flags);
int hp_je_mallctl(const char *name, void *old, size_t *old_length, void *new, size_t new_length);

/* The values of jemalloc's header: MALLOCX_LG_ALIGN(12) | MALLOCX_TCACHE_NONE, and
 * MALLOCX_ARENA(a). */
enum { BY_PAGE = 12, NO_CACHE = 1 << 8, ARENA = 1 << 20 };

static int flags = -1;
static bool has_other_pages;

/* jemalloc has its page size from its build. At its first use, a system with larger pages makes it
 * fail with this message only. */
static void note_message(void *context, const char *text) {
  (void)context;
  if (strstr(text, "Unsupported system page size"))
    has_other_pages = true;
  else
    fputs(text, stderr);
}

/* Creates the arena and raises its oversize_threshold. jemalloc returns larger blocks to the system
 * at once, and most ranges of the library exceed the default. */
static void make_arena(void) {
  unsigned arena;
  size_t length = sizeof arena, never = SIZE_MAX >> 1;
  char name[64];
  hp_je_malloc_message = note_message;
  int failure = hp_je_mallctl("arenas.create", &arena, &length, NULL, 0);
  hp_je_malloc_message = NULL;
  if (failure) return;
  snprintf(name, sizeof name, "arena.%u.oversize_threshold", arena);
  hp_je_mallctl(name, NULL, NULL, &never, sizeof never);
  flags = BY_PAGE | NO_CACHE | (int)((arena + 1) * (unsigned)ARENA);
}

static void open_arena(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_arena);
}

bool hp_jemalloc_is_there(void) { return true; }

const char *hp_jemalloc_problem(void) {
  open_arena();
  return has_other_pages ? "the jemalloc in this library was built for smaller pages than this system has" : NULL;
}

void *hp_jemalloc_take(size_t bytes) {
  open_arena();
  return flags < 0 ? NULL : hp_je_mallocx(bytes, flags);
}

void hp_jemalloc_give(void *memory) { hp_je_dallocx(memory, NO_CACHE); }

#else

bool hp_jemalloc_is_there(void) { return false; }

const char *hp_jemalloc_problem(void) { return "this library was built without jemalloc"; }

void *hp_jemalloc_take(size_t bytes) {
  (void)bytes;
  return NULL;
}

void hp_jemalloc_give(void *memory) { (void)memory; }

#endif
