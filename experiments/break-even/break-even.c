/* hpar-break-even asleep|spinning RUNS BYTES FILE...: measures the sequential parser, two threads
 * and the automatic mode alternately on each FILE, or on its first BYTES if these are not 0. Prints
 * the least and the median time of RUNS in nanoseconds as JSON. Spinning: each parse follows a
 * parse in its own mode, so that no pool thread sleeps. Asleep: each parse starts 3 ms after the
 * last. */

#include "../page.h"

#include <hpar/hpar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODES = 3, WARM = 3 };

static const struct {
  const char *name;
  hpar_mode mode;
} modes[MODES] = {{"sequential", HPAR_MODE_SEQUENTIAL}, {"parallel", HPAR_MODE_PARALLEL}, {"auto", HPAR_MODE_AUTO}};
static hpar_parser *parser; /* a single parser, so that no other threads spin */
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
static unsigned long long parse(int mode, const char *bytes, size_t length, int asleep) {
  hpar_options options = {HPAR_OPTIONS_INIT, .mode = modes[mode].mode, .threads = 2,
                          .parallel.wait = asleep ? HPAR_WAIT_SLEEP : HPAR_WAIT_SPIN};
  if (asleep)
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  else if (hpar_parse(parser, &options, bytes, length, documents[mode], NULL))
    return 0;
  unsigned long long begin = now();
  return hpar_parse(parser, &options, bytes, length, documents[mode], NULL) ? 0 : now() - begin;
}

static int measure(const char *path, const char *bytes, size_t length, int asleep, int runs) {
  unsigned long long *times = malloc(MODES * (size_t)runs * sizeof *times);
  if (!times) return 0;
  for (int run = -WARM; run < runs; run++)
    for (int turn = 0; turn < MODES; turn++) {
      int mode = run & 1 ? MODES - 1 - turn : turn;
      if (!(times[mode * runs + (run < 0 ? 0 : run)] = parse(mode, bytes, length, asleep))) {
        free(times);
        return 0;
      }
    }
  const char *name = strrchr(path, '/');
  printf("{\"file\": \"%s\", \"bytes\": %zu", name ? name + 1 : path, length);
  for (int mode = 0; mode < MODES; mode++) {
    unsigned long long *own = times + mode * runs;
    qsort(own, (size_t)runs, sizeof *own, by_number);
    printf(", \"%s\": [%llu, %llu]", modes[mode].name, own[0], own[runs / 2]);
  }
  putchar('}');
  free(times);
  return 1;
}

int main(int count, char **arguments) {
  int asleep = count > 1 && !strcmp(arguments[1], "asleep");
  if (count < 5 || (!asleep && strcmp(arguments[1], "spinning") != 0) || atoi(arguments[2]) < 1) {
    fputs("usage: hpar-break-even asleep|spinning RUNS BYTES FILE...\n", stderr);
    return 2;
  }
  size_t most = strtoul(arguments[3], NULL, 10);
  if (hpar_parser_create(&parser)) return 1;
  for (int mode = 0; mode < MODES; mode++)
    if (hpar_document_create(&documents[mode])) return 1;
  printf("{\"pages\": [");
  for (int i = 4; i < count; i++) {
    size_t length;
    char *bytes = read_page(arguments[i], most, &length);
    printf(i > 4 ? ",\n" : "\n");
    if (!bytes || !measure(arguments[i], bytes, length, asleep, atoi(arguments[2]))) {
      fprintf(stderr, "hpar-break-even: %s could not be measured\n", arguments[i]);
      return 1;
    }
    for (int mode = 0; mode < MODES; mode++) hpar_document_clear(documents[mode]);
    free(bytes);
  }
  puts("\n]}");
  for (int mode = 0; mode < MODES; mode++) hpar_document_destroy(documents[mode]);
  hpar_parser_destroy(parser);
  return fflush(stdout) ? 1 : 0;
}
