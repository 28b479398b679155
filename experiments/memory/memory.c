/* hpar-memory [--paced] MODE THREADS FILE...: measures the memory of a parse and prints it as JSON.
 * Each page is parsed in a process of its own, by a new parser into a new document. One parse with
 * others runs before and is destroyed, so that the program's own pages are not counted. The program
 * then drops the pages that the library keeps for the next document. `resident`
 * is the peak of resident memory (VmHWM) less the resident memory before, in bytes. `heap` is the
 * peak of memory from malloc beyond the memory before. `document` is the size of the tree. The
 * program reads the input before. With --paced, threads wait at each chunk, so that on few cores,
 * too, every thread takes its part of the chunks. */

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*** malloc ***/

/* The program defines these functions of the C library, so that the library calls them here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static _Atomic long live, most;

static void *count(void *memory) {
  if (!memory) return NULL;
  long now = atomic_fetch_add(&live, (long)malloc_usable_size(memory)) + (long)malloc_usable_size(memory);
  for (long before = atomic_load(&most); before < now && !atomic_compare_exchange_weak(&most, &before, now);) continue;
  return memory;
}

static void discount(void *memory) {
  if (memory) atomic_fetch_sub(&live, (long)malloc_usable_size(memory));
}

void *malloc(size_t bytes) { return count(__libc_malloc(bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { return count(__libc_memalign(alignment, bytes)); }
void *calloc(size_t n, size_t bytes) { return count(__libc_calloc(n, bytes)); }
void *realloc(void *old, size_t bytes) {
  discount(old);
  void *memory = __libc_realloc(old, bytes);
  count(memory ? memory : old);
  return memory;
}
void free(void *memory) {
  discount(memory);
  __libc_free(memory);
}

/*** the turns of the library ***/

static bool is_paced; /* --paced */

/* A thread is about to claim chunks, or the merger to use a log. */
void hp_turn(void);
void hp_turn(void) {
  enum { NANOSECONDS = 100000 };
  if (is_paced) nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS}, NULL);
}

/*** measurement ***/

static unsigned long kilobytes(const char *what) {
  unsigned long value = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, what, strlen(what))) sscanf(line + strlen(what), ": %lu", &value);
  if (file) fclose(file);
  return value;
}

/* Drops the pages that the library keeps warm for the next document. Requires: there is no
 * document, and malloc has one arena. Only reservations of the library then have so many adjacent
 * addresses without reserved swap space (the flag "nr"). Stacks, which may lie beside them, lack
 * the flag. */
static void drop_warm_pages(void) {
  enum { LEAST = 1 << 30 };
  char line[512];
  char *first = NULL, *last = NULL; /* adjacent mappings */
  void *begin = NULL, *end = NULL;
  unsigned long inode = 1;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strchr("0123456789abcdef", line[0])) { /* the names of all fields begin with capitals */
      if (sscanf(line, "%p-%p %*s %*s %*s %lu", &begin, &end, &inode) != 3) break;
      continue;
    }
    if (strncmp(line, "VmFlags:", 8) != 0) continue;
    bool may_belong = !inode && strstr(line, " nr");
    if (!may_belong || begin != last) {
      if (last - first >= LEAST) madvise(first, (size_t)(last - first), MADV_DONTNEED);
      first = may_belong ? begin : NULL;
    }
    last = may_belong ? end : NULL;
  }
  if (last - first >= LEAST) madvise(first, (size_t)(last - first), MADV_DONTNEED);
  if (file) fclose(file);
}

/* Resets the peak. */
static int forget_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return 0;
  fputs("5", file);
  return !fclose(file);
}

static char *read_page(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (bytes && fread(bytes, 1, *length, file) != *length) bytes = NULL;
  fclose(file);
  return bytes;
}

static hpar_status parse(const char *bytes, size_t length, const hpar_options *options, hpar_parser **parser,
                         hpar_document **document, hpar_study_stats *stats) {
  hpar_status status = hpar_parser_create(parser);
  if (!status) status = hpar_document_create(document);
  if (!status) status = hpar_study_parse(*parser, options, bytes, length, *document, stats);
  return status;
}

static int measure(const char *path, const hpar_options *options, const char *separator) {
  size_t length;
  char *bytes = read_page(path, &length);
  hpar_parser *parser = NULL;
  hpar_document *document = NULL;
  hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
  if (!bytes || parse(bytes, length, options, &parser, &document, &stats)) return 1;
  hpar_document_destroy(document);
  hpar_parser_destroy(parser);
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  drop_warm_pages();
  kilobytes("VmRSS"); /* touches the pages of the reader */
  if (!forget_peak()) return 1;
  long heap = atomic_load(&live);
  atomic_store(&most, heap);
  unsigned long before = kilobytes("VmRSS"); /* the peak restarts from an estimate */
  if (parse(bytes, length, options, &parser, &document, &stats)) return 1;
  unsigned long after = kilobytes("VmHWM");
  printf("%s{\"file\": \"%s\", \"bytes\": %zu, \"mode\": \"%s\", \"threads\": %u, \"chunks\": %llu, \"resident\": %lu, "
         "\"heap\": %ld, \"document\": %zu}",
         separator, path, length, stats.mode, stats.threads, (unsigned long long)stats.chunks, (after - before) * 1024,
         atomic_load(&most) - heap, hpar_document_memory(document));
  return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **arguments) {
  static const char *const modes[] = {"auto", "sequential", "parallel", "pipelined"};
  unsigned mode = 0;
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
  if (argc > 1 && !strcmp(arguments[1], "--paced")) {
    is_paced = true;
    arguments++;
    argc--;
  }
  while (argc > 3 && mode < 4 && strcmp(arguments[1], modes[mode]) != 0) mode++;
  if (argc < 4 || mode == 4) {
    fputs("usage: hpar-memory [--paced] auto|sequential|parallel|pipelined THREADS FILE...\n", stderr);
    return 2;
  }
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = (hpar_mode)mode, .threads = (unsigned)atoi(arguments[2])};
  printf("{\"pages\": [");
  fflush(stdout);
  for (int i = 3; i < argc; i++) {
    int status = 1;
    pid_t child = fork();
    if (!child) _exit(measure(arguments[i], &options, i > 3 ? ",\n" : "\n"));
    if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
      fprintf(stderr, "hpar-memory: %s could not be measured\n", arguments[i]);
      return 1;
    }
  }
  puts("\n]}");
  return 0;
}
