/* hpar-others RUNS FILE...: measures the sequential parser, two threads and the automatic mode on
 * each FILE, while other processes may use the processors. Prints the median, the 95th percentile
 * and the longest of RUNS times a mode in nanoseconds, as JSON.
 *
 * Every mode has a parser of its own. The modes alternate in blocks of BLOCK parses, so that all
 * see the same load. A pause precedes each block, so that the threads of the last mode sleep, and
 * one more parse, so that the threads of this mode are awake. */

#include "../page.h"

#include <hpar/hpar.h>
#include <hpar/study.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODES = 3, BLOCK = 10, PAUSE_NS = 3000000 };

static const struct {
  const char *name;
  hpar_mode mode;
} modes[MODES] = {{"sequential", HPAR_MODE_SEQUENTIAL}, {"parallel", HPAR_MODE_PARALLEL}, {"auto", HPAR_MODE_AUTO}};
static hpar_parser *parsers[MODES];
static hpar_document *documents[MODES];

static unsigned long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

static int by_number(const void *a, const void *b) {
  unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

/* Returns the time of one parse in nanoseconds, and 0 after a failure. */
static unsigned long long parse(int mode, const char *bytes, size_t length, hpar_study_stats *stats) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = modes[mode].mode, .threads = 2};
  unsigned long long begin = now();
  return hpar_study_parse(parsers[mode], &options, bytes, length, documents[mode], stats) ? 0 : now() - begin;
}

static int measure(const char *path, const char *bytes, size_t length, size_t runs) {
  unsigned long long *times = malloc(MODES * runs * sizeof *times), rescued[MODES] = {0};
  int done = times != NULL;
  for (size_t block = 0; done && block * BLOCK < runs; block++)
    for (int turn = 0; done && turn < MODES; turn++) {
      int mode = block & 1 ? MODES - 1 - turn : turn;
      nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
      done = parse(mode, bytes, length, NULL) != 0;
      for (size_t run = block * BLOCK; done && run < (block + 1) * BLOCK && run < runs; run++) {
        hpar_study_stats stats = {HPAR_STUDY_STATS_INIT};
        done = (times[(size_t)mode * runs + run] = parse(mode, bytes, length, &stats)) != 0;
        rescued[mode] += stats.chunks_rescued;
      }
    }
  if (done) {
    const char *name = strrchr(path, '/');
    printf("{\"file\": \"%s\", \"bytes\": %zu", name ? name + 1 : path, length);
    for (int mode = 0; mode < MODES; mode++) {
      unsigned long long *own = times + (size_t)mode * runs;
      qsort(own, runs, sizeof *own, by_number);
      printf(", \"%s\": [%llu, %llu, %llu, %llu]", modes[mode].name, own[runs / 2], own[runs * 19 / 20], own[runs - 1],
             rescued[mode]);
    }
    putchar('}');
  }
  free(times);
  return done;
}

int main(int count, char **arguments) {
  if (count < 3 || atoi(arguments[1]) < 1) {
    fputs("usage: hpar-others RUNS FILE...\n", stderr);
    return 2;
  }
  for (int mode = 0; mode < MODES; mode++)
    if (hpar_parser_create(&parsers[mode]) || hpar_document_create(&documents[mode])) return 1;
  printf("{\"pages\": [");
  for (int i = 2; i < count; i++) {
    size_t length;
    char *bytes = read_page(arguments[i], 0, &length);
    printf(i > 2 ? ",\n" : "\n");
    if (!bytes || !measure(arguments[i], bytes, length, (size_t)atoi(arguments[1]))) {
      fprintf(stderr, "hpar-others: %s could not be measured\n", arguments[i]);
      return 1;
    }
    for (int mode = 0; mode < MODES; mode++) hpar_document_clear(documents[mode]);
    free(bytes);
  }
  puts("\n]}");
  for (int mode = 0; mode < MODES; mode++) {
    hpar_document_destroy(documents[mode]);
    hpar_parser_destroy(parsers[mode]);
  }
  return fflush(stdout) ? 1 : 0;
}
